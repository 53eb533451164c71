// SPDX-License-Identifier: Apache-2.0
#include "sextant/import/format.hpp"

#include <algorithm>

#include "sextant/import/shell.hpp"
#include "sextant/io/checkpoints.hpp"
#include "sextant/io/embedded.hpp"
#include "sextant/io/parsing.hpp"
#include "sextant/io/text.hpp"
#include "sextant/spec/diagnostic.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

constexpr std::string_view folder = "imports/";

/// Names with '-' and '_' are one name.
std::string same_dashes(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

class TableReader {
 public:
  explicit TableReader(const Document& document) : document_(document) {}

  ImportFormat run(std::string name) {
    format_.name = std::move(name);
    for (const Node::Member& m : document_.root.members) field(m);
    throw_if_any(std::move(problems_));
    return std::move(format_);
  }
  const std::string& base() const { return base_; }

 private:
  void field(const Node::Member& m) {
    const Node& v = m.value;
    if (m.key == "title") {
      format_.title = v.string;
    } else if (m.key == "task") {
      format_.task = v.string;
    } else if (m.key == "runtime") {
      format_.runtime = v.string;
    } else if (m.key == "positional") {
      format_.positional = v.string;
    } else if (m.key == "root") {
      format_.root = v.string;
    } else if (m.key == "suffixes") {
      format_.suffixes = v.boolean;
    } else if (m.key == "programs") {
      format_.programs = texts(v);
    } else if (m.key == "switches") {
      add_names(format_.switches, v);
    } else if (m.key == "many") {
      add_names(format_.many, v);
    } else if (m.key == "detect") {
      for (const Node& keys : v.items) format_.detect.push_back(texts(keys));
    } else if (m.key == "syntax") {
      syntaxes(v);
    } else if (m.key == "used") {
      for (const Node::Member& one : v.members) used(one);
    } else if (m.key == "irrelevant") {
      reasons(v, Disposition::irrelevant);
    } else if (m.key == "unmodelled") {
      reasons(v, Disposition::unmodelled);
    } else if (m.key == "extends") {
      base_ = v.string;
    } else if (m.key == "under") {
      format_.under = texts(v);
    } else if (m.key == "absent") {
      for (const Node::Member& one : v.members) format_.absent[one.key] = one.value.string;
    } else {
      add(m.place, "unknown key '" + m.key + "'");
    }
  }

  void syntaxes(const Node& list) {
    for (const Node& word : list.items) {
      ImportSyntax s{};
      if (!parse_enum(word.string, s)) add(word.place, "unknown syntax '" + word.string + "'");
      format_.syntaxes.push_back(s);
    }
  }

  static std::vector<std::string> texts(const Node& list) {
    std::vector<std::string> all;
    for (const Node& item : list.items) all.push_back(item.string);
    return all;
  }
  static void add_names(std::vector<std::string>& to, const Node& list) {
    for (const Node& item : list.items) to.push_back(same_dashes(item.string));
  }
  static std::map<std::string, std::string> pairs(const Node& table) {
    std::map<std::string, std::string> all;
    for (const Node::Member& m : table.members) all[m.key] = m.value.string;
    return all;
  }

  void used(const Node::Member& m) {
    ImportRule rule;
    std::vector<std::string> names{m.key};
    if (m.value.kind == Node::Kind::string) {
      rule.field = m.value.string;
    } else {
      for (const Node::Member& part : m.value.members) {
        if (part.key == "field") {
          rule.field = part.value.string;
        } else if (part.key == "values") {
          rule.values = pairs(part.value);
        } else if (part.key == "sets") {
          rule.sets = pairs(part.value);
        } else if (part.key == "also") {
          for (std::string& name : texts(part.value)) names.push_back(std::move(name));
        } else {
          add(part.place, "unknown key '" + part.key + "'");
        }
      }
    }
    for (const std::string& name : names) put(name, rule, m.place);
  }

  void reasons(const Node& table, Disposition disposition) {
    for (const Node::Member& m : table.members) {
      for (const Node& name : m.value.items) {
        put(name.string, {.disposition = disposition, .why = m.key}, name.place);
      }
    }
  }

  void put(const std::string& name, ImportRule rule, Place at) {
    if (!format_.rules.emplace(same_dashes(name), std::move(rule)).second) {
      add(at, "'" + name + "' is in the table twice");
    }
  }
  void add(Place at, std::string message) {
    problems_.push_back(problem_at(document_, at, "", std::move(message)));
  }

  const Document& document_;
  ImportFormat format_;
  std::string base_;
  std::vector<Diagnostic> problems_;
};

ImportFormat read_table(const std::string& name) {
  const Document document = embedded_table(std::string(folder) + name + ".toml");
  TableReader reader(document);
  ImportFormat format = reader.run(name);
  // Bases have none themselves.
  static std::map<std::string, ImportFormat> bases;
  if (reader.base().empty()) return format;
  const auto known = bases.find(reader.base());
  format.base = known != bases.end()
                    ? &known->second
                    : &bases.emplace(reader.base(), read_table(reader.base())).first->second;
  for (const auto& [field, value] : format.base->absent) format.absent.emplace(field, value);
  return format;
}

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return contains(names, same_dashes(name));
}

