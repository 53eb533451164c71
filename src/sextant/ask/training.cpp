// SPDX-License-Identifier: Apache-2.0
#include "sextant/ask/training.hpp"

#include <fmt/format.h>

#include "sextant/spec/diagnostic.hpp"

namespace sextant {
namespace {

using Clock = std::chrono::steady_clock;

/// Strategies that a core passes a second, legal or not; measured 2 to 16 million where each is
/// looked at, 80 to 180 million where bounds tell most of them.
constexpr double usual_rate = 2e6;
constexpr double bounded_rate = 2e7;
constexpr double most_hours = 24;

}  // namespace

void check_size(double points, const TrainingSearch& asked) {
  const int threads = asked.aim.threads;
  const double rate = asked.aim.exhaustive ? usual_rate : bounded_rate;
  const double hours = points / (rate * threads) / 3600;
  if (hours <= most_hours || asked.time.value > 0) return;
  throw InputError(fmt::format("search: the space has {:.2g} strategies, about {:.0f} hours on {} "
                               "threads",
                               points, hours, threads),
                   "narrow it with --fix and --limit, or give it a --time");
}

Deadline::Deadline(Seconds time, SearchProgress& progress) {
  if (time.value <= 0) return;
  const auto last = Clock::now() + std::chrono::duration<double>(time.value);
  thread_ = std::jthread([last, &progress](const std::stop_token& end) {
    while (!end.stop_requested() && Clock::now() < last) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (!end.stop_requested()) progress.stop = true;
  });
}

SearchResult search_all(const TrainingSearch& asked, const SearchPlan& plan,
                        SearchProgress& progress) {
  SearchResult all;
  for (std::size_t i = 0; i < asked.variants.size(); ++i) {
    SearchResult r = search(asked.variants[i].problem, asked.space, plan, asked.aim, progress);
    for (std::vector<Found>* list : {&r.best, &r.pareto, &r.sample}) {
      for (Found& f : *list) f.variant = static_cast<int>(i);
    }
    merge(all, r, asked.aim.top);
  }
  return all;
}

}  // namespace sextant
