// SPDX-License-Identifier: Apache-2.0
// A timeline in the Trace Event Format of Chrome, which ui.perfetto.dev opens.
#pragma once

#include <string>

#include "sextant/predict/timeline.hpp"

namespace sextant {

/// A row a stage, and below it what it sends forward and back. Times in microseconds, as the format
/// asks.
std::string to_trace(const Timeline& timeline);

}  // namespace sextant
