// SPDX-License-Identifier: Apache-2.0
// evaluate() and serve() are the inner loops of a search: they must not allocate. Counts calls of
// operator new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "sextant/io/presets.hpp"
#include "sextant/predict/infer.hpp"

namespace {
std::atomic<long> allocations{0};
}

void* operator new(std::size_t size) {
  ++allocations;
  void* p = std::malloc(size == 0 ? 1 : size);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace sextant {
namespace {

TEST(Allocation, AStepIsEvaluatedWithout) {
  for (const char* model : {"gpt3-175b", "mixtral-8x7b", "deepseek-v3"}) {
    const Problem p =
        prepare(load_system("dgx-h100"), load_runtime("megatron-core"),
                {load_kernels("pytorch"), load_collectives("nccl"), load_collectives("nccl")},
                load_model(model), {.batch = 64, .seq = 4096});
    const long before = allocations.load();
    double sum = 0;
    for (const int pp : {1, 2, 4}) {
      for (const int zero : {0, 1, 3}) {
        for (const Recompute r : {Recompute::none, Recompute::selective, Recompute::full}) {
          const Strategy s{.tp = 4, .pp = pp, .dp = 8, .zero = zero, .sp = true, .recompute = r};
          sum += evaluate(p, s).step.value + stage_times(p, s, 0).forward.value;
        }
      }
    }
    EXPECT_EQ(allocations.load(), before) << model;
    EXPECT_GT(sum, 0);
  }
}

TEST(Allocation, RequestsAreServedWithout) {
  for (const char* model : {"llama2-70b", "mixtral-8x7b", "deepseek-v3"}) {
    Problem p =
        prepare(load_system("dgx-h100"), load_runtime("trtllm"),
                {load_kernels("trtllm"), load_collectives("nccl"), load_collectives("one-shot")},
                load_model(model), Serving{.batch = 16, .input = 500, .output = 100});
    const long before = allocations.load();
    double sum = 0;
    for (const int tp : {1, 8}) {
      for (const Batching b : {Batching::fixed, Batching::closed_loop}) {
        const Strategy s{.tp = tp, .pp = 2, .precision = Precision::fp8};
        p.serving.batching = b;
        p.serving.chunk = b == Batching::fixed ? 0 : 256;
        p.serving.speculation.tokens = tp > 1 ? 2 : 0;
        sum += serve(p, s).latency.value + serving_pass(p, s, {16, 1, 500}).time.value;
      }
    }
    EXPECT_EQ(allocations.load(), before) << model;
    EXPECT_GT(sum, 0);
  }
}

}  // namespace
}  // namespace sextant
