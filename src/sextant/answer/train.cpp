// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/train.hpp"

#include <fmt/format.h>

#include <array>

#include "sextant/answer/operators.hpp"
#include "sextant/answer/parts.hpp"
#include "sextant/io/errors.hpp"
#include "sextant/io/write.hpp"
#include "sextant/predict/layout.hpp"
#include "sextant/predict/rules.hpp"
#include "sextant/predict/tuning.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
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
              .note = std::string(meaning_of(t))};
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

std::string meaning_of(Space s) {
  constexpr std::array<const char*, static_cast<std::size_t>(Space::count)> meanings = {
      "parameters, as the multiplies read them",
      "of the parameters",
      "master weights and moments",
      "kept for the backward pass, all microbatches in flight",
      "of the one layer, or the loss, being computed",
      "communication",
      "driver, libraries, fragmentation"};
  return meanings[static_cast<std::size_t>(s)];
}

Record rates_of(const Estimate& e) {
  const Rates rates(e);
  Record r;
  r("step_seconds", e.step);
  r("tokens_per_second", rates.tokens);
  r("tokens_per_second_per_gpu", rates.tokens_each);
  r("model_tflops_per_gpu", rates.model_each.value / 1e12);
  r("mfu", e.mfu());
  r("hfu", e.hfu());
  r("forward_backward_seconds", e.forward_backward());
  r("optimizer_seconds", e.time[Time::optimizer].exposed);
  return r;
}

Record memory_of(const Estimate& e, const Problem& p) {
  const StageMemory& m = e.memory;
  const auto of_host = [&](Bytes bytes) { return only_if(e.offloaded.value > 0, bytes); };
  Record r;
  r("weights_bytes", m.parts[Space::weights]);
  r("gradients_bytes", m.parts[Space::gradients]);
  r("optimizer_bytes", m.parts[Space::optimizer]);
  r("activation_bytes", m.parts[Space::activations]);
  r("other_bytes", other_memory(m));
  r("total_bytes", m.total());
  r("capacity_bytes", p.capacity);
  r("fits", e.verdict == Verdict::fits);
  r("stage", e.fullest_stage);
  r("activation_bytes_after_forward", m.after_forward);
  r("peak_bytes_forward_backward", m.peak_forward_backward);
  r("host_bytes", of_host(e.offloaded));
  r("host_capacity_bytes", of_host(p.host_memory));
  return r;
}

Likeness likeness_of(const TrainResult& x) {
  const Scenario& s = x.scenario;
  return likeness_of(Asked::train, known_as(s.system), s.problem, s.strategy);
}

/// The parameters that are trained, of one copy of the model.
double trained_of(const Problem& p) {
  if (trains_all(p.work.tuning)) return p.parameters.total();
  return trained_parameters(p, {}, stage_of(p, {}, 0)).total();
}

/// "trained: 41.94 M of 8.03 B parameters: qlora of rank 16 on qkv, output"; nothing where it is
/// all of them.
void say_trained(Answer& a, const Problem& p) {
  const Tuning& t = p.work.tuning;
  if (trains_all(t)) return;
  a.say(fmt::format("trained: {} of {} parameters: {}", format_count(trained_of(p)),
                    format_count(p.parameters.total()),
                    t.rank > 0 ? fmt::format("{} of rank {} on {}", name_of(t.adapter), t.rank,
                                             fmt::join(parts_on(adapted(t)), ", "))
                               : fmt::format("all but {}", fmt::join(parts_on(t.frozen), ", "))));
}

/// What a causal mask leaves out is counted all the same, as Megatron counts, so that a long
/// sequence's MFU may come near all of the peak, or above it.
double masked_share(const Estimate& e) {
  return e.model_flops.value > 0 ? e.masked_flops / e.model_flops : 0;
}

void say_masked(Answer& a, const Estimate& e) {
  constexpr double much = 0.2;
  const double masked = masked_share(e);
  if (masked < much) return;
  a.say(fmt::format("of these FLOPs {} are attention's that its mask leaves out: without, MFU {}{}",
                    format_percent(masked, 0), format_percent((1 - masked) * e.mfu()),
                    e.counts_masked() ? "" : "; HFU is without"));
}

/// The workload with what follows from it.
Node training_of(Training work) {
  work.tuning.targets = adapted(work.tuning);
  return write(work, Quantities::si);
}

/// The interval of its time.
Interval say_head(Answer& a, const TrainResult& x) {
  const Estimate& e = x.estimate;
  const Problem& p = x.scenario.problem;
  const Rates rates(e);
  a.say(fmt::format("{} on {} x {} of {}: {}{} a step", p.model.name, e.devices,
                    x.scenario.system.device.name, x.scenario.system.name,
                    e.verdict == Verdict::fits ? "" : unfitting, format(e.step, 4)));
  a.say(fmt::format("{} a device, MFU {}, HFU {}; {} tokens/s, {} a device; {} at {}",
                    format(rates.model_each), format_percent(e.mfu()), format_percent(e.hfu()),
                    for_people(rate(rates.tokens)), for_people(rate(rates.tokens_each)),
                    format(e.power), format(e.clock)));
  say_masked(a, e);
  Interval time = add(a, likeness_of(x), {e.step.value});
  add(a, EnergyAnswer{e.energy, e.devices, e.tokens, time});
  say_trained(a, p);
  a.say(fmt::format("{}; batch {}, seq {}; {}\n", describe_strategy(acting(p, x.scenario.strategy)),
                    p.work.batch, p.work.seq, p.runtime.name));
  return time;
}

