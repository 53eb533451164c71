// SPDX-License-Identifier: Apache-2.0
// What each of several changes has of the whole, in the mean over every order of making them
// (Shapley 1953), so that none depends on an order.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace sextant::study {

/// The worth of a set of changes, one bit each; nothing where the set cannot be.
using WorthOf = std::function<std::optional<double>(unsigned taken)>;

/// A share each: their sum is the worth of all changes less that of none. Empty where some set
/// cannot be, so that a change has no price. At most 16 changes.
std::vector<double> shapley(unsigned changes, const WorthOf& worth);

}  // namespace sextant::study
