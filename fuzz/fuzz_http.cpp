// SPDX-License-Identifier: Apache-2.0
// Any bytes on a connection. However they arrive they are cut at the same places, and who parses a
// request sees the body that was cut for it: what one calls a request is one to the other.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/exchange.hpp"
#include "server/framing.hpp"

namespace sextant::server {
namespace {

thread_local int asked;
thread_local std::size_t body;

const Exchange& exchange() {
  static const Exchange one(
      [](const Request& request) {
        ++asked;
        body = request.body.size();
        return Response{.body = "{}"};
      },
      false, {"/slow"});
  return one;
}

Framer::State look(Framer& framer, std::string_view bytes, std::size_t step) {
  Framer::State state = Framer::State::incomplete;
  for (std::size_t seen = 0; seen < bytes.size() && state == Framer::State::incomplete;) {
    seen = std::min(bytes.size(), seen + step);
    state = framer.look(bytes.substr(0, seen));
  }
  return state;
}

void answer_all(std::string_view bytes) {
  while (!bytes.empty()) {
    Framer at_once;
    Framer slowly;
    const Framer::State state = look(at_once, bytes, bytes.size());
    if (look(slowly, bytes, 7) != state) std::abort();
    if (state == Framer::State::refused) {
      exchange().refuse(at_once.status(), at_once.reason());
      if (slowly.status() != at_once.status()) std::abort();
    }
    if (state != Framer::State::complete) return;
    if (slowly.size() != at_once.size()) std::abort();
    const std::string_view request = bytes.substr(0, at_once.size());
    const std::size_t sent = request.size() - request.find("\r\n\r\n") - 4;
    asked = 0;
    exchange().slow(request);
    const Answer answer = exchange().answer(request);
    if (!answer.bytes.starts_with("HTTP/1.1 ") || asked > 1) std::abort();
    // One without a body has none, whatever was sent with it.
    if (asked == 1 && body != sent && body != 0) std::abort();
    if (answer.close) return;
    bytes.remove_prefix(at_once.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  answer_all({reinterpret_cast<const char*>(data), size});
  return 0;
}

}  // namespace sextant::server
