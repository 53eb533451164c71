// SPDX-License-Identifier: Apache-2.0
// Tests of the reader of YAML.
#include <gtest/gtest.h>

#include <string>

#include "sextant/io/node.hpp"
#include "sextant/io/test_support.hpp"

namespace sextant {
namespace {
using test::Bad;
using test::error_of;
using test::expect_contains;

struct Reading {
  const char* name;
  const char* yaml;
  const char* json;
};

class Yaml : public testing::TestWithParam<Reading> {};

TEST_P(Yaml, ReadsAsJson) {
  EXPECT_EQ(to_json(parse_yaml(GetParam().yaml, "a.yaml").root, 0), GetParam().json);
}

INSTANTIATE_TEST_SUITE_P(
    All, Yaml,
    testing::Values(
        Reading{"Empty", "# nothing\n", "null"},
        Reading{"Map", "---\na: 1\nb: two words # and a remark\n", R"({"a":1,"b":"two words"})"},
        Reading{"Nested", "a:\n  b:\n    c: 1\n  d: 2\ne: 3\n",
                R"({"a":{"b":{"c":1},"d":2},"e":3})"},
        Reading{"List", "a:\n- 1\n- x\nb:\n  - [1, 2]\n", R"({"a":[1,"x"],"b":[[1,2]]})"},
        Reading{"ListOfMaps", "a:\n  - path: x\n    type: y\n  - path: z\n",
                R"({"a":[{"path":"x","type":"y"},{"path":"z"}]})"},
        Reading{"DashAlone", "-\n  a: 1\n- - 1\n  - 2\n-\n- b\n", R"([{"a":1},[1,2],null,"b"])"},
        Reading{
            "Scalars", "a: 1.0e-5\nb: 1_000\nc: 2e-4\nd: ~\ne:\nf: -3\ng: 1:2\nh: 007\ni: 1.5x\n",
            R"({"a":1e-05,"b":1000,"c":0.0002,"d":null,"e":null,"f":-3,"g":"1:2","h":"007","i":"1.5x"})"},
        Reading{"Booleans", "a: true\nb: False\nc: yes\nd: off\ne: 'no'\n",
                R"({"a":true,"b":false,"c":true,"d":false,"e":"no"})"},
        Reading{"Quotes", "a: \"x: # \\\"y\\\"\"\nb: 'it''s'\n\"c d\": 1\n",
                R"({"a":"x: # \"y\"","b":"it's","c d":1})"},
        Reading{"Flow", "a: {b: [1, two words, 'x'], c: {d: null}, e: }\nf: []\n",
                R"({"a":{"b":[1,"two words","x"],"c":{"d":null},"e":null},"f":[]})"},
        Reading{"FlowOverLines", "a: [1,\n   2, # two\n  3]\nb: 4\n", R"({"a":[1,2,3],"b":4})"},
        Reading{"FlowJson", "a: {\"b\": true, \"c\": [1.5]}\n", R"({"a":{"b":true,"c":[1.5]}})"},
        Reading{"Literal", "a: |\n  x\n    y\n\n  z\nb: >-\n  one\n  two\nc: 1\n",
                R"({"a":"x\n  y\n\nz\n","b":"one two","c":1})"},
        Reading{"Continued", "a: one\n  two\nb: 1\n", R"({"a":"one two","b":1})"},
        Reading{"Interpolation", "a: ${TP:1}\nb: ${model.x}\nc: '{val_loss:.2f}-{step}'\n",
                R"({"a":"${TP:1}","b":"${model.x}","c":"{val_loss:.2f}-{step}"})"},
        Reading{"Windows", "a: 1\r\nb:\r\n  - 2\r\n", R"({"a":1,"b":[2]})"}),
    test::name_of_row);

class YamlRefusal : public testing::TestWithParam<Bad> {};

TEST_P(YamlRefusal, SaysWhereAndWhy) {
  expect_contains(error_of([] { parse_yaml(GetParam().text, "a.yaml"); }), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, YamlRefusal,
    testing::Values(
        Bad{"Anchor", "a: &x 1\nb: *x\n", "a.yaml:1:4: anchors and aliases are not read"},
        Bad{"Alias", "b:\n  <<: *x\n", "a.yaml:2:7: anchors and aliases"},
        Bad{"Tag", "a: !!python/object:os.system x\n", "a.yaml:1:4: tags are not read"},
        Bad{"Tab", "a:\n\tb: 1\n", "a.yaml:2:1: a tab indents here"},
        Bad{"Twice", "a: 1\nb: 2\na: 3\n", "a.yaml:3:1: a: given twice, first in line 1"},
        Bad{"Deeper", "a: 1\n  b: 2\n", "a.yaml:2:3: indented under a value"},
        Bad{"NoKey", "a: 1\nword\n", "a.yaml:2:1: expected 'key: value'"},
        Bad{"KeyInValue", "a: b: c\n", "a.yaml:1:4: a key inside the value"},
        Bad{"Unclosed", "a: [1, 2\n", "a.yaml:1:4: the file ends before its ']'"},
        Bad{"UnclosedText", "a: \"x\n", "a.yaml:1:4: the file ends inside the text"},
        Bad{"AfterValue", "a: \"x\" y\n", "unexpected text after the value"},
        Bad{"Documents", "a: 1\n---\nb: 2\n", "a.yaml:2:1: a second document"},
        Bad{"Back", "  a: 1\nb: 2\n", "a.yaml:2:1: indented less"}),
    test::name_of_row);

TEST(YamlPlaces, AreThoseOfTheFile) {
  const Document d = parse_yaml("a:\n  - b: {c: 1}\n", "a.yaml");
  const Node& item = d.root.find("a")->items[0];
  EXPECT_EQ(item.place.line, 2);
  EXPECT_EQ(item.place.column, 5);
  EXPECT_EQ(item.find("b")->find("c")->place.column, 12);
}

TEST(YamlPlaces, DepthIsBounded) {
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  expect_contains(error_of([&] { parse_yaml(deep, "a.yaml"); }), {"nested deeper than"});
  expect_contains(error_of([] { parse_yaml(std::string(100000, '['), "a.yaml"); }),
                  {"nested deeper than"});
  std::string dashes;
  for (int i = 0; i < 100000; ++i) dashes += "- ";
  expect_contains(error_of([&] { parse_yaml(dashes, "a.yaml"); }), {"nested deeper than"});
}

}  // namespace
}  // namespace sextant
