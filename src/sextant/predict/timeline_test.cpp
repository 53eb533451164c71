// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "sextant/io/node.hpp"
#include "sextant/predict/test_problem.hpp"
#include "sextant/report/trace.hpp"

namespace sextant {
namespace {

// Layers and nothing else, so that stages are alike: a vocabulary of one word.
Problem problem_of(int batch) {
  Model m = load_model("gpt3-175b");
  m.vocab = 1;
  m.position = Position::none;
  return test::problem_of(load_system("dgx-a100"), load_runtime("ideal"), m,
                          Training{.batch = batch, .seq = 2048});
}

Seconds passes(const Estimate& e) {
  Seconds sum;
  for (const Time t : {Time::forward, Time::backward, Time::recompute, Time::tensor, Time::context,
                       Time::expert, Time::pipeline, Time::bubble, Time::host}) {
    sum += e.time[t].exposed;
  }
  return sum;
}

const std::vector<Strategy>& strategies() {
  static const std::vector<Strategy> all = {
      {.tp = 8, .pp = 1},
      {.tp = 8, .pp = 8},
      {.tp = 8, .pp = 8, .recompute = Recompute::full},
      {.tp = 8, .pp = 8, .schedule = Schedule::gpipe},
      {.tp = 8, .pp = 4, .interleave = 3},
      {.tp = 8, .pp = 8, .interleave = 6},
      {.tp = 8, .pp = 8, .schedule = Schedule::zero_bubble},
  };
  return all;
}

std::string name_of_strategy(const Strategy& s) {
  return "pp " + std::to_string(s.pp) + ", interleave " + std::to_string(s.interleave) + ", " +
         std::string(name_of(s.schedule));
}

// The closed formula of evaluate() and the schedule run pass by pass.
TEST(Timeline, AgreesWithTheFormula) {
  for (const int batch : {1, 2, 5, 8, 32, 64}) {
    const Problem p = problem_of(batch);
    for (const Strategy& s : strategies()) {
      if (legal(p, s) != Verdict::fits) continue;  // too few for chunks to take turns
      const Timeline line = timeline(p, s);
      const Estimate e = evaluate(p, s);
      EXPECT_NEAR(line.forward_backward / passes(e), 1, 0.035)
          << name_of_strategy(s) << ", batch " << batch;
      EXPECT_NEAR(line.end / e.step, 1, 0.035) << name_of_strategy(s) << ", batch " << batch;
    }
  }
}

// A stage works as long as its passes take, whatever their order and however they are split.
TEST(Timeline, StagesDoTheirWorkOnce) {
  const Problem p = problem_of(32);
  std::vector<Strategy> all = strategies();
  all.push_back({.tp = 8, .pp = 8, .schedule = Schedule::zero_bubble_v});
  all.push_back({.tp = 8, .pp = 8, .schedule = Schedule::dual_pipe});
  for (const Strategy& s : all) {
    std::map<int, Seconds> worked;
    for (const TimelineSpan& span : timeline(p, s).spans) {
      if (span.microbatch >= 0) worked[span.stage] += span.length;
    }
    for (const auto& [stage, time] : worked) {
      const StageTimes t = stage_times(p, s, stage);
      EXPECT_NEAR(time / (32 * (t.forward + t.recompute + t.backward)), 1, 1e-9)
          << name_of_strategy(s);
    }
  }
}

TEST(Timeline, EveryPassOfEveryMicrobatchRunsOnceOnEveryStage) {
  const Problem p = problem_of(32);
  for (const Strategy& s : strategies()) {
    std::map<std::tuple<Activity, int, int, int>, int> runs;
    for (const TimelineSpan& span : timeline(p, s).spans) {
      if (span.microbatch >= 0) ++runs[{span.what, span.stage, span.microbatch, span.chunk}];
    }
    for (const auto& [key, count] : runs) EXPECT_EQ(count, 1) << name_of_strategy(s);
    const bool split = s.schedule == Schedule::zero_bubble;
    const std::size_t kinds = 2 + (s.recompute != Recompute::none ? 1 : 0) + (split ? 1 : 0);
    EXPECT_EQ(runs.size(), kinds * 32 * static_cast<std::size_t>(s.pp * s.interleave))
        << name_of_strategy(s);
  }
}

TEST(Timeline, SpansOfAStageFillItWithoutOverlap) {
  const Problem p = problem_of(32);
  for (const Strategy& s : strategies()) {
    const Timeline line = timeline(p, s);
    std::vector<double> end(static_cast<std::size_t>(line.stages), 0);
    for (const TimelineSpan& span : line.spans) {
      double& last = end[static_cast<std::size_t>(span.stage)];
      EXPECT_GT(span.length.value, 0);
      // No overlap and no hole: waiting is a span too.
      ASSERT_NEAR(span.start.value, last, 1e-9) << name_of_strategy(s);
      last = span.start.value + span.length.value;
    }
    for (const double e : end) EXPECT_NEAR(e, line.end.value, 1e-9 + 1e-9 * e);
  }
}

TEST(Timeline, ABackwardPassFollowsItsForwardPass) {
  const Problem p = problem_of(32);
  for (const Strategy& s : strategies()) {
    std::map<std::tuple<int, int, int>, Seconds> forward;
    for (const TimelineSpan& span : timeline(p, s).spans) {
      const auto key = std::tuple(span.stage, span.microbatch, span.chunk);
      if (span.what == Activity::forward) forward[key] = span.start + span.length;
      if (span.what == Activity::backward) {
        ASSERT_TRUE(forward.contains(key));
        ASSERT_GE(span.start.value, forward[key].value - 1e-12);
      }
    }
  }
}

TEST(Timeline, OneFOneBHoldsNoMoreThanItsStagesAhead) {
  const Problem p = problem_of(32);
  const Timeline line = timeline(p, {.tp = 8, .pp = 8});
  std::vector<int> held(8, 0);
  std::vector<int> most(8, 0);
  for (const TimelineSpan& span : line.spans) {
    const auto at = static_cast<std::size_t>(span.stage);
    if (span.what == Activity::forward) most[at] = std::max(most[at], ++held[at]);
    if (span.what == Activity::backward) --held[at];
  }
  EXPECT_THAT(most, testing::ElementsAre(8, 7, 6, 5, 4, 3, 2, 1));
}

TEST(Timeline, IsATraceThatParses) {
  const Problem p = problem_of(8);
  const Timeline line = timeline(p, {.tp = 8, .pp = 4});
  const Document d = parse_json(to_trace(line), "trace");
  const Node* events = d.root.find("traceEvents");
  ASSERT_NE(events, nullptr);
  const std::size_t names = 2 * 3 * 4 + 1;
  EXPECT_EQ(events->items.size(), names + line.spans.size() + line.transfers.size());
  EXPECT_LE(static_cast<double>(line.spans.size()), timeline_size(p, {.tp = 8, .pp = 4}) + 64);
}

}  // namespace
}  // namespace sextant
