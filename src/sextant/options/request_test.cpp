// SPDX-License-Identifier: Apache-2.0
#include "sextant/options/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/options/infer.hpp"
#include "sextant/options/range.hpp"
#include "sextant/options/train.hpp"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Read {
  TrainOptions options;
  std::vector<Diagnostic> problems;
};

Read read(const std::string& json, Asker asker = Asker::network) {
  Read r;
  const Document document = parse_json(json, "request");
  read_request(document, document.root, options_of(r.options), r.problems, {.asker = asker});
  return r;
}

TEST(Request, TooLargeIsNotCalledBroken) {
  const Read r = read(R"({"model": "gpt3-175b", "system": "dgx-h100", "gpus": 3e9, "tp": 1.5})");
  ASSERT_EQ(r.problems.size(), 2U);
  EXPECT_THAT(r.problems[0].message, testing::Not(HasSubstr("whole number")));
  EXPECT_THAT(r.problems[0].message, HasSubstr("not 3000000000"));
  EXPECT_THAT(r.problems[1].message, HasSubstr("expected a whole number, not 1.5"));
}

TEST(Request, FillsInOptions) {
  const Read r = read(R"({"model": "gpt3-175b", "system": {"extends": "dgx-h100"}, "tp": 8,
                          "sp": false, "recompute_modules": ["norms", "mlp"], "offload": true,
                          "gpus": 64.0, "pp": null})");
  ASSERT_TRUE(r.problems.empty()) << to_text(r.problems.front());
  EXPECT_EQ(r.options.model.name, "gpt3-175b");
  ASSERT_NE(r.options.system.object, nullptr);
  Inputs inputs;
  GivenFields given;
  std::vector<Diagnostic> problems;
  read_inputs(Task::train, r.options.given, inputs, given, problems);
  ASSERT_TRUE(problems.empty()) << to_text(problems.front());
  EXPECT_THAT(given, ElementsAre("gpus", "offload", "recompute_modules", "sp", "tp"));
  EXPECT_EQ(inputs.strategy.tp, 8);
  EXPECT_EQ(inputs.gpus, 64);
  EXPECT_FALSE(inputs.strategy.sp);
  EXPECT_TRUE(inputs.strategy.offload);
  EXPECT_TRUE(inputs.strategy.modules.norms && inputs.strategy.modules.mlp);
}

// "15T" and 15e12 are the same number of tokens.
TEST(Request, TakesNumbersWhereATextHoldsOne) {
  const Read r = read(R"({"model": "gpt3-175b", "system": "dgx-h100", "tokens": 15e12, "price": 2,
                          "pue": 1.1, "restart": "5 min"})");
  ASSERT_TRUE(r.problems.empty()) << to_text(r.problems.front());
  std::vector<Diagnostic> problems;
  RunPlan plan = read_run(r.options.run, problems);
  ASSERT_TRUE(problems.empty()) << to_text(problems.front());
  read_run_price(r.options.run, "h100-sxm", plan);
  EXPECT_EQ(plan.tokens, 15e12);
  EXPECT_EQ(plan.dollars_per_hour, 2);
  EXPECT_EQ(plan.terms.facility.pue, 1.1);
  EXPECT_EQ(plan.terms.reliability.restart, Seconds(300));
  EXPECT_THAT(read(R"({"model": "a", "system": "b", "tokens": true})").problems[0].message,
              HasSubstr("expected a number, or a text in quotes"));
}

TEST(Request, SaysWhatANumberMayBe) {
  constexpr double any = std::numeric_limits<double>::infinity();
  struct Case {
    double min, max;
    const char* words;
  };
  for (const Case& c :
       {Case{1, 100, "1 to 100"}, Case{1, any, "1 or more"}, Case{-any, 5, "5 or less"},
        Case{above_zero, 1, "more than 0, 1 at most"}, Case{above_zero, any, "more than 0"}}) {
    OptionInfo info;
    info.min = c.min;
    info.max = c.max;
    EXPECT_EQ(range_words(info), c.words);
  }
  InferOptions o;
  std::vector<Diagnostic> problems;
  const Document document = parse_json(R"({"model": "a", "system": "b", "placed": 0})", "request");
  read_request(document, document.root, options_of(o), problems, {.asker = Asker::network});
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].message, "expected more than 0, 1 at most, not 0");
}

