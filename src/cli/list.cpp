// SPDX-License-Identifier: Apache-2.0
// `sextant list` and `sextant show`: what presets there are and what is in them.
#include <fmt/format.h>

#include <algorithm>

#include "cli/flags.hpp"
#include "cli/preset_list.hpp"
#include "sextant/graph/graph.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/write.hpp"
#include "sextant/report/table.hpp"
#include "sextant/units/format.hpp"

namespace sextant::cli {
namespace {

std::string plural(PresetKind kind) { return std::string(name_of(kind)) + "s"; }

PresetKind kind_named(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string_view n : names_of(PresetKind{})) {
    PresetKind kind{};
    if (text == n || text == std::string(n) + "s") return parse_enum(n, kind), kind;
    names.push_back(std::string(n) + "s");
  }
  throw InputError("no kind of preset is called '" + text + "'", did_you_mean(text, names));
}

TextTable technology_table(PresetKind kind) {
  using enum Align;
  TextTable t;
  const auto number = [](double x) { return fmt::format("{:.3g}", x); };
  if (kind == PresetKind::node) {
    t.columns = {{"node, over N7"}, {"logic", right}, {"SRAM", right},  {"analog", right},
                 {"power", right},  {"speed", right}, {"wafer", right}, {"confidence"}};
  } else if (kind == PresetKind::dram) {
    t.columns = {{"DRAM, a part"},  {"bandwidth", right}, {"capacity", right},
                 {"energy", right}, {"edge", right},      {"confidence"}};
  } else if (kind == PresetKind::link) {
    t.columns = {{"link"},           {"joins"},         {"bandwidth", right},
                 {"latency", right}, {"energy", right}, {"confidence"}};
  } else {
    t.columns = {{"core"},         {"16-bit a clock", right}, {"area at N7", right},
                 {"clock", right}, {"energy", right},         {"confidence"}};
  }
  for (const std::string& name : preset_names(kind)) {
    if (kind == PresetKind::node) {
      const LogicNode n = load_node(name);
      t.rows.push_back({name, number(n.logic), number(n.sram), number(n.analog), number(n.power),
                        number(n.speed), format(n.wafer), std::string(name_of(n.confidence))});
    } else if (kind == PresetKind::dram) {
      const MemoryPart m = load_dram(name);
      t.rows.push_back({name, format(m.bandwidth), format_binary_bytes(m.capacity.value),
                        format(m.energy), format(m.edge), std::string(name_of(m.confidence))});
    } else if (kind == PresetKind::link) {
      const LinkPart l = load_link(name);
      t.rows.push_back({name, std::string(name_of(l.reach)), format(l.bandwidth), format(l.latency),
                        format(l.energy), std::string(name_of(l.confidence))});
    } else {
      const CoreTemplate c = load_core(name);
      t.rows.push_back({name, format(c.matrix_per_clock), format(c.area), format(c.clock),
                        format(c.energy), std::string(name_of(c.confidence))});
    }
  }
  return t;
}

TextTable table_of(PresetKind kind) {
  using enum Align;
  TextTable t;
  switch (kind) {
    case PresetKind::device:
      t.columns = {
          {"device"},           {"cores", right}, {"16-bit peak", right}, {"memory", right},
          {"bandwidth", right}, {"L2", right},    {"power", right},       {"fitted"}};
      for (const std::string& name : preset_names(kind)) {
        const Device d = load_device(name);
        t.rows.push_back({name, std::to_string(d.cores),
                          format(max(d.matrix[Precision::bf16], d.matrix[Precision::fp16])),
                          format_binary_bytes(d.memory.capacity.value), format(d.memory.bandwidth),
                          format_binary_bytes(d.l2.capacity.value), format(d.power.limit),
                          d.provenance.cases > 0 ? fmt::format("to {} cases", d.provenance.cases)
                                                 : "no: datasheet and defaults"});
      }
      break;
    case PresetKind::system:
      t.columns = {{"system"}, {"device"}, {"a node", right}, {"fabrics, innermost first"}};
      for (const std::string& name : preset_names(kind)) {
        const System s = load_system(name);
        std::string fabrics;
        for (const Fabric& f : s.fabrics) {
          fabrics += fmt::format("{}{} {} x{}", fabrics.empty() ? "" : ", ", f.name,
                                 format(f.bandwidth), f.reach);
        }
        t.rows.push_back({name, s.device.name, std::to_string(s.devices_per_node), fabrics});
      }
      break;
    case PresetKind::model:
      t.columns = {{"model"},         {"family"},        {"parameters", right},
                   {"active", right}, {"layers", right}, {"hidden", right},
                   {"heads", right},  {"kv", right},     {"vocab", right}};
      for (const std::string& name : preset_names(kind)) {
        const Model m = load_model(name);
        const auto billions = [](double p) { return fmt::format("{:.3g} B", p / 1e9); };
        t.rows.push_back({name, m.family, billions(count_parameters(m).total()),
                          billions(active_parameters(m)), std::to_string(m.layers),
                          std::to_string(m.hidden), std::to_string(m.attention.heads),
                          std::to_string(m.attention.kv_heads), std::to_string(m.vocab)});
      }
      break;
    case PresetKind::runtime:
      t.columns = {{"runtime"}, {"kernels"}, {"launch"}, {"notes"}};
      for (const std::string& name : preset_names(kind)) {
        const Runtime r = load_runtime(name);
        t.rows.push_back({name, r.fusion.attention ? r.kernels : r.kernels + ", attention unfused",
                          r.launch.graph ? "graph" : "eager, " + format(r.launch.host), r.notes});
      }
      break;
    case PresetKind::kernel:
      t.columns = {{"kernels"}, {"fitted to"}, {"error", right}, {"left out", right}};
      for (const std::string& name : preset_names(kind)) {
        const Provenance p = load_kernels(name).provenance;
        t.rows.push_back({name, fmt::format("{} cases", p.cases), format_percent(p.fit_error),
                          format_percent(p.left_out_error)});
      }
      break;
    case PresetKind::collective:
      t.columns = {{"collectives"}, {"fitted to"}, {"error", right}, {"left out", right}};
      for (const std::string& name : preset_names(kind)) {
        const Provenance p = load_collectives(name).provenance;
        t.rows.push_back({name, p.cases > 0 ? fmt::format("{} cases", p.cases) : "not fitted",
                          p.cases > 0 ? format_percent(p.fit_error) : "",
                          p.cases > 0 ? format_percent(p.left_out_error) : ""});
      }
      break;
    case PresetKind::measurement:
      t.columns = {{"measurement"}, {"of cases"}, {"whose source says"}};
      for (const std::string& name : preset_names(kind)) {
        const Measurement m = load_measurement(name);
        std::string source;
        for (const std::string& text : m.source) source += (source.empty() ? "" : " and ") + text;
        t.rows.push_back({name, m.kind.empty() ? "any" : m.kind, source});
      }
      break;
    case PresetKind::node:
    case PresetKind::dram:
    case PresetKind::link:
    case PresetKind::core:
      return technology_table(kind);
  }
  return t;
}

Node names_node(const std::vector<std::string>& names) {
  Node list = Node::array();
  for (const std::string& n : names) list.push(Node::of(n));
  return list;
}

Node struct_node(PresetKind kind, const std::string& name, const std::vector<Setting>& settings,
                 Quantities quantities, Lookup lookup) {
  switch (kind) {
    case PresetKind::device:
      return write(load_device(name, settings, lookup), quantities);
    case PresetKind::system:
      return write(load_system(name, settings, lookup), quantities);
    case PresetKind::model:
      return write(load_model(name, settings, lookup), quantities);
    case PresetKind::runtime:
      return write(load_runtime(name, settings, lookup), quantities);
    case PresetKind::kernel:
      return write(load_kernels(name, settings, lookup), quantities);
    case PresetKind::collective:
      return write(load_collectives(name, settings, lookup), quantities);
    case PresetKind::measurement:
      return write(load_measurement(name, settings, lookup), quantities);
    case PresetKind::node:
      return write(load_node(name, settings, lookup), quantities);
    case PresetKind::dram:
      return write(load_dram(name, settings, lookup), quantities);
    case PresetKind::link:
      return write(load_link(name, settings, lookup), quantities);
    case PresetKind::core:
      return write(load_core(name, settings, lookup), quantities);
  }
  return {};
}

std::vector<FieldInfo> fields_of_kind(PresetKind kind) {
  switch (kind) {
    case PresetKind::device:
      return fields_of<Device>();
    case PresetKind::system:
      return fields_of<System>();
    case PresetKind::model:
      return fields_of<Model>();
    case PresetKind::runtime:
      return fields_of<Runtime>();
    case PresetKind::kernel:
      return fields_of<Kernels>();
    case PresetKind::collective:
      return fields_of<CollectiveLibrary>();
    case PresetKind::measurement:
      return fields_of<Measurement>();
    case PresetKind::node:
      return fields_of<LogicNode>();
    case PresetKind::dram:
      return fields_of<MemoryPart>();
    case PresetKind::link:
      return fields_of<LinkPart>();
    case PresetKind::core:
      return fields_of<CoreTemplate>();
  }
  return {};
}

std::string render(const TextTable& t, Format format) {
  return format == Format::csv ? render_csv(t) : render_text(t);
}

std::string show_fields(PresetKind kind, const Common& common) {
  TextTable t;
  t.columns = {{"field"}, {"type"}, {"default"}, {"what it is"}};
  for (const FieldInfo& f : fields_of_kind(kind)) {
    t.rows.push_back({f.path, f.type, f.required ? "(required)" : f.default_text,
                      f.inert.empty() || f.inert == f.help ? f.help : f.help + "; " + f.inert});
  }
  return render(t, common.format);
}

// A model that was counted says more than its fields do.
std::string model_facts(const std::string& name, const std::vector<Setting>& settings,
                        Lookup lookup) {
  const Model m = load_model(name, settings, lookup);
  const ParameterCount p = count_parameters(m);
  return fmt::format("# {:.4g} B parameters, {:.4g} B of them used by a token\n", p.total() / 1e9,
                     active_parameters(m) / 1e9);
}

}  // namespace

