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

/// Tokens that a step of an engine takes at most on a rank of attention, where nobody says
/// otherwise; and of another limit that it sets by memory as much.
inline int usual_limit(const Problem& p, const Strategy& s, const ByMemory& limit) {
  const bool divided = p.runtime.engine.limits_of_all && p.model.experts.count > 0;
  return std::max(1, limit.of(p.nominal) / (divided ? std::max(1, s.dp) : 1));
}

/// Tokens of prompts that one pass takes, on a replica: of an engine's steps what it takes, of a
/// batch that starts together as much as engines do; and no more than the stack puts in one.
inline double budget_of(const Problem& p, const Strategy& s) {
  const Serving& w = p.serving;
  if (w.chunk > 0) return w.chunk;
  const bool closed = w.batching == Batching::closed_loop;
  const double step = closed ? usual_limit(p, s, p.runtime.engine.token_budget) : usual_budget;
  const double pass = p.runtime.pass_tokens;
  return pass > 0 ? std::min(step, pass) : step;
}

/// Bytes of cache that a sequence of so many tokens holds on a rank, in all layers of a stage.
double cached(const Problem& problem, const Strategy& strategy, const StageKind& stage,
              double tokens, double images);

/// `tiered`: the second memory is used, where there is one.
ServingMemory serving_memory(const Problem& problem, const Strategy& strategy, bool tiered);

}  // namespace sextant
