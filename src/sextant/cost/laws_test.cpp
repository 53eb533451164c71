// SPDX-License-Identifier: Apache-2.0
// Laws that hold for every kernel on every device, tried on random shapes and random devices.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sextant/cost/attention.hpp"
#include "sextant/cost/experts.hpp"
#include "sextant/cost/gemm.hpp"
#include "sextant/cost/power.hpp"
#include "sextant/cost/stream.hpp"

namespace sextant {
namespace {

constexpr int trials = 3000;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double log_between(double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(engine_));
  }
  double size(double high) { return std::floor(log_between(1, high)); }
  bool coin() { return std::uniform_int_distribution<int>(0, 1)(engine_) == 1; }
  template <class T>
  T any(std::initializer_list<T> of) {
    const auto i = std::uniform_int_distribution<std::size_t>(0, of.size() - 1)(engine_);
    return *(of.begin() + static_cast<std::ptrdiff_t>(i));
  }

 private:
  std::mt19937 engine_;
};

Device random_device(Random& r) {
  Device d;
  d.name = "random";
  d.cores = static_cast<int>(r.log_between(1, 2000));
  d.clock = Hertz(r.log_between(0.3e9, 4e9));
  d.max_clock = d.clock * r.log_between(1, 1.2);
  const double per_clock = r.log_between(64, 32768);
  d.matrix[Precision::bf16] = FlopsPerSecond(per_clock * d.cores * d.clock.value);
  d.matrix[Precision::fp16] = d.matrix[Precision::bf16];
  d.matrix[Precision::fp8] = (r.coin() ? 2.0 : 0.0) * d.matrix[Precision::bf16];
  d.matrix[Precision::fp32] = d.matrix[Precision::bf16] / 16.0;
  d.vector.fp32 = d.matrix[Precision::fp32];
  d.l2.capacity = Bytes(r.log_between(1e6, 1e9));
  d.memory.capacity = Bytes(1e11);
  d.memory.bandwidth = BytesPerSecond(r.log_between(1e11, 1e14));
  d.power.limit = Watts(r.log_between(50, 3000));
  d.mechanism.asynchronous = r.coin();
  if (r.coin()) d.mechanism.page_reach = Bytes(r.log_between(1e4, 1e8));
  return d;
}

Gemm random_gemm(Random& r) {
  Gemm g;
  g.m = r.size(65536);
  g.n = r.size(131072);
  g.k = r.size(65536);
  g.batch = r.coin() ? 1 : r.size(64);
  g.type = r.any({Precision::bf16, Precision::fp8, Precision::fp32});
  g.provider = g.type == Precision::fp8 && r.coin() ? GemmLibrary::scaled : GemmLibrary::tuned;
  g.scale_block = g.type == Precision::fp8 && r.coin() ? 128 : 0;
  return g;
}

AttentionShape random_attention(Random& r) {
  AttentionShape s;
  s.kv_heads = r.size(64);
  s.heads = s.kv_heads * r.size(32);
  s.head_dim = r.any({64.0, 128.0, 256.0});
  s.value_dim = s.head_dim;
  s.batch = r.size(512);
  s.queries = r.size(16384);
  s.context = s.queries + std::floor(r.log_between(1, 65536)) - 1;
  s.causal = r.coin();
  s.cache_type = r.any({Precision::bf16, Precision::fp8});
  return s;
}

ExpertLayer random_experts(Random& r) {
  ExpertLayer l;
  l.tokens = r.size(65536);
  l.hidden = r.size(16384);
  l.ffn = r.size(16384);
  l.experts = static_cast<int>(r.size(512));
  l.topk = std::min(r.size(16), static_cast<double>(l.experts));
  l.ep = r.any({1, 1, 2, 4});
  if (l.ep > l.experts) l.ep = 1;
  l.routing.exponent = r.coin() ? 0 : r.log_between(0.5, 2);
  return l;
}

// Peak rates, at the highest clock the device runs.
double flop_bound(const Device& d, const KernelCost& c, Precision type) {
  const Chip chip = lower(d);
  return (c.flops / (chip.per_clock[type] * chip.cores * chip.light_clock)).value;
}

void expect_lawful(const Device& d, const KernelCost& c, Precision type) {
  ASSERT_TRUE(std::isfinite(c.time.value));
  EXPECT_GT(c.time.value, 0);
  EXPECT_GE(c.time.value * (1 + 1e-9), flop_bound(d, c, type)) << "faster than peak FLOP/s";
  EXPECT_GE(c.time.value * (1 + 1e-9), (c.dram / d.memory.bandwidth).value)
      << "faster than peak bandwidth";
  for (const Seconds busy : c.busy.values) {
    EXPECT_GE(busy.value, 0);
    EXPECT_LE(busy.value, c.time.value * (1 + 1e-9)) << "a resource is busy longer than the kernel";
  }
}

