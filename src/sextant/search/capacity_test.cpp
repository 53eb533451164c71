// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/capacity.hpp"

#include <gtest/gtest.h>

#include "sextant/predict/test_problem.hpp"

namespace sextant {
namespace {

Problem problem_of(const char* model) {
  return test::problem_of("dgx-h100", "vllm", model, Serving{});
}

CapacityAim aim_at(double rate) {
  CapacityAim a;
  a.traffic.rate = rate;
  a.traffic.requests = 300;
  a.traffic.input = 1000;
  a.traffic.output = 100;
  a.limits = {Seconds(1), Seconds(0.05)};
  return a;
}

TEST(Capacity, HoldsTheLimitsItWasAskedFor) {
  const Problem p = problem_of("llama3.1-8b");
  CapacitySpace space{.devices = 16};
  space.pp = {1};
  SearchProgress progress;
  const CapacityResult r = plan_capacity(p, space, aim_at(30), progress);
  ASSERT_FALSE(r.best.empty());
  for (const CapacityFound& f : r.best) {
    EXPECT_LE(f.devices, 16);
    EXPECT_GE(f.most, 30);
    EXPECT_LE(f.result.ttft.p99, 1.02);
    EXPECT_LE(f.result.tpot.p99, 1.02 * 0.05);
  }
  EXPECT_LE(r.best.front().devices, r.best.back().devices);
  std::uint64_t rejected = 0;
  for (const std::uint64_t n : r.rejected.values) rejected += n;
  EXPECT_GE(rejected + r.best.size(), std::min<std::uint64_t>(r.evaluated, 10));
}

// A plan for what one said to be its most: engines to which requests are dealt out in turn serve
// more than one of them with its share at random.
TEST(Capacity, ServesTheMostThatItSays) {
  const Problem p = problem_of("llama3.1-70b");
  CapacitySpace space{.devices = 8};
  space.tp = {4};
  space.pp = {1};
  space.disaggregated = false;
  CapacityAim aim = aim_at(3);
  aim.traffic.requests = 2000;
  aim.traffic.input = 2000;
  aim.traffic.output = 500;
  aim.limits = {Seconds(1), Seconds(0.04)};
  SearchProgress progress;
  const CapacityResult first = plan_capacity(p, space, aim, progress);
  ASSERT_FALSE(first.best.empty());
  aim.traffic.rate = 0.98 * first.best.front().most;
  const CapacityResult again = plan_capacity(p, space, aim, progress);
  ASSERT_FALSE(again.best.empty());
  EXPECT_EQ(again.best.front().devices, 8);
  EXPECT_NEAR(again.best.front().most / first.best.front().most, 1, 0.05);
}

// Few requests of very different lengths look better than many of them.
TEST(Capacity, HoldsTheLimitsForAllRequests) {
  const Problem p = problem_of("llama3.1-8b");
  CapacityAim aim = aim_at(20);
  aim.traffic.requests = 10000;
  aim.traffic.input = 2000;
  aim.traffic.output = 300;
  aim.traffic.lengths = Lengths::lognormal;
  aim.limits.tpot = Seconds(0.02);
  SearchProgress progress;
  const CapacityResult r = plan_capacity(p, {.devices = 16}, aim, progress);
  ASSERT_FALSE(r.best.empty());
  for (const auto* list : {&r.best, &r.pareto}) {
    for (const CapacityFound& f : *list) {
      EXPECT_LE(f.result.ttft.p99, 1.02) << f.devices;
      EXPECT_LE(f.result.tpot.p99, 1.02 * 0.02) << f.devices;
      EXPECT_LE(f.devices, 16);
    }
  }
}

TEST(Capacity, MoreRateTakesNoFewerDevices) {
  const Problem p = problem_of("llama3.1-8b");
  CapacitySpace space{.devices = 32};
  space.pp = {1};
  space.disaggregated = false;
  double before = 0;
  for (const double rate : {5.0, 40.0, 150.0}) {
    SearchProgress progress;
    const CapacityResult r = plan_capacity(p, space, aim_at(rate), progress);
    ASSERT_FALSE(r.best.empty()) << rate;
    EXPECT_GE(r.best.front().devices, before);
    before = r.best.front().devices;
  }
  EXPECT_GT(before, 1);
}

TEST(Capacity, OneEngineHasItsHeadroom) {
  const Problem p = problem_of("llama3.1-8b");
  CapacitySpace space{.devices = 1};
  space.disaggregated = false;
  double before = 0;
  for (const double rate : {0.5, 2.0, 4.0}) {
    SearchProgress progress;
    const CapacityResult r = plan_capacity(p, space, aim_at(rate), progress);
    ASSERT_EQ(r.best.size(), 1U) << rate;
    EXPECT_GT(r.best.front().most, 1.5 * rate);
    // How much it holds is of the engine, not of what is asked of it.
    if (before > 0) {
      EXPECT_NEAR(r.best.front().most / before, 1, 0.25) << rate;
    }
    before = r.best.front().most;
  }
}

TEST(Capacity, SaysWhyOthersFail) {
  const Problem p = problem_of("llama3.1-70b");
  CapacitySpace space{.devices = 8};
  space.disaggregated = false;
  CapacityAim aim = aim_at(0.5);
  aim.limits.tpot = Seconds(0.015);
  SearchProgress progress;
  const CapacityResult r = plan_capacity(p, space, aim, progress);
  EXPECT_GT(r.rejected[Shortfall::no_memory], 0U);  // one device does not hold it
  EXPECT_GT(r.rejected[Shortfall::token], 0U);      // two are too slow
  for (const CapacityFound& f : r.best) EXPECT_GE(f.strategy.tp, 4);
}

}  // namespace
}  // namespace sextant
