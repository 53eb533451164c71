// SPDX-License-Identifier: Apache-2.0
// Where a request ends. Connections are read without a thread each, so a request is cut from the
// stream before anyone looks into it; what a hostile client can do with lengths ends here.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sextant::server {

struct FrameLimits {
  std::size_t head = 16 * 1024;                    ///< request line and headers
  std::size_t body = 1024 * 1024;                  ///< more is 413
  std::size_t upload = std::size_t{32} << 20;      ///< of a body for one of these paths
  std::span<const std::string_view> uploads = {};  ///< that files are sent to
};

/// Follows one connection's buffer as it grows.
class Framer {
 public:
  explicit Framer(FrameLimits limits = {}) : limits_(limits) {}

  enum class State : unsigned char { incomplete, complete, refused };

  /// `buffer` starts with the request and has grown since the last call.
  State look(std::string_view buffer);
  /// Bytes of the request, when complete.
  std::size_t size() const { return head_ + body_; }
  /// HTTP status of what is wrong, when refused.
  int status() const { return status_; }
  const std::string& reason() const { return reason_; }
  /// For the next request of the connection.
  void reset();

 private:
  State refuse(int status, std::string reason);
  State read_head(std::string_view head);
  State read_length(std::string_view value, std::size_t most);

  FrameLimits limits_;
  std::size_t scanned_ = 0;  ///< no end of the head before this
  std::size_t head_ = 0;     ///< with the empty line; 0: not seen yet
  std::size_t body_ = 0;
  bool has_length_ = false;
  int status_ = 0;
  std::string reason_;
};

}  // namespace sextant::server
