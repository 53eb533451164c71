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
  Bytes total() const;
};

/// No allocation.
StageMemory stage_memory(const Problem& problem, const Strategy& strategy, int stage) noexcept;

/// Activations that one layer (the model's average layer) keeps for one microbatch.
Bytes layer_activations(const Problem& problem, const Strategy& strategy) noexcept;

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
