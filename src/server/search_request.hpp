// SPDX-License-Identifier: Apache-2.0
// A search as a request asks for it.
#pragma once

#include "cli/commands.hpp"
#include "sextant/io/node.hpp"

namespace sextant::server {

struct SearchAsked {
  SearchOptions options;
  Common common;
};

SearchAsked read_search(const Document& document, const Node& request);
/// Throws InputError for one that need not be started at all.
void check_search(const Document& document);

}  // namespace sextant::server
