// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/budget.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "sextant/io/presets.hpp"
#include "sextant/search/test_scene.hpp"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Budget, IsReadAsPeopleWriteIt) {
  struct Said {
    const char* text;
    BudgetKind kind;
    double amount;
    const char* again;
  };
  for (const Said& s : {Said{"2 MW", BudgetKind::power, 2e6, "2.00 MW"},
                        {"750kW", BudgetKind::power, 750e3, "750 kW"},
                        {"300 $/h", BudgetKind::dollars_per_hour, 300, "300 $/h"},
                        {"$1.5k/hour", BudgetKind::dollars_per_hour, 1500, "1500 $/h"},
                        {"5 M$", BudgetKind::dollars, 5e6, "5 M$"},
                        {"$5M", BudgetKind::dollars, 5e6, "5 M$"},
                        {"2e9 USD", BudgetKind::dollars, 2e9, "2 B$"},
                        {"90 dollars", BudgetKind::dollars, 90, "90 $"},
                        {"512 gpus", BudgetKind::devices, 512, "512 devices"},
                        {"1k GPUs", BudgetKind::devices, 1000, "1000 devices"}}) {
    Flags flags;
    const std::optional<SearchBudget> b = read_budget(s.text, flags);
    ASSERT_TRUE(b) << s.text;
    EXPECT_EQ(b->kind, s.kind) << s.text;
    EXPECT_DOUBLE_EQ(b->amount, s.amount) << s.text;
    EXPECT_EQ(text_of(*b), s.again);
  }
}

TEST(Budget, SaysWhatItExpects) {
  for (const char* text :
       {"", "2", "2 GB", "much", "$5M$", "1.5 gpus", "0 W", "-3 MW", "nan $", "1e300 $", "$/h"}) {
    Flags flags;
    EXPECT_FALSE(read_budget(text, flags)) << text;
    ASSERT_EQ(flags.problems.size(), 1U) << text;
    EXPECT_EQ(flags.problems[0].file, "--budget");
    EXPECT_THAT(flags.problems[0].message, HasSubstr("expected")) << text;
  }
}

TEST(Budget, BuysWholeNodes) {
  const System h100 = load_system("dgx-h100");
  // 700 W, and an eighth of 2880 W beside the devices.
  EXPECT_DOUBLE_EQ(power_of_device(h100).value, 1060);
  EXPECT_EQ(most_devices({BudgetKind::power, 8480}, h100, 0), 8);
  EXPECT_EQ(most_devices({BudgetKind::power, 8479}, h100, 0), 0);
  EXPECT_EQ(most_devices({BudgetKind::power, 2e6}, h100, 0), 1880);
  EXPECT_EQ(most_devices({BudgetKind::dollars_per_hour, 300}, h100, 3), 96);
  EXPECT_EQ(most_devices({BudgetKind::dollars_per_hour, 10}, h100, 3), 3);
  EXPECT_EQ(most_devices({BudgetKind::devices, 100}, h100, 0), 96);
  EXPECT_EQ(most_devices({BudgetKind::devices, 4}, h100, 0), 4);
  EXPECT_EQ(most_devices({BudgetKind::power, 1e12}, h100, 0), h100.max_devices);
  EXPECT_EQ(most_devices({BudgetKind::dollars, 1}, h100, 3), h100.max_devices);
}

TEST(Budget, LooksAtCountsThatCanBeUsed) {
  const System h100 = load_system("dgx-h100");
  const Problem p = problem_for("gpt3-6.7b", "dgx-h100", 64);
  // 31 nodes: a stage each of 32 layers. Neither 37 nor 41 or 43 divides anything.
  const DeviceCounts few = counts_of(43 * 8, h100, p);
  EXPECT_EQ(few.near.back(), 42 * 8);
  EXPECT_THAT(few.near, Each(testing::Gt(21 * 8)));
  EXPECT_THAT(few.near, Each(testing::AllOf(testing::Ne(37 * 8), testing::Ne(41 * 8))));
  EXPECT_THAT(few.near, testing::Contains(31 * 8));
  EXPECT_THAT(few.fewer, ElementsAre(8, 16, 32, 64, 128));
  const DeviceCounts many = counts_of(4096 * 8, h100, p);
  EXPECT_LE(many.near.size(), 33U);
  EXPECT_EQ(many.near.back(), 4096 * 8);
  EXPECT_TRUE(std::is_sorted(many.near.begin(), many.near.end()));
  const DeviceCounts all = all_counts_of(h100, p);
  EXPECT_EQ(all.near.front(), 8);
  EXPECT_EQ(all.near.back(), h100.max_devices);
  EXPECT_LT(all.near.size(), 9U * 13U);
  EXPECT_THAT(counts_of(0, h100, p).near, IsEmpty());
  EXPECT_THAT(counts_of(4, h100, p).near, ElementsAre(4));
}

}  // namespace
}  // namespace sextant
