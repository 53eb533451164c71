// SPDX-License-Identifier: Apache-2.0
// What `sextant traffic` says, and its figures.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/report/plot.hpp"
#include "sextant/scenario/scenario.hpp"
#include "sextant/serving/traffic.hpp"

namespace sextant {

/// What was asked: a cluster and the requests that it gets.
struct TrafficScenario {
  Scenario scenario;  ///< of one engine; of a disaggregated cluster, of its prompts
  Cluster cluster;
  ServingMemory memory;  ///< of a device of the first pool; of one that has no room, where it is so
  double memory_fraction = 1;  ///< that its engine takes, or is told to
  bool fits = true;
  const char* tp = "--tp";             ///< the flag of the engines that have no room
  std::shared_ptr<const Trace> trace;  ///< that `traffic` points to
  Traffic traffic;
  ServiceLimits limits;
  std::optional<double> price;  ///< dollars a device and hour
  bool limited = false;         ///< users' limits were given
};

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

/// The largest rate of the curve whose users are served: within the limits, or where none are given
/// within twice the first token's time of an idle engine for half of them. None: not even the
/// first.
const RatePoint* knee_of(const TrafficAnswer& answer);

/// CSV has one line; with --curve one a rate, with --sweep-ratio one a split.
Answer traffic_answer(const TrafficAnswer& answer);

/// Requests and cache over time; latencies by share of requests; with a curve, latencies by rate.
std::vector<plot::Figure> traffic_figures(const TrafficAnswer& answer);

}  // namespace sextant
