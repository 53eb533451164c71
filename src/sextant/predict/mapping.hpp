// SPDX-License-Identifier: Apache-2.0
// How stages and replicas lie on the devices: the layers and states of each kind of stage, what
// replicas send each other, the optimizer. The same for all strategies that differ only inside a
// layer, in the schedule or in the number of microbatches.
#pragma once

#include "sextant/predict/memory.hpp"

namespace sextant {

struct Mapping {
  Groups groups;
  Stages stages;
  std::array<States, Stages::most> states;  ///< of each kind of stage
  double devices = 1;
  /// Gradients and parameters between replicas, of the first stage: a step, or with `by_layer`
  /// (ZeRO 3, and 2 without a pipeline) each microbatch.
  Seconds reduce;
  Seconds gather;
  Bytes reduced;   ///< what a rank hands to one `reduce`
  Bytes gathered;  ///< and what a `gather` brings it
  bool by_layer = false;
  Seconds across;     ///< between the groups that share states (HSDP), a step
  Bytes crossed;      ///< what a rank hands to it
  Seconds copies;     ///< between DualPipe's two copies of the stages, a step
  Seconds optimizer;  ///< Adam over this rank's share, the gradient norm and clipping
  Seconds updating;   ///< of it the device's own work, without waits for the host and its memory
  double spread = 0;  ///< share of a step that the slowest device takes longer
};

/// Bytes of each parameter that is sent: of layers, and of embedding, head and tower.
struct BytesEach {
  double layers = 0;
  double ends = 0;
  Bytes dense(const RankParameters& n) const {
    return Bytes(n.dense * layers + (n.embedding + n.head + n.vision) * ends);
  }
  Bytes experts(const RankParameters& n) const { return Bytes(n.experts * layers); }
};

/// What replicas send each other of every parameter: gradients reduced, and where states are
/// shared, parameters gathered.
struct StateExchange {
  bool by_layer = false;  ///< as Mapping's
  Collective reduce = Collective::all_reduce;
  BytesEach reduced;   ///< of those that are trained
  BytesEach gathered;  ///< by layer of frozen ones too; 0: none
  Group dense;
  Group experts;
  Group across;  ///< groups that share states (HSDP); one rank: none
  Group expert_across;
  /// What a rank holds of the sums, to be summed across.
  Bytes dense_share(const RankParameters& n) const { return reduced.dense(n) / dense.ranks; }
  Bytes expert_share(const RankParameters& n) const { return reduced.experts(n) / experts.ranks; }
};
StateExchange state_exchange(const Problem& problem, const Strategy& strategy,
                             const Groups& groups) noexcept;

/// One of its collectives.
Seconds collect(const Problem& problem, Collective op, Group group, Bytes bytes) noexcept;

/// What the optimizer reads and writes: while the device works it streams at the rate that memory
/// gives.
inline Bytes optimizer_bytes(const Problem& p, const Mapping& m) {
  return p.chip.mechanism.memory_efficiency * p.chip.bandwidth * m.updating;
}

/// Depends on the axes of Scope::mapping alone: strategies that are alike() in them share one. No
/// allocation.
Mapping mapping_of(const Problem& problem, const Strategy& strategy) noexcept;

}  // namespace sextant
