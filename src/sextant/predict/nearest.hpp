// SPDX-License-Identifier: Apache-2.0
// Values near a wrong one that keep a rule, in words.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace sextant {

/// "8 or 12 are the nearest": the closest values on both sides, up to `limit`, that `keep` a rule.
/// Far from it, at sixteen times its size or after a million tries, there is nothing near.
std::string nearest(std::int64_t value, std::int64_t limit,
                    const std::function<bool(std::int64_t)>& keeps);

/// The multiples of `step` around a value.
std::string nearest_multiple(std::int64_t value, std::int64_t step);

}  // namespace sextant
