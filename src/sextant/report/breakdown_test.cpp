// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/breakdown.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sextant/units/units.hpp"

namespace sextant {
namespace {

Breakdown part(std::string label, double seconds, std::vector<Breakdown> parts = {}) {
  return {.label = std::move(label),
          .value = seconds,
          .unit = Seconds::dimension,
          .parts = std::move(parts)};
}

Breakdown step() {
  Breakdown root =
      part("step", 1,
           {part("forward", 0.25, {part("qkv", 0.2), part("norm", 0.05)}), part("backward", 0.75)});
  root.parts[1].note = "compute bound";
  fill_shares(root);
  return root;
}

TEST(Breakdown, SharesAreOfTheRoot) {
  const Breakdown root = step();
  EXPECT_DOUBLE_EQ(root.share, 1);
  EXPECT_DOUBLE_EQ(root.parts[0].share, 0.25);
  EXPECT_DOUBLE_EQ(root.parts[0].parts[1].share, 0.05);
}

TEST(Breakdown, NothingHasNoShares) {
  for (const double value : {0.0, std::numeric_limits<double>::infinity()}) {
    Breakdown root = part("step", value, {part("forward", 0)});
    fill_shares(root);
    EXPECT_EQ(root.share, 0);
    EXPECT_EQ(root.parts[0].share, 0);
    EXPECT_FALSE(render_text(root).empty());
  }
}

TEST(Breakdown, TreeWithBars) {
  EXPECT_EQ(render_text(step()),
            "step          1.00 s  100.0 %  ████████████████████\n"
            "├─ forward    250 ms   25.0 %  █████\n"
            "│  ├─ qkv     200 ms   20.0 %  ████\n"
            "│  └─ norm   50.0 ms    5.0 %  █\n"
            "└─ backward   750 ms   75.0 %  ███████████████       compute bound\n");
}

}  // namespace
}  // namespace sextant
