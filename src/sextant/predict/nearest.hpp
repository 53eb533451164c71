// SPDX-License-Identifier: Apache-2.0
// Values near a wrong one that keep a rule, in words.
#pragma once

#include <functional>
#include <string>

namespace sextant {

using Rule = std::function<bool(double)>;

bool divides(double part, double whole);

/// "8 or 12 are the nearest": the closest values on both sides, up to `limit`, that keep a rule.
/// Far above there is nothing near.
std::string nearest(double value, double limit, const Rule& keeps);

/// The multiples of `step` around a value.
std::string nearest_multiple(double value, double step);

}  // namespace sextant
