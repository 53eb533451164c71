// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/device.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sextant/answer/design.hpp"
#include "sextant/answer/parts.hpp"
#include "sextant/io/write.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

/// Where a budget goes: what is not zero.
template <Dimension D, NamedEnum Use>
Breakdown tree_of(const char* label, const Table<Quantity<D>, Use>& uses) {
  Breakdown root{.label = label, .value = 0, .unit = D};
  for (std::size_t i = 0; i < uses.size; ++i) {
    const auto use = static_cast<Use>(i);
    if (uses[use].value <= 0) continue;
    root.value += uses[use].value;
    root.parts.push_back({.label = std::string(name_of(use)),
                          .value = uses[use].value,
                          .unit = D,
                          .note = std::string(meaning_of(use))});
  }
  fill_shares(root);
  return root;
}

/// The device in numbers, and why they are so.
TextTable facts_of(const DeviceResult& a) {
  const Blueprint& d = a.blueprint;
  const Device& v = d.device;
  const auto millimetres = [](Meters m) { return fmt::format("{:.1f} mm", m.value * 1e3); };
  TextTable t;
  t.columns = {{""}, {"", Align::right}, {""}};
  const auto row = [&](std::string what, std::string value, std::string note = "") {
    t.rows.push_back({std::move(what), std::move(value), std::move(note)});
  };
  row("cores", std::to_string(v.cores),
      fmt::format("of {} on the silicon, {} each", d.cores_on_die, format(d.core_area)));
  const std::string node = "the node " + format(d.design_clock);
  const std::string why = d.binds == Binding::node     ? "the node's own"
                          : d.binds == Binding::chosen ? "chosen; " + node
                                                       : "power allows no more; " + node;
  row("clock", format(v.clock),
      why + "; a large multiply that goes on holds " + format(d.sustained_clock));
  row("16-bit peak", format(v.matrix[Precision::bf16]),
      "sustained in a large multiply: " + format(d.sustained));
  if (v.matrix[Precision::fp8].value > 0) row("8-bit peak", format(v.matrix[Precision::fp8]));
  if (v.matrix[Precision::fp4].value > 0) row("4-bit peak", format(v.matrix[Precision::fp4]));
  row("L2", format_binary_bytes(v.l2.capacity.value),
      format(v.l2.per_clock * v.clock) + " at the rated clock");
  row("memory", format_binary_bytes(v.memory.capacity.value),
      fmt::format("{} x {}, {}", d.stacks, v.memory.kind, format(v.memory.bandwidth)));
  if (v.tier.capacity.value > 0) {
    row("second memory", format_binary_bytes(v.tier.capacity.value),
        fmt::format("{} x {}, {}, {}{}", a.budget.tier_parts, v.tier.kind, format(v.tier.bandwidth),
                    format(v.tier.energy), v.tier.read_only ? "; for weights" : ""));
  }
  row("links", format(d.link_bandwidth),
      fmt::format("{} x {}, one direction", d.links, a.technology.link.title));
  row("edge", millimetres(d.edge_used), "of " + millimetres(d.edge_usable) + " that can be used");
  row("power", format(v.power.limit),
      fmt::format("{} idle, {} a 16-bit FLOP, {} of memory", format(v.power.idle),
                  format(v.power.matrix_fp16), format(v.power.memory)));
  row("", "",
      fmt::format("a large multiply at the rated clock asks for {}; reading all memory draws "
                  "{} at {}",
                  format(d.asked), format(d.streaming), format(d.streaming_clock)));
  row("cost", format(d.cost()),
      fmt::format("silicon {} at a yield of {}, memory {}, package {} at {}, board {}",
                  format(d.die_cost), format_percent(d.yield, 0), format(d.memory_cost),
                  format(d.package_cost), format_percent(d.package_yield, 0),
                  format(d.board_cost)));
  return t;
}

plot::Figure figure_of(const DeviceResult& a) {
  const Blueprint& d = a.blueprint;
  plot::Figure f;
  f.title = "Where area and power go: " + d.device.name;
  f.width = 560;
  f.x.names = {"area, " + format(d.device.die.area), "power, " + format(d.device.power.limit)};
  f.y.label = "share";
  f.y.unit = "%";
  f.y.min = 0;
  f.y.max = 105;
  f.bar = 0.5;
  // Bars stand on 0 and later ones cover earlier ones, so sums go from the whole downwards.
  const auto stack = [&](const Breakdown& tree, double x) {
    double sum = 1;
    for (std::size_t i = tree.parts.size(); i-- > 0;) {
      const Breakdown& part = tree.parts[i];
      f.series.push_back(
          {.name = (x > 0.5 ? "power: " : "area: ") + part.label,
           .mark = plot::Mark::bars,
           .points = {
               {x, 100 * sum, fmt::format("{}: {}", part.label, format_percent(part.share))}}});
      sum -= part.share;
    }
  };
  stack(tree_of("silicon", d.area), 0);
  stack(tree_of("power", d.power), 1);
  return f;
}

