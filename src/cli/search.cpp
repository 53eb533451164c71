// SPDX-License-Identifier: Apache-2.0
// `sextant search`: the best strategies, the Pareto front, and why the rest fail.
#include "cli/search.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "cli/commands.hpp"
#include "cli/figure.hpp"
#include "cli/interruption.hpp"
#include "cli/search_capacity.hpp"
#include "cli/search_space.hpp"
#include "cli/terminal.hpp"
#include "sextant/answer/search.hpp"
#include "sextant/search/recipe.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Strategies that a core passes a second, legal or not; measured 2 to 16 million.
constexpr double usual_rate = 2e6;
constexpr double most_hours = 24;

void check_size(double points, int threads) {
  const double hours = points / (usual_rate * threads) / 3600;
  if (hours <= most_hours) return;
  throw InputError(fmt::format("search: the space has {:.2g} strategies, about {:.0f} hours on {} "
                               "threads",
                               points, hours, threads),
                   "narrow it with --fix and --limit");
}

Answer train_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                    const Announce& announce) {
  const TrainingSearch asked = read_training_search(options, common);
  TrainingSearchResult a{.asked = asked, .result = {}, .usual = {}};
  const auto start = Clock::now();
  const SearchPlan plan = lay_out(asked.scenario.problem, asked.space);
  a.points = plan.points * static_cast<double>(asked.variants.size());
  check_size(a.points, asked.aim.threads);
  announce(a.points);
  for (std::size_t i = 0; i < asked.variants.size(); ++i) {
    SearchResult r = search(asked.variants[i].problem, asked.space, plan, asked.aim, progress);
    for (std::vector<Found>* list : {&r.best, &r.pareto, &r.sample}) {
      for (Found& f : *list) f.variant = static_cast<int>(i);
    }
    merge(a.result, r, asked.aim.top);
  }
  a.seconds = seconds_since(start);
  const Problem& p = asked.scenario.problem;
  const Precision precision = asked.space.precision.front();
  if (const auto s = usual_recipe(p, asked.space.devices.back(), precision)) {
    const Estimate e = evaluate(p, *s);
    a.usual = Found{.strategy = *s, .estimate = e, .score = score_of(asked.aim.objective, e)};
  }
  return with_figure(answer_of(a), options.plot);
}

Answer serve_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                    const Announce& announce) {
  const ServingSearch asked = read_serving_search(options, common);
  const auto start = Clock::now();
  announce(static_cast<double>(count_instances(asked.scenario.problem, asked.space)));
  ServingSearchResult a{
      .asked = asked,
      .result = search_serving(asked.scenario.problem, asked.space, asked.aim, progress)};
  a.seconds = seconds_since(start);
  return with_figure(answer_of(a), options.plot);
}

/// Draws how far a search is, and passes Ctrl-C on to it.
class Watcher {
 public:
  explicit Watcher(SearchProgress& progress) : progress_(progress) {}

  void start(double points) {
    thread_ = std::jthread([this, points](const std::stop_token& end) {
      Progress line("search", static_cast<std::int64_t>(points));
      while (!end.stop_requested()) {
        if (Interruption::asked()) progress_.stop = true;
        line.set(static_cast<std::int64_t>(progress_.done));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }

 private:
  SearchProgress& progress_;
  const Interruption catching_;
  std::jthread thread_;  // the last: it ends before what it uses
};

}  // namespace

Answer search_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                     const Announce& announce) {
  if (!options.traffic.empty()) return capacity_answer(options, common, progress, announce);
  return options.infer ? serve_answer(options, common, progress, announce)
                       : train_answer(options, common, progress, announce);
}

Answer run_search(const SearchOptions& options, const Common& common) {
  check_figure_path(options.plot);
  SearchProgress progress;
  Watcher watcher(progress);
  return search_answer(options, common, progress, [&](double points) { watcher.start(points); });
}

}  // namespace sextant::cli
