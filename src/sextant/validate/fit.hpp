// SPDX-License-Identifier: Apache-2.0
// Fitting constants to cases, whatever they are constants of: once to all, and for each fold
// without it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sextant/validate/calibrate.hpp"

namespace sextant {

struct Parameter {
  std::string name;
  double* value;
  double low;  ///< of what it is, where it is at all
  double high;
  bool optional = false;  ///< 0, where there is no such cost
};

using CaseList = std::vector<const Case*>;

/// What a fit needs to know: the constants, and how they become predictions.
struct FitProblem {
  std::vector<Parameter> parameters;
  std::function<void()> apply;                    ///< after the constants changed
  std::function<double(const Case&)> predict;     ///< in the unit of the case's metric
  std::function<CaseResult(const Case&)> result;  ///< the same with all that is said of it
  std::function<bool(const Case&)> possible;  ///< false: nothing can be learned from it; or none is
  double least_range = 1;                     ///< of the longest case over the shortest
  std::string families = "shape family";      ///< what a fold leaves out, in words
};

/// Minimises the mean of |log(predicted / measured)| over the logarithms of the constants.
void fit(const FitProblem& problem, const CaseList& cases, const CalibrationOptions& options,
         const Progress& progress);

/// Fitted to all, and judged by families that the fit did not see. Throws InputError when the
/// cases are too few or too alike to determine the constants.
Calibration calibrate(std::string what, const FitProblem& problem, const CaseList& cases,
                      const CalibrationOptions& options);

/// The files that the cases come from: "a, b".
std::string sources_of(const CaseList& cases);

}  // namespace sextant
