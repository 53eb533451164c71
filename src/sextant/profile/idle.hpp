// SPDX-License-Identifier: Apache-2.0
// When a device had nothing to do, and whom it waited for.
#pragma once

#include <vector>

#include "sextant/profile/analyse.hpp"

namespace sextant::profile {

struct IdleInput {
  const Recording& recording;
  const std::vector<Owner>& owners;
  const std::vector<std::uint32_t>& mine;
  const std::vector<std::uint32_t>& group;
  Nanoseconds first = 0;
  Nanoseconds last = 0;
};

/// Fills busy time, waits, communication that nothing hides, launches, idle time of the
/// steps, and the picture of time.
void find_idle(const IdleInput& input, Profile& profile);

}  // namespace sextant::profile
