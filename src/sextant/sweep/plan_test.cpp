// SPDX-License-Identifier: Apache-2.0
#include "sextant/sweep/plan.hpp"

#include <gmock/gmock.h>

namespace sextant::sweep {
namespace {
TEST(Plan, Reads) {
  const Plan p = read_plan(
      "kind = "
      "'train'\n[base]\nmodel='gpt3-175b'\nsystem='dgx-a100'\ngpus=64\n[[axis]]\nfield='tp'"
      "\nvalues=[1,2]\n",
      "plan.toml");
  EXPECT_EQ(p.count, 2U);
}
}  // namespace
}  // namespace sextant::sweep
