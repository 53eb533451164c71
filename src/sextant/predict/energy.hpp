// SPDX-License-Identifier: Apache-2.0
// The energy of serving, by what draws it: what passes draw (PassCost::work) and what is drawn for
// as long as they take, whatever is done. That of a training step is in its Estimate.
#pragma once

#include "sextant/predict/infer.hpp"

namespace sextant {

/// What a device draws for as long as that beside its work: idling, and its share of the node.
Energy standing_energy(const Problem& problem, Seconds time);

/// A batch of requests on one device: their prefill, the decode steps after it, and what is drawn
/// while they wait.
Energy request_energy(const Problem& problem, const Strategy& strategy,
                      const ServingEstimate& estimate);
Energy request_energy(const Problem& problem, const Strategy& strategy);

/// Of a token, where so many devices that each draw that make so many of them.
Joules token_energy(const Energy& device, double devices, double tokens);

}  // namespace sextant
