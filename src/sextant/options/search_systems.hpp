// SPDX-License-Identifier: Apache-2.0
// From options to a search over several systems, under a budget.
#pragma once

#include "sextant/options/common.hpp"
#include "sextant/options/search.hpp"
#include "sextant/search/capacity.hpp"
#include "sextant/search/systems.hpp"

namespace sextant {

/// Whether a search is one over systems: a budget was given, or several systems.
inline bool asks_systems(const SearchOptions& o) { return !o.budget.empty() || !o.systems.empty(); }

/// Throws InputError where options are missing or of another kind of search; `systems`: it is one
/// over systems, whatever was given.
void check_asked(const SearchOptions& o, bool systems);
/// The same with all that is wrong with what was asked beside.
void check_asked(const SearchOptions& o, const Common& common);

/// Reads what a search over systems is asked and leaves it: throws as the functions below do.
void check_systems(const SearchOptions& o, const Common& common);

/// Throw InputError with everything that is wrong: systems, the budget, prices, and what a search
/// of one system would say.
SystemsAsked<TrainingSearch> read_training_systems(const SearchOptions& o, const Common& common);
SystemsAsked<ServingSearch> read_serving_systems(const SearchOptions& o, const Common& common);
SystemsAsked<CapacitySearch> read_capacity_systems(const SearchOptions& o, const Common& common);

/// Throws what is wrong with what is sought, and for what, as far as it can be read.
void check_scenario(const SearchOptions& options, const Common& common);

}  // namespace sextant
