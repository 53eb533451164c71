// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/against.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/io/test_support.hpp"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CaseResult result(const char* id, double error, const char* unsupported = "") {
  CaseResult r;
  r.id = id;
  r.group = "set";
  r.error = error;
  r.unsupported = unsupported;
  return r;
}

TEST(Against, EveryCaseIsComparedAndTheFurthestComesFirst) {
  const CsvTable before = parse_csv(
      "id,metric,error\na,seconds,0.01\nb,seconds,-0.2\nc,seconds,\nd,seconds,0.1\n"
      "a,bytes,0.5\n",
      "before.csv");
  const MovedCases m = against({result("a", -0.3), result("b", 0.1), result("c", 0.2),
                                result("d", 0, "no kernel"), result("new", 0.1)},
                               before);
  ASSERT_EQ(m.moved.size(), 2);
  EXPECT_EQ(m.moved[0].id, "a");
  EXPECT_DOUBLE_EQ(m.moved[0].growth(), 0.29);
  EXPECT_EQ(m.moved[1].id, "b");
  EXPECT_DOUBLE_EQ(m.moved[1].growth(), -0.1);
  EXPECT_THAT(m.won, ElementsAre("c seconds"));
  EXPECT_THAT(m.lost, ElementsAre("d seconds"));
}

// A table that lists one run twice is as it was when nothing moved.
TEST(Against, RowsOfOneNameKeepTheirOrder) {
  const CsvTable before = parse_csv("id,metric,error\na,seconds,0\na,seconds,-1\n", "before.csv");
  const MovedCases m = against({result("a", 0), result("a", -1)}, before);
  ASSERT_EQ(m.moved.size(), 2);
  for (const MovedCase& moved : m.moved) EXPECT_EQ(moved.growth(), 0);
}

TEST(Against, SaysWhatIsWrongWithTheFile) {
  const auto complaint = [](const char* text) {
    return test::error_of([&] { against({}, parse_csv(text, "before.csv")); });
  };
  EXPECT_THAT(complaint("id,error\na,1\n"), HasSubstr("lacks the columns"));
  EXPECT_THAT(complaint("id,metric,error\na,seconds,much\n"), HasSubstr("expected a number"));
}

}  // namespace
}  // namespace sextant
