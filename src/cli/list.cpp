// SPDX-License-Identifier: Apache-2.0
// `sextant list` and `sextant show`: what presets there are and what is in them.
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "sextant/answer/presets.hpp"
#include "sextant/graph/graph.hpp"
#include "sextant/io/write.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/report/utf8.hpp"
#include "sextant/units/format.hpp"

namespace sextant::cli {
namespace {

PresetKind kind_named(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string_view n : names_of(PresetKind{})) {
    PresetKind kind{};
    if (text == n || text == std::string(n) + "s") return parse_enum(n, kind), kind;
    names.push_back(std::string(n) + "s");
  }
  const std::string hint = did_you_mean(text, names);
  throw InputError("no kind of preset is called '" + text + "'",
                   hint.empty() ? fmt::format("one of {}", fmt::join(names, ", ")) : hint);
}

Node struct_node(PresetKind kind, const std::string& name, const std::vector<Setting>& settings,
                 Quantities quantities, Lookup lookup) {
  return visit_loader(
      kind, [&](const auto& load) { return write(load(name, settings, lookup), quantities); });
}

/// A row a value, by the path that --set knows it by.
void add_values(const std::string& path, const Node& node, Records& rows) {
  const std::string before = path.empty() ? "" : path + ".";
  for (const Node::Member& m : node.members) add_values(before + m.key, m.value, rows);
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    add_values(before + std::to_string(i), node.items[i], rows);
  }
  if (node.kind == Node::Kind::table || node.kind == Node::Kind::array) return;
  Record& r = rows.rows.emplace_back();
  r("field", path);
  r("value", node);
}

std::vector<FieldInfo> fields_of_kind(PresetKind kind) {
  return visit_loader(
      kind, [](const auto& load) { return fields_of<decltype(load(std::string_view()))>(); });
}

Answer fields_answer(PresetKind kind) {
  Answer a;
  const Records fields = records_of(fields_of_kind(kind), [](Record& r, const FieldInfo& f) {
    r("field", f.path, "field");
    r("type", f.type, "type");
    r("default", f.required ? "(required)" : f.default_text, "default");
    r("help", f.inert.empty() || f.inert == f.help ? f.help : f.help + "; " + f.inert,
      "what it is");
  });
  a.list("fields", "FieldInfo", fields);
  a.show(fields);
  a.lines(fields);
  return a;
}

// A model that was counted says more than its fields do.
std::string model_facts(const std::string& name, const std::vector<Setting>& settings,
                        Lookup lookup) {
  const Model m = load_model(name, settings, lookup);
  const ParameterCount p = count_parameters(m);
  return fmt::format("# {:.4g} B parameters, {:.4g} B of them used by a token\n", p.total() / 1e9,
                     active_parameters(m) / 1e9);
}

/// A folder as Hugging Face lays it out.
bool holds_config(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(std::filesystem::path(path) / "config.json", error);
}

/// The kind of the preset that has this name, or of the file that has this ending.
PresetKind kind_of(const std::string& name) {
  const std::vector<PresetKind> kinds = preset_kinds(name);
  if (kinds.size() == 1) return kinds.front();
  if (kinds.size() > 1) {
    std::string names;
    for (const PresetKind k : kinds) {
      names += (names.empty() ? "" : " or ") + std::string(name_of(k));
    }
    throw InputError("'" + name + "' is the name of more than one preset", "say --kind " + names);
  }
  if (name.ends_with(".json") || holds_config(name)) return PresetKind::model;
  const std::string hint = preset_hint(name);
  throw InputError("no preset is called '" + name + "'",
                   hint.empty() ? "'sextant list' shows all; --kind reads a file of your own"
                                : hint + " ('sextant list' shows all)");
}

/// Said by its notes: "announced part: …".
bool is_announced(PresetKind kind, const std::string& name) {
  const auto plans = [](const Device& d) { return d.notes.starts_with("announced"); };
  if (kind == PresetKind::device) return plans(load_device(name, {}, Lookup::presets));
  if (kind == PresetKind::system) return plans(load_system(name, {}, Lookup::presets).device);
  return false;
}

}  // namespace

Answer run_list(const ListOptions& options, const Common& common) {
  no_settings(common, "a list has nothing to set", "'sextant show NAME --set' does");
  Answer a;
  if (!options.kind.empty()) {
    const PresetKind kind = kind_named(options.kind);
    const Records all = preset_records(kind);
    a.list(plural(kind), "Preset", all);
    a.lines(all);
    // Parts that nobody can buy yet stand apart.
    Records sold;
    std::string announced;
    const std::vector<std::string> names = preset_names(kind);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (is_announced(kind, names[i])) {
        announced += (announced.empty() ? "" : ", ") + names[i];
      } else {
        sold.rows.push_back(all.rows[i]);
      }
    }
    a.show(sold);
    if (!announced.empty()) a.say("\nAnnounced, by the vendor's plans: " + announced);
    return a;
  }
  Records lines;
  Records each;
  for (std::size_t i = 0; i < names_of(PresetKind{}).size(); ++i) {
    const auto kind = static_cast<PresetKind>(i);
    const std::vector<std::string> names = preset_names(kind);
    a.strings(plural(kind), names);
    for (const std::string& name : names) {
      Record& r = each.rows.emplace_back();
      r("kind", plural(kind));
      r("name", name);
    }
    bool first = true;
    for (const std::string& line : wrapped(names, 76)) {
      Record& r = lines.rows.emplace_back();
      r("kind", once(first, plural(kind)), "kind");
      r("count", once(first, names.size()), "count");
      r("names", line, "names");
      first = false;
    }
  }
  a.lines(each);
  a.show(lines);
  a.say("\n'sextant list devices' shows their numbers, 'sextant show NAME' all of one.");
  return a;
}

Answer run_show(const ShowOptions& options, const Common& common) {
  if (options.fields) no_settings(common, "fields are shown, not values", "leave --fields out");
  if (options.fields && options.kind.empty() && preset_kinds(options.name).empty()) {
    return fields_answer(kind_named(options.name));
  }
  const PresetKind kind = options.kind.empty() ? kind_of(options.name) : kind_named(options.kind);
  if (options.fields) return fields_answer(kind);
  std::vector<std::string> roots{std::string(name_of(kind))};
  if (kind == PresetKind::system) roots.emplace_back("device");
  const std::vector<Setting> settings = settings_of(common, roots);
  if (options.json || common.format == Format::json) {
    return Answer::verbatim(
        to_json(struct_node(kind, options.name, settings, Quantities::si, common.lookup)) + "\n");
  }
  if (common.format == Format::csv && !options.toml) {
    Answer a;
    Records rows;
    add_values("", struct_node(kind, options.name, settings, Quantities::si, common.lookup), rows);
    a.lines(std::move(rows));
    return a;
  }
  const bool as_written = settings.empty() && !preset_kinds(options.name).empty();
  const std::string facts = kind == PresetKind::model && !options.toml
                                ? model_facts(options.name, settings, common.lookup)
                                : std::string();
  return Answer::verbatim(facts + (as_written
                                       ? preset_text(kind, options.name)
                                       : to_toml(struct_node(kind, options.name, settings,
                                                             Quantities::text, common.lookup))));
}

}  // namespace sextant::cli
