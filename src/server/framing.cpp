// SPDX-License-Identifier: Apache-2.0
#include "server/framing.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "sextant/io/parsing.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::server {
namespace {

bool same(std::string_view a, std::string_view lower_case) {
  return std::equal(a.begin(), a.end(), lower_case.begin(), lower_case.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == y;
  });
}

/// "POST /api/v1/profile?device=… HTTP/1.1", with one of the paths.
bool is_upload(std::string_view head, std::span<const std::string_view> paths) {
  constexpr std::string_view post = "POST ";
  if (!head.starts_with(post)) return false;
  const std::string_view target = head.substr(post.size());
  const std::string_view path = target.substr(0, target.find_first_of(" ?"));
  return contains(paths, path);
}

}  // namespace

void Framer::reset() { *this = Framer(limits_); }

Framer::State Framer::refuse(int status, std::string reason) {
  status_ = status;
  reason_ = std::move(reason);
  return State::refused;
}

Framer::State Framer::look(std::string_view buffer) {
  if (status_ != 0) return State::refused;
  if (head_ == 0) {
    const std::size_t end = buffer.find("\r\n\r\n", scanned_);
    if (end == buffer.npos) {
      if (buffer.size() > limits_.head) return refuse(431, "the headers are too long");
      scanned_ = buffer.size() > 3 ? buffer.size() - 3 : 0;
      return State::incomplete;
    }
    if (end + 4 > limits_.head) return refuse(431, "the headers are too long");
    head_ = end + 4;
    if (read_head(buffer.substr(0, end)) == State::refused) return State::refused;
  }
  return buffer.size() < size() ? State::incomplete : State::complete;
}

Framer::State Framer::read_head(std::string_view head) {
  const bool odd = std::any_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\r' && c != '\n' && c != '\t') || byte == 0x7F;
  });
  if (odd) return refuse(400, "control characters in the headers");
  // A parser that takes one of these for the end of a line would see another request than we do.
  for (std::size_t i = 0; i < head.size(); ++i) {
    const bool pair = head[i] == '\r' && i + 1 < head.size() && head[i + 1] == '\n';
    if (!pair && (head[i] == '\r' || head[i] == '\n')) return refuse(400, "half a line break");
    i += pair ? 1 : 0;
  }
  const std::size_t most = is_upload(head, limits_.uploads) ? limits_.upload : limits_.body;
  int hosts = 0;
  for (std::size_t at = head.find("\r\n"); at != head.npos;) {
    const std::size_t begin = at + 2;
    at = head.find("\r\n", begin);
    const std::string_view line = head.substr(begin, at == head.npos ? at : at - begin);
    const std::size_t colon = line.find(':');
    if (colon == line.npos || colon == 0) return refuse(400, "a header without a name");
    const std::string_view name = line.substr(0, colon);
    if (name.find_first_of(" \t") != name.npos) return refuse(400, "a blank in a header's name");
    if (same(name, "host") && ++hosts > 1) return refuse(400, "more than one Host");
    // Bodies of unknown length, and ones that grow a thousandfold when unpacked, are not taken.
    if (same(name, "transfer-encoding")) return refuse(411, "give the Content-Length");
    if (same(name, "content-encoding")) return refuse(415, "send the body uncompressed");
    if (same(name, "content-length") &&
        read_length(trimmed(line.substr(colon + 1), " \t"), most) == State::refused) {
      return State::refused;
    }
  }
  return State::incomplete;
}

Framer::State Framer::read_length(std::string_view value, std::size_t most) {
  const bool digits = !value.empty() && std::all_of(value.begin(), value.end(),
                                                    [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || has_length_) return refuse(400, "a Content-Length that is no single number");
  has_length_ = true;
  for (const char c : value) {
    body_ = body_ * 10 + static_cast<std::size_t>(c - '0');
    if (body_ > most) {
      return refuse(413, "a body may have " + std::to_string(most) + " bytes at most");
    }
  }
  return State::incomplete;
}

}  // namespace sextant::server