TEST(GemmLaws, NeverBeatsItsPeaksAndIsFinite) {
  Random r(1);
  for (int i = 0; i < trials; ++i) {
    const Device d = random_device(r);
    const Chip chip = lower(d);
    const Gemm g = random_gemm(r);
    SCOPED_TRACE(testing::Message() << "m=" << g.m << " n=" << g.n << " k=" << g.k);
    expect_lawful(d, gemm(chip, g, chip.clock), g.type);
  }
}

TEST(GemmLaws, MoreHardwareIsNeverSlower) {
  Random r(2);
  for (int i = 0; i < trials; ++i) {
    const Device d = random_device(r);
    const Gemm g = random_gemm(r);
    const Chip chip = lower(d);
    const double before = gemm(chip, g, chip.clock).time.value;
    const double factor = r.log_between(1, 3);
    Chip wide = chip;
    wide.bandwidth *= factor;
    EXPECT_LE(gemm(wide, g, chip.clock).time.value, before * (1 + 1e-9)) << "bandwidth";
    EXPECT_LE(gemm(chip, g, factor * chip.clock).time.value, before * (1 + 1e-9)) << "clock";
    Chip many = chip;
    many.cores = std::ceil(chip.cores * factor);
    EXPECT_LE(gemm(many, g, chip.clock).time.value, before * (1 + 1e-9)) << "cores";
    Chip cached = chip;
    cached.l2_shared *= factor;
    EXPECT_LE(gemm(cached, g, chip.clock).time.value, before * (1 + 1e-9)) << "L2";
  }
}

TEST(GemmLaws, ALargerProblemIsFasterByNoMoreThanQuantisation) {
  // A larger dimension may pick a better tile, but the tile that it picks was open to the smaller
  // problem too; only split-K, whose depth depends on the shape, leaves a margin.
  Random r(3);
  for (int i = 0; i < trials; ++i) {
    const Device d = random_device(r);
    const Chip chip = lower(d);
    Gemm g = random_gemm(r);
    g.provider = GemmLibrary::tuned;
    g.n = 16 * std::ceil(g.n / 16);  // rows stay aligned: what odd ones cost is another matter
    g.k = 16 * std::ceil(g.k / 16);
    const double before = gemm(chip, g, chip.clock).time.value;
    Gemm larger = g;
    (r.coin() ? larger.m : r.coin() ? larger.n : larger.k) *= std::ceil(r.log_between(1.01, 4));
    EXPECT_GE(gemm(chip, larger, chip.clock).time.value, 0.8 * before);
  }
}

TEST(GemmLaws, OddRowsAreNeverFaster) {
  Random r(12);
  for (int i = 0; i < trials; ++i) {
    const Chip chip = lower(random_device(r));
    Gemm g = random_gemm(r);
    Gemm padded = g;
    padded.n = 16 * std::ceil(g.n / 16);
    padded.k = 16 * std::ceil(g.k / 16);
    if (padded.n == g.n && padded.k == g.k) continue;
    if (g.n < 256 || g.k < 256) continue;  // where padding is a large part of the work
    EXPECT_GE(gemm(chip, g, chip.clock).time.value,
              0.9 * gemm(chip, padded, chip.clock).time.value);
  }
}

TEST(AttentionLaws, NeverBeatsItsPeaks) {
  Random r(4);
  const Kernels kernels;
  for (int i = 0; i < trials; ++i) {
    const Device d = random_device(r);
    const Chip chip = lower(d);
    AttentionShape s = random_attention(r);
    const Precision type = s.cache_type == Precision::fp8 ? Precision::fp8 : Precision::bf16;
    expect_lawful(d, attention_prefill(chip, kernels.prefill, s, false, chip.clock), type);
    expect_lawful(d, attention_prefill(chip, kernels.backward, s, true, chip.clock), type);
    s.queries = 1;
    const KernelCost c = attention_decode(chip, kernels, s, chip.clock);
    ASSERT_TRUE(std::isfinite(c.time.value));
    EXPECT_GE(c.time.value, (c.dram / d.memory.bandwidth).value);
  }
}

