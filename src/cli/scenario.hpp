// SPDX-License-Identifier: Apache-2.0
// From flags to all that a prediction of training needs; what was not given is derived, and every
// assumption is listed.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "sextant/predict/problem.hpp"

namespace sextant::cli {

struct Scenario {
  System system;
  Problem problem;
  Strategy strategy;
  std::vector<std::string> assumptions;
};

/// Throws InputError with everything that is wrong with the flags, a strategy that cannot exist
/// included: which rule, and the nearest legal values.
Scenario read_scenario(const TrainOptions& options, const Common& common);

/// "tp 8, pp 8, interleave 3, sp, recompute selective": what differs from one device.
std::string describe_strategy(const Strategy& strategy);

}  // namespace sextant::cli
