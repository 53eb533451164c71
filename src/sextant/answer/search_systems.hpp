// SPDX-License-Identifier: Apache-2.0
// What `sextant search --systems --budget` says: the best of each system beside the others, what it
// takes of the budget, why the others lose, and which cannot be told apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/search/systems.hpp"

namespace sextant {

/// What was found on one system; `asked` holds the counts that were looked at.
struct TrainedSystem {
  const SystemAsked<TrainingSearch>& asked;
  SearchResult result = {};
  std::optional<Found> best = {};  ///< within the budget
  double points = 0;
  std::string refused = {};  ///< why a number of devices was not looked at
};
struct TrainedSystems {
  const SystemsAsked<TrainingSearch>& asked;
  std::vector<TrainedSystem> systems = {};
  double seconds = 0;
};
Answer answer_of(const TrainedSystems& result);

struct ServedSystem {
  const SystemAsked<ServingSearch>& asked;
  ServingResult result = {};
};
struct ServedSystems {
  const SystemsAsked<ServingSearch>& asked;
  std::vector<ServedSystem> systems = {};
  double seconds = 0;
};
Answer answer_of(const ServedSystems& result);

/// Devices of the whole nodes that a job takes; a part of one node is not more than it is.
double bought_devices(const System& system, double devices);

/// Dollars of the whole run of an estimate, on devices at this price.
double run_dollars(const RunPlan& run, const System& system, double price, const Problem& problem,
                   const Estimate& estimate);

}  // namespace sextant
