// SPDX-License-Identifier: Apache-2.0
// What tokens cost that look at each other: attention, an indexer, a scan, as a model's graph
// describes them, on one rank.
#pragma once

#include "sextant/cost/chip.hpp"
#include "sextant/cost/kernel.hpp"
#include "sextant/graph/graph.hpp"
#include "sextant/spec/kernels.hpp"

namespace sextant {

/// Queries at a time up to which kernels of single tokens are used.
inline constexpr double most_decoded = 8;

enum class MixerPass : std::uint8_t { serving, forward, backward };

struct MixerShape {
  double batch = 1;    ///< sequences
  double queries = 1;  ///< tokens of each
  double context = 1;  ///< tokens it looks at, the queries included
  double ranks = 1;    ///< that share the heads
  MixerPass pass = MixerPass::serving;
  Precision cache = Precision::bf16;
  Precision type = Precision::bf16;  ///< of queries and results
  double patches = 0;                ///< of a tower: all that pass it
  double images = 0;                 ///< that a sequence looks at
  bool dropout = false;              ///< some of the scores are dropped
  bool unmasked = false;             ///< all of the context lies before the queries
  double beside = 0;                 ///< sequences that decode in the same launch
  double beside_context = 0;
};

/// What attention runs in: 16 bits, unless everything is wider.
constexpr Precision attention_type(Precision step) {
  return element_bytes(step) > 2 ? step : Precision::bf16;
}

/// Zero for operators that do not mix tokens.
KernelCost mixer(const Chip& chip, const Kernels& kernels, const graph::Operator& op,
                 const MixerShape& shape, Hertz clock);

/// Whether one launch attends to prompts and to what decodes beside them (FlashAttention-2 under
/// vLLM).
bool joins_tokens(const Kernels& kernels, const graph::Operator& op, Precision cache);

/// Whether keys and values may come in steps, each to a kernel of its own: to text that looks at
/// all before it. Studies' rooflines know no kernels.
bool comes_in_steps(const Chip& chip, const graph::Operator& op, double context);

/// One of a ring of so many ranks in zigzag order: its own keys under the mask, then of every other
/// rank half of the keys for all of its queries, or all of them for half: as much, and nothing is
/// masked (Transformer Engine, context_parallel.py).
KernelCost mixer_in_a_ring(const Chip& chip, const Kernels& kernels, const graph::Operator& op,
                           MixerShape shape, int ranks, Hertz clock);

}  // namespace sextant
