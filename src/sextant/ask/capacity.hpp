// SPDX-License-Identifier: Apache-2.0
// `sextant search --traffic`: the fewest devices that hold users' limits at a rate.
#pragma once

#include <string>

#include "sextant/answer/answer.hpp"
#include "sextant/ask/search.hpp"

namespace sextant {

Answer capacity_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                       const Announce& announce);

}  // namespace sextant
