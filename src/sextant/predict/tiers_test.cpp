// SPDX-License-Identifier: Apache-2.0
// Laws of a second memory: adding one never makes anything slower and never takes memory away; what
// is not used changes no digit; bytes are neither lost nor made.
#include "sextant/predict/tiers.hpp"

#include <gtest/gtest.h>

#include "sextant/predict/energy.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/predict/test_problem.hpp"

namespace sextant {
namespace {

constexpr double gigabyte = 1e9;

using test::tier_of;

Problem served(const char* model, const Serving& work, const Tier& tier = {},
               const char* system = "dgx-h100") {
  System s = load_system(system);
  s.device.tier = tier;
  return test::problem_of(s, load_runtime("vllm"), load_model(model), work);
}

const std::vector<Tier>& tiers() {
  static const std::vector<Tier> all = {tier_of(100, 0.1), tier_of(480, 0.5), tier_of(4000, 8),
                                        tier_of(512, 1.6, true), tier_of(4096, 12.8, true)};
  return all;
}

TEST(Tiers, SharesAddUp) {
  for (const Tier& tier : tiers()) {
    for (const Placement how : {Placement::overflow, Placement::weights, Placement::cache,
                                Placement::both, Placement::spread}) {
      for (const double share : {0.25, 1.0}) {
        Problem p = served("llama2-13b", {}, tier);
        p.serving.placement = how;
        p.serving.placed = share;
        for (const double cache : {0.0, 10.0, 60.0, 500.0}) {
          const Held h{Bytes(26 * gigabyte), Bytes(cache * gigabyte), Bytes(4 * gigabyte)};
          const Placed r = place(p, h);
          const Bytes all = h.weights + h.cache + h.rest;
          EXPECT_NEAR((r.first + r.second).value, all.value, 1e-6 * all.value);
          EXPECT_GE(r.weights, 0);
          EXPECT_LE(r.weights, 1);
          EXPECT_GE(r.cache, 0);
          EXPECT_LE(r.cache, 1);
          EXPECT_TRUE(!tier.read_only || r.cache == 0);
          const Bytes most = most_cache(p, h.weights, h.rest);
          EXPECT_LE(most + h.weights + h.rest, 1.000001 * (p.capacity + tier.capacity));
          if (most.value > 0) {
            EXPECT_TRUE(place(p, {h.weights, 0.999 * most, h.rest}).fits);
            EXPECT_FALSE(place(p, {h.weights, 1.001 * most, h.rest}).fits);
          }
        }
      }
    }
  }
}

TEST(Tiers, EffectiveBandwidthIsThatOfTheSlowerSide) {
  const Problem p = served("llama2-13b", {}, tier_of(480, 0.5));
  const double first = p.chip.bandwidth.value;
  EXPECT_DOUBLE_EQ(reading(p.chip, p.tier, 1).bandwidth.value, 0.5e12);
  EXPECT_DOUBLE_EQ(reading(p.chip, p.tier, 0.5).bandwidth.value, 1e12);
  // Few bytes beside: the first memory has less to read.
  EXPECT_DOUBLE_EQ(reading(p.chip, p.tier, 0.01).bandwidth.value, first / 0.99);
  const double balance = 0.5e12 / (first + 0.5e12);
  EXPECT_NEAR(reading(p.chip, p.tier, balance).bandwidth.value, first + 0.5e12, 1e3);
}

TEST(Tiers, UnusedChangesNoDigit) {
  for (const int batch : {1, 8}) {
    const Serving work{.batch = batch, .input = 500, .output = 100};
    const Problem without = served("llama2-13b", work);
    const ServingEstimate a = serve(without, {});
    for (const Tier& tier : tiers()) {
      const Problem p = served("llama2-13b", work, tier);
      const ServingEstimate b = serve(p, {});
      EXPECT_EQ(a.ttft.value, b.ttft.value);
      EXPECT_EQ(a.tpot.value, b.tpot.value);
      EXPECT_EQ(a.decode.power.value, b.decode.power.value);
      EXPECT_EQ(b.memory.second.value, 0);
      EXPECT_EQ(request_energy(without, {}).total().value, request_energy(p, {}).total().value);
    }
  }
}

TEST(Tiers, NeverSlowerNeverLess) {
  for (const char* model : {"llama2-13b", "llama3.1-70b", "mixtral-8x7b"}) {
    for (const Batching batching : {Batching::fixed, Batching::closed_loop}) {
      for (const int batch : {1, 64, 512}) {
        const Serving work{.batch = batch, .input = 1000, .output = 200, .batching = batching};
        const Strategy s{.tp = 2};
        const ServingEstimate a = serve(served(model, work), s);
        for (const Tier& tier : tiers()) {
          const ServingEstimate b = serve(served(model, work, tier), s);
          if (a.verdict != Verdict::fits) continue;
          EXPECT_EQ(b.verdict, Verdict::fits);
          EXPECT_LE(b.latency, a.latency);
          EXPECT_GE(b.memory.capacity.value, (1 - 1e-12) * a.memory.capacity.value);
          EXPECT_GE(b.memory.max_batch, a.memory.max_batch);
        }
      }
    }
  }
}

TEST(Tiers, HoldsWhatTheFirstCannot) {
  // 141 GB of weights on 80 GB: the rest is read from the second memory, which bounds the step.
  const Serving work{.batch = 1, .input = 200, .output = 200};
  EXPECT_EQ(serve(served("llama2-70b", work), {}).verdict, Verdict::out_of_memory);
  const Problem p = served("llama2-70b", work, tier_of(512, 1.6, true));
  const ServingEstimate e = serve(p, {});
  ASSERT_EQ(e.verdict, Verdict::fits);
  const ServingMemory& m = e.memory;
  EXPECT_NEAR((m.total() - m.second).value, p.capacity.value, 1e-6 * p.capacity.value);
  EXPECT_NEAR(m.second.value, 58 * gigabyte, 5 * gigabyte);
  // All weights but the table of tokens are read once a step, each from where it is.
  EXPECT_LT(e.decode.second, m.second);
  EXPECT_GT(e.decode.second, 0.98 * m.second);
  EXPECT_GT(e.decode.dram, 0.98 * m.weights);
  EXPECT_EQ(serve(served("llama2-13b", work, tier_of(512, 1.6)), {}).decode.second.value, 0);
  EXPECT_GT(e.tpot, m.second / p.tier.bandwidth);
  EXPECT_LT(e.tpot, 1.4 * (m.second / p.tier.bandwidth));
}

TEST(Tiers, MoreOfItIsNeverSlower) {
  const Serving work{.batch = 16, .input = 4000, .output = 200};
  Seconds before{1e9};
  Joules drawn{1e12};
  for (const double rate : {0.1, 0.5, 1.6, 3.2, 12.8}) {
    Tier t = tier_of(512, rate);
    t.energy = JoulesPerByte(400e-12 / (1 + rate));
    const Problem p = served("llama2-70b", work, t);
    const ServingEstimate e = serve(p, {});
    ASSERT_EQ(e.verdict, Verdict::fits);
    EXPECT_LT(e.tpot, before);
    const Joules memory = request_energy(p, {}).memory;
    EXPECT_LT(memory, drawn);
    before = e.tpot;
    drawn = memory;
  }
}

TEST(Tiers, SpreadIsTheFastest) {
  const Tier tier = tier_of(512, 1.6);
  Serving work{.batch = 8, .input = 2000, .output = 100};
  const auto tpot = [&](Placement how, double share) {
    work.placement = how;
    work.placed = share;
    const ServingEstimate e = serve(served("llama2-13b", work, tier), {});
    EXPECT_EQ(e.verdict, Verdict::fits);
    return e.tpot;
  };
  const Seconds spread = tpot(Placement::spread, 1);
  EXPECT_LT(spread, tpot(Placement::overflow, 1));
  for (const double share : {0.1, 0.3, 0.5, 1.0}) {
    EXPECT_LE(spread, 1.001 * tpot(Placement::weights, share));
    EXPECT_LE(spread, 1.001 * tpot(Placement::both, share));
  }
}

TEST(Tiers, LatencyShowsInEveryReadOfIt) {
  Tier tier = tier_of(512, 1.6, true);
  const Serving work{.batch = 1, .input = 200, .output = 10};
  const Seconds hidden = serve(served("llama2-70b", work, tier), {}).tpot;
  tier.latency = Seconds(15e-6);
  const Seconds shown = serve(served("llama2-70b", work, tier), {}).tpot;
  // Four multiplies in each of 80 layers, and the head.
  EXPECT_NEAR((shown - hidden).value, 321 * (15e-6 - 1.05e-6), 0.2 * 321 * 14e-6);
}

TEST(Tiers, WhatCannotBeIsSaid) {
  Serving work;
  work.placement = Placement::weights;
  EXPECT_EQ(serve(served("llama2-13b", work), {}).verdict, Verdict::placement_without_tier);
  work.placement = Placement::cache;
  const Problem flash = served("llama2-13b", work, tier_of(512, 1.6, true));
  EXPECT_EQ(serve(flash, {}).verdict, Verdict::placement_without_tier);
  work.placement = Placement::overflow;
  work.placed = 0.5;
  const Problem share = served("llama2-13b", work, tier_of(512, 1.6));
  EXPECT_EQ(serve(share, {}).verdict, Verdict::placement_without_tier);
  work.placement = Placement::spread;
  const Problem spread = served("llama2-13b", work, tier_of(512, 1.6));
  EXPECT_EQ(serve(spread, {}).verdict, Verdict::placement_without_tier);
}

}  // namespace
}  // namespace sextant
