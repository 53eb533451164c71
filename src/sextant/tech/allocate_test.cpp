// SPDX-License-Identifier: Apache-2.0
// Laws of the split of area: the known best of simple objectives, and never worse than the start.
#include "sextant/tech/allocate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sextant/io/presets.hpp"

namespace sextant {
namespace {

Technology technology() {
  Technology t{.node = load_node("n4"),
               .memory = load_dram("hbm3"),
               .link = load_link("nvlink4"),
               .bridge = load_link("d2d"),
               .core = load_core("hopper"),
               .core_node = load_node("n4")};
  return t;
}

TEST(Allocate, AllForOneResource) {
  const Technology t = technology();
  const Allocation cores = allocate(t, {}, [](const Blueprint& d) { return 1.0 / d.device.cores; });
  EXPECT_EQ(cores.blueprint.stacks, 1);
  EXPECT_EQ(cores.blueprint.links, 2);
  const Allocation memory =
      allocate(t, {}, [](const Blueprint& d) { return 1e12 / d.device.memory.bandwidth.value; });
  EXPECT_EQ(memory.blueprint.stacks, 6);
  EXPECT_EQ(memory.agreeing, memory.starts);
}

TEST(Allocate, BalancesWhereBothCount) {
  const Technology t = technology();
  const auto balance = [](const Blueprint& d) {
    return 150.0 / d.device.cores + 50.0 * 1048576 / d.device.l2.capacity.value;
  };
  const Allocation a = allocate(t, {}, balance);
  EXPECT_EQ(a.agreeing, a.starts) << a.spread;
  EXPECT_LE(a.value, balance(generate(t, {})));
  // No single step to either side is better.
  for (const double factor : {0.9, 1.1}) {
    Budget b = a.budget;
    b.l2 = b.l2 * factor;
    EXPECT_GE(balance(generate(t, b)), a.value * (1 - 2e-3));
  }
}

// A wide pit at 48 MiB of cache and a narrow one, a little deeper, at 14.
TEST(Allocate, LeavesAPitForADeeperOne) {
  const Allocation a = allocate(technology(), {}, [](const Blueprint& d) {
    const double mib = d.device.l2.capacity.value / 1048576;
    const double wide = 1.02 + 0.05 * std::pow(std::log2(mib / 48), 2);
    const double narrow = 1.00 + 2 * std::pow(std::log2(mib / 14), 2);
    return std::min(wide, narrow) + 0.001 * std::abs(d.links - 7);
  });
  EXPECT_EQ(a.agreeing, a.starts) << a.spread;
  EXPECT_NEAR(a.blueprint.device.l2.capacity.value / 1048576, 14, 1);
  EXPECT_EQ(a.blueprint.links, 7);
}

TEST(Allocate, KeepsWhatItMayNotMove) {
  const Technology t = technology();
  const Budget limits{.power = Watts(600), .stacks = 4, .links = 12};
  const Allocation a = allocate(t, limits, [](const Blueprint& d) { return 1.0 / d.device.cores; },
                                {.stacks = false, .links = false});
  EXPECT_EQ(a.blueprint.stacks, 4);
  EXPECT_EQ(a.blueprint.links, 12);
  EXPECT_EQ(a.blueprint.device.power.limit.value, 600);
}

TEST(Allocate, SaysThatNothingRuns) {
  const Allocation a = allocate(
      technology(), {}, [](const Blueprint&) { return std::numeric_limits<double>::infinity(); });
  EXPECT_EQ(a.starts, 0);
  EXPECT_TRUE(std::isinf(a.value));
}

}  // namespace
}  // namespace sextant
