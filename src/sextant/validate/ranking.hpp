// SPDX-License-Identifier: Apache-2.0
// Whether predictions put strategies in the right order: what a search is trusted for.
#pragma once

#include <string>
#include <vector>

#include "sextant/validate/validate.hpp"

namespace sextant {

/// Runs of one model on as many devices, by different strategies.
struct Ranking {
  std::string name;  ///< "train-x: llama-8b on 64"
  int cases = 0;
  double spearman = 0;  ///< rank correlation of predicted and measured throughput
  double chosen = 0;    ///< measured throughput of the best predicted, over the best measured
};

/// Groups of at least two training runs in order of first appearance; throughputs only.
std::vector<Ranking> rank_runs(const std::vector<Case>& cases,
                               const std::vector<CaseResult>& results);

/// Spearman's coefficient; equal values share their mean rank.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace sextant
