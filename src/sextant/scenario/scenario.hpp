// SPDX-License-Identifier: Apache-2.0
// All that a prediction needs, what was assumed for it, and what lies next to it.
#pragma once

#include <string>
#include <vector>

#include "sextant/predict/infer.hpp"
#include "sextant/predict/train.hpp"

namespace sextant {

struct Scenario {
  System system;
  Problem problem;
  Strategy strategy;
  std::vector<std::string> assumptions;
};

/// "tp 8, pp 8, interleave 3, sp, recompute selective": what differs from one device.
std::string describe_strategy(const Strategy& strategy);
/// "tp 8, pp 2, fp8".
std::string describe_serving(const Strategy& strategy);

/// A strategy next to one that does not fit.
struct Neighbour {
  std::string change;  ///< "recompute selective, sp"
  Strategy strategy;
  Estimate estimate;
};

/// A way to serve the same requests that fits.
struct ServingNeighbour {
  std::string change;  ///< "tp 4"
  Strategy strategy;
  Serving serving;
  ServingEstimate estimate;
};

/// One batch size.
struct CurvePoint {
  int batch = 1;
  ServingEstimate estimate;
  bool pareto = false;  ///< no other batch is both faster for a request and for all together
};

}  // namespace sextant
