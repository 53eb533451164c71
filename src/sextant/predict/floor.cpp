// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/floor.hpp"

#include <algorithm>

#include "sextant/predict/step.hpp"

namespace sextant {
namespace {

using namespace training;

/// Sums of the same numbers in another order differ in their last digits.
constexpr double rounding = 1 - 1e-9;

/// What shows of a phase's exchange, at least: with `beside`, of exchange between experts the cores
/// that it takes.
Seconds time_of(const Phase& phase, bool beside, double cores) {
  Seconds sum = phase.time();
  if (!beside) return sum;
  const Span& expert = phase.exchange[Exchange::expert];
  return sum - expert.exposed + min(expert.exposed, cores * expert.busy);
}

void take_least(States& a, const States& b) {
  a.weights = min(a.weights, b.weights);
  a.gradients = min(a.gradients, b.gradients);
  a.optimizer = min(a.optimizer, b.optimizer);
  a.buffers = min(a.buffers, b.buffers);
  a.update_copy = min(a.update_copy, b.update_copy);
  a.autograd = min(a.autograd, b.autograd);
  a.unmade = std::max(a.unmade, b.unmade);
}

}  // namespace

PassFloor pass_floor(const Problem& p, const Strategy& strategy, bool beside,
                     GemmMemo* memo) noexcept {
  Strategy s = strategy;
  s.recompute = Recompute::full;  // the passes are the same with and without
  Parts parts;
  Silent silent{.memo = memo, .energy = false};
  compose(p, s, widths_of(p, s), p.chip.clock, silent, parts);
  PassFloor f;
  const double cores = exchange_cores(p);
  const auto add = [&](const Part& part, double times) {
    f.forward += times * time_of(part.forward, beside, cores);
    f.backward += times * time_of(part.backward, beside, cores);
    f.again += times * time_of(part.recompute, beside, cores);
    f.forward_launches += times * part.forward.launches;
    f.backward_launches += times * part.backward.launches;
    f.again_launches += times * part.recompute.launches;
  };
  const graph::TypeCount count = p.graph.all();
  for (int t = 0; t < p.graph.type_count; ++t) {
    const auto at = static_cast<std::size_t>(t);
    add(parts.layers[at], count[at]);
  }
  // Only layers are computed again.
  parts.embedding.recompute = {};
  parts.head.recompute = {};
  add(parts.embedding, 1);
  add(parts.head, 1);
  add(parts.tower, 1);
  return f;
}

ShapeFloor::ShapeFloor(const Problem& p, const Mapping& first) : least(first) {
  least.by_layer = false;
  least.reduce = least.gather = least.across = least.tied = least.copies = {};
  graph::TypeCount held{};
  for (int i = 0; i < least.stages.count; ++i) {
    const StageKind& kind = least.stages.kinds[static_cast<std::size_t>(i)];
    for (std::size_t t = 0; t < held.size(); ++t) held[t] += kind.count * kind.types[t];
  }
  const graph::TypeCount all = p.graph.all();
  for (int t = 0; t < p.graph.type_count; ++t) {
    even = even && held[static_cast<std::size_t>(t)] == all[static_cast<std::size_t>(t)];
  }
}

void ShapeFloor::add(const Mapping& other) {
  least.optimizer = min(least.optimizer, other.optimizer);
  for (int i = 0; i < least.stages.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    take_least(least.states[at], other.states[at]);
  }
}

namespace {

/// Of gradients and parameters between replicas.
Seconds exchange_floor(const Problem& p, const Strategy& s, const Mapping& m) {
  const Overlap& o = p.runtime.overlap;
  const double cores = std::min(1.0, p.runtime.communication.cores);
  const double times = m.by_layer ? microbatches_of(p, s) : 1;
  const double shown = o.gradients ? cores : 1;
  const Seconds reduce = shown * times * m.reduce.time;
  const Seconds gather = (o.parameters ? cores : 1) * times * m.gather.time;
  return reduce + gather + shown * m.across.time;
}

}  // namespace

Seconds step_floor(const Problem& p, const Strategy& s, const PassFloor* pass, const Mapping& m,
                   double again) noexcept {
  Seconds sum = m.optimizer + p.runtime.host_per_optimizer + p.runtime.host_per_step +
                exchange_floor(p, s, m) + microbatches_of(p, s) * p.runtime.host_per_microbatch;
  if (pass != nullptr) {
    const double layers = p.model.layers;
    // Σ (d⁴ + h⁴)^¼ >= ((Σ d)⁴ + (Σ h)⁴)^¼, as norms are.
    const Seconds ahead = paced(pass->forward, host_time(p, s, pass->forward_launches, layers));
    const Seconds back =
        paced(pass->backward + again * pass->again,
              host_time(p, s, pass->backward_launches + again * pass->again_launches, layers));
    sum += microbatches_of(p, s) / s.pp * (ahead + back);
  }
  return rounding * (1 + m.spread) * sum;
}

Bytes memory_floor(const Problem& p, const Strategy& strategy, const Kept& kept,
                   const Mapping& mapping) noexcept {
  Strategy s = strategy;
  s.schedule = Schedule::one_f_one_b;
  // Where the backward pass makes gradients while it frees activations, which moment is the fullest
  // depends on what is shared, and slack is a share of that moment's.
  const Footprint& f = p.runtime.footprint;
  const bool lazy = !f.gradient_buffer && microbatches_of(p, s) <= 1;
  Bytes most;
  for (int i = 0; i < mapping.stages.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const StageMemory m = stage_memory(p, s, kept, mapping.states[at], mapping.stages.kinds[at]);
    const Bytes slack = lazy ? m.parts[Space::context] - f.context : Bytes{};
    most = std::max(most, m.total() - slack);
  }
  return rounding * most;
}

}  // namespace sextant
