// SPDX-License-Identifier: Apache-2.0
// How stages and replicas lie on the devices: the layers and states of each kind of stage, what
// replicas send each other, the optimizer. The same for all strategies that differ only inside a
// layer, in the schedule or in the number of microbatches.
#pragma once

#include "sextant/predict/joules.hpp"
#include "sextant/predict/memory.hpp"

namespace sextant {

/// What a device does for its optimizer, without waits for the host and its memory.
struct Update {
  Seconds time;
  Joules compute;
  Joules memory;
  Bytes moved;
};

struct Mapping {
  Groups groups;
  Stages stages;
  std::array<States, Stages::most> states;  ///< of each kind of stage
  double devices = 1;
  /// Gradients and parameters between replicas, of the first stage: a step, or with `by_layer`
  /// (ZeRO 3, and 2 without a pipeline) each microbatch.
  Sending reduce;
  Sending gather;
  bool by_layer = false;
  Sending across;  ///< between the groups that share states (HSDP), a step
  Sending tied;    ///< between the ends of the pipeline, a step
  Sending copies;  ///< between DualPipe's two copies of the stages, a step
  /// Adam over a stage's share, the gradient norm and clipping; beside it Runtime's
  /// host_per_optimizer.
  Seconds optimizer;
  Update update;      ///< of it the device's own work
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
Sending collect(const Problem& problem, Collective op, Group group, Bytes bytes) noexcept;

/// Depends on the axes of Scope::mapping alone: strategies that are alike() in them share one. No
/// allocation.
Mapping mapping_of(const Problem& problem, const Strategy& strategy) noexcept;

}  // namespace sextant
