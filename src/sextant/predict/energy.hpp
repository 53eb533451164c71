// SPDX-License-Identifier: Apache-2.0
// The energy of a served request, by what draws it; that of a training step is in its Estimate.
#pragma once

#include "sextant/predict/infer.hpp"

namespace sextant {

Energy operator+(const Energy& a, const Energy& b);
Energy operator*(double times, const Energy& e);

/// One pass of serving, prefill or decode.
Energy pass_energy(const Problem& problem, const Strategy& strategy, PassShape shape);

/// A batch of requests on one device: their prefill, the decode steps after it at their mean
/// context, and what is drawn while they wait.
Energy request_energy(const Problem& problem, const Strategy& strategy,
                      const ServingEstimate& estimate);
Energy request_energy(const Problem& problem, const Strategy& strategy);

}  // namespace sextant
