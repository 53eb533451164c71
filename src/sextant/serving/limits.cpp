// SPDX-License-Identifier: Apache-2.0
#include "sextant/serving/limits.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/predict/held.hpp"
#include "sextant/predict/rules.hpp"
#include "sextant/predict/tiers.hpp"

namespace sextant {
namespace {

/// Memory with the largest step that the engine may make.
ServingMemory memory_of(const Problem& problem, const Strategy& strategy, const EngineLimits& l) {
  Problem p = problem;
  p.serving.batching = Batching::closed_loop;
  p.serving.batch = l.max_requests * std::max(1, strategy.dp);
  p.serving.input = l.token_budget;
  p.serving.chunk = l.token_budget;
  p.serving.output = 1;
  p.serving.speculation = {};
  if (legal_serving(p, strategy) != Verdict::fits) return {};
  return serving_memory(p, strategy, true);
}

/// A share of the device's memory is one of the first: nothing but weights and cache is in a
/// second.
Bytes cache_of(const Engine& e, double fraction, const ServingMemory& m, Bytes first) {
  const Bytes usable = fraction * first + (m.capacity - first);
  switch (e.memory_share) {
    case MemoryShare::device:
      return usable - m.weights - m.activations - m.other;
    case MemoryShare::kept:
      return usable - m.weights;
    case MemoryShare::free:
      break;
  }
  return fraction * (m.capacity - m.weights - m.activations - m.other);
}

EngineFit fit(const Problem& p, const Strategy& s, const EngineChoices& given) {
  const Engine& e = p.runtime.engine;
  EngineFit f;
  EngineLimits& l = f.limits;
  l.token_budget = given.token_budget.value_or(e.token_budget.of(p.capacity));
  l.max_requests = given.max_requests.value_or(e.max_requests.of(p.capacity));
  l.block = given.block.value_or(e.block);
  l.prefix_cache = given.prefix_cache.value_or(e.prefix_cache);
  // Every decoding request takes a token of the budget.
  l.max_requests = std::min(l.max_requests, l.token_budget);
  f.memory = memory_of(p, s, l);
  ServingMemory& m = f.memory;
  m.cache =
      max(Bytes(0), cache_of(e, given.memory_fraction.value_or(e.memory_fraction), m, p.capacity));
  l.cache_tokens = given.cache_tokens.value_or(
      m.cache_per_token.value > 0 ? std::floor(m.cache / m.cache_per_token) : 1e12);
  if (given.cache_tokens) m.cache = *given.cache_tokens * m.cache_per_token;
  f.fits = l.cache_tokens >= l.block;
  const Held held{m.weights, m.cache, m.activations + m.other};
  const int stage = m.residence.stage;
  m.residence = residence_of(p, held);
  m.residence.stage = stage;
  m.residence.fixed = true;
  m.second = p.tier.capacity.value > 0 ? place(p, held).second : Bytes(0);
  return f;
}

}  // namespace

EngineFit fit_engine(const Problem& p, const Strategy& s, const EngineChoices& given) {
  if (p.tier.read_only && p.serving.placement == Placement::overflow) {
    // Weights leave the first memory only where the cache has no room beside them.
    Problem without = p;
    without.tier = {};
    if (EngineFit f = fit(without, s, given); f.fits) return f;
  }
  return fit(p, s, given);
}

}  // namespace sextant
