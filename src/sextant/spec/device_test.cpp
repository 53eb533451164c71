// SPDX-License-Identifier: Apache-2.0
#include "sextant/spec/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace literals;

Device plausible() {
  Device d;
  d.cores = 132;
  d.clock = 1.83_GHz;
  d.matrix[Precision::bf16] = 989.4_TFLOPs;
  d.vector.fp32 = 61.8_TFLOPs;
  d.l2.capacity = 50_MiB;
  d.memory = {.kind = "HBM3", .capacity = 80_GiB, .bandwidth = 3.35_TBps};
  d.power.limit = 700_W;
  return d;
}

std::vector<std::string> fields_with_problems(const Device& d) {
  std::vector<std::string> fields;
  for (const Diagnostic& problem : check(d)) fields.push_back(problem.field);
  return fields;
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Device, APlausibleOnePasses) { EXPECT_THAT(fields_with_problems(plausible()), IsEmpty()); }

TEST(Device, ReportsRatesThatNoUnitReaches) {
  Device d = plausible();
  d.matrix[Precision::bf16] = FlopsPerSecond(989.4e9);
  EXPECT_THAT(fields_with_problems(d), ElementsAre("matrix.bf16"));
  d.matrix[Precision::bf16] = FlopsPerSecond(989.4e18);
  EXPECT_THAT(fields_with_problems(d), ElementsAre("matrix.bf16"));
  EXPECT_THAT(check(d).front().message, ::testing::HasSubstr("FLOP a core and clock"));
}

TEST(Device, NeedsAMatrixRate) {
  Device d = plausible();
  d.matrix = {};
  EXPECT_THAT(fields_with_problems(d), ElementsAre("matrix", "matrix"));
  d.matrix[Precision::fp8] = 2000_TFLOPs;
  EXPECT_THAT(fields_with_problems(d), ElementsAre("matrix"));
}

TEST(Device, ReportsContradictions) {
  Device d = plausible();
  d.max_clock = 1_GHz;
  d.power.idle = 700_W;
  d.l2.capacity = 100_GiB;
  d.vector.fp32 = {};
  EXPECT_THAT(fields_with_problems(d),
              ElementsAre("max_clock", "power.idle", "l2.capacity", "vector.fp32"));
}

TEST(Device, ElementSizes) {
  EXPECT_EQ(element_bytes(Precision::tf32), 4);
  EXPECT_EQ(element_bytes(Precision::bf16), 2);
  EXPECT_EQ(element_bytes(Precision::fp6), 0.75);
  EXPECT_EQ(element_bytes(Precision::int4), 0.5);
}

}  // namespace
}  // namespace sextant
