// SPDX-License-Identifier: Apache-2.0
// What `sextant search --traffic` says: the fewest devices that hold users' limits at a rate.
#pragma once

#include "sextant/answer/answer.hpp"
#include "sextant/scenario/scenario.hpp"
#include "sextant/search/capacity.hpp"

namespace sextant {

/// How one engine is laid out: "tp 4, fp8, cache fp8".
std::string name_of_engine(const CapacityFound& found);

struct CapacityAnswer {
  const Scenario& scenario;
  const CapacityResult& result;
  double rate = 0;   ///< requests a second
  double price = 0;  ///< dollars a device and hour
  double seconds = 0;
};
/// As JSON, or for people.
Answer answer_of(const CapacityAnswer& capacity, bool json);

}  // namespace sextant
