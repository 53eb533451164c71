// SPDX-License-Identifier: Apache-2.0
#include "sextant/ask/jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sextant/io/node.hpp"
#include "sextant/io/test_support.hpp"
#include "sextant/options/request.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {
namespace {

using testing::HasSubstr;

Node without_times(Node node) {
  std::erase_if(node.members, [](const Node::Member& m) { return m.key == "seconds"; });
  return node;
}

/// The answer to a request, as JSON; how long it took left out.
Node ask(const std::string& request) {
  const Document document = parse_json(request, "request");
  SearchOptions options;
  std::vector<Diagnostic> problems;
  read_request(document, document.root, options_of(options), problems);
  EXPECT_TRUE(problems.empty()) << request;
  options.threads = 1;
  SearchProgress progress;
  const Answer answer = search_answer(options, {}, progress, [](double) {});
  return without_times(parse_json(answer.json(), "answer").root);
}

Node plan(const std::string& text) {
  SearchOptions options;
  options.plan = text;
  options.threads = 1;
  SearchProgress progress;
  const Answer answer = plan_answer(options, {}, progress, [](double) {});
  return parse_json(answer.json(), "answer").root;
}

Node job(const Node& answer, std::size_t i) {
  return without_times(*answer.find("jobs")->items.at(i).find("answer"));
}

const Node& arrangement(const Node& answer, const std::string& order, bool one_system) {
  const std::vector<Node>& all = answer.find("arrangements")->items;
  const auto at = std::find_if(all.begin(), all.end(), [&](const Node& a) {
    return a.find("order")->string == order && a.find("one_system")->boolean == one_system;
  });
  return at == all.end() ? all.front() : *at;
}

double number(const Node& table, const char* name) { return table.find(name)->number; }

constexpr const char* small = R"(
model = "gpt3-6.7b"
systems = ["dgx-a100", "dgx-h100"]
budget = "32 gpus"
[train]
tokens = "100B"
batch = 64
fix = ["cp=1", "pp=1", "recompute=selective"]
[[serve]]
name = "chat"
objective = "gpus"
min_throughput = 8000
input = 200
output = 100
[[serve]]
name = "peaks"
traffic = "poisson"
rate = 2
input = 200
output = 50
max_ttft_p99 = "1 s"
)";

