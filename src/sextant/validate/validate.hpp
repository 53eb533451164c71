// SPDX-License-Identifier: Apache-2.0
// Predicted against measured, by source.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/predict/uncertainty.hpp"
#include "sextant/scenario/catalogue.hpp"
#include "sextant/validate/cases.hpp"
#include "sextant/validate/evaluate.hpp"

namespace sextant {

/// One case with what the model says of it.
struct CaseResult {
  std::string id;
  std::string group;
  std::string device;  ///< or the system, of a case about several devices
  std::string metric = "seconds";
  double predicted = 0;  ///< in the metric's unit, as `measured`
  double measured = 0;
  double error = 0;              ///< predicted / measured − 1; of a yes or no, 0 or 1
  std::string_view bound = {};   ///< what most of the time goes to
  std::string unsupported = {};  ///< the reason there is no prediction, or empty
  Likeness likeness = {};        ///< what makes it like other questions
  bool time = true;              ///< false: work over time, or no time at all
};

/// A case with its prediction, and one without for the reason given.
CaseResult result_of(const Case& c, const KernelCost& cost);
CaseResult unpredicted(const Case& c, std::string reason);

/// Errors of a set of results; unsupported ones are counted, not averaged.
struct Accuracy {
  std::string name;
  int cases = 0;  ///< predicted ones
  int unsupported = 0;
  double mape = 0;
  double median_ape = 0;
  double p90_ape = 0;
  double bias = 0;  ///< mean signed error
};
Accuracy summarize(std::string name, const std::vector<CaseResult>& results);

/// By group, in order of first appearance, then all together as "all" when there are several.
std::vector<Accuracy> summarize_groups(const std::vector<CaseResult>& results);

using Progress = std::function<void(double share)>;

/// A case of kind train or memory: one result, and a second where memory was measured beside it.
void predict_train(const Case& c, Catalogue& catalogue, std::vector<CaseResult>& out);
/// A case of kind infer.
void predict_infer(const Case& c, Catalogue& catalogue, std::vector<CaseResult>& out);

std::vector<CaseResult> validate(const std::vector<Case>& cases, Catalogue& catalogue,
                                 const Progress& progress = {});

}  // namespace sextant
