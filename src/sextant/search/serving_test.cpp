// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/serving.hpp"

#include <gtest/gtest.h>

#include "sextant/search/recipe.hpp"
#include "sextant/search/test_scene.hpp"

namespace sextant {
namespace {

Problem serving_problem(const char* model, const char* system) {
  return test::problem_of(system, "trtllm", model,
                          Serving{.batch = 1, .input = 512, .output = 128});
}

ServingResult run(const Problem& p, const ServingSpace& space, const ServingAim& aim) {
  SearchProgress progress;
  return search_serving(p, space, aim, progress);
}

TEST(ServingSearch, IsWhatServeSaysOfEveryPoint) {
  const Problem p = serving_problem("llama3.1-8b", "dgx-h100");
  const ServingResult r = run(p, {.devices = 8}, {});
  ASSERT_FALSE(r.best.empty());
  for (const ServingFound& f : r.best) {
    Problem q = p;
    q.serving = f.serving;
    const ServingEstimate e = serve(q, f.strategy);
    EXPECT_EQ(e.tpot, f.estimate.tpot);
    EXPECT_EQ(e.ttft, f.estimate.ttft);
    EXPECT_EQ(f.devices(), 8);
  }
  // By hand: no power of two of requests on 1, 2, 4 or 8 devices gives more tokens a device.
  for (const int tp : {1, 2, 4, 8}) {
    for (const int batch : {1, 8, 64, 512}) {
      Problem q = p;
      q.serving.batch = batch;
      const ServingEstimate e = serve(q, {.tp = tp});
      if (e.verdict != Verdict::fits) continue;
      EXPECT_LE(e.tokens_per_second / tp, -r.best.front().score * (1 + 1e-12));
    }
  }
}

TEST(ServingSearch, LooksAtBatchesThatFillTiles) {
  struct Known {
    const char* model;
    const char* system;
    int batch;  ///< by hand: gives more than the most that fits
  };
  const Known all[] = {{"qwen2.5-vl-7b", "rtx-5090-node", 378},
                       {"falcon-mamba-7b", "l40s-pcie", 832},
                       {"qwen3-8b", "l40s-pcie", 310}};
  for (const Known& k : all) {
    Problem p = serving_problem(k.model, k.system);
    const ServingResult r = run(p, {.devices = 1}, {.top = 1});
    ASSERT_FALSE(r.best.empty()) << k.model;
    p.serving.batch = k.batch;
    const ServingEstimate by_hand = serve(p, r.best.front().strategy);
    ASSERT_EQ(by_hand.verdict, Verdict::fits) << k.model;
    EXPECT_GE(r.best.front().estimate.tokens_per_second, by_hand.tokens_per_second) << k.model;
    // One more or one less is no better.
    for (const int near : {-1, 1}) {
      p.serving.batch = r.best.front().serving.batch + near;
      const ServingEstimate e = serve(p, r.best.front().strategy);
      if (e.verdict != Verdict::fits) continue;
      EXPECT_LE(e.tokens_per_second, r.best.front().estimate.tokens_per_second) << k.model;
    }
  }
}

TEST(ServingSearch, KeepsToItsLimits) {
  const Problem p = serving_problem("llama3.1-8b", "dgx-h100");
  const ServingAim aim{.ttft = Seconds(0.2), .tpot = Seconds(0.01), .top = 1000};
  const ServingResult r = run(p, {.devices = 8}, aim);
  ASSERT_FALSE(r.best.empty());
  for (const ServingFound& f : r.best) {
    EXPECT_LE(f.estimate.ttft, aim.ttft);
    EXPECT_LE(f.estimate.tpot, aim.tpot);
  }
  EXPECT_EQ(r.evaluated, r.feasible + r.slow_first_token + r.slow_tokens + r.too_few_tokens +
                             r.rejected[Verdict::out_of_memory]);
  const ServingResult free = run(p, {.devices = 8}, {});
  EXPECT_LE(free.best.front().score, r.best.front().score);
}

TEST(ServingSearch, SaysWhatComesNearestWhereNothingServes) {
  const Problem small = serving_problem("llama3.1-8b", "dgx-h100");
  EXPECT_FALSE(run(small, {.devices = 8}, {}).nearest);
  for (const int threads : {1, 4}) {
    // A device has the fewest bytes where all share the weights, and a token least time.
    const Problem large = serving_problem("llama3.1-405b", "dgx-a100");
    const ServingResult lacks = run(large, {.devices = 4}, {.threads = threads});
    ASSERT_TRUE(lacks.nearest && lacks.best.empty());
    EXPECT_EQ(lacks.nearest->strategy.tp, 4);
    EXPECT_EQ(lacks.nearest->serving.batch, 1);
    EXPECT_GT(lacks.nearest->score, 1);
    const ServingResult slow =
        run(small, {.devices = 8}, {.tpot = Seconds(1e-5), .threads = threads});
    ASSERT_TRUE(slow.nearest && slow.best.empty());
    EXPECT_EQ(slow.nearest->estimate.verdict, Verdict::fits);
    EXPECT_EQ(slow.nearest->serving.batch, 1);
    EXPECT_DOUBLE_EQ(slow.nearest->score, slow.nearest->estimate.tpot.value / 1e-5);
  }
}

TEST(ServingSearch, FindsTheFewestDevicesThatMeetTheLimits) {
  const Problem p = serving_problem("llama3.1-70b", "dgx-h100");
  const ServingSpace space{.devices = 16, .at_most = true};
  const ServingAim loose{.objective = ServingObjective::devices};
  const ServingResult few = run(p, space, loose);
  ASSERT_FALSE(few.best.empty());
  EXPECT_EQ(few.best.front().devices(), 2);  // 141 GB of weights on devices of 80 GB
  ServingAim tight = loose;
  tight.tokens_per_second = 4 * few.best.front().tokens_per_second();
  const ServingResult more = run(p, space, tight);
  ASSERT_FALSE(more.best.empty());
  EXPECT_GT(more.best.front().devices(), few.best.front().devices());
  EXPECT_GE(more.best.front().tokens_per_second(), tight.tokens_per_second);
}

TEST(ServingSearch, GivesTheSameWithAnyNumberOfThreads) {
  const Problem p = serving_problem("deepseek-v2-lite", "dgx-h200");
  const ServingSpace space{.devices = 8};
  const ServingResult one = run(p, space, {.threads = 1});
  const ServingResult three = run(p, space, {.threads = 3});
  EXPECT_EQ(one.evaluated, three.evaluated);
  ASSERT_EQ(one.best.size(), three.best.size());
  ASSERT_EQ(one.pareto.size(), three.pareto.size());
  for (std::size_t i = 0; i < one.best.size(); ++i) {
    EXPECT_EQ(one.best[i].order, three.best[i].order);
  }
  for (std::size_t i = 0; i < one.pareto.size(); ++i) {
    EXPECT_EQ(one.pareto[i].order, three.pareto[i].order);
  }
}

TEST(Recipe, FitsAndUsesTheNodeFirst) {
  const Problem p = problem_for("gpt3-175b", "dgx-a100", 512);
  const std::optional<Strategy> s = usual_recipe(p, 512, Precision::bf16);
  ASSERT_TRUE(s);
  EXPECT_EQ(evaluate(p, *s).verdict, Verdict::fits);
  EXPECT_EQ(s->tp, 8);
  EXPECT_GT(s->pp, 1);
  EXPECT_FALSE(usual_recipe(p, 1, Precision::bf16));
  const std::optional<Strategy> moe =
      usual_recipe(problem_for("deepseek-v2-lite", "dgx-h200", 64), 64, Precision::bf16);
  ASSERT_TRUE(moe);
  EXPECT_EQ(moe->ep, 8);
}

}  // namespace
}  // namespace sextant
