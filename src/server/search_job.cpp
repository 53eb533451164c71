// SPDX-License-Identifier: Apache-2.0
#include "server/search_job.hpp"

#include <chrono>
#include <thread>

#include "server/search_request.hpp"
#include "sextant/answer/search.hpp"
#include "sextant/ask/search.hpp"

namespace sextant::server {
namespace {

/// Nobody who waits for an answer waits longer.
constexpr std::chrono::milliseconds most_at_once{2000};

/// How far the search is, and the best so far with its gap: of searches of training, which prove
/// theirs.
void report(Progress& progress, SearchProgress& search, double points) {
  progress.report(static_cast<double>(search.done), points);
  std::optional<Found> found;
  search.found.with([&](const std::optional<Found>& f) { found = f; });
  if (!found) return;
  progress.report_best(to_json(best_so_far(*found, search.bound), 0));
}

std::string run(const Node& request, Progress& progress) {
  const SearchAsked asked = read_search({.file = "request", .text = {}, .root = {}}, request);
  SearchProgress search;
  std::atomic<double> points = 0;
  // Passes on how far the search is, and a wish to end it.
  const std::jthread watcher([&](const std::stop_token& end) {
    while (!end.stop_requested()) {
      if (progress.cancelled()) search.stop = true;
      report(progress, search, points);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    report(progress, search, points);
  });
  return search_answer(asked.options, asked.common, search, [&](double total) { points = total; })
      .json();
}

}  // namespace

JobRoute search_job() { return {"search", check_search, run}; }

std::string search_at_once(const Document& request) {
  check_search(request);
  Progress progress;
  const std::jthread deadline([&](const std::stop_token& end) {
    const auto last = std::chrono::steady_clock::now() + most_at_once;
    while (!end.stop_requested() && std::chrono::steady_clock::now() < last) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    progress.cancel();
  });
  return run(request.root, progress);
}

}  // namespace sextant::server
