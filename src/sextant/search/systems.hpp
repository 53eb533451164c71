// SPDX-License-Identifier: Apache-2.0
// The best system and strategy under a budget: what is asked, one search a system.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/scenario/run_plan.hpp"
#include "sextant/search/budget.hpp"
#include "sextant/search/question.hpp"

namespace sextant {

/// One of the systems. `Search` is TrainingSearch, ServingSearch or CapacitySearch.
template <class Search>
struct SystemAsked {
  std::string name;                  ///< as it was given
  Search search;                     ///< its devices are those of `counts`
  std::optional<double> price = {};  ///< dollars a device and hour
  int most = 0;                      ///< devices that the budget buys
  DeviceCounts counts = {};          ///< to train on; serving fills all that there are
};

template <class Search>
struct SystemsAsked {
  SearchBudget budget;
  RunPlan run = {};  ///< of training, where the whole run is asked for
  std::vector<SystemAsked<Search>> systems = {};
  std::vector<std::string> assumptions = {};
};

}  // namespace sextant
