// SPDX-License-Identifier: Apache-2.0
// What a search is asked: a scenario without a strategy, a space, and what is sought in it.
#pragma once

#include <string>
#include <vector>

#include "sextant/scenario/scenario.hpp"
#include "sextant/search/search.hpp"
#include "sextant/search/serving.hpp"

namespace sextant {

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
  Seconds time{0};   ///< to search at most; 0: to the end
};

struct ServingSearch {
  Scenario scenario;
  ServingSpace space;
  ServingAim aim;
  Seconds time{0};  ///< to search at most; 0: to the end
};

}  // namespace sextant
