// SPDX-License-Identifier: Apache-2.0
// `--choices`: the values that each axis of a strategy may take while the others stay.
#pragma once

#include "cli/commands.hpp"
#include "cli/scenario.hpp"
#include "sextant/io/node.hpp"

namespace sextant::cli {

/// {"tp": [1, 2, …], "pp": …, "cp", "ep", "microbatch", "interleave", "zero"}. What was not given
/// is derived for each value as it is for the scenario: replicas from --gpus, the batch from both.
Node training_choices(const TrainOptions& options, const Scenario& scenario);

/// {"tp", "pp", "dp", "ep"}.
Node serving_choices(const Scenario& scenario);

}  // namespace sextant::cli
