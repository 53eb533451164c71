// SPDX-License-Identifier: Apache-2.0
// TOML to and from the document tree; the only file that knows toml++.
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "sextant/io/node.hpp"
#include "sextant/io/text.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

Place place_at(const toml::source_region& region) {
  return {.line = static_cast<int>(region.begin.line),
          .column = static_cast<int>(region.begin.column)};
}

// toml++ 3.3 builds (and destroys) a table for each part of a dotted key by recursion and does not
// limit their number, so that "a.a.a.…" would exhaust the stack. This scan, which knows strings and
// comments but no more of the grammar, refuses such text beforehand.
class NestingScan {
 public:
  explicit NestingScan(const Document& document) : document_(document), text_(document.text) {}

  void run() {
    while (at_ < text_.size()) step();
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return skip_string(c);
    if (c == '#') return skip_comment();
    ++at_;
    if (c == '.') {
      limit(++dots_);
    } else if (c == '[' || c == '{') {
      limit(++open_);
      dots_ = 0;
    } else if (c == ']' || c == '}') {
      open_ = std::max(0, open_ - 1);
    } else if (c == '=' || c == ',' || c == '\n') {
      dots_ = 0;
    }
  }

  void limit(int depth) const {
    if (depth <= max_nesting) return;
    throw InputError({problem_at(document_, place_of(text_, at_ - 1), "",
                                 "nested deeper than " + std::to_string(max_nesting) + " levels")});
  }

  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void skip_string(char quote) {
    const std::string triple(3, quote);
    const bool multiline = text_.substr(at_).starts_with(triple);
    at_ += multiline ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && quote == '"') {
        at_ += 2;
      } else if (multiline && text_.substr(at_).starts_with(triple)) {
        at_ += 3;
        // Up to two quotes may stand right before the closing three.
        for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) ++at_;
        return;
      } else if (!multiline && (c == quote || c == '\n')) {
        ++at_;
        return;
      } else {
        ++at_;
      }
    }
  }

  const Document& document_;
  std::string_view text_;
  std::size_t at_ = 0;
  int open_ = 0;
  int dots_ = 0;
};

class Converter {
 public:
  explicit Converter(const Document& document) : document_(document) {}

  Node convert(const toml::node& source, int depth) const {
    const Place place = place_at(source.source());
    if (depth > max_nesting) {
      throw InputError({problem_at(
          document_, place, "", "nested deeper than " + std::to_string(max_nesting) + " levels")});
    }
    Node node = source.is_table()   ? table(*source.as_table(), depth)
                : source.is_array() ? array(*source.as_array(), depth)
                                    : scalar(source);
    node.place = place;
    return node;
  }

 private:
  Node table(const toml::table& source, int depth) const {
    Node node = Node::table();
    node.members.reserve(source.size());
    for (const auto& [key, value] : source) {
      node.members.push_back(
          {std::string(key.str()), place_at(key.source()), convert(value, depth + 1)});
    }
    // toml++ iterates in the order of keys; people think in the order of the file.
    std::stable_sort(node.members.begin(), node.members.end(),
                     [](const Node::Member& a, const Node::Member& b) {
                       return a.place.line != b.place.line ? a.place.line < b.place.line
                                                           : a.place.column < b.place.column;
                     });
    return node;
  }

  Node array(const toml::array& source, int depth) const {
    Node node = Node::array();
    node.items.reserve(source.size());
    for (const toml::node& item : source) node.items.push_back(convert(item, depth + 1));
    return node;
  }

  static Node scalar(const toml::node& source) {
    if (const auto* v = source.as_boolean()) return Node::of(v->get());
    if (const auto* v = source.as_integer()) return Node::of(std::int64_t{v->get()});
    if (const auto* v = source.as_floating_point()) return Node::of(v->get());
    if (const auto* v = source.as_string()) return Node::of(v->get());
    // Dates have no place in our files but as text ("2024-05-01").
    std::ostringstream text;
    if (const auto* v = source.as_date()) text << *v;
    if (const auto* v = source.as_time()) text << *v;
    if (const auto* v = source.as_date_time()) text << *v;
    return Node::of(text.str());
  }

  const Document& document_;
};

// ---- writing

bool bare(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

std::string toml_string(std::string_view text) { return "\"" + escaped(text) + "\""; }

std::string toml_key(std::string_view key) {
  return bare(key) ? std::string(key) : toml_string(key);
}

std::string toml_number(double value) {
  std::string text = write_number(value);
  // Without a point or an exponent it would read back as an integer ("inf" and "nan" have an n).
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string inline_value(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "\"\"";
    case Node::Kind::boolean:
      return node.boolean ? "true" : "false";
    case Node::Kind::integer:
      return std::to_string(node.integer);
    case Node::Kind::number:
      return toml_number(node.number);
    case Node::Kind::string:
      return toml_string(node.string);
    case Node::Kind::array: {
      std::string out;
      for (const Node& item : node.items) out += (out.empty() ? "" : ", ") + inline_value(item);
      return "[" + out + "]";
    }
    case Node::Kind::table: {
      std::string out;
      for (const Node::Member& m : node.members) {
        if (m.value.kind == Node::Kind::null) continue;
        out += (out.empty() ? "" : ", ") + toml_key(m.key) + " = " + inline_value(m.value);
      }
      return out.empty() ? "{}" : "{ " + out + " }";
    }
  }
  return "";
}

bool array_of_tables(const Node& node) {
  return node.kind == Node::Kind::array && !node.items.empty() &&
         std::all_of(node.items.begin(), node.items.end(),
                     [](const Node& item) { return item.kind == Node::Kind::table; });
}

// A table's own values come first: after a header they would belong to the inner table.
void write_table(const Node& table, const std::string& path, std::string& out) {
  for (const Node::Member& m : table.members) {
    if (m.value.kind == Node::Kind::null || m.value.kind == Node::Kind::table) continue;
    if (!array_of_tables(m.value)) out += toml_key(m.key) + " = " + inline_value(m.value) + "\n";
  }
  for (const Node::Member& m : table.members) {
    const std::string inner = (path.empty() ? "" : path + ".") + toml_key(m.key);
    const std::string gap = out.empty() ? "" : "\n";
    if (m.value.kind == Node::Kind::table) {
      out += gap + "[" + inner + "]\n";
      write_table(m.value, inner, out);
    } else if (array_of_tables(m.value)) {
      for (const Node& item : m.value.items) {
        out += (out.empty() ? "[[" : "\n[[") + inner + "]]\n";
        write_table(item, inner, out);
      }
    }
  }
}

}  // namespace

Document parse_toml(std::string text, std::string file) {
  check_text(text, file);
  drop_byte_order_mark(text);
  Document document{std::move(file), std::move(text), {}};
  NestingScan(document).run();
  try {
    const toml::table root = toml::parse(document.text);
    document.root = Converter(document).convert(root, 0);
  } catch (const toml::parse_error& e) {
    throw InputError(
        {problem_at(document, place_at(e.source()), "", std::string(e.description()))});
  }
  return document;
}

std::string to_toml(const Node& table) {
  std::string out;
  write_table(table, "", out);
  return out;
}

}  // namespace sextant
