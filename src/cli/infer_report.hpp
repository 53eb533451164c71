// SPDX-License-Identifier: Apache-2.0
// What `sextant infer` says, as text, JSON and CSV.
#pragma once

#include <string>
#include <vector>

#include "cli/infer_scenario.hpp"
#include "cli/operators.hpp"
#include "cli/sensitivity.hpp"
#include "sextant/report/breakdown.hpp"

namespace sextant::cli {

struct InferAnswer {
  const Scenario& scenario;
  ServingEstimate estimate;
  std::vector<ServingNeighbour> neighbours;  ///< that fit, where this does not
  std::vector<CurvePoint> curve;             ///< with --curve
  std::vector<OperatorList> passes;          ///< prefill and decode, with --explain
  Sensitivity sensitivity;                   ///< with --sensitivity
};

/// A request's time by what it goes to: parts sum to the whole.
Breakdown latency_breakdown(const ServingEstimate& estimate, const Serving& serving);

/// What a prediction's JSON has in common: times, rates, memory, breakdown.
void set_prediction(Node& root, const ServingEstimate& estimate, const Serving& serving);

std::string infer_text(const InferAnswer& answer);
std::string infer_json(const InferAnswer& answer);
/// One line; with --curve one line a batch size, with --explain one an operator.
std::string infer_csv(const InferAnswer& answer);

/// Throughput over time a token, by batch size.
plot::Figure curve_figure(const InferAnswer& answer);

}  // namespace sextant::cli
