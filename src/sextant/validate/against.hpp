// SPDX-License-Identifier: Apache-2.0
// Predictions of now against those of before, case by case: a change that mends one error and
// uncovers another shows both, where means would show neither.
#pragma once

#include <string>
#include <vector>

#include "sextant/io/csv.hpp"
#include "sextant/validate/validate.hpp"

namespace sextant {

/// An error then and now, of a case that both versions know.
struct MovedCase {
  std::string id;
  std::string group;
  std::string metric;
  double before = 0;  ///< predicted / measured − 1
  double now = 0;

  /// By how much it is further from what was measured.
  double growth() const;
};

struct MovedCases {
  std::vector<MovedCase> moved;   ///< all that both predict; furthest worse first
  std::vector<std::string> lost;  ///< "id metric" predicted before and no longer
  std::vector<std::string> won;   ///< the other way round
};

/// `before` is what `validate --format csv` wrote. Throws InputError where it is not.
MovedCases against(const std::vector<CaseResult>& now, const CsvTable& before);

}  // namespace sextant
