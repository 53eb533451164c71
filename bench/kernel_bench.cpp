// SPDX-License-Identifier: Apache-2.0
// How long one evaluation of each kernel model takes. The bar: a matrix multiply, all tiles and
// splits, under 3 µs and without allocation (cost/allocation_test.cpp).
#include <benchmark/benchmark.h>

#include "sextant/cost/power.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/validate/evaluate.hpp"

namespace {

using namespace sextant;

void BM_gemm(benchmark::State& state) {
  const Chip chip = lower(load_device("h200-sxm"));
  Gemm g{.m = static_cast<double>(state.range(0)), .n = 8192, .k = 8192};
  for (auto _ : state) {
    benchmark::DoNotOptimize(g);
    benchmark::DoNotOptimize(gemm(chip, g, chip.clock));
  }
}
BENCHMARK(BM_gemm)->Arg(1)->Arg(64)->Arg(1024)->Arg(16384);

void BM_gemm_sustained(benchmark::State& state) {
  const Chip chip = lower(load_device("h200-sxm"));
  const Gemm g{.m = 8192, .n = 8192, .k = 8192};
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        at_power(chip, g.type, sustained, [&](Hertz clock) { return gemm(chip, g, clock); }));
  }
}
BENCHMARK(BM_gemm_sustained);

void BM_attention_prefill(benchmark::State& state) {
  const Chip chip = lower(load_device("h200-sxm"));
  const Kernels kernels = load_kernels("trtllm");
  const AttentionShape s{.batch = 4, .heads = 64, .kv_heads = 8, .queries = 4096, .context = 4096};
  for (auto _ : state) {
    benchmark::DoNotOptimize(attention_prefill(chip, kernels.prefill, s, false, chip.clock));
  }
}
BENCHMARK(BM_attention_prefill);

void BM_attention_decode(benchmark::State& state) {
  const Chip chip = lower(load_device("h200-sxm"));
  const Kernels kernels = load_kernels("trtllm");
  const AttentionShape s{.batch = 64, .heads = 64, .kv_heads = 8, .queries = 1, .context = 4096};
  for (auto _ : state) benchmark::DoNotOptimize(attention_decode(chip, kernels, s, chip.clock));
}
BENCHMARK(BM_attention_decode);

void BM_experts(benchmark::State& state) {
  const Chip chip = lower(load_device("h200-sxm"));
  const Kernels kernels = load_kernels("trtllm");
  const ExpertLayer l{
      .tokens = 4096, .hidden = 7168, .ffn = 2048, .topk = 8, .experts = 256, .ep = 8};
  for (auto _ : state) benchmark::DoNotOptimize(expert_layer(chip, kernels.experts, l, chip.clock));
}
BENCHMARK(BM_experts);

}  // namespace
