// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/energy.hpp"

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

Energy pass_energy(const Problem& p, const Strategy& s, PassShape shape) {
  const ExplainedPass x = explain_pass(p, s, shape);
  Energy e = of_operators(p, x.operators, s.precision);
  e.idle = p.chip.idle * x.cost.time;
  e.host = p.host_power * x.cost.time;
  return e;
}

Energy request_energy(const Problem& p, const Strategy& s) {
  const Serving& w = p.serving;
  const double input = prompt_tokens(p);
  const double batch = w.batch;
  const Energy first = pass_energy(p, s, prompt_pass(p));
  if (w.output < 2) return first;
  const Energy step =
      pass_energy(p, s, {.batch = batch, .queries = 1, .context = input + 0.5 * (w.output + 1.0)});
  return first + (w.output - 1.0) * step;
}

}  // namespace sextant
