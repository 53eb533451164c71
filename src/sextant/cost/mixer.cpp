// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/mixer.hpp"

#include <algorithm>

#include "sextant/cost/attention.hpp"
#include "sextant/cost/gemm.hpp"
#include "sextant/cost/stream.hpp"

namespace sextant {
namespace {

using graph::Mixer;

KernelCost multiplies(const Chip& chip, double batch, double m, double n, double k, Hertz clock) {
  return gemm(chip, {.m = m, .n = n, .k = k, .batch = batch}, min(clock, chip.clock));
}

KernelCost latent(const Chip& chip, const Kernels& kernels, const Mixer& x, const MixerShape& s,
                  Hertz clock) {
  LatentShape l;
  l.batch = s.batch;
  l.heads = x.heads / s.ranks;
  l.queries = s.queries;
  l.context = s.context;
  l.latent = x.rank;
  l.rope = x.rope;
  l.nope = x.nope;
  l.value = x.value_dim;
  l.cache_type = s.cache;
  const bool chosen = x.top > 0 && s.context > x.top;
  if (s.queries <= most_decoded) {
    // Every query gathers its own tokens.
    if (chosen) l.context = x.top * s.queries;
    return latent_decode(chip, kernels, l, clock);
  }
  if (chosen && s.queries > x.top) {
    // Queries look at `top` tokens each in the latent space, all heads at the same ones (FlashMLA's
    // sparse kernel): as many scores as blocks of `top` queries that look half a block back.
    l.batch = s.batch * s.queries / x.top;
    l.queries = x.top;
    l.context = 1.5 * x.top;
    l.nope = l.value = x.rank;
  }
  return latent_prefill(chip, kernels, l, clock);
}

KernelCost attention(const Chip& chip, const Kernels& kernels, const Mixer& x, const MixerShape& s,
                     Hertz clock) {
  if (x.latent && s.pass == MixerPass::serving) return latent(chip, kernels, x, s, clock);
  AttentionShape a;
  a.batch = s.batch;
  a.heads = x.heads / s.ranks;
  a.kv_heads = std::max(1.0, x.kv_heads / s.ranks);
  a.head_dim = x.head_dim;
  a.value_dim = x.value_dim;
  a.queries = s.queries;
  a.context = s.context;
  a.window = x.window;
  a.cache_type = s.cache;
  if (x.sequence > 0) {
    // A block is a sequence of its own.
    a.queries = a.context = x.window > 0 ? std::min(x.window, x.sequence) : x.sequence;
    a.batch = s.patches / a.queries;
    a.window = 0;
    a.cache_type = Precision::bf16;
  } else if (x.image > 0) {
    a.context = s.images * x.image;
  }
  a.causal = x.sequence == 0 && x.image == 0;
  if (x.top > 0 && x.top < s.context) a.window = x.top;  // as many tokens, wherever they are
  a.type = s.type;
  const DropoutKernel& drop = kernels.dropout;
  if (s.dropout) a.dropout = s.pass == MixerPass::backward ? drop.backward : drop.forward;
  switch (s.pass) {
    case MixerPass::backward:
      return attention_prefill(chip, kernels.backward, a, true, clock);
    case MixerPass::forward:
      return attention_prefill(chip, kernels.prefill, a, false, clock);
    case MixerPass::serving:
      break;
  }
  if (a.queries <= most_decoded) return attention_decode(chip, kernels, a, clock);
  const bool small = narrow(a.cache_type);
  return attention_prefill(chip, small ? kernels.prefill_8bit : kernels.prefill, a, false, clock);
}

/// DeepSeek-V3.2 (arXiv 2512.02556, section 2.1): 8-bit scores of a few small heads over the whole
/// context, their weighted sum, and the best of them. Every rank has all of it.
KernelCost indexer(const Chip& chip, const Kernels& kernels, const Mixer& x, const MixerShape& s,
                   Hertz clock) {
  const bool decode = s.queries <= most_decoded;
  const double seen = decode ? s.context : std::max(1.0, s.context - s.queries / 2);
  const Precision type =
      chip.per_clock[Precision::fp8].value > 0 ? Precision::fp8 : Precision::bf16;
  // Heads are summed in registers: one fp32 number a query and token leaves.
  const Gemm scores{.m = s.queries,
                    .n = seen,
                    .k = x.heads * x.head_dim,
                    .batch = s.batch,
                    .type = type,
                    .result_bytes = 4};
  KernelCost c = gemm(chip, scores, min(clock, chip.clock));
  const double rows = s.batch * s.queries;
  c = then(c, stream(chip, kernels.stream[StreamOp::softmax],
                     moving(StreamOp::softmax, rows, seen, 8), clock));
  if (s.pass == MixerPass::backward) c = then(c, c);
  return c;
}

/// Multiplies of one chunk of a scan, for so many chunks and heads at a time.
KernelCost chunked(const Chip& chip, const Mixer& x, double chunks, double heads, double groups,
                   Hertz clock) {
  const auto product = [&](double batch, double m, double n, double k) {
    return multiplies(chip, batch, m, n, k, clock);
  };
  if (x.recurrence == Recurrence::gated_delta) {
    // Gated DeltaNet (arXiv 2412.06464, section 3.3), chunks of 64: K·Kᵀ and its triangular inverse
    // T, W = T·K, U = T·V, the state taken out of U, then Q·Kᵀ·U, Q·S and the next state.
    constexpr double n = 64;
    const double all = chunks * heads;
    KernelCost c = product(2 * all, n, n, x.state);         // K·Kᵀ, Q·Kᵀ
    c = then(c, product(all, n, n, n));                     // the inverse, by blocks
    c = then(c, product(all, n, x.state + x.head_dim, n));  // W and U
    c = then(c, product(2 * all, n, x.head_dim, x.state));  // W·S, Q·S
    c = then(c, product(all, n, x.head_dim, n));            // (Q·Kᵀ)·U
    return then(c, product(all, x.state, x.head_dim, n));   // Kᵀ·U
  }
  // Mamba-2 (arXiv 2405.21060, section 6), chunks of 256: scores and outputs inside a chunk, the
  // states between chunks.
  constexpr double n = 256;
  KernelCost c = product(chunks * groups, n, n, x.state);
  c = then(c, product(chunks * heads, n, x.head_dim, n));
  return then(c, product(2 * chunks * heads, x.state, x.head_dim, n));
}

KernelCost scan(const Chip& chip, const Kernels& kernels, const Mixer& x, const MixerShape& s,
                Hertz clock) {
  const double chunk = x.recurrence == Recurrence::gated_delta ? 64 : 256;
  const double heads = x.heads / s.ranks;
  const double chunks = s.batch * std::max(1.0, s.queries / chunk);
  // The fp32 state is read and written once a chunk, or once a token when decoding.
  KernelCost c = stream(
      chip, kernels.stream[StreamOp::copy],
      moving(StreamOp::copy, s.batch * (s.queries <= most_decoded ? s.queries : chunks / s.batch),
             heads * x.head_dim * x.state, 8),
      clock);
  if (s.queries <= most_decoded) return c;
  const KernelCost once = chunked(chip, x, chunks, heads, std::max(1.0, x.groups / s.ranks), clock);
  // The gradient of a multiply is two more.
  if (s.pass == MixerPass::backward) return then(then(once, once), then(c, c));
  return then(once, c);
}

}  // namespace

KernelCost mixer(const Chip& chip, const Kernels& kernels, const graph::Operator& op,
                 const MixerShape& shape, Hertz clock) {
  switch (op.kind) {
    case graph::Kind::attention:
      return attention(chip, kernels, op.mixer, shape, clock);
    case graph::Kind::indexer:
      return indexer(chip, kernels, op.mixer, shape, clock);
    case graph::Kind::scan:
      return scan(chip, kernels, op.mixer, shape, clock);
    default:
      return {};
  }
}

}  // namespace sextant
