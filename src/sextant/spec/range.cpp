// SPDX-License-Identifier: Apache-2.0
#include "sextant/spec/range.hpp"

#include <cmath>

#include "sextant/units/lists.hpp"

namespace sextant {

const Range* find_range(const Ranges& ranges, std::string_view field) {
  return find_by(ranges, &Range::field, field);
}

void forget_range(Ranges& ranges, std::string_view field) {
  std::erase_if(ranges, [&](const Range& r) { return r.field == field; });
}

std::vector<Diagnostic> check_ranges(const Ranges& ranges) {
  std::vector<Diagnostic> problems;
  for (const Range& r : ranges) {
    if (r.cause.empty()) continue;
    const Range* cause = find_range(ranges, r.cause);
    const std::string word = r.against ? "against" : "with";
    if (cause == nullptr || cause == &r) {
      problems.push_back({.field = r.field,
                          .message = "moves " + word + " '" + r.cause +
                                     "', which is no other number here that has a range"});
    } else if (!cause->cause.empty()) {
      problems.push_back({.field = r.field,
                          .message = "moves " + word + " '" + r.cause + "', which follows '" +
                                     cause->cause + "' itself",
                          .hint = "name '" + cause->cause + "' here, too"});
    }
  }
  return problems;
}

double within_range(const Range& r, double value, double share) {
  if (share < 0.5) return r.low + (value - r.low) * std::sqrt(2 * share);
  return r.high - (r.high - value) * std::sqrt(2 * (1 - share));
}

}  // namespace sextant
