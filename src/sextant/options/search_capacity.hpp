// SPDX-License-Identifier: Apache-2.0
// From options to a plan of capacity: requests over time, and the engines that may serve them.
#pragma once

#include "sextant/options/common.hpp"
#include "sextant/options/search.hpp"
#include "sextant/search/capacity.hpp"

namespace sextant {

/// Throws InputError with everything that is wrong.
CapacitySearch read_capacity_search(const SearchOptions& options, const Common& common);

}  // namespace sextant
