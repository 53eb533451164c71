// SPDX-License-Identifier: Apache-2.0
#include "sextant/ask/search.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "sextant/answer/search.hpp"
#include "sextant/ask/capacity.hpp"
#include "sextant/ask/jobs.hpp"
#include "sextant/ask/systems.hpp"
#include "sextant/ask/training.hpp"
#include "sextant/options/search_space.hpp"
#include "sextant/options/search_systems.hpp"
#include "sextant/search/recipe.hpp"

namespace sextant {
namespace {

/// What each axis that is held would buy, set free alone: the best of a larger space.
std::vector<Loosened> loosen(const SearchOptions& options, const Common& common, const Found& best,
                             SearchProgress& progress) {
  std::vector<Loosened> all;
  for (const Looser& looser : loosened(options)) {
    TrainingSearch asked = read_training_search(looser.wishes, asked_of(options, common));
    asked.aim.top = 1;
    asked.aim.sample = 0;
    asked.aim.front = false;
    const SearchPlan plan = lay_out(asked.scenario.problem, asked.space);
    const SearchResult r = search_all(asked, plan, progress);
    if (r.best.empty()) continue;
    const Found& found = r.best.front();
    all.push_back({.held = looser.held,
                   .summary = name_of_found(asked, found),
                   .gain = std::max(0.0, 1 - found.score / best.score)});
  }
  return all;
}

/// Of strategies that do not fit, the one that takes the least memory.
std::optional<Found> leanest_of(const TrainingSearch& asked, const SearchPlan& plan,
                                SearchProgress& progress) {
  TrainingSearch roomy = asked;
  roomy.aim = {.objective = TrainingObjective::memory,
               .top = 1,
               .threads = asked.aim.threads,
               .sample = 0,
               .front = false};
  for (Variant& v : roomy.variants) v.problem.capacity = Bytes(std::numeric_limits<double>::max());
  SearchResult r = search_all(roomy, plan, progress);
  if (r.best.empty() || r.stopped) return std::nullopt;
  Found& f = r.best.front();
  f.estimate = evaluate(asked.variants[static_cast<std::size_t>(f.variant)].problem, f.strategy);
  return f;
}

Answer train_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                    const Announce& announce) {
  const TrainingSearch asked = read_training_search(options, common);
  TrainingSearchResult a{.asked = asked, .result = {}, .usual = {}};
  const Stopwatch watch;
  const SearchPlan plan = lay_out(asked.scenario.problem, asked.space);
  a.points = plan.points * static_cast<double>(asked.variants.size());
  check_size(a.points, asked);
  announce(a.points);
  const Deadline deadline(asked.time, progress);
  a.result = search_all(asked, plan, progress);
  a.seconds = watch.seconds();
  if (options.loosen && !a.result.best.empty()) {
    a.loosened = loosen(options, common, a.result.best.front(), progress);
  }
  if (a.result.best.empty() && !a.result.stopped) a.leanest = leanest_of(asked, plan, progress);
  const Problem& p = asked.scenario.problem;
  const Precision precision = asked.space.precision.front();
  if (const auto s = usual_recipe(p, asked.space.devices.back(), precision)) {
    const Estimate e = evaluate(p, *s);
    a.usual = Found{.strategy = *s, .estimate = e, .score = score_of(asked.aim.objective, e)};
  }
  return answer_of(a);
}

Answer serve_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                    const Announce& announce) {
  const ServingSearch asked = read_serving_search(options, common);
  const Stopwatch watch;
  announce(static_cast<double>(count_instances(asked.scenario.problem, asked.space)));
  const Deadline deadline(asked.time, progress);
  ServingSearchResult a{
      .asked = asked,
      .result = search_serving(asked.scenario.problem, asked.space, asked.aim, progress)};
  a.seconds = watch.seconds();
  return answer_of(a);
}

}  // namespace

Answer search_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                     const Announce& announce) {
  if (!options.plan.empty()) return plan_answer(options, common, progress, announce);
  check_asked(options, common);
  if (asks_systems(options)) return systems_found(options, common, progress, announce).answer;
  if (!options.traffic.empty()) return capacity_answer(options, common, progress, announce);
  return options.infer ? serve_answer(options, common, progress, announce)
                       : train_answer(options, common, progress, announce);
}

}  // namespace sextant
