// SPDX-License-Identifier: Apache-2.0
// Laws over every device that ships and every type: no multiply beats the peak of the type that
// runs, and more of a resource never slows anything, power limit and fallbacks included.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "sextant/cost/attention.hpp"
#include "sextant/cost/experts.hpp"
#include "sextant/cost/gemm.hpp"
#include "sextant/cost/outrun.hpp"
#include "sextant/cost/power.hpp"
#include "sextant/cost/stream.hpp"
#include "sextant/io/presets.hpp"

namespace sextant {
namespace {

constexpr std::array<Gemm, 4> shapes{
    Gemm{.m = 1, .n = 8192, .k = 8192}, Gemm{.m = 256, .n = 4096, .k = 4096},
    Gemm{.m = 8192, .n = 8192, .k = 8192}, Gemm{.m = 2048, .n = 50272, .k = 2048}};

template <class F>
void for_each_device(F f) {
  for (const std::string& name : preset_names(PresetKind::device)) {
    SCOPED_TRACE(name);
    f(load_device(name));
  }
}

double multiply_seconds(const Device& d, Gemm g) {
  const Chip chip = lower(d);
  return at_power(chip, g.type, sustained, [&](Hertz f) { return gemm(chip, g, f); }).time.value;
}

TEST(DeviceLaws, NoMultiplyBeatsThePeakOfTheTypeThatRuns) {
  for_each_device([](const Device& d) {
    const Chip chip = lower(d);
    for (std::size_t i = 0; i < MatrixRates::size; ++i) {
      for (Gemm g : shapes) {
        g.type = static_cast<Precision>(i);
        const KernelCost c = gemm(chip, g, chip.clock);
        const FlopsPerSecond peak = peak_of(d, runs_as(d, g.type));
        EXPECT_LE(c.flops / c.time, 1.0001 * max(peak, FlopsPerSecond(1))) << name_of(g.type);
      }
    }
  });
}

// A row more takes DeepSeek's router 0.27 us on a B200, Kimi's 0.34; a kernel that divides them and
// adds up its pieces 2.5 to 3 us more than theirs for one row (vLLM, pull request 44217).
TEST(DeviceLaws, FewRowsOfARouterTakeAKernelOfTheirOwn) {
  const Chip chip = lower(load_device("b200"));
  const auto microseconds = [&](double m, double n, bool own) {
    const Gemm g{.m = m, .n = n, .k = 7168, .whole_outputs = own};
    return gemm(chip, g, chip.clock).time.value * 1e6;
  };
  for (const auto& [n, row] : {std::pair{256.0, 0.27}, std::pair{384.0, 0.34}}) {
    EXPECT_NEAR((microseconds(8, n, true) - microseconds(2, n, true)) / 6, row, 0.06) << n;
    EXPECT_NEAR(microseconds(1, n, false) - microseconds(1, n, true), 2.75, 0.75) << n;
    EXPECT_LE(microseconds(16, n, true), microseconds(16, n, false)) << n;
  }
}

// H20's matrix units are a quarter of H100's beside the same everything else: Hopper's kernels keep
// them busier (DeepSeek-R1's prompts at 0.85 of the peak, SGLang with Ant Group, September 2025).
TEST(DeviceLaws, SlowerMatrixUnitsOfTheSameCoresAreBusier) {
  const auto share = [](const char* name, const auto& time) {
    const Chip chip = lower(load_device(name));
    const KernelCost c = time(chip);
    return c.flops / c.time / (chip.per_clock[Precision::bf16] * chip.cores * chip.clock);
  };
  const Kernels kernels = load_kernels("fused");
  const AttentionShape prompt{
      .batch = 4, .heads = 32, .kv_heads = 8, .queries = 2048, .context = 2048};
  const auto attention = [&](const Chip& chip) {
    return attention_prefill(chip, kernels.prefill, prompt, false, chip.clock);
  };
  const auto multiply = [](const Chip& chip) { return gemm(chip, shapes[2], chip.clock); };
  EXPECT_GT(share("h20", attention), 1.4 * share("h100-sxm", attention));
  EXPECT_GT(share("h20", multiply), 1.05 * share("h100-sxm", multiply));
  EXPECT_LT(share("h20", multiply), 1);
}

// Rows that are not there cost lanes nothing: no library multiplies 31 of them beside one.
TEST(DeviceLaws, AVectorByAMatrixWaitsForMemory) {
  for (const auto& [name, type] :
       {std::pair("a100-sxm-80gb", Precision::fp32), std::pair("v100", Precision::fp32),
        std::pair("m4-max", Precision::fp16), std::pair("m4-max", Precision::int4),
        std::pair("m2-ultra", Precision::int4), std::pair("p100", Precision::int4)}) {
    const Chip chip = lower(load_device(name));
    const Gemm g{.m = 1, .n = 28672, .k = 4096, .type = type};
    const KernelCost c = gemm(chip, g, chip.clock);
    EXPECT_EQ(c.bound, Bound::dram) << name << " " << name_of(type);
    EXPECT_LT(c.time.value, 1.5 * (c.dram / chip.bandwidth).value) << name << " " << name_of(type);
  }
}

// A result of few tiles takes smaller ones, whose operands lanes wait for: of 1024 x 1024 results
// cuBLAS reaches 12.7 of 18 TFLOP/s on A100 (64x32), 31 of 50 on H200 (64x64).
TEST(DeviceLaws, LanesAreSlowerAtSmallResults) {
  for (const char* name : {"a100-pcie-40gb", "h200-sxm"}) {
    const Chip chip = lower(load_device(name));
    const auto rate = [&](double m, double k) {
      const KernelCost c =
          gemm(chip, {.m = m, .n = m, .k = k, .type = Precision::fp32}, chip.clock);
      return (c.flops / c.time).value;
    };
    const double share = rate(1024, 16384) / rate(8192, 8192);
    EXPECT_GT(share, 0.55) << name;
    EXPECT_LT(share, 0.92) << name;
  }
}

// Rows that lie far apart wait for their pages (cuBLAS in fp32, gemm-neusight-fp32): as much work
// in rows four times as long takes two to three times as long on P100, a little longer on V100.
TEST(DeviceLaws, LongRowsWaitForTheirPages) {
  struct Row {
    const char* device;
    double m, n, k, seconds;
  };
  for (const Row& row :
       {Row{"p100", 2048, 8192, 8192, 0.03814}, Row{"p100", 4096, 4096, 30522, 0.40097},
        Row{"p100", 16384, 4096, 65536, 3.85264}, Row{"p4", 1536, 4608, 16384, 0.05946},
        Row{"p4", 8192, 4096, 30522, 0.98927}, Row{"v100", 65536, 4096, 50272, 2.70167},
        Row{"a100-pcie-40gb", 2560, 50272, 65536, 1.35376}}) {
    SCOPED_TRACE(testing::Message()
                 << row.device << " " << row.m << " x " << row.n << " x " << row.k);
    Device d = load_device(row.device);
    const Gemm g{.m = row.m, .n = row.n, .k = row.k, .type = Precision::fp32};
    EXPECT_NEAR(multiply_seconds(d, g) / row.seconds, 1, 0.25);
    const double with = multiply_seconds(d, g);
    d.mechanism.page_reach = Bytes(0);
    EXPECT_LE(multiply_seconds(d, g), with);
  }
}

// Of 64 rows that Hopper's row-scaled kernels copy, 32 that are not there cost more than 32 that
// are (vLLM's on H200: 2.9 TB/s of weights for 32 rows, 3.5 for 64); with few cores nothing is
// seen.
TEST(DeviceLaws, RowsThatAreNotThereTakeTime) {
  const auto weights = [](const char* device, double m, double n) {  // TB/s
    const Chip chip = lower(load_device(device));
    const Gemm g{
        .m = m, .n = n, .k = 8192, .type = Precision::fp8, .provider = GemmLibrary::scaled};
    return n * g.k / gemm(chip, g, chip.clock).time.value / 1e12;
  };
  EXPECT_NEAR(weights("h200-sxm", 32, 28672), 2.85, 0.15);
  EXPECT_GT(weights("h200-sxm", 64, 28672), 3.4);
  EXPECT_LT(weights("h200-sxm", 24, 28672), weights("h200-sxm", 32, 28672));
  for (const auto& [device, n] :
       {std::pair("h100-sxm", 28672), std::pair("h200-sxm", 2048), std::pair("b200", 28672)}) {
    EXPECT_NEAR(weights(device, 32, n) / weights(device, 64, n), 1, 0.02) << device;
  }
}

// TensorRT-LLM 1.0 on A100, microseconds, of any number of heads up to 64: whole tiles of 64
// tokens, whole cores, two blocks at a time on each.
TEST(DeviceLaws, LatentCachesAreWalkedInPairsOnAmpere) {
  const Chip chip = lower(load_device("a100-sxm-80gb"));
  const Kernels kernels = load_kernels("trtllm-sync");
  const auto time = [&](double batch, double context) {
    const LatentShape s{.batch = batch, .heads = 16, .context = context};
    return latent_decode(chip, kernels, s, chip.clock).time.value * 1e6;
  };
  struct Row {
    double batch, context, measured;
  };
  for (const Row& r :
       {Row{1, 2, 15}, Row{1, 64, 15}, Row{1, 128, 23}, Row{1, 1024, 125}, Row{32, 1024, 138},
        Row{64, 1024, 181}, Row{128, 1024, 306}, Row{256, 1024, 480}, Row{512, 1024, 880},
        Row{1024, 1024, 1668}, Row{128, 65536, 18740}}) {
    EXPECT_NEAR(time(r.batch, r.context) / r.measured, 1, 0.1) << r.batch << ", " << r.context;
  }
  EXPECT_NEAR(time(54, 1024) / time(1, 1024), 1, 0.01);
  EXPECT_GT(time(55, 1024), 1.3 * time(54, 1024));
}

// RTX cards of Blackwell have a kernel that splits a cache; a user of 100,000 tokens waited 12 ms
// for a layer of it, as on A100, whose cores walk it alone.
TEST(DeviceLaws, LatentCachesAreSplitSinceBlackwell) {
  for (const char* name : {"rtx-pro-6000", "rtx-5090", "gb10"}) {
    const Device device = load_device(name);
    const Chip chip = lower(device);
    for (const Precision type : {Precision::bf16, Precision::fp8}) {
      const LatentShape s{.batch = 1, .heads = 16, .context = 100000, .cache_type = type};
      const KernelCost c =
          latent_decode(chip, load_kernels(kernels_for("trtllm", device)), s, chip.clock);
      EXPECT_GT((c.dram / c.time).value, 0.2 * chip.bandwidth.value) << name;
    }
  }
}

// XLA splits a number of 32 bits in three of 16 and leaves out the smallest products.
TEST(DeviceLaws, ATpuMultipliesIn32BitsBySixPassesOf16) {
  for (const std::string& name : preset_names(PresetKind::device)) {
    if (!name.starts_with("tpu")) continue;
    const Device d = load_device(name);
    EXPECT_NEAR(6 * d.matrix[Precision::fp32] / d.matrix[Precision::bf16], 1, 0.01) << name;
    EXPECT_FALSE(lower(d).on_vector(Precision::fp32)) << name;
  }
}

// GeForce's matrix units take tf32 at the rate that its lanes have in fp32, and so are not them:
// PyTorch with tf32 reached 82.8 and 86.7 TFLOP/s on an RTX 4090 at 2048 and 8192 (a thread of
// transformers-benchmarks, 2023; read November 2026), where fp32 without it reaches some 60.
TEST(DeviceLaws, AMatrixUnitsTypeIsNoLanesForHavingTheirRate) {
  for (const char* name : {"rtx-3090", "rtx-4090", "rtx-5090"}) {
    const Chip chip = lower(load_device(name));
    EXPECT_FALSE(chip.on_vector(Precision::tf32)) << name;
    EXPECT_TRUE(chip.on_vector(Precision::fp32)) << name;
    Gemm g{.m = 8192, .n = 8192, .k = 8192, .type = Precision::tf32};
    const Seconds matrix = gemm(chip, g, chip.clock).time;
    g.type = Precision::fp32;
    EXPECT_LT(matrix, 0.9 * gemm(chip, g, chip.clock).time) << name;
  }
  EXPECT_TRUE(lower(load_device("m2-ultra")).on_vector(Precision::fp16));
}

TEST(DeviceLaws, ATypeThatIsLackingIsNoFasterAndNoCoolerThanTheOneThatRuns) {
  for_each_device([](const Device& d) {
    const Chip chip = lower(d);
    for (std::size_t i = 0; i < MatrixRates::size; ++i) {
      const auto asked = static_cast<Precision>(i);
      const Precision runs = chip.runs[asked];
      if (runs == asked) continue;
      EXPECT_EQ(chip.matrix_energy[asked], chip.matrix_energy[runs]) << name_of(asked);
      Gemm g = shapes[2];
      g.type = asked;
      g.weight_bits = 8 * element_bytes(runs);  // stored alike: narrower weights do save bytes
      const KernelCost as_asked = gemm(chip, g, chip.clock);
      g.type = runs;
      EXPECT_GE(as_asked.time.value, 0.999 * gemm(chip, g, chip.clock).time.value)
          << name_of(asked);
    }
  });
}

TEST(DeviceLaws, MoreOfAResourceIsNeverSlower) {
  // With the power for it: they draw more at a time, and the clock falls where it is short.
  const auto faster_matrix = [](double factor) {
    return [factor](Device& d) {
      for (FlopsPerSecond& rate : d.matrix.values) rate *= factor;
      d.power.limit *= factor;
    };
  };
  const auto faster_type = [](Precision type) {
    return [type](Device& d) { d.matrix[type] *= 1.5; };
  };
  const std::array<std::function<void(Device&)>, 14> better{
      faster_matrix(1.5), faster_matrix(3), faster_matrix(5),
      [](Device& d) { d.memory.bandwidth *= 3.0; }, [](Device& d) { d.memory.bandwidth *= 16.0; },
      [](Device& d) { d.l2.per_clock = 3.0 * max(d.l2.per_clock, Bytes(64.0 * d.cores)); },
      [](Device& d) { d.l2.capacity *= 3.0; }, [](Device& d) { d.vector.fp32 *= 10.0; },
      [](Device& d) { d.power.limit *= 1.5; }, [](Device& d) { d.vector.special_per_clock *= 3.0; },
      // A clock that it may reach, and a type that these kernels do not multiply in.
      [](Device& d) { d.max_clock = 2.0 * max(d.max_clock, d.clock); },
      [](Device& d) {
        const bool beside = d.matrix[Precision::bf16].value > 0;
        if (beside) d.matrix[Precision::fp16] *= 2.0;
      },
      // One type alone: multiplies in another lose no more cycles for it.
      faster_type(Precision::bf16), faster_type(Precision::fp8)};
  const Kernels kernels = load_kernels("pytorch");
  AttentionShape prompt{.batch = 4, .heads = 32, .kv_heads = 8, .queries = 2048, .context = 2048};
  const AttentionShape token{.batch = 64, .heads = 32, .kv_heads = 8, .context = 4096};
  for_each_device([&](const Device& d) {
    const auto seconds = [&](const Device& x) {
      const Chip chip = lower(x);
      std::array<double, 11> t{};
      for (std::size_t i = 0; i < shapes.size(); ++i) t[i] = multiply_seconds(x, shapes[i]);
      t[4] = multiply_seconds(x, {.m = 4096, .n = 4096, .k = 4096, .type = Precision::fp32});
      t[5] = at_power(chip, Precision::bf16, sustained, [&](Hertz f) {
               return attention_prefill(chip, kernels.prefill, prompt, false, f);
             }).time.value;
      t[6] = at_power(chip, Precision::bf16, sustained, [&](Hertz f) {
               return attention_decode(chip, kernels, token, f);
             }).time.value;
      t[7] = stream(chip, kernels.stream[StreamOp::gelu], {8192, 8192, Bytes(4.0 * 8192 * 8192)})
                 .time.value;
      // 8192 tokens of Falcon 40B in 4 bits: TPU v4 took tiles that read more and drew more.
      t[8] = multiply_seconds(x, {.m = 8192, .n = 16384, .k = 8192, .type = Precision::int4});
      t[9] = multiply_seconds(x, {.m = 8192, .n = 8192, .k = 8192, .type = Precision::fp8});
      AttentionShape narrow = prompt;
      narrow.type = Precision::fp8;
      t[10] = at_power(chip, Precision::fp8, sustained, [&](Hertz f) {
                return attention_prefill(chip, kernels.prefill, narrow, false, f);
              }).time.value;
      return t;
    };
    const std::array<double, 11> before = seconds(d);
    for (std::size_t b = 0; b < better.size(); ++b) {
      Device more = d;
      better[b](more);
      const std::array<double, 11> after = seconds(more);
      for (std::size_t i = 0; i < before.size(); ++i) {
        EXPECT_LE(after[i], 1.01 * before[i]) << "resource " << b << ", kernel " << i;
      }
    }
  });
}

// x + y where y was just written, over the same where nothing is in the cache: one H200,
// PyTorch 2.11, CUDA graphs.
TEST(DeviceLaws, WhatWasJustWrittenIsReadFromTheCache) {
  const Chip chip = lower(load_device("h200-sxm"));
  const StreamKernel add = load_kernels("pytorch").stream[StreamOp::add];
  struct Measured {
    double megabytes, ratio;
  };
  for (const Measured m : {Measured{4, 0.84}, Measured{8, 0.806}, Measured{12, 0.803},
                           Measured{16, 0.862}, Measured{20, 0.919}, Measured{24, 0.949},
                           Measured{32, 0.990}, Measured{64, 1.0}, Measured{256, 1.0}}) {
    const double rows = m.megabytes * 1024 * 1024 / (2 * 4096);
    const Stream cold = moving(StreamOp::add, rows, 4096, 6);
    const KernelCost far = stream(chip, add, cold);
    const KernelCost near = stream(chip, add, following(cold));
    EXPECT_NEAR(near.time / far.time, m.ratio, 0.06) << m.megabytes << " MB";
    EXPECT_LE(near.dram, far.dram);
  }
  for_each_device([](const Device& d) {
    Device larger = d;
    larger.l2.capacity *= 8;
    const StreamKernel norm = load_kernels("pytorch").stream[StreamOp::rmsnorm];
    for (const double rows : {16.0, 512.0, 4096.0, 65536.0}) {
      const Stream s = following(moving(StreamOp::rmsnorm, rows, 8192, 4));
      EXPECT_LE(stream(lower(larger), norm, s).time, stream(lower(d), norm, s).time);
    }
  });
}

TEST(DeviceLaws, MemoryBeyondTheCacheIsNamed) {
  for_each_device([](Device d) {
    const Chip chip = lower(d);
    const BytesPerSecond cache = chip.l2_per_clock * chip.light_clock;
    EXPECT_EQ(outruns_cache(d, cache), "");
    d.memory.bandwidth = cache / d.mechanism.memory_efficiency * 1.01;
    EXPECT_NE(outruns_cache(d, cache).find("faster than the cache"), std::string::npos);
  });
}

TEST(DeviceLaws, MemoryBeyondTheCacheDoesNotStream) {
  Device d = load_device("h100-sxm");
  d.memory.bandwidth = BytesPerSecond(24e12);
  Device half = d;
  half.l2.per_clock *= 0.5;
  const Gemm g = shapes[0];
  const auto decode = [&](const Device& x) {
    const Chip chip = lower(x);
    return gemm(chip, g, chip.clock);
  };
  EXPECT_GT(decode(half).time.value, 1.3 * decode(d).time.value);
  const KernelCost c = decode(d);
  EXPECT_LE((c.dram / c.time).value, (d.l2.per_clock * d.clock).value);
  // And it is the cache that is waited for, whatever reads.
  const Chip chip = lower(d);
  EXPECT_EQ(c.bound, Bound::l2);
  EXPECT_LT(c.busy[Bound::dram], 0.5 * c.busy[Bound::l2]);
  const StreamKernel add = load_kernels("pytorch").stream[StreamOp::add];
  const Stream large{.rows = 65536, .cols = 8192, .bytes = Bytes(6.0 * 65536 * 8192)};
  EXPECT_EQ(stream(chip, add, large, chip.clock).bound, Bound::l2);
  d.memory.bandwidth = BytesPerSecond(3.35e12);
  EXPECT_EQ(decode(d).bound, Bound::dram);
}

// Matrix engines are fed by copies of their own: no matter how few they are and how little a block
// of threads takes in elsewhere, long caches stream as fast as memory gives them.
TEST(DeviceLaws, EnginesStreamTheirCaches) {
  const Kernels kernels = load_kernels("pytorch");
  for (const char* name : {"gaudi2", "gaudi3", "tpu-v5p", "tpu-v6e", "trainium2"}) {
    const Chip chip = lower(load_device(name));
    for (const double batch : {128.0, 1024.0}) {
      const AttentionShape s{.batch = batch, .heads = 32, .kv_heads = 32, .context = 500};
      const KernelCost c = attention_decode(chip, kernels, s, chip.clock);
      const double streamed =
          c.dram.value / (kernels.decode.memory_efficiency * chip.bandwidth.value);
      EXPECT_LT(c.time.value, 1.15 * streamed) << name << ", " << batch;
    }
  }
}

// TensorRT-LLM's constants before Hopper are A100's, whose rows of grouped queries say 3.4 of 2.0
// TB/s; long caches of one query a head are read at 1.75 there, and no GDDR gives all that it has.
TEST(DeviceLaws, NoCacheIsReadAtThePeakOfItsMemory) {
  for (const char* name : {"a100-sxm-80gb", "l4", "l40s", "rtx-4090", "gb10", "h100-sxm", "b200"}) {
    const Device device = load_device(name);
    const Chip chip = lower(device);
    for (const char* library : {"trtllm", "fused", "pytorch", "ggml-2026"}) {
      const Kernels kernels = load_kernels(kernels_for(library, device));
      const AttentionShape s{.batch = 64, .heads = 32, .kv_heads = 8, .context = 32768};
      const KernelCost c = attention_decode(chip, kernels, s, chip.clock);
      EXPECT_LT((c.dram / c.time).value, 0.95 * chip.bandwidth.value) << name << ", " << library;
    }
  }
}

// FlashAttention of PyTorch 2.11 on one H200, a token each: twice as many blocks as cores
// live there at a time, and up to four fifths of that they are cut to fill it. Between half and all
// of it, blocks that no whole number of pieces fits used to be left whole.
TEST(DeviceLaws, CachesAreCutUntilTheyFillFourFifthsOfTheDevice) {
  const Kernels kernels = load_kernels("pytorch");
  const Chip chip = lower(load_device("h200-sxm"));
  struct Row {
    double blocks, head_dim, context, microseconds, within = 0.2;
  };
  for (const Row& row :
       {Row{64, 64, 8192, 43.7}, Row{128, 64, 8192, 73.7}, Row{132, 64, 8192, 74.7},
        Row{160, 64, 8192, 102.1}, Row{192, 64, 8192, 113.2}, Row{216, 64, 8192, 230.2},
        Row{256, 64, 8192, 239.2}, Row{128, 128, 8192, 136.0}, Row{132, 128, 8192, 142.0},
        Row{144, 128, 8192, 169.8}, Row{192, 128, 8192, 210.0}, Row{208, 128, 8192, 223.6},
        Row{216, 128, 8192, 457.4}, Row{256, 128, 8192, 462.8},
        // A tile of 128 tokens and a few more are two pieces; one tile alone takes no turns.
        Row{1, 128, 128, 6.92, 0.5}, Row{1, 128, 192, 8.10}, Row{1, 128, 255, 8.10},
        Row{32, 128, 192, 9.61}, Row{32, 128, 255, 9.69}, Row{32, 64, 255, 9.47},
        // And none is cut into more than 128.
        Row{1, 128, 32768, 36.5, 0.05}, Row{1, 128, 65536, 41.4, 0.05},
        Row{1, 128, 131072, 50.1, 0.05}, Row{2, 128, 131072, 61.8, 0.1}}) {
    const AttentionShape s{.batch = row.blocks,
                           .heads = 8,
                           .kv_heads = 1,
                           .head_dim = row.head_dim,
                           .value_dim = row.head_dim,
                           .context = row.context};
    const double time = attention_decode(chip, kernels, s, chip.clock).time.value * 1e6;
    EXPECT_NEAR(time / row.microseconds, 1, row.within)
        << row.blocks << " of " << row.head_dim << ", " << row.context;
  }
}

// Tokens that choose for themselves do not all begin another tile at once: five more than fill the
// experts' tiles of 128 rows took half as long again.
TEST(DeviceLaws, ExpertsThatAreChosenFillTheirTilesOneAfterTheOther) {
  const Kernels kernels = load_kernels("trtllm");
  for (const char* name : {"h100-sxm", "h20", "a100-sxm-80gb", "mi300x"}) {
    const Chip chip = lower(load_device(name));
    ExpertLayer layer{.hidden = 2048, .ffn = 768, .topk = 8, .experts = 128};
    layer.routing.independent = true;
    double before = 0;
    for (layer.tokens = 1800; layer.tokens <= 2300; layer.tokens += 5) {
      const double time = expert_layer(chip, kernels.experts, layer, chip.clock).time.value;
      if (before > 0) {
        EXPECT_LT(time, 1.1 * before) << name << ", " << layer.tokens;
      }
      before = time;
    }
    // Exactly as many everywhere begin them together.
    layer.routing.independent = false;
    layer.tokens = 2048;
    const ExpertLoads whole = expert_loads(layer);
    EXPECT_EQ(whole.row_tiles[3], 128);
    layer.routing.independent = true;
    EXPECT_NEAR(expert_loads(layer).row_tiles[3], 1.5 * 128, 1);
  }
}

// Engines that multiply 8 bits as fast as 16 or faster never lose by them: tiles that CUTLASS fixes
// for cores of threads took twice as long on Gaudi 3 and TPU v6e.
TEST(DeviceLaws, ScaledMultipliesOfEnginesAreNoSlowerThanWideOnes) {
  int engines = 0;
  for_each_device([&](const Device& d) {
    const Chip chip = lower(d);
    const Precision wide = chip.runs[Precision::bf16];
    if (!chip.copied_in || chip.runs[Precision::fp8] != Precision::fp8) return;
    ++engines;
    for (const double tokens : {16.0, 64.0, 128.0, 512.0, 2048.0, 8192.0}) {
      for (const double width : {5120.0, 17408.0}) {
        Gemm g{.m = tokens, .n = width, .k = 5120, .type = wide};
        const Seconds in_wide = gemm(chip, g, chip.clock).time;
        g.type = Precision::fp8;
        g.provider = GemmLibrary::scaled;
        for (const double block : {0.0, 128.0}) {
          g.scale_block = block;
          EXPECT_LE(gemm(chip, g, chip.clock).time.value, 1.02 * in_wide.value)
              << tokens << " x " << width << ", " << block;
        }
      }
    }
  });
  EXPECT_GE(engines, 4);
}

TEST(DeviceLaws, NarrowWeightsOfAWideMultiplySaveBytesAndNothingElse) {
  for (const char* name : {"h100-sxm", "a100-sxm-80gb", "rtx-4090", "b200"}) {
    const Chip chip = lower(load_device(name));
    const auto at = [&](double m, double bits) {
      return gemm(chip, {.m = m, .n = 8192, .k = 8192, .weight_bits = bits}, chip.clock);
    };
    // One token: the fewer bits the faster, as memory allows.
    EXPECT_LT(at(1, stored_bits(Precision::int4)).time, 0.85 * at(1, 8).time) << name;
    EXPECT_LT(at(1, 8).time, 0.7 * at(1, 16).time) << name;
    EXPECT_DOUBLE_EQ(at(1, 4.25).dram.value - at(1, 8).dram.value, -8192.0 * 8192 * 3.75 / 8);
    // Many tokens: the multiplies decide.
    EXPECT_NEAR(at(8192, 4.25).time / at(8192, 16).time, 1, 0.1) << name;
  }
}

TEST(DeviceLaws, FourBitsOnHopperAreNoFasterThanItsFp8InCompute) {
  const Chip chip = lower(load_device("h100-sxm"));
  Gemm g = shapes[2];
  g.type = Precision::fp4;
  const KernelCost four = gemm(chip, g, chip.clock);
  g.type = Precision::fp8;
  const KernelCost eight = gemm(chip, g, chip.clock);
  EXPECT_GE(four.time.value, 0.95 * eight.time.value);  // narrower weights do save bytes
  EXPECT_GE(power_demand(chip, four, Precision::fp4).value * four.time.value,
            0.93 * power_demand(chip, eight, Precision::fp8).value * eight.time.value);
}

TEST(DeviceLaws, SustainedRatesAreThoseMeasured) {
  // TFLOP/s of large 16-bit multiplies on random data: MAMF of stas00/ml-engineering (AMD), one
  // H200 in a loop, B200 as the median of 320 shapes.
  struct Known {
    const char* device;
    double teraflops;
    double within;
  };
  for (const Known& k :
       {Known{"h200-sxm", 662, 0.06}, Known{"mi300x", 668, 0.12}, Known{"mi325x", 785, 0.12},
        Known{"mi355x", 1565, 0.12}, Known{"b200", 1090, 0.12}}) {
    const Gemm g = shapes[2];
    const double rate = 2 * g.m * g.n * g.k / multiply_seconds(load_device(k.device), g) / 1e12;
    EXPECT_NEAR(rate / k.teraflops, 1, k.within) << k.device;
  }
}

// cuBLAS 13 on an H200, random 8-bit numbers, bursts of milliseconds: microseconds with one scale a
// matrix, and with one for every 128 values of x and 128 x 128 of W.
TEST(DeviceLaws, ScalesOfBlocksCostWhatWasMeasured) {
  struct Row {
    double m, n, k, whole, blocks;
  };
  constexpr std::array<Row, 12> rows{{{2048, 7168, 16384, 303.5, 416.3},
                                      {8192, 7168, 16384, 1389.9, 1660.9},
                                      {2048, 36864, 7168, 709.8, 873.0},
                                      {8192, 36864, 7168, 2983.7, 4031.3},
                                      {2048, 4096, 7168, 78.8, 106.4},
                                      {8192, 4096, 7168, 344.4, 427.5},
                                      {2048, 24576, 1536, 116.2, 138.5},
                                      {8192, 24576, 1536, 485.8, 626.6},
                                      {8192, 2112, 7168, 171.1, 222.2},
                                      {2048, 7168, 18432, 354.2, 449.1},
                                      {2048, 7168, 2048, 42.8, 55.7},
                                      {8192, 9216, 4096, 461.1, 555.4}}};
  const Chip chip = lower(load_device("h200-sxm"));
  double predicted = 0;
  double measured = 0;
  for (const Row& r : rows) {
    Gemm g{.m = r.m, .n = r.n, .k = r.k, .type = Precision::fp8};
    const Seconds whole = gemm(chip, g, chip.clock).time;
    g.scale_block = 128;
    const double slower = gemm(chip, g, chip.clock).time / whole;
    EXPECT_GT(slower, 1.1) << r.m << " x " << r.n << " x " << r.k;
    EXPECT_LT(slower, 1.4) << r.m << " x " << r.n << " x " << r.k;
    predicted += std::log(slower) / rows.size();
    measured += std::log(r.blocks / r.whole) / rows.size();
  }
  EXPECT_NEAR(predicted, measured, 0.06);
}

// cuBLAS 13 has no asynchronous kernels of int8 for Hopper: measured on an H200, microseconds,
// loops of 30 ms. Those of CUTLASS, which engines take, run as fp8 does.
TEST(DeviceLaws, CublasMultipliesInt8AsTheGenerationBeforeDid) {
  struct Row {
    double m, n, k, microseconds;
  };
  const Chip chip = lower(load_device("h200-sxm"));
  for (const Row& r : {Row{8192, 8192, 8192, 1311.6}, Row{4096, 10240, 8192, 879.8},
                       Row{8192, 4096, 14336, 1146.7}, Row{16384, 5120, 5120, 1028.4},
                       Row{4096, 57344, 8192, 4243.4}}) {
    Gemm g{.m = r.m, .n = r.n, .k = r.k, .type = Precision::int8, .result_bytes = 4};
    const Seconds own = gemm(chip, g, chip.clock).time;
    EXPECT_NEAR(own.value * 1e6 / r.microseconds, 1, 0.12) << r.m << " x " << r.n << " x " << r.k;
    g.provider = GemmLibrary::scaled;
    EXPECT_LT(gemm(chip, g, chip.clock).time, 0.65 * own);
  }
}

// Kernels that torch.compile fused on an H200; eager PyTorch takes two for each.
TEST(DeviceLaws, EnginesStreamInOneKernelWhatEagerCodeDoesInTwo) {
  struct Row {
    StreamOp op;
    double rows, cols, microseconds;
  };
  constexpr std::array<Row, 8> rows{{{StreamOp::silu_mul, 1, 8192, 1.31},
                                     {StreamOp::silu_mul, 2048, 8192, 26.61},
                                     {StreamOp::silu_mul, 8192, 8192, 95.36},
                                     {StreamOp::silu_mul, 8192, 14336, 164.38},
                                     {StreamOp::add_rmsnorm, 1, 4096, 2.12},
                                     {StreamOp::add_rmsnorm, 2048, 4096, 18.17},
                                     {StreamOp::add_rmsnorm, 8192, 4096, 73.07},
                                     {StreamOp::add_rmsnorm, 8192, 8192, 140.66}}};
  const Chip chip = lower(load_device("h200-sxm"));
  for (const Row& r : rows) {
    const bool halves = r.op == StreamOp::silu_mul;
    const auto seconds = [&](const char* kernels) {
      const double cols = halves ? 2 * r.cols : r.cols;
      const Stream s = moving(r.op, r.rows, cols, halves ? 3 : 8);
      return stream(chip, load_kernels(kernels).stream[r.op], s, chip.light_clock).time.value;
    };
    EXPECT_NEAR(seconds("trtllm") / (r.microseconds * 1e-6), 1, 0.12) << r.rows << " x " << r.cols;
    if (r.rows > 1) {
      EXPECT_GT(seconds("pytorch"), 1.3 * seconds("trtllm")) << r.rows << " x " << r.cols;
    }
  }
}

TEST(AttentionMixed, ATokenBesideAPromptCostsABlock) {
  const Chip chip = lower(load_device("rtx-4090"));
  const Kernels kernels = load_kernels("pytorch-sync");
  const AttentionShape s{.heads = 32, .kv_heads = 8, .queries = 512, .context = 1024};
  const auto at = [&](double decoding) {
    return attention_mixed(chip, kernels.prefill, s, decoding, 4096, chip.clock).time.value;
  };
  EXPECT_EQ(at(0), attention_prefill(chip, kernels.prefill, s, false, chip.clock).time.value);
  EXPECT_GT(at(64), 3 * at(8));
}

// FlashAttention-2 gives every sequence of a launch the blocks of the longest, goes over 128 keys
// at a time, and reads the keys of a group once a head when as many requests run together as there
// are cores and one head of all overflows the cache (RTX 4090, vLLM 0.19, rows of attention-mixed).
TEST(AttentionMixed, TokensBesideAPromptTakeAsLongAsMeasured) {
  const Chip chip = lower(load_device("rtx-4090"));
  const Kernels kernels = load_kernels("fused-sync");
  struct Row {
    double prompt, past, requests, context, seconds;
  };
  for (const Row& row :
       {Row{16, 0, 128, 64, 179.9e-6}, Row{128, 32, 128, 16, 187.9e-6},
        Row{512, 32, 128, 32, 291.1e-6}, Row{2048, 0, 128, 16, 852.1e-6},
        Row{512, 64, 64, 32, 171.3e-6}, Row{512, 128, 128, 256, 560.9e-6},
        Row{512, 64, 64, 2048, 1241.5e-6}, Row{512, 32, 128, 2048, 4574e-6},
        Row{512, 256, 64, 4096, 2398.3e-6}, Row{512, 32, 128, 4096, 9089.9e-6},
        // Prompts that fill the cores: their last blocks wait for tokens of earlier heads.
        Row{256, 1024, 1, 64, 63.5e-6}, Row{256, 2048, 4, 32, 112.6e-6}}) {
    SCOPED_TRACE(testing::Message()
                 << row.requests << " of " << row.context << " beside " << row.prompt);
    const AttentionShape s{.batch = 1,
                           .heads = 32,
                           .kv_heads = 8,
                           .queries = row.prompt,
                           .context = row.past + row.prompt};
    const KernelCost c =
        attention_mixed(chip, kernels.prefill, s, row.requests, row.context, chip.clock);
    EXPECT_NEAR(c.time.value / row.seconds, 1, 0.12);
  }
}

// One H200, PyTorch 2.11, is_causal, dropout_p 0.1: how much longer than without.
TEST(DroppedScores, TakeAsLongAsMeasured) {
  struct Row {
    const char* library;
    double batch, heads, tokens, dim;
    double ahead, back;
  };
  constexpr std::array<Row, 6> rows = {{{"pytorch", 4, 16, 4096, 128, 209e-6, 309e-6},
                                        {"pytorch", 2, 16, 8192, 128, 412e-6, 521e-6},
                                        {"pytorch", 8, 16, 2048, 128, 104e-6, 182e-6},
                                        {"cudnn", 4, 16, 4096, 128, 527e-6, 325e-6},
                                        {"cudnn", 2, 16, 8192, 128, 1055e-6, 704e-6},
                                        {"cudnn", 4, 32, 4096, 64, 968e-6, 621e-6}}};
  const Chip chip = lower(load_device("h200-sxm"));
  for (const Row& r : rows) {
    SCOPED_TRACE(r.library);
    const Kernels kernels = load_kernels(r.library);
    AttentionShape s{.batch = r.batch,
                     .heads = r.heads,
                     .kv_heads = r.heads,
                     .head_dim = r.dim,
                     .value_dim = r.dim,
                     .queries = r.tokens,
                     .context = r.tokens};
    const auto more = [&](const PrefillKernel& k, bool backward, double dropout) {
      s.dropout = dropout;
      const Seconds with = attention_prefill(chip, k, s, backward, chip.clock).time;
      s.dropout = 0;
      return (with - attention_prefill(chip, k, s, backward, chip.clock).time).value;
    };
    EXPECT_NEAR(more(kernels.prefill, false, kernels.dropout.forward) / r.ahead, 1, 0.25);
    EXPECT_NEAR(more(kernels.backward, true, kernels.dropout.backward) / r.back, 1, 0.25);
  }
}

}  // namespace
}  // namespace sextant