TEST(SearchPlan, JobsAreWhatSearchesSayOfThemAlone) {
  const Node answer = plan(small);
  const std::string systems =
      R"("model": "gpt3-6.7b", "systems": ["dgx-a100", "dgx-h100"], "budget": "32 gpus", )";
  EXPECT_EQ(to_json(job(answer, 0)), to_json(ask("{" + systems + R"("tokens": "100B", "batch": 64,
                        "fix": ["cp=1", "pp=1", "recompute=selective"]})")));
  EXPECT_EQ(to_json(job(answer, 1)),
            to_json(ask("{" + systems + R"("infer": true, "objective": "gpus",
                        "min_throughput": 8000, "input": 200, "output": 100})")));
  EXPECT_EQ(to_json(job(answer, 2)),
            to_json(ask("{" + systems + R"("infer": true, "traffic": "poisson", "rate": 2,
                        "input": 200, "output": 50, "max_ttft_p99": "1 s"})")));
}

TEST(SearchPlan, TrainsOnWhatServingLeaves) {
  const Node answer = plan(small);
  const Node& together = answer.find("arrangements")->items.front();
  ASSERT_EQ(together.find("order")->string, "side by side");
  const std::vector<Node>& jobs = together.find("jobs")->items;
  const double left = 32 - number(jobs[1], "spent") - number(jobs[2], "spent");
  EXPECT_EQ(number(together, "training_budget"), left);
  const Node alone =
      ask(R"({"model": "gpt3-6.7b", "systems": ["dgx-a100", "dgx-h100"], "budget": ")" +
          std::to_string(static_cast<int>(left)) + R"( gpus", "tokens": "100B",
                         "batch": 64, "fix": ["cp=1", "pp=1", "recompute=selective"]})");
  const Node& best = alone.find("systems")->items.front();
  EXPECT_EQ(number(jobs[0], "tokens_per_second"), number(best, "tokens_per_second"));
  EXPECT_EQ(number(together, "training_days"), number(best, "run_days"));
  EXPECT_LE(number(together, "spent"), 32);
  // In turn there is all of it.
  const Node& turn = arrangement(answer, "in turn", true);
  EXPECT_EQ(turn.find("training_budget"), nullptr);
  EXPECT_GE(number(turn, "training_tokens_per_second"),
            number(together, "training_tokens_per_second"));
}

TEST(SearchPlan, AddsWhatJobsTakeUpOrTakesTheMost) {
  const Node answer = plan(R"(
model = "gpt3-6.7b"
[train]
system = "dgx-a100"
gpus = 16
batch = 32
fix = ["cp=1", "pp=1", "recompute=selective"]
[serve]
system = "dgx-h100"
gpus = 8
input = 200
output = 100
)");
  const std::vector<Node>& all = answer.find("arrangements")->items;
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(number(all[0], "gpus"), 24);
  EXPECT_EQ(number(all[1], "gpus"), 16);
  EXPECT_FALSE(all[0].find("one_system")->boolean);
}

TEST(SearchPlan, PaysForTheRunAndForAllDaysOfServing) {
  const Node answer = plan(R"(
model = "gpt3-6.7b"
systems = ["dgx-a100", "dgx-h100"]
budget = "1 M$"
[train]
tokens = "300B"
batch = 256
fix = ["cp=1", "pp=1", "microbatch=1"]
[[serve]]
objective = "gpus"
input = 200
output = 100
days = 100
)");
  const Node& first = answer.find("arrangements")->items.front();
  const std::vector<Node>& jobs = first.find("jobs")->items;
  EXPECT_EQ(first.find("order")->string, "paid for");
  EXPECT_DOUBLE_EQ(number(jobs[1], "dollars"), number(jobs[1], "dollars_per_hour") * 2400);
  EXPECT_DOUBLE_EQ(number(first, "dollars"),
                   number(jobs[0], "dollars") + number(jobs[1], "dollars"));
  EXPECT_LE(number(first, "dollars"), 1e6);
  EXPECT_DOUBLE_EQ(number(first, "training_budget"), 1e6 - number(jobs[1], "dollars"));
}

TEST(SearchPlan, SaysAllThatIsWrongByItsLine) {
  const std::vector<std::pair<std::string, std::vector<const char*>>> cases = {
      {"\nmodle = 'gpt3-6.7b'\nbatch = 3\n[train]\n[[serve]]\n",
       {"plan:2:1: modle: unknown field; did you mean 'model'", "plan:3:1: batch: is of one job",
        "model: missing", "plan:4", "train: nothing says what it may take"}},
      {"\nmodel = 'gpt3-6.7b'\nsystems = ['dgx-a10', 'dgx-h100']\nbudget = '2 GB'\n"
       "[train]\nbatch = 8\nfix = ['tq=1']\n[[serve]]\nname = 3\ndays = -1\n",
       {"plan:4:10: budget: expected power, dollars or devices", "plan:9", "plan:10"}},
      {"\nmodel = 'gpt3-6.7b'\nsystems = ['dgx-a10', 'dgx-h100']\n[train]\ngpus = 8\nbatch = 8\n"
       "fix = ['tq=1']\n[[serve]]\ngpus = 8\nrate = 3\n[price]\ndgx-b20 = 2\n",
       {"plan:3:11: systems: no system is called 'dgx-a10'; did you mean 'a10-node', 'dgx-a100'",
        "plan:7:7: train.fix: there is no axis 'tq'", "plan:10:8: serve[0].rate: is of traffic",
        "plan:12:1: price.dgx-b20: no job may take this system"}},
      {"\nmodel = 'gpt3-6.7b'\nsystem = 'dgx-h100'\nbudget = '8 gpus'\n[train]\nbatch = 8\n"
       "gpus = 4\n[[serve]]\n[[serve]]\nname = 'serve'\n",
       {"plan:7:8: train.gpus: the jobs share a budget",
        "serve[0]: a budget that jobs share needs to know what each must serve",
        "two jobs are called 'serve'"}},
      {"\nmodel = 'gpt3-6.7b'\nserve = 3\n",
       {"train: missing", "plan:3:9: serve: expected tables"}},
      {"\nmodel = 'gpt3-6.7b'\nsystem = 'dgx-h100'\nbudget = '1 M$'\n[train]\nbatch = 8\n"
       "[[serve]]\nobjective = 'gpus'\n",
       {"tokens: a budget in dollars is of a whole run", "serve[0].days: a budget in dollars"}},
  };
  for (const auto& [text, said] : cases) {
    const std::string error = test::error_of([&, &file = text] { plan(file); });
    for (const char* s : said) EXPECT_THAT(error, HasSubstr(s));
    EXPECT_THAT(error, testing::Not(HasSubstr("--")));
  }
}

TEST(SearchPlan, WhatAFlagSaysWrongIsTheFlags) {
  SearchOptions options;
  options.plan = small;
  options.budget = "5";
  options.model.name = "nosuch";
  SearchProgress progress;
  try {
    plan_answer(options, {}, progress, [](double) {});
    ADD_FAILURE();
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics().size(), 2) << e.what();
    EXPECT_THAT(e.what(), HasSubstr("--budget: expected power, dollars or devices, got '5'"));
    EXPECT_THAT(e.what(), HasSubstr("--model: no model is called 'nosuch'"));
  }
}

TEST(SearchPlan, NoNetworkNamesAFile) {
  SearchOptions options;
  options.plan = "/etc/passwd";
  Common common;
  common.lookup = Lookup::presets;
  SearchProgress progress;
  EXPECT_THROW(plan_answer(options, common, progress, [](double) {}), InputError);
}

}  // namespace
}  // namespace sextant
