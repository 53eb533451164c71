// SPDX-License-Identifier: Apache-2.0
// Energy: no more than the limit allows, and what one H200 drew.
#include "sextant/predict/energy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/io/presets.hpp"

namespace sextant {
namespace {

template <class Work>
Problem problem_of(const char* system, const char* runtime, const char* model, const Work& work) {
  const Runtime r = load_runtime(runtime);
  return prepare(load_system(system), r, load_kernels(kernel_library(r)), load_model(model), work);
}

// The parts are those of the power that a pass is given.
TEST(Energy, SumsToThePowerOfAPass) {
  const Problem p = problem_of("h200-single", "pytorch-graph", "llama2-7b", Serving{});
  for (const PassShape& shape : {PassShape{1, 1, 1024}, PassShape{16, 1, 1024},
                                 PassShape{128, 1, 300}, PassShape{1, 2048, 2048}}) {
    const PassCost pass = serving_pass(p, {}, shape);
    const Joules drawn = pass.power * pass.time;
    EXPECT_NEAR(pass_energy(p, {}, shape).total() / drawn, 1, 0.01) << shape.batch;
  }
}

// Measured on one H200 with nvidia-smi (2026): Llama 2 7B decoding alone at a context of 1024 draws
// 451 W for 4.51 ms a step; GPT 2.7B training, batch 8, 690 W for 587 ms.
TEST(Energy, OfH200AsMeasured) {
  const Problem decode = problem_of("h200-single", "pytorch-graph", "llama2-7b", Serving{});
  const Energy token = pass_energy(decode, {}, {.batch = 1, .queries = 1, .context = 1024});
  EXPECT_NEAR(token.total().value / (450.7 * 4.50852e-3), 1, 0.08);
  const Problem train =
      problem_of("h200-single", "pytorch", "gpt-2.7b", Training{.batch = 8, .seq = 2048});
  const Energy step = step_energy(train, {.microbatch = 8});
  EXPECT_NEAR(step.total().value / (690.0 * 0.586946), 1, 0.08);
}

TEST(Energy, StaysWithinTheLimit) {
  for (const int tp : {1, 8}) {
    const Problem p =
        problem_of("dgx-h100", "megatron-core", "llama3.1-8b", Training{.batch = 64, .seq = 4096});
    Strategy s;
    s.tp = tp;
    s.dp = 64 / tp;
    s.zero = 1;
    const Estimate estimate = evaluate(p, s);
    const Energy e = step_energy(p, s);
    EXPECT_LT(e.total() / estimate.step, 1.05 * p.chip.power_limit);
    EXPECT_GT(e.total() / estimate.step, 0.4 * p.chip.power_limit);
    EXPECT_GT(e.compute.value, 0);
    EXPECT_GT(e.memory.value, 0);
    EXPECT_GT(e.idle.value, 0);
  }
}

TEST(Energy, OfARequestGrowsWithItsTokens) {
  Joules last{0};
  for (const int output : {1, 2, 100, 200}) {
    const Problem p = problem_of("dgx-h100", "trtllm", "llama2-13b",
                                 Serving{.batch = 4, .input = 500, .output = output});
    const Joules e = request_energy(p, {.tp = 2}).total();
    EXPECT_GT(e, last);
    last = e;
  }
}

}  // namespace
}  // namespace sextant
