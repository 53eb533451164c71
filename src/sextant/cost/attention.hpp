// SPDX-License-Identifier: Apache-2.0
// Attention kernels: over a prompt (forward and backward), of single tokens over a cache, and both
// for latent attention.
#pragma once

#include "sextant/cost/chip.hpp"
#include "sextant/cost/kernel.hpp"
#include "sextant/spec/kernels.hpp"

namespace sextant {

struct AttentionShape {
  double batch = 1;
  double heads = 1;
  double kv_heads = 1;
  double head_dim = 128;  ///< of queries and keys
  double value_dim = 128;
  double queries = 1;  ///< tokens a sequence asks with
  double context = 1;  ///< tokens it looks at, the queries included
  bool causal = true;
  double window = 0;                 ///< sliding window, 0: none
  Precision type = Precision::bf16;  ///< of queries and results
  Precision cache_type = Precision::bf16;
  double cache_hit = 0;  ///< share of the cache that is in L2 when a decode starts
  double dropout = 0;    ///< vector operations a score, where some are dropped
};

/// Many queries at a time. `backward` counts five products instead of two.
KernelCost attention_prefill(const Chip& chip, const PrefillKernel& kernel,
                             const AttentionShape& shape, bool backward, Hertz clock);

/// A prompt (or a piece of one) and `decoding` requests with `context` tokens each in one kernel,
/// as FlashAttention does sequences of all lengths.
KernelCost attention_mixed(const Chip& chip, const PrefillKernel& kernel,
                           const AttentionShape& shape, double decoding, double context,
                           Hertz clock);

/// One query (or a few) a sequence, against its cache.
/// Whether queries that share a cache head are taken together: `decode`, not `decode_single`.
bool takes_group(const Chip& chip, const Kernels& kernels, const AttentionShape& shape);
KernelCost attention_decode(const Chip& chip, const Kernels& kernels, const AttentionShape& shape,
                            Hertz clock);

/// Latent attention (DeepSeek-V2, arXiv 2405.04434): keys and values are one vector of
/// `latent + rope` numbers a token, shared by all heads.
struct LatentShape {
  double batch = 1;
  double heads = 1;
  double queries = 1;
  double context = 1;
  double latent = 512;
  double rope = 64;
  double nope = 128;
  double value = 128;
  Precision cache_type = Precision::bf16;
  double cache_hit = 0;
};

KernelCost latent_prefill(const Chip& chip, const Kernels& kernels, const LatentShape& shape,
                          Hertz clock);
KernelCost latent_decode(const Chip& chip, const Kernels& kernels, const LatentShape& shape,
                         Hertz clock);

}  // namespace sextant
