// SPDX-License-Identifier: Apache-2.0
// What the host launches in a step of serving, and which kernels are one.
#include <gtest/gtest.h>

#include "sextant/predict/infer.hpp"
#include "sextant/predict/test_problem.hpp"

namespace sextant {
namespace {

Problem served(const char* system, const char* runtime, const char* model) {
  return test::problem_of(system, runtime, model, Serving{});
}

// Hosts of attention's ranks launch at their own pace and meet to exchange tokens.
TEST(Launches, RanksOfAttentionMeetInEveryLayer) {
  const Problem experts = served("dgx-h100", "sglang", "qwen3-30b-a3b");
  const Seconds alone = prompt_launch(experts, {});
  const Seconds four = prompt_launch(experts, {.dp = 4, .ep = 4});
  EXPECT_NEAR((four - alone).value, 48 * 3 * experts.runtime.engine.meeting.value, 1e-9);
  const Problem dense = served("dgx-h100", "sglang", "llama3.1-8b");
  EXPECT_EQ(prompt_launch(dense, {.dp = 4}), prompt_launch(dense, {}));
}

// Graphs between attention kernels leave the host a launch a layer; latent attention is launched
// with all its projections.
TEST(Launches, PiecesLeaveTheHostWhatMixesTokens) {
  struct Case {
    const char* model;
    double least, most;  ///< of what launching one by one takes
  };
  for (const Case& k : {Case{"llama3.1-70b", 0.01, 0.1}, Case{"deepseek-r1", 0.2, 0.6}}) {
    Problem p = served("dgx-b200", "trtllm", k.model);
    const Strategy s{.tp = 8, .precision = Precision::fp8};
    const Seconds eager = prompt_launch(p, s);
    p.runtime.engine.mixed_launch = MixedLaunch::piecewise;
    const double share = prompt_launch(p, s) / eager;
    EXPECT_GT(share, k.least) << k.model;
    EXPECT_LT(share, k.most) << k.model;
    p.runtime.engine.mixed_launch = MixedLaunch::graph;
    EXPECT_EQ(prompt_launch(p, s), Seconds(0)) << k.model;
  }
}

// The kernels that add ranks' results and normalise them at once are the stack's own, which large
// messages do not fit: a norm is a kernel again.
TEST(Launches, NormsAreFusedWithSumsThatTheStacksKernelsTake) {
  const Problem p = served("dgx-b200", "trtllm", "llama3.1-70b");
  const auto norms = [&](double tokens) {
    double kernels = 0;
    for (const Operator& o : explain_pass(p, {.tp = 8}, {1, tokens, tokens}).operators) {
      if (std::string_view(o.name) == "norm") kernels += o.count;
    }
    return kernels;
  };
  EXPECT_EQ(norms(480), 0);    // 7.9 MB
  EXPECT_EQ(norms(512), 160);  // 8.4 MB
  // A sum of 1 MB is theirs, too: not many times one of half a MB.
  const auto sum = [&](double batch) {
    for (const Operator& o : explain_pass(p, {.tp = 8}, {batch, 1, 1024}).operators) {
      if (std::string_view(o.name) == "sum") return o.cost.time;
    }
    return Seconds(0);
  };
  EXPECT_LT(sum(64), 2 * sum(32));
}

}  // namespace
}  // namespace sextant
