// SPDX-License-Identifier: Apache-2.0
// Walking a dotted path to a field and setting it.
#include "sextant/io/settings.hpp"

#include <charconv>
#include <optional>

#include "sextant/io/parsing.hpp"
#include "sextant/io/read.hpp"
#include "sextant/io/text.hpp"
#include "sextant/units/lists.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

constexpr const char* origin = "--set";

// A value on the command line has no line and column worth telling.
void forget_places(Node& node) {
  node.place = {};
  for (Node& item : node.items) forget_places(item);
  for (Node::Member& member : node.members) {
    member.place = {};
    forget_places(member.value);
  }
}

std::optional<Node> as_toml(const std::string& text) {
  if (text.find_first_of("\r\n") != std::string::npos) return std::nullopt;
  try {
    Document document = parse_toml("value = " + text, origin);
    if (document.root.members.size() != 1) return std::nullopt;
    Node node = std::move(document.root.members.front().value);
    forget_places(node);
    return node;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// Digits alone, few enough for any integer, as TOML writes them.
bool is_count(std::string_view text) {
  if (text.empty() || text.size() > 15 || (text.size() > 1 && text.front() == '0')) return false;
  return text.find_first_not_of("0123456789") == text.npos;
}

bool takes_text(const Target& target) {
  return std::holds_alternative<std::string*>(target) || std::holds_alternative<EnumRef>(target) ||
         std::holds_alternative<QuantityRef>(target);
}

bool is_number(const Target& target) {
  return std::holds_alternative<double*>(target) || std::holds_alternative<QuantityRef>(target);
}

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '.' || c == '[') {
      parts.emplace_back();
    } else if (c != ']') {
      parts.back() += c;
    }
  }
  return parts;
}

// Walks a path; what is wrong with it goes into the problem.
class Finder {
 public:
  explicit Finder(Diagnostic& problem) : problem_(problem) {}

  std::optional<Slot> step(const Slot& from, const std::string& part, const std::string& path) {
    if (const auto* fields = std::get_if<StructRef>(&from.target))
      return member(*fields, part, path);
    if (const auto* list = std::get_if<ListRef>(&from.target))
      return element(*list, from, part, path);
    fail(in_quotes(path) + " has no fields");
    return std::nullopt;
  }

 private:
  std::optional<Slot> member(const StructRef& fields, const std::string& part,
                             const std::string& path) {
    for (const Slot& slot : fields.fields) {
      if (slot.name == part) return slot;
    }
    const std::string meant = suggest_field(part, fields);
    if (!meant.empty()) {
      fail("unknown field", "did you mean '" + join_path(path, meant) + "'?");
    } else {
      std::string names;
      for (const Slot& slot : fields.fields) {
        names += (names.empty() ? "" : ", ") + std::string(slot.name);
      }
      fail("unknown field", path.empty() ? "one of " + names : in_quotes(path) + " has " + names);
    }
    return std::nullopt;
  }

  std::optional<Slot> element(const ListRef& list, const Slot& from, const std::string& part,
                              const std::string& path) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    const std::size_t size = list.size(list.list);
    if (error != std::errc{} || end != part.data() + part.size() || index >= size) {
      fail("there is no element " + in_quotes(part) + " in " + in_quotes(path),
           size == 0 ? "it is empty" : "write a number from 0 to " + std::to_string(size - 1));
      return std::nullopt;
    }
    Slot slot = list.element(list.list, index);
    slot.field = from.field;
    return slot;
  }

  void fail(std::string message, std::string hint = "") {
    problem_.message = std::move(message);
    problem_.hint = std::move(hint);
  }

  Diagnostic& problem_;
};

