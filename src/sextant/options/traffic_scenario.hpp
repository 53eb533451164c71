// SPDX-License-Identifier: Apache-2.0
// From flags to a cluster and the requests that it gets.
#pragma once

#include "sextant/answer/traffic.hpp"
#include "sextant/options/common.hpp"
#include "sextant/options/traffic.hpp"

namespace sextant {

/// Throws InputError with everything that is wrong with the flags.
TrafficScenario read_traffic(const TrafficOptions& options, const Common& common);

inline void check_scenario(const TrafficOptions& o, const Common& c) { read_traffic(o, c); }

/// Throws InputError, with what takes the memory, where none is left for a cache. `tp` is the flag
/// of the engines' degree.
void check_cache(const TrafficScenario& scenario, std::string_view tp = "--tp");

}  // namespace sextant
