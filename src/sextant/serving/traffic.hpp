// SPDX-License-Identifier: Apache-2.0
// Serving under load: requests over time on one or several engines, and what their users see.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sextant/serving/choices.hpp"
#include "sextant/serving/limits.hpp"
#include "sextant/serving/quantiles.hpp"
#include "sextant/serving/replica.hpp"
#include "sextant/serving/timeline.hpp"

namespace sextant {

/// Replicas of one engine.
struct Pool {
  Problem problem;
  Strategy strategy;
  EngineLimits limits;
  int replicas = 1;
  double devices() const { return devices_of(strategy) * replicas; }
};
/// Of an engine as it fits: its passes find weights and cache where it has put them.
inline Pool pool_with(const Problem& problem, const Strategy& strategy, const EngineFit& fit,
                      int replicas) {
  Pool pool{problem, strategy, fit.limits, replicas};
  pool.problem.residence = fit.memory.residence;
  return pool;
}

struct Cluster {
  Pool pool;                   ///< of everything, or of prompts alone
  std::optional<Pool> decode;  ///< disaggregated: engines that get the cache of a prompt
  Router router = Router::round_robin;
  BytesPerSecond link{1e12};  ///< of one engine to the others, for caches
  Seconds transfer_start{0};  ///< of one cache's transfer
  double devices() const { return pool.devices() + (decode ? decode->devices() : 0); }
};

/// The link between the engines of a disaggregated cluster: of the fabric that reaches them all, as
/// many devices' as the smaller engine has.
void connect(Cluster& cluster);

/// What users accept.
struct ServiceLimits {
  Seconds ttft{1e30};
  Seconds tpot{1e30};
};

/// Where the time of a slow request went.
struct SlowRequest {
  Answered answer;
  double queued = 0;  ///< before its prompt was in a step
  double prompt = 0;  ///< until its first token was there
  double moved = 0;   ///< until the engine that makes the others had it and the cache
  double decode = 0;  ///< the rest
  double latency = 0;
};

struct TrafficResult {
  double sent = 0;
  double completed = 0;  ///< that count: before `until`
  Percentiles ttft;
  Percentiles tpot;
  Percentiles gap;  ///< between two tokens
  Percentiles latency;
  double seconds = 0;  ///< from the first arrival to the last answer, or `until`
  double output_tokens = 0;
  double input_tokens = 0;
  double good = 0;          ///< requests within both limits
  double capacity = 0;      ///< requests a second that the cluster can serve, from its step times
  double offered = 0;       ///< requests a second, 0 where they are not timed
  double queue_growth = 0;  ///< requests a second, over the second half of the arrivals
  double prefill_share = 0, decode_share = 0, mixed_share = 0, idle_share = 0;
  double joules = 0;        ///< of all devices and their nodes
  double standing = 0;      ///< of these, what is drawn as long as it lasts, whatever is done
  double most_watts = 0;    ///< of one device in any step, beyond idling
  double mean_present = 0;  ///< requests in the cluster, over its time
  EngineCounts counts;
  double transfer_seconds = 0;       ///< of a cache, mean
  std::vector<SlowRequest> slowest;  ///< the ten longest, longest first
  LoadTimeline timeline;
  Quantiles ttfts, tpots, latencies;
  std::size_t passes = 0;  ///< of the model, that tables asked for
  double output_tokens_per_second() const { return seconds > 0 ? output_tokens / seconds : 0; }
  double requests_per_second() const { return seconds > 0 ? completed / seconds : 0; }
  double goodput() const { return seconds > 0 ? good / seconds : 0; }
  /// Offered load over capacity; in a closed loop what was served over it.
  double saturation() const {
    return capacity > 0 ? (offered > 0 ? offered : requests_per_second()) / capacity : 0;
  }
  /// Served in a second where every step takes so many times as long, over what is served: engines
  /// with time to spare keep up with those who come, others serve as much less.
  double served_if(double slower) const {
    if (offered <= 0) return 1 / slower;
    const double load = saturation();
    return std::min(1.0, 1 / (load * slower)) / std::min(1.0, 1 / load);
  }
};

/// Sees each span of steps as it ends, where one is interested.
using SpanObserver = std::vector<StepSpan>;

/// A cluster with the prices of its steps, which many simulations share. Its addresses are kept:
/// it stays where it is.
class PricedCluster {
 public:
  PricedCluster(Cluster cluster, const TrafficMeans& means);
  PricedCluster(const PricedCluster&) = delete;
  PricedCluster& operator=(const PricedCluster&) = delete;

  Cluster cluster;  ///< replicas and limits may change between simulations
  StepPrice price;
  std::unique_ptr<StepPrice> decode_price;
  /// Requests a second that all of it can serve at most.
  double capacity(const TrafficMeans& means, double hits = 0);
};

/// Throws InputError where a request is longer than a cache can hold, naming it.
TrafficResult simulate(const Cluster& cluster, const Traffic& traffic, const ServiceLimits& limits,
                       SpanObserver* spans = nullptr);
TrafficResult simulate(PricedCluster& cluster, const Traffic& traffic, const ServiceLimits& limits,
                       SpanObserver* spans = nullptr);

/// Requests a second that a pool can serve at most, for requests with these means: the best batch
/// that its memory holds, always full. `hits`: share of prompt tokens found in the prefix cache.
double capacity_of(const Pool& pool, StepPrice& price, const TrafficMeans& means, Role role,
                   double hits = 0);

}  // namespace sextant
