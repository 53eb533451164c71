// SPDX-License-Identifier: Apache-2.0
// What `sextant train` says, as text, JSON and CSV.
#pragma once

#include <string>
#include <vector>

#include "cli/neighbours.hpp"
#include "cli/scenario.hpp"
#include "cli/sensitivity.hpp"
#include "sextant/io/node.hpp"
#include "sextant/predict/train.hpp"
#include "sextant/report/breakdown.hpp"

namespace sextant::cli {

struct TrainAnswer {
  const Scenario& scenario;
  Estimate estimate;
  std::vector<Operator> operators;    ///< of the slowest stage, with --explain
  std::vector<Neighbour> neighbours;  ///< that fit, where this does not
  Sensitivity sensitivity;            ///< with --sensitivity
};

/// The step's time by what it goes to: parts sum to the whole.
Breakdown time_breakdown(const Estimate& estimate);

/// What a prediction's JSON has in common: rates, memory, breakdown.
void set_prediction(Node& root, const Estimate& estimate, Bytes capacity);

std::string train_text(const TrainAnswer& answer);
std::string train_json(const TrainAnswer& answer);
/// One line; with --explain one line an operator.
std::string train_csv(const TrainAnswer& answer);

}  // namespace sextant::cli
