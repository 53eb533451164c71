// SPDX-License-Identifier: Apache-2.0
// The area and power of a device, split as a workload likes best.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/predict/infer.hpp"
#include "sextant/predict/train.hpp"
#include "sextant/tech/allocate.hpp"

namespace sextant::study {

enum class Goal : std::uint8_t { time, energy, cost };
constexpr auto names_of(Goal) { return std::array<std::string_view, 3>{"time", "energy", "cost"}; }

/// What a device is made to do.
struct Workload {
  Model model;
  Strategy strategy;
  Training training;
  Serving serving;
  bool trains = true;
  Goal goal = Goal::time;
  Surroundings around;
  Dollars price;  ///< what a device is bought for; 0: what its parts cost
};

/// The goal's value for a device; infinite where it cannot run the workload.
double worth(const Workload& workload, const Technology& technology, const Blueprint& device);

/// A split, and what it is the best for.
struct Split {
  Allocation allocation;
  std::string objective;  ///< "time of a step", …
  Dimension unit;
  double usual = 0;  ///< of the device as it was; infinite where that cannot run the workload
};
/// Throws InputError where no split runs the workload.
Split best_split(const Workload& workload, const Technology& technology, const Budget& budget,
                 const Blueprint& usual, const AllocationSpace& space);

}  // namespace sextant::study
