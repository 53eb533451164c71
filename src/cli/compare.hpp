// SPDX-License-Identifier: Apache-2.0
// Scenarios side by side, and what makes the difference between neighbours.
#pragma once

#include "cli/request.hpp"
#include "sextant/answer/answer.hpp"
#include "sextant/io/node.hpp"

namespace sextant::cli {

/// {"kind": "train" | "infer", "scenarios": [{…}, …]} to {"answers", "differences"}: each answer is
/// the command's own; a difference is between neighbours (study/difference.hpp).
Answer compare(const Document& request, Asker asker);

}  // namespace sextant::cli
