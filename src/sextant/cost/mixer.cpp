// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/mixer.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/cost/attention.hpp"
#include "sextant/cost/crossing.hpp"
#include "sextant/cost/gemm.hpp"
#include "sextant/cost/roofline.hpp"
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
  const KernelCost all = latent_prefill(chip, kernels, l, clock);
  if (!chosen) return all;
  // Queries look at `top` tokens each in the latent space, all heads at the same ones (FlashMLA's
  // sparse kernel): as many scores as blocks of `top` queries that look half a block back.
  l.queries = std::min(s.queries, x.top);
  l.batch = s.batch * s.queries / l.queries;
  l.context = x.top + l.queries / 2;
  l.nope = l.value = x.rank;
  if (const double full = kernels.sparse_heads; full > 0) {
    l.heads = full * std::ceil(l.heads / full);
    return latent_prefill(chip, kernels, l, clock);
  }
  // Where that is more, they look at all tokens and a mask leaves out the others.
  const KernelCost few = latent_prefill(chip, kernels, l, clock);
  return few.time < all.time ? few : all;
}

const PrefillKernel& kernel_of_prompts(const Kernels& kernels, const Mixer& x, Precision cache) {
  if (x.sinks && kernels.prefill_sinks.start.value > 0) return kernels.prefill_sinks;
  return narrow(cache) ? kernels.prefill_8bit : kernels.prefill;
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
  a.causal = x.sequence == 0 && x.image == 0 && !s.unmasked;
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
  const PrefillKernel& k = kernel_of_prompts(kernels, x, a.cache_type);
  if (s.beside > 0) {
    return attention_mixed(chip, k, a, s.beside / s.batch, s.beside_context, clock);
  }
  if (a.queries <= most_decoded) return attention_decode(chip, kernels, a, clock);
  return attention_prefill(chip, k, a, false, clock);
}

/// A kernel that takes so many seconds once it has started and its first bytes are there.
KernelCost started(const Mechanism& m, double seconds, Hertz clock) {
  KernelCost c;
  c.busy[Bound::latency] = m.memory_latency;
  c.busy[Bound::launch] = Seconds(m.start_cycles / clock.value);
  c.time = c.busy[Bound::launch] + m.memory_latency + Seconds(seconds);
  c.clock = clock;
  return c;
}

/// The scores of an indexer: 8-bit products of a few small heads with one key a token, which lanes
/// cut off below zero, weigh and sum before the next products; one fp32 number a query and token
/// leaves. By DeepGEMM's times on H200 (2048 queries, 64 heads of 128): 103 us over 4096 tokens,
/// 222 over 8192, 458 over 16384 and 931 over 32768; predicted 99, 226, 480 and 987.
KernelCost index_scores(const Chip& chip, const Mixer& x, const MixerShape& s, double seen,
                        Hertz clock) {
  constexpr double on_lanes = 3;  // operations a score
  const Precision type = chip.runs[Precision::fp8];
  const double vector_bytes = x.head_dim * element_bytes(type) + 4;  // with its scale
  const double scores = s.batch * s.queries * seen * x.heads;
  const double bytes =
      s.batch * ((seen + s.queries * x.heads) * vector_bytes + s.queries * seen * 4);
  const Flops flops(2 * x.head_dim * scores);
  if (chip.roofline > 0) return on_roofline(chip, flops, Bytes(bytes), type);
  const Mechanism& m = chip.mechanism;
  const double cycles = 1 / (chip.cores * clock.value);
  const double efficiency = narrow(type) ? m.matrix_efficiency_8bit : m.matrix_efficiency;
  const double matrix =
      flops.value / (chip.per_clock[type].value * reached(chip, type, efficiency)) * cycles;
  const double lanes = scores * on_lanes / (chip.vector_per_clock.value / 2) * cycles;
  const Crossing crossing = crossing_of(chip, m.memory_efficiency, clock.value);
  KernelCost c = started(m, smooth_max(matrix + lanes, bytes / crossing.rate()), clock);
  c.busy[Bound::compute] = Seconds(matrix + lanes);
  cross(c, bytes, crossing);
  c.flops = flops;
  c.dram = c.l2 = Bytes(bytes);
  find_bound(c);
  return c;
}

/// DeepSeek-V3.2 (arXiv 2512.02556, section 2.1): scores over the whole context, and the best of
/// them. Every rank has all of it.
KernelCost indexer(const Chip& chip, const Kernels& kernels, const Mixer& x, const MixerShape& s,
                   Hertz clock) {
  const bool decode = s.queries <= most_decoded;
  const double seen = decode ? s.context : std::max(1.0, s.context - s.queries / 2);
  const double rows = s.batch * s.queries;
  KernelCost c = then(index_scores(chip, x, s, seen, min(clock, chip.clock)),
                      stream(chip, kernels.stream[StreamOp::softmax],
                             moving(StreamOp::softmax, rows, seen, 8), clock));
  if (s.pass == MixerPass::backward) c = then(c, c);
  return c;
}

