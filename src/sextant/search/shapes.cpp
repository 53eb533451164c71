// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/shapes.hpp"

namespace sextant {
namespace {

Shape shape_of(const Problem& p, const SearchSpace& space, const Strategy& s, const Mapping& m) {
  Shape shape(p, s, m);
  Strategy full = s;
  full.recompute = Recompute::full;
  const std::vector<int> counts = layer_counts(p, space, full);
  shape.places.resize(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) shape.places[i] = static_cast<int>(i);
  const auto amount = [&](int place) {
    const int n = counts[static_cast<std::size_t>(place)];
    return n == 0 ? std::numeric_limits<int>::max() : n;
  };
  std::sort(shape.places.begin(), shape.places.end(),
            [&](int a, int b) { return amount(a) < amount(b); });
  for (const int place : shape.places) {
    shape.layers.push_back(counts[static_cast<std::size_t>(place)]);
  }
  for (int i = 0; i < m.stages.count; ++i) {
    shape.most_layers =
        std::max(shape.most_layers, m.stages.kinds[static_cast<std::size_t>(i)].layers);
  }
  for (const Schedule schedule : space.schedule) shape.schedules += takes_schedule(s, schedule);
  return shape;
}

}  // namespace

Laid lay(const Problem& p, const SearchSpace& space, const Cut& cut) {
  Laid laid;
  mappings_of(p, space, cut, laid.mappings);
  laid.prepared.reserve(laid.mappings.size());
  for (std::size_t i = 0; i < laid.mappings.size(); ++i) {
    const Strategy& s = laid.mappings[i];
    laid.prepared.push_back(mapping_of(p, s));
    if (i > 0 && dealt_alike(s, laid.mappings[i - 1])) {
      laid.shapes.back().floor.add(laid.prepared.back());
    } else {
      laid.shapes.push_back(shape_of(p, space, s, laid.prepared.back()));
      laid.shapes.back().first = laid.shapes.back().lean = i;
    }
    Shape& shape = laid.shapes.back();
    shape.last = i + 1;
    if (s.zero > laid.mappings[shape.lean].zero) shape.lean = i;
  }
  return laid;
}

}  // namespace sextant
