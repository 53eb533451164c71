// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/presets.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "sextant/cost/chip.hpp"
#include "sextant/graph/graph.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

template <class T, class... Us>
constexpr bool one_of = (std::is_same_v<T, Us> || ...);

void describe(Record& r, const Device& d) {
  r("architecture", d.architecture);
  r("cores", d.cores, "cores");
  // Where 16 bits run as fp32, that is what they reach.
  r("peak_16bit_flops_per_second", peak_of(d, runs_as(d, Precision::bf16)), "16-bit peak");
  r("memory_bytes", binary(d.memory.capacity), "memory");
  r("memory_bytes_per_second", d.memory.bandwidth, "bandwidth");
  r("l2_bytes", binary(d.l2.capacity), "L2");
  r("power_watts", d.power.limit, "power");
}

void describe(Record& r, const System& s) {
  std::string fabrics;
  for (const Fabric& f : s.fabrics) {
    fabrics += fmt::format("{}{} {} x{}", fabrics.empty() ? "" : ", ", f.name, format(f.bandwidth),
                           f.reach);
  }
  r("device", s.device.name, "device");
  r("devices_per_node", s.devices_per_node, "a node");
  r("max_devices", s.max_devices);
  r("", fabrics, "fabrics, innermost first");
  r.list("fabrics", "FabricFacts", records_of(s.fabrics, [](Record& one, const Fabric& f) {
           one("name", f.name);
           one("reach", f.reach);
           one("bytes_per_second", f.bandwidth);
         }));
}

void describe(Record& r, const Model& m) {
  const auto billions = [](double p) {
    return said(p, p < 1e12 ? fmt::format("{:.3g} B", p / 1e9) : fmt::format("{:.3g} T", p / 1e12));
  };
  r("family", m.family, "family");
  r("parameters", billions(count_parameters(m).total()), "parameters");
  r("active_parameters", billions(active_parameters(m)), "active");
  r("layers", m.layers, "layers");
  r("hidden", m.hidden, "hidden");
  r("heads", m.attention.heads, "heads");
  r("kv_heads", m.attention.kv_heads, "kv");
  r("vocab", m.vocab, "vocab");
  r("experts", m.experts.count);
  r("max_context", m.max_context);
}

void describe(Record& r, const Runtime& x) {
  r("kernels", said(x.kernels, x.fusion.attention ? x.kernels : x.kernels + ", attention unfused"),
    "kernels");
  r("graph", said(x.launch.graph, x.launch.graph ? "graph" : "eager, " + format(x.launch.host)),
    "launch");
  r("trains", x.trains);
  r("serves", x.serves);
  r("notes", x.notes, "notes");
}

void describe(Record& /*r*/, const Kernels& /*k*/) {}
void describe(Record& /*r*/, const CollectiveLibrary& /*l*/) {}

/// The preset whose fit this one has: itself, or the last of those it extends; nothing without.
/// What two of them extend lies under both, once.
std::string fitted_preset(PresetKind kind, const std::string& name,
                          std::vector<std::string>& done) {
  if (contains(done, name)) return "";
  done.push_back(name);
  const Document document = parse_toml(preset_text(kind, name), name);
  std::string last;
  if (const Node* base = document.root.find("extends")) {
    const bool one = base->kind == Node::Kind::string;
    for (const Node& each : one ? std::vector<Node>{*base} : base->items) {
      std::string fit = fitted_preset(kind, each.string, done);
      if (!fit.empty()) last = std::move(fit);
    }
  }
  const Node* own = document.root.find("provenance");
  return own != nullptr && own->find("cases") != nullptr ? name : last;
}

