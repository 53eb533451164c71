// SPDX-License-Identifier: Apache-2.0
// What a stranger may have meant by an option that a command does not have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

/// "did you mean '--batch'?" or empty. Of `names`, flags or fields of a request, the one that is
/// the same but for dashes, that another tool calls so, that this letter begins, or that is spelt
/// almost so.
std::string option_meant(std::string_view given, const std::vector<std::string>& names);

}  // namespace sextant
