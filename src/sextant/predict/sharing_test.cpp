// SPDX-License-Identifier: Apache-2.0
// What ranks share out is all of the work, once; what one of them lacks for it is sent.
#include <gtest/gtest.h>

#include "sextant/predict/mapping.hpp"
#include "sextant/predict/memory.hpp"
#include "sextant/predict/test_problem.hpp"
#include "sextant/predict/train.hpp"

namespace sextant {
namespace {

using test::problem_of;

// Ranks that hold other experts have no share of this one's matrices.
TEST(Sharing, MatricesAreSharedAsTheirStatesAre) {
  const Problem p =
      problem_of("dgx-h100", "megatron-core", "qwen3-30b-a3b", Training{8, 4096, Optimizer::muon});
  const auto time = [&](int ep, int zero) {
    return mapping_of(p, {.dp = 8, .ep = ep, .zero = zero}).optimizer.value;
  };
  EXPECT_NEAR(time(8, 1) / time(1, 1), 1, 0.01);
  EXPECT_GT(time(1, 0), 6 * time(1, 1));
}

// However many microbatches leave their gradients at once.
TEST(Sharing, TiedEmbeddingsAreSummedOnceAStep) {
  const auto gradients = [](bool tied, int zero) {
    Model m = load_model("gemma3-4b");
    m.tied = tied;
    const Problem p =
        problem_of(load_system("dgx-h100"), load_runtime("megatron-lm"), m, Training{64, 1024});
    return evaluate(p, {.pp = 2, .dp = 2, .zero = zero}).time[Time::gradients].busy;
  };
  const Seconds table = gradients(true, 1) - gradients(false, 1);
  EXPECT_GT(table.value, 0);
  EXPECT_NEAR((gradients(true, 2) - gradients(false, 2)) / table, 1, 1e-6);
}

// Weights that are states themselves are not written twice, and wide ones are twice as wide.
static_assert(optimizer_traffic(Optimizer::adamw, 4, 2) == 30);
static_assert(optimizer_traffic(Optimizer::adamw, 4, 4) == 28);
static_assert(optimizer_traffic(Optimizer::adamw_bf16_states, 4, 4) == 28);

}  // namespace
}  // namespace sextant
