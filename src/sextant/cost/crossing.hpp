// SPDX-License-Identifier: Apache-2.0
// What comes from memory crosses the last-level cache: which of the two a kernel waits for.
// Internal to cost.
#pragma once

#include <algorithm>

#include "sextant/cost/kernel.hpp"

namespace sextant {

/// Bytes a second.
struct Crossing {
  double memory = 0;
  double l2 = 0;
  double rate() const { return std::min(memory, l2); }
};

/// Enters bytes that come from memory.
inline void cross(KernelCost& c, double bytes, const Crossing& x) {
  c.busy[Bound::dram] = Seconds(bytes / x.memory);
  if (x.l2 < x.memory) c.busy[Bound::l2] = max(c.busy[Bound::l2], Seconds(bytes / x.l2));
}

}  // namespace sextant
