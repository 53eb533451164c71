// SPDX-License-Identifier: Apache-2.0
// The API's description for programs, made from the descriptions of the commands' options.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::server {

/// Commands that answer at once, each under a path of its own name.
inline constexpr std::array<std::string_view, 9> direct_commands = {
    "train", "infer", "model", "traffic", "rl", "import", "profile", "tech", "validate"};

/// OpenAPI 3 as JSON. `jobs`: commands that run as jobs.
std::string openapi(const std::vector<std::string>& jobs);

}  // namespace sextant::server
