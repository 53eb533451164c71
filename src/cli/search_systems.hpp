// SPDX-License-Identifier: Apache-2.0
// `sextant search --systems --budget`: the best system and strategy for what may be spent.
#pragma once

#include "cli/search.hpp"

namespace sextant::cli {

Answer systems_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                      const Announce& announce);

}  // namespace sextant::cli
