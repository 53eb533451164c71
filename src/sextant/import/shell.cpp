// SPDX-License-Identifier: Apache-2.0
#include "sextant/import/shell.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>

#include "sextant/io/parsing.hpp"
#include "sextant/io/text.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

/// More words than any launch script has, arrays expanded.
constexpr std::size_t most_words = 100000;
/// More text than the value of any variable: a script must not grow without bounds.
constexpr std::size_t longest_value = std::size_t{1} << 20;

bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool name_char(char c) { return name_start(c) || (c >= '0' && c <= '9'); }

/// What a variable holds: one text, or the words of an array.
struct Variable {
  std::vector<Word> words;
  bool array = false;
};

/// A sum of products of whole numbers, as $(( )) has them.
class Arithmetic {
 public:
  explicit Arithmetic(std::string_view text) : text_(text) {}
  std::optional<std::int64_t> run() {
    const std::optional<std::int64_t> value = sum(0);
    skip();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\n')) ++at_;
  }
  char next() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  std::optional<std::int64_t> sum(int depth) {
    std::optional<std::int64_t> left = product(depth);
    while (left && (next() == '+' || next() == '-')) {
      const char sign = text_[at_++];
      const std::optional<std::int64_t> right = product(depth);
      left = bounded(right ? std::optional(sign == '+' ? *left + *right : *left - *right)
                           : std::nullopt);
    }
    return left;
  }
  std::optional<std::int64_t> product(int depth) {
    std::optional<std::int64_t> left = factor(depth);
    while (left && (next() == '*' || next() == '/' || next() == '%')) {
      const char sign = text_[at_++];
      const std::optional<std::int64_t> right = factor(depth);
      if (!right || (sign != '*' && *right == 0)) return std::nullopt;
      if (sign == '*') {
        left = bounded(*left * *right);
      } else {
        left = sign == '/' ? *left / *right : *left % *right;
      }
    }
    return left;
  }
  std::optional<std::int64_t> factor(int depth) {
    if (depth > max_nesting) return std::nullopt;
    if (next() == '(') {
      ++at_;
      const std::optional<std::int64_t> inner = sum(depth + 1);
      if (next() != ')') return std::nullopt;
      ++at_;
      return inner;
    }
    std::int64_t value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [after, error] = std::from_chars(text_.data() + at_, end, value);
    if (error != std::errc{}) return std::nullopt;
    at_ = static_cast<std::size_t>(after - text_.data());
    return bounded(value);
  }
  /// Products of two such fit.
  static std::optional<std::int64_t> bounded(std::optional<std::int64_t> value) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    return value && *value <= most && *value >= -most ? value : std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class ScriptReader {
 public:
  explicit ScriptReader(const Document& script)
      : script_(script), text_(script.text), places_(text_) {}

  std::vector<ShellCommand> run() {
    while (at_ < text_.size()) {
      skip_blanks();
      if (at_ < text_.size()) step();
    }
    end_command();
    return std::move(commands_);
  }

 private:
  // ---- places

  Place place(std::size_t offset) { return places_.at(offset); }
  [[noreturn]] void fail(Place at, std::string message) {
    throw InputError({problem_at(script_, at, "", std::move(message))});
  }

  // ---- the script

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (is_blank(text_[at_])) {
        ++at_;
      } else if (text_.substr(at_).starts_with("\\\n")) {
        at_ += 2;
      } else if (text_.substr(at_).starts_with("\\\r\n")) {
        at_ += 3;
      } else {
        return;
      }
    }
  }

  void step() {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\n') {
      end_command();
      ++at_;
      conditional_ = false;
      skip_here_documents();
    } else if (c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
      end_command();
      // What follows "&&" or "||" may not run.
      conditional_ = c != ';' && at_ + 1 < text_.size() && text_[at_ + 1] == c;
      at_ += conditional_ ? 2 : 1;
    } else if (c == '<' || c == '>') {
      redirect();
    } else if (words_.empty() && assignment()) {
      return;
    } else {
      word();
    }
  }

  void redirect() {
    const bool document =
        text_.substr(at_).starts_with("<<") && !text_.substr(at_).starts_with("<<<");
    while (at_ < text_.size() && std::string_view("<>&-").find(text_[at_]) != text_.npos) ++at_;
    skip_blanks();
    const std::vector<Word> target = expanded_word();
    if (document && !target.empty()) here_documents_.push_back(target.front().text);
    // "2>" leaves its number behind as a word.
    if (!words_.empty() && (words_.back().text == "1" || words_.back().text == "2") &&
        words_.back().place.line == places_.last().line && glued_) {
      words_.pop_back();
    }
  }

  void skip_here_documents() {
    for (const std::string& end : here_documents_) {
      while (at_ < text_.size()) {
        const std::size_t to = std::min(text_.find('\n', at_), text_.size());
        std::string_view line = text_.substr(at_, to - at_);
        line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
        at_ = std::min(to + 1, text_.size());
        if (line == end) break;
      }
    }
    here_documents_.clear();
  }

  void word() {
    const std::size_t begin = at_;
    std::vector<Word> all = expanded_word();
    if (at_ == begin) {  // nothing that starts a word
      ++at_;
      return;
    }
    glued_ = at_ < text_.size() && (text_[at_] == '>' || text_[at_] == '<');
    if (words_.empty() && all.size() == 1 && keyword(all.front())) return;
    for (Word& w : all) words_.push_back(std::move(w));
    if (words_.size() > most_words) fail(place(begin), "more words than a command has");
  }

  /// Words that open and close what may or may not run.
  bool keyword(const Word& w) {
    constexpr std::array<std::string_view, 7> open = {"if",     "for",  "while", "until",
                                                      "select", "case", "{"};
    constexpr std::array<std::string_view, 4> close = {"fi", "done", "esac", "}"};
    constexpr std::array<std::string_view, 5> between = {"then", "else", "elif", "do", "!"};
    constexpr std::array<std::string_view, 8> prefixes = {"export", "declare", "local", "readonly",
                                                          "exec",   "time",    "eval",  "nohup"};
    const auto among = [&](const auto& list) { return contains(list, w.text); };
    if (among(open)) return ++depth_, true;
    if (among(close)) return depth_ = std::max(0, depth_ - 1), true;
    return among(between) || among(prefixes);
  }

  void end_command() {
    if (!words_.empty()) commands_.push_back({std::move(words_)});
    words_.clear();
    glued_ = false;
  }

  /// NAME=value, NAME=( … ), NAME+=…; false, and nothing read, where it is none.
  bool assignment() {
    std::size_t end = at_;
    if (end >= text_.size() || !name_start(text_[end])) return false;
    while (end < text_.size() && name_char(text_[end])) ++end;
    const bool more = text_.substr(end).starts_with("+=");
    if (!more && !text_.substr(end).starts_with("=")) return false;
    const std::string name(text_.substr(at_, end - at_));
    const Place at = place(at_);
    at_ = end + (more ? 2 : 1);
    Variable v;
    if (at_ < text_.size() && text_[at_] == '(') {
      v = array(at);
    } else {
      quoted_expansions_ = true;  // an assignment's value is one text
      std::vector<Word> value = expanded_word();
      quoted_expansions_ = false;
      v.words = value.empty() ? std::vector<Word>{{"", at}} : std::move(value);
    }
    if (depth_ > 0 || conditional_) {
      v.words = {
          {"", at,
           "'" + name + "' is set in line " + std::to_string(at.line) + " only under a condition"}};
    }
    set(name, std::move(v), more, at);
    return true;
  }

  void set(const std::string& name, Variable v, bool more, Place at) {
    Variable& old = variables_[name];
    if (!more) {
      old = std::move(v);
    } else if (v.array || old.array) {
      old.array = true;
      for (Word& w : v.words) old.words.push_back(std::move(w));
    } else if (!old.words.empty() && !v.words.empty()) {
      old.words.front().text += v.words.front().text;
      if (old.words.front().unknown.empty()) old.words.front().unknown = v.words.front().unknown;
    } else {
      old = std::move(v);
    }
    std::size_t size = 0;
    for (const Word& w : old.words) size += w.text.size() + 1;
    if (size > longest_value) fail(at, "the value of '" + name + "' grows too long");
  }

  Variable array(Place opened) {
    Variable v;
    v.array = true;
    ++at_;
    while (true) {
      skip_blanks();
      if (at_ >= text_.size()) fail(opened, "the script ends before the ')' of this array");
      const char c = text_[at_];
      if (c == ')') break;
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '\n') {
        ++at_;
      } else {
        const std::size_t begin = at_;
        for (Word& w : expanded_word()) v.words.push_back(std::move(w));
        if (at_ == begin) ++at_;
        if (v.words.size() > most_words) fail(opened, "more words than an array has");
      }
    }
    ++at_;
    return v;
  }

  // ---- words

  /// The word that starts here, which expansions may make into none or several.
  std::vector<Word> expanded_word() {
    std::vector<Word> done;
    Word now{"", at_ < text_.size() ? place(at_) : places_.last()};
    bool any = false;
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n;&|<>()").find(text_[at_]) == text_.npos) {
      const char c = text_[at_];
      if (c == '\'') {
        single_quotes(now);
        any = true;
      } else if (c == '"') {
        double_quotes(now, done, any);
      } else if (c == '\\') {
        any = backslash(now) || any;
      } else if (c == '$' || c == '`') {
        expand(now, done, any, quoted_expansions_);
      } else {
        now.text += c;
        any = true;
        ++at_;
      }
    }
    if (any) done.push_back(std::move(now));
    return done;
  }

  bool backslash(Word& now) {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    if (c == '\n') return false;
    now.text += c;
    return true;
  }

  void single_quotes(Word& now) {
    const Place opened = place(at_);
    const std::size_t end = text_.find('\'', at_ + 1);
    if (end == text_.npos) fail(opened, "the script ends inside the quotes that start here");
    now.text += text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
  }

  void double_quotes(Word& now, std::vector<Word>& done, bool& any) {
    const Place opened = place(at_);
    const bool array_alone =
        text_.substr(at_ + 1).starts_with("${") && text_.substr(at_).find("[@]}\"") != text_.npos;
    any = any || !array_alone;
    ++at_;
    while (true) {
      if (at_ >= text_.size()) fail(opened, "the script ends inside the quotes that start here");
      const char c = text_[at_];
      if (c == '"') break;
      if (c == '\\' && at_ + 1 < text_.size() &&
          std::string_view("\"\\$`\n").find(text_[at_ + 1]) != text_.npos) {
        if (text_[at_ + 1] != '\n') now.text += text_[at_ + 1];
        at_ += 2;
      } else if (c == '$' || c == '`') {
        expand(now, done, any, true);
      } else {
        now.text += c;
        ++at_;
      }
    }
    ++at_;
  }

  void unknown(Word& now, bool& any, std::string why) {
    if (now.unknown.empty()) now.unknown = std::move(why);
    any = true;
  }

  void expand(Word& now, std::vector<Word>& done, bool& any, bool quoted) {
    const Place at = place(at_);
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("$((")) return arithmetic(now, any, at);
    if (rest.starts_with("$(") || rest[0] == '`') {
      const std::string command = rest[0] == '`' ? until('`', at, 1) : bracketed(at);
      return unknown(now, any, "it is what '" + printable(command) + "' would print");
    }
    if (rest.starts_with("${")) {
      at_ += 1;
      return substitute(braced(at), now, done, any, quoted);
    }
    ++at_;
    std::size_t end = at_;
    if (end < text_.size() && name_start(text_[end])) {
      while (end < text_.size() && name_char(text_[end])) ++end;
    } else if (end < text_.size() &&
               std::string_view("@*#?!$-0123456789").find(text_[end]) != text_.npos) {
      ++end;
    }
    if (end == at_) {
      now.text += '$';
      any = true;
      return;
    }
    const std::string name(text_.substr(at_, end - at_));
    at_ = end;
    substitute(name, now, done, any, quoted);
  }

  std::string until(char close, Place opened, std::size_t skipped) {
    const std::size_t end = text_.find(close, at_ + skipped);
    if (end == text_.npos) fail(opened, "the script ends inside what starts here");
    const std::string inner(text_.substr(at_ + skipped, end - at_ - skipped));
    at_ = end + 1;
    return inner;
  }

  /// What stands between brackets that start here, others inside counted.
  std::string between(char open, char close, Place opened) {
    const std::size_t begin = at_ + 1;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == open) ++depth;
      if (text_[at_] == close && --depth == 0) {
        const std::string inner(text_.substr(begin, at_ - begin));
        ++at_;
        return inner;
      }
    }
    fail(opened, std::string("the script ends before the '") + close + "' that belongs here");
  }
  std::string bracketed(Place opened) {
    ++at_;
    return between('(', ')', opened);
  }
  std::string braced(Place opened) { return between('{', '}', opened); }

  void arithmetic(Word& now, bool& any, Place at) {
    std::string inner = bracketed(at);
    inner = inner.size() >= 2 ? inner.substr(1, inner.size() - 2) : "";
    const std::string source = inner;
    std::string plain;
    for (std::size_t i = 0; i < inner.size();) {
      if (inner[i] == '$' || inner[i] == '{' || inner[i] == '}') {
        ++i;
        continue;
      }
      if (!name_start(inner[i])) {
        plain += inner[i++];
        continue;
      }
      std::size_t end = i;
      while (end < inner.size() && name_char(inner[end])) ++end;
      const auto found = variables_.find(inner.substr(i, end - i));
      const bool known = found != variables_.end() && found->second.words.size() == 1 &&
                         found->second.words.front().unknown.empty();
      if (!known) {
        return unknown(now, any, "'" + inner.substr(i, end - i) + "' is not set in the script");
      }
      plain += found->second.words.front().text;
      i = end;
    }
    const std::optional<std::int64_t> value = Arithmetic(plain).run();
    if (!value) return unknown(now, any, "'" + printable(source) + "' is not read");
    now.text += std::to_string(*value);
    any = true;
  }

  /// The value of what stands in ${ }, a default after ":-" or "-" included.
  void substitute(const std::string& inner, Word& now, std::vector<Word>& done, bool& any,
                  bool quoted) {
    std::size_t end = 0;
    while (end < inner.size() && name_char(inner[end])) ++end;
    std::string name = inner.substr(0, end);
    std::string rest = inner.substr(end);
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) {
      name = inner;
      rest.clear();
    }
    if (rest == "[@]" || rest == "[*]") rest.clear();
    const auto found = variables_.find(name);
    const bool set = found != variables_.end();
    if (rest.starts_with(":-") || rest.starts_with("-") || rest.starts_with(":=")) {
      const std::string otherwise = rest.substr(rest[0] == ':' ? 2 : 1);
      if (!set || (found->second.words.size() == 1 && found->second.words.front().text.empty() &&
                   found->second.words.front().unknown.empty())) {
        if (otherwise.find('$') != otherwise.npos || otherwise.find('`') != otherwise.npos) {
          return unknown(now, any, "the default of '" + name + "' is not read");
        }
        return put(unquoted(otherwise), now, done, any, quoted);
      }
      rest.clear();
    }
    if (!rest.empty()) return unknown(now, any, "'${" + printable(inner) + "}' is not read");
    if (!set) return unknown(now, any, "'" + printable(name) + "' is not set in the script");
    const Variable& v = found->second;
    for (std::size_t i = 0; i < v.words.size(); ++i) {
      if (i > 0) {
        if (any) done.push_back(now);
        now = Word{"", places_.last()};
        any = false;
      }
      if (!v.words[i].unknown.empty()) unknown(now, any, v.words[i].unknown);
      if (v.array) {
        now.text += v.words[i].text;
        now.place = i == 0 && any ? now.place : v.words[i].place;
        any = true;
      } else {
        put(v.words[i].text, now, done, any, quoted);
      }
    }
  }

  /// Quotes of a default are the shell's own.
  static std::string unquoted(const std::string& text) {
    std::string out;
    char open = '\0';
    for (const char c : text) {
      if (open == '\0' && (c == '"' || c == '\'')) {
        open = c;
      } else if (c == open && open != '\0') {
        open = '\0';
      } else {
        out += c;
      }
    }
    return out;
  }

  /// A text in place of an expansion: outside quotes, blanks cut it into words.
  void put(const std::string& text, Word& now, std::vector<Word>& done, bool& any, bool quoted) {
    if (quoted) {
      now.text += text;
      any = true;
      return;
    }
    for (const char c : text) {
      if (is_blank(c) || c == '\n') {
        if (any) done.push_back(now);
        now = Word{"", now.place};
        any = false;
      } else {
        now.text += c;
        any = true;
      }
    }
    if (done.size() > most_words) fail(now.place, "more words than a command has");
  }

  const Document& script_;
  std::string_view text_;
  std::size_t at_ = 0;
  PlaceCounter places_;
  int depth_ = 0;  ///< blocks around: what is set inside may not be
  bool conditional_ = false;
  bool quoted_expansions_ = false;
  bool glued_ = false;  ///< a redirection follows the last word without a blank
  std::vector<std::string> here_documents_;
  std::vector<Word> words_;
  std::map<std::string, Variable> variables_;
  std::vector<ShellCommand> commands_;
};

}  // namespace

std::vector<ShellCommand> read_script(const Document& script) { return ScriptReader(script).run(); }

std::string quoted_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) {
    const bool plain = !w.empty() && w.find_first_of(" \t\n\r'\"\\$`;&|<>()#*?[]{}~!") == w.npos;
    std::string quoted;
    for (const char c : w) {
      if (c == '\'') {
        quoted += "'\\''";
      } else {
        quoted += c;
      }
    }
    text += (text.empty() ? "" : " ") + (plain ? w : "'" + quoted + "'");
  }
  return text;
}

}  // namespace sextant
