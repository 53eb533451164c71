// SPDX-License-Identifier: Apache-2.0
// UTF-8 by hand, excerpts and quotation.
#include "sextant/io/text.hpp"

#include <algorithm>
#include <cstdint>

#include "sextant/units/format.hpp"

namespace sextant {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

[[noreturn]] void reject(const std::string& file, std::string message, std::string hint = "") {
  throw InputError(
      {Diagnostic{.file = file, .message = std::move(message), .hint = std::move(hint)}});
}

// What a file that is not text most likely is.
std::string binary_hint(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    return "it looks like UTF-16; save it as UTF-8";
  }
  if (text.starts_with("\x1f\x8b")) return "it looks like gzip; decompress it first";
  if (text.starts_with("PK\x03\x04")) return "it looks like a zip archive";
  return "";
}

// The byte at which the given column (in code points, from 1) of a line starts.
std::size_t byte_of(std::string_view line, int column) {
  std::size_t at = 0;
  for (int i = 1; i < column && at < line.size(); ++i) {
    ++at;
    while (at < line.size() && continues(line[at])) ++at;
  }
  return at;
}

int code_points(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

// Long lines (minified JSON, wide tables) are cut to a window around the column.
void set_excerpt(Diagnostic& d, std::string_view line) {
  constexpr std::size_t longest = 110;
  constexpr std::size_t before = 50;
  std::size_t begin = 0;
  if (line.size() > longest) {
    const std::size_t at = byte_of(line, d.column);
    begin = at > before ? at - before : 0;
    while (begin > 0 && continues(line[begin])) --begin;
  }
  const std::string_view window = line.substr(begin);
  d.excerpt = (begin > 0 ? "…" : "") + printable(window, longest);
  if (begin > 0) d.caret = d.column - code_points(line.substr(0, begin)) + 1;
}

}  // namespace

std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return at < text.size() ? 1 : 0;
  std::size_t length = 0;
  std::uint32_t code = 0;
  if (first >= 0xC2 && first < 0xE0) {
    length = 2;
    code = first & 0x1FU;
  } else if (first >= 0xE0 && first < 0xF0) {
    length = 3;
    code = first & 0x0FU;
  } else if (first >= 0xF0 && first < 0xF5) {
    length = 4;
    code = first & 0x07U;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return overlong || surrogate || code > 0x10FFFF ? 0 : length;
}

void check_text(std::string_view text, const std::string& file, std::size_t limit) {
  if (text.size() > limit) {
    reject(file, "the file is larger than " + std::to_string(limit >> 20) + " MiB");
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length != 0 && text[at] != '\0') {
      at += length;
      continue;
    }
    const int line = place_of(text, at).line;
    const std::string where =
        " (byte " + std::to_string(at + 1) + ", line " + std::to_string(line) + ")";
    const bool nul = text[at] == '\0';
    reject(file, (nul ? "not a text file: it holds a NUL byte" : "not UTF-8 text") + where,
           binary_hint(text));
  }
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    const auto c = static_cast<unsigned char>(text[at]);
    if (out.size() + std::max<std::size_t>(length, 1) > limit) return out + "…";
    if (length == 0 || (c < 0x20 && c != '\t') || c == 0x7F) {
      out += '?';
    } else {
      out += text.substr(at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string_view line_of(std::string_view text, int number) {
  std::size_t begin = 0;
  for (int i = 1; i < number; ++i) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void drop_byte_order_mark(std::string& text) {
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
}

void append_escaped(std::string& out, std::string_view text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  const auto plain = [](char x) {
    const auto c = static_cast<unsigned char>(x);
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
  };
  for (std::size_t at = 0; at < text.size();) {
    // Nearly all of any text.
    std::size_t end = at;
    while (end < text.size() && plain(text[end])) ++end;
    out.append(text.substr(at, end - at));
    at = end;
    if (at == text.size()) return;
    const std::size_t length = sequence_length(text, at);
    const auto c = static_cast<unsigned char>(text[at]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[at];
    } else if (c == '\n' || c == '\t') {
      out += c == '\n' ? "\\n" : "\\t";
    } else if (c < 0x20 || c == 0x7F) {
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 15];
    } else if (length == 0) {
      out += "\xEF\xBF\xBD";  // U+FFFD, so that the output is UTF-8 whatever came in
    } else {
      out += text.substr(at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

std::string in_quotes(std::string_view text) { return "'" + printable(text) + "'"; }

Place place_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  return {.line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')),
          .column = 1 + code_points(before.substr(begin))};
}

Diagnostic problem_at(const std::string& file, std::string_view text, Place place,
                      std::string field, std::string message, std::string hint) {
  Diagnostic d{.file = file,
               .line = place.line,
               .column = place.column,
               .field = std::move(field),
               .message = std::move(message),
               .hint = std::move(hint)};
  if (place.line > 0) set_excerpt(d, line_of(text, place.line));
  return d;
}

std::string plain_text(const Node& node) {
  switch (node.kind) {
    case Node::Kind::boolean:
      return node.boolean ? "true" : "false";
    case Node::Kind::integer:
      return std::to_string(node.integer);
    case Node::Kind::number:
      return write_number(node.number);
    case Node::Kind::string:
      return node.string;
    default:
      return "";
  }
}

std::string describe_value(const Node& node, const ValueWords& words) {
  switch (node.kind) {
    case Node::Kind::null:
      return std::string(words.null);
    case Node::Kind::string:
      return in_quotes(node.string);
    case Node::Kind::array:
      return "an array";
    case Node::Kind::table:
      return std::string(words.table);
    default:
      return plain_text(node);
  }
}

}  // namespace sextant
