// SPDX-License-Identifier: Apache-2.0
// The search at a point of a plan that asks for the best strategy there.
#pragma once

#include "sextant/sweep/evaluator.hpp"

namespace sextant::sweep {

/// Finds the best strategy at a point, for plans that ask for it.
InnerSearch inner_search();
/// Throws InputError where the plan asks for the best by an objective that is none.
void check_objective(const Plan& plan);

}  // namespace sextant::sweep
