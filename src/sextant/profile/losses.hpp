// SPDX-License-Identifier: Apache-2.0
// What a run loses most time by, and what to do about it.
#pragma once

#include "sextant/profile/analyse.hpp"

namespace sextant::profile {

/// Fills `losses`, largest first, from groups, waits and communication.
void find_losses(Profile& profile);

}  // namespace sextant::profile