std::string run_list(const ListOptions& options, const Common& common) {
  if (!options.kind.empty() && common.format != Format::json) {
    return render(table_of(kind_named(options.kind)), common.format);
  }
  Node root = Node::table();
  if (!options.kind.empty()) {
    const PresetKind kind = kind_named(options.kind);
    root.set(plural(kind), preset_entries(kind));
    return to_json(root) + "\n";
  }
  TextTable t;
  t.columns = {{"kind"}, {"count", Align::right}, {"names"}};
  for (std::size_t i = 0; i < names_of(PresetKind{}).size(); ++i) {
    const auto kind = static_cast<PresetKind>(i);
    const std::vector<std::string> names = preset_names(kind);
    root.set(plural(kind), names_node(names));
    std::string line;
    for (const std::string& n : names) {
      if (line.size() + n.size() > 76) {
        t.rows.push_back({line.empty() ? "" : plural(kind), "", line});
        line.clear();
      }
      line += (line.empty() ? "" : " ") + n;
    }
    t.rows.push_back({plural(kind), "", line});
    // The kind and its count stand on the first of its lines only.
    bool first = true;
    for (std::vector<std::string>& row : t.rows) {
      if (row[0] != plural(kind)) continue;
      row[1] = first ? std::to_string(names.size()) : "";
      if (!first) row[0].clear();
      first = false;
    }
  }
  if (common.format == Format::json) return to_json(root) + "\n";
  if (common.format == Format::csv) return render_csv(t);
  return render_text(t) +
         "\n'sextant list devices' shows their numbers, 'sextant show NAME' all of one.\n";
}