TEST(Request, FindsEveryProblemAtOnce) {
  const Read r = read(R"({"model": 3, "tp": "8", "pp": 1.5, "sp": 1, "recompute_modules": "mlp",
                          "microbach": 2, "gpus": 1e300})");
  std::vector<std::string> fields;
  for (const Diagnostic& d : r.problems) fields.push_back(d.field);
  EXPECT_THAT(fields, ElementsAre("model", "tp", "pp", "sp", "recompute_modules", "microbach",
                                  "gpus", "system"));
  EXPECT_THAT(r.problems[0].message, HasSubstr("expected the name of a preset"));
  EXPECT_EQ(r.problems[1].hint, "remove the quotes");
  EXPECT_EQ(r.problems[5].hint, "did you mean 'microbatch'?");
  EXPECT_THAT(r.problems[7].message, HasSubstr("missing"));
}

TEST(Request, NamesTheChoicesThereAre) {
  const Read r = read(R"({"model": "a", "system": "b", "zero": 1, "recompute": "zzz",
                          "schedule": "1f1c"})");
  ASSERT_EQ(r.problems.size(), 2U);
  EXPECT_EQ(r.problems[0].hint, "one of none, selective, full");
  EXPECT_EQ(r.problems[1].hint, "did you mean '1f1b'?");
}

TEST(Request, KnowsWhatOtherToolsCallAField) {
  const Read r = read(R"({"model": "a", "system": "b", "seq_len": 1, "dtype": "fp8", "TP": 2})");
  ASSERT_EQ(r.problems.size(), 3u);
  EXPECT_EQ(r.problems[0].hint, "did you mean 'seq'?");
  EXPECT_EQ(r.problems[1].hint, "did you mean 'precision'?");
  EXPECT_EQ(r.problems[2].hint, "did you mean 'tp'?");
}

// A network must not make the program write files.
TEST(Request, FilesAreForProgramsOfThisMachine) {
  const std::string json = R"({"model": "a", "system": "b", "trace": "/etc/passwd"})";
  EXPECT_EQ(read(json).problems.size(), 1U);
  EXPECT_EQ(read(json, Asker::program).options.trace, "/etc/passwd");
}

TEST(Request, ANetworkMayNotAskForHoursOfWork) {
  const auto problems_of = [](Asker asker) {
    InferOptions o;
    std::vector<Diagnostic> problems;
    const Document d =
        parse_json(R"({"model": "a", "system": "b", "output": 10000000})", "request");
    read_request(d, d.root, options_of(o), problems, {.asker = asker});
    return problems.size();
  };
  EXPECT_EQ(problems_of(Asker::network), 1U);
  EXPECT_EQ(problems_of(Asker::program), 0U);
}

TEST(Request, IsWrittenAsItWasRead) {
  const std::string json = R"({"model": "a", "system": "b", "tp": 8, "sp": false, "offload": true,
                               "recompute_modules": ["mlp"]})";
  Read r = read(json);
  TrainOptions fresh;
  const Node written = write_request(options_of(r.options), options_of(fresh));
  const Read again = read(to_json(written));
  EXPECT_TRUE(again.problems.empty());
  EXPECT_EQ(written.members.size(), 6U);
  for (const Node::Member& m : r.options.given.members) {
    const Node* same = again.options.given.find(m.key);
    ASSERT_NE(same, nullptr) << m.key;
    EXPECT_EQ(to_json(*same), to_json(m.value));
  }
}

TEST(Request, IsAnObject) {
  EXPECT_EQ(read("[1, 2]").problems.size(), 1U);
  EXPECT_EQ(read("{}").problems.size(), 2U);
}

}  // namespace
}  // namespace sextant
