// SPDX-License-Identifier: Apache-2.0
// What branch and bound finds is what a search of every point finds; and its floors are floors.
#include "sextant/search/bounded.hpp"

#include <gtest/gtest.h>

#include "sextant/predict/floor.hpp"
#include "sextant/scenario/scenario.hpp"
#include "sextant/search/test_draw.hpp"
#include "sextant/search/test_scene.hpp"

namespace sextant {
namespace {

/// Small enough for 200 of them.
constexpr double most_points = 15000;

void expect_same(const std::vector<Found>& a, const std::vector<Found>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].order, b[i].order);
    EXPECT_EQ(a[i].score, b[i].score);
    EXPECT_EQ(a[i].estimate.step, b[i].estimate.step);
    EXPECT_EQ(a[i].estimate.energy.total(), b[i].estimate.energy.total());
    EXPECT_EQ(a[i].estimate.memory.total(), b[i].estimate.memory.total());
    EXPECT_EQ(describe_strategy(a[i].strategy), describe_strategy(b[i].strategy));
  }
}

TEST(Bounded, FindsWhatEveryPointTells) {
  int searched = 0;
  double all = 0;
  double looked = 0;
  for (unsigned seed = 1; searched < 200; ++seed) {
    Draw draw(seed);
    const Problem p = draw.problem();
    const SearchSpace space = draw.space(p);
    SearchAim aim = draw.aim();
    SearchPlan plan;
    try {
      plan = lay_out(p, space);
    } catch (const InputError&) {  // no value of an axis is left
      continue;
    }
    if (plan.points > most_points) continue;
    ++searched;
    SCOPED_TRACE(seed);
    SearchProgress progress;
    const SearchResult bounded = search(p, space, plan, aim, progress);
    aim.exhaustive = true;
    SearchProgress again;
    const SearchResult exhaustive = search(p, space, plan, aim, again);
    expect_same(bounded.best, exhaustive.best);
    expect_same(bounded.pareto, exhaustive.pareto);
    EXPECT_TRUE(bounded.proven());
    EXPECT_EQ(bounded.gap(), 0);
    // What was left alone is of some verdict; what was not is of the same one.
    double told = 0;
    for (std::size_t i = 0; i < bounded.rejected.size; ++i) {
      EXPECT_LE(bounded.rejected.values[i], exhaustive.rejected.values[i]) << i;
      told += static_cast<double>(bounded.rejected.values[i]);
    }
    told += static_cast<double>(bounded.feasible + bounded.over_limit) + bounded.skipped;
    EXPECT_EQ(told, plan.points);
    EXPECT_EQ(exhaustive.skipped, 0);
    EXPECT_LE(bounded.barred + bounded.no_room, bounded.skipped);
    EXPECT_LE(bounded.feasible, exhaustive.feasible);
    all += static_cast<double>(exhaustive.evaluated);
    looked += static_cast<double>(bounded.evaluated);
  }
  EXPECT_LT(looked, all / 5);
}

/// Every completion of a shape's mappings, with floors of the shape and of each mapping.
void check_floors(Draw& draw, const Problem& p, const SearchSpace& space, int& checked) {
  const SearchPlan plan = lay_out(p, space);
  const std::uint64_t index =
      static_cast<std::uint64_t>(draw.one_of<int>({3, 5, 7, 11, 13})) * plan.units / 17;
  const SearchUnit unit = unit_of(space, plan, index);
  std::vector<Strategy> mappings;
  mappings_of(p, space, plan.cuts[unit.cut], mappings);
  const PassFloor pass = pass_floor(p, unit.strategy, true);
  for (const Strategy& m : mappings) {
    Strategy s = with_mapping(unit.strategy, m);
    const Mapping mapping = mapping_of(p, s);
    const ShapeFloor shape(p, mapping);
    const Kept kept = kept_of(p, s, widths_of(p, s));
    for (const Schedule schedule : space.schedule) {
      if (!takes_schedule(s, schedule)) continue;
      for (const int layers : layer_counts(p, space, s)) {
        s.schedule = schedule;
        s.recompute_layers = layers;
        if (legal(p, s) != Verdict::fits) continue;
        const Estimate e = evaluate(p, s);
        const StageKind& fullest = mapping.stages.kinds[0];
        double most = fullest.layers;
        for (int i = 0; i < mapping.stages.count; ++i) {
          most = std::max(most, mapping.stages.kinds[static_cast<std::size_t>(i)].layers);
        }
        const bool full = s.recompute == Recompute::full;
        const double again = !full ? 0 : layers == 0 ? 1 : std::min(1.0, layers / most);
        const PassFloor* way = shape.even ? &pass : nullptr;
        EXPECT_LE(step_floor(p, s, way, mapping, again), e.step) << describe_strategy(s);
        EXPECT_LE(step_floor(p, s, way, shape.least, again), e.step);
        EXPECT_LE(memory_floor(p, s, kept, mapping), e.memory.total()) << describe_strategy(s);
        EXPECT_LE(memory_floor(p, s, kept, shape.least), e.memory.total());
        ++checked;
      }
    }
  }
}

TEST(Bounded, FloorsLieBelowEveryCompletion) {
  int checked = 0;
  for (unsigned seed = 1000; seed < 1120; ++seed) {
    Draw draw(seed);
    const Problem p = draw.problem();
    const SearchSpace space = draw.space(p);
    SCOPED_TRACE(seed);
    try {
      check_floors(draw, p, space, checked);
    } catch (const InputError&) {  // no value of an axis is left
    }
  }
  EXPECT_GT(checked, 3000);
}

TEST(Bounded, AnswersWhenItIsStoppedAndSaysHowFarItMayBeOff) {
  const Problem p = problem_for("gpt3-6.7b", "dgx-a100", 32);
  const SearchSpace space{.devices = {16}};
  const SearchPlan plan = lay_out(p, space);
  SearchProgress progress;
  progress.stop = true;
  const SearchResult r = search(p, space, plan, {}, progress);
  EXPECT_TRUE(r.stopped);
  EXPECT_FALSE(r.proven());
  ASSERT_FALSE(r.best.empty());
  EXPECT_GT(r.gap(), 0);
  SearchProgress again;
  const SearchResult whole = search(p, space, plan, {}, again);
  EXPECT_EQ(whole.gap(), 0);
  EXPECT_GE(whole.best.front().score, (1 - r.gap()) * r.best.front().score);
}

}  // namespace
}  // namespace sextant
