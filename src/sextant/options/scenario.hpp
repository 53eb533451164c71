// SPDX-License-Identifier: Apache-2.0
// The options of a command as a scenario.
#pragma once

#include "sextant/options/common.hpp"
#include "sextant/options/infer.hpp"
#include "sextant/options/train.hpp"
#include "sextant/scenario/neighbours.hpp"
#include "sextant/scenario/scenario.hpp"

namespace sextant {

/// What the options ask; `task` says of whom.
Question question_of(const ScenarioOptions& options, const Common& common, Task task);

/// Throw InputError with everything that is wrong with the flags.
Scenario read_training(const TrainOptions& options, const Common& common);
Scenario read_serving(const InferOptions& options, const Common& common);

}  // namespace sextant
