// SPDX-License-Identifier: Apache-2.0
// A plan of several jobs of one model, in TOML: training it, and serving it in one or several ways.
// What all jobs share stands at the top; the rest of a job are the fields of a request to `search`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/options/common.hpp"
#include "sextant/options/search.hpp"
#include "sextant/scenario/inputs.hpp"
#include "sextant/search/budget.hpp"

namespace sextant {

struct PlanJob {
  std::string name;
  Task task = Task::train;
  double days = 0;        ///< that it serves; 0: nobody says
  SearchOptions options;  ///< as `search --systems` would be asked for it alone
  Common common;
};

struct JobsPlan {
  std::optional<SearchBudget> budget;  ///< that the jobs share
  std::vector<PlanJob> jobs;           ///< training first
};

/// Options beside the plan stand for what the plan says of all jobs. Throws InputError with
/// everything that is wrong with the plan and its jobs, each by its line.
JobsPlan read_jobs(const SearchOptions& options, const Common& common);

/// A budget as it may be given, with all its digits.
std::string exact_text(const SearchBudget& budget);

}  // namespace sextant
