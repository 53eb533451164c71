// SPDX-License-Identifier: Apache-2.0
#include "sextant/sweep/plan.hpp"

#include <gmock/gmock.h>

#include <set>

#include "sextant/io/test_support.hpp"

namespace sextant::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* head = R"(kind = "train"
[base]
model = "gpt3-175b"
system = "dgx-a100"
)";

Plan plan_of(const std::string& rest, const std::string& start = head) {
  return read_plan(start + rest, "plan.toml");
}

std::string problems_of(const std::string& text) {
  return test::error_of([&] { read_plan(text, "plan.toml"); });
}

TEST(Plan, NumbersPointsWithHardwareOutermost) {
  const Plan p = plan_of(R"(
[[axis]]
field = "tp"
values = [1, 2, 4]
[[axis]]
field = "device.memory.bandwidth"
values = ["2 TB/s", "3 TB/s"]
[[axis]]
field = "pp"
values = [1, 8]
)");
  EXPECT_EQ(p.count, 12U);
  EXPECT_EQ(p.inner, 6U);
  ASSERT_EQ(p.wheels.size(), 3U);
  EXPECT_THAT(p.wheels[0].axes, ElementsAre(1));
  std::set<std::vector<std::size_t>> seen;
  std::vector<std::size_t> digits(3);
  for (std::uint64_t i = 0; i < p.count; ++i) {
    digits_of(p, i, digits);
    EXPECT_EQ((digits[0] * 3 + digits[1]) * 2 + digits[2], i);
    seen.insert(digits);
  }
  EXPECT_EQ(seen.size(), p.count);
}

struct RangeCase {
  const char* text;
  std::vector<double> values;
};

TEST(Plan, FillsRanges) {
  const std::vector<RangeCase> cases = {
      {"field = 'tp'\nfrom = 1\nto = 4\nstep = 1", {1, 2, 3, 4}},
      {"field = 'tp'\nfrom = 1\nto = 6\nstep = 2", {1, 3, 5}},
      {"field = 'tp'\nfrom = 1\nto = 64\npoints = 7\nscale = 'log'", {1, 2, 4, 8, 16, 32, 64}},
      {"field = 'tp'\nfrom = 1\nto = 4\npoints = 9\nscale = 'log'", {1, 2, 3, 4}},
      {"field = 'device.memory.bandwidth'\nfrom = '1 TB/s'\nto = '2 TB/s'\npoints = 3",
       {1e12, 1.5e12, 2e12}},
      {"field = 'device.memory.bandwidth'\nfrom = '1 TB/s'\nto = '1.3 TB/s'\nstep = '100 GB/s'",
       {1e12, 1.1e12, 1.2e12, 1.3e12}},
      {"field = 'zero'\nvalues = [0, 3]", {0, 3}},
      {"field = 'sp'\nvalues = [false, true]", {0, 1}},
      {"field = 'strategy.recompute'\nvalues = ['none', 'full']", {0, 2}},
  };
  for (const RangeCase& c : cases) {
    const Plan p = plan_of(std::string("[[axis]]\n") + c.text + "\n");
    ASSERT_EQ(p.axes.size(), 1U) << c.text;
    ASSERT_EQ(p.axes[0].numbers.size(), c.values.size()) << c.text;
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      EXPECT_DOUBLE_EQ(p.axes[0].numbers[i], c.values[i]) << c.text;
    }
  }
}

TEST(Plan, ZipsAxesThatAdvanceTogether) {
  const Plan p = plan_of(R"(
[[axis]]
field = "tp"
values = [1, 8, 8]
zip = "degrees"
[[axis]]
field = "batch"
values = [64, 128]
[[axis]]
field = "pp"
values = [1, 1, 4]
zip = "degrees"
)");
  EXPECT_EQ(p.count, 6U);
  ASSERT_EQ(p.wheels.size(), 2U);
  EXPECT_THAT(p.wheels[0].axes, ElementsAre(0, 2));
}

TEST(Plan, TakesSettingsInAllTheirForms) {
  const Plan p = plan_of(R"(
[[axis]]
field = "tp"
values = [8]
)",
                         R"(kind = "train"
[base]
model = "gpt3-175b"
system = "dgx-a100"
device.memory.bandwidth = "3 TB/s"
"runtime.launch.host" = "2 us"
"model.layers" = 48
set = ["device.memory.capacity=96 GB", "strategy.zero=1"]
)");
  ASSERT_EQ(p.settings.size(), 4U);
  EXPECT_EQ(p.settings[0].path, "device.memory.bandwidth");
  EXPECT_EQ(p.settings[0].value, "3 TB/s");
  EXPECT_EQ(p.settings[2].value, "48");
  EXPECT_EQ(p.base.strategy.zero, 1);
}

