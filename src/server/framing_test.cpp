// SPDX-License-Identifier: Apache-2.0
#include "server/framing.hpp"

#include <gtest/gtest.h>

namespace sextant::server {
namespace {

using State = Framer::State;

struct RefusedCase {
  const char* name;
  std::string text;
  int status;
};

class RefusedFrame : public testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedFrame, WithItsStatus) {
  Framer f({.head = 200, .body = 1000});
  EXPECT_EQ(f.look(GetParam().text), State::refused);
  EXPECT_EQ(f.status(), GetParam().status);
  EXPECT_FALSE(f.reason().empty());
}

TEST(Framer, FilesMayBeLongerWhereTheyAreTaken) {
  static constexpr std::string_view paths[] = {"/file"};
  const FrameLimits limits{.head = 200, .body = 10, .upload = 100, .uploads = paths};
  const auto status = [&](const std::string& target, int length) {
    Framer f(limits);
    f.look("POST " + target + " HTTP/1.1\r\nContent-Length: " + std::to_string(length) +
           "\r\n\r\n");
    return f.status();
  };
  EXPECT_EQ(status("/file", 100), 0);
  EXPECT_EQ(status("/file?name=x", 100), 0);
  EXPECT_EQ(status("/file", 101), 413);
  EXPECT_EQ(status("/files", 11), 413);
  EXPECT_EQ(status("/other?/file", 11), 413);
}

INSTANTIATE_TEST_SUITE_P(
    Framer, RefusedFrame,
    testing::Values(
        RefusedCase{"endless", std::string(201, 'x'), 431},
        RefusedCase{"long", "GET / HTTP/1.1\r\nA: " + std::string(300, 'x') + "\r\n\r\n", 431},
        RefusedCase{"large", "POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", 413},
        RefusedCase{"huge", "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 413},
        RefusedCase{"negative", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
        RefusedCase{"twice", "POST / HTTP/1.1\r\nContent-Length: 1\r\ncontent-length: 2\r\n\r\n",
                    400},
        RefusedCase{"chunked", "POST / HTTP/1.1\r\nTRANSFER-ENCODING: chunked\r\n\r\n", 411},
        RefusedCase{"packed", "POST / HTTP/1.1\r\nContent-Encoding: gzip\r\n\r\n", 415},
        RefusedCase{"nameless", "GET / HTTP/1.1\r\nwhat is this\r\n\r\n", 400},
        RefusedCase{"blank", "GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400},
        RefusedCase{"bare_feed", "GET / HTTP/1.1\r\nA: b\nContent-Length: 5\r\n\r\n", 400},
        RefusedCase{"bare_return", "GET / HTTP/1.1\r\nA: b\rContent-Length: 5\r\n\r\n", 400},
        RefusedCase{"feed_at_once", "GET / HTTP/1.1\nHost: x\r\n\r\n", 400},
        RefusedCase{"two_hosts", "GET / HTTP/1.1\r\nHost: x\r\nHOST: y\r\n\r\n", 400},
        RefusedCase{"control", std::string("GET /\0 HTTP/1.1\r\nA: b\r\n\r\n", 25), 400}),
    [](const auto& p) { return std::string(p.param.name); });

TEST(Framer, CutsOneRequestAfterAnother) {
  const std::string first = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
  const std::string both = first + "GET /b HTTP/1.1\r\n\r\n";
  Framer f;
  ASSERT_EQ(f.look(both), State::complete);
  EXPECT_EQ(f.size(), first.size());
  f.reset();
  ASSERT_EQ(f.look(both.substr(first.size())), State::complete);
  EXPECT_EQ(f.size(), both.size() - first.size());
}

TEST(Framer, WaitsForTheRestByteByByte) {
  const std::string text = "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nok";
  Framer f;
  for (std::size_t n = 0; n < text.size(); ++n) {
    EXPECT_EQ(f.look(std::string_view(text).substr(0, n)), State::incomplete) << n;
  }
  EXPECT_EQ(f.look(text), State::complete);
}

}  // namespace
}  // namespace sextant::server