std::string run_show(const ShowOptions& options, const Common& common) {
  if (options.fields && options.kind.empty() && preset_kinds(options.name).empty()) {
    return show_fields(kind_named(options.name), common);
  }
  std::vector<PresetKind> kinds = preset_kinds(options.name);
  if (!options.kind.empty()) {
    kinds = {kind_named(options.kind)};
  } else if (kinds.empty()) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < names_of(PresetKind{}).size(); ++i) {
      const std::vector<std::string> names = preset_names(static_cast<PresetKind>(i));
      all.insert(all.end(), names.begin(), names.end());
    }
    // A path is of the kind that reads it.
    if (options.name.ends_with(".json")) {
      kinds = {PresetKind::model};
    } else {
      const std::string hint = did_you_mean(options.name, all);
      throw InputError("no preset is called '" + options.name + "'",
                       hint.empty() ? "'sextant list' shows all; --kind reads a file of your own"
                                    : hint + " ('sextant list' shows all)");
    }
  } else if (kinds.size() > 1) {
    std::string names;
    for (const PresetKind k : kinds)
      names += (names.empty() ? "" : " or ") + std::string(name_of(k));
    throw InputError("'" + options.name + "' is the name of more than one preset",
                     "say --kind " + names);
  }
  const PresetKind kind = kinds.front();
  if (options.fields) return show_fields(kind, common);
  const std::vector<Setting> settings =
      settings_of(common, {"device", "system", "model", "runtime", "kernel", "collective",
                           "measurement", "node", "dram", "link", "core"});
  if (options.json || common.format == Format::json) {
    return to_json(struct_node(kind, options.name, settings, Quantities::si, common.lookup)) + "\n";
  }
  const bool as_written = settings.empty() && !preset_kinds(options.name).empty();
  const std::string facts = kind == PresetKind::model && !options.toml
                                ? model_facts(options.name, settings, common.lookup)
                                : std::string();
  if (as_written) return facts + preset_text(kind, options.name);
  return facts +
         to_toml(struct_node(kind, options.name, settings, Quantities::text, common.lookup));
}

}  // namespace sextant::cli
