// SPDX-License-Identifier: Apache-2.0
// What `sextant traffic` says, as text, JSON, CSV and figures.
#pragma once

#include <string>
#include <vector>

#include "cli/traffic_scenario.hpp"
#include "sextant/io/node.hpp"
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
};

std::string traffic_text(const TrafficAnswer& answer);
std::string traffic_json(const TrafficAnswer& answer);
/// One line; with --curve one a rate, with --sweep-ratio one a split.
std::string traffic_csv(const TrafficAnswer& answer);

/// Requests and cache over time; latencies by share of requests; with a curve, latencies by rate.
std::vector<plot::Figure> traffic_figures(const TrafficAnswer& answer);

}  // namespace sextant::cli
