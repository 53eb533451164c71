// SPDX-License-Identifier: Apache-2.0
// From flags to a space to search and what is sought in it.
#pragma once

#include "cli/options/search.hpp"
#include "cli/scenario.hpp"
#include "sextant/search/question.hpp"

namespace sextant::cli {

/// Throw InputError with everything that is wrong: unknown axes and values with suggestions, limits
/// that leave nothing.
TrainingSearch read_training_search(const SearchOptions& options, const Common& common);
ServingSearch read_serving_search(const SearchOptions& options, const Common& common);

}  // namespace sextant::cli
