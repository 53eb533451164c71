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

// ZB-V's first stage has the first piece of the model and the last.
TEST(Sharing, OneStageOfAVHasBothEnds) {
  const Problem p = problem_of("dgx-h100", "megatron-core", "llama3.1-8b", Training{16, 4096});
  Strategy s{.pp = 4};
  const auto weights = [&](int stage) { return stage_memory(p, s, stage).parts[Space::weights]; };
  const Bytes head = weights(3) - weights(2);
  const Bytes first = weights(0);
  const Bytes middle = weights(1);
  s.schedule = Schedule::zero_bubble_v;
  EXPECT_NEAR(weights(0) / (first + head), 1, 1e-9);
  EXPECT_EQ(weights(3), middle);
  EXPECT_EQ(evaluate(p, s).fullest_stage, 0);
  EXPECT_EQ(explain(p, s).estimate.slowest_stage, 0);
}

// DualPipe's two copies of a stage are of one model.
TEST(Sharing, CopiesOfAStageSumTheirGradients) {
  const Problem p = problem_of("dgx-h100", "megatron-core", "llama3.1-8b", Training{16, 4096});
  const auto gradients = [&](Schedule how, int dp) {
    return evaluate(p, {.pp = 4, .dp = dp, .zero = dp > 1 ? 1 : 0, .schedule = how})
        .time[Time::gradients]
        .busy;
  };
  EXPECT_EQ(gradients(Schedule::one_f_one_b, 1).value, 0);
  for (const int dp : {1, 2}) {
    EXPECT_GT(gradients(Schedule::dual_pipe, dp), gradients(Schedule::one_f_one_b, dp));
  }
}

// One microbatch has no other's gradients of weights to wait with. A host that is late is late for
// those as well.
TEST(Sharing, FasterMemoryIsNoSlowerWhereWeightsWait) {
  System s = load_system("l40s-pcie");
  const auto step = [&] {
    const Problem p =
        problem_of(s, load_runtime("nanotron"), load_model("glm-4.5"), Training{1, 8192});
    return evaluate(p, {.tp = 8,
                        .pp = 4,
                        .cp = 2,
                        .schedule = Schedule::zero_bubble,
                        .recompute = Recompute::full})
        .step;
  };
  const Seconds slow = step();
  s.device.memory.bandwidth *= 20;
  EXPECT_LE(step(), slow);
}

// Weights that are states themselves are not written twice, and wide ones are twice as wide.
static_assert(optimizer_traffic(Optimizer::adamw, 4, 2) == 30);
static_assert(optimizer_traffic(Optimizer::adamw, 4, 4) == 28);
static_assert(optimizer_traffic(Optimizer::adamw_bf16_states, 4, 4) == 28);

}  // namespace
}  // namespace sextant
