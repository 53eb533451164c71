// SPDX-License-Identifier: Apache-2.0
// Tests of the CSV reader and writer.
#include "sextant/io/csv.hpp"

#include <gtest/gtest.h>

#include <array>
#include <ctime>
#include <string>

#include "sextant/io/test_support.hpp"

namespace sextant {
namespace {
using test::Bad;
using test::error_of;
using test::expect_contains;

TEST(Csv, ReadsQuotesNewlinesAndMarks) {
  const CsvTable t = parse_csv(
      "\xEF\xBB\xBF"
      "id, kind ,note\r\n"
      "1,gemm,\"a, \"\"b\"\"\"\r\n"
      "\r\n"
      "2,\"two\nlines\",\r\n"
      "3,5\" disk,\"\"",
      "a.csv");
  EXPECT_EQ(t.header(), (std::vector<std::string>{"id", "kind", "note"}));
  ASSERT_EQ(t.rows(), 3U);
  EXPECT_EQ(t.row(0).cells[2], "a, \"b\"");
  EXPECT_EQ(t.row(0).line, 2);
  EXPECT_EQ(t.row(1).cells[1], "two\nlines");
  EXPECT_EQ(t.row(1).cells[2], "");
  EXPECT_EQ(t.row(2).line, 6);
  EXPECT_EQ(t.row(2).cells[1], "5\" disk");
  EXPECT_EQ(t.column("note"), 2U);
  EXPECT_FALSE(t.column("nothing"));
}

TEST(Csv, CellsOutliveTheTableTheyWereReadInto) {
  CsvTable copy;
  {
    const CsvTable t = parse_csv("a\n\"x\"\"y\"\nz\n", "a.csv");
    copy = t;
  }
  EXPECT_EQ(copy.row(0).cells[0], "x\"y");
  EXPECT_EQ(copy.row(1).cells[0], "z");
}

TEST(Csv, PlacesProblemsOfCells) {
  const CsvTable t = parse_csv("id,m\n\"µ\",abc\n", "a.csv");
  EXPECT_EQ(to_text(t.problem(0, 1, "expected a whole number")),
            "a.csv:2:5: m: expected a whole number\n    2 | \"µ\",abc\n      |     ^");
}

class CsvBad : public testing::TestWithParam<Bad> {};
TEST_P(CsvBad, SaysWhere) {
  expect_contains(error_of([] { parse_csv(GetParam().text, "bad.csv"); }), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(
    Csv, CsvBad,
    testing::Values(
        Bad{"empty", "", "bad.csv: no header: the file is empty"},
        Bad{"blank", "\n\n", "bad.csv: no header"},
        Bad{"short_row", "a,b\n1,2\n3\n", "bad.csv:3:1: the row has 1 cell, the header has 2"},
        Bad{"long_row", "a,b\n1,2,3\n", "bad.csv:2:1: the row has 3 cells, the header has 2"},
        Bad{"open_quote", "a,b\n1,\"x\n2,3\n",
            "bad.csv:2:3: the quote that opens here is never closed"},
        Bad{"after_quote", "a,b\n1,\"x\" y\n",
            "bad.csv:2:6: unexpected text after the closing quote"},
        Bad{"twice", "a,b,a\n", "bad.csv:1:1: column 3 is named 'a' like one before it"},
        Bad{"unnamed", "a,,b\n", "column 2 has no name"},
        Bad{"nul", std::string("a\n\0", 3), "NUL byte"}, Bad{"binary", "\x80\x81", "not UTF-8"}),
    test::name_of_row);

TEST(Csv, ReportsAllProblemsButNotTooMany) {
  std::string text = "a,b\n";
  for (int i = 0; i < 50; ++i) text += "1\n";
  const std::string message = error_of([&] { parse_csv(text, "bad.csv"); });
  expect_contains(message, "bad.csv:21:1: ");
  expect_contains(message, "and 30 further problems");
  EXPECT_EQ(message.find("bad.csv:22:1: "), std::string::npos);
}

TEST(Csv, WritesWhatItReads) {
  const std::array<std::string, 5> cells = {"plain", "a,b", "say \"x\"", "two\r\nlines", " blank "};
  const std::string header = "a,b,c,d,e\n";
  const CsvTable t = parse_csv(header + csv_line(cells), "a.csv");
  ASSERT_EQ(t.rows(), 1U);
  for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(t.row(0).cells[i], cells[i]);
  EXPECT_EQ(csv_line(std::array<std::string, 1>{""}), "\"\"\n");
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(csv_line(std::array<std::string, 1>{mark + "a"}), "\"" + mark + "a\"\n");
  EXPECT_EQ(parse_csv("a\n" + csv_line(std::array<std::string, 1>{""}), "a").rows(), 1U);
}

TEST(Csv, IsFastEnoughForLargeTables) {
  std::string text;
  for (int row = 0; row <= 50'000; ++row) {
    for (int column = 0; column < 30; ++column) {
      text += (column > 0 ? ",c" : "c") + std::to_string(row == 0 ? column : row);
    }
    text += '\n';
  }
  const std::clock_t start =
      std::clock();  // processor time: how busy the machine is does not count
  const CsvTable t = parse_csv(std::move(text), "large.csv");
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(t.rows(), 50'000U);
  // About 0.03 s optimised; the bound only catches what is not linear.
  EXPECT_LT(seconds, 5.0);
}

}  // namespace
}  // namespace sextant
