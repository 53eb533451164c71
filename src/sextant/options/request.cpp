// SPDX-License-Identifier: Apache-2.0
#include "sextant/options/request.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sextant/io/text.hpp"
#include "sextant/options/meant.hpp"
#include "sextant/options/range.hpp"
#include "sextant/spec/flags.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/lists.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

/// More elements than anyone types.
constexpr std::size_t most_elements = 1000;

std::string found(const Node& node) {
  return describe_value(node, {.null = "null", .table = "an object"});
}

/// Reads one field; wrong values become problems and leave the option as it was.
class FieldReader {
 public:
  FieldReader(const Document& document, const Option& option, const Node& node, Asker asker,
              std::vector<Diagnostic>& problems)
      : document_(document), option_(option), node_(node), asker_(asker), problems_(problems) {}

  void operator()(std::string* out) {
    const bool number = node_.kind == Node::Kind::number || node_.kind == Node::Kind::integer;
    if (option_.info.number && number) {
      *out = write_number(node_.number);
      return;
    }
    text(*out, node_, option_.info.number ? "a number, or a text in quotes" : "a text in quotes");
  }
  void operator()(bool* out) {
    if (node_.kind != Node::Kind::boolean) return expected("true or false");
    *out = node_.boolean;
  }
  void operator()(std::optional<bool>* out) {
    bool value = false;
    if (node_.kind != Node::Kind::boolean) return expected("true or false");
    operator()(&value);
    *out = value;
  }
  void operator()(int* out) {
    if (const std::optional<double> value = number(true)) *out = static_cast<int>(*value);
  }
  void operator()(std::optional<int>* out) {
    if (const std::optional<double> value = number(true)) *out = static_cast<int>(*value);
  }
  void operator()(double* out) {
    if (const std::optional<double> value = number(false)) *out = *value;
  }
  void operator()(std::optional<double>* out) {
    if (const std::optional<double> value = number(false)) *out = *value;
  }
  void operator()(std::vector<std::string>* out) {
    if (node_.kind != Node::Kind::array) return expected("an array of texts");
    if (node_.items.size() > most_elements) {
      return add("more than " + std::to_string(most_elements) + " elements");
    }
    std::vector<std::string> list(node_.items.size());
    const std::size_t before = problems_.size();
    for (std::size_t i = 0; i < list.size(); ++i) text(list[i], node_.items[i], "texts in quotes");
    if (problems_.size() == before) *out = std::move(list);
  }
  void operator()(PresetRef* out) {
    if (node_.kind == Node::Kind::table) {
      *out = {.name = {}, .object = std::make_shared<const Node>(node_)};
      return;
    }
    std::string name;
    if (text(name, node_, "the name of a preset, or an object")) *out = {.name = std::move(name)};
  }
  void operator()(const EnumRef& out) {
    if (const std::optional<std::size_t> at = place_in(out.names)) out.set(out.value, *at);
  }
  void operator()(const GivenRef& out) {
    const std::size_t before = problems_.size();
    std::visit([&](const auto& target) { probe(target); }, out.field->target);
    if (problems_.size() == before) out.table->set(std::string(option_.name), node_);
  }

 private:
  // A value of a field's type, or a problem; read again with all the others.
  template <class T>
  void probe(T*) {
    T value{};
    operator()(&value);
  }
  void probe(std::int64_t*) { number(true); }
  void probe(const EnumRef& field) { place_in(field.names); }
  void probe(const StructRef&) {
    std::vector<std::string> parts;
    operator()(&parts);
  }
  template <class T>
  void probe(const T&) {
    std::string value;
    operator()(&value);
  }

  std::optional<std::size_t> place_in(std::span<const std::string_view> names) {
    std::string name;
    if (!text(name, node_, "a text in quotes")) return std::nullopt;
    const auto at = std::find(names.begin(), names.end(), name);
    if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
    add("unknown value " + in_quotes(name), choice_hint(name, names));
    return std::nullopt;
  }

  bool text(std::string& out, const Node& node, const char* what) {
    if (node.kind != Node::Kind::string) return expected(what, node), false;
    out = node.string;
    return true;
  }

  std::optional<double> number(bool whole) {
    if (node_.kind != Node::Kind::integer && node_.kind != Node::Kind::number) {
      expected(whole ? "a whole number" : "a number");
      return std::nullopt;
    }
    const double value = node_.number;
    if (!std::isfinite(value)) return add("must be finite"), std::nullopt;
    if (whole && value != std::trunc(value)) {
      expected("a whole number");
      return std::nullopt;
    }
    if (!option_.info.late && (value < option_.info.min || value > option_.info.max)) {
      add("expected " + range_words(option_.info) + ", not " + found(node_));
      return std::nullopt;
    }
    if (asker_ == Asker::network && value > option_.info.max_remote) {
      add("expected " + write_number(option_.info.max_remote) + " at most, not " + found(node_),
          "the command line takes more");
      return std::nullopt;
    }
    constexpr double most = std::numeric_limits<int>::max();
    if (whole && std::abs(value) > most) {
      add("expected " + write_number(most) + " at most, not " + found(node_));
      return std::nullopt;
    }
    return value;
  }

  void expected(const std::string& what) { expected(what, node_); }
  void expected(const std::string& what, const Node& node) {
    const bool quoted = node.kind == Node::Kind::string && parse_number(node.string) &&
                        what.find("number") != std::string::npos;
    add("expected " + what + ", not " + found(node), quoted ? "remove the quotes" : "");
  }
  void add(std::string message, std::string hint = "") {
    if (problems_.size() >= max_collected) return;
    problems_.push_back(problem_at(document_, node_.place, std::string(option_.name),
                                   std::move(message), std::move(hint)));
  }

