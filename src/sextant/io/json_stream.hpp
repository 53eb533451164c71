// SPDX-License-Identifier: Apache-2.0
// JSON read once, front to back, value by value, in bounded memory: for files that are too large to
// hold. Whoever reads asks for what it wants and skips the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/bytes.hpp"

namespace sextant {

class JsonStream {
 public:
  /// Strings are kept up to this length; what is longer is read over.
  static constexpr std::size_t longest = 16384;

  JsonStream(ByteSource& source, std::string file);

  /// The first character of the next value, or 0 at the end of the text.
  char peek();
  /// Steps into an object or an array; an error where the next value is another.
  void enter_object();
  void enter_array();
  /// The next key of the object entered last; false at its end. The key holds until the next call.
  bool next_key(std::string_view& key);
  /// Whether the array entered last has another item.
  bool next_item();

  /// A string without its escapes. Holds until the next call.
  std::string_view string();
  double number();
  /// A number times 1000, to the whole: microseconds as nanoseconds, without rounding.
  std::int64_t thousandths();
  /// Without its decimals; 0 where it is too large to be kept.
  std::int64_t integer();
  void skip();
  /// Reads over what is left of the object or array entered last, and leaves it.
  void leave();
  /// The next value as it is written, without spaces between its parts; cut at `limit` characters.
  void copy(std::string& to, std::size_t limit);
  /// Nothing but space may follow.
  void expect_end();

  [[noreturn]] void fail(std::string_view message, std::string_view hint = "");

 private:
  bool fill();
  int get() { return at_ != end_ || fill() ? static_cast<unsigned char>(*at_++) : -1; }
  int look() { return at_ != end_ || fill() ? static_cast<unsigned char>(*at_) : -1; }
  int look_past_space();
  void enter(char open);
  bool next(char close);
  void rest_of_string(std::string& to);
  void escape(std::string& to);
  std::uint32_t hex();
  void skip_string();
  void skip_nested(std::size_t depth);
  std::string_view bare();

  ByteSource& source_;
  std::string file_;
  std::vector<char> buffer_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t lines_ = 0;  ///< in what was read before the buffer
  std::string text_;         ///< a string that crossed the buffer's end or had escapes
  std::string key_;
  std::string bare_;
  std::vector<char> open_;  ///< brackets entered and not left
  bool first_ = true;       ///< nothing read yet of the bracket entered last
};

}  // namespace sextant
