// SPDX-License-Identifier: Apache-2.0
// The question that the page asks at each movement of a slider, as HTTP and without sockets, for
// bench/instructions.sh to count instructions of. Prints how many it answered.
#include <cstdio>
#include <string>

#include "server/api.hpp"
#include "server/exchange.hpp"

namespace {

constexpr int asked = 20;

/// Counted by its name.
[[gnu::noinline]] std::size_t answer_many(const sextant::server::Exchange& exchange,
                                          const std::string& request) {
  std::size_t bytes = 0;
  for (int i = 0; i < asked; ++i) bytes += exchange.answer(request).bytes.size();
  return bytes;
}

}  // namespace

int main() {
  using namespace sextant::server;
  Api api({});
  const Exchange exchange([&](const Request& r) { return api.handle(r); }, false, {});
  // The example that the page starts with (ui/src/state.ts), as Predict asks it.
  const std::string body =
      R"({"model":"gpt3-175b","system":"dgx-h100","gpus":512,"tp":8,"pp":8,"interleave":2,)"
      R"("microbatch":1,"batch":1024,"seq":2048,"recompute":"selective","precision":"bf16",)"
      R"("zero":1,"choices":true,"nearest":true})";
  const std::string request =
      "POST /api/v1/train HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nOrigin: http://127.0.0.1:8080\r\n"
      "Content-Type: application/json\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br, "
      "zstd\r\n"
      "Content-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  // The first makes what all share: presets, measured errors.
  if (!exchange.answer(request).bytes.starts_with("HTTP/1.1 200")) return 1;
  const std::size_t bytes = answer_many(exchange, request);
  std::printf("%d\n", bytes > 0 ? asked : 0);
}
