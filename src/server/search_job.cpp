// SPDX-License-Identifier: Apache-2.0
#include "server/search_job.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/request.hpp"
#include "cli/search.hpp"
#include "cli/search_space.hpp"

namespace sextant::server {
namespace {

/// Nobody who waits for an answer waits longer.
constexpr std::chrono::milliseconds most_at_once{2000};

struct Asked {
  cli::SearchOptions options;
  cli::Common common;
};

Asked read(const Document& document, const Node& request) {
  Asked asked;
  std::vector<Diagnostic> problems;
  std::vector<cli::Option> options = cli::options_of(asked.options);
  for (cli::Option& o : cli::options_of(asked.common)) {
    if (o.name != "output") options.push_back(std::move(o));
  }
  cli::read_request(document, request, options, problems, {.asker = cli::Asker::network});
  throw_if_any(std::move(problems));
  asked.common.format = cli::Format::json;
  asked.common.lookup = Lookup::presets;
  // A core stays free for those who ask meanwhile.
  asked.options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
  return asked;
}

void check(const Document& document) {
  const Asked asked = read(document, document.root);
  // Only what is read: laying the space out may take long, and is the job's. Plans of capacity are
  // read with their requests, at once.
  if (!asked.options.traffic.empty()) return;
  if (asked.options.infer) {
    cli::read_serving_search(asked.options, asked.common);
  } else {
    cli::read_training_search(asked.options, asked.common);
  }
}

std::string run(const Node& request, Progress& progress) {
  const Asked asked = read({.file = "request", .text = {}, .root = {}}, request);
  SearchProgress search;
  std::atomic<double> points = 0;
  // Passes on how far the search is, and a wish to end it.
  const std::jthread watcher([&](const std::stop_token& end) {
    while (!end.stop_requested()) {
      if (progress.cancelled()) search.stop = true;
      progress.report(static_cast<double>(search.done), points);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    progress.report(static_cast<double>(search.done), points);
  });
  return cli::search_answer(asked.options, asked.common, search,
                            [&](double total) { points = total; })
      .json();
}

}  // namespace

JobRoute search_job() { return {"search", check, run}; }

std::string search_at_once(const Document& request) {
  check(request);
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
