// SPDX-License-Identifier: Apache-2.0
// What makes the difference between two scenarios, as a product of factors: groups of properties
// are swapped in every order, and a group's factor is the mean of what its swap does (Shapley).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/predict/infer.hpp"
#include "sextant/scenario/scenario.hpp"

namespace sextant::study {

struct Factor {
  std::string name;      ///< "memory", "network", …
  double logarithm = 0;  ///< of the ratio of times
};

/// Of the time of a token in training, of a request in serving: the later over the earlier.
struct Difference {
  std::optional<double> ratio;  ///< nothing where one of the two cannot run
  std::vector<Factor> factors;  ///< largest first; none where some mixture cannot run
};
Difference difference_of(const Scenario& a, const Scenario& b, bool trains);

}  // namespace sextant::study
