// SPDX-License-Identifier: Apache-2.0
// What `sextant search --traffic` says: the fewest devices that hold users' limits at a rate.
#pragma once

#include <string>

#include "sextant/answer/answer.hpp"
#include "sextant/search/capacity.hpp"

namespace sextant {

/// Engines and how each is laid out: "2 x tp 4, fp8, cache fp8 and 1 for tokens".
std::string name_of_cluster(const CapacityFound& found);

struct CapacityAnswer {
  const CapacitySearch& asked;
  CapacityResult result;
  double seconds = 0;
};
/// The figure: devices of each cluster, and the requests a second that it holds.
Answer answer_of(const CapacityAnswer& capacity);

}  // namespace sextant
