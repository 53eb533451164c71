// SPDX-License-Identifier: Apache-2.0
// The clock that power allowed while a recording was made, window by window, and what every
// operator could have done at it.
#pragma once

#include <vector>

#include "sextant/profile/analyse.hpp"

namespace sextant::profile {

struct ClockInput {
  const Recording& recording;
  const std::vector<Owner>& owners;
  const std::vector<std::uint32_t>& mine;   ///< activities of the device
  const std::vector<std::uint32_t>& group;  ///< of each of them, in Profile::groups
  Nanoseconds first = 0;
  Nanoseconds last = 0;
};

/// Fills `predicted` and `bound` of every group that the model knows, and the range of clocks.
void settle(const ClockInput& input, const Attainable& attainable, Profile& profile);

}  // namespace sextant::profile
