// SPDX-License-Identifier: Apache-2.0
// What one rank of a strategy holds: how ranks are grouped, how wide its slices are, and which
// layers its stage has.
#pragma once

#include <array>

#include "sextant/predict/rules.hpp"

namespace sextant {

/// The slices of one rank: what its kernels and the collectives inside a layer work on. They follow
/// from tp, cp, ep, etp, sp and the microbatch alone.
struct Widths {
  double tokens = 0;       ///< of one microbatch, after context parallelism
  double norm_tokens = 0;  ///< where sequence parallelism shares them out: tokens / tp
  double seq = 0;          ///< tokens of a sequence on this rank
  double hidden = 0;
  double vocab = 0;  ///< padded, / tp
  double local_experts = 0;
  double routed_tokens =
      0;  ///< of `tokens`, those that this rank routes: tensor-parallel ranks share
  double expert_tokens = 0;  ///< rows of all local experts together, balanced routing
  /// What ranks that share an expert's weights bring together: copies, where some go to other
  /// ranks.
  double joined_tokens = 0;
  double images = 0;  ///< of one microbatch, dealt to context-parallel ranks
  double shared = 1;  ///< ranks that sequence parallelism deals tokens out to
  Group tensor;
  Group context;
  Group expert;
  Group slices;  ///< of an expert's weights
  /// Tokens that an operator works on: of text or of images; what is cut by heads or columns sees
  /// all those of the tensor-parallel group.
  double rows(const graph::Operator& op) const {
    if (op.per_image > 0) return images * op.per_image / (op.cut == graph::Cut::whole ? shared : 1);
    return op.cut == graph::Cut::whole ? norm_tokens : tokens;
  }
};
Widths widths_of(const Problem& problem, const Strategy& strategy) noexcept;

/// The groups of a rank across replicas and stages.
struct Groups {
  Group data;           ///< replicas of a dense parameter (cp ranks hold replicas too)
  Group shard;          ///< of these, the ranks that share states
  Group across;         ///< of these, those that hold the same share
  Group expert_data;    ///< replicas of an expert's parameter
  Group expert_shard;   ///< of these, the ranks that share its states
  Group expert_across;  ///< of these, those that hold the same share
  Group pipeline;       ///< two neighbouring stages
  Group ends;           ///< the first stage and the last
};
Groups groups_of(const Problem& problem, const Strategy& strategy) noexcept;

/// Ranks that share an expert's states: of those that hold it, the ones in a group that shares a
/// dense parameter's, or the most below that deal them out evenly.
int expert_shards(const Strategy& strategy) noexcept;

/// Whether ZeRO has somebody to share states with.
constexpr bool shares_states(const Strategy& s) noexcept {
  return s.zero > 0 && (s.shard > 0 ? s.shard : s.dp) * s.cp > 1;
}
/// Whether a layer's weights are gathered where it runs.
constexpr bool gathers_weights(const Strategy& s) noexcept {
  return s.zero >= 3 && shares_states(s);
}

/// Microbatches that a replica works through in a step.
inline double microbatches_of(const Problem& p, const Strategy& s) noexcept {
  return p.work.batch / (static_cast<double>(s.dp) * s.microbatch);
}

/// Stages that hold the same: whatever is computed for one holds for all of them.
struct StageKind {
  double layers = 0;
  graph::TypeCount types{};  ///< of these, by type
  int index = 0;             ///< of the first of them
  int count = 1;
  bool first = false;  ///< with the embedding
  bool last = false;   ///< with the head
};
/// ZB-V's first rank has both ends of the model; DualPipe's outer two have them.
constexpr bool holds_both_ends(const Strategy& s) noexcept {
  return s.schedule == Schedule::zero_bubble_v || s.schedule == Schedule::dual_pipe;
}
/// The same as the schedule deals it: ZB-V's first stage has the model's ends, both of them.
StageKind scheduled(const Strategy& strategy, StageKind kind) noexcept;

/// The first stage, the last one, and the kinds between: layers that do not divide evenly make some
/// stages hold one more, and a pattern of layers gives some one more of a type. Where that makes
/// more kinds than there is room for, a stage counts as one with as many layers.
struct Stages {
  static constexpr int most = 8;
  std::array<StageKind, most> kinds;
  int count = 0;
};
Stages stages_of(const Problem& problem, const Strategy& strategy) noexcept;

/// The layers from `first` to before `last`.
struct LayerRange {
  int first = 0;
  int last = 0;
};
/// Those of one chunk of a stage.
LayerRange chunk_layers(const Problem& problem, const Strategy& strategy, int stage,
                        int chunk) noexcept;

/// Layers that a stage holds, all its chunks together, as the model orders them.
StageKind stage_of(const Problem& problem, const Strategy& strategy, int stage) noexcept;

/// Weights of one rank, in parameters.
struct RankParameters {
  double dense = 0;      ///< layers, without routed experts
  double experts = 0;    ///< routed experts
  double embedding = 0;  ///< input embedding, first stage (and last when tied)
  double head = 0;       ///< output head, last stage, when not tied
  double vision = 0;     ///< tower for images, first stage
  double published = 0;  ///< of `dense`, what a checkpoint of narrow weights leaves
  double total() const { return dense + experts + embedding + head + vision; }
};
RankParameters rank_parameters(const Problem& problem, const Strategy& strategy,
                               const StageKind& stage) noexcept;
/// Whether a checkpoint of narrow weights leaves those of a multiply another type.
inline bool leaves(const Problem& p, const Strategy& s, const graph::Operator& op) {
  return op.published && !op.wide && leaves_some(p.model, s.precision);
}
/// The type of a multiply's weights.
inline Precision weights_of(const Problem& p, const Strategy& s, const graph::Operator& op) {
  if (!narrow(s.precision)) return s.precision;
  if (op.wide) return Precision::bf16;
  return leaves(p, s, op) ? p.model.rest : s.precision;
}
/// Of these, or of adapters beside them, those that are trained.
RankParameters trained_parameters(const Problem& problem, const Strategy& strategy,
                                  const StageKind& stage) noexcept;
/// Those that a step's passes go through: a tower without images is held, and no more.
RankParameters passed_parameters(const Problem& problem, const Strategy& strategy,
                                 const StageKind& stage) noexcept;
inline RankParameters rank_parameters(const Problem& problem, const Strategy& strategy,
                                      int stage) noexcept {
  return rank_parameters(problem, strategy, stage_of(problem, strategy, stage));
}

}  // namespace sextant
