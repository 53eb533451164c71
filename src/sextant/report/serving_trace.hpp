// SPDX-License-Identifier: Apache-2.0
// Engines over time in the Trace Event Format of Chrome, which ui.perfetto.dev opens.
#pragma once

#include <string>
#include <vector>

#include "sextant/serving/replica.hpp"

namespace sextant {

/// A row a replica; counters of what waits and of the cache.
std::string to_trace(const std::vector<StepSpan>& spans);

}  // namespace sextant
