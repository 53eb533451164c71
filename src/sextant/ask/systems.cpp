// SPDX-License-Identifier: Apache-2.0
#include "sextant/ask/systems.hpp"

#include <optional>
#include <string>

#include "sextant/answer/search_systems.hpp"
#include "sextant/ask/training.hpp"
#include "sextant/options/search_systems.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {
namespace {

using TrainingAsked = SystemAsked<TrainingSearch>;

/// Where more devices are better by what is sought, fewer are looked at beside them: past some
/// number more may be slower. Otherwise the budget is to be spent, and fewer stand in where the
/// many find nothing.
bool more_is_better(TrainingObjective o) {
  return o == TrainingObjective::throughput || o == TrainingObjective::step_time;
}

/// Counts to search at once, one list after another until something fits.
std::vector<std::vector<int>> lists_of(const TrainingAsked& asked, BudgetKind kind) {
  const auto& [near, fewer] = asked.counts;
  std::vector<int> all = fewer;
  all.insert(all.end(), near.begin(), near.end());
  if (all.empty()) return {};
  const bool run = kind == BudgetKind::dollars;
  if (run || more_is_better(asked.search.aim.objective)) return {all};
  std::vector<std::vector<int>> lists;
  if (!near.empty()) lists.push_back(near);
  const std::vector<int> most_first(fewer.rbegin(), fewer.rend());
  for (const int n : most_first) lists.push_back({n});
  return lists;
}

/// The best of those whose whole run can be paid.
std::optional<Found> affordable(const TrainingAsked& asked, const SystemsAsked<TrainingSearch>& all,
                                const SearchResult& r) {
  std::optional<Found> best;
  for (const std::vector<Found>* list : {&r.best, &r.pareto}) {
    for (const Found& f : *list) {
      const Problem& p = asked.search.variants[static_cast<std::size_t>(f.variant)].problem;
      const double dollars = run_dollars(all.run, asked.search.scenario.system,
                                         asked.price.value_or(0), p, f.estimate);
      if (dollars <= all.budget.amount && (!best || f.score < best->score)) best = f;
    }
  }
  return best;
}

/// Nothing, and why, where what is fixed leaves nothing on these devices: others may have it.
std::optional<SearchPlan> plan_of(const TrainingSearch& s, std::string& refused) {
  try {
    return lay_out(s.scenario.problem, s.space);
  } catch (const InputError& e) {
    refused = e.diagnostics().front().message;
    return std::nullopt;
  }
}

/// One of several searches: of the time that there is each has its share.
template <class Search, class Run>
auto in_time(const Search& search, std::size_t searches, SearchProgress& progress, const Run& run) {
  const Seconds time = search.time / static_cast<double>(searches);
  auto result = [&] {
    const Deadline deadline(time, progress);
    return run();
  }();
  // Whoever wants all of it to end says so again.
  if (time.value > 0) progress.stop = false;
  return result;
}

class TrainingSystems {
 public:
  TrainingSystems(SystemsAsked<TrainingSearch> asked, SearchProgress& progress)
      : asked_(std::move(asked)), progress_(progress) {
    for (TrainingAsked& s : asked_.systems) {
      SearchAim& aim = s.search.aim;
      aim.top = 1;
      aim.sample = 0;
      // Money of a run is a matter of time and devices: the front has all that may be best.
      aim.front = asked_.budget.kind == BudgetKind::dollars;
      lists_.push_back(lists_of(s, asked_.budget.kind));
    }
  }

  SystemsFound run(const Announce& announce) {
    const Stopwatch watch;
    announce(points());
    TrainedSystems all{.asked = asked_};
    for (std::size_t i = 0; i < asked_.systems.size(); ++i) {
      all.systems.push_back({.asked = asked_.systems[i]});
      search(i, all.systems.back());
    }
    all.seconds = watch.seconds();
    return found_of(all);
  }

 private:
  /// Of the first lists: others are searched where these hold nothing.
  double points() {
    double sum = 0;
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      if (lists_[i].empty()) continue;
      TrainingSearch& s = asked_.systems[i].search;
      s.space.devices = lists_[i].front();
      std::string refused;
      const std::optional<SearchPlan> plan = plan_of(s, refused);
      if (!plan) continue;
      check_size(plan->points, s);
      sum += plan->points * static_cast<double>(s.variants.size());
    }
    return sum;
  }

  void search(std::size_t i, TrainedSystem& found) {
    TrainingSearch& s = asked_.systems[i].search;
    for (const std::vector<int>& devices : lists_[i]) {
      s.space.devices = devices;
      const std::optional<SearchPlan> plan = plan_of(s, found.refused);
      if (!plan) continue;
      found.points += plan->points;
      progress_.start_again();
      found.result = in_time(s, asked_.systems.size(), progress_,
                             [&] { return search_all(s, *plan, progress_); });
      choose(asked_.systems[i], found);
      if (found.best) return;
    }
  }

  void choose(const TrainingAsked& asked, TrainedSystem& found) const {
    const SearchResult& r = found.result;
    if (asked_.budget.kind == BudgetKind::dollars) {
      found.best = affordable(asked, asked_, r);
    } else if (!r.best.empty()) {
      found.best = r.best.front();
    }
  }

  SystemsAsked<TrainingSearch> asked_;
  SearchProgress& progress_;
  std::vector<std::vector<std::vector<int>>> lists_;  ///< a system's
};

SystemsFound serve(SystemsAsked<ServingSearch> asked, SearchProgress& progress,
                   const Announce& announce) {
  const Stopwatch watch;
  double instances = 0;
  for (SystemAsked<ServingSearch>& s : asked.systems) {
    s.search.space.devices = s.most;
    s.search.aim.top = 1;
    if (s.most < 1) continue;
    instances += static_cast<double>(count_instances(s.search.scenario.problem, s.search.space));
  }
  announce(instances);
  ServedSystems all{.asked = asked};
  for (const SystemAsked<ServingSearch>& s : asked.systems) {
    all.systems.push_back({.asked = s});
    if (s.most < 1) continue;
    all.systems.back().result = in_time(s.search, asked.systems.size(), progress, [&] {
      return search_serving(s.search.scenario.problem, s.search.space, s.search.aim, progress);
    });
  }
  all.seconds = watch.seconds();
  return found_of(all);
}

SystemsFound plan(SystemsAsked<CapacitySearch> asked, SearchProgress& progress,
                  const Announce& announce) {
  const Stopwatch watch;
  announce(0);
  PlannedSystems all{.asked = asked};
  for (SystemAsked<CapacitySearch>& s : asked.systems) {
    s.search.space.devices = s.most;
    s.search.aim.top = 1;
    all.systems.push_back({.asked = s});
    if (s.most < 1) continue;
    all.systems.back().result = in_time(s.search, asked.systems.size(), progress, [&] {
      return plan_capacity(s.search.scenario.problem, s.search.space, s.search.aim, progress);
    });
  }
  all.seconds = watch.seconds();
  return found_of(all);
}

}  // namespace

SystemsFound systems_found(const SearchOptions& options, const Common& common,
                           SearchProgress& progress, const Announce& announce) {
  if (!options.traffic.empty()) {
    return plan(read_capacity_systems(options, common), progress, announce);
  }
  if (options.infer) return serve(read_serving_systems(options, common), progress, announce);
  return TrainingSystems(read_training_systems(options, common), progress).run(announce);
}

}  // namespace sextant
