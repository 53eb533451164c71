// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/ranking.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Ranking, CorrelatesRanks) {
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3}, {10, 20, 300}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3}, {3, 2, 1}), -1);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {1, 3, 2, 4}), 0.8);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 1}, {2, 3}), 0);
  EXPECT_NEAR(rank_correlation({1, 2, 2, 3}, {1, 2, 3, 4}), 0.9487, 1e-4);
}

TEST(Ranking, SaysWhatTheBestPredictedReallyGives) {
  std::vector<Case> cases;
  std::vector<CaseResult> results;
  const auto add = [&](const char* id, int tp, const char* metric, double predicted,
                       double measured) {
    Case c;
    c.id = id;
    c.group = "runs";
    c.system = "dgx-a100";
    TrainCase t;
    t.model = "m";
    t.inputs.strategy = {.tp = tp, .dp = 8 / tp};
    c.kernel = t;
    cases.push_back(c);
    CaseResult r;
    r.id = id;
    r.group = "runs";
    r.metric = metric;
    r.predicted = predicted;
    r.measured = measured;
    results.push_back(r);
  };
  add("a", 1, "step_seconds", 1, 4);
  add("b", 2, "step_seconds", 2, 3);
  add("c", 4, "step_seconds", 3, 5);
  add("memory", 8, "peak_bytes_forward_backward", 3, 5);
  const std::vector<Ranking> r = rank_runs(cases, results);
  ASSERT_EQ(r.size(), 1U);
  EXPECT_EQ(r[0].name, "runs: m on 8 dgx-a100");
  EXPECT_EQ(r[0].cases, 3);
  EXPECT_DOUBLE_EQ(r[0].chosen, 0.75);
  EXPECT_DOUBLE_EQ(r[0].spearman, 0.5);
}

}  // namespace
}  // namespace sextant
