// SPDX-License-Identifier: Apache-2.0
// Scans and gradients of attention: against times that were measured, and the laws of every kernel.
#include "sextant/cost/mixer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iterator>

#include "sextant/cost/attention.hpp"
#include "sextant/io/presets.hpp"

namespace sextant {
namespace {

/// Mamba's scan over so many channels.
graph::Operator selective(double channels, double state) {
  graph::Operator op{.kind = graph::Kind::scan, .name = "scan"};
  op.mixer = {.heads = channels,
              .head_dim = 1,
              .recurrence = Recurrence::mamba1,
              .state = state,
              .chunk = 2048};
  return op;
}

KernelCost cost(const Chip& chip, const graph::Operator& op, const MixerShape& shape) {
  return mixer(chip, Kernels{}, op, shape, chip.clock);
}

struct Measured {
  double batch, tokens, channels, state;
  double seconds;
};

// A kernel of blocks of 128 threads, 16 tokens a thread, a channel a block and cub's scan of pairs,
// that keeps results before and after the gate; H200, November 2026. Blocks of one long sequence
// all ask for the same lines of B and C, which costs a fifth.
TEST(SelectiveScan, TakesWhatAKernelOfItsKindTakes) {
  const Chip chip = lower(load_device("h200-sxm"));
  for (const Measured& m : {Measured{1, 2048, 8192, 16, 312e-6},
                            {1, 8192, 8192, 16, 1489e-6},
                            {8, 2048, 8192, 16, 2390e-6},
                            {4, 4096, 16384, 16, 4751e-6},
                            {8, 2048, 8192, 8, 1426e-6},
                            {8, 2048, 8192, 64, 8187e-6},
                            {1, 8192, 2048, 16, 369e-6},
                            {16, 2048, 1024, 16, 610e-6}}) {
    const MixerShape shape{.batch = m.batch, .queries = m.tokens, .pass = MixerPass::forward};
    const double predicted = cost(chip, selective(m.channels, m.state), shape).time.value;
    EXPECT_NEAR(predicted / m.seconds, 1, m.batch > 1 ? 0.07 : 0.22)
        << m.batch << " x " << m.tokens << " x " << m.channels << " x " << m.state;
  }
}

// vLLM's attention of gpt-oss with 32,000 tokens of context: in Triton on an A100, by
// FlashAttention 3 on Hopper, which takes learned sinks.
TEST(Attention, LearnedSinksTakeAKernelOfTheirOwnBeforeHopper) {
  graph::Operator op{.kind = graph::Kind::attention, .name = "attention"};
  op.mixer = {.heads = 64, .kv_heads = 8, .head_dim = 64, .value_dim = 64};
  const auto rate = [&](const char* device, const char* kernels, bool sinks) {
    const Chip chip = lower(load_device(device));
    op.mixer.sinks = sinks;
    const MixerShape shape{.batch = 1, .queries = 2048, .context = 32000};
    const KernelCost c = mixer(chip, load_kernels(kernels), op, shape, chip.clock);
    return c.flops.value / c.time.value / 1e12;
  };
  EXPECT_NEAR(rate("a100-sxm-80gb", "fused-sync", true), 40, 6);
  EXPECT_GT(rate("a100-sxm-80gb", "fused-sync", false), 90);
  EXPECT_EQ(rate("h100-sxm", "fused", true), rate("h100-sxm", "fused", false));
}

// FlashAttention 2 of narrow heads, whose exponentials come on top of the multiplies before Hopper:
// an RTX A5000, the chip of an A6000, reaches 81.7 of 111 TFLOP/s (gpu-mode/ring-attention, issue
// 10, 4,096 tokens, no mask).
TEST(Attention, NarrowHeadsAreNotBoundByExponentials) {
  graph::Operator op{.kind = graph::Kind::attention, .name = "attention"};
  op.mixer = {.heads = 32, .kv_heads = 32, .head_dim = 64, .value_dim = 64, .sequence = 4096};
  const Device device = load_device("rtx-a6000");
  const Chip chip = lower(device);
  const MixerShape shape{.pass = MixerPass::forward, .patches = 4 * 4096};
  const KernelCost c = mixer(chip, load_kernels("pytorch-sync"), op, shape, device.clock);
  const double share = c.flops / c.time / peak_of(device, Precision::bf16);
  EXPECT_GT(share / (81.7 / 111), 0.8);
  EXPECT_LT(share / (81.7 / 111), 1.1);
}

// FlashAttention-2 without a mask, its constants from H200: an RTX A5000, which is a smaller A6000
// (gpu-mode/ring-attention, issue 10), the 63 % of an A100 that its paper reaches (arXiv
// 2307.08691) and a B200 (Dao-AILab/flash-attention, issue 1589). As shares of the peak they are
// 0.70, 0.63 and 0.15.
TEST(Attention, GradientsOfThreadsTakeAsManyCyclesOnAnyCore) {
  struct Row {
    const char* device;
    int cores;
    double peak;
    double head_dim;
    double tokens;
    double rate;
    double within;
  };
  for (const Row& r : {Row{"rtx-a6000", 64, 111e12, 64, 4096, 74.8e12, 0.2},
                       {"rtx-a6000", 64, 111e12, 64, 8192, 77.4e12, 0.15},
                       {"a100-sxm-80gb", 108, 312e12, 128, 16384, 196e12, 0.25},
                       {"b200", 148, 2250e12, 64, 8192, 329e12, 0.1},
                       {"b200", 148, 2250e12, 64, 16384, 334e12, 0.1}}) {
    Device device = load_device(r.device);
    device.cores = r.cores;
    device.matrix[Precision::bf16] = FlopsPerSecond(r.peak);
    const Chip chip = lower(device);
    const double heads = 2048 / r.head_dim;
    const AttentionShape shape{.batch = 16384 / r.tokens,
                               .heads = heads,
                               .kv_heads = heads,
                               .head_dim = r.head_dim,
                               .value_dim = r.head_dim,
                               .queries = r.tokens,
                               .context = r.tokens,
                               .causal = false};
    const Kernels kernels = load_kernels(kernels_for("pytorch", device));
    const KernelCost c = attention_prefill(chip, kernels.backward, shape, true, chip.clock);
    EXPECT_NEAR(c.flops.value / c.time.value / r.rate, 1, r.within) << r.device << " " << r.tokens;
  }
}

// One after the other: neither more than the time, nor much less all together.
TEST(SelectiveScan, PartsMakeUpTheTime) {
  const Chip chip = lower(load_device("h200-sxm"));
  for (const MixerPass pass : {MixerPass::serving, MixerPass::forward, MixerPass::backward}) {
    const KernelCost c =
        cost(chip, selective(8192, 16), {.batch = 2, .queries = 4096, .pass = pass});
    double sum = 0;
    for (const Seconds busy : c.busy.values) {
      EXPECT_LE(busy, c.time);
      sum += busy.value;
    }
    EXPECT_GE(sum, 0.99 * c.time.value);
    EXPECT_EQ(c.flops.value, 0);    // matrix units rest
    EXPECT_GT(c.l2, 5.0 * c.dram);  // B and C come once a channel, from the cache
  }
}

TEST(SelectiveScan, GrowsWithItsWorkAndIsSharedOut) {
  const Chip chip = lower(load_device("h200-sxm"));
  const auto time = [&](double channels, double state, MixerShape shape) {
    return cost(chip, selective(channels, state), shape).time.value;
  };
  const MixerShape one{.batch = 4, .queries = 8192};
  const double base = time(8192, 16, one);
  EXPECT_NEAR(time(8192, 16, {.batch = 8, .queries = 8192}) / base, 2, 0.02);
  EXPECT_NEAR(time(8192, 16, {.batch = 4, .queries = 16384}) / base, 2, 0.02);
  EXPECT_NEAR(time(8192, 16, {.batch = 4, .queries = 8192, .ranks = 8}) / base, 0.125, 0.01);
  EXPECT_GT(time(8192, 32, one), 1.7 * base);
  // The backward pass reads more, sums gradients of B and C, and has the states to make again.
  const double back = time(8192, 16, {.batch = 4, .queries = 8192, .pass = MixerPass::backward});
  EXPECT_GT(back, 2 * base);
  EXPECT_LT(back, 4 * base);
  // Tokens one at a time read and write the state.
  const KernelCost token = cost(chip, selective(8192, 16), {.batch = 64, .queries = 1});
  EXPECT_EQ(token.dram.value, 64 * 8192 * 16 * 8);
  EXPECT_EQ(token.bound, Bound::dram);
}

TEST(SelectiveScan, MoreHardwareIsNeverSlower) {
  const std::pair<const char*, std::function<void(Chip&)>> better[] = {
      {"bandwidth", [](Chip& c) { c.bandwidth *= 2.0; }},
      {"cores", [](Chip& c) { c.cores *= 2; }},
      {"cache", [](Chip& c) { c.l2_per_clock *= 2.0; }},
      {"special functions", [](Chip& c) { c.special_per_clock *= 2; }},
      {"lanes", [](Chip& c) { c.vector_per_clock *= 2.0; }},
      {"clock", [](Chip& c) { c.clock *= 1.5; }},
  };
  for (const std::string& name : preset_names(PresetKind::device)) {
    const Chip chip = lower(load_device(name));
    for (const double tokens : {1.0, 64.0, 8192.0}) {
      for (const MixerPass pass : {MixerPass::serving, MixerPass::forward, MixerPass::backward}) {
        const MixerShape shape{.batch = 2, .queries = tokens, .pass = pass};
        const KernelCost before = cost(chip, selective(8192, 16), shape);
        EXPECT_GT(before.time.value, 0) << name;
        EXPECT_GE(before.time.value, (before.dram / chip.bandwidth).value) << name;
        for (const auto& [what, improve] : better) {
          Chip more = chip;
          improve(more);
          EXPECT_LE(cost(more, selective(8192, 16), shape).time, 1.000001 * before.time)
              << name << ", " << what;
        }
      }
    }
  }
}

// FlashMLA's kernel over chosen tokens reaches 640 TFLOP/s on an H800 (deepseek-ai/FlashMLA's
// README, read November 2026) for 64 heads at a time: ranks with fewer pad them, and it takes as
// long after any context.
TEST(SparseAttention, PadsHeadsAndForgetsTheContext) {
  const Chip chip = lower(load_device("h800"));
  const auto at = [&](const char* kernels, double heads, double context) {
    graph::Operator op{.kind = graph::Kind::attention, .name = "attention"};
    op.mixer = {.heads = heads,
                .kv_heads = heads,
                .head_dim = 192,
                .value_dim = 128,
                .top = 2048,
                .latent = true,
                .rank = 512,
                .nope = 128,
                .rope = 64};
    const MixerShape shape{.batch = 1, .queries = 4096, .context = context};
    return mixer(chip, load_kernels(kernels), op, shape, chip.clock).time.value;
  };
  const double rate = 2 * 4096.0 * 2048 * 128 * (576 + 512) / at("fused", 128, 8192);
  EXPECT_NEAR(rate / 640e12, 1, 0.15);
  EXPECT_EQ(at("fused", 16, 8192), at("fused", 64, 8192));
  EXPECT_NEAR(at("fused", 128, 8192) / at("fused", 64, 8192), 2, 0.05);
  EXPECT_NEAR(at("fused", 128, 65536) / at("fused", 128, 8192), 1, 0.01);
  // Kernels that need no padding, and up to the number that is chosen all of them.
  EXPECT_LT(at("fused-wide", 16, 8192), 0.5 * at("fused", 16, 8192));
  EXPECT_LT(at("pytorch", 16, 8192), at("fused", 16, 8192));
}

// vLLM's FlashAttention-3 on an H200, 32 heads of 128 over 8 of a 16-bit cache
// (vllm-project/vllm, pull request 43232, read November 2026).
TEST(DecodeAttention, IsFlashAttention3OnHopper) {
  const Chip chip = lower(load_device("h200-sxm"));
  const Kernels kernels = load_kernels("fused");
  const auto time = [&](double batch, double context) {
    AttentionShape s{.batch = batch, .heads = 32, .kv_heads = 8, .queries = 1, .context = context};
    s.head_dim = s.value_dim = 128;
    return attention_decode(chip, kernels, s, chip.clock).time.value;
  };
  struct Row {
    double batch, context, microseconds;
  };
  const Row rows[] = {{1, 1024, 11.03}, {1, 4096, 14.52}, {1, 16384, 27.18},  {1, 32768, 43.48},
                      {8, 1024, 17.50}, {8, 4096, 41.59}, {8, 16384, 132.69}, {8, 32768, 253.45}};
  double off = 0;
  for (const Row& r : rows) {
    off += std::abs(std::log(time(r.batch, r.context) * 1e6 / r.microseconds)) / std::size(rows);
  }
  EXPECT_LT(off, 0.075);
  // Many caches at a time stream as fast as few that are cut.
  const double cache = 2 * 2 * 8 * 128 * 32768.0;
  EXPECT_GT(64 * cache / 8 / time(64, 4096), 0.8 * chip.bandwidth.value);
  EXPECT_GT(8 * cache / time(8, 32768), 0.8 * chip.bandwidth.value);
}

}  // namespace
}  // namespace sextant
