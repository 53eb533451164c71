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

/// Of so many tokens those that the stack puts in one pass.
inline int in_one_pass(const Problem& p, int tokens) {
  return p.runtime.pass_tokens > 0 ? std::min(tokens, p.runtime.pass_tokens) : tokens;
}

/// Tokens of prompts that one pass takes, on a replica: of an engine's steps what it takes, of a
/// batch that starts together as much as engines do; and no more than the stack puts in one.
inline int budget_of(const Problem& p, const Strategy& s) {
  const Serving& w = p.serving;
  if (w.chunk > 0) return w.chunk;
  const bool closed = w.batching == Batching::closed_loop;
  return in_one_pass(p, closed ? usual_limit(p, s, p.runtime.engine.token_budget) : usual_budget);
}

/// Bytes of cache that a sequence of so many tokens holds on a rank, in all layers of a stage.
double cached(const Problem& problem, const Strategy& strategy, const StageKind& stage,
              double tokens, double images);

/// `tiered`: the second memory is used, where there is one.
ServingMemory serving_memory(const Problem& problem, const Strategy& strategy, bool tiered);

}  // namespace sextant
