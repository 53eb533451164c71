// SPDX-License-Identifier: Apache-2.0
// Any bytes as a request: the first line names the path, the rest is the body. What is answered is
// JSON, what is refused says why, and nothing is our own fault.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

#include "server/routes.hpp"
#include "sextant/spec/patience.hpp"

namespace {

using namespace sextant;
using namespace sextant::server;

/// Answers that take longer are given up, as the server does.
constexpr std::chrono::seconds most{2};

Response answer_within(const Action& action, const Request& request) {
  std::atomic<bool> over = false;
  std::atomic<bool> done = false;
  std::thread timer([&] {
    const auto end = std::chrono::steady_clock::now() + most;
    while (!done && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    over = true;
  });
  const Patience patience(over);
  Response response = answered([&] { return action(request); });
  done = true;
  timer.join();
  return response;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Routes routes = command_routes();
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  if (line == std::string::npos) return 0;
  const auto at = routes.find(base + "/" + text.substr(0, line));
  if (at == routes.end() || !at->second.contains("POST")) return 0;
  const Request request{.method = "POST",
                        .path = at->first,
                        .body = text.substr(line + 1),
                        .content_type = "application/json",
                        .host = "localhost"};
  const Response response = answer_within(at->second.at("POST"), request);
  if (response.status == 500) std::abort();
  parse_json(response.body, "answer");
  return 0;
}
