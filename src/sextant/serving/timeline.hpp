// SPDX-License-Identifier: Apache-2.0
// Queue and cache over time in a fixed number of bins: twice as wide each time that they are full.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sextant {

class LoadTimeline {
 public:
  struct Bin {
    double seconds = 0;  ///< of steps; less than the bin where engines were idle
    double waiting = 0;  ///< times seconds, as all below
    double running = 0;
    double cache = 0;
  };

  /// Values that held for a time. Times may come a little out of order.
  void add(double start, double seconds, double waiting, double running, double cache) {
    while (start + seconds >= width_ * most) widen();
    auto i = static_cast<std::size_t>(start / width_);
    double at = start;
    const double end = start + seconds;
    while (at < end) {
      const double edge = std::min(end, static_cast<double>(i + 1) * width_);
      if (bins_.size() <= i) bins_.resize(i + 1);
      Bin& b = bins_[i];
      const double part = std::max(0.0, edge - at);  // a rounded edge may lie behind
      b.seconds += part;
      b.waiting += part * waiting;
      b.running += part * running;
      b.cache += part * cache;
      at = std::max(at, edge);
      ++i;
    }
  }

  const std::vector<Bin>& bins() const { return bins_; }
  double width() const { return width_; }

 private:
  static constexpr std::size_t most = 512;

  void widen() {
    for (std::size_t i = 0; i < bins_.size(); i += 2) {
      Bin b = bins_[i];
      if (i + 1 < bins_.size()) {
        const Bin& c = bins_[i + 1];
        b.seconds += c.seconds;
        b.waiting += c.waiting;
        b.running += c.running;
        b.cache += c.cache;
      }
      bins_[i / 2] = b;
    }
    bins_.resize((bins_.size() + 1) / 2);
    width_ *= 2;
  }

  std::vector<Bin> bins_;
  double width_ = 0.01;
};

}  // namespace sextant
