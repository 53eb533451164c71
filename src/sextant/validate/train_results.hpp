// SPDX-License-Identifier: Apache-2.0
// A training case as the problem and the strategy that it stands for.
#pragma once

#include <optional>
#include <string>

#include "sextant/predict/problem.hpp"
#include "sextant/validate/validate.hpp"

namespace sextant {

struct TrainScenario {
  std::string device;
  Problem problem;
  Strategy strategy;
};

/// Nothing, and the reason, where a preset is missing or the model's columns do not fit together.
std::optional<TrainScenario> scenario_of(const Case& c, Catalogue& catalogue, std::string& reason);

}  // namespace sextant
