// SPDX-License-Identifier: Apache-2.0
// Tests of the JSON reader and writer.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "sextant/io/node.hpp"
#include "sextant/io/test_support.hpp"

namespace sextant {
namespace {
using test::Bad;
using test::error_of;
using test::expect_contains;

TEST(Json, KeepsOrderPlacesAndTypes) {
  const Document d = parse_json(
      "{\n"
      "  \"z\": 1, \"µ\": \"é\", \"a\": [true, null, -2.5e3],\n"
      "  \"t\": {\"x\": \"\\u00e9\\ud83d\\ude00\\n\"}\n"
      "}",
      "a.json");
  ASSERT_EQ(d.root.members.size(), 4U);
  EXPECT_EQ(d.root.members[0].key, "z");
  EXPECT_EQ(d.root.find("z")->kind, Node::Kind::integer);
  const Node& a = *d.root.find("a");
  EXPECT_EQ(a.place.line, 2);
  EXPECT_EQ(a.place.column, 26);  // code points, not bytes
  EXPECT_EQ(a.items[1].kind, Node::Kind::null);
  EXPECT_EQ(a.items[2].number, -2500);
  EXPECT_EQ(d.root.find("t")->find("x")->string, "é😀\n");
  EXPECT_EQ(d.root.find("t")->members[0].place.line, 3);
}

TEST(Json, ReadsNumbersOfAnySize) {
  const Document d = parse_json(
      "[9223372036854775807, -9223372036854775808, 9223372036854775808, 1e-400, 0.1, -0, 1E5]",
      "a");
  EXPECT_EQ(d.root.items[0].integer, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(d.root.items[1].integer, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(d.root.items[2].kind, Node::Kind::number);
  EXPECT_EQ(d.root.items[2].number, 0x1p63);
  EXPECT_EQ(d.root.items[3].number, 0);
  EXPECT_EQ(d.root.items[4].number, 0.1);
  EXPECT_TRUE(std::signbit(d.root.items[5].number));
  EXPECT_EQ(d.root.items[6].number, 1e5);
}

TEST(Json, ReadsWhatPythonWrites) {
  const Document d = parse_json("[NaN, Infinity, -Infinity]", "config.json");
  EXPECT_TRUE(std::isnan(d.root.items[0].number));
  EXPECT_EQ(d.root.items[2].number, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(to_json(d.root), "[null, null, null]");
}

class JsonBad : public testing::TestWithParam<Bad> {};
TEST_P(JsonBad, SaysWhere) {
  expect_contains(error_of([] { parse_json(GetParam().text, "bad.json"); }), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(
    Json, JsonBad,
    testing::Values(
        Bad{"empty", "", "bad.json:1:1: the file ends where a value is expected"},
        Bad{"blank", "  \n ", "bad.json:2:2: the file ends"},
        Bad{"trailing_comma", "{\n  \"a\": 1,\n}",
            "bad.json:3:1: expected a key in double quotes; remove the comma"},
        Bad{"trailing_comma_array", "[1,]", "bad.json:1:4: expected a value; remove the comma"},
        Bad{"missing_value", "{\"a\":}", "bad.json:1:6: expected a value\n"},
        Bad{"missing_comma", "{\"a\": 1 \"b\": 2}", "bad.json:1:9: expected ',' or '}'"},
        Bad{"missing_colon", "{\"a\" 1}", "bad.json:1:6: expected ':' after the key 'a'"},
        Bad{"unclosed_table", "{\n \"a\": {\"b\": 1\n",
            "bad.json:2:7: the file ends before the '}'"},
        Bad{"unclosed_array", "[1, 2", "bad.json:1:1: the file ends before the ']'"},
        Bad{"unclosed_string", "{\"a\": \"b", "bad.json:1:7: the file ends inside the string"},
        Bad{"newline_in_string", "\"a\nb\"", "bad.json:1:3: a line break or control character"},
        Bad{"escape", "\"\\x\"", "unknown escape"},
        Bad{"hex", "\"\\u12g4\"", "four hexadecimal digits"},
        Bad{"half_pair", "\"\\ud83d\"", "half of a surrogate pair"},
        Bad{"lone_low", "\"\\udc00\"", "half of a surrogate pair"},
        Bad{"comment", "{ // x\n}", "JSON has no comments"},
        Bad{"single_quotes", "{'a': 1}", "strings stand in double quotes"},
        Bad{"python", "[True]", "write true or false"}, Bad{"none", "[None]", "write null"},
        Bad{"leading_zero", "[01]", "leading zeros"},
        Bad{"no_digit", "[1.]", "bad.json:1:4: expected a digit"},
        Bad{"point", "[.5]", "a number starts with a digit"},
        Bad{"huge", "[1e999]", "the number '1e999' is too large"},
        Bad{"rest", "{} x", "bad.json:1:4: unexpected text after the end"},
        Bad{"deep", std::string(100'000, '['), "nested deeper than 100 levels"},
        Bad{"nul", std::string("{\0}", 3), "NUL byte"}, Bad{"latin1", "\"\xE9\"", "not UTF-8"}),
    test::name_of_row);

TEST(Json, ReportsAllDuplicateKeys) {
  const std::string text = error_of(
      [] { parse_json("{\n\"a\": 1,\n\"b\": {\"c\": 1, \"c\": 2},\n\"a\": 2}", "bad.json"); });
  expect_contains(text, "bad.json:3:15: c: given twice, first in line 3");
  expect_contains(text, "bad.json:4:1: a: given twice, first in line 2");
}

TEST(Json, ShowsOnlyTheNeighbourhoodInLongLines) {
  std::string text = "{\"first\": [";
  for (int i = 0; i < 5000; ++i) text += "\"é\",";
  text += "oops]}";
  const std::string message = error_of([&] { parse_json(text, "long.json"); });
  EXPECT_LT(message.size(), 500U);
  expect_contains(message, "long.json:1:20012: expected a value");
  // The caret stands under the word: as many characters before it as before "oops".
  const std::string line = message.substr(message.find('\n') + 1);
  const auto characters = [](std::string_view s) {
    return std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; });
  };
  const std::string second = line.substr(line.find('\n') + 1);
  EXPECT_EQ(characters(line.substr(0, line.find("oops"))),
            characters(second.substr(0, second.find('^'))));
}

TEST(Json, Writes) {
  Node table = Node::table();
  table.set("a", Node::of(1));
  table.set("b", Node::of(0.1));
  table.set("a", Node::of(true));
  Node& list = table.set("list", Node::array());
  list.push(Node::of("x\"\\\n\x01"));
  list.push(Node{});
  Node& rows = table.set("rows", Node::array());
  rows.push(Node::table()).set("k", Node::of(1e300));
  table.set("empty", Node::table());
  table.set("none", Node::array());
  EXPECT_EQ(to_json(table, 0),
            "{\"a\":true,\"b\":0.1,\"list\":[\"x\\\"\\\\\\n\\u0001\",null],"
            "\"rows\":[{\"k\":1e+300}],\"empty\":{},\"none\":[]}");
  EXPECT_EQ(to_json(table),
            "{\n  \"a\": true,\n  \"b\": 0.1,\n  \"list\": [\"x\\\"\\\\\\n\\u0001\", null],\n"
            "  \"rows\": [\n    {\n      \"k\": 1e+300\n    }\n  ],\n  \"empty\": {},\n"
            "  \"none\": []\n}");
}

// Random trees survive a round trip.
class Trees {
 public:
  explicit Trees(unsigned seed) : engine_(seed) {}
  Node make(int depth) {
    switch (random() % (depth > 0 ? 7U : 5U)) {
      case 0:
        return {};
      case 1:
        return Node::of(random() % 2 == 0);
      case 2:
        return Node::of(static_cast<std::int64_t>(random()) << (random() % 30));
      case 3:
        return Node::of(std::ldexp(1.0 + random() / 4294967296.0, int(random() % 2000) - 1000));
      case 4:
        return Node::of(text());
      case 5: {
        Node node = Node::array();
        for (unsigned i = random() % 5; i > 0; --i) node.push(make(depth - 1));
        return node;
      }
      default: {
        Node node = Node::table();
        for (unsigned i = random() % 5; i > 0; --i) node.set(text(), make(depth - 1));
        return node;
      }
    }
  }

 private:
  std::string text() {
    static const std::array<std::string, 10> parts = {"a", "\"",   "\\", "\n", "é",
                                                      "😀", "\x02", " ",  "/",  "b"};
    std::string out;
    for (unsigned i = random() % 8; i > 0; --i) out += parts[random() % parts.size()];
    return out;
  }
  std::mt19937 engine_;
  unsigned random() { return static_cast<unsigned>(engine_()); }
};

TEST(Json, RoundTripsAnyTree) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Node tree = Trees(seed).make(5);
    const std::string compact = to_json(tree, 0);
    EXPECT_EQ(to_json(parse_json(compact, "a").root, 0), compact);
    EXPECT_EQ(to_json(parse_json(to_json(tree, 2), "a").root, 0), compact);
  }
}

}  // namespace
}  // namespace sextant
