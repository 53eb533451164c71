// SPDX-License-Identifier: Apache-2.0
// A second memory beside the first: what of the weights and the cache lives where, and what reading
// them takes. A kernel reads both memories side by side, so that a share x of its bytes in the
// second one takes max((1 - x) / B1, x / B2) a byte: an effective bandwidth, with which the kernel
// models go on as ever.
#pragma once

#include "sextant/cost/chip.hpp"
#include "sextant/predict/problem.hpp"

namespace sextant {

/// Of one device.
struct Held {
  Bytes weights;
  Bytes cache;
  Bytes rest;  ///< activations, driver: in the first memory always
};

/// Shares of weights and cache in the second memory, and whether both memories hold what they get.
struct Placed {
  double weights = 0;
  double cache = 0;
  Bytes first;
  Bytes second;
  bool fits = false;
};
Placed place(const Problem& problem, const Held& held) noexcept;

/// The most that a cache beside these weights can take; negative by what is missing without one.
Bytes most_cache(const Problem& problem, Bytes weights, Bytes rest) noexcept;

/// Where passes find weights and cache once they are placed for the most that is held.
Residence residence_of(const Problem& problem, const Held& most) noexcept;

/// Share of so many bytes of cache that is in the second memory.
double cache_share(const Residence& residence, Bytes cache) noexcept;

/// The chip as a kernel sees it that finds this share of its bytes in the second memory.
Chip reading(const Chip& chip, const Tier& tier, double share) noexcept;

/// What a cold read of the second memory takes longer than one of the first.
Seconds later(const Chip& chip, const Tier& tier) noexcept;

}  // namespace sextant
