// SPDX-License-Identifier: Apache-2.0
// From flags to a cluster and the requests that it gets.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sextant/answer/traffic.hpp"
#include "sextant/options/common.hpp"
#include "sextant/options/traffic.hpp"

namespace sextant {

/// Throws InputError with everything that is wrong with the flags.
TrafficScenario read_traffic(const TrafficOptions& options, const Common& common);

inline void check_scenario(const TrafficOptions& o, const Common& c) { read_traffic(o, c); }

/// What is wrong with these fields, said of the flags of one of several: "--decode-tp" for "--tp".
std::vector<Diagnostic> renamed(const InputError& e, std::string_view prefix,
                                std::span<const std::string_view> names);

/// Throws InputError, with what takes the memory, where none is left for a cache. `tp` is the flag
/// of the engines' degree, where it is none of traffic's.
void check_cache(const TrafficScenario& scenario, std::string_view tp = {});

}  // namespace sextant
