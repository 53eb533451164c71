// SPDX-License-Identifier: Apache-2.0
// What `sextant tech` says of a generated device: its numbers, and where area and power go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/design/front.hpp"
#include "sextant/design/inverse.hpp"
#include "sextant/design/split.hpp"
#include "sextant/design/together.hpp"
#include "sextant/design/uncertainty.hpp"
#include "sextant/predict/uncertainty.hpp"

namespace sextant {

/// What the device makes of the workload: a step, or a batch of requests.
struct WorkloadTime {
  Seconds time;
  Likeness likeness;
};

struct DeviceResult {
  Technology technology;
  Budget budget;
  Blueprint blueprint;
  std::vector<std::string> assumptions;
  bool trains = true;                        ///< the workload, where there is one
  std::optional<WorkloadTime> predicted;     ///< where there is one and it runs
  std::optional<design::Split> split;        ///< where a workload chose it
  std::optional<design::Together> together;  ///< and a strategy with it
  std::string network;                       ///< that was chosen with it
  std::optional<System> system;              ///< of such devices, where it is asked for
  std::optional<design::Uncertainty> uncertainty;
  std::optional<design::Front> front;         ///< the device is its balanced one
  std::vector<Technology> technologies = {};  ///< of the front
  std::optional<design::Solution> solution;   ///< the device is the one there
};
/// The figure: shares of area and power; before it, of what else was asked for.
Answer answer_of(const DeviceResult& result);

}  // namespace sextant
