// SPDX-License-Identifier: Apache-2.0
// A search that someone watches: the command's own way, for whoever else runs one.
#pragma once

#include <functional>

#include "sextant/answer/answer.hpp"
#include "sextant/options/common.hpp"
#include "sextant/options/search.hpp"
#include "sextant/search/search.hpp"

namespace sextant {

/// The points of a search, before it starts: 0 where that is not known.
using Announce = std::function<void(double points)>;

/// `progress` counts and stops it; what was found
/// by then is the answer.
Answer search_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                     const Announce& announce);

}  // namespace sextant
