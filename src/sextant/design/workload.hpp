// SPDX-License-Identifier: Apache-2.0
// What a device is made to do, and how well it does it: predictions of `train` and `infer` for
// devices that nobody has built.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "sextant/predict/infer.hpp"
#include "sextant/predict/train.hpp"
#include "sextant/study/limits.hpp"
#include "sextant/tech/allocate.hpp"

namespace sextant::design {

enum class Goal : std::uint8_t { time, energy, cost };
constexpr auto names_of(Goal) { return std::array<std::string_view, 3>{"time", "energy", "cost"}; }

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

/// A step, or a batch of requests.
struct Outcome {
  Verdict verdict = Verdict::fits;
  Seconds time;
  double tokens_per_second = 0;
  Joules energy;  ///< of a token, all devices and their nodes
  Dollars cost;   ///< of a token: what it costs to own the devices that long, and to run them
  bool runs() const { return verdict == Verdict::fits; }
};

/// The problem of a workload on nodes of such devices.
Problem problem_on(const Workload& workload, const Technology& technology, const Blueprint& device);

/// Without energy and cost, which take longer.
Outcome time_on(const Workload& workload, const Technology& technology, const Blueprint& device);
Outcome outcome_on(const Workload& workload, const Technology& technology, const Blueprint& device);

/// Where the time goes.
study::Limits limits_on(const Workload& workload, const Technology& technology,
                        const Blueprint& device);

/// The goal's value where a device cannot run the workload.
inline constexpr double infinite = std::numeric_limits<double>::infinity();
/// The goal's value for a device; infinite where it cannot run the workload.
double worth(const Workload& workload, const Technology& technology, const Blueprint& device);

/// The mean of that over nearby core counts, which is what devices are compared by.
Objective objective_of(const Workload& workload, const Technology& technology);

}  // namespace sextant::design
