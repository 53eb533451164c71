// SPDX-License-Identifier: Apache-2.0
// A step put together from its block and its mapping, in two parts: the way of microbatches through
// the stages, which strategies that differ in replicas' states alone have in common, and the rest.
// Internal to predict, and to searches.
#pragma once

#include <algorithm>
#include <optional>

#include "sextant/predict/block.hpp"
#include "sextant/predict/mapping.hpp"
#include "sextant/predict/train.hpp"

namespace sextant {

/// One microbatch on one stage.
struct Stage {
  training::Part part;
  Seconds forward;   ///< with the host's pace
  Seconds backward;  ///< recomputation included
  Seconds host;      ///< of both, what the device waits for its host
  Seconds time() const { return forward + backward; }
};

/// Microbatches after which gradients leave for replicas: all of them, and shared ones those of a
/// run of a chunk, of pp microbatches where several chunks take turns.
inline double run_of(const Problem& p, const Strategy& s) {
  const double all = microbatches_of(p, s);
  if (s.zero < 2 || !shares_states(s)) return all;
  return s.interleave > 1 ? std::min<double>(all, s.pp) : 1;
}

/// Share of the microbatches whose gradients kernels of their own add up: all where they are kept
/// in another type than they are made, else all but a run's first, which leaves what it makes.
/// Multiplies that add them in passing have none (Part::accumulate).
inline double accumulated(const Problem& p, const Strategy& s) {
  const bool wide = gradient_bytes(p.runtime, s.precision) > activation_bytes(s.precision);
  return wide ? 1 : 1 - 1 / run_of(p, s);
}

/// Share of a device that the exchange between experts takes from kernels beside it.
inline double exchange_cores(const Problem& p) {
  const ExpertExchangeKernels& k = p.collectives.experts;
  const bool theirs = p.runtime.communication.expert_kernels && k.offered && k.cores > 0;
  return theirs ? std::min(1.0, k.cores / p.chip.cores) : p.runtime.communication.cores;
}

/// Of an exchange beside the compute of another batch, what shows: what sticks out of that, or what
/// the cores that it takes are missed for.
inline Seconds shown_beside(Seconds busy, Seconds compute, Seconds of_cores) {
  return max(of_cores, busy - compute);
}

/// One microbatch on all stages. Beside the axes of a block it depends on the stages, on how many
/// microbatches there are, on recompute_layers, on accumulated(), and of schedules on whether it is
/// DualPipe or ZB-V.
struct Passage {
  Stage slowest;
  int slowest_stage = 0;
  Seconds others;   ///< of all stages but that one
  Seconds weights;  ///< of that, gradients of weights
  Seconds first_forward;
  Seconds first_backward;
};
Passage passage_of(const Problem& problem, const Strategy& strategy, const Block& block,
                   const Stages& stages) noexcept;

/// Passages of strategies whose stages, microbatches and recompute_layers are alike, each made when
/// it is asked for.
class Passages {
 public:
  const Passage& of(const Problem& p, const Strategy& s, const Block& block, const Stages& stages) {
    const unsigned way = s.schedule == Schedule::dual_pipe       ? 4
                         : s.schedule == Schedule::zero_bubble_v ? 2
                                                                 : 0;
    std::optional<Passage>& one = all_[way + (run_of(p, s) < microbatches_of(p, s) ? 1U : 0U)];
    if (!one) one = passage_of(p, s, block, stages);
    return *one;
  }

 private:
  std::array<std::optional<Passage>, 6> all_;
};

/// What two stages send each other for one microbatch: each rank its part, and where
/// tensor-parallel ranks need the whole of it, they gather it there.
struct Hop {
  Bytes sent;
  Bytes gathered;  ///< 0: not
};
Hop hop_of(const Problem& problem, const Strategy& strategy, const Widths& widths) noexcept;
Sending transfer_of(const Problem& problem, const Strategy& strategy, const Block& block,
                    const Mapping& mapping) noexcept;

/// One stage alone, for timelines.
Stage stage_alone(const Problem& problem, const Strategy& strategy, const Block& block,
                  const Mapping& mapping, const StageKind& kind) noexcept;

/// evaluate() where the passage is at hand too.
Estimate evaluate(const Problem& problem, const Strategy& strategy, const Block& block,
                  const Mapping& mapping, const Passage& passage, Sending transfer) noexcept;

/// Estimate::step and of `energy` what computes and idles: all that a search needs to know that
/// a strategy is not worth its evaluation.
struct Glance {
  Seconds step;
  Joules energy;  ///< at least
};
Glance glance(const Problem& problem, const Strategy& strategy, const Block& block,
              const Mapping& mapping, const Passage& passage, Sending transfer) noexcept;

}  // namespace sextant
