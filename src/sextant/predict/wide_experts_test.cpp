// SPDX-License-Identifier: Apache-2.0
// Experts over many nodes as they are served: kernels of their own for the exchange, two halves of
// a batch in turns, copies of popular experts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/predict/held.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/predict/rules.hpp"
#include "sextant/predict/test_problem.hpp"

namespace sextant {
namespace {

using ::testing::HasSubstr;

Strategy ranks(int n) { return {.dp = n, .ep = n, .precision = Precision::fp8}; }

Problem wide(bool turns, int copies = 0) {
  Runtime runtime = load_runtime("sglang");
  runtime.communication.expert_kernels = true;
  runtime.overlap.experts = turns;
  Model model = load_model("deepseek-v3");
  model.experts.redundant = copies;
  return test::problem_of(load_system("dgx-h100"), runtime, model, Serving{});
}

// SGLang on 96 H100 (LMSYS, 5 May 2025): 50,302 tokens/s a node read prompts of 4096 on 32 ranks,
// 16384 tokens each; 22,282 generate on 72, 256 requests each of 2000 tokens.
TEST(WideExperts, MeetWhatWasPublished) {
  const Seconds prompt = serving_pass(wide(true), ranks(32), {128, 4096, 4096}).time;
  EXPECT_NEAR(128 * 4096.0 / 4 / prompt.value / 50302, 1, 0.12);
  const Seconds token = serving_pass(wide(true, 32), ranks(72), {72 * 256, 1, 2050}).time;
  EXPECT_NEAR(256 * 8 / token.value / 22282, 1, 0.12);
}

// And so where prompts are read as they are asked for, hosts and all.
TEST(WideExperts, HostsOfManyRanksLeaveThePublishedRate) {
  Problem p = wide(true);
  p.serving.batch = 128;
  p.serving.input = 4096;
  p.serving.output = 1;
  EXPECT_NEAR(128 * 4096.0 / 4 / serve(p, ranks(32)).first_token.value / 50302, 1, 0.15);
}

TEST(WideExperts, TurnsHideTheExchangeAndNeverCost) {
  struct Row {
    PassShape shape;
    bool pays;
  };
  for (const Row& r : {Row{{128, 4096, 4096}, true}, Row{{32 * 256, 1, 2000}, true},
                       Row{{32, 1, 2000}, false}, Row{{32, 4096, 4096}, false}}) {
    SCOPED_TRACE(r.shape.batch);
    const PassCost whole = serving_pass(wide(false), ranks(32), r.shape);
    const PassCost turns = serving_pass(wide(true), ranks(32), r.shape);
    EXPECT_LE(turns.time, whole.time);
    EXPECT_EQ(turns.time < whole.time, r.pays);
    EXPECT_EQ(turns.parts[Work::exchange] < whole.parts[Work::exchange], r.pays);
    EXPECT_NEAR(turns.flops / whole.flops, 1, 1e-9);
    Seconds sum;
    for (const Seconds s : turns.parts.values) sum += s;
    EXPECT_NEAR(sum / turns.time, 1, 1e-12);
    const ExplainedPass x = explain_pass(wide(true), ranks(32), r.shape);
    Seconds shown;
    for (const Operator& o : x.operators) shown += o.count * o.exposed;
    EXPECT_NEAR((shown + turns.parts[Work::host]) / turns.time, 1, 1e-9);
  }
  // One node, or tokens of one replica, exchange nothing that could be hidden.
  const Strategy one{.tp = 8, .precision = Precision::fp8};
  EXPECT_EQ(serving_pass(wide(true), one, {8, 2048, 2048}).time,
            serving_pass(wide(false), one, {8, 2048, 2048}).time);
}

TEST(WideExperts, CopiesFillRanksThatExpertsDoNotDivide) {
  const std::vector<Diagnostic> problems = check_serving(wide(false), ranks(72));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].message, HasSubstr("ep 72 does not divide the 256 experts"));
  EXPECT_THAT(problems[0].hint, HasSubstr("--set model.experts.redundant=32"));
  EXPECT_TRUE(check_serving(wide(false, 32), ranks(72)).empty());
  // 288 of them on 32 ranks: nine where there were eight, and all else as it was.
  const auto weights = [](int copies) {
    return serving_memory(wide(false, copies), ranks(32), false).weights.value;
  };
  EXPECT_NEAR((weights(32) - weights(0)) / (weights(0) - weights(-256)), 1.0 / 8, 1e-9);
}

}  // namespace
}  // namespace sextant
