// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/search.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sextant/search/test_scene.hpp"

namespace sextant {
namespace {

/// Of every point, whose counts are then known.
SearchResult run(const Problem& p, const SearchSpace& space, SearchAim aim = {}) {
  SearchProgress progress;
  aim.exhaustive = true;
  return search(p, space, lay_out(p, space), aim, progress);
}

// Every point of a space, without what a search shares between them.
template <class Visit>
void brute_force(const Problem& p, const SearchSpace& space, const Visit& visit) {
  const SearchPlan plan = lay_out(p, space);
  std::vector<Strategy> mappings;
  for (std::uint64_t i = 0; i < plan.units; ++i) {
    const SearchUnit unit = unit_of(space, plan, i);
    mappings_of(p, space, plan.cuts[unit.cut], mappings);
    for (Strategy s : mappings) {
      s.microbatch = unit.strategy.microbatch;
      s.sp = unit.strategy.sp;
      s.context = unit.strategy.context;
      s.recompute = unit.strategy.recompute;
      for (const int layers : layer_counts(p, space, s)) {
        s.recompute_layers = layers;
        for (const Schedule schedule : space.schedule) {
          if (!takes_schedule(s, schedule)) continue;
          s.schedule = schedule;
          visit(s);
        }
      }
    }
  }
}

TEST(Search, FindsTheOptimumThatBruteForceFinds) {
  for (const auto& [model, system, devices] :
       {std::tuple{"gpt3-6.7b", "dgx-a100", 8}, std::tuple{"deepseek-v2-lite", "dgx-h200", 8}}) {
    const Problem p = problem_for(model, system, 8);
    SearchSpace space{.devices = {devices}};
    space.microbatch.most = 2;
    space.recompute_layers.most = 2;
    space.cp.most = 2;
    space.ep.least = std::min(4, std::max(1, p.model.experts.count));
    space.ep.most = 8;
    space.etp.most = 1;
    for (const TrainingObjective objective :
         {TrainingObjective::throughput, TrainingObjective::memory,
          TrainingObjective::throughput_per_device}) {
      const SearchResult r = run(p, space, {.objective = objective});
      std::uint64_t evaluated = 0;
      std::uint64_t feasible = 0;
      Table<std::uint64_t, Verdict> rejected;
      double best = std::numeric_limits<double>::infinity();
      brute_force(p, space, [&](const Strategy& s) {
        const Estimate e = explain(p, s).estimate;
        const bool legal_one = e.verdict == Verdict::fits || e.verdict == Verdict::out_of_memory;
        evaluated += legal_one ? 1 : 0;
        if (e.verdict != Verdict::fits) return void(++rejected[e.verdict]);
        ++feasible;
        best = std::min(best, score_of(objective, e));
      });
      EXPECT_EQ(r.evaluated, evaluated);
      EXPECT_EQ(r.feasible, feasible);
      for (std::size_t i = 0; i < rejected.size; ++i) {
        EXPECT_EQ(r.rejected.values[i], rejected.values[i]) << i;
      }
      ASSERT_FALSE(r.best.empty());
      EXPECT_EQ(r.best.front().score, best);
      // What it promises is what a prediction of that strategy says, bit for bit.
      for (const Found& f : r.best) {
        const Estimate e = evaluate(p, f.strategy);
        EXPECT_EQ(e.step, f.estimate.step);
        EXPECT_EQ(e.memory.total(), f.estimate.memory.total());
      }
    }
  }
}

TEST(Search, GivesTheSameWithAnyNumberOfThreads) {
  const Problem p = problem_for("gpt3-6.7b", "dgx-a100", 32);
  SearchSpace space{.devices = {16, 32}};
  space.cp.most = 1;
  const SearchResult one = run(p, space, {.threads = 1, .sample = 100});
  const SearchResult four = run(p, space, {.threads = 4, .sample = 100});
  EXPECT_EQ(one.evaluated, four.evaluated);
  EXPECT_EQ(one.feasible, four.feasible);
  const auto same = [](const std::vector<Found>& a, const std::vector<Found>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].order, b[i].order);
  };
  same(one.best, four.best);
  same(one.pareto, four.pareto);
  same(one.sample, four.sample);
  EXPECT_GT(one.sample.size(), 50U);
  EXPECT_LE(one.sample.size(), 100U);
}

TEST(Search, ParetoFrontBuysSomethingWithEveryDeviceAndByte) {
  const Problem p = problem_for("gpt3-6.7b", "dgx-a100", 32);
  SearchSpace space{.devices = {8, 16, 32}};
  space.cp.most = 1;
  const SearchResult r = run(p, space);
  ASSERT_GT(r.pareto.size(), 3U);
  for (const Found& a : r.pareto) {
    for (const Found& b : r.pareto) {
      if (&a == &b) continue;
      const bool beats = a.estimate.step <= b.estimate.step &&
                         a.estimate.memory.total() <= b.estimate.memory.total() &&
                         a.estimate.devices <= b.estimate.devices;
      EXPECT_FALSE(beats);
    }
  }
}

TEST(Search, KeepsToTheMemoryItIsGiven) {
  const Problem p = problem_for("gpt3-6.7b", "dgx-a100", 32);
  SearchSpace space{.devices = {16}};
  space.cp.most = 1;
  const SearchResult all = run(p, space);
  const SearchResult half = run(p, space, {.max_memory = Bytes(40e9)});
  EXPECT_EQ(all.evaluated, half.evaluated);
  EXPECT_EQ(all.feasible, half.feasible + half.over_limit);
  EXPECT_GT(half.over_limit, 0U);
  for (const Found& f : half.best) EXPECT_LE(f.estimate.memory.total(), Bytes(40e9));
  EXPECT_GE(half.best.front().score, all.best.front().score);
}

TEST(Search, StopsWhenAskedWithTheBestSoFar) {
  const Problem p = problem_for("gpt3-6.7b", "dgx-a100", 32);
  const SearchSpace space{.devices = {16}};
  SearchProgress progress;
  progress.stop = true;
  const SearchResult r = search(p, space, lay_out(p, space), {.exhaustive = true}, progress);
  EXPECT_TRUE(r.stopped);
  EXPECT_EQ(r.evaluated, 0U);
}

}  // namespace
}  // namespace sextant