/// What is before a dot stands for all that is below.
std::string above(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

/// Of a text that nobody named, by its first line that is no remark: "key: value" is YAML's, a
/// section and "key = value" TOML's (a script has no blanks around '=').
ImportSyntax syntax_of_unnamed(std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    if (line.starts_with("#!")) return ImportSyntax::command;
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('{')) return ImportSyntax::json;
    if (line == "---") return ImportSyntax::yaml;
    const std::size_t key = line.find_first_of(" \t:=");
    if (key != line.npos && line[key] == ':' && (key + 1 == line.size() || line[key + 1] == ' ')) {
      return ImportSyntax::yaml;
    }
    const bool section = line.starts_with('[') && line.ends_with(']');
    const bool pair = key != line.npos && line.compare(key, 3, " = ") == 0;
    return section || pair ? ImportSyntax::toml : ImportSyntax::command;
  }
  return ImportSyntax::command;
}

}  // namespace

ImportSyntax syntax_of(std::string_view text, std::string_view file) {
  if (file.ends_with(".json")) return ImportSyntax::json;
  if (file.ends_with(".yaml") || file.ends_with(".yml")) return ImportSyntax::yaml;
  if (file.ends_with(".toml")) return ImportSyntax::toml;
  const ImportSyntax looks = syntax_of_unnamed(text);
  const bool named = file.find('.') != file.npos;
  return looks == ImportSyntax::json || !named ? looks : ImportSyntax::command;
}

const ImportRule* ImportFormat::find(std::string_view argument) const {
  const std::string key = same_dashes(argument);
  for (const bool exact : {true, false}) {
    if (const ImportRule* own = look_up(key, exact)) return own;
    if (base == nullptr) continue;
    if (under.empty()) {
      if (const ImportRule* rule = base->look_up(key, exact)) return rule;
    }
    for (const std::string& table : under) {
      if (!key.starts_with(table + ".")) continue;
      if (const ImportRule* rule = base->look_up(key.substr(table.size() + 1), exact)) return rule;
    }
  }
  return nullptr;
}

const ImportRule* ImportFormat::look_up(const std::string& key, bool exact) const {
  if (exact) {
    const auto at = rules.find(key);
    return at == rules.end() ? nullptr : &at->second;
  }
  for (std::string up = above(key); !up.empty(); up = above(up)) {
    if (const auto all = rules.find(up + ".*"); all != rules.end()) return &all->second;
  }
  return nullptr;
}

bool ImportFormat::is_switch(std::string_view argument) const { return holds(switches, argument); }
bool ImportFormat::takes_many(std::string_view argument) const { return holds(many, argument); }

std::vector<std::string> ImportFormat::names() const {
  std::vector<std::string> all;
  for (const auto& [own, rule] : rules) all.push_back(own);
  if (base == nullptr) return all;
  for (const std::string& other : base->names()) {
    if (under.empty()) all.push_back(other);
    for (const std::string& table : under) all.push_back(table + "." + other);
  }
  return all;
}

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> all = [] {
    std::vector<ImportFormat> formats;
    for (const EmbeddedFile& f : embedded_presets()) {
      const bool table =
          f.path.starts_with(folder) && f.path.find('/', folder.size()) == std::string_view::npos;
      if (!table) continue;
      const std::string name(f.path.substr(folder.size(), f.path.size() - folder.size() - 5));
      formats.push_back(read_table(name));
    }
    std::sort(formats.begin(), formats.end(),
              [](const ImportFormat& a, const ImportFormat& b) { return a.name < b.name; });
    return formats;
  }();
  return all;
}

const ImportFormat& launcher_format() {
  static const ImportFormat launcher = read_table("data/launchers");
  return launcher;
}

std::vector<std::pair<std::string, std::string>> meant_for_others(std::string_view value) {
  std::vector<std::pair<std::string, std::string>> fields;
  while (value.starts_with("@")) {
    const std::size_t end = std::min(value.find(" @"), value.size());
    const std::size_t equals = value.find('=');
    fields.emplace_back(value.substr(1, equals - 1), value.substr(equals + 1, end - equals - 1));
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return fields;
}

}  // namespace sextant
