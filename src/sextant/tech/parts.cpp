// SPDX-License-Identifier: Apache-2.0
#include "sextant/tech/parts.hpp"

#include <charconv>
#include <sstream>

namespace sextant {

std::optional<int> read_count(std::string_view word) {
  if (!word.starts_with('x')) return std::nullopt;
  int count = 0;
  const char* end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data() + 1, end, count);
  if (parsed.ec != std::errc() || parsed.ptr != end || count < 1 || count > 64) return std::nullopt;
  return count;
}

std::string wrong_count(std::string_view word) {
  return "expected a count from x1 to x64, got '" + std::string(word) + "'";
}

std::optional<NamedParts> read_parts(const std::string& text, Diagnostic& problem) {
  std::istringstream words(text);
  NamedParts p;
  std::string count;
  std::string more;
  words >> p.name >> count >> more;
  const bool none = p.name.empty() || p.name == "none";
  if (!more.empty() || read_count(p.name) ||
      (!count.empty() && (none || !count.starts_with('x')))) {
    problem.message = "expected a memory and a count, got '" + text + "'";
    problem.hint = "such as 'hbf x2', or none";
    return std::nullopt;
  }
  if (none) return NamedParts{};
  p.count = 1;
  if (count.empty()) return p;
  const std::optional<int> read = read_count(count);
  if (!read) {
    problem.message = wrong_count(count);
    return std::nullopt;
  }
  p.count = *read;
  return p;
}

}  // namespace sextant
