// SPDX-License-Identifier: Apache-2.0
// The strategy that people take without a search, to compare a search's answer with.
#pragma once

#include <optional>

#include "sextant/predict/train.hpp"

namespace sextant {

/// Tensor parallelism up to a node, then pipeline stages, as few of both as fit, and replicas for
/// the rest (Narayanan et al., arXiv 2104.04473, section 3, takeaways 1 to 3); microbatch 1,
/// selective recomputation or, where that does not fit, full; optimizer states shared by replicas;
/// experts over as many ranks of a node as there are. Nothing where nothing of that kind fits.
std::optional<Strategy> usual_recipe(const Problem& problem, int devices, Precision precision);

}  // namespace sextant
