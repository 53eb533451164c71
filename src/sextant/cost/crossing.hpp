// SPDX-License-Identifier: Apache-2.0
// What comes from memory crosses the last-level cache: which of the two a kernel waits for.
// Internal to cost.
#pragma once

#include <algorithm>

#include "sextant/cost/chip.hpp"
#include "sextant/cost/kernel.hpp"

namespace sextant {

/// Bytes a second.
struct Crossing {
  double memory = 0;
  double l2 = 0;
  double rate() const { return std::min(memory, l2); }
};
/// Of a kernel that reaches this share of the bandwidth.
inline Crossing crossing_of(const Chip& chip, double efficiency, double clock) {
  return {efficiency * chip.bandwidth.value, chip.l2_per_clock.value * clock};
}

/// Enters bytes that come from memory, and all that cross the cache, those that it held included.
inline void cross(KernelCost& c, double fetched, double crossing, const Crossing& x) {
  const Seconds memory(fetched / x.memory);
  const Seconds cache(crossing / x.l2);
  c.busy[Bound::dram] = memory;
  if (cache > memory) c.busy[Bound::l2] = max(c.busy[Bound::l2], cache);
}
inline void cross(KernelCost& c, double bytes, const Crossing& x) { cross(c, bytes, bytes, x); }

}  // namespace sextant
