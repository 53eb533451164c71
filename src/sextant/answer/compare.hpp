// SPDX-License-Identifier: Apache-2.0
// What `sextant compare` says: scenarios side by side, and what makes the difference between
// neighbours.
#pragma once

#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/scenario/scenario.hpp"

namespace sextant {

/// One of several, with its command's own answer.
struct Compared {
  std::string name;
  Scenario scenario;
  Record answer;
};

/// {"answers", "differences"}: of neighbours the ratio of their times, the factors that make it
/// (study/difference.hpp), and the probability that the later one is faster.
Answer answer_of(const std::vector<Compared>& scenarios, Task task);

}  // namespace sextant
