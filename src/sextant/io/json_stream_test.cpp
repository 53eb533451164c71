// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/json_stream.hpp"

#include <gtest/gtest.h>

#include "sextant/spec/diagnostic.hpp"

namespace sextant {
namespace {

/// A few bytes at a time, so that everything crosses the end of a piece.
class Drops : public ByteSource {
 public:
  Drops(std::string_view text, std::size_t size) : text_(text), size_(size) {}
  std::size_t read(char* to, std::size_t size) override {
    return text_.read(to, std::min(size, size_));
  }

 private:
  TextSource text_;
  std::size_t size_;
};

std::string problem_of(std::string_view text, const auto& read) {
  TextSource source(text);
  JsonStream json(source, "f.json");
  try {
    read(json);
  } catch (const InputError& e) {
    return to_text(e.diagnostics().front());
  }
  return "";
}

TEST(JsonStream, ReadsWhatItIsAskedForAndSkipsTheRest) {
  const std::string text =
      R"({"skip": {"a": [1, {"b": "]}"}], "c": "\""}, "name": "a\u00e9\n\ud83d\ude00b", "ts": 1234567890123.4567,)"
      R"( "list": [ 1, -2.5e3 ,3], "raw": [ [1, 2], "x y", [] ], "last": null} )";
  for (const std::size_t size : {1UL, 2UL, 3UL, 7UL, 1000UL}) {
    Drops source(text, size);
    JsonStream json(source, "f.json");
    json.enter_object();
    std::string_view key;
    std::string seen;
    while (json.next_key(key)) {
      seen += key;
      if (key == "name") {
        EXPECT_EQ(json.string(), "a\u00e9\n\U0001F600b");
      } else if (key == "ts") {
        EXPECT_EQ(json.thousandths(), 1234567890123456);
      } else if (key == "list") {
        json.enter_array();
        double sum = 0;
        while (json.next_item()) sum += json.number();
        EXPECT_EQ(sum, -2496);
      } else if (key == "raw") {
        std::string raw;
        json.copy(raw, 100);
        EXPECT_EQ(raw, R"([[1,2],"x y",[]])");
      } else {
        json.skip();
      }
    }
    json.expect_end();
    EXPECT_EQ(seen, "skipnametslistrawlast");
  }
}

TEST(JsonStream, Thousandths) {
  const std::pair<const char*, std::int64_t> table[] = {
      {"0", 0}, {"12", 12000}, {"-1.5", -1500}, {"3.0009", 3000}, {"2e3", 2000000}, {"0.25", 250}};
  for (const auto& [text, value] : table) {
    TextSource source(text);
    JsonStream json(source, "f");
    EXPECT_EQ(json.thousandths(), value) << text;
  }
}

TEST(JsonStream, Integers) {
  const std::pair<const char*, std::int64_t> table[] = {
      {"7", 7}, {"-12.75", -12}, {"18446744073709551615", 0}, {"140737488355327", 140737488355327}};
  for (const auto& [text, value] : table) {
    TextSource source(text);
    JsonStream json(source, "f");
    EXPECT_EQ(json.integer(), value) << text;
  }
}

TEST(JsonStream, SaysWhereAndWhatIsWrong) {
  const auto walk = [](JsonStream& json) {
    json.enter_object();
    std::string_view key;
    while (json.next_key(key)) json.skip();
    json.expect_end();
  };
  EXPECT_NE(problem_of("{\"a\": 1\n\"b\": 2}", walk).find("f.json:2:1: expected ',' or '}'"),
            std::string::npos);
  EXPECT_NE(problem_of("{\"a\" 1}", walk).find("expected ':' after a key"), std::string::npos);
  EXPECT_NE(problem_of("{\"a\": \"x", walk).find("ends inside a string"), std::string::npos);
  EXPECT_NE(problem_of("{\"a\": [1, [2", walk).find("ends in the middle"), std::string::npos);
  EXPECT_NE(problem_of("{} x", walk).find("nothing after the last bracket"), std::string::npos);
  EXPECT_NE(problem_of("[1]", walk).find("expected an object"), std::string::npos);
  const auto number = [](JsonStream& json) { json.number(); };
  EXPECT_NE(problem_of("12x", number).find("expected a number"), std::string::npos);
  const auto string = [](JsonStream& json) { json.string(); };
  EXPECT_NE(problem_of(R"("\q")", string).find("unknown escape"), std::string::npos);
  EXPECT_NE(problem_of(R"("\u12g4")", string).find("four hexadecimal digits"), std::string::npos);
}

TEST(JsonStream, HostileTextsCostNoMemory) {
  // A string of megabytes is kept in part, brackets a million deep are read over.
  const std::string text = "[\"" + std::string(5'000'000, 'x') + "\"," +
                           std::string(1'000'000, '[') + std::string(1'000'000, ']') + "]";
  TextSource source(text);
  JsonStream json(source, "f");
  json.enter_array();
  ASSERT_TRUE(json.next_item());
  EXPECT_EQ(json.string().size(), JsonStream::longest);
  ASSERT_TRUE(json.next_item());
  json.skip();
  EXPECT_FALSE(json.next_item());
  const auto deeper = [](JsonStream& j) {
    for (int i = 0; i < 200; ++i) {
      j.enter_array();
      j.next_item();
    }
  };
  EXPECT_NE(problem_of(std::string(300, '['), deeper).find("too many brackets"), std::string::npos);
}

}  // namespace
}  // namespace sextant
