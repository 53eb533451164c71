// SPDX-License-Identifier: Apache-2.0
// Real sockets: many idle connections, slow senders, pipelined requests, event streams.
#include "server/connections.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "sextant/spec/patience.hpp"

namespace sextant::server {
namespace {

using namespace std::chrono_literals;

class Client {
 public:
  explicit Client(int port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval patience{5, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  bool connected() const { return connected_; }

  void send(const std::string& text) const { ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL); }
  /// Until `end` was seen, or all has been said.
  std::string receive(const std::string& end = "") const {
    std::string all;
    char buffer[4096];
    while (end.empty() || all.find(end) == std::string::npos) {
      const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
      if (n <= 0) break;
      all.append(buffer, static_cast<std::size_t>(n));
    }
    return all;
  }

 private:
  int fd_;
  bool connected_ = false;
};

struct Served {
  explicit Served(const ConnectionLimits& limits = {})
      : exchange([](const Request& r) { return handle(r); }, false, {"/slow"}),
        connections("127.0.0.1", 0, exchange, limits),
        thread([this] { connections.run(false); }) {
    rested = 0;
  }
  ~Served() {
    connections.stop();
    thread.join();
  }
  static Response handle(const Request& r) {
    if (r.path == "/events") {
      Response stream{.type = "text/event-stream"};
      stream.events = [n = std::make_shared<int>(0)]() -> std::optional<std::string> {
        if (++*n > 3) return std::nullopt;
        return "data: " + std::to_string(*n) + "\n\n";
      };
      return stream;
    }
    if (r.path == "/endless") {
      Response stream{.type = "text/event-stream"};
      stream.events = [] { return std::optional<std::string>(std::string(100'000, 'x')); };
      return stream;
    }
    if (r.path == "/slow" || r.path == "/nap") {
      std::this_thread::sleep_for(r.path == "/slow" ? 300ms : 20ms);
      ++rested;
    }
    if (r.path == "/order") return {.body = std::to_string(rested) + "!"};
    if (r.path == "/patient") {
      try {
        for (;;) {
          Patience::check();
          std::this_thread::sleep_for(1ms);
        }
      } catch (const Abandoned&) {
        return {.status = 503, .body = "given up"};
      }
    }
    if (r.path == "/large") return {.body = std::string(4 << 20, 'x') + "the end"};
    return {.body = r.path + " " + r.body + "!"};
  }

  inline static std::atomic<int> rested = 0;  ///< how many have slept, in the server of this test
  Exchange exchange;
  Connections connections;
  std::thread thread;
};

const std::string ask = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

TEST(Connections, AnswerOneAfterAnother) {
  const Served s;
  const Client c(s.connections.port());
  c.send(ask);
  EXPECT_NE(c.receive("!").find("/a !"), std::string::npos);
  c.send(ask + "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
  const std::string both = c.receive("hi!");
  EXPECT_NE(both.find("/a !"), std::string::npos);
  EXPECT_NE(both.find("/b hi!"), std::string::npos);
}

TEST(Connections, IdleOnesGiveWay) {
  const Served s({.connections = 20});
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 60; ++i) idle.push_back(std::make_unique<Client>(s.connections.port()));
  const Client c(s.connections.port());
  c.send(ask);
  EXPECT_NE(c.receive("!").find("200 OK"), std::string::npos);
}

TEST(Connections, SlowSendersAreToldSoAndHoldNobodyUp) {
  const Served s({.workers = 1, .request = 300ms});
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 30; ++i) {
    slow.push_back(std::make_unique<Client>(s.connections.port()));
    slow.back()->send("POST /b HTTP/1.1\r\nContent-Length: 1000\r\n\r\nabc");
  }
  const Client c(s.connections.port());
  c.send(ask);
  EXPECT_NE(c.receive("!").find("200 OK"), std::string::npos);
  EXPECT_NE(slow.front()->receive().find("408"), std::string::npos);
}

/// How many that sleep were done between a request's being sent, in two parts as most clients send
/// theirs, and its answer's being made: an order, which a busy machine does not change.
int rested_before(int port) {
  const Client c(port);
  c.send("POST /order HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n");
  std::this_thread::sleep_for(5ms);
  c.send("hi");
  const int before = Served::rested;
  const std::string said = c.receive();
  EXPECT_NE(said.find("200 OK"), std::string::npos);
  return std::stoi(said.substr(said.rfind('\n') + 1)) - before;
}

TEST(Connections, WhatTakesLongLeavesRoomForWhatDoesNot) {
  const Served s({.workers = 2});
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 4; ++i) {
    slow.push_back(std::make_unique<Client>(s.connections.port()));
    slow.back()->send("POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  }
  std::this_thread::sleep_for(50ms);
  EXPECT_LE(rested_before(s.connections.port()), 1);  // and not all four
  for (const auto& client : slow) {
    EXPECT_NE(client->receive("!").find("200 OK"), std::string::npos);
  }
}

TEST(Connections, WhoSentOneGoesBeforeWhoSentMany) {
  Served s({.workers = 1});
  std::string many;
  for (int i = 0; i < 20; ++i) many += "GET /nap HTTP/1.1\r\nHost: x\r\n\r\n";
  std::vector<std::unique_ptr<Client>> hoarders;
  for (int i = 0; i < 40; ++i) {
    hoarders.push_back(std::make_unique<Client>(s.connections.port()));
    hoarders.back()->send(many);
  }
  while (Served::rested < 41) std::this_thread::sleep_for(1ms);  // their first ones are answered
  // Behind one that is being answered, and not behind forty.
  EXPECT_LE(rested_before(s.connections.port()), 20);
}

TEST(Connections, WhatIsLongToReadIsSlow) {
  Served s({.quick = 1000, .workers = 2});
  const std::string body(2000, ' ');
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 40; ++i) {
    slow.push_back(std::make_unique<Client>(s.connections.port()));
    slow.back()->send("POST /nap HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n" + body);
  }
  std::this_thread::sleep_for(10ms);
  EXPECT_LE(rested_before(s.connections.port()), 20);
}

TEST(Connections, WhoSendsTheMostGivesWay) {
  Served s({.received = 10'000});
  std::vector<std::unique_ptr<Client>> hoarders;
  for (int i = 0; i < 3; ++i) {
    hoarders.push_back(std::make_unique<Client>(s.connections.port()));
    hoarders.back()->send("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n" +
                          std::string(static_cast<std::size_t>(3000 + i), ' '));
  }
  std::this_thread::sleep_for(50ms);
  const Client one(s.connections.port());
  one.send("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 902\r\nConnection: close\r\n\r\n" +
           std::string(900, 'x'));
  EXPECT_NE(hoarders.back()->receive().find("503"), std::string::npos);
  one.send("yz");
  EXPECT_NE(one.receive().find("xyz!"), std::string::npos);
}

TEST(Connections, WhatIsTooLargeIsRefusedBeforeItIsRead) {
  const Served s;
  const Client c(s.connections.port());
  c.send("POST /b HTTP/1.1\r\nContent-Length: 10000000\r\n\r\n" + std::string(100000, 'x'));
  EXPECT_NE(c.receive().find("413"), std::string::npos);
}

TEST(Connections, LargeAnswersArriveWhole) {
  const Served s;
  const Client c(s.connections.port());
  c.send("GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  std::this_thread::sleep_for(100ms);  // while the answer fills the socket
  const std::string all = c.receive();
  EXPECT_GT(all.size(), std::size_t{4} << 20);
  EXPECT_TRUE(all.ends_with("the end"));
}

TEST(Connections, EventsComeInChunksAndEnd) {
  const Served s;
  const Client c(s.connections.port());
  c.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string all = c.receive();
  EXPECT_NE(all.find("Transfer-Encoding: chunked"), std::string::npos);
  EXPECT_NE(all.find("9\r\ndata: 1\n\n\r\n"), std::string::npos);
  EXPECT_TRUE(all.ends_with("0\r\n\r\n"));
}

TEST(Connections, WatchersThatDoNotReadGiveWay) {
  const Served s({.connections = 20, .unsent = 256 << 10});
  std::vector<std::unique_ptr<Client>> deaf;
  for (int i = 0; i < 30; ++i) {
    deaf.push_back(std::make_unique<Client>(s.connections.port()));
    deaf.back()->send("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  std::this_thread::sleep_for(600ms);
  const Client c(s.connections.port());
  c.send(ask);
  EXPECT_NE(c.receive("!").find("200 OK"), std::string::npos);
}

TEST(Connections, APathWrittenInAnotherWayIsAsSlow) {
  const Served s;
  const std::string rest = " HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const char* path : {"/slow", "/%73low", "/slow?x=1", "/%73%6c%6F%77"}) {
    EXPECT_TRUE(s.exchange.slow("POST " + (path + rest))) << path;
  }
  for (const char* path : {"/a", "/slower", "/%2573low"}) {
    EXPECT_FALSE(s.exchange.slow("POST " + (path + rest))) << path;
  }
}

TEST(Connections, EndsThoughAnAnswerIsStillComputed) {
  // The answer is ready once the server has ended, or after so long that it must have waited for
  // it.
  std::atomic<bool> asked = false;
  std::atomic<bool> over = false;
  std::atomic<bool> answered = false;
  Exchange exchange([&](const Request&) -> Response {
    asked = true;
    for (int i = 0; i < 20'000 && !over; ++i) std::this_thread::sleep_for(1ms);
    answered = true;
    return {};
  });
  Connections connections("127.0.0.1", 0, exchange, {.finish = 100ms});
  bool ended = true;
  std::thread thread([&] { ended = connections.run(false); });
  const Client c(connections.port());
  c.send(ask);
  while (!asked) std::this_thread::sleep_for(1ms);
  connections.stop();
  thread.join();
  EXPECT_FALSE(answered);
  EXPECT_FALSE(ended);
  over = true;
  while (!answered) std::this_thread::sleep_for(1ms);
}

// What looks now and then whether somebody waits ends when nobody does.
TEST(Connections, WhatTakesTooLongIsGivenUp) {
  const Served s({.workers = 1, .compute = 100ms});
  const auto start = std::chrono::steady_clock::now();
  const Client c(s.connections.port());
  for (int i = 0; i < 2; ++i) {  // the next has its own time
    c.send("GET /patient HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_NE(c.receive("given up").find("503"), std::string::npos);
  }
  c.send(ask);
  EXPECT_NE(c.receive("!").find("200 OK"), std::string::npos);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 200ms);
}

TEST(Connections, WhatIsPatientEndsWithTheServer) {
  Exchange exchange([](const Request& r) { return Served::handle(r); });
  Connections connections("127.0.0.1", 0, exchange, {.finish = 50ms});
  bool ended = false;
  std::thread thread([&] { ended = connections.run(false); });
  const Client c(connections.port());
  c.send("GET /patient HTTP/1.1\r\nHost: x\r\n\r\n");
  std::this_thread::sleep_for(50ms);
  connections.stop();
  thread.join();
  EXPECT_TRUE(ended);
}

TEST(Connections, APortInUseIsAnError) {
  const Served s;
  EXPECT_THROW(Connections("127.0.0.1", s.connections.port(), s.exchange), std::system_error);
}

}  // namespace
}  // namespace sextant::server