TEST(AttentionLaws, MoreHardwareOrLessWorkIsNeverSlower) {
  Random r(5);
  const Kernels kernels;
  for (int i = 0; i < trials; ++i) {
    const Chip chip = lower(random_device(r));
    const AttentionShape s = random_attention(r);
    AttentionShape longer = s;
    longer.context += std::floor(r.log_between(1, 4096));
    Chip wide = chip;
    wide.bandwidth *= 1.7;
    Chip many = chip;
    many.cores = std::ceil(chip.cores * 1.7);
    for (const bool decode : {false, true}) {
      const auto time = [&](const Chip& c, AttentionShape shape, Hertz clock) {
        if (decode) shape.queries = 1;
        return (decode ? attention_decode(c, kernels, shape, clock)
                       : attention_prefill(c, kernels.prefill, shape, false, clock))
            .time.value;
      };
      const double before = time(chip, s, chip.clock);
      EXPECT_LE(time(wide, s, chip.clock), before * (1 + 1e-9));
      EXPECT_LE(time(many, s, chip.clock), before * (1 + 1e-9));
      EXPECT_LE(time(chip, s, 1.5 * chip.clock), before * (1 + 1e-9));
      EXPECT_GE(time(chip, longer, chip.clock) * (1 + 1e-9), before * (decode ? 0.5 : 1));
    }
  }
}

// TensorRT-LLM's XQA: pieces of 128 tokens, no more than the root of eight times their number,
// eight waves; groups that fill less than a quarter of the cores go another way.
TEST(AttentionDecode, SplitsCachesAsXqaDoes) {
  Device d;
  d.cores = 132;
  d.clock = d.max_clock = Hertz(1e9);
  d.matrix[Precision::bf16] = FlopsPerSecond(1e15);
  d.memory.bandwidth = BytesPerSecond(3e12);
  d.mechanism.asynchronous = true;
  const Chip chip = lower(d);
  Kernels k;
  k.decode = {.block_cycles = 1000, .resident = 1, .chunk = 128, .waves = 8, .combine{}};
  k.group_min = 2;
  k.group_fill = 0.25;
  struct Row {
    double batch, kv_heads, context, pieces;
    bool grouped = true;
  };
  for (const Row& row :
       {Row{16, 8, 128, 1}, Row{16, 8, 512, 4}, Row{16, 8, 1024, 8}, Row{16, 8, 4096, 8.25},
        Row{1, 8, 16384, 32}, Row{64, 32, 1024, 1}, Row{1, 8, 512, 1, false}, Row{1, 8, 640, 5}}) {
    AttentionShape s{.batch = row.batch, .heads = 4 * row.kv_heads, .kv_heads = row.kv_heads};
    s.head_dim = s.value_dim = 128;
    s.queries = 1;
    s.context = row.context;
    EXPECT_EQ(takes_group(chip, k, s), row.grouped) << row.context;
    if (!row.grouped) continue;
    const KernelCost c = attention_decode(chip, k, s, chip.clock);
    const double rounds = std::max(1.0, row.batch * row.kv_heads * row.pieces / 132);
    EXPECT_NEAR(c.busy[Bound::latency].value, rounds * 1e-6, 1e-12) << row.context;
    s.cache_type = Precision::fp8;
    EXPECT_TRUE(takes_group(chip, k, s));
  }
}

TEST(AttentionLaws, AWindowOnlySaves) {
  Random r(6);
  const Kernels kernels;
  for (int i = 0; i < trials; ++i) {
    const Chip chip = lower(random_device(r));
    AttentionShape s = random_attention(r);
    s.causal = true;
    AttentionShape narrow = s;
    narrow.window = r.size(4096);
    const auto prefill = [&](const AttentionShape& shape) {
      return attention_prefill(chip, kernels.prefill, shape, false, chip.clock).time.value;
    };
    EXPECT_LE(prefill(narrow), prefill(s) * (1 + 1e-9));
    s.queries = narrow.queries = 1;
    EXPECT_LE(attention_decode(chip, kernels, narrow, chip.clock).dram.value,
              attention_decode(chip, kernels, s, chip.clock).dram.value);
  }
}

TEST(LatentLaws, CacheBytesAreExact) {
  LatentShape s;
  s.batch = 3;
  s.heads = 16;
  s.context = 1000;
  const Kernels kernels;
  Random r(7);
  const Chip chip = lower(random_device(r));
  const KernelCost c = latent_decode(chip, kernels, s, chip.clock);
  // 512 + 64 numbers of two bytes a token, and queries and results beside them.
  const double cache = 3.0 * 1000 * 576 * 2;
  EXPECT_DOUBLE_EQ(c.dram.value, cache + 3.0 * 16 * (576 + 512) * 2);
}