void say_memory(Answer& a, const TrainResult& x) {
  const Estimate& e = x.estimate;
  std::vector<Occupied> parts;
  for (std::size_t i = 0; i < e.memory.parts.size; ++i) {
    const auto s = static_cast<Space>(i);
    parts.push_back({std::string(name_of(s)), e.memory.parts[s], meaning_of(s)});
  }
  say_memory(
      a,
      x.scenario.strategy.pp > 1 ? fmt::format(" of stage {}, the fullest", e.fullest_stage) : "",
      e.memory.total(), x.scenario.problem.capacity, parts);
  if (e.offloaded.value <= 0) return;
  a.say(fmt::format("host memory: {} of a device's share of {}",
                    format_binary_bytes(e.offloaded.value, 4),
                    format_binary_bytes(x.scenario.problem.host_memory.value, 4)));
}

/// "would_fit", and why one asks.
void add_neighbours(Answer& a, const TrainResult& x) {
  const Records fitting = records_of(x.neighbours, [](Record& r, const Neighbour& n) {
    r("change", n.change, "what would fit");
    r("step_seconds", rounded(n.estimate.step, 4), "step");
    r("total_bytes", binary(n.estimate.memory.total()), "memory");
    r.node("strategy", "Strategy", write(n.strategy, Quantities::si));
  });
  a.some("would_fit", "TrainFit", fitting);
  if (x.estimate.verdict != Verdict::out_of_memory) return;
  const Bytes over = x.estimate.memory.total() - x.scenario.problem.capacity;
  const Bytes of_host = x.estimate.offloaded - x.scenario.problem.host_memory;
  const bool here = over.value > 0;
  say_misfit(a, here ? over : of_host, here ? "" : "host", !x.neighbours.empty());
  if (!x.neighbours.empty()) a.show(fitting, {.indent = 2});
}

void add_operators(Answer& a, const TrainResult& x) {
  OperatorList list = list_operators(x.scenario.problem, x.scenario.strategy.precision, x.operators,
                                     x.estimate.step);
  list.title = fmt::format("operators of stage {}, the slowest", x.estimate.slowest_stage);
  a.some("operators", "Operator", operator_records(list));
  if (x.operators.empty()) return;
  a.say("\n" + list.title);
  a.show(operator_records(list), {.indent = 2});
  a.lines(operator_lines({list}));
}

void add_files(Answer& a, const TraceFiles& f) {
  Record r;
  r.strings("files", f.traces);
  r("ranks", f.ranks);
  r("nodes", f.nodes);
  r("network", only_if(!f.network.empty(), f.network));
  r("groups", f.groups);
  a.object("trace", "TraceFiles", r);
  const auto written = static_cast<int>(f.traces.size());
  a.say(fmt::format("\nexecution traces of {} of {} ranks, {:.0f} nodes: {}{}", written, f.ranks,
                    f.nodes, f.traces.front(),
                    written > 1 ? fmt::format(" to {}", f.traces.back()) : ""));
  if (written < f.ranks) {
    a.say("  the first rank of each stage; the others of a stage do the same (--trace-ranks all)");
  }
  a.say(fmt::format("  groups of ranks: {}", f.groups));
  if (!f.network.empty()) a.say(fmt::format("  network: {}", f.network));
}

/// The step's time by what it goes to: parts sum to the whole.
Breakdown time_breakdown(const Estimate& e) {
  Breakdown root{.label = "step", .value = e.step.value, .unit = Seconds::dimension, .share = 1};
  for (const TimeGroup& g : time_groups()) {
    Breakdown group{.label = g.label, .value = 0, .unit = Seconds::dimension};
    for (const Time t : g.times) {
      // Less than this of a step is what rounding and smooth corners left.
      constexpr double nothing = 1e-8;
      if (std::max(e.time[t].busy, e.time[t].exposed) <= nothing * e.step) continue;
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

Record prediction_of(const Estimate& e, const Problem& p, Breakdown time) {
  Record r = rates_of(e);
  r.object("memory", "Memory", memory_of(e, p));
  r.tree("breakdown", std::move(time));
  return r;
}

}  // namespace

Record prediction_of(const Estimate& e, const Problem& p) {
  return prediction_of(e, p, time_breakdown(e));
}

Answer answer_of(TrainResult x) {
  const Estimate& e = x.estimate;
  const Problem& p = x.scenario.problem;
  Answer a;
  a.take(head_of(x.scenario, e.devices));
  a("batch", p.work.batch);
  a("seq", p.work.seq);
  const Breakdown time = time_breakdown(e);
  a.take(prediction_of(e, p, time));
  a.node("strategy", "Strategy", write(x.scenario.strategy, Quantities::si));
  a.node("training", "Training", training_of(p.work));
  a("parameters", p.parameters.total());
  a("trained_parameters", trained_of(p));
  a("slowest_stage", e.slowest_stage);
  a("clock_hz", e.clock);
  a("power_watts", e.power);
  a("model_flops", e.model_flops);
  a("hardware_flops", e.hardware_flops);
  a("masked_share", masked_share(e));
  a("predict_ahead", p.ahead);
  const Interval sure = say_head(a, x);
  a.show(time);
  say_memory(a, x);
  add_neighbours(a, x);
  if (x.run) add(a, *x.run, sure);
  add_operators(a, x);
  add(a, x.sensitivity);
  a.take(std::move(x.extras));
  if (x.files) add_files(a, *x.files);
  std::vector<std::string> assumptions = x.scenario.assumptions;
  if (x.run) {
    const std::vector<std::string>& more = x.run->plan.assumptions;
    assumptions.insert(assumptions.end(), more.begin(), more.end());
  }
  assume_overdrawn(assumptions, p.chip, e.power, e.clock);
  a.assume(assumptions);
  return a;
}

}  // namespace sextant
