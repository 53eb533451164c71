// SPDX-License-Identifier: Apache-2.0
// Ranges of numbers, and the samples that are taken of them.
#include "sextant/tech/spread.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sextant/io/presets.hpp"

namespace sextant {
namespace {

SpreadParts parts_of(const char* node, const char* core_node) {
  SpreadParts p;
  p.technology.node = load_node(node);
  p.technology.core_node = load_node(core_node);
  p.technology.memory = load_dram("hbm4");
  p.technology.link = load_link("nvlink4");
  p.technology.bridge = load_link("d2d");
  p.technology.core = load_core("hopper");
  p.network = load_link("ib-ndr");
  return p;
}

TEST(Range, HalfOfTheLikelihoodLiesOnEachSide) {
  const Range r{.field = "power", .low = 1, .high = 7};
  EXPECT_DOUBLE_EQ(within_range(r, 3, 0), 1);
  EXPECT_DOUBLE_EQ(within_range(r, 3, 0.5), 3);
  EXPECT_DOUBLE_EQ(within_range(r, 3, 1), 7);
  double last = 0;
  for (double u = 0; u <= 1; u += 0.01) {
    EXPECT_GE(within_range(r, 3, u), last);
    last = within_range(r, 3, u);
  }
}

TEST(Range, EveryPresetIsWithinItsOwn) {
  const auto check = [](auto part) {
    for (const Range& r : part.ranges) EXPECT_LE(r.low, r.high) << part.name << " " << r.field;
    EXPECT_TRUE(check_ranges(part.ranges).empty()) << part.name;
  };
  for (const std::string& n : preset_names(PresetKind::node)) check(load_node(n));
  for (const std::string& n : preset_names(PresetKind::dram)) check(load_dram(n));
  for (const std::string& n : preset_names(PresetKind::link)) check(load_link(n));
}

TEST(Spread, TheMiddleIsWhatIsStated) {
  const SpreadParts p = parts_of("a14", "n4");
  const Spread spread(p, {});
  const SpreadParts middle = spread.at(std::vector<double>(spread.causes().size(), 0.5));
  EXPECT_DOUBLE_EQ(middle.technology.node.logic, p.technology.node.logic);
  EXPECT_DOUBLE_EQ(middle.technology.node.power, p.technology.node.power);
  EXPECT_DOUBLE_EQ(middle.technology.memory.bandwidth.value, p.technology.memory.bandwidth.value);
}

TEST(Spread, OneCauseMovesAllThatFollowsIt) {
  const Spread spread(parts_of("a14", "a14"), {});
  const std::vector<std::string>& causes = spread.causes();
  EXPECT_EQ(std::count(causes.begin(), causes.end(), "a14 power"), 0);  // against speed
  const auto at = std::find(causes.begin(), causes.end(), "a14 speed") - causes.begin();
  std::vector<double> shares(causes.size(), 0.5);
  shares.at(static_cast<std::size_t>(at)) = 1;
  const Technology t = spread.at(shares).technology;
  EXPECT_DOUBLE_EQ(t.node.speed, 1.8);
  EXPECT_DOUBLE_EQ(t.node.power, 0.21);
  EXPECT_DOUBLE_EQ(t.core_node.speed, t.node.speed);  // one process
  EXPECT_DOUBLE_EQ(t.node.logic, 3.45);
}

TEST(Spread, LeavesAloneWhatIsNotUsed) {
  const auto has = [](const Spread& s, const char* cause) {
    return std::count(s.causes().begin(), s.causes().end(), cause) > 0;
  };
  EXPECT_FALSE(has(Spread(parts_of("n3", "n4"), {.dies = 1}), "d2d energy"));
  EXPECT_TRUE(has(Spread(parts_of("n3", "n4"), {.dies = 2}), "d2d energy"));
}

TEST(LatinHypercube, EveryStratumOnceAndTheSameEveryTime) {
  const auto points = latin_hypercube(50, 3, 7);
  for (std::size_t d = 0; d < 3; ++d) {
    std::set<int> strata;
    for (const std::vector<double>& p : points) strata.insert(static_cast<int>(p[d] * 50));
    EXPECT_EQ(strata.size(), 50U);
  }
  EXPECT_EQ(points, latin_hypercube(50, 3, 7));
  EXPECT_NE(points, latin_hypercube(50, 3, 8));
}

}  // namespace
}  // namespace sextant
