// SPDX-License-Identifier: Apache-2.0
#include "server/search_request.hpp"

#include <algorithm>
#include <thread>

#include "sextant/options/request.hpp"
#include "sextant/options/scenario.hpp"
#include "sextant/options/search_plan.hpp"
#include "sextant/options/search_space.hpp"
#include "sextant/options/search_systems.hpp"

namespace sextant::server {

SearchAsked read_search(const Document& document, const Node& request) {
  SearchAsked asked;
  std::vector<Diagnostic> problems;
  std::vector<Option> options = options_of(asked.options);
  for (Option& o : options_of(asked.common)) {
    if (o.name != "output") options.push_back(std::move(o));
  }
  read_request(document, request, options, problems, {.asker = Asker::network});
  asked.common.format = Format::json;
  asked.common.lookup = Lookup::presets;
  if (!problems.empty()) {
    sextant::refuse(std::move(problems), asked.common,
                    [&](const Common& common) { check_scenario(asked.options, common); });
  }
  // A core stays free for those who ask meanwhile.
  asked.options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
  return asked;
}

void check_search(const Document& document) {
  const SearchAsked asked = read_search(document, document.root);
  // Only what is read: laying the space out may take long, and is the job's. Plans of capacity are
  // read with their requests, at once.
  if (!asked.options.plan.empty()) {
    read_jobs(asked.options, asked.common);
    return;
  }
  check_asked(asked.options, asked.common);
  if (asks_systems(asked.options)) {
    check_systems(asked.options, asked.common);
    return;
  }
  if (!asked.options.traffic.empty()) return;
  if (asked.options.infer) {
    read_serving_search(asked.options, asked.common);
  } else {
    read_training_search(asked.options, asked.common);
  }
}

}  // namespace sextant::server
