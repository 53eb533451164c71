// SPDX-License-Identifier: Apache-2.0
// What `sextant search` says, as text, JSON, CSV and a figure.
#pragma once

#include <optional>
#include <string>

#include "cli/search_space.hpp"
#include "sextant/io/node.hpp"
#include "sextant/report/plot.hpp"

namespace sextant::cli {

struct TrainingSearchAnswer {
  const TrainingSearch& asked;
  SearchResult result;
  std::optional<Found> usual;  ///< the recipe that people take without a search
  double points = 0;
  double seconds = 0;
};

struct ServingSearchAnswer {
  const ServingSearch& asked;
  ServingResult result;
  double seconds = 0;
};

std::string search_text(const TrainingSearchAnswer& answer);
std::string search_json(const TrainingSearchAnswer& answer);
std::string search_csv(const TrainingSearchAnswer& answer);
/// Step time and memory: a sample of what fits, and the front.
plot::Figure search_figure(const TrainingSearchAnswer& answer);

std::string search_text(const ServingSearchAnswer& answer);
std::string search_json(const ServingSearchAnswer& answer);
std::string search_csv(const ServingSearchAnswer& answer);
/// Time a token and throughput a device, along the front.
plot::Figure search_figure(const ServingSearchAnswer& answer);

/// What the JSON of both has in common.
struct SearchCounts {
  std::string_view kind;  ///< "train", "infer"
  std::string_view objective;
  double devices = 0;
  std::uint64_t evaluated = 0;
  std::uint64_t feasible = 0;
  bool stopped = false;
  double seconds = 0;
};
Node search_node(const Scenario& scenario, const SearchCounts& counts);
using Rejections = std::vector<std::pair<std::string, std::uint64_t>>;
/// "reasons", "rejected" and "assumptions".
void set_explanations(Node& root, const std::vector<std::string>& reasons,
                      const Rejections& rejections, const Scenario& scenario);

/// Why the best is better than the runner-up and than the usual recipe, a sentence each.
std::vector<std::string> reasons(const TrainingSearchAnswer& answer);
std::vector<std::string> reasons(const ServingSearchAnswer& answer);

}  // namespace sextant::cli
