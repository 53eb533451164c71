// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/json_stream.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "sextant/io/parsing.hpp"
#include "sextant/io/text.hpp"

namespace sextant {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

bool is_space(int c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

JsonStream::JsonStream(ByteSource& source, std::string file)
    : source_(source), file_(std::move(file)), buffer_(buffer_bytes) {}

bool JsonStream::fill() {
  lines_ += static_cast<std::uint64_t>(std::count(static_cast<const char*>(buffer_.data()),
                                                  end_ == nullptr ? buffer_.data() : end_, '\n'));
  const std::size_t n = source_.read(buffer_.data(), buffer_.size());
  at_ = buffer_.data();
  end_ = at_ + n;
  return n > 0;
}

void JsonStream::fail(std::string_view message, std::string_view hint) {
  Diagnostic d;
  d.file = file_;
  const auto here =
      lines_ + 1 +
      static_cast<std::uint64_t>(std::count(static_cast<const char*>(buffer_.data()),
                                            at_ == nullptr ? buffer_.data() : at_, '\n'));
  d.line = static_cast<int>(std::min<std::uint64_t>(here, std::numeric_limits<int>::max()));
  d.column = 1;
  d.message = message;
  d.hint = hint;
  throw InputError(std::vector<Diagnostic>{std::move(d)});
}

int JsonStream::look_past_space() {
  int c = look();
  while (is_space(c)) {
    ++at_;
    c = look();
  }
  return c;
}

char JsonStream::peek() {
  const int c = look_past_space();
  return c < 0 ? '\0' : static_cast<char>(c);
}

void JsonStream::enter(char open) {
  const int c = look_past_space();
  if (c < 0) fail("the text ends in the middle");
  if (c != open) fail(open == '{' ? "expected an object" : "expected a list");
  if (open_.size() >= static_cast<std::size_t>(max_nesting))
    fail("too many brackets inside one another");
  ++at_;
  open_.push_back(open);
  first_ = true;
}
void JsonStream::enter_object() { enter('{'); }
void JsonStream::enter_array() { enter('['); }

// Past the comma, where another value follows; out of the bracket, where none does.
bool JsonStream::next(char close) {
  int c = look_past_space();
  if (c == close) {
    ++at_;
    open_.pop_back();
    first_ = false;
    return false;
  }
  if (!first_) {
    if (c < 0) fail("the text ends in the middle");
    if (c != ',') fail(close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
    ++at_;
    c = look_past_space();
  }
  if (c < 0) fail("the text ends in the middle");
  first_ = false;
  return true;
}

bool JsonStream::next_key(std::string_view& key) {
  if (!next('}')) return false;
  if (look() != '"') fail("expected a key in quotation marks");
  key = string();
  if (at_ == end_ || *at_ != ':') {
    // What follows may take the key's place in the buffer.
    key_ = key;
    key = key_;
    if (look_past_space() != ':') fail("expected ':' after a key");
  }
  ++at_;
  return true;
}

bool JsonStream::next_item() { return next(']'); }

std::string_view JsonStream::string() {
  if (look_past_space() != '"') fail("expected a string");
  ++at_;
  // Most end inside the buffer and have no escapes.
  const char* p = at_;
  while (p != end_ && *p != '"' && *p != '\\') ++p;
  if (p != end_ && *p == '"') {
    const std::string_view all(at_, static_cast<std::size_t>(p - at_));
    at_ = p + 1;
    return all.substr(0, longest);
  }
  text_.clear();
  rest_of_string(text_);
  return text_;
}

void JsonStream::rest_of_string(std::string& to) {
  while (true) {
    const int c = get();
    if (c < 0) fail("the text ends inside a string");
    if (c == '"') return;
    if (c == '\\') {
      escape(to);
    } else if (to.size() < longest) {
      to += static_cast<char>(c);
    }
  }
}

std::uint32_t JsonStream::hex() {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const int c = get();
    std::uint32_t digit = 16;
    if (c >= '0' && c <= '9') digit = static_cast<std::uint32_t>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<std::uint32_t>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') digit = static_cast<std::uint32_t>(c - 'A' + 10);
    if (digit > 15) fail("expected four hexadecimal digits");
    value = value * 16 + digit;
  }
  return value;
}

void JsonStream::escape(std::string& to) {
  const int c = get();
  if (c < 0) fail("the text ends inside a string");
  constexpr std::string_view written = "\"\\/bfnrt";
  constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
  std::string one;
  if (c == 'u') {
    std::uint32_t code = hex();
    if (code >= 0xD800 && code < 0xDC00 && look() == '\\') {
      ++at_;
      if (get() != 'u') fail("expected the second half of a pair");
      const std::uint32_t low = hex();
      code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                                           : 0xFFFD;
    }
    if (code >= 0xD800 && code < 0xE000) code = 0xFFFD;
    append_utf8(one, code);
  } else {
    const std::size_t at = written.find(static_cast<char>(c));
    if (at == std::string_view::npos) fail("unknown escape in a string");
    one = meant[at];
  }
  if (to.size() + one.size() <= longest) to += one;
}

std::string_view JsonStream::bare() {
  look_past_space();
  bare_.clear();
  for (int c = look(); c >= 0 && !is_space(c) && c != ',' && c != '}' && c != ']' && c != ':';
       c = look()) {
    if (c == '{' || c == '[' || c == '"') break;
    if (bare_.size() > 400) fail("expected a number");
    bare_ += static_cast<char>(c);
    ++at_;
  }
  return bare_;
}

double JsonStream::number() {
  const std::string_view text = bare();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) fail("expected a number");
  return value;
}

std::int64_t JsonStream::thousandths() {
  const std::string_view text = bare();
  const bool negative = text.starts_with('-');
  std::size_t at = negative ? 1 : 0;
  std::int64_t value = 0;
  int decimals = -1;
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max() / 16;
  for (; at < text.size() && decimals < 3 && value < largest; ++at) {
    if (text[at] == '.' && decimals < 0) {
      decimals = 0;
      continue;
    }
    if (!is_digit(text[at])) break;
    value = value * 10 + (text[at] - '0');
    if (decimals >= 0) ++decimals;
  }
  while (decimals == 3 && at < text.size() && is_digit(text[at])) ++at;
  if (at == text.size() && at > (negative ? 1 : 0)) {
    for (int i = std::max(0, decimals); i < 3; ++i) value *= value < largest / 100 ? 10 : 1;
    return negative ? -value : value;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) fail("expected a number");
  number *= 1000;
  if (!(std::abs(number) < 9e18)) fail("expected a number that is not so large");
  return static_cast<std::int64_t>(number);
}

std::int64_t JsonStream::integer() {
  const std::string_view text = bare();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size()) return value;
  double number = 0;
  const auto [last, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (last != text.data() + text.size() || text.empty()) fail("expected a number");
  return problem == std::errc{} && std::abs(number) < 9e18 ? static_cast<std::int64_t>(number) : 0;
}

void JsonStream::skip_string() {
  while (true) {
    if (at_ == end_ && !fill()) fail("the text ends inside a string");
    while (at_ != end_ && *at_ != '"' && *at_ != '\\') ++at_;
    if (at_ == end_) continue;
    const char c = *at_++;
    if (c == '"') return;
    if (get() < 0) fail("the text ends inside a string");
  }
}

// Reads over a value's end: `depth` brackets are open. Which kind of bracket closes which is not
// looked at in what nobody reads.
void JsonStream::skip_nested(std::size_t depth) {
  while (depth > 0) {
    if (at_ == end_ && !fill()) fail("the text ends in the middle");
    switch (*at_++) {
      case '"':
        skip_string();
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        --depth;
        break;
      default:
        break;
    }
  }
}

void JsonStream::skip() {
  const int c = look_past_space();
  if (c < 0) fail("the text ends in the middle");
  if (c == '"') {
    ++at_;
    skip_string();
  } else if (c == '{' || c == '[') {
    ++at_;
    skip_nested(1);
  } else if (bare().empty()) {
    fail("expected a value");
  }
}

void JsonStream::leave() {
  skip_nested(1);
  open_.pop_back();
  first_ = false;
}

void JsonStream::copy(std::string& to, std::size_t limit) {
  const int first = look_past_space();
  if (first < 0) fail("the text ends in the middle");
  to.clear();
  std::size_t depth = 0;
  do {
    const int c = look_past_space();
    if (c < 0) fail("the text ends in the middle");
    if (c == '"') {
      const std::string_view text = string();
      if (to.size() + text.size() + 2 <= limit) {
        to += '"';
        to += text;
        to += '"';
      }
    } else {
      if (depth == 0 && c != '{' && c != '[') {
        to = bare();
        return;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (to.size() < limit) to += static_cast<char>(c);
      ++at_;
    }
  } while (depth > 0);
}

void JsonStream::expect_end() {
  if (look_past_space() >= 0) fail("expected nothing after the last bracket");
}

}  // namespace sextant
