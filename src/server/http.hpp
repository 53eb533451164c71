// SPDX-License-Identifier: Apache-2.0
// Requests and answers as the rest of the server sees them; which library reads and writes HTTP is
// known to exchange.cpp alone.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::server {

struct Request {
  std::string method;
  std::string path;  ///< decoded, without the query
  std::vector<std::pair<std::string, std::string>> query = {};
  std::string body = {};
  std::string content_type = {};
  std::string host = {};
  std::string origin = {};         ///< of the page that asks, where it is a browser that does
  std::string if_none_match = {};  ///< the version that the client has
  bool accepts_gzip = false;
};

/// What an event stream has to say since it was last asked; nothing at all when it has ended.
using EventSource = std::function<std::optional<std::string>()>;

inline constexpr std::string_view json_type = "application/json; charset=utf-8";

struct Response {
  int status = 200;
  std::string type = std::string(json_type);
  std::string body = {};
  std::string_view constant = {};  ///< instead of `body`: bytes that outlive the server
  std::vector<std::pair<std::string, std::string>> headers = {};
  EventSource events = {};  ///< instead of a body
};

/// Called from several threads at once.
using Handler = std::function<Response(const Request&)>;

}  // namespace sextant::server
