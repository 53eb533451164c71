// SPDX-License-Identifier: Apache-2.0
// What a device holds in serving: weights, cache, activations, in one memory or two.
#pragma once

#include <algorithm>

#include "sextant/predict/infer.hpp"
#include "sextant/predict/layout.hpp"

namespace sextant {

/// Stages as memory sees them: ranks that expert parallelism leaves share every expert.
inline Strategy sliced(const Strategy& s) {
  Strategy r = s;
  r.etp = std::max(1, s.tp * std::max(1, s.dp) / s.ep);
  r.interleave = 1;
  return r;
}

/// Tokens of prompts that one pass takes, on a replica.
inline double budget_of(const Serving& w) { return w.chunk > 0 ? w.chunk : usual_budget; }

/// Bytes of cache that a sequence of so many tokens holds on a rank, in all layers of a stage.
double cached(const Problem& problem, const Strategy& strategy, const StageKind& stage,
              double tokens, double images);

/// `tiered`: the second memory is used, where there is one.
ServingMemory serving_memory(const Problem& problem, const Strategy& strategy, bool tiered);

}  // namespace sextant
