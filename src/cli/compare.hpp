// SPDX-License-Identifier: Apache-2.0
// Scenarios side by side, and what makes the difference between neighbours.
#pragma once

#include "sextant/answer/answer.hpp"
#include "sextant/io/node.hpp"
#include "sextant/options/request.hpp"

namespace sextant::cli {

/// {"kind": "train" | "infer", "scenarios": [{…}, …]} to what answer/compare.hpp says of them.
Answer compare(const Document& request, Asker asker);

}  // namespace sextant::cli
