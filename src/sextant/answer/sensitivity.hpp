// SPDX-License-Identifier: Apache-2.0
// `--sensitivity`: what a tenth more of each resource changes, most effective first, and a sentence
// to act on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/predict/sensitivity.hpp"

namespace sextant {

/// One number of an answer: the name in JSON, the words for it, and how it is computed.
struct Outcome {
  std::string field;  ///< "tpot_seconds"
  std::string words;  ///< "per token"
};

struct Effect {
  Knob knob{};
  std::vector<double> changes;  ///< relative, one an outcome
};

struct Sensitivity {
  std::vector<Outcome> outcomes;  ///< the first one orders the effects
  std::vector<Effect> effects;
  bool empty() const { return effects.empty(); }
};

/// Turns every knob and evaluates again.
Sensitivity find_sensitivity(const Problem& problem, std::vector<Outcome> outcomes,
                             const std::function<std::vector<double>(const Problem&)>& evaluate);

/// "+10 % DRAM bandwidth: −6.8 % per token; nothing else moves it by more than 1 %".
std::string sentence(const Sensitivity& sensitivity);
/// "sensitivity" and "sensitivity_summary", the sentence and the table.
void add(Answer& answer, const Sensitivity& sensitivity);

}  // namespace sextant
