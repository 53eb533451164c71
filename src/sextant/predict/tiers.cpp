// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/tiers.hpp"

#include <algorithm>

namespace sextant {
namespace {

/// Of what is placed exactly to the brim, what rounding may add.
constexpr double brim = 1 + 1e-12;

double over(Bytes a, Bytes b) { return b.value > 0 ? std::clamp(a / b, 0.0, 1.0) : 0; }

/// The share at which both memories are read for equally long, as far as they hold it.
double spread(const Problem& p, Bytes what, Bytes rest) {
  const double balance = p.tier.bandwidth / (p.chip.bandwidth + p.tier.bandwidth);
  const double least = over(what + rest - p.capacity, what);
  return std::max(least, std::min(balance, over(p.tier.capacity, what)));
}

}  // namespace

Placed place(const Problem& p, const Held& h) noexcept {
  const Placement how = p.serving.placement;
  const bool weights = how == Placement::weights || how == Placement::both;
  const bool cache = !p.tier.read_only && (how == Placement::cache || how == Placement::both);
  Placed r;
  if (how == Placement::spread) {
    const Bytes kept = p.tier.read_only ? h.cache : Bytes(0);
    r.weights = spread(p, h.weights + h.cache - kept, h.rest + kept);
    r.cache = p.tier.read_only ? 0 : r.weights;
  } else {
    r.cache = cache ? p.serving.placed : 0;
    // What of the cache has to stay pushes weights out; what may go, goes first.
    const Bytes stays = h.rest + (cache || p.tier.read_only ? (1 - r.cache) * h.cache : Bytes(0));
    r.weights = weights ? p.serving.placed : over(h.weights + stays - p.capacity, h.weights);
    if (!cache && !p.tier.read_only) {
      r.cache = over(h.cache + h.rest + (1 - r.weights) * h.weights - p.capacity, h.cache);
    }
  }
  r.second = r.weights * h.weights + r.cache * h.cache;
  r.first = h.weights + h.cache + h.rest - r.second;
  r.fits = r.first <= brim * p.capacity && r.second <= brim * p.tier.capacity;
  return r;
}

Bytes most_cache(const Problem& p, Bytes weights, Bytes rest) noexcept {
  const Bytes both = p.capacity + p.tier.capacity;
  if (p.tier.capacity.value <= 0) return p.capacity - weights - rest;
  const Placed none = place(p, {weights, Bytes(0), rest});
  if (!none.fits) {
    return Bytes(0) - max(none.first - p.capacity, Bytes(0)) -
           max(none.second - p.tier.capacity, Bytes(0));
  }
  if (place(p, {weights, both - weights - rest, rest}).fits) return both - weights - rest;
  Bytes least{0};
  Bytes most = both;
  for (int i = 0; i < 60; ++i) {
    const Bytes middle = 0.5 * (least + most);
    (place(p, {weights, middle, rest}).fits ? least : most) = middle;
  }
  return least;
}

Residence residence_of(const Problem& p, const Held& h) noexcept {
  if (p.tier.capacity.value <= 0) return {};
  const Placed r = place(p, h);
  const Placement how = p.serving.placement;
  return {.weights = r.weights,
          .cache = r.cache,
          .spills = !p.tier.read_only && (how == Placement::overflow || how == Placement::weights),
          .room = max(Bytes(0), p.capacity - h.rest - (1 - r.weights) * h.weights)};
}

double cache_share(const Residence& r, Bytes cache) noexcept {
  return r.spills ? over(cache - r.room, cache) : r.cache;
}

Chip reading(const Chip& chip, const Tier& tier, double share) noexcept {
  Chip c = chip;
  c.bandwidth = min(chip.bandwidth / std::max(1 - share, 1e-12), tier.bandwidth / share);
  const JoulesPerByte second = tier.energy.value > 0 ? tier.energy : chip.memory_energy;
  c.memory_energy = (1 - share) * chip.memory_energy + share * second;
  return c;
}

Seconds later(const Chip& chip, const Tier& tier) noexcept {
  return max(Seconds(0), tier.latency - chip.mechanism.memory_latency);
}

}  // namespace sextant
