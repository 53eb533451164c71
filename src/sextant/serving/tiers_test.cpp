// SPDX-License-Identifier: Apache-2.0
// Requests over time on devices with a second memory: what holds of one memory holds of two.
#include <gtest/gtest.h>

#include "sextant/serving/test_cluster.hpp"

namespace sextant {
namespace {

using test::tier_of;
using test::traffic_at;

Cluster cluster_with(const Tier& tier, const char* model = "llama2-13b", const Serving& work = {}) {
  System system = load_system("dgx-h100");
  system.device.tier = tier;
  Cluster c;
  c.pool = test::pool_on(system, model, "vllm", {}, {}, 1, work);
  return c;
}

const std::vector<Tier>& tiers() {
  static const std::vector<Tier> all = {tier_of(100, 0.1), tier_of(480, 0.5), tier_of(4000, 8),
                                        tier_of(512, 1.6, true)};
  return all;
}

// At a low rate the first memory holds every cache.
TEST(TieredTraffic, UnusedChangesNoDigit) {
  const TrafficResult a = simulate(cluster_with({}), traffic_at(2, 300), {});
  for (const Tier& tier : tiers()) {
    const TrafficResult b = simulate(cluster_with(tier), traffic_at(2, 300), {});
    EXPECT_EQ(a.ttft.mean, b.ttft.mean);
    EXPECT_EQ(a.tpot.mean, b.tpot.mean);
    EXPECT_EQ(a.joules, b.joules);
  }
}

TEST(TieredTraffic, LosesNothingAndKeepsLittlesLaw) {
  for (const char* model : {"llama2-13b", "llama2-70b"}) {
    for (const Placement how : {Placement::overflow, Placement::weights, Placement::spread}) {
      for (const Tier& tier : tiers()) {
        const Cluster c = cluster_with(tier, model, {.placement = how});
        if (c.pool.limits.cache_tokens < 16384) continue;  // weights that the second cannot hold
        const double rate = std::string_view(model) == "llama2-13b" ? 12 : 0.5;
        const Traffic t = traffic_at(rate, 600);
        const TrafficResult r = simulate(c, t, {});
        EXPECT_EQ(r.completed, t.requests);
        EXPECT_NEAR(r.mean_present / (r.requests_per_second() * r.latency.mean), 1, 0.02);
        EXPECT_LE(r.requests_per_second(), r.capacity * 1.02);
      }
    }
  }
}

// Caches of both memories together; flash holds none, and room that weights leave.
TEST(TieredTraffic, CacheFillsBoth) {
  const double first = cluster_with({}).pool.limits.cache_tokens;
  double before = first;
  for (const double gigabytes : {10.0, 100.0, 480.0}) {
    const double both = cluster_with(tier_of(gigabytes, 0.5)).pool.limits.cache_tokens;
    EXPECT_GT(both, before);
    EXPECT_LE(both - first, gigabytes * 1e9 / (2.0 * 2 * 40 * 5120) + 16);
    before = both;
  }
  EXPECT_EQ(cluster_with(tier_of(512, 1.6, true)).pool.limits.cache_tokens, first);
  const Serving moved{.placement = Placement::weights};
  EXPECT_GT(cluster_with(tier_of(512, 1.6, true), "llama2-13b", moved).pool.limits.cache_tokens,
            first);
}

TEST(TieredTraffic, AFasterOneIsNeverSlower) {
  for (const char* model : {"llama2-13b", "llama2-70b"}) {
    const bool small = std::string_view(model) == "llama2-13b";
    double before = 1e30;
    for (const double rate : {0.2, 0.5, 1.6, 3.2, 12.8}) {
      const TrafficResult r =
          simulate(cluster_with(tier_of(480, rate), model), traffic_at(small ? 14 : 1, 500), {});
      EXPECT_LE(r.latency.mean, before * 1.005) << model << " " << rate;
      before = r.latency.mean;
    }
  }
}

// A second memory as fast as the first beside it is read at the same time: no less than the first
// memory with as much more of it.
TEST(TieredTraffic, IsNoWorseThanAsMuchOfTheFirst) {
  for (const double gigabytes : {40.0, 160.0}) {
    System larger = load_system("dgx-h100");
    Tier tier = tier_of(gigabytes, 0);
    tier.bandwidth = larger.device.memory.bandwidth;
    larger.device.memory.capacity += tier.capacity;
    Cluster one;
    one.pool = test::pool_on(larger, "llama2-13b", "vllm", {});
    const Traffic t = traffic_at(14, 500);
    const TrafficResult a = simulate(one, t, {});
    const TrafficResult b = simulate(cluster_with(tier), t, {});
    EXPECT_LE(b.tpot.mean, a.tpot.mean * 1.005);
    EXPECT_LE(b.latency.mean, a.latency.mean * 1.005);
  }
}

// As one request of `infer`, which reads what it has put there.
TEST(TieredTraffic, AtNoLoadIsInfer) {
  for (const Tier& tier : {tier_of(480, 0.5), tier_of(512, 1.6, true)}) {
    test::expect_as_infer(cluster_with(tier, "llama2-70b", {.placement = Placement::weights}),
                          0.001);
  }
}

}  // namespace
}  // namespace sextant
