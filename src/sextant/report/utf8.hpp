// SPDX-License-Identifier: Apache-2.0
// Text as people see it: code points, columns on a terminal, and text inside SVG and HTML.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

/// Decodes the code point at `position` and moves past it. A byte that starts no valid sequence
/// gives U+FFFD and is passed alone, so any bytes can be walked.
char32_t next_code_point(std::string_view text, std::size_t& position);

/// Columns the text takes on a terminal: combining marks none, East Asian and emoji two.
int display_width(std::string_view text);

/// Whole characters from its beginning, of at most so many columns.
std::string cut_to(std::string_view text, int width);

/// Control characters become spaces and invalid bytes U+FFFD: safe to print in one line.
std::string single_line(std::string_view text);

/// single_line(), with the characters that mean something in XML and HTML escaped.
std::string escape_markup(std::string_view text);

/// Words in lines of at most so many columns, longer words alone.
std::vector<std::string> wrapped(const std::vector<std::string>& words, int width);

/// "█" repeated and so on: `count` copies of `text`.
std::string repeat(std::string_view text, int count);

}  // namespace sextant
