// SPDX-License-Identifier: Apache-2.0
// Attention that is not one kernel: two products, and what happens to the scores between them.
#pragma once

#include <span>

#include "sextant/cost/mixer.hpp"
#include "sextant/spec/kernels.hpp"
#include "sextant/spec/runtime.hpp"

namespace sextant {

/// Whether attention is written so: of text to itself, where the stack has no kernel for it, or
/// none that takes learned sinks. That of images, and latent attention, is of the time when all of
/// it is fused.
inline bool in_pieces(const Fusion& fusion, const Kernels& kernels, const graph::Mixer& x) {
  const bool fused = fusion.attention && (!x.sinks || kernels.sinks);
  return !fused && !x.latent && x.sequence == 0 && x.image == 0;
}

/// Bytes of a score of 16 bits; of wider ones as many times more.
struct ScorePiece {
  const char* name;
  StreamOp op;
  double ahead;
  double back;
  double launches;
};

/// One kernel for scale, mask and softmax, where the stack has one for so many heads. The causal
/// one keeps a row in registers: it reads a triangle and writes a square, its gradient reads two
/// triangles (Megatron-LM before FlashAttention). Otherwise one after the other: in 16 bits through
/// casts, in 32 with nothing to cast.
std::span<const ScorePiece> score_pieces(const Fusion& f, double heads, double element);

/// Bytes, of numbers of 16 bits, to bring an element of queries, keys, values or results into the
/// order the products want.
inline constexpr double reorder_bytes = 4;
/// Whether the products take packed heads as they are, and only the result is put in order.
inline bool takes_packed(const Fusion& f) { return f.softmax_heads > 0; }

/// Kernels of one attention: two products, scale, mask and softmax, and copies of four tensors.
inline constexpr double most_pieces = 9;
struct Clocks {
  Hertz matrix;
  Hertz others;
};
/// A pass of serving over one attention, as one cost. Every score is computed, those that the mask
/// hides too.
KernelCost pieces(const Chip& chip, const Kernels& kernels, const Fusion& fusion,
                  const graph::Mixer& mixer, const MixerShape& shape, Clocks clocks);

}  // namespace sextant
