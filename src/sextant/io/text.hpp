// SPDX-License-Identifier: Apache-2.0
// What every reader of text shares: UTF-8 checks, escapes, safe quotation, problems with excerpts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "sextant/io/node.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {

/// The largest document that is read; more is a mistake or an attack.
inline constexpr std::size_t max_document_bytes = std::size_t{16} << 20;
/// Tables and arrays inside one another.
inline constexpr int max_nesting = 100;

/// Throws InputError unless `text` is UTF-8 without NUL bytes, at most `limit` bytes long.
void check_text(std::string_view text, const std::string& file,
                std::size_t limit = max_document_bytes);

/// Windows editors put a mark before UTF-8 text; it means nothing.
void drop_byte_order_mark(std::string& text);

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The given line (from 1) without its end.
std::string_view line_of(std::string_view text, int number);

/// The bytes of the UTF-8 sequence that starts at `at`, or 0 when there is none.
std::size_t sequence_length(std::string_view text, std::size_t at);

/// Text from a file as it may stand in a message: control characters replaced, long text cut.
std::string printable(std::string_view text, std::size_t limit = 60);
/// The same in single quotes.
std::string in_quotes(std::string_view text);

/// Text with the escapes that JSON strings and TOML's basic strings share.
std::string escaped(std::string_view text);
void append_escaped(std::string& out, std::string_view text);

/// The place of a byte offset. O(offset): for messages only.
Place place_of(std::string_view text, std::size_t offset);

/// A problem at a place, with the source line (or the part of it around the place).
Diagnostic problem_at(const std::string& file, std::string_view text, Place place,
                      std::string field, std::string message, std::string hint = "");
inline Diagnostic problem_at(const Document& document, Place place, std::string field,
                             std::string message, std::string hint = "") {
  return problem_at(document.file, document.text, place, std::move(field), std::move(message),
                    std::move(hint));
}

/// A switch, a number or a text without quotes; nothing of other values.
std::string plain_text(const Node& node);

/// What a format calls its kinds of values that have no spelling of their own.
struct ValueWords {
  std::string_view null;
  std::string_view table;
};
/// A value for a message: as it is written, or the kind of thing it is.
std::string describe_value(const Node& node, const ValueWords& words);

}  // namespace sextant
