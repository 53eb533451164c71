// SPDX-License-Identifier: Apache-2.0
// A search of strategies as a job, and a short one at once.
#pragma once

#include "server/api.hpp"

namespace sextant::server {

JobRoute search_job();

/// The answer to a search that ends within seconds; of a longer one the best so far ("stopped").
std::string search_at_once(const Document& request);

}  // namespace sextant::server
