// SPDX-License-Identifier: Apache-2.0
// Points of which no other is better in every respect, gathered one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sextant {

/// Of points that are the better the smaller `x` and `y` are. Of equal points the one with the
/// smallest `order` stays, so that the front does not depend on the order of arrival.
template <class Point>
class Front {
 public:
  struct Entry {
    double x = 0;
    double y = 0;
    std::uint64_t order = 0;
    Point point;
  };

  /// Whether such a point would stay: cheap, to be asked before a point is made.
  bool takes(double x, double y, std::uint64_t order) const {
    // The best y of all entries that are no worse in x.
    const auto after = std::upper_bound(entries_.begin(), entries_.end(), x,
                                        [](double value, const Entry& e) { return value < e.x; });
    if (after == entries_.begin()) return true;
    const Entry& rival = *(after - 1);
    if (rival.y > y) return true;
    return rival.x == x && rival.y == y && order < rival.order;
  }

  void add(double x, double y, std::uint64_t order, Point point) {
    if (!takes(x, y, order)) return;
    const auto from = std::lower_bound(entries_.begin(), entries_.end(), x,
                                       [](const Entry& e, double value) { return e.x < value; });
    const auto to = std::find_if(from, entries_.end(), [&](const Entry& e) { return e.y < y; });
    const auto at = entries_.erase(from, to);
    entries_.insert(at, {x, y, order, std::move(point)});
  }

  void add(const Front& other) {
    for (const Entry& e : other.entries_) add(e.x, e.y, e.order, e.point);
  }

  /// By rising x and falling y.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace sextant
