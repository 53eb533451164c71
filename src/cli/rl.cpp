// SPDX-License-Identifier: Apache-2.0
// `sextant rl`: a step of reinforcement learning, its phases and what dominates.
#include "sextant/run/rl.hpp"

#include "cli/commands.hpp"
#include "sextant/options/rl_scenario.hpp"

namespace sextant::cli {

Answer run_rl(const RlOptions& options, const Common& common) {
  const RlScenario x = read_rl(options, common);
  const TrafficResult rollout = simulate(x.rollout.cluster, x.rollout.traffic, x.rollout.limits);
  RlTask task = x.task;
  task.rollout.time = Seconds(rollout.seconds);
  const auto model = [](const Scenario& s) { return RlModel{&s.problem, s.strategy}; };
  task.actor = model(x.actor);
  if (x.critic) task.critic = model(*x.critic);
  if (x.reward) task.reward = model(*x.reward);
  return answer_of({.asked = x, .rollout = rollout, .step = rl_step(task)});
}

}  // namespace sextant::cli
