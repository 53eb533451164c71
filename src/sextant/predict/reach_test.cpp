// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/reach.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sextant/io/errors.hpp"
#include "sextant/predict/test_problem.hpp"
#include "sextant/predict/uncertainty.hpp"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A model of 48 layers on nodes of eight.
Problem example() {
  Problem p;
  p.network.devices_per_node = 8;
  p.graph.layers = 48;
  p.work.batch = 64;
  p.work.seq = 4096;
  return p;
}

std::vector<std::string> sentences(const Errors& errors, const Strategy& s,
                                   Asked question = Asked::train) {
  std::vector<std::string> all;
  for (const Unmeasured& u : unmeasured_of(errors, question, choices_of(question, example(), s))) {
    all.push_back(u.sentence);
  }
  return all;
}

TEST(Reach, SaysWhatLiesOutside) {
  Errors e;
  e.reach = {{.axis = "cp", .numbers = {1, 2}},
             {.axis = "pp", .numbers = {1, 4}},
             {.axis = "interleave", .numbers = {1, 2, 24}},
             {.axis = "schedule", .names = {"1f1b", "gpipe"}},
             {.axis = "recompute", .names = {"none", "selective", "full"}},
             {.axis = "offload", .names = {"false"}},
             {.axis = "layers_a_chunk", .numbers = {4, 12}},
             {.axis = "tensor_nodes", .numbers = {1}},
             {.question = Asked::infer, .axis = "tp", .numbers = {1, 8}}};
  EXPECT_THAT(sentences(e, {.pp = 4}), IsEmpty());
  EXPECT_THAT(sentences(e, {.cp = 16}),
              ElementsAre("context-parallel degree 16: nothing measured beyond 2"));
  // Between what was measured, and what was measured.
  EXPECT_THAT(sentences(e, {.pp = 2, .interleave = 3}), IsEmpty());
  EXPECT_THAT(sentences(e, {.pp = 2, .interleave = 24, .schedule = Schedule::dual_pipe}),
              ElementsAre("pipeline schedule dualpipe: nothing measured but 1f1b, gpipe",
                          "layers of the smallest model chunk 1: nothing measured under 4"));
  // Axes without a record: the default is what everybody ran.
  EXPECT_THAT(sentences(e, {.tp = 16, .offload = true, .modules = {.norms = true}}),
              ElementsAre("tensor-parallel degree 16: nothing measured but the default",
                          "optimizer states live in host memory: nothing measured but the default",
                          "parts recomputed beyond that: outputs of norms: nothing measured but "
                          "the default",
                          "nodes that tensor parallelism spans 2: nothing measured but 1"));
  // Serving has its own record, and traffic that of all serving.
  EXPECT_THAT(sentences(e, {.tp = 8, .cp = 16}, Asked::infer), IsEmpty());
  EXPECT_THAT(sentences(e, {.tp = 16}, Asked::traffic),
              ElementsAre("tensor-parallel degree 16: nothing measured beyond 8"));
}

// Drafts, images and recurrences, which no measured run has, are no surer than runs without.
TEST(Reach, HoldsRequestsAndModelsThatNobodyServed) {
  Errors e;
  e.groups = {{.question = Asked::infer, .low = -0.1, .high = 0.1, .cases = 100}};
  const auto asked = [&](const Problem& p, Asked question) {
    return interval_of(e, likeness_of(question, "h100", p, Strategy{}));
  };
  const Problem plain = example();
  EXPECT_THAT(asked(plain, Asked::infer).unmeasured, IsEmpty());
  Problem drafts = plain;
  drafts.serving.speculation.tokens = 3;
  Problem images = plain;
  images.serving.images = 1;
  Problem recurs = plain;
  recurs.model.hybrid.recurrent_layers = 36;
  for (const Problem& p : {drafts, images, recurs}) {
    EXPECT_EQ(asked(p, Asked::infer).unmeasured.size(), 1);
    EXPECT_GT(asked(p, Asked::infer).high, 1.02 * asked(plain, Asked::infer).high);
    EXPECT_THAT(asked(p, Asked::train).unmeasured, IsEmpty());
  }
  EXPECT_EQ(asked(drafts, Asked::traffic).unmeasured.front().sentence,
            "tokens a draft model proposes a step 3: nothing measured but the default");
}

