// SPDX-License-Identifier: Apache-2.0
// What lies next to a scenario: strategies that fit where it does not, other batch sizes.
#pragma once

#include <string>
#include <vector>

#include "sextant/predict/infer.hpp"
#include "sextant/predict/train.hpp"
#include "sextant/scenario/scenario.hpp"

namespace sextant {

struct Neighbour {
  std::string change;  ///< "recompute selective, sp"
  Strategy strategy;
  Estimate estimate;
};
/// The fastest few that fit, with as few changes as it takes; empty when nothing near does.
std::vector<Neighbour> fitting(const Scenario& scenario);

/// A way to serve the same requests that fits.
struct ServingNeighbour {
  std::string change;  ///< "tp 4"
  Strategy strategy;
  Serving serving;
  ServingEstimate estimate;
};
/// The smallest tp, the widest narrower precision, a narrower cache, more stages, a smaller batch:
/// each alone, where it fits.
std::vector<ServingNeighbour> fitting_serving(const Scenario& scenario);

/// One batch size.
struct CurvePoint {
  int batch = 1;
  ServingEstimate estimate;
  bool pareto = false;  ///< no other batch is both faster for a request and for all together
};
/// Powers of two up to the largest batch that fits, and that one; one point where nothing fits.
std::vector<CurvePoint> batch_curve(const Scenario& scenario);

}  // namespace sextant
