// SPDX-License-Identifier: Apache-2.0
#include "cli/train_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/answer.hpp"
#include "cli/energy.hpp"
#include "sextant/io/write.hpp"
#include "sextant/report/table.hpp"
#include "sextant/units/format.hpp"

namespace sextant::cli {
namespace {

struct TimeGroup {
  const char* label;
  std::vector<Time> times;
};

const std::vector<TimeGroup>& time_groups() {
  static const std::vector<TimeGroup> groups = {
      {"compute", {Time::forward, Time::backward, Time::recompute}},
      {"communication",
       {Time::tensor, Time::context, Time::expert, Time::pipeline, Time::gradients,
        Time::parameters}},
      {"waiting", {Time::bubble, Time::host, Time::spread}},
      {"optimizer", {Time::optimizer}},
  };
  return groups;
}

Breakdown leaf(const Estimate& e, Time t) {
  const Span& s = e.time[t];
  Breakdown b{.label = std::string(name_of(t)),
              .value = s.exposed.value,
              .unit = Seconds::dimension,
              .share = 0,
              .note = std::string(meaning_of(t)),
              .parts = {}};
  const Seconds hidden = s.busy - s.exposed;
  if (hidden.value > 0.001 * s.busy.value) {
    b.note += fmt::format("; {} more beside other work", format(hidden));
  }
  return b;
}

/// Rates of a step, and the memory figures people ask for.
struct Rates {
  explicit Rates(const Estimate& e) {
    if (e.step.value <= 0) return;
    tokens = e.tokens / e.step.value;
    tokens_each = tokens / e.devices;
    model_each = e.model_flops / e.step / e.devices;
  }
  double tokens = 0;
  double tokens_each = 0;
  FlopsPerSecond model_each;
};

Bytes other_memory(const StageMemory& m) {
  return m.parts[Space::working] + m.parts[Space::buffers] + m.parts[Space::context];
}

std::string count_text(double n) {
  return n >= 1000 ? fmt::format("{:.0f}", n) : fmt::format("{:.3g}", n);
}

std::string meaning_of(Space s) {
  switch (s) {
    case Space::weights:
      return "parameters, as the multiplies read them";
    case Space::gradients:
      return "of the parameters";
    case Space::optimizer:
      return "master weights and moments";
    case Space::activations:
      return "kept for the backward pass, all microbatches in flight";
    case Space::working:
      return "of the one layer, or the loss, being computed";
    case Space::buffers:
      return "communication";
    case Space::context:
      return "driver, libraries, fragmentation";
    case Space::count:
      break;
  }
  return "";
}

std::string memory_text(const TrainAnswer& a) {
  const Estimate& e = a.estimate;
  const Bytes total = e.memory.total();
  const Bytes capacity = a.scenario.problem.capacity;
  std::string out = fmt::format(
      "\nmemory{}: {} of {}\n",
      a.scenario.strategy.pp > 1 ? fmt::format(" of stage {}, the fullest", e.fullest_stage) : "",
      format_binary_bytes(total.value, 4), format_binary_bytes(capacity.value, 4));
  TextTable t;
  t.columns = {{""}, {"", Align::right}, {"", Align::right}, {""}};
  for (std::size_t i = 0; i < e.memory.parts.size; ++i) {
    const auto s = static_cast<Space>(i);
    if (e.memory.parts[s].value <= 0) continue;
    t.rows.push_back({std::string(name_of(s)), format_binary_bytes(e.memory.parts[s].value),
                      format_percent(e.memory.parts[s] / capacity), meaning_of(s)});
  }
  return out + render_text(t, {.header = false, .rule = false, .indent = 2});
}

std::string misfit_text(const TrainAnswer& a) {
  const Bytes over = a.estimate.memory.total() - a.scenario.problem.capacity;
  std::string out = fmt::format("\ndoes not fit: {} ({:.0f} bytes) too much\n",
                                format_binary_bytes(over.value), over.value);
  if (a.neighbours.empty()) {
    return out + "  nothing near it fits: it takes more devices, or devices with more memory\n";
  }
  TextTable t;
  t.columns = {{"what would fit"}, {"step", Align::right}, {"memory", Align::right}};
  for (const Neighbour& n : a.neighbours) {
    t.rows.push_back({n.change, format(n.estimate.step, 4),
                      format_binary_bytes(n.estimate.memory.total().value)});
  }
  return out + render_text(t, {.indent = 2});
}

TextTable operator_table(const TrainAnswer& a) {
  using enum Align;
  TextTable t;
  t.columns = {{"part"},         {"operator"},    {"pass"},        {"shape"},
               {"runs", right},  {"each", right}, {"step", right}, {"FLOPs", right},
               {"bytes", right}, {"bound"}};
  for (const Operator& o : a.operators) {
    const bool moves = o.message.value > 0;
    t.rows.push_back({o.part, o.name, std::string(name_of(o.kind)), o.shape, count_text(o.count),
                      format(o.cost.time), format_percent(o.count * o.exposed / a.estimate.step),
                      o.cost.flops.value > 0 ? format(o.cost.flops) : "",
                      format(moves ? o.message : o.cost.dram), std::string(name_of(o.cost.bound))});
  }
  return t;
}

TextTable operator_csv(const TrainAnswer& a) {
  TextTable t;
  t.columns = {{"part"},    {"operator"},        {"pass"},  {"shape"},      {"runs"},
               {"seconds"}, {"exposed_seconds"}, {"flops"}, {"dram_bytes"}, {"message_bytes"},
               {"bound"}};
  for (const Operator& o : a.operators) {
    t.rows.push_back({o.part, o.name, std::string(name_of(o.kind)), o.shape, write_number(o.count),
                      write_number(o.cost.time.value), write_number(o.exposed.value),
                      write_number(o.cost.flops.value), write_number(o.cost.dram.value),
                      write_number(o.message.value), std::string(name_of(o.cost.bound))});
  }
  return t;
}

Node memory_node(const Estimate& e, Bytes capacity) {
  const StageMemory& m = e.memory;
  Node n = Node::table();
  n.set("weights_bytes", Node::of(m.parts[Space::weights].value));
  n.set("gradients_bytes", Node::of(m.parts[Space::gradients].value));
  n.set("optimizer_bytes", Node::of(m.parts[Space::optimizer].value));
  n.set("activation_bytes", Node::of(m.parts[Space::activations].value));
  n.set("other_bytes", Node::of(other_memory(m).value));
  n.set("total_bytes", Node::of(m.total().value));
  n.set("capacity_bytes", Node::of(capacity.value));
  n.set("fits", Node::of(e.verdict == Verdict::fits));
  n.set("stage", Node::of(e.fullest_stage));
  n.set("activation_bytes_after_forward", Node::of(m.after_forward.value));
  n.set("peak_bytes_forward_backward", Node::of(m.peak_forward_backward.value));
  return n;
}

Node neighbour_nodes(const std::vector<Neighbour>& neighbours) {
  Node list = Node::array();
  for (const Neighbour& n : neighbours) {
    Node& one = list.push(Node::table());
    one.set("change", Node::of(n.change));
    one.set("step_seconds", Node::of(n.estimate.step.value));
    one.set("total_bytes", Node::of(n.estimate.memory.total().value));
    one.set("strategy", write(n.strategy, Quantities::si));
  }
  return list;
}

Node operator_nodes(const TrainAnswer& a) {
  Node list = Node::array();
  for (const Operator& o : a.operators) {
    Node& n = list.push(Node::table());
    n.set("part", Node::of(o.part));
    n.set("name", Node::of(o.name));
    n.set("pass", Node::of(name_of(o.kind)));
    n.set("shape", Node::of(o.shape));
    n.set("runs", Node::of(o.count));
    n.set("seconds", Node::of(o.cost.time.value));
    n.set("exposed_seconds", Node::of(o.exposed.value));
    n.set("flops", Node::of(o.cost.flops.value));
    n.set("dram_bytes", Node::of(o.cost.dram.value));
    n.set("message_bytes", Node::of(o.message.value));
    n.set("bound", Node::of(name_of(o.cost.bound)));
  }
  return list;
}

void set_rates(Node& root, const Estimate& e) {
  const Rates r(e);
  root.set("step_seconds", Node::of(e.step.value));
  root.set("tokens_per_second", Node::of(r.tokens));
  root.set("tokens_per_second_per_gpu", Node::of(r.tokens_each));
  root.set("model_tflops_per_gpu", Node::of(r.model_each.value / 1e12));
  root.set("mfu", Node::of(e.mfu()));
  root.set("hfu", Node::of(e.hfu()));
  root.set("forward_backward_seconds", Node::of(e.forward_backward().value));
  root.set("optimizer_seconds", Node::of(e.time[Time::optimizer].exposed.value));
}

}  // namespace

Breakdown time_breakdown(const Estimate& e) {
  Breakdown root{.label = "step",
                 .value = e.step.value,
                 .unit = Seconds::dimension,
                 .share = 1,
                 .note = {},
                 .parts = {}};
  for (const TimeGroup& g : time_groups()) {
    Breakdown group{.label = g.label,
                    .value = 0,
                    .unit = Seconds::dimension,
                    .share = 0,
                    .note = {},
                    .parts = {}};
    for (const Time t : g.times) {
      if (e.time[t].busy.value <= 0 && e.time[t].exposed.value <= 0) continue;
      group.parts.push_back(leaf(e, t));
      group.value += e.time[t].exposed.value;
    }
    if (group.parts.empty()) continue;
    // A group of one is that one.
    if (g.times.size() == 1) group = group.parts.front();
    root.parts.push_back(std::move(group));
  }
  fill_shares(root);
  return root;
}

namespace {

EnergyAnswer energy_of(const TrainAnswer& a) {
  return {a.estimate.energy, a.estimate.devices, a.estimate.tokens};
}

}  // namespace

void set_prediction(Node& root, const Estimate& e, Bytes capacity) {
  set_rates(root, e);
  root.set("memory", memory_node(e, capacity));
  root.set("breakdown", to_node(time_breakdown(e)));
}

std::string train_text(const TrainAnswer& a) {
  const Estimate& e = a.estimate;
  const Scenario& x = a.scenario;
  const Rates r(e);
  std::string out = fmt::format("{} on {} x {} of {}: {} a step\n", x.problem.model.name, e.devices,
                                x.system.device.name, x.system.name, format(e.step, 4));
  out += fmt::format("{} a device, MFU {}, HFU {}; {} tokens/s, {} a device; {} at {}\n",
                     format(r.model_each), format_percent(e.mfu()), format_percent(e.hfu()),
                     count_text(r.tokens), count_text(r.tokens_each), format(e.power),
                     format(e.clock));
  out += energy_text(energy_of(a));
  out += fmt::format("{}; batch {}, seq {}; {}\n\n", describe_strategy(x.strategy),
                     x.problem.work.batch, x.problem.work.seq, x.problem.runtime.name);
  out += render_text(time_breakdown(e));
  out += memory_text(a);
  if (e.verdict == Verdict::out_of_memory) out += misfit_text(a);
  if (!a.operators.empty()) {
    out += fmt::format("\noperators of stage {}, the slowest\n", e.slowest_stage) +
           render_text(operator_table(a), {.indent = 2});
  }
  if (!a.sensitivity.empty()) out += sensitivity_text(a.sensitivity);
  return out + assumptions_text(x.assumptions);
}

std::string train_json(const TrainAnswer& a) {
  const Estimate& e = a.estimate;
  const Scenario& x = a.scenario;
  Node root = scenario_node(x, e.devices);
  root.set("batch", Node::of(x.problem.work.batch));
  root.set("seq", Node::of(x.problem.work.seq));
  set_prediction(root, e, x.problem.capacity);
  root.set("strategy", write(x.strategy, Quantities::si));
  root.set("slowest_stage", Node::of(e.slowest_stage));
  root.set("clock_hz", Node::of(e.clock.value));
  root.set("power_watts", Node::of(e.power.value));
  set_energy(root, energy_of(a));
  root.set("model_flops", Node::of(e.model_flops.value));
  root.set("hardware_flops", Node::of(e.hardware_flops.value));
  if (!a.neighbours.empty()) root.set("would_fit", neighbour_nodes(a.neighbours));
  if (!a.operators.empty()) root.set("operators", operator_nodes(a));
  if (!a.sensitivity.empty()) set_sensitivity(root, a.sensitivity);
  for (const Node::Member& m : a.extras.members) root.set(m.key, m.value);
  set_assumptions(root, x.assumptions);
  return to_json(root) + "\n";
}

std::string train_csv(const TrainAnswer& a) {
  if (!a.operators.empty()) return render_csv(operator_csv(a));
  const Estimate& e = a.estimate;
  const Scenario& x = a.scenario;
  Node flat = Node::table();
  set_rates(flat, e);
  TextTable t;
  t.columns = {{"model"}, {"system"}, {"runtime"}, {"gpus"}, {"batch"}, {"seq"}};
  t.rows.push_back({x.problem.model.name, x.system.name, x.problem.runtime.name,
                    write_number(e.devices), write_number(x.problem.work.batch),
                    write_number(x.problem.work.seq)});
  const auto add = [&](const std::string& name, double value) {
    t.columns.push_back({name});
    t.rows.front().push_back(write_number(value));
  };
  for (const Node::Member& m : flat.members) add(m.key, m.value.number);
  add("memory_bytes", e.memory.total().value);
  add("capacity_bytes", x.problem.capacity.value);
  add("fits", e.verdict == Verdict::fits ? 1 : 0);
  return render_csv(t);
}

}  // namespace sextant::cli
