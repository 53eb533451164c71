// SPDX-License-Identifier: Apache-2.0
// Tests of --set.
#include "sextant/io/settings.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sextant/io/test_support.hpp"
#include "sextant/spec/system.hpp"

namespace sextant {
namespace {
using test::Bad;
using test::error_of;
using test::expect_contains;

System with(const std::vector<std::string>& texts) {
  System system;
  system.fabrics.resize(2);
  std::vector<Setting> settings;
  settings.reserve(texts.size());
  for (const std::string& text : texts) settings.push_back(parse_setting(text));
  apply(settings, system, "system");
  apply(settings, system.device, "device");
  return system;
}

TEST(Settings, Parses) {
  const Setting s = parse_setting(" a.b = x=y ");
  EXPECT_EQ(s.path, "a.b");
  EXPECT_EQ(s.value, "x=y");
  for (const char* bad : {"", "a.b", "=5"}) {
    expect_contains(error_of([&] { parse_setting(bad); }), "--set: expected path=value");
  }
}

TEST(Settings, ApplyToAnyField) {
  const System s =
      with({"device.memory.bandwidth=8 TB/s", "device.cores=1e2", "device.name=\"quoted\"",
            "device.notes=12", "system.fabrics.1.reach=72", "system.fabrics[0].efficiency=.5",
            "system.fabrics.0.topology=fat-tree", "system.fabrics.0.reduces_in_network=true",
            "system.host.link=\"64 GB/s\"", "other.thing=1", "device.cores=101"});
  EXPECT_EQ(s.device.memory.bandwidth, BytesPerSecond(8e12));
  EXPECT_EQ(s.device.cores, 101);
  EXPECT_EQ(s.device.name, "quoted");
  EXPECT_EQ(s.device.notes, "12");
  EXPECT_EQ(s.fabrics[1].reach, 72);
  EXPECT_EQ(s.fabrics[0].efficiency, 0.5);
  EXPECT_EQ(s.fabrics[0].topology, Topology::fat_tree);
  EXPECT_TRUE(s.fabrics[0].reduces_in_network);
  EXPECT_EQ(s.host.link, BytesPerSecond(64e9));
}

TEST(Settings, TakeTablesAndLists) {
  const System s =
      with({"system.fabrics=[{reach=4, bandwidth=\"1 TB/s\"}]", "device.memory={kind=\"HBM4\"}"});
  ASSERT_EQ(s.fabrics.size(), 1U);
  EXPECT_EQ(s.fabrics[0].reach, 4);
  EXPECT_EQ(s.device.memory.kind, "HBM4");
}

class SettingsBad : public testing::TestWithParam<Bad> {};
TEST_P(SettingsBad, SaysWhy) {
  expect_contains(error_of([] { with({GetParam().text}); }), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(
    Settings, SettingsBad,
    testing::Values(
        Bad{"unknown", "device.memory.bandwith=1",
            "--set: device.memory.bandwith: unknown field; did you mean "
            "'device.memory.bandwidth'?"},
        Bad{"deeper", "device.bandwidth=8 TB/s", "did you mean 'device.memory.bandwidth'?"},
        Bad{"strange", "device.memory.zzz=1", "'device.memory' has kind, capacity, bandwidth"},
        Bad{"too_deep", "device.cores.x=1", "'device.cores' has no fields"},
        Bad{"bare", "device.memory.bandwidth=8",
            "--set: device.memory.bandwidth: no unit in '8'; expected a quantity in B/s"},
        Bad{"bounds", "device.cores=0", "--set: device.cores: must be at least 1, not 0"},
        Bad{"fraction", "device.cores=1.5", "expected a whole number, not 1.5"},
        Bad{"text", "device.cores=many", "expected a whole number, not 'many'"},
        Bad{"enumerator", "system.fabrics.0.topology=rign", "did you mean 'ring'?"},
        Bad{"bool", "system.fabrics.0.reduces_in_network=yes", "expected true or false, not 'yes'"},
        Bad{"index", "system.fabrics.2.reach=1",
            "there is no element '2' in 'system.fabrics'; write a number from 0 to 1"},
        Bad{"no_index", "system.fabrics.reach=1", "there is no element 'reach'"},
        Bad{"whole", "device=5", "--set: device: expected a table, not 5"},
        Bad{"incomplete_list", "system.fabrics=[{reach=4}]",
            "--set: system.fabrics[0].bandwidth: missing"},
        Bad{"two_lines", "device.cores=1\nx=2", "expected a whole number, not '1?x=2'"},
        Bad{"infinite", "system.fabrics.0.efficiency=inf", "must be finite"}),
    test::name_of_row);

TEST(Settings, ReportsAllAtOnce) {
  const std::string text = error_of([] {
    with({"device.cores=0", "device.memory.kid=x", "device.clock=3"});
  });
  expect_contains(text, "device.cores: ");
  expect_contains(text, "device.memory.kid: ");
  expect_contains(text, "device.clock: ");
}

TEST(Settings, ReportsUnknownRoots) {
  const std::vector<Setting> settings = {{"devise.cores", "1"}, {"x.y", "1"}, {"system.name", "a"}};
  std::vector<Diagnostic> problems;
  check_roots(settings, {"system", "device"}, problems);
  const std::string text = error_of([&] { throw_if_any(problems); });
  expect_contains(text, "--set: devise.cores: nothing is called 'devise'; did you mean 'device'?");
  expect_contains(text, "x.y: nothing is called 'x'; a path starts with one of system, device");
  EXPECT_EQ(problems.size(), 2U);
}

}  // namespace
}  // namespace sextant
