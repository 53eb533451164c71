// SPDX-License-Identifier: Apache-2.0
// From the bytes of one whole request to the bytes of its answer.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/http.hpp"

namespace sextant::server {

struct Answer {
  std::string bytes;
  bool close = false;       ///< the connection ends with it
  EventSource events = {};  ///< goes on after the bytes, in chunks
};

class Exchange {
 public:
  /// With `log`, a line on standard error for each request. What is posted to `slow_paths` may take
  /// long.
  explicit Exchange(Handler handler, bool log = false, std::vector<std::string> slow_paths = {});
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// From several threads at once.
  Answer answer(std::string_view request) const;
  /// Whether an answer to this may take long.
  bool slow(std::string_view request) const;
  /// To what is no request: too large, malformed.
  Answer refuse(int status, const std::string& message) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::vector<std::string> slow_paths_;
};

/// One part of a body of unknown length, and its end.
std::string chunk(std::string_view text);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace sextant::server
