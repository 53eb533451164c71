// SPDX-License-Identifier: Apache-2.0
// From flags to a step of reinforcement learning.
#pragma once

#include "sextant/answer/rl.hpp"
#include "sextant/options/common.hpp"
#include "sextant/options/rl.hpp"

namespace sextant {

/// Throws InputError with everything that is wrong with the flags.
RlScenario read_rl(const RlOptions& options, const Common& common);

inline void check_scenario(const RlOptions& o, const Common& c) { read_rl(o, c); }

}  // namespace sextant
