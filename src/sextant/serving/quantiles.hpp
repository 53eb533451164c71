// SPDX-License-Identifier: Apache-2.0
// Quantiles of any number of values in a fixed amount of memory: exact while there are few, then
// from a logarithmic histogram.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sextant {

struct Percentiles {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
};

class Quantiles {
 public:
  /// `value` is positive or 0.
  void add(double value, double weight = 1) {
    sum_ += value * weight;
    count_ += weight;
    if (bins_.empty()) {
      few_.push_back({value, weight});
      if (few_.size() >= exact) spill();
    } else {
      bins_[bin_of(value)] += weight;
    }
  }

  double count() const { return count_; }
  double mean() const { return count_ > 0 ? sum_ / count_ : 0; }
  /// The value that a share of all is at most.
  double at(double share) const { return bins_.empty() ? of_few(share) : of_bins(share); }
  Percentiles percentiles() const { return {mean(), at(0.5), at(0.9), at(0.95), at(0.99)}; }
  /// Points (value, share at most) of the distribution, from 0 to 1.
  std::vector<std::pair<double, double>> curve(int points) const {
    std::vector<std::pair<double, double>> all;
    for (int i = 0; i <= points; ++i) {
      const double share = static_cast<double>(i) / points;
      all.emplace_back(at(share), share);
    }
    return all;
  }

 private:
  struct Value {
    double value;
    double weight;
  };
  static constexpr std::size_t exact = 4096;
  static constexpr int low = -34;  // exponents of two: 58 ps
  static constexpr int octaves = 64;
  static constexpr unsigned steps = 9;  // bits: 512 bins an octave, 0.2 % wide

  static std::size_t bin_of(double value) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value) >> (52U - steps);
    constexpr std::uint64_t first = static_cast<std::uint64_t>(1023 + low) << steps;
    constexpr std::uint64_t all = std::uint64_t{octaves} << steps;
    return bits <= first ? 0 : static_cast<std::size_t>(std::min(bits - first, all - 1));
  }
  static double edge(std::size_t bin) {
    const std::uint64_t first = static_cast<std::uint64_t>(1023 + low) << steps;
    return std::bit_cast<double>((first + bin) << (52U - steps));
  }

  void spill() {
    bins_.assign(std::size_t{octaves} << steps, 0);
    for (const Value& v : few_) bins_[bin_of(v.value)] += v.weight;
    few_.clear();
    few_.shrink_to_fit();
  }

  double of_few(double share) const {
    if (few_.empty()) return 0;
    std::vector<Value> sorted = few_;
    std::sort(sorted.begin(), sorted.end(),
              [](const Value& a, const Value& b) { return a.value < b.value; });
    double seen = 0;
    for (const Value& v : sorted) {
      seen += v.weight;
      if (seen > share * count_) return v.value;
    }
    return sorted.back().value;
  }

  double of_bins(double share) const {
    double seen = 0;
    std::size_t last = 0;
    for (std::size_t i = 0; i < bins_.size(); ++i) {
      if (bins_[i] == 0) continue;
      last = i;
      if (seen + bins_[i] > share * count_) {
        const double inside = (share * count_ - seen) / bins_[i];
        return edge(i) + inside * (edge(i + 1) - edge(i));
      }
      seen += bins_[i];
    }
    return edge(last + 1);
  }

  std::vector<Value> few_;
  std::vector<double> bins_;
  double sum_ = 0;
  double count_ = 0;
};

}  // namespace sextant
