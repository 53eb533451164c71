// SPDX-License-Identifier: Apache-2.0
// The best split of a device's area and power for a workload: cache, memory places, links and clock
// are moved, cores take what is left.
#pragma once

#include <functional>

#include "sextant/tech/generate.hpp"

namespace sextant {

/// What is made small: seconds of a step, joules of a token; infinite where the device cannot run
/// the workload.
using Objective = std::function<double(const Blueprint&)>;

/// Tiles fill cores in waves, so that 128 cores may take a sixth less time than 125, whatever is
/// built: a split that stands on such an edge is luck. The mean over `points` devices with up to
/// `reach` more and fewer cores is what an architect means; `shift` (-0.5 to 0.5) moves the points
/// between each other, for means over several workloads.
Objective over_core_counts(Objective objective, int points = 5, double reach = 0.06,
                           double shift = 0);

/// Of a core. V100 has 77 KiB of cache a core, the least of all devices whose kernels were
/// measured; below, the kernel model is not to be believed.
inline constexpr Bytes least_l2{75 * 1024.0};
inline bool has_small_cache(const Device& d) { return d.l2.capacity < d.cores * least_l2; }

struct AllocationSpace {
  bool l2 = true;
  bool stacks = true;
  bool links = true;
  bool clock = false;  ///< pays only where energy counts
  int least_links = 2;
  double as_good = 0.005;  ///< how much worse a device with fewer stacks may be to be chosen
  int least_stacks = 1;    ///< of such devices; fewer where none with as many is as good
};

struct Allocation {
  Budget budget;  ///< with the choices filled in
  Blueprint blueprint;
  double value = 0;
  int evaluations = 0;
  int starts = 0;
  int agreeing = 0;   ///< starts whose best is within 0.5 % of the best of all
  double spread = 0;  ///< worst start over the best, less 1
};

/// Descent by the best of many moves, one or two choices at a time, from five starts that lie
/// apart; each then looks around itself for a deeper pit. Throws InputError with check()'s reasons
/// where no start can be built.
Allocation allocate(const Technology& technology, const Budget& limits, const Objective& objective,
                    const AllocationSpace& space = {});

}  // namespace sextant