// Prompts, answers and crowds longer than any that was timed, and what no measured run had: weights
// or cache where the first memory has no room.
TEST(Reach, HoldsTheSizeOfRequestsAndWhereTheyLive) {
  Errors e;
  e.groups = {{.question = Asked::infer, .low = -0.1, .high = 0.1, .cases = 100}};
  e.reach = {{.question = Asked::infer, .axis = "batch", .numbers = {1, 1280}},
             {.question = Asked::infer, .axis = "input", .numbers = {1, 8192}},
             {.question = Asked::infer, .axis = "output", .numbers = {1, 8192}},
             {.question = Asked::infer, .axis = "second_memory", .names = {"false"}}};
  const auto asked = [&](const Problem& p) {
    return interval_of(e, likeness_of(Asked::infer, "h100", p, Strategy{})).unmeasured;
  };
  const Problem plain = example();
  EXPECT_THAT(asked(plain), IsEmpty());
  Problem p = plain;
  p.serving = {.batch = 4096, .input = 120000, .output = 1};
  ASSERT_EQ(asked(p).size(), 2U);
  EXPECT_EQ(asked(p)[0].sentence, "requests at a time 4096: nothing measured beyond 1280");
  EXPECT_EQ(asked(p)[1].sentence, "tokens of a prompt 120000: nothing measured beyond 8192");

  Problem tiered = test::problem_of("h200-single", "trtllm", "llama3.1-70b", Training{});
  tiered.tier.capacity = Bytes(512e9);
  tiered.tier.bandwidth = BytesPerSecond(100e9);
  EXPECT_THAT(asked(tiered), IsEmpty());  // 141 GB in 144
  tiered.capacity = Bytes(80e9);
  ASSERT_EQ(asked(tiered).size(), 1U);
  EXPECT_EQ(asked(tiered)[0].sentence,
            "weights or cache in a second memory: nothing measured but the default");
}

TEST(Reach, WidensWithTheDistance) {
  Errors e;
  e.wider_outside = 1.5;
  e.groups = {{.low = -0.1, .high = 0.1, .cases = 100}};
  e.reach = {{.axis = "cp", .numbers = {1, 2}}, {.axis = "zero", .numbers = {0, 1}}};
  Problem p = example();
  p.network.devices_per_node = 64;
  const auto width = [&](const Strategy& s) {
    const Interval i = interval_of(e, likeness_of(Asked::train, "h100", p, s));
    return std::log(i.high / i.low);
  };
  const double inside = width({.cp = 2});
  EXPECT_NEAR(width({.cp = 4}), 1.5 * inside, 1e-12);
  EXPECT_NEAR(width({.cp = 16}), std::sqrt(1 + 1.25 * 3) * inside, 1e-12);
  EXPECT_NEAR(width({.cp = 4, .zero = 2}), std::sqrt(1 + 1.25 * std::sqrt(2)) * inside, 1e-12);
  const Interval i = interval_of(e, likeness_of(Asked::train, "h100", p, {.cp = 4}));
  EXPECT_THAT(i.basis, ::testing::EndsWith("; widened, never measured so: cp"));
  EXPECT_EQ(inverse(i).unmeasured.size(), 1U);
}

TEST(Reach, RecordNamesOnlyChoicesThatExist) {
  std::set<std::string> known;
  Problem p = example();
  p.model.experts.count = 8;
  for (const Asked asked : {Asked::train, Asked::infer}) {
    for (const Choice& c : choices_of(asked, p, {.pp = 2})) known.insert(c.axis);
  }
  EXPECT_GT(measured_errors().reach.size(), known.size());  // of training and of serving
  for (const MeasuredChoices& m : measured_errors().reach) {
    EXPECT_TRUE(known.contains(m.axis)) << m.axis << ": run tools/intervals.py anew";
    EXPECT_NE(m.numbers.empty(), m.names.empty()) << m.axis;
  }
}

}  // namespace
}  // namespace sextant
