// SPDX-License-Identifier: Apache-2.0
// What `sextant traffic` says, and its figures.
#pragma once

#include <vector>

#include "cli/traffic_scenario.hpp"
#include "sextant/answer/answer.hpp"
#include "sextant/report/plot.hpp"

namespace sextant::cli {

/// The same traffic at one rate.
struct RatePoint {
  double rate = 0;
  TrafficResult result;
};

/// One way to split workers between prompts and tokens.
struct SplitPoint {
  int prefill = 1;
  int decode = 1;
  TrafficResult result;
};

struct TrafficAnswer {
  const TrafficScenario& asked;
  TrafficResult result;
  std::vector<RatePoint> curve;    ///< with --curve, by rate
  std::vector<SplitPoint> splits;  ///< with --sweep-ratio, by prefill workers
  double wall_seconds = 0;
  bool series = false;  ///< with --series
};

/// CSV has one line; with --curve one a rate, with --sweep-ratio one a split.
Answer answer_of(const TrafficAnswer& answer);

/// Requests and cache over time; latencies by share of requests; with a curve, latencies by rate.
std::vector<plot::Figure> traffic_figures(const TrafficAnswer& answer);

}  // namespace sextant::cli