struct ProblemCase {
  std::string text;
  const char* message;
};

TEST(Plan, SaysWhatIsWrongBeforeAnyWork) {
  const std::string axis = "[[axis]]\nfield = 'tp'\nvalues = [8]\n";
  const std::vector<ProblemCase> cases = {
      {"", "nothing varies"},
      {"[[axis]]\nfield = 'tpp'\nvalues = [1]\n", "did you mean 'tp'?"},
      {"[[axis]]\nfield = 'memory.bandwidth'\nvalues = ['1 TB/s']\n",
       "did you mean 'device.memory.bandwidth'?"},
      {"[[axis]]\nfield = 'device.memory.bandwith'\nvalues = ['1 TB/s']\n",
       "did you mean 'device.memory.bandwidth'?"},
      {"[[axis]]\nfield = 'devise.memory.bandwidth'\nvalues = ['1 TB/s']\n",
       "did you mean 'device.memory.bandwidth'?"},
      {"[[axis]]\nfield = 'device.memory'\nvalues = ['1 TB/s']\n", "is not a single value"},
      {"[[axis]]\nfield = 'tp'\nvalues = []\n", "is empty"},
      {"[[axis]]\nfield = 'tp'\nvalues = 8\n", "expected an array"},
      {"[[axis]]\nfield = 'tp'\nvalues = [8, 8]\n", "is there twice"},
      {"[[axis]]\nfield = 'tp'\nvalues = [0]\n", "must be at least 1"},
      {"[[axis]]\nfield = 'tp'\nvalues = ['8']\n", "remove the quotes"},
      {"[[axis]]\nfield = 'tp'\nfrom = 1\nto = 8\n", "either step or points"},
      {"[[axis]]\nfield = 'tp'\nfrom = 8\nto = 1\nstep = 1\n", "is more than to"},
      {"[[axis]]\nfield = 'tp'\nfrom = 1\nto = 1000000\nstep = 0\n", "must be more than zero"},
      {"[[axis]]\nfield = 'tp'\nfrom = 1\nto = 8\npoints = 1\n", "from 2 to"},
      {"[[axis]]\nfield = 'tp'\nfrom = 1\nto = 8\nstep = 2\nscale = 'log'\n", "needs points"},
      {"[[axis]]\nfield = 'tp'\nfrom = 1\nto = 8\npoints = 3\nscale = 'lg'\n", "linear or log"},
      {"[[axis]]\nfield = 'dp'\nfrom = 1\nto = 9000000\nstep = 1\n", "makes 9e+06 values"},
      {"[[axis]]\nfield = 'precision'\nfrom = 1\nto = 2\n", "only numbers have ranges"},
      {"[[axis]]\nfield = 'precision'\nvalues = ['bf15']\n", "did you mean 'bf16'?"},
      {"[[axis]]\nfield = 'model'\nvalues = ['gpt3-175']\n", "did you mean 'gpt3-175b'?"},
      {"[[axis]]\nfield = 'system'\nvalues = ['dgx-h100']\n", "is given on line 4 already"},
      {"[[axis]]\nfield = 'tp'\nvalues = [1]\n[[axis]]\nfield = 'strategy.tp'\nvalues = [1]\n",
       "is given on line 6 already"},
      {"[[axis]]\nfield = 'tp'\nvalues = [1]\nstep = 2\n", "give a list or a range"},
      {"[[axis]]\nfield = 'tp'\nvalues = [1]\nscal = 2\n", "did you mean 'scale'?"},
      {"[[axis]]\nvalues = [1]\n", "missing (what varies)"},
      {"[[axis]]\nfield = 'tp'\nvalues = [1, 2]\nzip = 'a'\n[[axis]]\nfield = 'pp'\n"
       "values = [1]\nzip = 'a'\n",
       "has 1 values, 'tp' of the same zip has 2"},
      {"[[axis]]\nfield = 'tier.bandwidth'\nvalues = ['1 TB/s']\n", "is device.tier.capacity"},
      {"[[axis]]\nfield = 'dram.bandwidth'\nvalues = ['1 TB/s']\n",
       "is of a part of a generated device"},
      {"core.clock = '1 GHz'\n" + axis, "is of a part of a generated device"},
      {"set = ['node.power=0.5']\n" + axis, "is of a part of a generated device"},
      {"technology.node = 'n3'\n[[axis]]\nfield = 'technology.dram'\nvalues = ['hbm4']\n",
       "give one or the other"},
  };
  for (const ProblemCase& c : cases) {
    EXPECT_THAT(problems_of(head + c.text), HasSubstr(c.message)) << c.text;
  }
  const std::vector<ProblemCase> whole = {
      {"[base]\n", "kind: missing"},
      {"kind = 'serve'\n", "one of train, infer"},
      {"kind = 'train'\nbase = 3\n", "write [base]"},
      {"kind = 'train'\nbests = 3\n", "did you mean 'best'?"},
      {"kind = 'train'\nenergy = 3\n", "true or false"},
      {"kind = 'train'\n[base]\n", "base.model: missing"},
      {"kind = 'train'\n[base]\n", "base.system: missing"},
      {"kind = 'train'\n[base]\nset = ['device.memory.capacity=8 TB/s']\n", "not a quantity in B"},
      {"kind = 'train'\n[base]\nset = ['tp=8']\n", "write it in [base] itself"},
      {"kind = 'train'\n[base]\nset = ['nothing']\n", "expected path=value"},
      {"kind = 'train'\nbest = true\n[base]\n", "base.gpus: missing"},
      {"kind = 'train'\n[[axis]]\nfield = 'technology.node'\nvalues = ['n3']\n",
       "technology.dram: missing"},
      {"kind = 'infer'\n[base]\ntechnology.tier = 'hbf 2'\n", "expected a memory and a count"},
      {"kind = 'infer'\n[[axis]]\nfield = 'technology.tier'\nvalues = ['none', 'hfb x2']\n",
       "did you mean 'hbf'?"},
      {"kind = 'infer'\n[[axis]]\nfield = 'technology.tier'\nvalues = ['hbf x0']\n",
       "expected a count from x1 to x64"},
      {"kind = 'infer'\n[[axis]]\nfield = 'technology.tier_parts'\nvalues = [0, 2]\n",
       "technology.tier: missing"},
      {"kind = 'infer'\n[base]\ntechnology.node = 'n3'\nset = ['tier.bandwidth=1 TB/s']\n",
       "technology.tier: missing"},
      {"kind = 'infer'\n[base]\ntechnology.tier = 'none'\ntier.bandwidth = '1 TB/s'\n",
       "is none, and other fields are of a second memory"},
      {"kind = 'infer'\n[[axis]]\nfield = 'tier.bandwith'\nvalues = ['1 TB/s']\n",
       "did you mean 'tier.bandwidth'?"},
  };
  for (const ProblemCase& c : whole) {
    EXPECT_THAT(problems_of(c.text), HasSubstr(c.message)) << c.text;
  }
}

