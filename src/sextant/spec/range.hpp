// SPDX-License-Identifier: Apache-2.0
// How far a number may lie from its value: what nobody has built yet is known within bounds.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/spec/diagnostic.hpp"

namespace sextant {

/// The bounds of one field of a preset: `power = { low = 0.21, value = 0.24, high = 0.263 }`.
struct Range {
  std::string field;
  double low = 0;   ///< in base units, as `high`
  double high = 0;  ///< no less than the value, which is no less than `low`
  /// Another field of the preset with a range, that moves for the same reason; empty: this one
  /// moves on its own.
  std::string cause = {};
  bool against = false;  ///< it falls where its cause rises
};
using Ranges = std::vector<Range>;

/// A spec whose numbers may have ranges.
template <class T>
concept Ranged = requires(T& t) {
  { t.ranges } -> std::same_as<Ranges&>;
};

const Range* find_range(const Ranges& ranges, std::string_view field);
void forget_range(Ranges& ranges, std::string_view field);

/// Causes that are no ranges, or that have causes themselves.
std::vector<Diagnostic> check_ranges(const Ranges& ranges);

/// Where a number lies that `share` of the likelihood lies below: its value for a half, a bound for
/// none and for all, less likely the nearer to a bound (a triangle on each side).
double within_range(const Range& range, double value, double share);

}  // namespace sextant
