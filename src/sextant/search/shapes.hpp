// SPDX-License-Identifier: Apache-2.0
// A cut's mappings in groups that share floors and passages. Internal to search.
#pragma once

#include <algorithm>
#include <vector>

#include "sextant/predict/floor.hpp"
#include "sextant/search/space.hpp"

namespace sextant {

/// Mappings of a cut that deal layers to stages alike: they share the way of a microbatch.
struct Shape {
  std::size_t first = 0;  ///< of the cut's mappings
  std::size_t last = 0;
  std::size_t lean = 0;  ///< whose passage is the shortest: it adds up the least gradients
  Strategy strategy;     ///< of the first
  double devices = 1;
  ShapeFloor floor;
  std::vector<int> layers;  ///< to recompute in full, from few to all
  std::vector<int> places;  ///< of these in layer_counts()
  double most_layers = 1;   ///< of a stage
  std::size_t schedules = 0;

  Shape(const Problem& p, const Strategy& s, const Mapping& m)
      : strategy(s), devices(m.devices), floor(p, m) {}
  double again(int count) const { return count == 0 ? 1 : std::min(1.0, count / most_layers); }
  std::uint64_t points(bool full) const {
    return (last - first) * schedules * (full ? layers.size() : 1);
  }
};

/// A cut with all that its units share.
struct Laid {
  std::vector<Strategy> mappings;
  std::vector<Mapping> prepared;
  std::vector<Shape> shapes;

  /// That it holds, about.
  std::size_t bytes() const {
    std::size_t sum = mappings.capacity() * sizeof(Strategy) +
                      prepared.capacity() * sizeof(Mapping) + shapes.capacity() * sizeof(Shape);
    for (const Shape& s : shapes) sum += (s.layers.capacity() + s.places.capacity()) * sizeof(int);
    return sum;
  }
};
Laid lay(const Problem& problem, const SearchSpace& space, const Cut& cut);

}  // namespace sextant
