// SPDX-License-Identifier: Apache-2.0
// From flags to all that a prediction of training needs; what was not given is derived, and every
// assumption is listed.
#pragma once

#include "cli/commands.hpp"
#include "sextant/scenario/scenario.hpp"

namespace sextant::cli {

/// Throws InputError with everything that is wrong with the flags, a strategy that cannot exist
/// included: which rule, and the nearest legal values.
Scenario read_scenario(const TrainOptions& options, const Common& common);

}  // namespace sextant::cli