TEST(ExpertLaws, NeverBeatsItsPeaksAndMoreHardwareHelps) {
  Random r(8);
  const ExpertKernel kernel;
  for (int i = 0; i < trials / 10; ++i) {
    const Device d = random_device(r);
    const Chip chip = lower(d);
    const ExpertLayer l = random_experts(r);
    const KernelCost c = expert_layer(chip, kernel, l, chip.clock);
    ASSERT_TRUE(std::isfinite(c.time.value));
    EXPECT_GE(c.time.value * (1 + 1e-9), flop_bound(d, c, l.type));
    Chip wide = chip;
    wide.bandwidth *= 2.0;
    wide.cores *= 2;
    EXPECT_LE(expert_layer(wide, kernel, l, chip.clock).time, c.time);
  }
}

TEST(ExpertLaws, EveryTokenReachesItsExperts) {
  Random r(9);
  for (int i = 0; i < trials; ++i) {
    ExpertLayer l = random_experts(r);
    l.ep = 1;
    const ExpertLoads loads = expert_loads(l);
    if (l.routing.exponent > 0) {
      EXPECT_NEAR(loads.tokens, l.tokens * l.topk, 0.01 * l.tokens * l.topk + l.experts);
    } else {
      EXPECT_NEAR(loads.tokens, l.tokens * l.topk, 1e-6 * l.tokens * l.topk);
    }
    EXPECT_LE(loads.active, l.experts);
    EXPECT_GE(loads.row_tiles.front(), loads.row_tiles.back());
  }
}

// Against chances that are drawn: of each expert, that no token chooses it.
TEST(ExpertLaws, TokensThatLikeTheSameExpertsReachFewer) {
  std::mt19937_64 random(1);
  for (const int experts : {16, 256}) {
    const double mean = 4.0 / experts;
    const double weight = (1 - mean) / (mean * 0.49) - 1;
    std::gamma_distribution<double> chosen(weight * mean, 1);
    std::gamma_distribution<double> not_chosen(weight * (1 - mean), 1);
    for (const double tokens : {1.0, 8.0, 64.0, 256.0}) {
      ExpertLayer l{.tokens = tokens, .topk = 4, .experts = experts};
      l.routing.independent = true;
      const double alike = expert_loads(l).active;
      l.routing.skew = 0.7;
      double missed = 0;
      constexpr int draws = 100'000;
      for (int i = 0; i < draws; ++i) {
        const double for_it = chosen(random);
        const double against = not_chosen(random);
        missed += std::pow(against / (for_it + against), tokens) / draws;
      }
      const double active = expert_loads(l).active;
      EXPECT_NEAR(active, experts * (1 - missed), 0.004 * experts) << experts << ' ' << tokens;
      if (tokens == 1) {
        EXPECT_NEAR(active, 4, 1e-9);
      } else {
        EXPECT_LT(active, alike) << experts << ' ' << tokens;
      }
    }
  }
}

TEST(StreamLaws, NeverBeatsBandwidth) {
  Random r(10);
  const Kernels kernels;
  for (int i = 0; i < trials; ++i) {
    const Device d = random_device(r);
    const Chip chip = lower(d);
    Stream s;
    s.rows = r.size(1e6);
    s.cols = r.size(65536);
    s.bytes = Bytes(4 * s.rows * s.cols);
    const KernelCost c = stream(chip, kernels.stream[StreamOp::rmsnorm], s);
    EXPECT_GE(c.time.value, (s.bytes / d.memory.bandwidth).value);
    const KernelCost q = quantize_rows(chip, kernels, Precision::fp8, s.rows, s.cols);
    EXPECT_GE(q.time.value, (q.dram / d.memory.bandwidth).value);
  }
}

TEST(PowerLaws, ALongerLoadNeverClocksHigherAndTheLimitHolds) {
  Random r(11);
  for (int i = 0; i < trials / 10; ++i) {
    const Chip chip = lower(random_device(r));
    const Gemm g = random_gemm(r);
    const auto at = [&](Load load) {
      return at_power(chip, g.type, load, [&](Hertz clock) { return gemm(chip, g, clock); });
    };
    const KernelCost burst = at({.repeats = 0, .seconds = Seconds(1e-9)});
    const KernelCost while_ = at({.repeats = 0, .seconds = Seconds(0.02)});
    const KernelCost forever = at(sustained);
    EXPECT_GE(burst.clock.value * (1 + 1e-9), while_.clock.value);
    EXPECT_GE(while_.clock.value * (1 + 1e-9), forever.clock.value);
    EXPECT_LE(burst.clock, chip.light_clock);
    // The fixed point is reached unless the clock is at its floor.
    if (forever.clock > 0.26 * chip.clock) {
      EXPECT_LE(power_demand(chip, forever, g.type).value, 1.03 * chip.power_limit.value);
    }
  }
}

}  // namespace
}  // namespace sextant
