// SPDX-License-Identifier: Apache-2.0
// How long the parts of a prediction take. The bar: a strategy whose block and mapping are at hand
// under a microsecond, so that a core passes a million a second.
#include <benchmark/benchmark.h>

#include "sextant/predict/block.hpp"
#include "sextant/predict/mapping.hpp"
#include "sextant/predict/test_problem.hpp"
#include "sextant/predict/train.hpp"

namespace {

using namespace sextant;

Problem problem() {
  return test::problem_of("dgx-a100", "megatron-core", "gpt3-175b",
                          Training{.batch = 512, .seq = 2048});
}

Strategy strategy() {
  return {
      .tp = 8, .pp = 8, .dp = 8, .interleave = 3, .sp = true, .recompute = Recompute::selective};
}

void BM_block(benchmark::State& state) {
  const Problem p = problem();
  for (auto _ : state) benchmark::DoNotOptimize(block_of(p, strategy()));
}
BENCHMARK(BM_block);

void BM_mapping(benchmark::State& state) {
  const Problem p = problem();
  for (auto _ : state) benchmark::DoNotOptimize(mapping_of(p, strategy()));
}
BENCHMARK(BM_mapping);

void BM_evaluate(benchmark::State& state) {
  const Problem p = problem();
  const Strategy s = strategy();
  const Block block = block_of(p, s);
  const Mapping mapping = mapping_of(p, s);
  for (auto _ : state) {
    benchmark::DoNotOptimize(legal(p, s));
    benchmark::DoNotOptimize(evaluate(p, s, block, mapping));
  }
}
BENCHMARK(BM_evaluate);

void BM_whole_prediction(benchmark::State& state) {
  const Problem p = problem();
  for (auto _ : state) benchmark::DoNotOptimize(evaluate(p, strategy()));
}
BENCHMARK(BM_whole_prediction);

}  // namespace
