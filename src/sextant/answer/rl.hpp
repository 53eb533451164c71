// SPDX-License-Identifier: Apache-2.0
// What `sextant rl` says of a step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/answer/traffic.hpp"
#include "sextant/run/rl.hpp"

namespace sextant {

/// What was asked: models in the layout of training, and engines with what they have to answer.
struct RlScenario {
  Scenario actor;
  std::optional<Scenario> critic;
  std::optional<Scenario> reward;
  TrafficScenario rollout;
  RlTask task;  ///< but the rollout's time and the models, which are these
  std::vector<std::string> assumptions;
};

struct RlAnswer {
  const RlScenario& asked;
  TrafficResult rollout;
  RlStep step;
};
/// CSV has one line a phase.
Answer answer_of(const RlAnswer& answer);

}  // namespace sextant
