// SPDX-License-Identifier: Apache-2.0
// JSON to and from the document tree. Own parser: no packaged library gives the place of a value.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "sextant/io/json_writer.hpp"
#include "sextant/io/node.hpp"
#include "sextant/io/parsing.hpp"
#include "sextant/io/text.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

class JsonParser {
 public:
  explicit JsonParser(const Document& document)
      : document_(document), text_(document.text), places_(text_) {}

  Node run() {
    Node root = value(0);
    skip_blanks();
    if (at_ < text_.size()) fail("unexpected text after the end of the value");
    throw_if_any(std::move(problems_));
    return root;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }

  Place here() { return places_.at(at_); }

  [[noreturn]] void fail_at(Place place, std::string message, std::string hint = "") {
    problems_.push_back(problem_at(document_, place, "", std::move(message), std::move(hint)));
    throw InputError(arranged(std::move(problems_)));
  }
  [[noreturn]] void fail(std::string message, std::string hint = "") {
    fail_at(here(), std::move(message), std::move(hint));
  }

  Node value(int depth) {
    skip_blanks();
    const Place place = here();
    if (depth > max_nesting) {
      fail("nested deeper than " + std::to_string(max_nesting) + " levels");
    }
    Node node = unplaced(depth, place);
    node.place = place;
    return node;
  }

  Node unplaced(int depth, Place place) {
    switch (peek()) {
      case '{':
        return table(depth, place);
      case '[':
        return array(depth, place);
      case '"':
        return Node::of(string(place));
      case '-':
      case '0':
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
      case '7':
      case '8':
      case '9':
        return number();
      default:
        return word();
    }
  }

  // Python writes NaN and Infinity, and published config.json files hold them, so they are read;
  // whoever needs a finite number refuses them.
  Node word() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (take("true")) return Node::of(true);
    if (take("false")) return Node::of(false);
    if (take("null")) return Node{};
    if (take("NaN")) return Node::of(std::numeric_limits<double>::quiet_NaN());
    if (take("Infinity")) return Node::of(infinity);
    if (at_ == text_.size()) fail("the file ends where a value is expected");
    fail("expected a value", hint());
  }

  std::string hint() const {
    const std::string_view before = text_.substr(0, at_);
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("/") || rest.starts_with("#")) return "JSON has no comments";
    if (rest.starts_with("'")) return "strings stand in double quotes";
    const std::size_t last = before.find_last_not_of(" \t\r\n");
    const bool comma = last != before.npos && before[last] == ',';
    if (comma && (rest.starts_with("]") || rest.starts_with("}"))) {
      return "remove the comma before it";
    }
    if (rest.starts_with("True") || rest.starts_with("False")) return "write true or false";
    if (rest.starts_with("None")) return "write null";
    if (rest.starts_with("+") || rest.starts_with("."))
      return "a number starts with a digit or '-'";
    return "";
  }

  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  Node number() {
    const std::size_t begin = at_;
    if (take("-Infinity")) return Node::of(-std::numeric_limits<double>::infinity());
    take("-");
    const bool leading_zero = peek() == '0';
    const std::size_t whole = digits();
    if (leading_zero && whole > 1) fail("a number has no leading zeros");
    bool integral = true;
    if (take(".")) {
      integral = false;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      integral = false;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      digits();
    }
    return number_of(text_.substr(begin, at_ - begin), integral);
  }

  std::size_t digits() {
    const std::size_t begin = at_;
    while (is_digit(peek())) ++at_;
    if (at_ == begin) fail("expected a digit");
    return at_ - begin;
  }

  Node number_of(std::string_view text, bool integral) {
    const char* const end = text.data() + text.size();
    std::int64_t whole = 0;
    if (integral && std::from_chars(text.data(), end, whole).ec == std::errc{}) {
      return text == "-0" ? Node::of(-0.0) : Node::of(whole);
    }
    double real = 0;
    if (std::from_chars(text.data(), end, real).ec == std::errc{}) return Node::of(real);
    // Out of range is either too large, or so small that it is zero.
    real = std::strtod(std::string(text).c_str(), nullptr);
    if (!std::isfinite(real)) fail("the number " + in_quotes(text) + " is too large");
    return Node::of(real);
  }

  std::string string(Place opened) {
    ++at_;
    std::string out;
    while (true) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<unsigned char>(text_[at_]) >= 0x20) {
        ++at_;
      }
      out += text_.substr(begin, at_ - begin);
      if (at_ == text_.size()) fail_at(opened, "the file ends inside the string that starts here");
      if (text_[at_] == '"') return ++at_, out;
      if (text_[at_] != '\\') fail("a line break or control character inside a string");
      escape(out);
    }
  }

  void escape(std::string& out) {
    static constexpr std::string_view names = "\"\\/bfnrt";
    static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    ++at_;
    const std::size_t i = at_ < text_.size() ? names.find(text_[at_]) : text_.npos;
    if (i != text_.npos) {
      out += meanings[i];
      ++at_;
    } else if (take("u")) {
      append_utf8(out, code_point());
    } else {
      fail("unknown escape in a string", "a backslash is written \\\\");
    }
  }

  // Characters beyond the basic plane are written as two surrogates.
  std::uint32_t code_point() {
    const std::uint32_t first = four_hex();
    if (first < 0xD800 || first > 0xDFFF) return first;
    if (first > 0xDBFF || !take("\\u")) fail("half of a surrogate pair");
    const std::uint32_t second = four_hex();
    if (second < 0xDC00 || second > 0xDFFF) fail("half of a surrogate pair");
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }

  std::uint32_t four_hex() {
    const std::string_view hex = text_.substr(at_, 4);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    if (hex.size() != 4 || error != std::errc{} || end != hex.data() + 4) {
      fail("expected four hexadecimal digits after \\u");
    }
    at_ += 4;
    return code;
  }

  Node array(int depth, Place opened) {
    Node node = Node::array();
    ++at_;
    skip_blanks();
    if (take("]")) return node;
    do {
      node.items.push_back(value(depth + 1));
    } while (next(']', opened));
    return node;
  }

  Node table(int depth, Place opened) {
    Node node = Node::table();
    ++at_;
    skip_blanks();
    if (take("}")) return node;
    do {
      skip_blanks();
      const Place place = here();
      if (peek() != '"') {
        if (at_ == text_.size()) fail_unclosed('}', opened);
        fail("expected a key in double quotes", hint());
      }
      std::string key = string(place);
      skip_blanks();
      if (!take(":")) fail("expected ':' after the key " + in_quotes(key));
      node.members.push_back({std::move(key), place, value(depth + 1)});
    } while (next('}', opened));
    find_duplicates(document_, node, problems_);
    return node;
  }

  // After an element: true when a comma announces another.
  bool next(char close, Place opened) {
    skip_blanks();
    if (take(",")) return true;
    if (at_ == text_.size()) fail_unclosed(close, opened);
    if (peek() != close) fail(std::string("expected ',' or '") + close + "'");
    ++at_;
    return false;
  }

  [[noreturn]] void fail_unclosed(char close, Place opened) {
    fail_at(opened, std::string("the file ends before the '") + close + "' that belongs here");
  }

  const Document& document_;
  std::string_view text_;
  std::size_t at_ = 0;
  PlaceCounter places_;
  std::vector<Diagnostic> problems_;
};

}  // namespace

