// SPDX-License-Identifier: Apache-2.0
// From flags to a cluster and the requests that it gets.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "sextant/scenario/scenario.hpp"
#include "sextant/serving/traffic.hpp"

namespace sextant::cli {

struct TrafficScenario {
  Scenario scenario;  ///< of one engine; of a disaggregated cluster, of its prompts
  Cluster cluster;
  ServingMemory memory;  ///< of a device of the first pool
  bool fits = true;
  std::shared_ptr<const Trace> trace;  ///< that `traffic` points to
  Traffic traffic;
  ServiceLimits limits;
  std::optional<double> price;  ///< dollars a device and hour
  bool limited = false;         ///< users' limits were given
};

/// Throws InputError with everything that is wrong with the flags.
TrafficScenario read_traffic(const TrafficOptions& options, const Common& common);

}  // namespace sextant::cli
