// SPDX-License-Identifier: Apache-2.0
// Technology, the split of a device's area, the strategy and the network, chosen at once.
#pragma once

#include <optional>
#include <vector>

#include "sextant/design/split.hpp"

namespace sextant::design {

/// What of the strategy is given; the rest is sought.
struct StrategyFreedom {
  int devices = 1;
  std::optional<int> tp, pp;
  Precision precision = Precision::bf16;
};

struct Together {
  Split split;
  std::size_t technology = 0;  ///< which of those given
  std::size_t network = 0;
  Strategy strategy;
  bool settled = false;   ///< on the device that was split for it, a search finds no better one
  bool exact = false;     ///< all strategies were in question, not those best by time and energy
  int rounds = 0;         ///< of splitting for strategies and searching on the split
  double strategies = 0;  ///< that were looked at, or shown to be worse, on that device
  int combinations = 0;   ///< of technologies and networks
};

/// For each technology and network in turns: the best strategies on the device as it is, the best
/// split for the best of them, and again on the device so split, until nothing changes. Throws
/// InputError where nothing runs the workload.
Together best_together(const Workload& workload, const std::vector<Technology>& technologies,
                       const std::vector<LinkPart>& networks, const Budget& budget,
                       const AllocationSpace& space, const StrategyFreedom& freedom);

}  // namespace sextant::design
