// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sextant/predict/rules.hpp"
#include "sextant/scenario/derive.hpp"
#include "sextant/search/parallel.hpp"

namespace sextant {
namespace {

/// One way to build an engine, or a pair of them.
struct Layout {
  Strategy strategy;
  Precision cache = Precision::bf16;
  int max_requests = 0;
  bool split = false;
};

/// Engines to which all requests are dealt out evenly serve more within the limits than one that
/// gets its share of them at random, and is simulated with fewer: at most so much.
constexpr double hoped = 1.2;

/// How sharp the 99th percentile of a sample is: what all requests may be over the limits.
constexpr double sharpness = 1.02;

std::vector<int> powers(int most) {
  std::vector<int> all;
  for (int n = 1; n <= most; n *= 2) all.push_back(n);
  return all;
}

std::vector<Layout> layouts_of(const Problem& p, const CapacitySpace& space) {
  const bool experts = p.model.experts.count > 0;
  const auto given = [](const std::vector<int>& list, const std::vector<int>& otherwise) {
    return list.empty() ? otherwise : list;
  };
  std::vector<Layout> all;
  const auto add = [&](const Strategy& s) {
    const std::vector<Precision> usual{usual_cache(p.model, p.runtime, s.precision)};
    for (const Precision cache : space.cache.empty() ? usual : space.cache) {
      for (const int most : space.max_requests) {
        all.push_back({s, cache, most, false});
        if (space.disaggregated) all.push_back({s, cache, most, true});
      }
    }
  };
  const std::vector<Precision> precisions =
      space.precision.empty() ? std::vector{p.model.stored} : space.precision;
  for (const int tp : given(space.tp, powers(space.devices))) {
    for (const int pp : given(space.pp, powers(space.devices / tp))) {
      const int rest = space.devices / std::max(1, tp * pp);
      for (const int dp : given(space.dp, experts ? powers(rest) : std::vector<int>{1})) {
        for (const int ep : given(space.ep, experts ? powers(tp * dp) : std::vector<int>{1})) {
          for (const Precision precision : precisions) {
            add({.tp = tp, .pp = pp, .dp = dp, .ep = ep, .precision = precision});
          }
        }
      }
    }
  }
  return all;
}

class Planner {
 public:
  Planner(const Problem& p, const CapacitySpace& space, const CapacityAim& aim)
      : p_(p), space_(space), aim_(aim), means_(means_of(aim.traffic)) {}

  void run(const Layout& layout, std::uint64_t order) {
    ++result.evaluated;
    const Shortfall why = attempt(layout, order);
    if (why != Shortfall::count) ++result.rejected[why];
  }

  void add(const Planner& other) {
    result.evaluated += other.result.evaluated;
    result.simulations += other.result.simulations;
    for (std::size_t i = 0; i < result.rejected.size; ++i) {
      result.rejected.values[i] += other.result.rejected.values[i];
    }
    result.best.insert(result.best.end(), other.result.best.begin(), other.result.best.end());
  }

  CapacityResult take() {
    std::vector<CapacityFound> waiting = std::exchange(result.best, {});
    std::sort(waiting.begin(), waiting.end(), before);
    result.feasible = waiting.size();
    for (const CapacityFound& f : waiting) {
      if (result.pareto.empty() || f.most > result.pareto.back().most) result.pareto.push_back(f);
    }
    while (!waiting.empty() && result.best.size() < static_cast<std::size_t>(aim_.top)) {
      CapacityFound f = std::move(waiting.front());
      waiting.erase(waiting.begin());
      if (holds_all(f)) {
        result.best.push_back(std::move(f));
      } else if (grow(f)) {
        waiting.insert(std::upper_bound(waiting.begin(), waiting.end(), f, before), f);
      } else {
        ++result.rejected[Shortfall::load];
        --result.feasible;
      }
    }
    std::erase_if(result.pareto, [&](CapacityFound& f) { return !holds_all(f); });
    for (auto* list : {&result.best, &result.pareto}) std::sort(list->begin(), list->end(), before);
    double most = 0;
    std::erase_if(result.pareto, [&](const CapacityFound& f) {
      return f.most <= std::exchange(most, std::max(most, f.most));
    });
    return std::move(result);
  }

