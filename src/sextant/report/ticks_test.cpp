// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/ticks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sextant/units/units.hpp"

namespace sextant::plot {
namespace {

using testing::ElementsAre;

std::vector<std::string> labels(const Scale& scale) {
  std::vector<std::string> out;
  for (const Tick& t : scale.ticks) {
    if (!t.label.empty()) out.push_back(t.label + (t.exponent.empty() ? "" : "^" + t.exponent));
  }
  return out;
}

TEST(Ticks, LinearAxisCountsInRoundSteps) {
  const Scale s = make_scale({.label = "Batch", .unit = "sequences"}, {1, 64}, 8);
  EXPECT_EQ(s.title, "Batch (sequences)");
  EXPECT_EQ(s.low, 0);
  EXPECT_THAT(labels(s), ElementsAre("0", "10", "20", "30", "40", "50", "60"));
}

TEST(Ticks, LinearAxisTakesOnePrefix) {
  const Scale s = make_scale({.label = "Time", .dimension = Seconds::dimension}, {1e-3, 9e-3}, 5);
  EXPECT_EQ(s.title, "Time (ms)");
  EXPECT_THAT(labels(s), ElementsAre("0", "2", "4", "6", "8"));
}

TEST(Ticks, LargePlainNumbersShareAPower) {
  const Scale s = make_scale({.label = "Parameters"}, {1e6, 40e6}, 5);
  EXPECT_EQ(s.title, "Parameters (10⁶)");
  EXPECT_THAT(labels(s), ElementsAre("0", "10", "20", "30", "40"));
}

TEST(Ticks, StepsBelowOneKeepTheirDecimals) {
  const Scale s = make_scale({.label = "Share", .min = 0, .max = 1}, {}, 4);
  EXPECT_THAT(labels(s), ElementsAre("0.00", "0.25", "0.50", "0.75", "1.00"));
}

TEST(Ticks, LogAxisLabelsDecades) {
  const Scale plain = make_scale({.label = "n", .log = true}, {1, 1e6}, 8);
  EXPECT_THAT(labels(plain), ElementsAre("1", "10", "100", "1000", "10000", "10^5", "10^6"));
  const Scale times =
      make_scale({.label = "t", .dimension = Seconds::dimension, .log = true}, {5e-6, 2e-2}, 8);
  EXPECT_THAT(labels(times), ElementsAre("10 µs", "100 µs", "1 ms", "10 ms"));
  EXPECT_GT(times.ticks.size(), 20U);  // with the minor ones
}

TEST(Ticks, ShortLogAxesStillHaveLabels) {
  EXPECT_THAT(labels(make_scale({.log = true}, {3, 40}, 8)), ElementsAre("5", "10", "20"));
  EXPECT_THAT(labels(make_scale({.log = true}, {3, 4}, 4)), ElementsAre("3", "3.5", "4"));
}

TEST(Ticks, WideLogAxesSkipDecades) {
  const Scale s = make_scale({.log = true}, {1e-12, 1e12}, 6);
  EXPECT_LE(labels(s).size(), 6U);
  EXPECT_GE(labels(s).size(), 4U);
}

TEST(Ticks, AnyDataGivesAnAxis) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::vector<double>> sets = {{},
                                                 {0},
                                                 {5},
                                                 {-5},
                                                 {nan, inf, -inf},
                                                 {nan, 3},
                                                 {1e300},
                                                 {-1e300, 1e300},
                                                 {1e-300},
                                                 {1, 1 + 1e-13},
                                                 {-3, -1},
                                                 {1e-320},
                                                 {0, 1e-20},
                                                 {1e18, 1e18 + 1}};
  for (const bool log : {false, true}) {
    for (const auto& data : sets) {
      const Scale s = make_scale({.dimension = Seconds::dimension, .log = log}, data, 6);
      EXPECT_LT(s.low, s.high);
      EXPECT_LT(s.ticks.size(), 300U);
      for (const Tick& t : s.ticks) {
        EXPECT_GE(s.at(t.value), -1e-6);
        EXPECT_LE(s.at(t.value), 1 + 1e-6);
      }
      for (const double v : data) {
        if (s.accepts(v)) {
          EXPECT_GE(s.at(v), -1e-9) << v;
          EXPECT_LE(s.at(v), 1 + 1e-9) << v;
        }
      }
    }
  }
}

TEST(Ticks, FixedLimitsWin) {
  const Scale s = make_scale({.min = 10, .max = 20}, {1, 100}, 5);
  EXPECT_EQ(s.low, 10);
  EXPECT_EQ(s.high, 20);
  const Scale inverted = make_scale({.min = 20, .max = 10}, {1, 100}, 5);
  EXPECT_LT(inverted.low, inverted.high);
}

TEST(Ticks, PositionIsLinearInTheLogarithm) {
  const Scale s = make_scale({.log = true, .min = 1, .max = 100}, {}, 5);
  EXPECT_DOUBLE_EQ(s.at(10), 0.5);
  EXPECT_FALSE(s.accepts(0));
  EXPECT_FALSE(s.accepts(-1));
}

}  // namespace
}  // namespace sextant::plot
