// SPDX-License-Identifier: Apache-2.0
// Scenarios side by side, and what makes the difference between neighbours.
#pragma once

#include "cli/request.hpp"
#include "sextant/io/node.hpp"

namespace sextant::cli {

/// {"kind": "train" | "infer", "scenarios": [{…}, …]} to {"answers", "differences"}: each answer is
/// the command's own JSON. A difference is the ratio of times of a token ("train") or of a request
/// ("infer"), as a product of factors: groups of properties are swapped in every order, and a
/// group's factor is the mean of what its swap does (Shapley), so that none depends on the order.
Node compare(const Document& request, Asker asker);

}  // namespace sextant::cli
