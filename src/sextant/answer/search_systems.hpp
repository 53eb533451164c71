// SPDX-License-Identifier: Apache-2.0
// What `sextant search --systems --budget` says: the best of each system beside the others, what it
// takes of the budget, why the others lose, and which cannot be told apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/search/capacity.hpp"
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

struct ServedSystem {
  const SystemAsked<ServingSearch>& asked;
  ServingResult result = {};
};
struct ServedSystems {
  const SystemsAsked<ServingSearch>& asked;
  std::vector<ServedSystem> systems = {};
  double seconds = 0;
};

/// Under requests over time.
struct PlannedSystem {
  const SystemAsked<CapacitySearch>& asked;
  CapacityResult result = {};
};
struct PlannedSystems {
  const SystemsAsked<CapacitySearch>& asked;
  std::vector<PlannedSystem> systems = {};
  double seconds = 0;
};

/// What a job takes on one system, for whoever adds several jobs up.
struct SystemTaken {
  std::string given = {};  ///< as it was named
  std::string system = {};
  bool any = false;  ///< a strategy was found; otherwise:
  std::string nothing = {};
  double devices = 0;
  double bought = 0;  ///< in whole nodes
  double spent = 0;   ///< of the budget
  double tokens_per_second = 0;
  double tokens_per_joule = 0;
  std::optional<double> price = {};  ///< dollars a device and hour
  Watts power;                       ///< of a device and its share of a node, at most
  std::string summary = {};
  Node strategy = {};
  std::optional<WholeRun> run = {};
  double run_cost = 0;

  std::optional<double> dollars_per_hour() const;
};

/// All systems, the best first.
struct SystemsFound {
  Answer answer;
  SearchBudget budget;
  std::vector<SystemTaken> systems;
};
SystemsFound found_of(const TrainedSystems& result);
SystemsFound found_of(const ServedSystems& result);
SystemsFound found_of(const PlannedSystems& result);

/// {kind, amount, text, counts}.
Record record_of(const SearchBudget& budget);

/// "0.612 x".
std::string times(double ratio);

/// Dollars of money that was spent, for people: "2.5 M$".
Item dollars_item(double dollars);

/// Dollars of the whole run of an estimate, on devices at this price.
double run_dollars(const RunPlan& run, const System& system, double price, const Problem& problem,
                   const Estimate& estimate);

}  // namespace sextant
