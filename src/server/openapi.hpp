// SPDX-License-Identifier: Apache-2.0
// The API's description for programs, made from the descriptions of the commands' options.
#pragma once

#include <string>
#include <vector>

namespace sextant::server {

/// OpenAPI 3 as JSON. `jobs`: commands that run as jobs.
std::string openapi(const std::vector<std::string>& jobs);

}  // namespace sextant::server
