// SPDX-License-Identifier: Apache-2.0
// A search of strategies as a job.
#pragma once

#include "server/api.hpp"

namespace sextant::server {

JobRoute search_job();

}  // namespace sextant::server
