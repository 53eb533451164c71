// SPDX-License-Identifier: Apache-2.0
// An engine's host costs from what clients of it saw: cases of kind serving, ten minutes of load on
// one's own cluster.
#pragma once

#include <string>
#include <vector>

#include "sextant/validate/validate.hpp"

namespace sextant {

struct EngineFitResult {
  double before = 0;  ///< mean absolute error of the cases, as log of the ratio
  double after = 0;
  int cases = 0;
  std::vector<std::pair<std::string, Seconds>> fitted;  ///< by field of [engine]
};

/// Fits schedule, sequence, layer and request of `runtime` to its cases; others are left out.
EngineFitResult fit_engine_host(const std::vector<Case>& cases, Runtime& runtime,
                                Catalogue& catalogue, const Progress& progress = {});

}  // namespace sextant
