// SPDX-License-Identifier: Apache-2.0
// Tests of the TOML reader and writer.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "sextant/io/node.hpp"
#include "sextant/io/test_support.hpp"

namespace sextant {
namespace {
using test::Bad;
using test::error_of;
using test::expect_contains;

TEST(Toml, KeepsOrderPlacesAndTypes) {
  const Document d = parse_toml(
      "zebra = 1\n"
      "apple = 2.5\n"
      "\n"
      "[memory]\n"
      "kind = \"HBM3\"\n"
      "on = true\n"
      "sizes = [1, 2,\n  3]\n"
      "[[fabric]]\n"
      "reach = 8\n"
      "[[fabric]]\n"
      "day = 2024-05-01\n",
      "a.toml");
  ASSERT_EQ(d.root.members.size(), 4U);
  EXPECT_EQ(d.root.members[0].key, "zebra");
  EXPECT_EQ(d.root.members[1].key, "apple");
  EXPECT_EQ(d.root.members[2].key, "memory");
  EXPECT_EQ(d.root.find("zebra")->integer, 1);
  EXPECT_EQ(d.root.find("zebra")->number, 1.0);
  EXPECT_EQ(d.root.find("apple")->place.line, 2);
  EXPECT_EQ(d.root.find("apple")->place.column, 9);
  const Node& memory = *d.root.find("memory");
  EXPECT_EQ(memory.members[0].place.line, 5);
  EXPECT_EQ(memory.members[0].place.column, 1);
  EXPECT_EQ(memory.find("sizes")->items[2].place.line, 8);
  EXPECT_EQ(d.root.find("fabric")->items.size(), 2U);
  EXPECT_EQ(d.root.find("fabric")->items[1].find("day")->string, "2024-05-01");
  EXPECT_EQ(d.root.find("nothing"), nullptr);
  EXPECT_EQ(d.line(5), "kind = \"HBM3\"");
}

TEST(Toml, SkipsByteOrderMarkAndCarriageReturns) {
  const Document d = parse_toml(
      "\xEF\xBB\xBF"
      "a = 1\r\nb = 2\r\n",
      "a.toml");
  EXPECT_EQ(d.root.find("b")->place.line, 2);
  EXPECT_EQ(d.line(1), "a = 1");
}

class TomlBad : public testing::TestWithParam<Bad> {};
TEST_P(TomlBad, SaysWhere) {
  expect_contains(error_of([] { parse_toml(GetParam().text, "bad.toml"); }), GetParam().expected);
}
std::string repeated(const std::string& part, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += part;
  return out;
}
INSTANTIATE_TEST_SUITE_P(
    Toml, TomlBad,
    testing::Values(
        Bad{"syntax", "a = 1\nb = = 2\n", "bad.toml:2:5: "},
        Bad{"bare_unit", "a = 3 GHz\n", "bad.toml:1:7: "},
        Bad{"twice", "a = 1\na = 2\n", "bad.toml:2:"},
        Bad{"truncated_header", "a = 1\n[mem", "bad.toml:2:"},
        Bad{"truncated_string", "a = \"x", "bad.toml:1:"},
        Bad{"truncated_array", "a = [1,\n2", "bad.toml:2:"},
        Bad{"nul", std::string("a = 1\n\0", 7), "bad.toml: not a text file: it holds a NUL byte"},
        Bad{"latin1", "a = \"\xE9\"", "not UTF-8 text (byte 6, line 1)"},
        Bad{"utf16",
            "\xFF\xFE"
            "a",
            "it looks like UTF-16"},
        Bad{"gzip", "\x1F\x8B\x08", "it looks like gzip"},
        Bad{"surrogate", "a = \"\xED\xA0\x80\"", "not UTF-8"},
        Bad{"overlong", "a = \"\xC0\xAF\"", "not UTF-8"},
        Bad{"deep_arrays", "a = " + std::string(5000, '['), "nested deeper than 100 levels"},
        Bad{"deep_product",
            "a = " + repeated("{" + repeated("b.", 60) + "b=", 60) + "1" + std::string(60, '}'),
            "nested deeper"},
        Bad{"hidden_depth", "a = [\"\"\"x\"\"\"\"," + std::string(5000, '['), "nested deeper"}),
    test::name_of_row);

// Megabytes, made where they are needed: every case of the program would copy a parameter.
TEST(Toml, RefusesWhatIsTooLarge) {
  expect_contains(error_of([] { parse_toml(std::string((16U << 20) + 1, ' '), "bad.toml"); }),
                  "larger than 16 MiB");
}
TEST(Toml, RefusesKeysOfManyParts) {
  for (const std::string& text :
       {repeated("a.", 200'000) + "a = 1", "[" + repeated("a.", 200'000) + "a]",
        repeated("\"a\".", 200'000) + "a = 1"}) {
    expect_contains(error_of([&] { parse_toml(text, "bad.toml"); }),
                    "nested deeper than 100 levels");
  }
}

TEST(Toml, DotsInStringsAndCommentsAreNotDepth) {
  const std::string dots(500, '.');
  const Document d = parse_toml("# " + dots + "[[[[\na = \"" + dots + "\\\"" + dots +
                                    "\"\nb = '''" + dots + "\n" + dots + "'''\nc = [1.5, 2.5]\n",
                                "a.toml");
  EXPECT_EQ(d.root.members.size(), 3U);
}

TEST(Toml, WritesWhatItReads) {
  const std::string text =
      "name = \"a \\\"quoted\\\" \\\\ name\\n\\u0001\"\n"
      "count = 3\n"
      "share = 0.25\n"
      "whole = 4.0\n"
      "on = false\n"
      "sizes = [1, 2, 3]\n"
      "mixed = [{ a = 1 }, 2]\n"
      "none = []\n"
      "\n[memory]\n"
      "bandwidth = \"3.35 TB/s\"\n"
      "\n[memory.inner]\n"
      "x = 1\n"
      "\n[\"odd key\"]\n"
      "\n[[fabrics]]\n"
      "reach = 8\n"
      "\n[[fabrics]]\n"
      "reach = 64\n"
      "\n[fabrics.extra]\n"
      "y = 1e+30\n";
  EXPECT_EQ(to_toml(parse_toml(text, "a.toml").root), text);
}

TEST(Toml, KeepsNumbersThatAreNotFinite) {
  const Document d = parse_toml("a = inf\nb = nan\n", "a.toml");
  EXPECT_TRUE(std::isinf(d.root.find("a")->number));
  EXPECT_EQ(to_toml(d.root), "a = inf\nb = nan\n");
}

TEST(Toml, WritesOnlyUtf8) {
  Node table = Node::table();
  table.set("a", Node::of("\xFF broken"));
  EXPECT_EQ(parse_toml(to_toml(table), "a.toml").root.find("a")->string, "\xEF\xBF\xBD broken");
}

}  // namespace
}  // namespace sextant
