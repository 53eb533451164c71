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
          .power = Watts(700),
          .idle = Watts(300)};
}

TEST(Run, AnOptimalIntervalIsNearYoungs) {
  const Seconds best = best_checkpoint_interval(Seconds(5), Seconds(11'000));
  EXPECT_NEAR(best.value, std::sqrt(2 * 5 * 11'000.0), 10);
  EXPECT_EQ(best_checkpoint_interval(Seconds(100), Seconds(40)), Seconds(40));
}

TEST(Run, LosesWhatLlama3Lost) {
  // Section 3.3.4: above 90 % effective training time, an interruption every three hours.
  const WholeRun r = whole_run(llama());
  EXPECT_GT(r.goodput, 0.90);
  EXPECT_LT(r.goodput, 0.97);
  EXPECT_NEAR((r.time / r.interruptions).value / 3600, 3.1, 0.1);
}

TEST(Run, PartsSumToTheTime) {
  const WholeRun r = whole_run(llama());
  const Seconds sum = r.computing + r.lost_checkpoints + r.lost_work + r.lost_restarts;
  EXPECT_NEAR(sum / r.time, 1, 1e-12);
}

TEST(Run, TheBestIntervalIsNotBeaten) {
  const WholeRun best = whole_run(llama());
  for (const double factor : {0.3, 0.6, 1.6, 3.0}) {
    RunTerms other;
    other.reliability.checkpoint_interval = factor * best.checkpoint_interval;
    EXPECT_LE(best.time, whole_run(llama(), other).time * 1.0001) << factor;
  }
}

TEST(Run, BetterMachinesAreNeverLater) {
  const WholeRun base = whole_run(llama());
  const auto later = [&](void (*better)(Reliability&)) {
    RunTerms t;
    better(t.reliability);
    return whole_run(llama(), t).time >= base.time;
  };
  EXPECT_FALSE(later([](Reliability& r) { r.device_between_failures *= 2; }));
  EXPECT_FALSE(later([](Reliability& r) { r.node_between_failures *= 2; }));
  EXPECT_FALSE(later([](Reliability& r) { r.restart = Seconds(180); }));
  EXPECT_FALSE(later([](Reliability& r) { r.checkpoint_bandwidth *= 10; }));
}

TEST(Run, RacksHaveManyHosts) {
  RunWork rack = llama();
  rack.devices_per_node = 72;
  EXPECT_EQ(whole_run(rack).time, whole_run(llama()).time);
  RunTerms trays;
  trays.reliability.devices_per_host = 4;
  EXPECT_GT(whole_run(rack, trays).time, whole_run(rack).time);
}

TEST(Run, NeverEndsWhereItFailsFasterThanItRestarts) {
  RunTerms t;
  t.reliability.device_between_failures = Seconds(16'384 * 60);
  const WholeRun run = whole_run(llama(), t);
  EXPECT_TRUE(std::isinf(run.time.value));
  EXPECT_TRUE(std::isinf(finish_p99(run, 0.1).value));
  EXPECT_FALSE(run.ends());
}

TEST(Run, CountsEnergyOfAllDevicesAndOfWaiting) {
  RunWork w = llama();
  w.power = w.idle = Watts(1000);
  const RunTerms t;
  const WholeRun r = whole_run(w, t);
  EXPECT_NEAR(r.energy.value / 3.6e6 / (t.facility.pue * r.device_hours), 1, 1e-12);
  EXPECT_NEAR(r.co2_kg / (r.energy.value / 3.6e6 * t.facility.grid_kg_per_kwh), 1, 1e-12);
  w.idle = Watts(0);
  const Seconds working = r.computing + r.lost_work;
  EXPECT_NEAR(whole_run(w, t).energy / r.energy, working / r.time, 1e-12);
}

TEST(Run, AnUncertainStepEndsLater) {
  const WholeRun r = whole_run(llama());
  EXPECT_GT(finish_p99(r), r.time);
  EXPECT_GT(finish_p99(r, 0.1), finish_p99(r));
  EXPECT_NEAR(finish_p99(r, 0.1) / r.time, std::exp(2.3263 * 0.1), 0.01);
}

// Whether a short run fails once or not at all decides when it ends.
TEST(Run, AShortRunFailsSeldom) {
  RunWork w = llama();
  w.tokens = 16e6 * 100;  // 520 s, a failure in three hours: one run in twenty
  const WholeRun some = whole_run(w);
  EXPECT_NEAR(some.interruptions, 0.05, 0.02);
  EXPECT_NEAR((finish_p99(some) - some.computing - some.lost_checkpoints) / some.each, 1, 1e-9);
  w.devices = 8;  // nobody fails
  const WholeRun none = whole_run(w);
  EXPECT_EQ(finish_p99(none), none.time);
}

TEST(Run, SaysDurationsAsPeopleDo) {
  EXPECT_EQ(format_duration(Seconds(5)), "5 s");
  EXPECT_EQ(format_duration(Seconds(600)), "10.0 min");
  EXPECT_EQ(format_duration(Seconds(11'124)), "3.1 h");
  EXPECT_EQ(format_duration(Seconds(5.5e6)), "63.7 days");
  EXPECT_EQ(format_duration(Seconds(79'200.0 * 3600)), "3300 days");
}

// A simulation of the same process, failure by failure.
TEST(Run, AgreesWithASimulation) {
  const RunWork w = llama();
  const Reliability rel;
  const Seconds p99 = finish_p99(whole_run(w));
  const WholeRun r = whole_run(w);
  std::mt19937_64 random(7);
  std::exponential_distribution<double> wait(1 / r.between_failures.value);
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
    late += now > p99.value ? 1 : 0;
  }
  EXPECT_NEAR(sum / runs / r.time.value, 1, 0.01);
  EXPECT_LT(late / runs, 0.04);
}

}  // namespace
}  // namespace sextant
