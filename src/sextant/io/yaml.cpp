// SPDX-License-Identifier: Apache-2.0
// The part of YAML that configuration files are written in, to the document tree: maps, lists,
// scalars, flow collections, block texts and comments. Anchors, aliases and tags are refused, so
// that no file means more than its text; what is read is typed as PyYAML types it (YAML 1.1).
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "sextant/io/node.hpp"
#include "sextant/io/parsing.hpp"
#include "sextant/io/text.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

constexpr std::string_view blanks = " \t";

/// A number as PyYAML takes it: digits may be grouped by '_'; no octals.
bool read_number(std::string_view text, Node& node) {
  std::string plain;
  for (const char c : text) {
    if (c != '_') plain += c;
  }
  std::string_view t = plain;
  if (t.starts_with('+')) t.remove_prefix(1);
  const std::string_view figures = t.substr(t.starts_with('-') ? 1 : 0);
  if (figures.empty() || !(is_digit(figures[0]) || figures[0] == '.')) return false;
  if (figures.size() > 1 && figures[0] == '0' && is_digit(figures[1])) return false;
  const char* const end = t.data() + t.size();
  std::int64_t whole = 0;
  if (const auto [at, error] = std::from_chars(t.data(), end, whole);
      at == end && error == std::errc{}) {
    node = Node::of(whole);
    return true;
  }
  double real = 0;
  const auto [at, error] = std::from_chars(t.data(), end, real);
  if (at != end || error != std::errc{}) return false;
  node = Node::of(real);
  return true;
}

Node plain_scalar(std::string_view text) {
  constexpr std::array<std::string_view, 5> nothing = {"", "~", "null", "Null", "NULL"};
  constexpr std::array<std::string_view, 9> yes = {"true", "True", "TRUE", "yes", "Yes",
                                                   "YES",  "on",   "On",   "ON"};
  constexpr std::array<std::string_view, 9> no = {"false", "False", "FALSE", "no", "No",
                                                  "NO",    "off",   "Off",   "OFF"};
  const auto among = [&](const auto& words) { return contains(words, text); };
  if (among(nothing)) return {};
  if (among(yes)) return Node::of(true);
  if (among(no)) return Node::of(false);
  Node node;
  if (read_number(text, node)) return node;
  return Node::of(text);
}

class YamlParser {
 public:
  explicit YamlParser(const Document& document)
      : document_(document), text_(document.text), places_(text_) {
    cut_lines();
  }

  Node run() {
    skip_blank_lines();
    if (!at_end() && content(line()).starts_with('%')) {
      fail(line().begin, "directives are not read", "remove the line");
    }
    if (!at_end() && is_marker("---")) {
      const std::string_view rest = trimmed(content(line()).substr(3));
      if (!rest.empty() && rest[0] != '#') fail(line().begin, "expected '---' alone on its line");
      ++index_;
      skip_blank_lines();
    }
    Node root = at_end() ? Node{} : block(line().indent, 0);
    skip_blank_lines();
    if (!at_end() && is_marker("...")) {
      ++index_;
      skip_blank_lines();
    }
    if (!at_end()) {
      is_marker("---") ? fail(line().begin, "a second document starts here", "give one a file")
                       : fail(line().begin, "indented less than what it belongs to");
    }
    throw_if_any(std::move(problems_));
    return root;
  }

 private:
  struct Line {
    std::size_t begin = 0;  ///< of what is not indentation
    std::size_t end = 0;
    int indent = 0;
  };

  void cut_lines() {
    for (std::size_t from = 0; from < text_.size();) {
      const std::size_t to = std::min(text_.find('\n', from), text_.size());
      std::size_t begin = from;
      while (begin < to && text_[begin] == ' ') ++begin;
      std::size_t end = to;
      if (end > begin && text_[end - 1] == '\r') --end;
      lines_.push_back({begin, end, static_cast<int>(begin - from)});
      from = to + 1;
    }
  }

  bool at_end() const { return index_ >= lines_.size(); }
  Line& line() { return lines_[index_]; }
  std::string_view content(const Line& l) const { return text_.substr(l.begin, l.end - l.begin); }
  bool is_marker(std::string_view mark) {
    const std::string_view text = content(line());
    return line().indent == 0 && text.starts_with(mark) &&
           (text.size() == 3 || blanks.find(text[3]) != blanks.npos);
  }
  bool blank(const Line& l) const {
    const std::string_view text = content(l);
    const std::size_t first = text.find_first_not_of(blanks);
    return first == text.npos || text[first] == '#';
  }
  void skip_blank_lines() {
    while (!at_end() && blank(line())) ++index_;
    if (at_end()) return;
    if (content(line()).starts_with('\t')) {
      fail(line().begin, "a tab indents here", "indent with spaces");
    }
  }

