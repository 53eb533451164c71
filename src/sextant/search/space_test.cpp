// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/space.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <set>
#include <tuple>

#include "sextant/io/test_support.hpp"
#include "sextant/search/test_scene.hpp"

namespace sextant {
namespace {

using testing::HasSubstr;

// Every axis of a strategy, to find points that occur twice.
auto as_tuple(const Strategy& s) {
  return std::tuple(s.tp, s.pp, s.dp, s.cp, s.ep, s.etp, s.microbatch, s.interleave, s.zero,
                    s.shard, s.sp, s.offload, s.context, s.order, s.recompute, s.precision);
}

TEST(Space, HasEveryPointOnceAndUsesAllDevices) {
  for (const char* model : {"gpt3-6.7b", "mixtral-8x7b"}) {
    const Problem p = problem_for(model, "dgx-a100", 16);
    const SearchSpace space{.devices = {16}};
    const SearchPlan plan = lay_out(p, space);
    std::set<decltype(as_tuple({}))> seen;
    std::vector<Strategy> mappings;
    for (std::uint64_t i = 0; i < plan.units; ++i) {
      const SearchUnit unit = unit_of(space, plan, i);
      mappings_of(p, space, plan.cuts[unit.cut], mappings);
      for (const Strategy& m : mappings) {
        EXPECT_EQ(m.tp * m.cp * m.pp * m.dp, 16);
        EXPECT_EQ(m.tp, unit.strategy.tp);
        Strategy s = m;
        s.microbatch = unit.strategy.microbatch;
        s.sp = unit.strategy.sp;
        s.context = unit.strategy.context;
        s.recompute = unit.strategy.recompute;
        EXPECT_TRUE(seen.insert(as_tuple(s)).second);
      }
    }
    EXPECT_GT(seen.size(), 1000U);
    EXPECT_GE(plan.points, static_cast<double>(seen.size()));
  }
}

// 126 layers on 16 stages: some have 7, some 8, and with embedding and loss there are 128.
TEST(Space, ChunksOfUnevenStages) {
  const Problem p = problem_for("llama3.1-405b", "dgx-h100", 128);
  SearchSpace space{.devices = {128}};
  space.pp.only = {16};
  space.tp.only = {8};
  std::set<int> chunks;
  std::vector<Strategy> mappings;
  for (const Cut& cut : lay_out(p, space).cuts) {
    mappings_of(p, space, cut, mappings);
    for (const Strategy& m : mappings) chunks.insert(m.interleave);
  }
  EXPECT_THAT(chunks, testing::ElementsAre(1, 2, 4, 7, 8));
}

TEST(Space, AGroupOfAllReplicasIsNoGroup) {
  const Problem p = problem_for("gpt3-6.7b", "dgx-a100", 16);
  SearchSpace space{.devices = {16}};
  space.shard.only = {0, 2, 4, 8};
  std::vector<Strategy> mappings;
  bool groups = false;
  for (const Cut& cut : lay_out(p, space).cuts) {
    mappings_of(p, space, cut, mappings);
    for (const Strategy& m : mappings) {
      groups = groups || m.shard > 0;
      EXPECT_TRUE(m.shard == 0 || (m.zero > 0 && m.shard != m.dp)) << m.zero << " " << m.shard;
    }
  }
  EXPECT_TRUE(groups);
  // Where nothing else is asked for, it is what was asked for.
  space.shard.only = {8};
  space.dp.only = {8};
  mappings_of(p, space, lay_out(p, space).cuts.front(), mappings);
  EXPECT_FALSE(mappings.empty());
}

TEST(Space, HoldsToWhatIsGiven) {
  const Problem p = problem_for("gpt3-6.7b", "dgx-a100", 16);
  SearchSpace space{.devices = {8, 16, 32}};
  space.tp.only = {4};
  space.pp.most = 2;
  space.zero.only = {1};
  space.microbatch.least = 2;
  const SearchPlan plan = lay_out(p, space);
  std::vector<Strategy> mappings;
  for (std::uint64_t i = 0; i < plan.units; ++i) {
    const SearchUnit unit = unit_of(space, plan, i);
    EXPECT_EQ(unit.strategy.tp, 4);
    EXPECT_GE(unit.strategy.microbatch, 2);
    mappings_of(p, space, plan.cuts[unit.cut], mappings);
    for (const Strategy& m : mappings) {
      EXPECT_LE(m.pp, 2);
      EXPECT_EQ(m.zero, 1);
    }
  }
}

TEST(Space, SaysWhichAxisIsEmpty) {
  const Problem p = problem_for("gpt3-6.7b", "dgx-a100", 16);
  struct Case {
    const char* said;
    std::function<void(SearchSpace&)> change;
  };
  const std::vector<Case> cases = {
      {"of gpus", [](SearchSpace& s) { s.devices.clear(); }},
      {"of tp or cp", [](SearchSpace& s) { s.tp.only = {3}; }},
      {"of pp or dp", [](SearchSpace& s) { s.pp.only = {5}; }},
      {"of zero", [](SearchSpace& s) { s.zero.least = 4; }},
      {"of microbatch", [](SearchSpace& s) { s.microbatch.least = 17; }},
      {"of a choice", [](SearchSpace& s) { s.recompute.clear(); }},
      {"of ep", [](SearchSpace& s) { s.ep.least = 2; }},
  };
  for (const Case& c : cases) {
    SearchSpace space{.devices = {16}};
    c.change(space);
    EXPECT_THAT(test::error_of([&] { lay_out(p, space); }), HasSubstr(c.said));
  }
}

}  // namespace
}  // namespace sextant
