// SPDX-License-Identifier: Apache-2.0
// The whole run that a training step is a part of, as it was asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/run/run.hpp"
#include "sextant/scenario/inputs.hpp"

namespace sextant {

/// What was given.
struct RunQuestion {
  std::string tokens = {};     ///< "15T"; empty: nobody asks for a run
  std::string price = {};      ///< dollars a device and hour, or a public tier
  Node given = Node::table();  ///< fields of RunTerms by name
};
/// The fields of RunTerms, for those who only list them.
const std::vector<InputField>& run_fields();

struct RunPlan {
  double tokens = 0;  ///< 0: there is no run
  RunTerms terms = {};
  std::optional<double> dollars_per_hour = {};  ///< of a device
  std::vector<std::string> assumptions = {};
};
/// Adds problems, each by its flag. The price is read when the device is known.
RunPlan read_run(const RunQuestion& question, std::vector<Diagnostic>& problems);
/// With what is wrong with its length: a run has a step at least.
std::vector<Diagnostic> with_length(const RunPlan& plan, const Training& step,
                                    std::vector<Diagnostic> problems);
/// Without one, the lowest of the public tiers', if any has the device.
void read_run_price(const RunQuestion& question, const std::string& device, RunPlan& plan);

}  // namespace sextant
