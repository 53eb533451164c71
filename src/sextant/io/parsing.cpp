// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/parsing.hpp"

#include <algorithm>
#include <numeric>

#include "sextant/io/text.hpp"

namespace sextant {

Place PlaceCounter::at(std::size_t offset) {
  if (offset < counted_) *this = PlaceCounter(text_);
  for (; counted_ < offset; ++counted_) {
    if (text_[counted_] == '\n') {
      ++place_.line;
      place_.column = 1;
    } else if ((static_cast<unsigned char>(text_[counted_]) & 0xC0) != 0x80) {
      ++place_.column;
    }
  }
  return place_;
}

void find_duplicates(const Document& document, const Node& table,
                     std::vector<Diagnostic>& problems) {
  std::vector<std::size_t> order(table.members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return table.members[a].key < table.members[b].key;
  });
  for (std::size_t i = 1; i < order.size() && problems.size() < max_collected; ++i) {
    const Node::Member& first = table.members[order[i - 1]];
    const Node::Member& second = table.members[order[i]];
    if (first.key != second.key) continue;
    problems.push_back(
        problem_at(document, second.place, printable(second.key),
                   "given twice, first in line " + std::to_string(first.place.line)));
  }
}

void append_utf8(std::string& to, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { to += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

}  // namespace sextant
