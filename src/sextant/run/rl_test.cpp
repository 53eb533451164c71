// SPDX-License-Identifier: Apache-2.0
#include "sextant/run/rl.hpp"

#include <gtest/gtest.h>

#include "sextant/predict/test_problem.hpp"
#include "sextant/serving/requests.hpp"

namespace sextant {
namespace {

Problem problem_of(const char* model, int batch) {
  return test::problem_of("dgx-h100", "megatron-core", model,
                          Training{.batch = batch, .seq = 1024});
}

RlTask task_of(const Problem& p, const Strategy& s) {
  RlTask t;
  t.actor = {&p, s};
  t.samples = 256;
  t.tokens = 256 * 1024;
  t.rollout = {.time = Seconds(20),
               .devices = devices_of(s),
               .ranks = 2,
               .expert_ranks = 2,
               .memory = Bytes(40e9)};
  return t;
}

TEST(Rl, PhasesSumToTheStep) {
  const Problem p = problem_of("llama3.1-8b", 128);
  const RlStep s = rl_step(task_of(p, {.tp = 2, .dp = 4, .zero = 1}));
  Seconds sum;
  for (const RlPart& part : s.parts.values) sum += part.time;
  EXPECT_NEAR(sum / s.time, 1, 1e-12);
  EXPECT_EQ(s.updates, 2);
  EXPECT_NEAR(s.parts[RlPhase::update].time / (2 * s.update.step), 1, 1e-12);
  // A forward pass of every answer: less than half of what learning from them takes.
  EXPECT_LT(s.parts[RlPhase::log_probs].time, 0.5 * s.parts[RlPhase::update].time);
  EXPECT_GT(s.parts[RlPhase::log_probs].time, 0.2 * s.parts[RlPhase::update].time);
  EXPECT_NEAR(s.parts[RlPhase::host].time.value, 256 * 0.5e-3, 1e-12);
  EXPECT_TRUE(s.fits());
}

// The last update is of the answers that are left, not of a whole batch.
TEST(Rl, TheLastUpdateIsOfWhatIsLeft) {
  const Problem p = problem_of("llama3.1-8b", 128);
  RlTask t = task_of(p, {.tp = 2, .dp = 4, .zero = 1});
  const auto update = [&](double samples) {
    t.samples = samples;
    return rl_step(t).parts[RlPhase::update].time;
  };
  EXPECT_GT(update(257), update(256));
  EXPECT_LT(update(257), 1.2 * update(256));
  EXPECT_LT(update(320), update(384));
  EXPECT_NEAR(update(384) / update(128), 3, 1e-9);
  t.epochs = 2;
  EXPECT_NEAR(update(256) / update(128), 2, 1e-9);
}

TEST(Rl, WeightsGoWhereTheEnginesWantThem) {
  const Problem p = problem_of("llama3.1-8b", 128);
  RlTask t = task_of(p, {.tp = 4, .pp = 2, .dp = 2, .zero = 1});
  t.framework.tensor = Seconds(0);
  const Bytes all(16.06e9);
  // As frameworks do it, a rank gathers all that it has not.
  EXPECT_NEAR(rl_step(t).moved / (0.875 * all), 1, 0.01);
  const Seconds whole = rl_step(t).parts[RlPhase::sync].time;
  t.framework.refit = Refit::share;
  RlStep s = rl_step(t);
  EXPECT_LT(s.parts[RlPhase::sync].time, whole);
  // Half of the weights each, of which a rank has a quarter already.
  EXPECT_NEAR(s.moved / (0.5 * 0.75 * all), 1, 0.01);
  EXPECT_GT(s.parts[RlPhase::sync].time.value, 0);
  t.elsewhere = true;
  s = rl_step(t);
  EXPECT_NEAR(s.moved / (0.5 * all), 1, 0.01);
  EXPECT_EQ(s.devices, 32);
  // Not faster than one device's share of 400 Gb/s.
  EXPECT_GT(s.parts[RlPhase::sync].time.value, 0.5 * all.value / 50e9);
}

// ZeRO 3 shares out experts as everything else, and an engine wants them whole.
TEST(Rl, ExpertsThatAreSharedOutAreGathered) {
  const Problem p = problem_of("qwen3-30b-a3b", 128);
  const RlTask t = task_of(p, {.dp = 8, .zero = 3});
  EXPECT_NEAR(rl_step(t).moved / (0.875 * Bytes(61.06e9)), 1, 0.01);
}

TEST(Rl, OverlapIsAsLongAsTheLonger) {
  const Problem p = problem_of("llama3.1-8b", 256);
  RlTask t = task_of(p, {.dp = 8, .zero = 1});
  t.elsewhere = true;
  const RlStep turn = rl_step(t);
  t.overlap = true;
  const RlStep beside = rl_step(t);
  const Seconds sync = turn.parts[RlPhase::sync].time;
  EXPECT_NEAR(beside.time / max(sync + Seconds(20), turn.time - Seconds(20)), 1, 1e-12);
  EXPECT_EQ(turn.parts[RlPhase::states].time.value, 0);
  // Engines of as many ranks find their weights where they are.
  RlTask same = task_of(p, {.tp = 2, .dp = 4, .zero = 1});
  EXPECT_GT(rl_step(same).parts[RlPhase::sync].time.value, 0);
  same.framework.refit = Refit::share;
  // 32 layers of six tensors, embedding, head and norm: the host's time for each.
  EXPECT_NEAR(rl_step(same).parts[RlPhase::sync].time.value, (32 * 6 + 3) * 0.8e-3, 1e-9);
  same.framework.tensor = Seconds(0);
  EXPECT_EQ(rl_step(same).parts[RlPhase::sync].time.value, 0);
}

TEST(Rl, StatesMakeRoomWhereTheyMust) {
  const Problem p = problem_of("llama3.1-8b", 256);
  RlTask t = task_of(p, {.tp = 2, .dp = 4});  // every replica holds all states
  t.rollout.memory = Bytes(45e9);
  const RlStep s = rl_step(t);
  EXPECT_GT(s.offloaded.value, 0);
  EXPECT_GT(s.parts[RlPhase::states].time.value, 0);
  t.rollout.memory = Bytes(1e9);
  // Frameworks move them in any case.
  EXPECT_GT(rl_step(t).offloaded.value, 0);
  t.framework.sleep = false;
  EXPECT_EQ(rl_step(t).offloaded.value, 0);
  t.rollout.memory = Bytes(45e9);
  const Seconds unpinned = rl_step(t).parts[RlPhase::states].time;
  EXPECT_LT(unpinned, s.parts[RlPhase::states].time);
  t.framework.unpinned = 1;
  EXPECT_NEAR(unpinned / rl_step(t).parts[RlPhase::states].time, 5, 1e-9);
}

TEST(Rl, PpoCostsACritic) {
  const Problem p = problem_of("llama3.1-8b", 256);
  const Strategy s{.tp = 2, .dp = 4, .zero = 1};
  RlTask t = task_of(p, s);
  const Seconds grpo = rl_step(t).time;
  t.algorithm = RlAlgorithm::ppo;
  t.critic = {&p, s};
  const RlStep ppo = rl_step(t);
  EXPECT_NEAR(ppo.parts[RlPhase::critic].time / ppo.parts[RlPhase::update].time, 1, 1e-12);
  EXPECT_GT(ppo.time, grpo);
  t.reference = false;
  EXPECT_LT(rl_step(t).time, ppo.time);
}

TEST(Rl, SampledLengthsKeepTheirMean) {
  for (const double longest : {1200.0, 2000.0, 1e9}) {
    const Trace t = sample_of(
        {.requests = 4000, .input = 10, .output = 1000, .spread = 0.8, .longest = longest});
    double sum = 0;
    int most = 0;
    for (const Request& r : t.requests) {
      sum += r.output;
      most = std::max(most, r.output);
    }
    EXPECT_NEAR(sum / 4000, 1000, 1) << longest;
    EXPECT_LE(most, longest);
  }
}

}  // namespace
}  // namespace sextant
