// SPDX-License-Identifier: Apache-2.0
// `--format html`: the page with an answer inside, as a file that needs no server.
#pragma once

#include <optional>
#include <string>

#include "cli/command_table.hpp"

namespace sextant::server {

/// Runs the command and shows its answer; nothing where the page has no view for it, or the program
/// no page.
std::optional<std::string> answer_page(cli::Invocation& invocation, const cli::Command& command);

}  // namespace sextant::server
