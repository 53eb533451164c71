// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sextant/answer/schema.hpp"
#include "sextant/units/units.hpp"

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Kernel {
  std::string name;
  Seconds time;
  bool fits = false;
};

void describe(Record& r, const Kernel& k) {
  r("name", k.name, "kernel");
  r("seconds", k.time, "time");
  r("fits", k.fits);
  r("", "for people", "note");
}

Answer sample(const std::vector<Kernel>& kernels) {
  Answer a;
  a("gpus", 8);
  a("step_seconds", Seconds(0.25));
  a("share", only_if(false, 0.5));
  a.say("two kernels");
  const Records rows = records_of(kernels, [](Record& r, const Kernel& k) { describe(r, k); });
  a.show(rows, {.rule = false});
  a.some("kernels", "Kernel", rows);
  a.assume({"gpus 8"});
  return a;
}

TEST(Answer, OneTreeManyViews) {
  const Answer a = sample({{"gemm", Seconds(1e-3), true}, {"norm", Seconds(2e-6), false}});
  EXPECT_EQ(a.text(),
            "two kernels\n"
            "kernel     time  note\n"
            "gemm    1.00 ms  for people\n"
            "norm    2.00 µs  for people\n"
            "\nassumed:\n  gpus 8\n");
  EXPECT_EQ(a.csv(), "gpus,step_seconds,share\n8,0.25,\n");
  const std::string json = a.json();
  EXPECT_THAT(json, HasSubstr("\"seconds\": 0.001"));
  EXPECT_THAT(json, HasSubstr("\"fits\": true"));
  EXPECT_THAT(json, Not(HasSubstr("for people")));
  EXPECT_THAT(json, Not(HasSubstr("share")));
  EXPECT_THAT(a.html(), HasSubstr("two kernels\nkernel"));
}

// JSON is written from the records; who reads it as a tree and writes that gets the same.
TEST(Answer, JsonIsThatOfItsNode) {
  Answer a = sample({{"a \"b\"\n\x01 é \xFF", Seconds(1e-3), true}, {"", Seconds(2e-6), false}});
  a("infinite", std::numeric_limits<double>::infinity());
  a.list("none", "Kernel", {});
  a.object("empty", "Nothing", {});
  a.object("some", "Some", sample({}));
  a.tree("breakdown", {.label = "step", .value = 2, .share = 1, .parts = {{.label = "a"}}});
  Node node = Node::table();
  node.set("list", Node::array()).push(Node::table());
  node.set("nothing", Node{});
  a.node("node", "Any", node);
  const std::string json = a.json();
  EXPECT_EQ(json, R"({
  "gpus": 8,
  "step_seconds": 0.25,
  "kernels": [
    {
      "name": "a \"b\"\n\u0001 é �",
      "seconds": 0.001,
      "fits": true
    },
    {
      "name": "",
      "seconds": 2e-06,
      "fits": false
    }
  ],
  "assumptions": ["gpus 8"],
  "infinite": null,
  "none": [],
  "empty": {},
  "some": {
    "gpus": 8,
    "step_seconds": 0.25,
    "assumptions": ["gpus 8"]
  },
  "breakdown": {
    "label": "step",
    "seconds": 2,
    "share": 1,
    "parts": [
      {
        "label": "a",
        "seconds": 0,
        "share": 0,
        "parts": []
      }
    ]
  },
  "node": {
    "list": [
      {}
    ],
    "nothing": null
  }
}
)");
  EXPECT_EQ(to_json(parse_json(json, "answer").root) + "\n", json);
}

TEST(Answer, RowsOfCsv) {
  Answer a = sample({});
  a.lines(records_of(std::vector<Kernel>{{"a,b", Seconds(1), true}},
                     [](Record& r, const Kernel& k) { describe(r, k); }));
  EXPECT_EQ(a.csv(), "name,seconds,fits\n\"a,b\",1,1\n");
  EXPECT_THAT(a.json(), Not(HasSubstr("kernels")));
}

TEST(Answer, TerminalsObeyNothing) {
  Answer a;
  a.say(
      "model \x1B]0;owned\a and \xC2\x9B"
      "2J, µ");
  EXPECT_EQ(a.text(), "model \\x1b]0;owned\\x07 and \\x9b2J, µ\n");
}

TEST(AnswerTypes, AreReadOffAnswers) {
  AnswerTypes types;
  types.add("Sample", sample({}));
  types.add("Sample", sample({{"gemm", Seconds(1), true}}));
  EXPECT_EQ(types.type_script(),
            "export type Kernel = { name: string; seconds: number; fits: boolean; };\n"
            "export type Sample = { gpus: number; step_seconds: number; share?: number; kernels?: "
            "Kernel[]; assumptions: string[]; };\n");
  const Node schemas = types.open_api();
  const Node* fields = schemas.find("Sample")->find("properties");
  EXPECT_EQ(fields->find("step_seconds")->find("description")->string, "in s");
  EXPECT_EQ(fields->find("kernels")->find("items")->find("$ref")->string,
            "#/components/schemas/Kernel");
}

TEST(AnswerTypes, WhatNotAllHaveIsOptional) {
  AnswerTypes types;
  Record one;
  one("a", 1);
  one("b", "x");
  Record other;
  other("a", 2);
  other("c", true);
  types.add("T", one);
  types.add("T", other);
  EXPECT_EQ(types.type_script(), "export type T = { a: number; b?: string; c?: boolean; };\n");
}

TEST(AnswerTypes, OfManyFieldsTakeMoreThanOneLine) {
  AnswerTypes types;
  Record one;
  for (const char last : {'a', 'b', 'c'}) one(std::string(32, 'x') + last, 1);
  types.add("T", one);
  const std::string x(32, 'x');
  EXPECT_EQ(types.type_script(), "export type T = { " + x + "a: number; " + x + "b: number;\n  " +
                                     x + "c: number; };\n");
}

}  // namespace
}  // namespace sextant
