// SPDX-License-Identifier: Apache-2.0
// From what was given (names, flags, a request, settings) to all that a prediction needs; what was
// not given is derived, and every assumption is listed.
#pragma once

#include <string>
#include <vector>

#include "sextant/io/presets.hpp"
#include "sextant/scenario/derive.hpp"
#include "sextant/scenario/inputs.hpp"

namespace sextant {

/// What was given.
struct Question {
  Task task = Task::train;
  PresetRef model, system, runtime;
  std::string engine = {};  ///< serves where no runtime is named and the system has none of its own
  /// Fields of Inputs by name. Null: it was given, but could not be read, which has been said.
  Node given = Node::table();
  std::vector<Setting> settings;        ///< of specs, and of "strategy", which is as good as given
  std::vector<std::string> notes = {};  ///< assumptions that were made before
  std::vector<Diagnostic> problems = {};  ///< and what was found wrong
  Lookup lookup = Lookup::anywhere;
};

/// Roots of paths that a question's settings may have.
std::vector<std::string> setting_roots();

struct Scenario {
  Task task = Task::train;
  System system;
  Problem problem;
  Strategy strategy;
  std::vector<std::string> assumptions;
  Inputs inputs;      ///< as given
  GivenFields given;  ///< their names
};

/// "tp 8, pp 8, interleave 3, sp, recompute selective": what differs from one device.
inline std::string describe_strategy(const Strategy& s) { return summary_of(s, Task::train); }
inline std::string describe_serving(const Strategy& s) { return summary_of(s, Task::infer); }

/// What a search over these precisions assumes of them, in place of what a scenario of one does;
/// `given`: they were asked for.
void assume_precisions(Scenario& scenario, const std::vector<Precision>& searched, bool given);

/// Throws InputError with everything that is wrong, a strategy that cannot exist included: which
/// rule, and the nearest legal values.
Scenario read_scenario(const Question& question);

/// The same without a strategy, for those who look for one.
Scenario read_workload(const Question& question);

}  // namespace sextant
