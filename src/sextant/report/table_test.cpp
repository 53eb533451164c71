// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/table.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TextTable devices() {
  return {.columns = {{"device"}, {"time", Align::right}, {"note"}},
          .rows = {{"h100-sxm", "12.4 µs", "ok"}, {"模型", "1 ms", ""}}};
}

TEST(Table, TextAlignsByColumnsOnScreen) {
  EXPECT_EQ(render_text(devices()),
            "device       time  note\n"
            "───────────────────────\n"
            "h100-sxm  12.4 µs  ok\n"
            "模型         1 ms\n");
}

TEST(Table, TextStyle) {
  const TableStyle style{.header = false, .rule = false, .indent = 2, .gap = 1};
  EXPECT_EQ(render_text(devices(), style),
            "  h100-sxm 12.4 µs ok\n"
            "  模型        1 ms\n");
}

TEST(Table, EmptyRowIsARuleInTextOnly) {
  const TextTable table{.columns = {{"a"}, {"b"}}, .rows = {{"1", "2"}, {}, {"3"}}};
  EXPECT_EQ(render_text(table), "a  b\n────\n1  2\n────\n3\n");
  EXPECT_EQ(render_csv(table), "a,b\n1,2\n3,\n");
  EXPECT_EQ(render_markdown(table), "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |  |\n");
}

TEST(Table, LongRowsLoseNothing) {
  const TextTable table{.columns = {{"a"}}, .rows = {{"1", "2"}}};
  EXPECT_EQ(render_text(table), "a\n────\n1  2\n");
  EXPECT_EQ(render_csv(table), "a,\n1,2\n");
}

TEST(Table, CsvQuotesWhereItMust) {
  const TextTable table{.columns = {{"x"}},
                        .rows = {{"a,b"}, {"say \"hi\""}, {"two\nlines"}, {" plain "}}};
  EXPECT_EQ(render_csv(table), "x\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"two\nlines\"\n\" plain \"\n");
}

TEST(Table, MarkdownEscapesBars) {
  const TextTable table{.columns = {{"x", Align::right}}, .rows = {{"a|b\\\nc"}}};
  EXPECT_EQ(render_markdown(table), "| x |\n|---:|\n| a\\|b\\\\ c |\n");
}

TEST(Table, CellsCannotBreakALine) {
  const TextTable table{.columns = {{"x"}}, .rows = {{"a\nb\x1B[2J"}}};
  EXPECT_EQ(render_text(table), "x\n───────\na b [2J\n");
}

TEST(Table, NothingAtAll) {
  EXPECT_EQ(render_text({}, {.header = false}), "");
  EXPECT_EQ(render_csv({}), "\n");
}

}  // namespace
}  // namespace sextant
