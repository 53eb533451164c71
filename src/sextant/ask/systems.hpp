// SPDX-License-Identifier: Apache-2.0
// `sextant search --systems --budget`: the best system and strategy for what may be spent.
#pragma once

#include "sextant/answer/search_systems.hpp"
#include "sextant/ask/search.hpp"

namespace sextant {

SystemsFound systems_found(const SearchOptions& options, const Common& common,
                           SearchProgress& progress, const Announce& announce);

}  // namespace sextant
