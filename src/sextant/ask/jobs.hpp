// SPDX-License-Identifier: Apache-2.0
// `sextant search plan.toml`: jobs of one model together, each where it is best or all on one
// system.
#pragma once

#include "sextant/ask/search.hpp"

namespace sextant {

Answer plan_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                   const Announce& announce);

}  // namespace sextant