  CapacityResult result;

 private:
  static bool before(const CapacityFound& a, const CapacityFound& b) {
    if (a.devices != b.devices) return a.devices < b.devices;
    if (a.most != b.most) return a.most > b.most;
    return a.order < b.order;
  }

  /// One more unit of it, where there is room.
  bool grow(CapacityFound& f) const {
    const double unit = f.devices / f.units;
    if (f.devices + unit > space_.devices) return false;
    if (f.decode_replicas > 0 && f.devices + unit > p_.max_devices) return false;
    f.replicas += f.replicas / f.units;
    f.decode_replicas += f.decode_replicas / f.units;
    f.most += f.most / f.units;
    f.devices += unit;
    ++f.units;
    return true;
  }

  bool within(const TrafficResult& r, double slack = 1) const {
    return r.ttft.p99 <= slack * aim_.limits.ttft.value &&
           r.tpot.p99 <= slack * aim_.limits.tpot.value;
  }

  /// All engines with all requests, as `traffic` has them: a unit alone, as it is sized, gets its
  /// share of them at random, and fewer of them, where a router deals all of them out evenly.
  bool holds_all(CapacityFound& f) {
    PricedCluster c(cluster_of(f), means_);
    Traffic t = aim_.traffic;
    t.requests = std::min(t.requests, 10000.0);  // of a long trace its beginning
    ++result.simulations;
    f.result = simulate(c, t, aim_.limits);
    if (!within(f.result, sharpness)) return false;
    f.most = most_of(c);
    return true;
  }

  /// Requests a second that all of it serves within the limits, at least those asked for.
  double most_of(PricedCluster& c) {
    Traffic t = aim_.traffic;
    t.requests = std::min(t.requests, 2000.0);
    double low = t.rate;
    double high = std::max(low, c.capacity(means_));
    while (high / low > 1.04) {
      t.rate = (low + high) / 2;
      ++result.simulations;
      (within(simulate(c, t, aim_.limits), sharpness) ? low : high) = t.rate;
    }
    return low;
  }

  Cluster cluster_of(const CapacityFound& f) {
    p_.serving.cache = f.cache;
    const EngineChoices choices{.max_requests = f.max_requests};
    const auto pool = [&](const Strategy& s, int replicas) {
      return pool_with(p_, s, fit_engine(p_, s, choices, means_), replicas);
    };
    Cluster c;
    c.pool = pool(f.strategy, f.replicas);
    if (f.decode_replicas > 0) c.decode = pool(f.decode, f.decode_replicas);
    connect(c);
    return c;
  }

  /// count: it serves, and is among those found.
  Shortfall attempt(const Layout& layout, std::uint64_t order) {
    const Strategy& s = layout.strategy;
    p_.serving.cache = layout.cache;
    if (legal_serving(p_, s) != Verdict::fits) return Shortfall::illegal;
    EngineChoices choices;
    if (layout.max_requests > 0) choices.max_requests = layout.max_requests;
    const EngineFit fit = fit_engine(p_, s, choices, means_);
    if (!fit.fits ||
        fit.limits.cache_tokens - fit.limits.state_tokens < means_.input + means_.output) {
      return Shortfall::no_memory;
    }
    Cluster c;
    c.pool = pool_with(p_, s, fit, 1);
    if (layout.split) c.decode = c.pool;
    PricedCluster cluster(std::move(c), means_);
    if (const Shortfall why = alone(cluster); why != Shortfall::count) return why;
    if (layout.split) balance(cluster);
    connect(cluster.cluster);
    return scale(cluster, layout, order);
  }

  /// The bounds first: what one request on an idle engine takes.
  Shortfall alone(PricedCluster& c) const {
    const double budget = c.cluster.pool.limits.token_budget;
    const double piece = std::min(budget, means_.input);
    const StepShape prompt{.prompt_tokens = piece, .reach = piece * piece / 2, .prompts = 1};
    const double prompts = std::ceil(means_.input / piece) * c.price.step(prompt).seconds;
    if (prompts > aim_.limits.ttft.value) return Shortfall::first_token;
    const StepShape token{.decoding = 1, .contexts = means_.context, .mean_decoding = 1};
    if (c.price.step(token).seconds > aim_.limits.tpot.value) return Shortfall::token;
    return Shortfall::count;
  }

