// SPDX-License-Identifier: Apache-2.0
// What one rank of a strategy holds: how ranks are grouped, how wide its slices are, and which
// layers its stage has.
#pragma once

#include <array>

#include "sextant/predict/rules.hpp"

namespace sextant {

/// What layers hold, as fractions of one.
struct LayerMix {
  double full = 0;      ///< attention that sees everything
  double windowed = 0;  ///< attention with a sliding window
  double recurrent = 0;
  double dense = 0;  ///< MLP
  double experts = 0;
};
/// The model's average layer: every stage has the kinds in proportion.
LayerMix average_layer(const Problem& problem) noexcept;

/// The slices of one rank: what its kernels and the collectives inside a layer work on. They follow
/// from tp, cp, ep, etp, sp and the microbatch alone.
struct Widths {
  double tokens = 0;       ///< of one microbatch, after context parallelism
  double norm_tokens = 0;  ///< where sequence parallelism shares them out: tokens / tp
  double seq = 0;          ///< tokens of a sequence on this rank
  double hidden = 0;
  double q = 0;  ///< query width: heads x head_dim / tp
  double k = 0;  ///< key width
  double v = 0;  ///< value width (of all query heads with latent attention)
  double heads = 0;
  double kv_heads = 0;
  double ffn = 0;    ///< dense MLP / tp
  double gate = 1;   ///< halves of the first MLP multiply: 2 when gated
  double vocab = 0;  ///< padded, / tp
  double local_experts = 0;
  double expert_ffn = 0;     ///< / etp
  double expert_tokens = 0;  ///< rows of all local experts together, balanced routing
  double shared_ffn = 0;     ///< shared experts / tp
  Group tensor;
  Group context;
  Group expert;
};
Widths widths_of(const Problem& problem, const Strategy& strategy) noexcept;

/// The groups of a rank across replicas and stages.
struct Groups {
  Group data;         ///< replicas of a dense parameter (cp ranks hold replicas too)
  Group shard;        ///< of these, the ranks that share states
  Group expert_data;  ///< replicas of an expert's parameter
  Group pipeline;     ///< two neighbouring stages
};
Groups groups_of(const Problem& problem, const Strategy& strategy) noexcept;

/// Microbatches that a replica works through in a step.
inline double microbatches_of(const Problem& p, const Strategy& s) noexcept {
  return p.work.batch / (static_cast<double>(s.dp) * s.microbatch);
}

/// Stages that hold the same: whatever is computed for one holds for all of them.
struct StageKind {
  double layers = 0;
  int index = 0;  ///< of the first of them
  int count = 1;
  bool first = false;  ///< with the embedding
  bool last = false;   ///< with the head
};
/// The first stage, the last one, and the two kinds between: layers that do not divide evenly make
/// some stages hold one more.
struct Stages {
  static constexpr int most = 6;
  std::array<StageKind, most> kinds;
  int count = 0;
};
Stages stages_of(const Problem& problem, const Strategy& strategy) noexcept;

/// Layers that a stage holds, all its chunks together.
double stage_layers(const Problem& problem, const Strategy& strategy, int stage) noexcept;

/// Weights of one rank, in parameters.
struct RankParameters {
  double dense = 0;      ///< layers, without routed experts
  double experts = 0;    ///< routed experts
  double embedding = 0;  ///< input embedding, first stage (and last when tied)
  double head = 0;       ///< output head, last stage, when not tied
  double total() const { return dense + experts + embedding + head; }
};
RankParameters rank_parameters(const Problem& problem, const Strategy& strategy,
                               int stage) noexcept;

}  // namespace sextant
