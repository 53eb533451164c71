// SPDX-License-Identifier: Apache-2.0
// Memory of one rank in a training step, by what it holds.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sextant/predict/layout.hpp"

namespace sextant {

enum class Space : std::uint8_t {
  weights,
  gradients,
  optimizer,
  activations,  ///< kept for the backward pass, all microbatches in flight
  working,      ///< of the one layer (or the loss) that is being computed, and GEMM workspaces
  buffers,      ///< communication
  context,      ///< driver, libraries, fragmentation
  count
};
constexpr auto names_of(Space) {
  return std::array<std::string_view, 7>{"weights", "gradients", "optimizer", "activations",
                                         "working", "buffers",   "context"};
}

/// Memory of one pipeline stage at its fullest moment. It fits where total() is at most the
/// memory that the driver reports for the device (Problem::capacity).
struct StageMemory {
  Table<Bytes, Space> parts;
  Bytes after_forward;          ///< activations kept after the forward pass of one microbatch
  Bytes peak_forward_backward;  ///< what an allocator's peak counter shows over forward+backward
  Bytes optimizer_step;         ///< what it shows over the optimizer step: no activations
  Bytes offloaded;              ///< in the host's memory
  Bytes total() const;
};

/// What a rank holds for one microbatch, by what it depends on: the widths of its slices and the
/// kind of recomputation, not how many layers its stage has.
struct Kept {
  std::array<Bytes, graph::most_types> layers;  ///< by type, where they are not recomputed in full
  Bytes again;                                  ///< of one that is recomputed in full: its input
  Bytes embedding;                              ///< on the first stage
  Bytes head;                                   ///< on the last stage
  Bytes loss;                                   ///< there, while the loss is computed
  std::array<Bytes, graph::most_types> live;    ///< by type, inside one's backward pass
  Bytes unpacked;                               ///< beside it, made from narrow weights
  Bytes hidden;                                 ///< between two layers
  Bytes buffers;                                ///< of communication inside a layer
  Bytes passed;                                 ///< between stages: one comes, one goes
};
Kept kept_of(const Problem& problem, const Strategy& strategy, const Widths& widths) noexcept;

/// Weights and what belongs to them, of the stages of one kind.
struct States {
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;
  Bytes offloaded;    ///< optimizer states in host memory
  Bytes buffers;      ///< gathered weights, gradients not yet scattered
  Bytes update_copy;  ///< weights on their way between replicas in the optimizer step
  Bytes autograd;     ///< gradients as the backward pass makes them, where they are then added up
  double unmade = 0;  ///< share of gradients missing when the first layer's backward pass starts
};
States states_of(const Problem& problem, const Strategy& strategy, const Groups& groups,
                 const StageKind& stage) noexcept;

/// Memory of stages of one kind: of the first of them, which has the most microbatches in flight.
StageMemory stage_memory(const Problem& problem, const Strategy& strategy, const Kept& kept,
                         const States& states, const StageKind& stage) noexcept;

/// The same from the start. No allocation.
StageMemory stage_memory(const Problem& problem, const Strategy& strategy, int stage) noexcept;

/// Microbatches whose activations a stage holds at once, in units of one pass through the whole
/// stage (1F1B: pp − stage).
double in_flight(const Problem& problem, const Strategy& strategy, int stage) noexcept;

/// Activations of a stage's layers, all microbatches in flight, without embedding and head: what
/// Korthikanti et al. (arXiv 2205.05198) show in Figure 7.
Bytes stage_activations(const Problem& problem, const Strategy& strategy, int stage) noexcept;

/// Weights, gradients and optimizer states of a stage's layers, without embedding and head: the
/// other part of their Figure 1.
Bytes layer_states(const Problem& problem, const Strategy& strategy, int stage) noexcept;

}  // namespace sextant
