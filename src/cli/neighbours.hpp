// SPDX-License-Identifier: Apache-2.0
// Strategies next to one that does not fit, that do.
#pragma once

#include <string>
#include <vector>

#include "cli/scenario.hpp"
#include "sextant/predict/train.hpp"

namespace sextant::cli {

/// The fastest few that fit, with as few changes as it takes; empty when nothing near does.
std::vector<Neighbour> fitting(const Scenario& scenario);

}  // namespace sextant::cli
