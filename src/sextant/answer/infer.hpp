// SPDX-License-Identifier: Apache-2.0
// What `sextant infer` says of requests served.
#pragma once

#include <optional>
#include <vector>

#include "sextant/answer/operators.hpp"
#include "sextant/answer/sensitivity.hpp"
#include "sextant/scenario/neighbours.hpp"

namespace sextant {

struct InferResult {
  const Scenario& scenario;
  ServingEstimate estimate;
  std::vector<ServingNeighbour> neighbours;  ///< that fit, where this does not
  std::vector<CurvePoint> curve;             ///< with --curve
  std::vector<OperatorList> passes;          ///< prefill and decode, with --explain
  Sensitivity sensitivity;                   ///< with --sensitivity
  std::optional<double> price = {};          ///< dollars a device and hour; nothing: nobody says it
  Record extras;                             ///< what programs alone asked for
};
/// CSV is one line; with a curve one line a batch size, with passes one an operator. The figure of
/// a curve: throughput over time a token.
Answer answer_of(InferResult result);

/// What a prediction has in common wherever it stands: times, rates, memory, breakdown.
Record prediction_of(const ServingEstimate& estimate, const Serving& serving);

}  // namespace sextant
