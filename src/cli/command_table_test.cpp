// SPDX-License-Identifier: Apache-2.0
#include "cli/command_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace sextant::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;

OptionDescription option(const std::string& command, const std::string& name) {
  for (const CommandDescription& c : describe_commands()) {
    if (c.name != command) continue;
    for (const OptionDescription& o : c.options) {
      if (o.name == name) return o;
    }
  }
  ADD_FAILURE() << command << " has no option " << name;
  return {};
}

TEST(Commands, EveryOptionSaysWhatItIsAndFlagsAreUnique) {
  for (const CommandDescription& c : describe_commands()) {
    EXPECT_FALSE(c.help.empty()) << c.name;
    EXPECT_TRUE(c.example.starts_with("sextant " + c.name)) << c.name;
    std::set<std::string> flags;
    for (const OptionDescription& o : c.options) {
      EXPECT_FALSE(o.help.empty()) << c.name << " " << o.name;
      for (const std::string& f : o.flags) {
        EXPECT_TRUE(flags.insert(f).second) << c.name << " " << f;
      }
    }
  }
}

TEST(Commands, ANameIsAFlagWithDashes) {
  EXPECT_EQ(flag_of("kv_precision"), "--kv-precision");
  EXPECT_EQ(flag_of("m"), "-m");
  EXPECT_THAT(option("tech", "optimise").flags, ElementsAre("--optimise", "--optimize"));
  EXPECT_EQ(option("train", "sp").no_flag, "--no-sp");
  EXPECT_TRUE(option("show", "name").flags.empty());
}

TEST(Commands, DescriptionsFollowTheOptions) {
  const OptionDescription folds = option("calibrate", "folds");
  EXPECT_EQ(folds.type, "integer");
  EXPECT_EQ(folds.default_text, "5");
  const OptionDescription schedule = option("train", "schedule");
  EXPECT_EQ(schedule.type, "string");
  EXPECT_THAT(schedule.choices, Contains("zero-bubble"));
  EXPECT_EQ(option("train", "recompute_modules").type, "array");
  EXPECT_EQ(option("train", "sp").type, "boolean");
  EXPECT_EQ(option("infer", "draft_cost").type, "number");
  EXPECT_EQ(option("train", "model").preset, "model");
  EXPECT_TRUE(option("train", "model").object);
  EXPECT_TRUE(option("train", "model").required);
  EXPECT_TRUE(option("train", "trace").local);
  EXPECT_THAT(option("list", "format").choices, Contains("csv"));
}

// `infer` counts tokens with --output, `study` writes a folder with -o.
TEST(Commands, TheFileGivesWayWhereACommandUsesItsName) {
  EXPECT_THAT(option("train", "output").flags, ElementsAre("-o", "--output"));
  EXPECT_THAT(option("infer", "o").flags, ElementsAre("-o"));
  EXPECT_EQ(option("infer", "output").type, "integer");
  EXPECT_EQ(option("study", "output").placeholder, "FOLDER");
}

TEST(Commands, AreFoundByName) {
  ASSERT_NE(find_command("ops gemm"), nullptr);
  EXPECT_EQ(find_command("ops"), nullptr);
  const std::unique_ptr<Invocation> list = find_command("list")->prepare();
  EXPECT_THAT(list->run(), testing::HasSubstr("h100-sxm"));
}

}  // namespace
}  // namespace sextant::cli