  Place place(std::size_t offset) { return places_.at(offset); }
  [[noreturn]] void fail(std::size_t offset, std::string message, std::string hint = "") {
    problems_.push_back(
        problem_at(document_, place(offset), "", std::move(message), std::move(hint)));
    throw InputError(arranged(std::move(problems_)));
  }
  void check_depth(int depth, std::size_t offset) {
    if (depth > max_nesting) {
      fail(offset, "nested deeper than " + std::to_string(max_nesting) + " levels");
    }
  }

  /// What the lines from here on say, all of them indented by `indent` at least.
  Node block(int indent, int depth) {
    check_depth(depth, line().begin);
    const std::size_t begin = line().begin;
    const Place at = place(begin);
    const std::string_view text = content(line());
    Node node;
    if (is_item(text)) {
      node = sequence(indent, depth);
    } else if (key_end(text) != text.npos) {
      node = mapping(indent, depth);
    } else {
      return value(begin, indent - 1, depth);
    }
    node.place = at;
    return node;
  }

  static bool is_item(std::string_view text) {
    return text == "-" || text.starts_with("- ") || text.starts_with("-\t");
  }

  /// Where the ':' after a line's key is.
  std::size_t key_end(std::string_view text) const {
    if (text.empty() || text[0] == '[' || text[0] == '{' || text[0] == '#') return text.npos;
    std::size_t from = 0;
    if (text[0] == '"' || text[0] == '\'') {
      from = text.find(text[0], 1);
      if (from == text.npos) return text.npos;
      const std::size_t next = text.find_first_not_of(blanks, from + 1);
      return next != text.npos && text[next] == ':' ? next : text.npos;
    }
    for (std::size_t i = from; i < text.size(); ++i) {
      if (text[i] == '#' && i > 0 && blanks.find(text[i - 1]) != blanks.npos) return text.npos;
      if (text[i] == ':' && (i + 1 == text.size() || blanks.find(text[i + 1]) != blanks.npos)) {
        return i;
      }
    }
    return text.npos;
  }

  Node mapping(int indent, int depth) {
    Node node = Node::table();
    for (skip_blank_lines(); !at_end() && line().indent == indent; skip_blank_lines()) {
      if (indent == 0 && (is_marker("---") || is_marker("..."))) break;
      const std::size_t begin = line().begin;
      const std::string_view text = content(line());
      refuse(begin);
      const std::size_t colon = key_end(text);
      if (colon == text.npos) fail(begin, "expected 'key: value'");
      std::string key(trimmed(text.substr(0, colon)));
      if (key.size() > 1 && (key[0] == '"' || key[0] == '\'')) key = key.substr(1, key.size() - 2);
      const Place at = place(begin);
      Node inner = after(begin + colon + 1, indent, depth + 1);
      node.members.push_back({std::move(key), at, std::move(inner)});
    }
    if (!at_end() && line().indent > indent)
      fail(line().begin, "indented more than its neighbours");
    find_duplicates(document_, node, problems_);
    return node;
  }

  Node sequence(int indent, int depth) {
    Node node = Node::array();
    for (skip_blank_lines(); !at_end() && line().indent == indent; skip_blank_lines()) {
      Line& l = line();
      const std::string_view text = content(l);
      if (!is_item(text)) break;
      const std::size_t inner = text.find_first_not_of(blanks, 1);
      if (inner == text.npos || text[inner] == '#') {
        node.items.push_back(after(l.begin + 1, indent, depth + 1));
        continue;
      }
      // What stands behind the dash is a block of its own that starts there.
      l.indent += static_cast<int>(inner);
      l.begin += inner;
      refuse(l.begin);
      node.items.push_back(block(l.indent, depth + 1));
    }
    if (!at_end() && line().indent > indent)
      fail(line().begin, "indented more than its neighbours");
    return node;
  }

