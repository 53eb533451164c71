// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/utf8.hpp"

#include <algorithm>
#include <array>

namespace sextant {
namespace {

constexpr char32_t replacement = 0xFFFD;
constexpr std::string_view replacement_utf8 = "\xEF\xBF\xBD";

struct Range {
  char32_t first;
  char32_t last;
};
constexpr std::array zero_width = std::to_array<Range>({
    {0x0300, 0x036F},  // combining marks
    {0x200B, 0x200F},  // zero-width space, joiners, marks of direction
    {0x20D0, 0x20FF},  // combining marks for symbols
    {0xFE00, 0xFE0F},  // variation selectors
});
constexpr std::array double_width = std::to_array<Range>({
    {0x1100, 0x115F},    // Hangul initials
    {0x2E80, 0xA4CF},    // CJK, kana, Yi
    {0xAC00, 0xD7A3},    // Hangul
    {0xF900, 0xFAFF},    // CJK compatibility
    {0xFE30, 0xFE6F},    // CJK compatibility forms
    {0xFF00, 0xFF60},    // full-width forms
    {0xFFE0, 0xFFE6},    // full-width signs
    {0x1F300, 0x1FAFF},  // emoji
    {0x20000, 0x3FFFD},  // CJK extensions
});

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](Range r) { return c >= r.first && c <= r.last; });
}

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

// How many bytes a lead byte announces; 0 for a byte that leads nothing.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& position) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(position);
  const std::size_t start = position++;
  const std::size_t length = sequence_length(lead);
  if (length == 1) return lead;
  if (length == 0 || start + length > text.size()) return replacement;
  char32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = start + 1; i < start + length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return replacement;
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  // Overlong forms, surrogates and what lies beyond Unicode are no characters.
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return replacement;
  position = start + length;
  return code;
}

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char32_t c = next_code_point(text, i);
    if (within(zero_width, c)) continue;
    width += within(double_width, c) ? 2 : 1;
  }
  return width;
}

std::string cut_to(std::string_view text, int width) {
  std::string out;
  int used = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    next_code_point(text, i);
    const std::string_view character = text.substr(start, i - start);
    used += display_width(character);
    if (used > width) break;
    out += character;
  }
  return out;
}

std::string single_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    const char32_t c = next_code_point(text, i);
    if (is_control(c)) {
      out += ' ';
    } else if (c == replacement || c == 0xFFFE || c == 0xFFFF) {
      out += replacement_utf8;
    } else {
      out += text.substr(start, i - start);
    }
  }
  return out;
}

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : single_line(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::vector<std::string> wrapped(const std::vector<std::string>& words, int width) {
  std::vector<std::string> lines(1);
  for (const std::string& word : words) {
    const bool fits = display_width(lines.back()) + 1 + display_width(word) <= width;
    if (!lines.back().empty() && !fits) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

std::string repeat(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace sextant