  const Document& document_;
  const Option& option_;
  const Node& node_;
  const Asker asker_;
  std::vector<Diagnostic>& problems_;
};

class RequestReader {
 public:
  RequestReader(const Document& document, const std::vector<Option>& options,
                std::vector<Diagnostic>& problems, const RequestRules& rules)
      : document_(document), options_(options), problems_(problems), rules_(rules) {}

  void run(const Node& table) {
    if (table.kind != Node::Kind::table) {
      return add(table.place, "", "expected an object, not " + found(table));
    }
    for (const Node::Member& member : table.members) {
      if (!contains(rules_.skip, member.key)) {
        field(member);
      }
    }
    for (const Option& o : options_) {
      if (!o.info.required) continue;
      const Node* given = table.find(o.name);
      if (!stands_in(table, o.info.unless) &&
          (given == nullptr || given->kind == Node::Kind::null)) {
        add({}, std::string(o.name), "missing (" + std::string(o.info.help) + ")");
      }
    }
  }

 private:
  /// Whether one of these names, separated by commas, is given.
  static bool stands_in(const Node& table, std::string_view names) {
    while (!names.empty()) {
      const std::size_t comma = std::min(names.find(','), names.size());
      if (table.find(names.substr(0, comma)) != nullptr) return true;
      names.remove_prefix(std::min(comma + 1, names.size()));
    }
    return false;
  }

  void field(const Node::Member& member) {
    const auto option = std::find_if(options_.begin(), options_.end(), [&](const Option& o) {
      return o.name == member.key || (!o.info.alias.empty() && o.info.alias == member.key);
    });
    if (option == options_.end()) {
      std::vector<std::string> names;
      for (const Option& o : options_) {
        if (allowed(o)) names.emplace_back(o.name);
      }
      return add(member.place, printable(member.key), "unknown field",
                 option_meant(member.key, names));
    }
    if (!allowed(*option)) {
      return add(member.place, printable(member.key), "not for requests over a network");
    }
    if (member.value.kind == Node::Kind::null) return;
    std::visit(FieldReader(document_, *option, member.value, rules_.asker, problems_),
               option->value);
  }

  bool allowed(const Option& o) const { return !(o.info.local && rules_.asker == Asker::network); }

  void add(Place place, std::string name, std::string message, std::string hint = "") {
    if (problems_.size() >= max_collected) return;
    problems_.push_back(
        problem_at(document_, place, std::move(name), std::move(message), std::move(hint)));
  }

  const Document& document_;
  const std::vector<Option>& options_;
  std::vector<Diagnostic>& problems_;
  const RequestRules& rules_;
};

struct ValueWriter {
  Node operator()(const std::string* v) const { return Node::of(*v); }
  Node operator()(const bool* v) const { return Node::of(*v); }
  Node operator()(const int* v) const { return Node::of(*v); }
  Node operator()(const double* v) const { return Node::of(*v); }
  template <class T>
  Node operator()(const std::optional<T>* v) const {
    return *v ? Node::of(**v) : Node{};
  }
  Node operator()(const std::vector<std::string>* v) const {
    Node list = Node::array();
    for (const std::string& s : *v) list.push(Node::of(s));
    return list;
  }
  Node operator()(const PresetRef* v) const {
    return v->object != nullptr ? *v->object : Node::of(v->name);
  }
  Node operator()(const EnumRef& v) const { return Node::of(v.names[v.get(v.value)]); }
  Node operator()(const GivenRef& v) const {
    const Node* given = v.table->find(v.field->name);
    return given != nullptr ? *given : Node{};
  }
};

/// The name of a flag that starts here, with its dashes; nothing where none does.
std::string_view flag_at(std::string_view text) {
  const auto in_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (!text.starts_with("--") || text.size() < 3 || text[2] == '-' || !in_name(text[2])) return {};
  const auto end = std::find_if_not(text.begin(), text.end(), in_name);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

}  // namespace

std::string field_of_flag(std::string_view flag) {
  flag.remove_prefix(std::min(flag.find_first_not_of('-'), flag.size()));
  std::string name(flag);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string flags_as_fields(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view flag = flag_at(text);
    out += flag.empty() ? std::string(1, text.front()) : field_of_flag(flag);
    text.remove_prefix(std::max<std::size_t>(1, flag.size()));
  }
  return out;
}

Diagnostic as_field(Diagnostic d, const Document& document, const Node& table,
                    const std::string& path) {
  if (!d.file.starts_with("--")) return d;
  const std::string name = field_of_flag(d.file);
  const Node* value = table.find(name);
  return problem_at(document, value == nullptr ? Place{} : value->place,
                    join_path(path, join_path(name, d.field)), flags_as_fields(d.message),
                    flags_as_fields(d.hint));
}

Node write_request(const std::vector<Option>& options, const std::vector<Option>& defaults) {
  Node request = Node::table();
  for (std::size_t i = 0; i < options.size() && i < defaults.size(); ++i) {
    if (options[i].info.local) continue;
    Node value = std::visit(ValueWriter{}, options[i].value);
    if (to_json(value) == to_json(std::visit(ValueWriter{}, defaults[i].value))) continue;
    request.set(std::string(options[i].name), std::move(value));
  }
  return request;
}

void read_request(const Document& document, const Node& table, const std::vector<Option>& options,
                  std::vector<Diagnostic>& problems, const RequestRules& rules) {
  RequestReader(document, options, problems, rules).run(table);
}

}  // namespace sextant
