// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/attention.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/cost/crossing.hpp"
#include "sextant/cost/roofline.hpp"

namespace sextant {
namespace {

// Queries one block works on (FlashAttention-2 and -3, cuDNN, TensorRT-LLM alike): 128 where their
// tiles fit into shared memory beside those of keys and values, 64 where cores have 100 KiB (sm_86,
// sm_89, sm_120), heads are wider than 64 and a mask makes short blocks worth while.
double block_rows_of(const Chip& chip, double head_dim, bool causal) {
  return chip.shared_capacity.value < 128 * 1024 && head_dim > 64 && causal ? 64 : 128;
}

// The part of a prompt kernel that does not care where the scores come from.
struct PromptWork {
  double blocks;   // of queries, over all sequences and heads
  double scores;   // elements of the score matrices that are computed
  double longest;  // scores of the longest block
  double flops_a_score;
  double useful_flops;
  double whole_flops;  // with what a mask leaves out, as studies count it
  double bytes;
  /// Causal: how far blocks differ in length, of the longest; 0: they do not.
  double spread;
  double empty = 0;        // blocks that find no queries
  double late_scores = 0;  // of a core whose block of the prompt waits for tokens' blocks,
  double late_rounds = 0;  // and how many blocks it has
  double streamed = 0;     // bytes of cache that tokens beside a prompt read, beside their scores
  double dropout;          // vector operations a score
  Precision type;          // the matrix units run in
};

// Scores of the fullest core. Fewer blocks than cores: the longest decides. More: work spreads, but
// with a causal mask blocks differ in length and the longest may start last (list scheduling:
// sum/cores + longest).
double fullest(const Chip& chip, const PrefillKernel& k, const PromptWork& w) {
  if (w.blocks <= chip.cores) return w.longest;
  return std::max(w.longest, w.scores / chip.cores + w.spread * k.imbalance * w.longest);
}

KernelCost prompt(const Chip& chip, const PrefillKernel& k, const PromptWork& w, Hertz clock) {
  if (chip.roofline > 0) {
    return on_roofline(chip, Flops(w.whole_flops), Bytes(w.bytes + w.streamed), w.type);
  }
  const double hz = clock.value;
  const double width = chip.per_clock[w.type].value;
  const double share =
      k.width > 0
          ? reached(k.efficiency, as_16_bit(Flops(width), chip.runs[w.type]).value / k.width)
          : reached(chip, w.type, k.efficiency);
  const double issue = w.flops_a_score / (width * share);
  const double special = k.softmax / chip.special_per_clock;
  // Random numbers are made between the products: nothing hides them (H200, both libraries).
  const double random = 2 * w.dropout / chip.vector_per_clock.value;
  // No core waits while there are blocks: what it does is the mean, and the longest block after it.
  const double shared = w.blocks / chip.cores;
  const double lane =
      std::max(fullest(chip, k, w), std::min(w.late_scores, w.scores / chip.cores + w.longest));
  const double rounds = std::max({1.0, shared, std::min(w.late_rounds, shared + 1)});
  const double memory = k.traffic * w.bytes / chip.bandwidth.value;
  KernelCost c;
  c.busy[Bound::compute] = Seconds(lane * issue / hz);
  c.busy[Bound::special] = Seconds(lane * (special + random) / hz);
  const double ends = rounds * k.tile_cycles + w.empty / chip.cores * k.empty_cycles;
  const double streamed = w.streamed / chip.bandwidth.value;
  c.busy[Bound::latency] = Seconds(ends / hz);
  c.busy[Bound::dram] = Seconds(memory + streamed);
  c.busy[Bound::launch] = k.start;
  // Warps take turns: while some exponentiate, others multiply; where a warp waits for its own
  // products there is nobody to take them.
  const double score = k.serial ? issue + special : smooth_max(issue, special);
  const double busy = (lane * (score + random) + ends) / hz;
  c.time = Seconds((streamed > 0 ? smooth_max(busy, streamed) : busy) + memory) + k.start;
  c.flops = Flops(w.useful_flops);
  c.dram = c.l2 = Bytes(w.bytes + w.streamed);
  c.clock = clock;
  find_bound(c);
  return c;
}

// Scores that are computed when the queries are the last of the context: half a block of the
// diagonal is wasted, and with a window no query looks further back than that and the block it
// starts in. Keys are gone over in whole blocks too.
double scores_of(double queries, double context, bool causal, double reach, double block_rows,
                 double keys) {
  if (!causal) return queries * reach;
  const double waste = (block_rows + keys - 1) / 2;
  const double triangle = queries * (context - queries / 2 + waste);
  return std::max(queries, std::min(triangle, queries * reach));
}

// One block of cache after another; shared by plain and latent attention.
struct CacheWork {
  double blocks;       // independent pieces before splitting
  double block_cache;  // bytes of cache one block reads
  double block_flops;  // and FLOPs, 0 where the units hide it
  double tokens;       // of cache a block walks
  double group = 1;    // cost factor of queries that share the block
  double cache;        // bytes of all cache, read once
  double hit;          // share of them found in L2
  double other;        // bytes of queries and results
  double useful_flops;
  Precision type;
};

// Times that the fullest core works on a block.
double rounds_of(const Chip& chip, const DecodeKernel& k, double blocks) {
  if (k.pair == 0) return std::max(1.0, blocks / (chip.cores * k.resident));
  const double most = std::ceil(blocks / chip.cores);
  return k.pair * std::floor(most / 2) + std::fmod(most, 2);
}

KernelCost cache_in_pieces(const Chip& chip, const DecodeKernel& k, const CacheWork& w,
                           double pieces, Hertz clock) {
  const double hz = clock.value;
  const double rounds = rounds_of(chip, k, w.blocks * pieces);
  const bool other_kernel = pieces > 1 && k.split_bytes.value > 0;
  const Bytes per_clock = other_kernel ? k.split_bytes : k.block_bytes;
  // What a core takes in, its only block has to itself.
  const double alone = w.blocks * pieces <= chip.cores ? std::max(1.0, std::round(k.resident)) : 1;
  const double stream = chip.copied_in ? 0 : w.block_cache / pieces / (alone * per_clock.value);
  const double issue =
      w.block_flops / pieces / (chip.per_clock[w.type].value * reached(chip, w.type, k.efficiency));
  const double ends = chip.copied_in ? 0 : k.block_cycles;
  const double busy = rounds * smooth_max(stream, issue) * w.group / hz;
  const double turns = rounds * ends * w.group / hz;
  const Crossing crossing = crossing_of(chip, k.memory_efficiency, hz);
  const double hot = w.cache * w.hit / crossing.l2;
  const double memory = w.cache * (1 - w.hit) / crossing.rate() + hot;
  const double other = k.traffic * w.other / chip.bandwidth.value;
  const double combine = pieces > 1 ? k.combine.value + pieces * k.combine_piece.value : 0;
  KernelCost c;
  c.busy[Bound::compute] = Seconds(rounds * issue * w.group / hz);
  c.busy[Bound::l2] = Seconds(rounds * stream * w.group / hz);
  cross(c, w.cache * (1 - w.hit), crossing);
  c.busy[Bound::dram] = c.busy[Bound::dram] + Seconds(hot) + Seconds(other);
  c.busy[Bound::latency] = Seconds(turns + combine);
  c.busy[Bound::launch] = k.start;
  // One round after another: a core that ends a block and starts the next one reads nothing.
  const double read =
      k.waves > 0 ? turns + smooth_max(busy, memory) : smooth_max(busy + turns, memory);
  c.time = k.start + Seconds(read + other + combine);
  c.flops = Flops(w.useful_flops);
  c.dram = Bytes(w.cache * (1 - w.hit) + w.other);
  c.l2 = Bytes(w.blocks * w.block_cache + w.other);
  c.clock = clock;
  find_bound(c);
  return c;
}

// Of one cache, as TensorRT-LLM's XQA counts them (computeMultiBlockCount, 2024 and 2025): no more
// than the root of eight times those of the shortest length, and of the waves that it aims at (in
// whole pieces there; in parts of them here, so that a core more never costs).
double pieces_of_waves(const Chip& chip, const DecodeKernel& k, const CacheWork& w) {
  const double finest = std::floor(w.tokens / k.chunk);
  const double pieces = std::max(1.0, std::min(finest, std::round(std::sqrt(8 * finest))));
  const double waves = w.blocks * pieces / chip.cores;
  return waves > k.waves ? std::max(1.0, pieces * k.waves / waves) : pieces;
}

// A cache is split when that fills the device and pays for joining the pieces. FlashAttention
// (num_splits_heuristic) leaves alone what fills four fifths of it, and below cuts as finely as
// evens out the rounds, into 128 pieces at most where a kernel of its own joins them
// (flash_api.cpp, 2023 on): in parts of pieces here, so that a core more never costs.
KernelCost cache(const Chip& chip, const DecodeKernel& k, const CacheWork& w, Hertz clock) {
  if (chip.roofline > 0) {
    return on_roofline(chip, Flops(w.useful_flops), Bytes(w.cache + w.other), w.type);
  }
  if (k.waves > 0) return cache_in_pieces(chip, k, w, pieces_of_waves(chip, k, w), clock);
  const KernelCost whole = cache_in_pieces(chip, k, w, 1, clock);
  const double slots = chip.cores * k.resident;
  constexpr double enough = 0.8;
  if (w.blocks >= enough * slots) return whole;
  const double most = k.combine_piece.value > 0 ? 128 : slots;
  const double pieces = std::min({slots / w.blocks, std::ceil(w.tokens / k.chunk), most});
  if (pieces <= 1) return whole;
  const KernelCost split = cache_in_pieces(chip, k, w, pieces, clock);
  return split.time < whole.time ? split : whole;
}

double whole_keys(const PrefillKernel& k, double context) {
  return k.keys * std::ceil(context / k.keys);
}

// What a prompt asks of the kernel.
PromptWork prompt_work(const Chip& chip, const PrefillKernel& k, const AttentionShape& s,
                       bool backward) {
  const double block_rows = block_rows_of(chip, s.head_dim, s.causal);
  const double padded = std::ceil(s.queries / block_rows) * block_rows;
  const double products = s.head_dim + s.value_dim;
  const double reach =
      whole_keys(k, s.window > 0 ? std::min(s.window + block_rows, s.context) : s.context);
  const double q = s.batch * s.queries * s.heads * 2;  // bytes of one number a query head
  const double kv = s.batch * s.context * s.kv_heads * 2;
  PromptWork w{};
  w.blocks = s.batch * s.heads * std::ceil(s.queries / block_rows);
  w.scores = s.batch * s.heads *
             scores_of(padded, std::max(s.context, padded), s.causal, reach, block_rows, k.keys);
  w.longest = block_rows * reach;
  w.flops_a_score = (backward ? 5 : 2) * products;
  const double seen = s.window > 0 ? std::min(s.window, s.context) : s.context;
  const double triangle = s.queries * s.context - s.queries * s.queries / 2;
  w.whole_flops = w.flops_a_score * s.batch * s.heads * s.queries * seen;
  w.useful_flops = w.flops_a_score * s.batch * s.heads *
                   (s.causal ? std::min(triangle, s.queries * seen) : s.queries * seen);
  w.bytes = q * products + kv * products;
  if (backward) {
    // q, k, v, o and do in, dq, dk, dv out; dq is summed in fp32; grouped keys are summed after.
    w.bytes = q * (3 * s.head_dim + 2 * s.value_dim) + kv * 2 * products + q * 2 * s.head_dim +
              (s.heads > s.kv_heads ? q * 2 * products : 0);
  }
  w.spread = s.causal ? std::min(1.0, s.queries / s.context) : 0;
  w.dropout = s.dropout;
  w.type = narrow(s.cache_type) ? Precision::fp8 : s.type;
  return w;
}

}  // namespace

KernelCost attention_prefill(const Chip& chip, const PrefillKernel& kernel, const AttentionShape& s,
                             bool backward, Hertz clock) {
  return prompt(chip, kernel, prompt_work(chip, kernel, s, backward), clock);
}

KernelCost attention_mixed(const Chip& chip, const PrefillKernel& kernel, const AttentionShape& s,
                           double decoding, double context, Hertz clock) {
  PromptWork w = prompt_work(chip, kernel, s, false);
  if (decoding <= 0) return prompt(chip, kernel, w, clock);
  // A token that decodes beside a prompt is a sequence with one query: a block of queries a head,
  // nearly all of it padding.
  const double products = s.head_dim + s.value_dim;
  if (s.window > 0) context = std::min(context, s.window);
  const double blocks = s.batch * decoding * s.heads;
  constexpr double rows = 64;  // of the kernel for paged caches, on any device
  const double scores = rows * whole_keys(kernel, context + 1);  // its own among them
  // Blocks come head after head, and those of a prompt keep their cores: of the cores that tokens
  // leave, the next heads' tokens get a share, and of what those leave again.
  const double own = std::ceil(s.queries / rows);
  const double left = std::max(1.0, chip.cores - w.blocks + 1);
  double before = 0;
  if (scores < w.longest) {
    before = std::floor(std::log(chip.cores / left) / std::log(1 + own / decoding));
  }
  w.late_scores = fullest(chip, kernel, w) + before * scores;
  w.late_rounds = std::max(1.0, w.blocks / chip.cores) + before;
  w.blocks += blocks;
  w.empty = blocks * (own - 1);
  w.scores += blocks * scores;
  w.longest = std::max(w.longest, scores);
  w.useful_flops += 2 * products * blocks * context;
  w.whole_flops += 2 * products * blocks * context;
  w.bytes += s.batch * decoding * products * 2 * s.heads;
  // Heads of a group share keys while they run together, or while the cache holds one head of all.
  const double head = s.batch * decoding * context * products * element_bytes(s.cache_type);
  const double together = std::max(1.0, chip.cores / (s.batch * decoding));
  const double group = s.heads / s.kv_heads;
  const double reads = head <= chip.l2_whole.value ? 1 : std::max(1.0, group / together);
  w.streamed = head * s.kv_heads * reads;
  return prompt(chip, kernel, w, clock);
}

bool takes_group(const Chip& chip, const Kernels& kernels, const AttentionShape& s) {
  const double group = s.heads / s.kv_heads;
  if (group < kernels.group_min || group > kernels.group_max) return false;
  if (narrow(s.cache_type)) return true;
  const double pieces = std::max(1.0, std::floor(s.context / kernels.decode.chunk));
  return s.batch * s.kv_heads * pieces >= kernels.group_fill * chip.cores;
}

KernelCost attention_decode(const Chip& chip, const Kernels& kernels, const AttentionShape& s,
                            Hertz clock) {
  const double group = s.heads / s.kv_heads;
  const bool small = narrow(s.cache_type);
  const bool grouped = takes_group(chip, kernels, s);
  const DecodeKernel& k = grouped ? (small ? kernels.decode_8bit : kernels.decode)
                                  : (small ? kernels.decode_single_8bit : kernels.decode_single);
  const double reach = s.window > 0 ? std::min(s.window, s.context) : s.context;
  const double token = (s.head_dim + s.value_dim) * element_bytes(s.cache_type);
  CacheWork w{};
  w.blocks = s.batch * (grouped ? s.kv_heads : s.heads);
  w.block_cache = reach * token;
  w.tokens = reach;
  w.group = grouped ? 1 + k.group * (std::max(1.0, group * s.queries / 8) - 1) : 1;
  w.cache = s.batch * s.kv_heads * reach * token;
  w.hit = s.cache_hit;
  w.other = s.batch * s.queries * (s.heads + s.kv_heads) * (s.head_dim + s.value_dim) * 2;
  w.useful_flops = 2 * s.batch * s.heads * s.queries * reach * (s.head_dim + s.value_dim);
  w.type = small ? Precision::fp8 : s.type;
  return cache(chip, k, w, clock);
}

KernelCost latent_prefill(const Chip& chip, const Kernels& kernels, const LatentShape& s,
                          Hertz clock) {
  // Keys and values are expanded per head: ordinary attention of nope+rope and value dimensions.
  const double block_rows = block_rows_of(chip, s.nope + s.rope, true);
  const double padded = std::ceil(s.queries / block_rows) * block_rows;
  const double products = s.nope + s.rope + s.value;
  const bool small = narrow(s.cache_type);
  const PrefillKernel& latent = small ? kernels.latent_prefill_8bit : kernels.latent_prefill;
  const PrefillKernel& own = latent.start.value > 0 ? latent : kernels.prefill;
  PromptWork w{};
  w.blocks = s.batch * s.heads * std::ceil(s.queries / block_rows);
  w.scores =
      s.batch * s.heads * scores_of(padded, s.context, true, s.context, block_rows, own.keys);
  w.longest = block_rows * s.context;
  w.flops_a_score = 2 * products;
  w.whole_flops = 2 * products * s.batch * s.heads * s.queries * s.context;
  w.useful_flops =
      2 * products * s.batch * s.heads * (s.queries * s.context - s.queries * s.queries / 2);
  w.bytes = 2 * s.batch * (s.queries * s.heads * 2 * products + s.context * (s.latent + s.rope));
  w.spread = std::min(1.0, s.queries / s.context);
  w.type = Precision::bf16;
  return prompt(chip, own, w, clock);
}

KernelCost latent_decode(const Chip& chip, const Kernels& kernels, const LatentShape& s,
                         Hertz clock) {
  // Absorbed: every head multiplies the same latent vectors, 64 heads to a block.
  constexpr double heads_a_block = 64;
  const double width = s.latent + s.rope;
  const double element = element_bytes(s.cache_type);
  const double products = width + s.latent;
  const bool small = narrow(s.cache_type);
  const DecodeKernel& k = small ? kernels.latent_decode_8bit : kernels.latent_decode;
  // Cores that take blocks in pairs make the 512 columns of a result in two of them, which walk 64
  // tokens at a time (TensorRT-LLM 1.0 on A100: as long for 1 token as for 64, for 1 request as for
  // 54, of any number of heads up to 64).
  const double parts = k.pair > 0 ? 2 : 1;
  const double walked = k.pair > 0 ? 64 * std::ceil(s.context / 64) : s.context;
  CacheWork w{};
  w.blocks = parts * s.batch * std::ceil(s.heads * s.queries / heads_a_block);
  w.block_cache = walked * width * element;
  w.block_flops = 2 * walked * heads_a_block * (width + s.latent / parts);
  w.tokens = s.context;
  w.cache = s.batch * s.context * width * element;
  w.hit = s.cache_hit;
  w.other = s.batch * s.queries * s.heads * products * 2;
  w.useful_flops = 2 * s.batch * s.heads * s.queries * s.context * products;
  w.type = Precision::bf16;
  return cache(chip, k, w, clock);
}

}  // namespace sextant
