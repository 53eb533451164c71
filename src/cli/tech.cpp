// SPDX-License-Identifier: Apache-2.0
// `sextant tech`: a device from technology and budgets, where its area and power go, and the best
// split of them for a workload.
#include "cli/tech.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/write.hpp"
#include "sextant/predict/energy.hpp"
#include "sextant/report/breakdown.hpp"
#include "sextant/tech/allocate.hpp"
#include "sextant/tech/usual.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"
#include "sextant/validate/validate.hpp"

namespace sextant::cli {

Technology load_technology(const TechnologyNames& names, const std::vector<Setting>& settings,
                           Lookup lookup) {
  Technology t;
  t.node = load_node(names.node, settings, lookup);
  const UsualParts usual = usual_parts(t.node);
  t.memory = load_dram(names.dram, settings, lookup);
  t.link = load_link(names.link.empty() ? usual.link : names.link, settings, lookup);
  t.bridge = load_link("d2d");
  t.core = load_core(names.core.empty() ? usual.core : names.core, settings, lookup);
  t.core_node = load_node(t.core.node, {}, lookup);
  return t;
}

Problem problem_of(const System& system, const char* runtime_name, const Model& model,
                   const Training& work) {
  // Searches ask for the same runtime thousands of times; servers and studies from several threads.
  thread_local Catalogue catalogue;
  thread_local std::map<std::string, Runtime> runtimes;
  auto at = runtimes.find(runtime_name);
  if (at == runtimes.end()) at = runtimes.emplace(runtime_name, load_runtime(runtime_name)).first;
  const Runtime& runtime = at->second;
  std::string reason;
  const auto libraries = catalogue.libraries(system, runtime, reason);
  if (!libraries) throw InputError(reason);
  return prepare(system, runtime, *libraries, model, work);
}

namespace {

template <Dimension D>
Quantity<D> quantity(Flags& flags, const char* flag, const std::string& text) {
  if (text.empty()) return Quantity<D>(0);
  const ParseResult r = parse_quantity(text);
  if (!r.quantity || r.quantity->dimension != D || !(r.quantity->value > 0)) {
    flags.add(flag, "expected a positive quantity with its unit, got '" + text + "'",
              "such as \"" + example_of(D) + "\"");
    return Quantity<D>(0);
  }
  return Quantity<D>(r.quantity->value);
}

int whole(Flags& flags, const char* flag, const std::optional<int>& value, int otherwise, int least,
          int most) {
  const int v = value.value_or(otherwise);
  if (v >= least && v <= most) return v;
  flags.add(flag, fmt::format("expected a whole number from {} to {}, got {}", least, most, v));
  return otherwise;
}

/// All that the command has found out.
struct Answer {
  Technology technology;
  Budget budget;
  Blueprint blueprint;
  LinkPart network;
  std::vector<std::string> assumptions;
  std::optional<Allocation> allocation;
  std::string objective;  ///< "step time", …
  Dimension objective_unit;
  double unoptimised = 0;
};

Answer read(const TechOptions& o, const Common& common) {
  const std::vector<Setting> settings = settings_of(common, {"node", "dram", "link", "core"});
  Answer a;
  Flags flags;
  a.technology = load_technology({o.node, o.dram, o.link_gen, o.core}, settings, common.lookup);
  a.network = load_link(o.network, {}, common.lookup);
  Budget& b = a.budget;
  const UsualParts usual = usual_parts(a.technology.node);
  constexpr Dimension area{.length = 2};
  const SquareMeters given = quantity<area>(flags, "--area", o.area);
  if (given.value > 0) b.area = given;
  b.power = quantity<Dimension{.time = -1, .energy = 1}>(flags, "--power", o.power);
  b.l2 = quantity<Dimension{.data = 1}>(flags, "--l2", o.l2);
  b.dies = whole(flags, "--dies", o.dies, 1, 1, 16);
  b.stacks = whole(flags, "--stacks", o.stacks, 0, 0, 1000);
  b.spare_stacks = whole(flags, "--spare-stacks", o.spare_stacks, 0, 0, 1000);
  b.links = whole(flags, "--links", o.links, usual.links, 0, 10000);
  throw_if_any(std::move(flags.problems));
  const auto assume = [&](std::string text) { a.assumptions.push_back(std::move(text)); };
  if (o.area.empty()) assume("area " + format(b.area) + ", as H100");
  if (o.core.empty()) assume("core " + a.technology.core.name + ": what devices of this node have");
  if (o.link_gen.empty()) assume("link " + a.technology.link.name);
  if (!o.links) assume(fmt::format("links {}", b.links));
  if (!o.stacks) assume("stacks: as many as the die's sides hold");
  if (o.l2.empty()) assume("l2: 14.5 % of the area, as A100 and H100");
  if (o.power.empty()) assume("power: what a full load at the rated clock needs");
  for (const auto& [what, confidence] :
       {std::pair{a.technology.node.name, a.technology.node.confidence},
        std::pair{a.technology.memory.name, a.technology.memory.confidence},
        std::pair{a.technology.core.name, a.technology.core.confidence}}) {
    if (confidence <= Confidence::low) {
      assume(fmt::format("{}: confidence {}", what, name_of(confidence)));
    }
  }
  return a;
}

// ---- optimisation

enum class Goal : std::uint8_t { time, energy, cost };
constexpr auto names_of(Goal) { return std::array<std::string_view, 3>{"time", "energy", "cost"}; }

/// What a device is made to do.
struct Workload {
  Model model;
  Strategy strategy;
  Training training;
  Serving serving;
  bool trains = true;
  Goal goal = Goal::time;
  Surroundings around;
};

/// What a device has of its owner: parts over four years, power with what cooling adds.
Dollars cost_of(const Blueprint& d, Seconds time, Joules energy) {
  constexpr Dollars board(500);               // board, substrate and test, assumed
  constexpr Seconds life(4.0 * 365 * 86400);  // assumed, in use all the time
  constexpr double pue = 1.2;                 // 1.1 to 1.3
  constexpr Dollars kilowatt_hour(0.08);      // assumed
  const Dollars parts = d.die_cost + d.memory_cost + d.package_cost + board;
  return parts * (time / life) + kilowatt_hour * (pue * energy.value / 3.6e6);
}

/// The goal's value for a device; infinite where it cannot run the workload.
double worth(const Workload& w, const Technology& t, const Blueprint& d) {
  constexpr double never = std::numeric_limits<double>::infinity();
  const System system = system_of(d, t, w.around);
  Problem p = problem_of(system, w.trains ? "megatron-core" : "trtllm", w.model, w.training);
  p.serving = w.serving;
  Seconds time;
  double per_token = 0;  // devices over the tokens that they make in that time
  if (w.trains) {
    const Estimate e = evaluate(p, w.strategy);
    if (e.verdict != Verdict::fits) return never;
    time = e.step;
    per_token = e.devices / e.tokens;
  } else {
    const ServingEstimate e = serve(p, w.strategy);
    if (e.verdict != Verdict::fits) return never;
    time = e.latency;
    per_token = e.devices / (static_cast<double>(w.serving.batch) * w.serving.output);
  }
  if (w.goal == Goal::time) return time.value;
  const Joules energy =
      (w.trains ? evaluate(p, w.strategy).energy : request_energy(p, w.strategy)).device();
  return per_token * (w.goal == Goal::energy ? energy.value : cost_of(d, time, energy).value);
}

Workload workload_of(const TechOptions& o, const Answer& a, Lookup lookup) {
  Flags flags;
  Workload w;
  if (o.optimise != "train" && o.optimise != "infer") {
    flags.add("--optimise", "expected train or infer, got '" + o.optimise + "'");
  }
  w.goal = flags.choice<Goal>("--objective", o.objective);
  w.trains = o.optimise == "train";
  const PresetRef usual = {w.trains ? "gpt3-6.7b" : "llama2-13b"};
  w.model = load_model(o.model.empty() ? usual : o.model, {}, lookup);
  Strategy& s = w.strategy;
  s.tp = whole(flags, "--tp", o.tp, w.trains ? 4 : 1, 1, 100000);
  s.pp = whole(flags, "--pp", o.pp, w.trains ? 4 : 1, 1, 100000);
  const int gpus = whole(flags, "--gpus", o.gpus, w.trains ? 1024 : s.tp * s.pp, 1, 10000000);
  s.dp = std::max(1, gpus / (s.tp * s.pp));
  s.sp = w.trains && s.tp > 1;
  s.zero = w.trains ? 1 : 0;
  s.precision =
      o.precision.empty() ? Precision::bf16 : flags.choice<Precision>("--precision", o.precision);
  w.training.batch = whole(flags, "--batch", o.batch, w.trains ? 512 : 1, 1, 100000000);
  w.training.seq = whole(flags, "--seq", o.seq, 2048, 1, 100000000);
  w.serving = {.batch = w.training.batch,
               .input = whole(flags, "--input", o.input, 200, 1, 100000000),
               .output = whole(flags, "--output", o.output_tokens, 200, 1, 100000000)};
  w.around.network = a.network;
  w.around.max_devices = std::max(32768, gpus);
  throw_if_any(std::move(flags.problems));
  return w;
}

void optimise(const TechOptions& o, Answer& a, Lookup lookup) {
  const Workload w = workload_of(o, a, lookup);
  const Objective objective = [&](const Blueprint& d) { return worth(w, a.technology, d); };
  a.unoptimised = worth(w, a.technology, a.blueprint);
  AllocationSpace space;
  space.l2 = o.l2.empty();
  space.stacks = !o.stacks;
  space.links = !o.links;
  space.clock = w.goal != Goal::time;
  a.allocation = allocate(a.technology, a.budget, objective, space);
  if (!std::isfinite(a.allocation->value)) {
    throw InputError(
        "no split of this area runs the workload: a strategy that is not legal, or "
        "memory that does not hold it",
        "see 'sextant train' or 'sextant infer' with a device saved by -o");
  }
  a.budget = a.allocation->budget;
  a.blueprint = a.allocation->blueprint;
  constexpr std::array<Dimension, 3> units = {Dimension{.time = 1}, Dimension{.energy = 1},
                                              Dimension{.money = 1}};
  a.objective_unit = units[static_cast<std::size_t>(w.goal)];
  a.objective = w.goal != Goal::time ? std::string(name_of(w.goal)) + " of a token"
                : w.trains           ? "time of a step"
                                     : "latency of a request";
}

// ---- text

Breakdown area_tree(const Blueprint& d) {
  constexpr Dimension unit{.length = 2};
  Breakdown root{.label = "silicon", .value = 0, .unit = unit};
  for (std::size_t i = 0; i < d.area.size; ++i) {
    const auto use = static_cast<AreaUse>(i);
    if (d.area[use].value <= 0) continue;
    root.value += d.area[use].value;
    root.parts.push_back({.label = std::string(name_of(use)),
                          .value = d.area[use].value,
                          .unit = unit,
                          .note = std::string(meaning_of(use))});
  }
  fill_shares(root);
  return root;
}

Breakdown power_tree(const Blueprint& d) {
  constexpr Dimension unit{.time = -1, .energy = 1};
  Breakdown root{.label = "power", .value = 0, .unit = unit};
  for (std::size_t i = 0; i < d.power.size; ++i) {
    const auto use = static_cast<PowerUse>(i);
    if (d.power[use].value <= 0) continue;
    root.value += d.power[use].value;
    root.parts.push_back({.label = std::string(name_of(use)),
                          .value = d.power[use].value,
                          .unit = unit,
                          .note = std::string(meaning_of(use))});
  }
  fill_shares(root);
  return root;
}

TextTable facts(const Answer& a) {
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
  const std::string why = v.clock >= d.design_clock ? "the node's own"
                          : a.budget.clock.value > 0
                              ? "chosen; the node allows " + format(d.design_clock)
                              : "power allows no more; the node " + format(d.design_clock);
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
  row("links", format(d.link_bandwidth),
      fmt::format("{} x {}, one direction", d.links, a.technology.link.title));
  row("edge", millimetres(d.edge_used), "of " + millimetres(d.edge_usable) + " that can be used");
  row("power", format(v.power.limit),
      fmt::format("{} idle, {} a 16-bit FLOP, {} of memory", format(v.power.idle),
                  format(v.power.matrix_fp16), format(v.power.memory)));
  row("cost", format(d.die_cost + d.memory_cost + d.package_cost),
      fmt::format("silicon {} at a yield of {}, memory {}, package {}", format(d.die_cost),
                  format_percent(d.yield, 0), format(d.memory_cost), format(d.package_cost)));
  return t;
}

std::string allocation_text(const Answer& a) {
  if (!a.allocation) return "";
  const Allocation& x = *a.allocation;
  const std::string agree =
      x.agreeing == x.starts
          ? fmt::format("all {} starts agree within 0.5 %", x.starts)
          : fmt::format("{} of {} starts agree; the worst ends {} above the best", x.agreeing,
                        x.starts, format_percent(x.spread));
  const std::string before = std::isfinite(a.unoptimised)
                                 ? fmt::format(", {} better than the usual split ({})",
                                               format_percent(1 - x.value / a.unoptimised),
                                               format_quantity(a.unoptimised, a.objective_unit))
                                 : ", where the usual split cannot run it";
  return fmt::format("split for the least {}: {}{}\n{}, {} evaluations\n\n", a.objective,
                     format_quantity(x.value, a.objective_unit), before, agree, x.evaluations);
}

std::string text_of(const Answer& a) {
  const Blueprint& d = a.blueprint;
  std::string text =
      fmt::format("{}: {} {} of {}, {} cores, {}\n\n", d.device.name,
                  a.budget.dies == 1 ? "a die" : fmt::format("{} dies", a.budget.dies),
                  a.technology.node.process, format(a.budget.area), a.technology.core.name,
                  a.technology.memory.kind);
  text += allocation_text(a);
  text += render_text(facts(a), {.header = false, .rule = false});
  text += "\nwhere the area goes\n" + render_text(area_tree(d));
  text += "\nwhere the power goes in a large multiply that goes on\n" + render_text(power_tree(d));
  return text + assumptions_text(a.assumptions);
}

// ---- programs

template <class T, class E>
void set_table(Node& root, const char* name, const Table<T, E>& table) {
  Node& n = root.set(name, Node::table());
  for (std::size_t i = 0; i < table.size; ++i) {
    n.set(std::string(names_of(E{})[i]), Node::of(table.values[i].value));
  }
}

std::string json_of(const Answer& a) {
  const Blueprint& d = a.blueprint;
  Node root = Node::table();
  root.set("device", write(d.device, Quantities::si));
  set_table(root, "area_m2", d.area);
  set_table(root, "power_watts", d.power);
  const auto number = [&](const char* name, double v) { root.set(name, Node::of(v)); };
  number("cores_on_die", d.cores_on_die);
  number("stacks", d.stacks);
  number("links", d.links);
  number("link_bytes_per_second", d.link_bandwidth.value);
  number("sustained_flops_per_second", d.sustained.value);
  number("sustained_clock_hertz", d.sustained_clock.value);
  number("design_clock_hertz", d.design_clock.value);
  number("natural_power_watts", d.natural_power.value);
  number("edge_used_m", d.edge_used.value);
  number("edge_usable_m", d.edge_usable.value);
  number("yield", d.yield);
  number("die_cost_dollars", d.die_cost.value);
  number("memory_cost_dollars", d.memory_cost.value);
  number("package_cost_dollars", d.package_cost.value);
  if (a.allocation) {
    Node& x = root.set("allocation", Node::table());
    x.set("objective", Node::of(a.objective));
    x.set("value", Node::of(a.allocation->value));
    if (std::isfinite(a.unoptimised)) x.set("usual_value", Node::of(a.unoptimised));
    x.set("starts", Node::of(static_cast<double>(a.allocation->starts)));
    x.set("agreeing", Node::of(static_cast<double>(a.allocation->agreeing)));
    x.set("spread", Node::of(a.allocation->spread));
    x.set("evaluations", Node::of(static_cast<double>(a.allocation->evaluations)));
  }
  set_assumptions(root, a.assumptions);
  return to_json(root) + "\n";
}

std::string csv_of(const Answer& a) {
  const Blueprint& d = a.blueprint;
  TextTable t;
  t.columns = {{"what"}, {"part"}, {"value"}};
  const auto row = [&](std::string_view what, std::string_view part, double v) {
    t.rows.push_back({std::string(what), std::string(part), write_number(v)});
  };
  row("device", "cores", d.device.cores);
  row("device", "clock_hertz", d.device.clock.value);
  row("device", "bf16_flops_per_second", d.device.matrix[Precision::bf16].value);
  row("device", "l2_bytes", d.device.l2.capacity.value);
  row("device", "memory_bytes", d.device.memory.capacity.value);
  row("device", "memory_bytes_per_second", d.device.memory.bandwidth.value);
  row("device", "link_bytes_per_second", d.link_bandwidth.value);
  row("device", "power_watts", d.device.power.limit.value);
  for (std::size_t i = 0; i < d.area.size; ++i) {
    row("area_m2", names_of(AreaUse{})[i], d.area.values[i].value);
  }
  for (std::size_t i = 0; i < d.power.size; ++i) {
    row("power_watts", names_of(PowerUse{})[i], d.power.values[i].value);
  }
  return render_csv(t);
}

plot::Figure figure_of(const Answer& a) {
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
  stack(area_tree(d), 0);
  stack(power_tree(d), 1);
  return f;
}

}  // namespace

std::string run_tech(const TechOptions& options, const Common& common) {
  check_figure_path(options.plot);
  Answer a = read(options, common);
  a.blueprint = generate(a.technology, a.budget);
  if (!options.optimise.empty()) optimise(options, a, common.lookup);
  write_figure(options.plot, options.plot.empty() ? plot::Figure{} : figure_of(a));
  if (common.output.ends_with(".toml")) {
    const System system = system_of(a.blueprint, a.technology, {.network = a.network});
    const std::string head =
        "# SPDX-License-Identifier: Apache-2.0\n# Generated by sextant tech; "
        "edit it, or give it to any command.\n\n";
    return head + to_toml(options.system ? write(system) : write(a.blueprint.device));
  }
  switch (common.format) {
    case Format::json:
      return json_of(a);
    case Format::csv:
      return csv_of(a);
    case Format::html:
      return plot::to_html(plot::to_svg(figure_of(a)), "Sextant: " + a.blueprint.device.name);
    case Format::text:
      break;
  }
  return text_of(a);
}

}  // namespace sextant::cli