/// Multiplies of one chunk of a scan, for so many chunks and heads at a time.
KernelCost chunked(const Chip& chip, const Mixer& x, double chunks, double heads, double groups,
                   Hertz clock) {
  const double n = x.chunk;
  const auto product = [&](double batch, double rows, double columns, double k) {
    return multiplies(chip, batch, rows, columns, k, clock);
  };
  if (x.recurrence == Recurrence::gated_delta) {
    // Gated DeltaNet (arXiv 2412.06464, section 3.3): K·Kᵀ and its triangular inverse T, W = T·K,
    // U = T·V, the state taken out of U, then Q·Kᵀ·U, Q·S and the next state.
    const double all = chunks * heads;
    KernelCost c = product(2 * all, n, n, x.state);         // K·Kᵀ, Q·Kᵀ
    c = then(c, product(all, n, n, n));                     // the inverse, by blocks
    c = then(c, product(all, n, x.state + x.head_dim, n));  // W and U
    c = then(c, product(2 * all, n, x.head_dim, x.state));  // W·S, Q·S
    c = then(c, product(all, n, x.head_dim, n));            // (Q·Kᵀ)·U
    return then(c, product(all, x.state, x.head_dim, n));   // Kᵀ·U
  }
  // Mamba-2 (arXiv 2405.21060, section 6): scores and outputs inside a chunk, the states between
  // chunks.
  KernelCost c = product(chunks * groups, n, n, x.state);
  c = then(c, product(chunks * heads, n, x.head_dim, n));
  return then(c, product(2 * chunks * heads, x.state, x.head_dim, n));
}

/// What Mamba's scan asks of a number of the state, and of a channel, a token.
struct SelectiveWork {
  double lanes;         ///< operations of a number of the state
  double shared_bytes;  ///< of B and C
  double bytes;         ///< of a channel's own: what it reads and writes once
};

/// Its values, time steps and gate, and the gated result; training keeps the result before the gate
/// too. Of a number of the state: its decay's exponent and what comes in are a product each, the
/// scan goes over them twice with a product and a multiply-add, and C takes it out. The backward
/// pass does all that again, as no states are kept, and the gradient of a product is two more; it
/// sums those of B and C in fp32.
SelectiveWork selective_work(MixerPass pass) {
  switch (pass) {
    case MixerPass::serving:
      return {.lanes = 7, .shared_bytes = 4, .bytes = 8};
    case MixerPass::forward:
      return {.lanes = 7, .shared_bytes = 4, .bytes = 10};
    case MixerPass::backward:
      break;
  }
  return {.lanes = 21, .shared_bytes = 12, .bytes = 16};
}

/// Mamba's scan (arXiv 2312.00752, section 3.3 and appendix D), on vectors alone. A block of
/// threads has one channel of one sequence and its states in registers; inputs come and results go
/// once, but B and C, which all channels share, cross the cache once for each. Loads and scans of a
/// number of the state have barriers between them and few blocks are resident: they add up. A
/// kernel made so takes 2.39 ms on H200 for 8 sequences of 2048 tokens, 8192 channels and a state
/// of 16, 1.43 for one of 8 and 8.19 for one of 64; predicted 2.34, 1.34 and 8.36.
KernelCost selective_scan(const Chip& chip, const Mixer& x, const MixerShape& s, Hertz clock) {
  constexpr double of_a_channel = 4;  // special functions of the step's softplus and of the gate
  const SelectiveWork work = selective_work(s.pass);
  const double steps = s.batch * s.queries * x.heads * x.head_dim / s.ranks;
  const double states = steps * x.state;
  const double own = steps * work.bytes;
  const double crossing = own + states * work.shared_bytes;
  if (chip.roofline > 0) return on_roofline(chip, Flops(0), Bytes(own));
  const Mechanism& m = chip.mechanism;
  const double cycles = 1 / (chip.cores * clock.value);
  const double lanes = states * work.lanes / (chip.vector_per_clock.value / 2) * cycles;
  const double special = (states + of_a_channel * steps) / chip.special_per_clock * cycles;
  const Crossing way = crossing_of(chip, m.memory_efficiency, clock.value);
  KernelCost c =
      started(m, smooth_max(lanes, special) + std::max(own / way.memory, crossing / way.l2), clock);
  c.busy[Bound::compute] = Seconds(lanes);
  c.busy[Bound::special] = Seconds(special);
  cross(c, own, crossing, way);
  c.dram = Bytes(own);
  c.l2 = Bytes(crossing);
  find_bound(c);
  return c;
}

KernelCost scan(const Chip& chip, const Kernels& kernels, const Mixer& x, const MixerShape& s,
                Hertz clock) {
  const bool decode = s.queries <= most_decoded;
  if (x.recurrence == Recurrence::mamba1 && !decode) return selective_scan(chip, x, s, clock);
  const double heads = x.heads / s.ranks;
  const double chunks = s.batch * std::max(1.0, s.queries / x.chunk);
  // The fp32 state is read and written once a chunk, or once a token when decoding.
  KernelCost c = stream(chip, kernels.stream[StreamOp::copy],
                        moving(StreamOp::copy, s.batch * (decode ? s.queries : chunks / s.batch),
                               heads * x.head_dim * x.state, 8),
                        clock);
  if (decode) return c;
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

bool joins_tokens(const Kernels& kernels, const graph::Operator& op, Precision cache) {
  const Mixer& x = op.mixer;
  const bool plain = op.kind == graph::Kind::attention && !x.latent && x.sequence == 0 &&
                     x.image == 0 && x.top == 0;
  return plain && kernel_of_prompts(kernels, x, cache).empty_cycles > 0;
}

bool comes_in_steps(const Chip& chip, const graph::Operator& op, double context) {
  const Mixer& x = op.mixer;
  return op.kind == graph::Kind::attention && x.sequence == 0 && x.image == 0 && x.window == 0 &&
         (x.top == 0 || x.top >= context) && chip.roofline == 0;
}

KernelCost mixer_in_a_ring(const Chip& chip, const Kernels& kernels, const graph::Operator& op,
                           MixerShape shape, int ranks, Hertz clock) {
  shape.queries /= ranks;
  shape.context /= ranks;
  KernelCost c = mixer(chip, kernels, op, shape, clock);
  shape.context /= 2;
  shape.unmasked = true;
  const KernelCost other = mixer(chip, kernels, op, shape, clock);
  for (int i = 1; i < ranks; ++i) c = then(c, other);
  return c;
}

}  // namespace sextant
