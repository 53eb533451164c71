// SPDX-License-Identifier: Apache-2.0
// What `sextant train` says of a step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/answer/run.hpp"
#include "sextant/answer/sensitivity.hpp"
#include "sextant/scenario/neighbours.hpp"

namespace sextant {

/// Execution traces that were written.
struct TraceFiles {
  std::vector<std::string> traces;
  int ranks = 0;  ///< of the job
  double nodes = 0;
  std::string network;  ///< empty: there is none
  std::string groups;
};

struct TrainResult {
  const Scenario& scenario;
  Estimate estimate;
  std::vector<Operator> operators;    ///< of the slowest stage, with --explain
  std::vector<Neighbour> neighbours;  ///< that fit, where this does not
  Sensitivity sensitivity;            ///< with --sensitivity
  std::optional<RunAnswer> run;       ///< with --tokens
  Record extras;                      ///< what programs alone asked for
  std::optional<TraceFiles> files;    ///< with --trace
};
/// CSV is one line; with operators one line each.
Answer answer_of(TrainResult result);

/// What a prediction has in common wherever it stands: rates, memory, breakdown.
Record prediction_of(const Estimate& estimate, const Problem& problem);

}  // namespace sextant
