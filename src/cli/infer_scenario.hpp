// SPDX-License-Identifier: Apache-2.0
// From flags to all that a prediction of serving needs, and what lies next to it: a strategy that
// fits, other batch sizes.
#pragma once

#include <string>
#include <vector>

#include "cli/scenario.hpp"
#include "sextant/predict/infer.hpp"

namespace sextant::cli {

/// Throws InputError with everything that is wrong with the flags: rules that the strategy breaks
/// with the nearest legal values, and a context longer than the model takes.
Scenario read_serving(const InferOptions& options, const Common& common);

/// The smallest tp, the widest narrower precision, a narrower cache, more stages, a smaller batch:
/// each alone, where it fits.
std::vector<ServingNeighbour> fitting_serving(const Scenario& scenario);

/// Powers of two up to the largest batch that fits, and that one; one point where nothing fits.
std::vector<CurvePoint> batch_curve(const Scenario& scenario);

}  // namespace sextant::cli
