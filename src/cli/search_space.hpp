// SPDX-License-Identifier: Apache-2.0
// From flags to a space to search and what is sought in it.
#pragma once

#include <string>
#include <vector>

#include "cli/options/search.hpp"
#include "cli/scenario.hpp"
#include "sextant/search/search.hpp"
#include "sextant/search/serving.hpp"

namespace sextant::cli {

/// A runtime as it is, or with more of its communication beside its kernels.
struct Variant {
  std::string name;  ///< "overlap tensor"; empty: as it is
  Problem problem;
};

struct TrainingSearch {
  Scenario scenario;  ///< without a strategy
  std::vector<Variant> variants;
  SearchSpace space;
  SearchAim aim;
  double price = 0;  ///< dollars a device and hour; 0: not given
};

struct ServingSearch {
  Scenario scenario;
  ServingSpace space;
  ServingAim aim;
};

/// Throw InputError with everything that is wrong: unknown axes and values with suggestions, limits
/// that leave nothing.
TrainingSearch read_training_search(const SearchOptions& options, const Common& common);
ServingSearch read_serving_search(const SearchOptions& options, const Common& common);

}  // namespace sextant::cli
