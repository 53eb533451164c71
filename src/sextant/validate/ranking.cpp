// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sextant/predict/layout.hpp"

namespace sextant {
namespace {

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t j = i;
    while (j < order.size() && values[order[j]] == values[order[i]]) ++j;
    for (std::size_t k = i; k < j; ++k) ranks[order[k]] = 0.5 * static_cast<double>(i + j - 1);
    i = j;
  }
  return ranks;
}

/// A step's time or its throughput, as a number that is the better the larger it is.
double goodness(const CaseResult& r, double value) {
  return r.metric == "step_seconds" ? 1 / value : value;
}

bool is_throughput(const CaseResult& r) {
  return r.metric == "step_seconds" || r.metric == "tokens_per_second_per_gpu" ||
         r.metric == "model_tflops_per_gpu";
}

struct RunsOf {
  std::vector<double> predicted;
  std::vector<double> measured;
};

}  // namespace

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks_of(a);
  const std::vector<double> y = ranks_of(b);
  const double mean = 0.5 * (static_cast<double>(a.size()) - 1);
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

std::vector<Ranking> rank_runs(const std::vector<Case>& cases,
                               const std::vector<CaseResult>& results) {
  std::map<std::string, const Case*> by_id;
  for (const Case& c : cases) by_id[c.group + "/" + c.id] = &c;
  std::vector<std::string> order;
  std::map<std::string, RunsOf> groups;
  for (const CaseResult& r : results) {
    const auto found = by_id.find(r.group + "/" + r.id);
    if (found == by_id.end() || !r.unsupported.empty() || !is_throughput(r)) continue;
    const auto* run = std::get_if<TrainCase>(&found->second->kernel);
    if (run == nullptr) continue;
    Strategy s = run->inputs.strategy;
    s.dp = std::max(1, s.dp);
    const auto devices = run->inputs.gpus > 0 ? run->inputs.gpus : static_cast<int>(devices_of(s));
    const std::string name = r.group + ": " + run->model + " on " + std::to_string(devices) + " " +
                             found->second->system;
    RunsOf& runs = groups[name];
    if (runs.predicted.empty()) order.push_back(name);
    runs.predicted.push_back(goodness(r, r.predicted));
    runs.measured.push_back(goodness(r, r.measured));
  }
  std::vector<Ranking> rankings;
  for (const std::string& name : order) {
    const RunsOf& runs = groups[name];
    if (runs.predicted.size() < 2) continue;
    const auto best = std::max_element(runs.predicted.begin(), runs.predicted.end());
    const double chosen = runs.measured[static_cast<std::size_t>(best - runs.predicted.begin())];
    rankings.push_back({name, static_cast<int>(runs.predicted.size()),
                        rank_correlation(runs.predicted, runs.measured),
                        chosen / *std::max_element(runs.measured.begin(), runs.measured.end())});
  }
  return rankings;
}

}  // namespace sextant
