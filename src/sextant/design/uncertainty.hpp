// SPDX-License-Identifier: Apache-2.0
// What a technology that is known within bounds makes of a workload: the spread of its time, of
// what it waits for and of the device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/design/workload.hpp"

namespace sextant::design {

struct Quantiles {
  double value = 0;  ///< with every number at its value
  double p10 = 0;
  double p50 = 0;
  double p90 = 0;
};

/// One number of a technology, and what of the spread of the time is its.
struct Doubt {
  std::string what;        ///< "a14 logic"
  double correlation = 0;  ///< of ranks (Spearman), with the time
  double share = 0;        ///< its square over the sum of all squares
};

struct Uncertainty {
  int samples = 0;
  int built = 0;  ///< of them, that can be built and run the workload; the quantiles are theirs
  std::uint64_t seed = 0;
  Quantiles time;
  Quantiles tokens_per_second;
  Quantiles cores;
  Quantiles peak;  ///< of 16 bits
  Quantiles bandwidth;
  Quantiles power;  ///< limit of the board
  Quantiles cost;
  Table<Quantiles, study::Limit> shares;
  study::Limits largest;      ///< of how many of the samples each is what takes most time
  std::vector<Doubt> doubts;  ///< largest share first
  std::string reason;         ///< why some could not be built or run; of the first of them
};

/// Throws InputError where the technology has no ranges, or nothing can be built.
Uncertainty uncertainty_of(const Workload& workload, const Technology& technology,
                           const Budget& budget, int samples, std::uint64_t seed);

}  // namespace sextant::design
