// SPDX-License-Identifier: Apache-2.0
// What `sextant train --tokens` says of a whole run.
#pragma once

#include "sextant/answer/answer.hpp"
#include "sextant/predict/uncertainty.hpp"
#include "sextant/scenario/run_plan.hpp"

namespace sextant {

inline constexpr double day = 86400;  ///< seconds

struct RunAnswer {
  RunPlan plan;
  RunWork work;
  WholeRun run;
};
RunAnswer answer_run(RunPlan plan, const Problem& problem, const Estimate& estimate);

/// "run": days, device-hours, dollars, energy, emissions; what is lost to what; and the same in
/// lines for people. `step` is how sure the step's time is.
void add(Answer& answer, const RunAnswer& run, const Interval& step);

}  // namespace sextant
