// SPDX-License-Identifier: Apache-2.0
// What `sextant validate` and `sextant calibrate` say: predicted against measured, and what was
// fitted to it.
#pragma once

#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/validate/against.hpp"
#include "sextant/validate/calibrate.hpp"
#include "sextant/validate/ranking.hpp"

namespace sextant {

/// By group; CSV and JSON have every case. The figure is the scatter of all.
Answer accuracy_answer(const std::vector<CaseResult>& results);

/// What moved since an earlier version, by group and the furthest cases; CSV and JSON have every
/// one.
Answer against_answer(const MovedCases& cases);

/// How well runs are put in order.
Answer ranking_answer(const std::vector<Ranking>& rankings);

/// The constants of each fit, before and after, and what was left as it was.
Answer calibration_answer(const std::vector<Calibration>& fits,
                          const std::vector<Diagnostic>& refused);

}  // namespace sextant