void add_split(Answer& a, const design::Split& s) {
  const Allocation& x = s.allocation;
  Record r;
  r("objective", s.objective);
  r("value", x.value);
  r("usual_value", only_if(std::isfinite(s.usual), s.usual));
  r("starts", x.starts);
  r("agreeing", x.agreeing);
  r("spread", x.spread);
  r("evaluations", x.evaluations);
  a.object("allocation", "AllocationFacts", std::move(r));
  const std::string agree =
      x.agreeing == x.starts
          ? fmt::format("all {} starts agree within 0.5 %", x.starts)
          : fmt::format("{} of {} starts agree within 0.5 %", x.agreeing, x.starts);
  const std::string before =
      std::isfinite(s.usual)
          ? fmt::format(", {} better than the usual split ({})",
                        format_percent(1 - x.value / s.usual), format_quantity(s.usual, s.unit))
          : ", where the usual split cannot run it";
  a.say(fmt::format("split for the least {}: {}{}", s.objective, format_quantity(x.value, s.unit),
                    before));
  a.say("the mean over core counts 5 % to both sides, so that no split stands on an edge of waves");
  a.say(fmt::format("{}; the worst ends {} above the best; {} evaluations\n", agree,
                    format_percent(x.spread), x.evaluations));
}

Records lines_of(const Blueprint& d) {
  Records all;
  const auto row = [&](std::string_view what, std::string_view part, double v) {
    add_line(all, what, part, v);
  };
  row("device", "cores", d.device.cores);
  row("device", "clock_hertz", d.device.clock.value);
  row("device", "bf16_flops_per_second", d.device.matrix[Precision::bf16].value);
  row("device", "l2_bytes", d.device.l2.capacity.value);
  row("device", "memory_bytes", d.device.memory.capacity.value);
  row("device", "memory_bytes_per_second", d.device.memory.bandwidth.value);
  row("device", "link_bytes_per_second", d.link_bandwidth.value);
  row("device", "power_watts", d.device.power.limit.value);
  for (const Node::Member& m : to_node(d.area).members) row("area_m2", m.key, m.value.number);
  for (const Node::Member& m : to_node(d.power).members) row("power_watts", m.key, m.value.number);
  return all;
}

/// What programs alone read: all numbers.
void add_numbers(Answer& a, const DeviceResult& x) {
  const Blueprint& d = x.blueprint;
  a.node("device", "DeviceFacts", write(d.device, Quantities::si));
  a.node("area_m2", "number", to_node(d.area));
  a.node("power_watts", "number", to_node(d.power));
  a("cores_on_die", d.cores_on_die);
  a("stacks", d.stacks);
  a("links", d.links);
  a("link_bytes_per_second", d.link_bandwidth);
  a("sustained_flops_per_second", d.sustained);
  a("sustained_clock_hertz", d.sustained_clock);
  a("design_clock_hertz", d.design_clock);
  a("natural_power_watts", d.natural_power);
  a("binds", name_of(d.binds));
  a("asked_watts", d.asked);
  a("streaming_watts", d.streaming);
  a("streaming_clock_hertz", d.streaming_clock);
  a("streamed_bytes_per_second", d.streamed);
  a("edge_used_m", d.edge_used);
  a("edge_usable_m", d.edge_usable);
  a("yield", d.yield);
  a("die_cost_dollars", d.die_cost);
  a("memory_cost_dollars", d.memory_cost);
  a("package_cost_dollars", d.package_cost);
  a("board_cost_dollars", d.board_cost);
  a("package_yield", d.package_yield);
  a("cost_dollars", d.cost());
  if (x.system) {
    // As files and requests have it, so that whoever asked can give it to another command.
    a.node("system", "", write(*x.system));
    a("network_bytes_per_second", x.system->fabrics.back().bandwidth);
  }
}

}  // namespace

Answer answer_of(const DeviceResult& x) {
  const Blueprint& d = x.blueprint;
  Answer a;
  add_numbers(a, x);
  const std::vector<std::string> warnings = warnings_of(d);
  a.strings("warnings", warnings);
  if (x.front) add_front(a, *x.front, x.technologies);
  if (x.solution) add_solution(a, *x.solution);
  a.say(fmt::format("{}: {} {} of {}, {} cores, {}\n", d.device.name,
                    x.budget.dies == 1 ? "a die" : fmt::format("{} dies", x.budget.dies),
                    x.technology.node.process, format(x.budget.area), x.technology.core.name,
                    x.technology.memory.kind));
  if (x.split) add_split(a, *x.split);
  if (x.together) add_together(a, *x.together, x.network, x.trains);
  if (x.predicted) {
    const Seconds time = x.predicted->time;
    a("time_seconds", time);
    a.say(fmt::format("{} takes {} on this device", x.trains ? "a step" : "a batch of requests",
                      format(time, 4)));
    add(a, x.predicted->likeness, {time.value});
    a.gap();
  }
  a.show(facts_of(x), {.header = false, .rule = false});
  for (const std::string& text : warnings) a.say("\nwarning: " + text);
  a.say("\nwhere the area goes");
  a.show(tree_of("silicon", d.area));
  a.say("\nwhere the power goes in a large multiply that goes on");
  a.show(tree_of("power", d.power));
  if (x.uncertainty) add_uncertainty(a, *x.uncertainty, x.trains);
  a.assume(x.assumptions);
  Records lines = lines_of(d);
  if (x.uncertainty) add_lines(lines, *x.uncertainty, x.trains);
  if (x.solution) add_lines(lines, *x.solution);
  a.lines(x.front ? lines_of(*x.front, x.technologies) : std::move(lines));
  a.figure(figure_of(x));
  return a;
}

}  // namespace sextant
