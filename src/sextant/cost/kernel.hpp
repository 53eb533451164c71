// SPDX-License-Identifier: Apache-2.0
// What every kernel model returns: how long, how much work and traffic, and what bounds it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "sextant/spec/describe.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

/// What a kernel waits for.
enum class Bound : std::uint8_t {
  compute,
  shared,
  l2,
  dram,
  special,
  latency,
  launch,
  network,
  count
};
constexpr auto names_of(Bound) {
  return std::array<std::string_view, 8>{"compute", "shared",  "l2",     "dram",
                                         "special", "latency", "launch", "network"};
}

/// How a matrix multiply was cut.
struct Tiling {
  int m = 0;         ///< rows of a tile, 0: not a matrix multiply
  int n = 0;         ///< columns of a tile
  int split = 1;     ///< pieces the inner dimension is cut into
  double waves = 1;  ///< rounds of tiles over all cores
};

/// One kernel at one clock.
struct KernelCost {
  Seconds time;
  Flops flops;  ///< useful work of the matrix units
  Bytes dram;   ///< traffic by level
  Bytes l2;
  Bytes shared;
  Table<Seconds, Bound> busy;   ///< how long each resource alone would need
  Bound bound = Bound::launch;  ///< the longest of them
  Tiling tiling;
  Hertz clock;
  double activity = 1;     ///< how much the data switch: 1 random numbers, 0 zeros
  double byte_energy = 1;  ///< of `dram`, over device memory's: of a second memory it differs
};

/// Smooth maximum: resources overlap, but not perfectly near the ridge. Free fits to GEMMs of three
/// GPUs gave exponents of 3.2 to 4.5; 4 costs two square roots.
inline double smooth_max(double a, double b) {
  a *= a;
  b *= b;
  return std::sqrt(std::sqrt(a * a + b * b));
}

/// Sets `bound` to the resource that is busy longest.
inline void find_bound(KernelCost& c) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < c.busy.size; ++i) {
    if (c.busy.values[i] > c.busy.values[best]) best = i;
  }
  c.bound = static_cast<Bound>(best);
}

/// Two kernels one after the other, reported as one.
inline KernelCost then(KernelCost a, const KernelCost& b) {
  a.time += b.time;
  a.flops += b.flops;
  a.dram += b.dram;
  a.l2 += b.l2;
  a.shared += b.shared;
  for (std::size_t i = 0; i < a.busy.size; ++i) a.busy.values[i] += b.busy.values[i];
  find_bound(a);
  return a;
}

}  // namespace sextant
