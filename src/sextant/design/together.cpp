// SPDX-License-Identifier: Apache-2.0
#include "sextant/design/together.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "sextant/search/parallel.hpp"
#include "sextant/search/serving.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant::design {
namespace {

constexpr int most_rounds = 6;
constexpr std::size_t pool = 3;  // strategies that a split is made for
constexpr double same = 1e-4;    // less than this is no gain

struct Strategies {
  std::vector<Strategy> best;  ///< by worth
  double looked_at = 0;
};

void fix(Choices& choices, const std::optional<int>& value) {
  if (value) choices.only = {*value};
}

/// Those that may be best by any goal; which one is, worth() says.
Strategies training_strategies(const Problem& p, const StrategyFreedom& free, Goal goal,
                               int threads) {
  SearchSpace space;
  space.devices = {free.devices};
  space.precision = {free.precision};
  keep_schedules(space, p.runtime);
  fix(space.tp, free.tp);
  fix(space.pp, free.pp);
  SearchAim aim;
  aim.top = 10;
  aim.sample = 0;
  aim.front = false;
  aim.threads = threads;
  Strategies all;
  const SearchPlan plan = lay_out(p, space);
  for (const TrainingObjective o : {TrainingObjective::step_time, TrainingObjective::energy}) {
    // Time alone is time alone; a token's cost is time and energy.
    if (o == TrainingObjective::energy && goal == Goal::time) continue;
    aim.objective = o;
    SearchProgress progress;
    const SearchResult found = search(p, space, plan, aim, progress);
    for (const Found& f : found.best) all.best.push_back(f.strategy);
    all.looked_at = static_cast<double>(found.evaluated) + found.skipped;
  }
  return all;
}

Strategies serving_strategies(const Problem& p, const StrategyFreedom& free, int threads) {
  ServingSpace space;
  space.devices = free.devices;
  space.batch.only = {p.serving.batch};
  space.precision = {free.precision};
  space.cache = {p.serving.cache};
  fix(space.tp, free.tp);
  fix(space.pp, free.pp);
  ServingAim aim;
  aim.threads = threads;
  Strategies all;
  for (const ServingObjective o : {ServingObjective::latency, ServingObjective::throughput}) {
    aim.objective = o;
    SearchProgress progress;
    const ServingResult found = search_serving(p, space, aim, progress);
    for (const ServingFound& f : found.best) all.best.push_back(f.strategy);
    all.looked_at = static_cast<double>(found.evaluated);
  }
  return all;
}

/// A technology and a network, with what is free in them.
class Combination {
 public:
  Combination(const Workload& w, const Technology& t, const LinkPart& network, const Budget& budget,
              const AllocationSpace& space, const StrategyFreedom& freedom)
      : w_(w), t_(t), budget_(budget), space_(space), free_(freedom) {
    w_.around.network = network;
  }

  std::optional<Together> run(int threads) {
    threads_ = threads;
    std::optional<Blueprint> device = try_generate(t_, budget_);
    if (!device) return std::nullopt;
    const Blueprint usual = *device;
    Together best;
    best.split.allocation.value = infinite;
    std::vector<Strategy> known;
    for (best.rounds = 0; best.rounds < most_rounds; ++best.rounds) {
      Strategies found = strategies_on(*device);
      best.strategies = found.looked_at;
      if (found.best.empty()) break;
      const Strategy first = found.best.front();
      const double here = mean_worth(first, *device);
      // The best here is no better than what this device was split for: done.
      if (here >= best.split.allocation.value * (1 - same)) {
        best.settled = true;
        break;
      }
      found.best.resize(std::min(pool, found.best.size()));
      found.best.insert(found.best.end(), known.begin(), known.end());
      Allocation a = allocate(
          t_, budget_, [&](const Blueprint& d) { return least_worth(found.best, d).second; },
          space_);
      // Where no split is better for it, the device stays and the strategy is another.
      const bool other = a.value < best.split.allocation.value && !(here < a.value);
      if (other || !std::isfinite(best.split.allocation.value)) {
        best.split.allocation = std::move(a);
      } else {
        best.split.allocation.value = here;
      }
      const Blueprint& made = best.split.allocation.blueprint;
      best.strategy = least_worth(found.best, made).first;
      known = {best.strategy};
      device = made;
    }
    if (!std::isfinite(best.split.allocation.value)) return std::nullopt;
    best.split.objective = objective_text(w_);
    best.split.unit = objective_unit(w_.goal);
    best.split.usual = mean_worth(w_.strategy, usual);
    best.exact = w_.goal == Goal::time;
    return best;
  }

 private:
  Workload with(const Strategy& s) const {
    Workload w = w_;
    w.strategy = s;
    return w;
  }
  double mean_worth(const Strategy& s, const Blueprint& d) const {
    const Workload w = with(s);
    return objective_of(w, t_)(d);
  }
  std::pair<Strategy, double> least_worth(const std::vector<Strategy>& all,
                                          const Blueprint& d) const {
    std::pair<Strategy, double> best{all.front(), infinite};
    for (const Strategy& s : all) {
      const double v = mean_worth(s, d);
      if (v < best.second) best = {s, v};
    }
    return best;
  }

  Strategies strategies_on(const Blueprint& d) const {
    const Problem p = problem_on(w_, t_, d);
    Strategies all = w_.trains ? training_strategies(p, free_, w_.goal, threads_)
                               : serving_strategies(p, free_, threads_);
    std::vector<std::pair<double, Strategy>> ranked;
    for (const Strategy& s : all.best) ranked.emplace_back(worth(with(s), t_, d), s);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    all.best.clear();
    for (const auto& [value, s] : ranked) {
      if (std::isfinite(value)) all.best.push_back(s);
    }
    return all;
  }

  Workload w_;
  const Technology& t_;
  const Budget& budget_;
  AllocationSpace space_;
  StrategyFreedom free_;
  int threads_ = 1;
};

}  // namespace

Together best_together(const Workload& w, const std::vector<Technology>& technologies,
                       const std::vector<LinkPart>& networks, const Budget& budget,
                       const AllocationSpace& space, const StrategyFreedom& freedom) {
  std::vector<std::optional<Together>> all(technologies.size() * networks.size());
  // One search is shared by all threads, several are handed out to them.
  const int threads = threads_or_all(0);
  const int each = all.size() > 1 ? 1 : threads;
  const std::atomic<bool> stop{false};
  for_each_unit(threads, all.size(), stop, [&](int, std::size_t i) {
    const std::size_t t = i / networks.size();
    const std::size_t n = i % networks.size();
    Combination one(w, technologies[t], networks[n], budget, space, freedom);
    all[i] = one.run(each);
    if (!all[i]) return;
    all[i]->technology = t;
    all[i]->network = n;
  });
  std::optional<Together> best;
  for (std::optional<Together>& one : all) {
    if (!one || (best && one->split.allocation.value >= best->split.allocation.value)) continue;
    best = std::move(one);
  }
  if (!best) {
    throw InputError("--strategy best: no strategy on any split of this area runs the workload",
                     "give it more devices (--gpus), or a larger batch");
  }
  best->combinations = static_cast<int>(all.size());
  return *std::move(best);
}

}  // namespace sextant::design
