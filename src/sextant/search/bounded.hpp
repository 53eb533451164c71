// SPDX-License-Identifier: Apache-2.0
// Branch and bound: strategies are looked at in groups, those that may be best first, and a group
// is left alone where its floors (predict/floor.hpp) show that none of it can be among the best or
// on the front. What is found is what a search of every point finds, bit for bit.
#pragma once

#include "sextant/search/search.hpp"

namespace sextant {

SearchResult search_bounded(const Problem& problem, const SearchSpace& space,
                            const SearchPlan& plan, const SearchAim& aim, SearchProgress& progress);

}  // namespace sextant
