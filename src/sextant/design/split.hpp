// SPDX-License-Identifier: Apache-2.0
// The area and power of a device, split as a workload likes best.
#pragma once

#include <string>

#include "sextant/design/workload.hpp"

namespace sextant::design {

/// A split, and what it is the best for.
struct Split {
  Allocation allocation;
  std::string objective;  ///< "time of a step", …
  Dimension unit;
  double usual = 0;  ///< of the device as it was; infinite where that cannot run the workload
};

/// "time of a step", "energy of a token", …
std::string objective_text(const Workload& workload);
Dimension objective_unit(Goal goal);

/// Throws InputError where no split runs the workload.
Split best_split(const Workload& workload, const Technology& technology, const Budget& budget,
                 const Blueprint& usual, const AllocationSpace& space);

}  // namespace sextant::design
