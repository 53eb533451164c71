// SPDX-License-Identifier: Apache-2.0
// Kernel models are the inner loop of a search: they must not allocate. Counts calls of operator
// new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "sextant/cost/attention.hpp"
#include "sextant/cost/experts.hpp"
#include "sextant/cost/gemm.hpp"
#include "sextant/cost/power.hpp"
#include "sextant/cost/stream.hpp"

namespace {
std::atomic<long> allocations{0};
}

void* operator new(std::size_t size) {
  ++allocations;
  void* p = std::malloc(size == 0 ? 1 : size);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace sextant {
namespace {

TEST(Allocation, KernelModelsDoNotAllocate) {
  Device d;
  d.cores = 132;
  d.clock = Hertz(1.8e9);
  for (FlopsPerSecond& rate : d.matrix.values) rate = FlopsPerSecond(1e15);
  d.vector.fp32 = FlopsPerSecond(6e13);
  d.l2.capacity = Bytes(5e7);
  d.memory.bandwidth = BytesPerSecond(4e12);
  d.power.limit = Watts(700);
  const Chip chip = lower(d);
  const Kernels kernels;
  const Gemm g{.m = 300, .n = 8192, .k = 8192};
  const AttentionShape a{.batch = 8, .heads = 32, .kv_heads = 8, .queries = 700, .context = 4096};
  const ExpertLayer e{.tokens = 512,
                      .hidden = 4096,
                      .ffn = 2048,
                      .topk = 8,
                      .experts = 128,
                      .routing = {.exponent = 1.2}};
  const long before = allocations.load();
  double sum = 0;
  sum += at_power(chip, g.type, sustained, [&](Hertz f) { return gemm(chip, g, f); }).time.value;
  sum += attention_prefill(chip, kernels.prefill, a, false, chip.clock).time.value;
  sum += attention_decode(chip, kernels, a, chip.clock).time.value;
  sum += latent_decode(chip, kernels, {}, chip.clock).time.value;
  sum += expert_layer(chip, kernels.experts, e, chip.clock).time.value;
  sum += stream(chip, kernels.stream[StreamOp::gelu], {.rows = 4, .cols = 4, .bytes = Bytes(64)})
             .time.value;
  EXPECT_EQ(allocations.load(), before);
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace sextant
