// SPDX-License-Identifier: Apache-2.0
// The best ways to serve: how an instance of the model is spread over devices, how many requests it
// takes at a time, and how many instances there are, within limits that users feel.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "sextant/predict/infer.hpp"
#include "sextant/search/search.hpp"

namespace sextant {

enum class ServingObjective : std::uint8_t {
  throughput,  ///< tokens a second and device
  latency,     ///< of a request
  devices,     ///< the fewest that meet the limits
};
constexpr auto names_of(ServingObjective) {
  return std::array<std::string_view, 3>{"throughput", "latency", "gpus"};
}

/// An axis without given values takes: tp, pp, dp: divisors of the devices; ep: divisors of tp x
/// dp; batch: powers of two up to what memory holds, that, the most within the limits, and
/// of the best instances those between.
struct ServingSpace {
  int devices = 1;       ///< all of them are used, by as many instances as there is room for
  bool at_most = false;  ///< or fewer
  Choices tp, pp, dp, ep, batch;
  std::vector<Precision> precision{Precision::bf16};
  std::vector<Precision> cache;  ///< empty: as the engine has it beside such weights
};

template <class V>
void describe(V& v, ServingSpace& s) {
  v("tp", s.tp);
  v("pp", s.pp);
  v("dp", s.dp);
  v("ep", s.ep);
  v("precision", s.precision);
  v("batch", s.batch);
  v("kv_precision", s.cache);
}

struct ServingAim {
  ServingObjective objective = ServingObjective::throughput;
  Seconds ttft{std::numeric_limits<double>::infinity()};  ///< at most
  Seconds tpot{std::numeric_limits<double>::infinity()};  ///< at most
  double tokens_per_second = 0;                           ///< of all instances, at least
  int top = 10;
  int threads = 1;
};

struct ServingFound {
  Strategy strategy;  ///< of one instance
  Serving serving;    ///< its batch and cache
  ServingEstimate estimate;
  double instances = 1;
  double devices() const { return instances * estimate.devices; }
  double tokens_per_second() const { return instances * estimate.tokens_per_second; }
  double score = 0;  ///< the smaller the better; ties by throughput a device
  std::uint64_t order = 0;
};

struct ServingResult {
  std::uint64_t evaluated = 0;
  std::uint64_t feasible = 0;
  Table<std::uint64_t, Verdict> rejected;
  std::uint64_t slow_first_token = 0;  ///< fit, but miss the limit
  std::uint64_t slow_tokens = 0;
  std::uint64_t too_few_tokens = 0;
  std::vector<ServingFound> best;
  std::vector<ServingFound> pareto;  ///< of time a token and throughput a device
  /// Where nothing serves: of those that fit the one that misses the limits by the smallest factor;
  /// where none fits, the one that takes the least of its memory. Its score is that factor.
  std::optional<ServingFound> nearest;
  bool stopped = false;
};

/// `problem` holds the requests; its batch and cache are those of the space. The same result for
/// any number of threads.
ServingResult search_serving(const Problem& problem, const ServingSpace& space,
                             const ServingAim& aim, SearchProgress& progress);

/// Instances that the space has, before their batch sizes.
std::size_t count_instances(const Problem& problem, const ServingSpace& space);

}  // namespace sextant