void apply_one(const Setting& setting, const StructRef& fields, std::string_view root,
               std::vector<Diagnostic>& problems, Ranges* ranges) {
  Diagnostic problem{.file = origin, .field = printable(setting.path, 200)};
  std::string_view rest = std::string_view(setting.path).substr(root.size());
  if (rest.size() > 1) rest.remove_prefix(1);  // a lone dot names an empty field, which is none
  std::optional<Slot> slot = find_field(fields, rest, root, problem);
  if (!slot) {
    problems.push_back(std::move(problem));
    return;
  }
  const Document document{origin, "", {}};
  read_value(document, value_of_text(setting.value, slot->target), *slot,
             printable(setting.path, 200), problems, ranges);
}

}  // namespace

// Quotes are optional where text is expected; elsewhere the value is read as TOML, with a little
// more patience for numbers (".5").
Node value_of_text(const std::string& text, const Target& target) {
  // Most values are a bare word or a count, and say so at a glance.
  const std::size_t first = text.find_first_not_of(" \t");
  const bool quoted = first != text.npos && (text[first] == '"' || text[first] == '\'');
  const bool ranged = first != text.npos && text[first] == '{' && is_number(target);
  if (ranged) {
    if (std::optional<Node> table = as_toml(text)) return *std::move(table);
  }
  if (!quoted && takes_text(target)) return Node::of(text);
  if (is_count(text)) return Node::of(std::stoll(text));
  std::optional<Node> node = as_toml(text);
  if (node && (node->kind == Node::Kind::string || !takes_text(target))) return *std::move(node);
  const std::optional<double> number = parse_number(text);
  if (number && !takes_text(target)) return Node::of(*number);
  return Node::of(text);
}

Setting parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view path = trimmed(text.substr(0, equals), " ");
  if (equals == std::string_view::npos || path.empty()) {
    throw InputError({Diagnostic{.file = origin,
                                 .message = "expected path=value, not " + in_quotes(text),
                                 .hint = "write --set device.memory.bandwidth='8 TB/s'"}});
  }
  return {std::string(path), std::string(trimmed(text.substr(equals + 1), " "))};
}

std::vector<Setting> parse_settings(const std::vector<std::string>& texts,
                                    std::vector<Diagnostic>& problems) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) {
    try {
      settings.push_back(parse_setting(text));
    } catch (const InputError& e) {
      problems.insert(problems.end(), e.diagnostics().begin(), e.diagnostics().end());
    }
  }
  return settings;
}

std::string_view root_of(const Setting& setting) {
  return std::string_view(setting.path).substr(0, setting.path.find('.'));
}

std::optional<Slot> find_field(const StructRef& fields, std::string_view path,
                               std::string_view prefix, Diagnostic& problem) {
  std::optional<Slot> slot = Slot{{}, {}, fields};
  if (path.empty()) return slot;
  std::string walked(prefix);
  for (const std::string& part : parts_of(path)) {
    slot = Finder(problem).step(*slot, part, walked);
    if (!slot) break;
    walked = join_path(walked, part);
  }
  return slot;
}

void apply_settings(const std::vector<Setting>& settings, const StructRef& fields,
                    std::string_view root, std::vector<Diagnostic>& problems, Ranges* ranges) {
  for (const Setting& setting : settings) {
    if (root_of(setting) == root) apply_one(setting, fields, root, problems, ranges);
  }
}

void check_roots(const std::vector<Setting>& settings, const std::vector<std::string>& roots,
                 std::vector<Diagnostic>& problems) {
  for (const Setting& setting : settings) {
    const std::string root(root_of(setting));
    if (contains(roots, root)) continue;
    std::string names;
    for (const std::string& r : roots) names += (names.empty() ? "" : ", ") + r;
    std::string hint = did_you_mean(root, roots);
    if (hint.empty())
      hint = (roots.size() > 1 ? "a path starts with one of " : "a path starts with ") + names;
    problems.push_back({.file = origin,
                        .field = printable(setting.path, 200),
                        .message = "nothing is called " + in_quotes(root),
                        .hint = std::move(hint)});
  }
}

}  // namespace sextant
