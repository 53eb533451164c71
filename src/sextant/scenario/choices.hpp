// SPDX-License-Identifier: Apache-2.0
// `--choices`: the values that each axis of a strategy, the devices, the batch and the images of a
// model that sees may take while the others stay.
#pragma once

#include "sextant/io/node.hpp"
#include "sextant/scenario/scenario.hpp"

namespace sextant {

/// {"tp": [1, 2, …], "pp": …}: every axis of the task that counts, and of the devices and the batch
/// those that stand on a slider. What was not given is derived for each value as it is for the
/// scenario: replicas from the devices, the batch from both.
Node choices_of(const Scenario& scenario);

}  // namespace sextant
