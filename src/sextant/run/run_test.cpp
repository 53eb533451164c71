// SPDX-License-Identifier: Apache-2.0
#include "sextant/run/run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sextant {
namespace {

// Llama 3 405B on 16,384 H100: 16 million tokens a step in about 5.2 s; masters, moments and
// weights of 405 billion parameters shared by all.
RunWork llama() {
  return {.tokens = 3.0e12,
          .tokens_per_step = 16e6,
          .step = Seconds(5.2),
          .devices = 16'384,
          .states = Bytes(405e9 * 14 / 16'384),
          .power = Watts(700)};
}

TEST(Run, AnOptimalIntervalIsNearYoungs) {
  const Seconds best = best_checkpoint_interval(Seconds(5), Seconds(11'000));
  EXPECT_NEAR(best.value, std::sqrt(2 * 5 * 11'000.0), 10);
  EXPECT_EQ(best_checkpoint_interval(Seconds(100), Seconds(40)), Seconds(40));
}

TEST(Run, LosesWhatLlama3Lost) {
  // Section 3.3.4: above 90 % effective training time, an interruption every three hours.
  const WholeRun r = whole_run(llama(), {}, {});
  EXPECT_GT(r.goodput, 0.90);
  EXPECT_LT(r.goodput, 0.97);
  EXPECT_NEAR((r.time / r.interruptions).value / 3600, 3.1, 0.1);
}

TEST(Run, PartsSumToTheTime) {
  const WholeRun r = whole_run(llama(), {}, {});
  const Seconds sum = r.computing + r.lost_checkpoints + r.lost_work + r.lost_restarts;
  EXPECT_NEAR(sum / r.time, 1, 1e-12);
  EXPECT_GT(r.time_p99, r.time);
}

TEST(Run, TheBestIntervalIsNotBeaten) {
  const WholeRun best = whole_run(llama(), {}, {});
  for (const double factor : {0.3, 0.6, 1.6, 3.0}) {
    Reliability other;
    other.checkpoint_interval = factor * best.checkpoint_interval;
    EXPECT_LE(best.time, whole_run(llama(), other, {}).time * 1.0001) << factor;
  }
}

TEST(Run, BetterMachinesAreNeverLater) {
  const WholeRun base = whole_run(llama(), {}, {});
  Reliability r;
  r.between_failures = 2.0 * r.between_failures;
  EXPECT_LT(whole_run(llama(), r, {}).time, base.time);
  r = {};
  r.restart = Seconds(180);
  EXPECT_LT(whole_run(llama(), r, {}).time, base.time);
  r = {};
  r.checkpoint_bandwidth = 10.0 * r.checkpoint_bandwidth;
  EXPECT_LT(whole_run(llama(), r, {}).time, base.time);
}

TEST(Run, NeverEndsWhereItFailsFasterThanItRestarts) {
  Reliability r;
  r.between_failures = Seconds(16'384 * 60);
  const WholeRun run = whole_run(llama(), r, {});
  EXPECT_TRUE(std::isinf(run.time.value));
  EXPECT_EQ(run.goodput, 0);
}

TEST(Run, CountsMoneyAndEnergyOfAllDevices) {
  RunWork w = llama();
  w.power = Watts(1000);
  Facility f;
  f.device_price = DollarsPerSecond(2.0 / 3600);
  const WholeRun r = whole_run(w, {}, f);
  EXPECT_NEAR(r.cost.value / (2 * r.device_hours), 1, 1e-12);
  EXPECT_NEAR(r.energy.value / 3.6e6 / (f.pue * r.device_hours), 1, 1e-12);
  EXPECT_NEAR(r.co2_kg / (r.energy.value / 3.6e6 * f.grid_kg_per_kwh), 1, 1e-12);
}

// A simulation of the same process, failure by failure.
TEST(Run, AgreesWithASimulation) {
  const RunWork w = llama();
  const Reliability rel;
  const WholeRun r = whole_run(w, rel, {});
  std::mt19937_64 random(7);
  std::exponential_distribution<double> wait(w.devices / rel.between_failures.value);
  double sum = 0;
  double late = 0;
  constexpr int runs = 100;
  for (int i = 0; i < runs; ++i) {
    double now = 0;
    double next = wait(random);
    double saved = 0;
    while (saved < r.computing.value) {
      const double end = now + (r.checkpoint_interval + r.checkpoint).value;
      if (next > end) {
        now = end;
        saved += r.checkpoint_interval.value;
        continue;
      }
      double back = next + rel.restart.value;
      next += wait(random);
      while (next < back) {
        back = next + rel.restart.value;
        next += wait(random);
      }
      now = back;
    }
    sum += now;
    late += now > r.time_p99.value ? 1 : 0;
  }
  EXPECT_NEAR(sum / runs / r.time.value, 1, 0.01);
  EXPECT_LT(late / runs, 0.04);
}

}  // namespace
}  // namespace sextant
