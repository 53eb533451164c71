// SPDX-License-Identifier: Apache-2.0
// What `sextant search` says, as text, JSON, CSV and a figure.
#pragma once

#include <optional>
#include <string>

#include "cli/search_space.hpp"
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

/// Why the best is better than the runner-up and than the usual recipe, a sentence each.
std::vector<std::string> reasons(const TrainingSearchAnswer& answer);
std::vector<std::string> reasons(const ServingSearchAnswer& answer);

}  // namespace sextant::cli
