// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/energy.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/cost/power.hpp"

namespace sextant {
namespace {

/// Fused attention computes in 16 bits whatever the multiplies of weights do.
Precision type_of(const Operator& o, Precision multiplies) {
  return o.cost.tiling.m > 0 ? multiplies : Precision::bf16;
}

bool is_collective(const Operator& o) { return o.message.value > 0; }

/// One run of each operator, times its runs; idling is not in it.
Energy of_operators(const Problem& p, const std::vector<Operator>& operators, Precision type) {
  Energy e;
  for (const Operator& o : operators) {
    if (is_collective(o)) {
      e.links += o.count * (link_energy * o.message);
      continue;
    }
    if (o.cost.time.value <= 0) continue;
    const Joules memory = memory_draw(p.chip, o.cost);
    const Watts drawn = power_demand(p.chip, o.cost, type_of(o, type)) - p.chip.idle;
    e.memory += o.count * memory;
    e.compute += o.count * (drawn * o.cost.time - memory);
  }
  return e;
}

}  // namespace

Energy operator+(const Energy& a, const Energy& b) {
  return {a.compute + b.compute, a.memory + b.memory, a.links + b.links, a.idle + b.idle,
          a.host + b.host};
}
Energy operator*(double times, const Energy& e) {
  return {times * e.compute, times * e.memory, times * e.links, times * e.idle, times * e.host};
}

namespace {

/// What a pass draws on one device beside idling: stages share its operators.
Energy work_of(const Problem& p, const Strategy& s, const ExplainedPass& x) {
  return 1.0 / s.pp * of_operators(p, x.operators, s.precision);
}
Energy work_of(const Problem& p, const Strategy& s, PassShape shape) {
  return work_of(p, s, explain_pass(p, s, shape));
}

/// What is drawn for as long as that, whatever is done.
Energy of_time(const Problem& p, Seconds time) {
  return {.idle = p.chip.idle * time, .host = p.host_power * time};
}

}  // namespace

Energy pass_energy(const Problem& p, const Strategy& s, PassShape shape) {
  const ExplainedPass x = explain_pass(p, s, shape);
  return work_of(p, s, x) + of_time(p, x.cost.time);
}

namespace {

/// Beside idling, of all passes that a batch of requests needs.
Energy request_work(const Problem& p, const Strategy& s, double active) {
  const Serving& w = p.serving;
  // As serve() has it: those in flight, in shares that stages work on at a time, and so often.
  const double waves = std::min<double>(s.pp, active);
  const double each = std::ceil(active / waves);
  const double times = waves * w.batch / active;
  PassShape prompt = prompt_pass(p);
  prompt.batch = each;
  prompt.images = each * w.images;
  const Energy first = times * work_of(p, s, prompt);
  if (w.output < 2) return first;
  const double context = prompt_tokens(p) + 0.5 * (w.output + 1.0);
  const auto step_of = [&](const Problem& q, const Strategy& cut, double queries) {
    return times * work_of(q, cut, {.batch = each, .queries = queries, .context = context});
  };
  const Energy plain = step_of(p, s, 1);
  const Speculation& x = w.speculation;
  if (x.tokens == 0) return first + (w.output - 1.0) * plain;
  // As its time: a step that checks all proposals, and the drafts that made them.
  const Energy draft =
      p.draft ? step_of(*p.draft, draft_strategy(*p.draft, s), 1) : x.draft_cost * plain;
  const Energy step = step_of(p, s, 1.0 + x.tokens) + x.tokens * draft;
  return first + (w.output - 1.0) / tokens_a_step(x) * step;
}

}  // namespace

Energy request_energy(const Problem& p, const Strategy& s, const ServingEstimate& e) {
  Energy work = request_work(p, s, e.active);
  // A prompt that joins a step shares its weights: together they draw no more than the hungrier.
  const Joules most = (max(e.prefill.power, e.decode.power) - p.chip.idle) * e.latency;
  if (work.device() > most && most.value > 0) work = (most / work.device()) * work;
  return work + of_time(p, e.latency);  // whoever waits draws as well
}

Energy request_energy(const Problem& p, const Strategy& s) {
  return request_energy(p, s, serve(p, s));
}

}  // namespace sextant
