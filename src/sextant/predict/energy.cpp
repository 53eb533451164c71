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

/// `times` such passes on one device, and how often that long it takes: stages share the operators
/// of a pass, and draw while they wait.
Energy of_passes(const Problem& p, const Strategy& s, PassShape shape, double times, double lasts) {
  const ExplainedPass x = explain_pass(p, s, shape);
  Energy e = times / s.pp * of_operators(p, x.operators, s.precision);
  e.idle = lasts * (p.chip.idle * x.cost.time);
  e.host = lasts * (p.host_power * x.cost.time);
  return e;
}

}  // namespace

Energy pass_energy(const Problem& p, const Strategy& s, PassShape shape) {
  return of_passes(p, s, shape, 1, 1);
}

Energy request_energy(const Problem& p, const Strategy& s) {
  const Serving& w = p.serving;
  // Shares of the batch that stages work on at a time, as serve() has them.
  const double waves = std::min(s.pp, w.batch);
  const double each = std::ceil(w.batch / waves);
  PassShape prompt = prompt_pass(p);
  prompt.batch = each;
  prompt.images = each * w.images;
  const Energy first = of_passes(p, s, prompt, waves, (s.pp + waves - 1) / s.pp);
  if (w.output < 2) return first;
  const double context = prompt_tokens(p) + 0.5 * (w.output + 1.0);
  const auto step_of = [&](const Problem& q, const Strategy& cut, double queries) {
    const PassShape step{.batch = each, .queries = queries, .context = context};
    return of_passes(q, cut, step, waves, 1);
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

}  // namespace sextant