  /// The value after "key:" or "-": on the same line, or in the lines below.
  Node after(std::size_t from, int indent, int depth) {
    const std::size_t end = line().end;
    std::size_t begin = from;
    while (begin < end && blanks.find(text_[begin]) != blanks.npos) ++begin;
    if (begin < end && text_[begin] != '#') return value(begin, indent, depth);
    ++index_;
    skip_blank_lines();
    if (at_end()) return {};
    const bool list = line().indent == indent && is_item(content(line())) && !in_item(from);
    if (line().indent > indent || list) return block(line().indent, depth);
    return {};
  }
  /// Whether the value that starts here belongs to a dash: then a dash below is its neighbour.
  bool in_item(std::size_t from) const { return from > 0 && text_[from - 1] == '-'; }

  void refuse(std::size_t begin) {
    switch (text_[begin]) {
      case '&':
      case '*':
        fail(begin, "anchors and aliases are not read", "write the value out");
      case '!':
        fail(begin, "tags are not read", "write a plain value");
      case '?':
        if (begin + 1 < text_.size() && text_[begin + 1] == ' ') {
          fail(begin, "keys of several lines are not read");
        }
        break;
      case '@':
      case '`':
        fail(begin, "no value starts with this character", "put the text in quotes");
      default:
        break;
    }
  }

  /// A value that starts at an offset of the current line; lines that go on with it are indented by
  /// more than `indent`.
  Node value(std::size_t begin, int indent, int depth) {
    refuse(begin);
    const char c = text_[begin];
    Node node;
    const Place at = place(begin);
    if (c == '|' || c == '>') {
      node = Node::of(block_text(begin, indent));
    } else if (c == '[' || c == '{' || c == '"' || c == '\'') {
      at_ = begin;
      node = c == '[' || c == '{' ? flow(depth) : Node::of(quoted());
      end_of_value();
    } else {
      node = plain(begin, indent);
    }
    node.place = at;
    return node;
  }