TEST(Plan, CountsSpacesThatAreTooLarge) {
  std::string text = "kind = 'infer'\n[base]\nmodel = 'llama2-13b'\nsystem = 'dgx-h100'\n";
  for (const char* field : {"batch", "input", "output"}) {
    text += std::string("[[axis]]\nfield = '") + field + "'\nfrom = 1\nto = 100000\nstep = 1\n";
  }
  const std::string problems = problems_of(text);
  EXPECT_THAT(problems, HasSubstr("1,000,000,000,000,000 points"));
  EXPECT_THAT(problems, HasSubstr("317 years"));
}

TEST(Plan, RefusesDegreesThatNeverFitTheDevices) {
  const std::string base = std::string(head) + "gpus = 12\n";
  EXPECT_THAT(problems_of(base + "tp = 8\n[[axis]]\nfield = 'seq'\nvalues = [8]\n"),
              HasSubstr("12 is not tp 8 x pp 1 x cp 1 x a whole number"));
  EXPECT_THAT(problems_of(base + "[[axis]]\nfield = 'tp'\nvalues = [5, 8]\n"),
              HasSubstr("no point has degrees"));
  EXPECT_THAT(problems_of(base + "dp = 5\n[[axis]]\nfield = 'tp'\nvalues = [2, 3]\n"),
              HasSubstr("no point has degrees"));
  EXPECT_THAT(problems_of(base + "[[axis]]\nfield = 'tp'\nvalues = [4, 8]\n"), "(no error)");
}

TEST(Plan, SaysHowPlansDiffer) {
  const std::string axis = "[[axis]]\nfield = 'tp'\nvalues = [1, 2]\n";
  const Plan p = plan_of(axis);
  EXPECT_THAT(differences(p, std::string(head) + "# a remark\n\n" + axis), IsEmpty());
  EXPECT_THAT(differences(p, std::string(head) + "pp = 2\n" + axis),
              ElementsAre("base.pp: is not given, was 2"));
  const auto changed =
      differences(p, std::string(head) + "[[axis]]\nfield = 'tp'\nvalues = [1, 4]\n");
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_THAT(changed[0], HasSubstr("axis[0].values: is ["));
}

}  // namespace
}  // namespace sextant::sweep