Document parse_json(std::string text, std::string file) {
  check_text(text, file);
  drop_byte_order_mark(text);
  Document document{std::move(file), std::move(text), {}};
  document.root = JsonParser(document).run();
  return document;
}

// ---- writing

void JsonWriter::line(std::size_t depth) {
  if (indent_ <= 0) return;
  out_ += '\n';
  out_.append(static_cast<std::size_t>(indent_) * depth, ' ');
}

void JsonWriter::open(char bracket) {
  out_ += bracket;
  ++depth_;
  first_ = true;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (!first_) line(depth_);
  out_ += bracket;
  first_ = false;
}

void JsonWriter::item() {
  if (!first_) out_ += ',';
  first_ = false;
  line(depth_);
}

void JsonWriter::key(std::string_view name) {
  item();
  value(name);
  out_ += indent_ > 0 ? ": " : ":";
}

void JsonWriter::value(double number) {
  // JSON has no word for what is not a number.
  out_ += std::isfinite(number) ? write_number(number) : "null";
}

void JsonWriter::value(std::string_view text) {
  out_ += '"';
  append_escaped(out_, text);
  out_ += '"';
}

void JsonWriter::value(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      out_ += "null";
      break;
    case Node::Kind::boolean:
      out_ += node.boolean ? "true" : "false";
      break;
    case Node::Kind::integer:
      out_ += std::to_string(node.integer);
      break;
    case Node::Kind::number:
      value(node.number);
      break;
    case Node::Kind::string:
      value(std::string_view(node.string));
      break;
    case Node::Kind::array:
      array(node);
      break;
    case Node::Kind::table:
      table(node);
      break;
  }
}

void JsonWriter::array(const Node& node) {
  const bool flat = std::all_of(node.items.begin(), node.items.end(), [](const Node& item) {
    return item.kind != Node::Kind::array && item.kind != Node::Kind::table;
  });
  if (!flat) {
    open('[');
    for (const Node& part : node.items) {
      item();
      value(part);
    }
    return close(']');
  }
  out_ += '[';
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (i > 0) out_ += indent_ > 0 ? ", " : ",";
    value(node.items[i]);
  }
  out_ += ']';
}

void JsonWriter::table(const Node& node) {
  open('{');
  for (const Node::Member& m : node.members) {
    key(m.key);
    value(m.value);
  }
  close('}');
}

std::string to_json(const Node& node, int indent) {
  JsonWriter writer(indent);
  writer.value(node);
  return writer.take();
}

}  // namespace sextant