  static std::string_view without_comment(std::string_view text) {
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] == '#' && blanks.find(text[i - 1]) != blanks.npos) return text.substr(0, i);
    }
    return text;
  }

  Node plain(std::size_t begin, int indent) {
    std::string text(trimmed(without_comment(text_.substr(begin, line().end - begin))));
    if (key_end(text) != text.npos) {
      fail(begin, "a key inside the value of another",
           "put the text in quotes, or on its own line");
    }
    for (++index_; !at_end() && line().indent > indent && !blank(line()); ++index_) {
      const std::string_view more = trimmed(without_comment(content(line())));
      if (key_end(more) != more.npos || is_item(more)) {
        fail(line().begin, "indented under a value that is already complete");
      }
      text += " " + std::string(more);
    }
    return plain_scalar(text);
  }

  std::string block_text(std::size_t begin, int indent) {
    const bool folded = text_[begin] == '>';
    const std::string_view header =
        trimmed(without_comment(text_.substr(begin + 1, line().end - begin - 1)));
    if (header.size() > 1 || (header.size() == 1 && header != "-" && header != "+")) {
      fail(begin, "expected '|', '>', with '-' or '+' behind them at most");
    }
    std::string out;
    int inner = -1;
    for (++index_; !at_end(); ++index_) {
      const Line& l = line();
      const bool empty = content(l).find_first_not_of(blanks) == text_.npos;
      if (!empty && l.indent <= indent) break;
      if (!empty && inner < 0) inner = l.indent;
      if (!empty && l.indent < inner) fail(l.begin, "indented less than the text it belongs to");
      const auto extra = static_cast<std::size_t>(empty ? 0 : l.indent - inner);
      out += std::string(extra, ' ') + std::string(empty ? "" : content(l));
      out += folded ? ' ' : '\n';
    }
    while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
    if (header != "-" && !out.empty()) out += '\n';
    return out;
  }

  // ---- in one line or over several, by characters

  void skip_inside() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#' && (at_ == 0 || std::string_view(" \t\n").find(text_[at_ - 1]) != text_.npos)) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  Node flow(int depth) {
    check_depth(depth, at_);
    const std::size_t opened = at_;
    const bool map = text_[at_] == '{';
    const char close = map ? '}' : ']';
    Node node = map ? Node::table() : Node::array();
    node.place = place(opened);
    ++at_;
    for (bool first = true;; first = false) {
      skip_inside();
      if (!first && at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        skip_inside();
      } else if (!first && at_ < text_.size() && text_[at_] != close) {
        fail(at_, std::string("expected ',' or '") + close + "'");
      }
      if (at_ >= text_.size())
        fail(opened, std::string("the file ends before its '") + close + "'");
      if (text_[at_] == close) break;
      if (map) {
        flow_member(node, depth);
      } else {
        node.items.push_back(flow_value(depth));
      }
    }
    ++at_;
    if (map) find_duplicates(document_, node, problems_);
    return node;
  }

  void flow_member(Node& node, int depth) {
    const Place at = place(at_);
    const Node key = flow_value(depth);
    skip_inside();
    if (key.kind == Node::Kind::array || key.kind == Node::Kind::table || at_ >= text_.size() ||
        text_[at_] != ':') {
      fail(std::min(at_, text_.size() - 1), "expected 'key: value'");
    }
    ++at_;
    skip_inside();
    const bool empty = at_ >= text_.size() || text_[at_] == ',' || text_[at_] == '}';
    node.members.push_back({key_text(key), at, empty ? Node{} : flow_value(depth)});
  }

  static std::string key_text(const Node& key) {
    return key.kind == Node::Kind::string ? key.string : to_json(key, 0);
  }

  Node flow_value(int depth) {
    if (at_ >= text_.size()) fail(text_.size() - 1, "the file ends inside a list");
    refuse(at_);
    const Place at = place(at_);
    const char c = text_[at_];
    Node node;
    if (c == '[' || c == '{') {
      node = flow(depth + 1);
    } else if (c == '"' || c == '\'') {
      node = Node::of(quoted());
    } else {
      const std::size_t begin = at_;
      while (at_ < text_.size() && std::string_view(",[]{}\n").find(text_[at_]) == text_.npos) {
        const bool colon = text_[at_] == ':' &&
                           (at_ + 1 == text_.size() ||
                            std::string_view(" \t\n,[]{}").find(text_[at_ + 1]) != text_.npos);
        const bool comment =
            text_[at_] == '#' && at_ > begin && blanks.find(text_[at_ - 1]) != blanks.npos;
        if (colon || comment) break;
        ++at_;
      }
      if (at_ == begin) fail(at_, "expected a value");
      node = plain_scalar(trimmed(text_.substr(begin, at_ - begin)));
    }
    node.place = at;
    return node;
  }

  std::string quoted() {
    const std::size_t opened = at_;
    const char quote = text_[at_++];
    std::string out;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == quote && quote == '\'' && at_ + 1 < text_.size() && text_[at_ + 1] == quote) {
        out += quote;
        at_ += 2;
      } else if (c == quote) {
        ++at_;
        return out;
      } else if (c == '\\' && quote == '"') {
        escape(out);
      } else if (c == '\n') {
        fold(out);
      } else {
        out += c;
        ++at_;
      }
    }
    fail(opened, "the file ends inside the text that starts here");
  }

  /// A line's end inside quotes is a blank, and what indents the next line is nothing.
  void fold(std::string& out) {
    while (!out.empty() && (blanks.find(out.back()) != blanks.npos || out.back() == '\r')) {
      out.pop_back();
    }
    out += ' ';
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
  }

  void escape(std::string& out) {
    static constexpr std::string_view names = "\"\\/abefnrt0 ";
    static constexpr std::string_view meanings("\"\\/\a\b\x1b\f\n\r\t\0 ", 12);
    const std::size_t i = at_ + 1 < text_.size() ? names.find(text_[at_ + 1]) : names.npos;
    if (i == names.npos) fail(at_, "unknown escape in a text", "a backslash is written \\\\");
    if (meanings[i] == '\0') fail(at_, "a NUL in a text");
    out += meanings[i];
    at_ += 2;
  }

  /// After a value that ended somewhere on some line: nothing but a comment may follow there.
  void end_of_value() {
    const auto past = [&](const Line& l) { return l.end < at_; };
    while (!at_end() && past(line())) ++index_;
    if (at_end()) return;
    const std::string_view rest = text_.substr(at_, line().end - std::min(at_, line().end));
    const std::string_view more = trimmed(rest);
    if (!more.empty() && more[0] != '#') {
      fail(at_, "unexpected text after the value", "quote the whole of it");
    }
    ++index_;
  }

  const Document& document_;
  std::string_view text_;
  std::vector<Line> lines_;
  std::size_t index_ = 0;
  std::size_t at_ = 0;
  PlaceCounter places_;
  std::vector<Diagnostic> problems_;
};

}  // namespace

Document parse_yaml(std::string text, std::string file) {
  check_text(text, file);
  drop_byte_order_mark(text);
  Document document{std::move(file), std::move(text), {}};
  document.root = YamlParser(document).run();
  return document;
}

}  // namespace sextant