  /// As many engines for prompts as those for tokens need, in small numbers.
  void balance(PricedCluster& c) const {
    const double prompts = capacity_of(c.cluster.pool, c.price, means_, Role::prefill);
    const double tokens = capacity_of(*c.cluster.decode, *c.decode_price, means_, Role::decode);
    const double ratio = tokens / prompts;  // engines for prompts to one for tokens
    double best = 1e30;
    for (int prefill = 1; prefill <= 4; ++prefill) {
      const int decode = std::clamp(static_cast<int>(std::round(prefill / ratio)), 1, 8);
      const double miss = std::abs(std::log(prefill / ratio / decode));
      if (miss >= best - 0.05) continue;
      best = miss;
      c.cluster.pool.replicas = prefill;
      c.cluster.decode->replicas = decode;
    }
  }

  bool holds(PricedCluster& c, double rate, TrafficResult& r) {
    Traffic t = aim_.traffic;
    t.rate = rate;
    t.requests = std::min(t.requests, 1500.0);  // 15 beyond the 99th percentile
    ++result.simulations;
    r = simulate(c, t, aim_.limits);
    return within(r);
  }

  /// The most that one unit serves within the limits, and how many units the rate takes.
  Shortfall scale(PricedCluster& c, const Layout& layout, std::uint64_t order) {
    const double bound = c.capacity(means_);
    const double unit = c.cluster.devices();
    const double rate = aim_.traffic.rate;
    if (std::ceil(rate / bound) * unit > space_.devices) return Shortfall::devices;
    TrafficResult r;
    double low = 0;
    double high = std::min(bound, rate);
    if (holds(c, high, r)) {  // what it holds beyond the rate is its headroom
      low = high;
      high = bound;
    }
    for (int i = 0; i < 6 && high / std::max(low, 1e-9) > 1.04; ++i) {
      const double middle = (low + high) / 2;
      (holds(c, middle, r) ? low : high) = middle;
    }
    if (low <= 0) return Shortfall::load;
    const double units = std::ceil(rate / std::min(bound, hoped * low));
    if (units * unit > space_.devices) return Shortfall::devices;
    if (c.cluster.decode && units * unit > p_.max_devices) return Shortfall::illegal;
    CapacityFound f;
    f.strategy = layout.strategy;
    f.replicas = static_cast<int>(units) * c.cluster.pool.replicas;
    if (c.cluster.decode) {
      f.decode = layout.strategy;
      f.decode_replicas = static_cast<int>(units) * c.cluster.decode->replicas;
    }
    f.cache = layout.cache;
    f.max_requests = c.cluster.pool.limits.max_requests;
    f.units = static_cast<int>(units);
    f.devices = units * unit;
    f.most = units * low;
    f.order = order;
    result.best.push_back(std::move(f));
    return Shortfall::count;
  }

  Problem p_;  // its own: the cache changes
  const CapacitySpace& space_;
  const CapacityAim& aim_;
  const TrafficMeans means_;
};

}  // namespace

std::size_t count_layouts(const Problem& problem, const CapacitySpace& space) {
  return layouts_of(problem, space).size();
}

CapacityResult plan_capacity(const Problem& problem, const CapacitySpace& space,
                             const CapacityAim& aim, SearchProgress& progress) {
  const std::vector<Layout> layouts = layouts_of(problem, space);
  const int threads = std::max(1, aim.threads);
  std::vector<Planner> planners;
  planners.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) planners.emplace_back(problem, space, aim);
  for_each_unit(threads, layouts.size(), progress.stop, [&](int thread, std::size_t i) {
    planners[static_cast<std::size_t>(thread)].run(layouts[i], i);
    ++progress.done;
  });
  for (std::size_t i = 1; i < planners.size(); ++i) planners[0].add(planners[i]);
  CapacityResult result = planners[0].take();
  result.stopped = progress.stop;
  return result;
}

}  // namespace sextant