/// What it was fitted to, and of kernels and collectives how well; another's fit is not its own.
void describe_fit(Record& r, PresetKind kind, const std::string& name, const Provenance& p) {
  std::vector<std::string> done;
  const std::string of = fitted_preset(kind, name, done);
  const bool own = p.cases > 0 && of == name;
  r("fitted_cases", own ? p.cases : 0);
  r("",
    own                          ? fmt::format("to {} cases", p.cases)
    : p.cases > 0 && !of.empty() ? "no: as " + of
    : kind == PresetKind::device ? "no: datasheet and defaults"
                                 : "no",
    "fitted");
  if (kind == PresetKind::device) return;
  const auto seen = [&](const Item& item) { return own ? item : said(item, ""); };
  r("error", seen(percent(p.fit_error)), "error");
  r("left_out_error", seen(percent(p.left_out_error)), "left out");
}

void describe(Record& r, const Measurement& m) {
  std::string source;
  for (const std::string& text : m.source) source += (source.empty() ? "" : " and ") + text;
  r("kind", said(m.kind, m.kind.empty() ? "any" : m.kind), "of cases");
  r("", source, "whose source says");
  r.strings("source", m.source);
}

void describe(Record& r, const LogicNode& n) {
  r("process", n.process);
  r("logic", general(n.logic, 3), "logic");
  r("sram", general(n.sram, 3), "SRAM");
  r("analog", general(n.analog, 3), "analog");
  r("power", general(n.power, 3), "power");
  r("speed", general(n.speed, 3), "speed");
  r("wafer_dollars", n.wafer, "wafer");
  r("confidence", n.confidence, "confidence");
}

void describe(Record& r, const MemoryPart& m) {
  r("kind", m.kind);
  r("bytes_per_second", m.bandwidth, "bandwidth");
  r("capacity_bytes", binary(m.capacity), "capacity");
  r("joules_per_byte", m.energy, "energy");
  r("", m.edge, "edge");
  r("confidence", m.confidence, "confidence");
}

void describe(Record& r, const LinkPart& l) {
  r("reach", l.reach, "joins");
  r("bytes_per_second", l.bandwidth, "bandwidth");
  r("latency_seconds", l.latency, "latency");
  r("joules_per_byte", l.energy, "energy");
  r("confidence", l.confidence, "confidence");
}

void describe(Record& r, const CoreTemplate& c) {
  r("node", c.node);
  r("", c.matrix_per_clock, "16-bit a clock");
  r("area_m2", c.area, "area at N7");
  r("clock_hz", c.clock, "clock");
  r("", c.energy, "energy");
  r("confidence", c.confidence, "confidence");
}

std::string title_of(PresetKind kind) {
  switch (kind) {
    case PresetKind::node:
      return "node, over N7";
    case PresetKind::dram:
      return "DRAM, a part";
    case PresetKind::kernel:
    case PresetKind::collective:
      return plural(kind);
    default:
      return std::string(name_of(kind));
  }
}

}  // namespace

std::string plural(PresetKind kind) { return std::string(name_of(kind)) + "s"; }

Record presets_record() {
  Record all;
  for (std::size_t i = 0; i < names_of(PresetKind{}).size(); ++i) {
    const auto kind = static_cast<PresetKind>(i);
    if (kind == PresetKind::kernel || kind == PresetKind::collective ||
        kind == PresetKind::measurement) {
      continue;
    }
    std::string type = std::string(name_of(kind)) + "Preset";
    type.front() = static_cast<char>(type.front() - 'a' + 'A');
    all.list(plural(kind), type, preset_records(kind));
  }
  return all;
}

Records preset_records(PresetKind kind) {
  return visit_loader(kind, [&](const auto& load) {
    return records_of(preset_names(kind), [&](Record& r, const std::string& name) {
      r("name", name, title_of(kind));
      const auto preset = load(name, std::vector<Setting>{}, Lookup::presets);
      describe(r, preset);
      if constexpr (one_of<std::decay_t<decltype(preset)>, Device, Kernels, CollectiveLibrary>) {
        describe_fit(r, kind, name, preset.provenance);
      }
    });
  });
}

}  // namespace sextant
