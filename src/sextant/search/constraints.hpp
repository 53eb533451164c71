// SPDX-License-Identifier: Apache-2.0
// What --fix and --limit say of a space: "tp=8", "pp<=16".
#pragma once

#include <string>
#include <vector>

#include "sextant/search/serving.hpp"
#include "sextant/search/space.hpp"
#include "sextant/spec/flags.hpp"

namespace sextant {

/// Texts as they were given.
struct Constraints {
  const std::vector<std::string>& fix;
  const std::vector<std::string>& limit;
  std::vector<std::string_view> held = {};  ///< axes that flags of their own have given
};
/// Unknown axes and values are told to `flags`, with suggestions.
void constrain(SearchSpace& space, const Constraints& constraints, Flags& flags);
void constrain(ServingSpace& space, const Constraints& constraints, Flags& flags);

}  // namespace sextant
