// SPDX-License-Identifier: Apache-2.0
#include "cli/preset_list.hpp"

#include <algorithm>

#include "sextant/graph/graph.hpp"

namespace sextant::cli {
namespace {

void add(Node& entry, const Device& d) {
  entry.set("architecture", Node::of(d.architecture));
  entry.set("cores", Node::of(d.cores));
  entry.set("peak_16bit_flops_per_second",
            Node::of(std::max(d.matrix[Precision::bf16], d.matrix[Precision::fp16]).value));
  entry.set("memory_bytes", Node::of(d.memory.capacity.value));
  entry.set("memory_bytes_per_second", Node::of(d.memory.bandwidth.value));
  entry.set("l2_bytes", Node::of(d.l2.capacity.value));
  entry.set("power_watts", Node::of(d.power.limit.value));
  entry.set("fitted_cases", Node::of(d.provenance.cases));
}

void add(Node& entry, const System& s) {
  entry.set("device", Node::of(s.device.name));
  entry.set("devices_per_node", Node::of(s.devices_per_node));
  entry.set("max_devices", Node::of(s.max_devices));
  Node& fabrics = entry.set("fabrics", Node::array());
  for (const Fabric& f : s.fabrics) {
    Node& one = fabrics.push(Node::table());
    one.set("name", Node::of(f.name));
    one.set("reach", Node::of(f.reach));
    one.set("bytes_per_second", Node::of(f.bandwidth.value));
  }
}

void add(Node& entry, const Model& m) {
  entry.set("family", Node::of(m.family));
  entry.set("parameters", Node::of(count_parameters(m).total()));
  entry.set("active_parameters", Node::of(active_parameters(m)));
  entry.set("layers", Node::of(m.layers));
  entry.set("hidden", Node::of(m.hidden));
  entry.set("heads", Node::of(m.attention.heads));
  entry.set("kv_heads", Node::of(m.attention.kv_heads));
  entry.set("vocab", Node::of(m.vocab));
  entry.set("experts", Node::of(m.experts.count));
  entry.set("max_context", Node::of(m.max_context));
}

void add(Node& entry, const Runtime& r) {
  entry.set("kernels", Node::of(r.kernels));
  entry.set("graph", Node::of(r.launch.graph));
  entry.set("trains", Node::of(r.trains));
  entry.set("serves", Node::of(r.serves));
  entry.set("notes", Node::of(r.notes));
}

void add(Node& entry, const Provenance& p) {
  entry.set("fitted_cases", Node::of(p.cases));
  entry.set("error", Node::of(p.fit_error));
  entry.set("left_out_error", Node::of(p.left_out_error));
}
void add(Node& entry, const Kernels& k) { add(entry, k.provenance); }
void add(Node& entry, const CollectiveLibrary& l) { add(entry, l.provenance); }

void add(Node& entry, const Measurement& m) {
  entry.set("kind", Node::of(m.kind));
  Node& source = entry.set("source", Node::array());
  for (const std::string& text : m.source) source.push(Node::of(text));
}

void add(Node& entry, const LogicNode& n) {
  entry.set("process", Node::of(n.process));
  entry.set("logic", Node::of(n.logic));
  entry.set("sram", Node::of(n.sram));
  entry.set("analog", Node::of(n.analog));
  entry.set("power", Node::of(n.power));
  entry.set("speed", Node::of(n.speed));
  entry.set("wafer_dollars", Node::of(n.wafer.value));
  entry.set("confidence", Node::of(name_of(n.confidence)));
}

void add(Node& entry, const MemoryPart& m) {
  entry.set("kind", Node::of(m.kind));
  entry.set("bytes_per_second", Node::of(m.bandwidth.value));
  entry.set("capacity_bytes", Node::of(m.capacity.value));
  entry.set("joules_per_byte", Node::of(m.energy.value));
  entry.set("confidence", Node::of(name_of(m.confidence)));
}

void add(Node& entry, const LinkPart& l) {
  entry.set("reach", Node::of(name_of(l.reach)));
  entry.set("bytes_per_second", Node::of(l.bandwidth.value));
  entry.set("latency_seconds", Node::of(l.latency.value));
  entry.set("joules_per_byte", Node::of(l.energy.value));
  entry.set("confidence", Node::of(name_of(l.confidence)));
}

void add(Node& entry, const CoreTemplate& c) {
  entry.set("node", Node::of(c.node));
  entry.set("area_m2", Node::of(c.area.value));
  entry.set("clock_hz", Node::of(c.clock.value));
  entry.set("confidence", Node::of(name_of(c.confidence)));
}

template <class Load>
Node entries(PresetKind kind, const Load& load) {
  Node list = Node::array();
  for (const std::string& name : preset_names(kind)) {
    Node& entry = list.push(Node::table());
    entry.set("name", Node::of(name));
    add(entry, load(name));
  }
  return list;
}

}  // namespace

Node preset_entries(PresetKind kind) {
  constexpr Lookup here = Lookup::presets;
  switch (kind) {
    case PresetKind::device:
      return entries(kind, [](const std::string& n) { return load_device(n, {}, here); });
    case PresetKind::system:
      return entries(kind, [](const std::string& n) { return load_system(n, {}, here); });
    case PresetKind::model:
      return entries(kind, [](const std::string& n) { return load_model(n, {}, here); });
    case PresetKind::runtime:
      return entries(kind, [](const std::string& n) { return load_runtime(n, {}, here); });
    case PresetKind::kernel:
      return entries(kind, [](const std::string& n) { return load_kernels(n, {}, here); });
    case PresetKind::collective:
      return entries(kind, [](const std::string& n) { return load_collectives(n, {}, here); });
    case PresetKind::measurement:
      return entries(kind, [](const std::string& n) { return load_measurement(n, {}, here); });
    case PresetKind::node:
      return entries(kind, [](const std::string& n) { return load_node(n, {}, here); });
    case PresetKind::dram:
      return entries(kind, [](const std::string& n) { return load_dram(n, {}, here); });
    case PresetKind::link:
      return entries(kind, [](const std::string& n) { return load_link(n, {}, here); });
    case PresetKind::core:
      return entries(kind, [](const std::string& n) { return load_core(n, {}, here); });
  }
  return Node::array();
}

}  // namespace sextant::cli
