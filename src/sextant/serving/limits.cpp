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

constexpr double any_number = 1e12;

double rounded_up(double value, double step) { return step * std::ceil(value / step); }

/// Bytes of a parameter as trtllm-bench counts them: it knows 8 bits and NVFP4, and takes all else,
/// what is published in MXFP4 too, for 16 bits.
double assumed_bytes(const Model& model, Precision precision) {
  if (precision == Precision::fp8) return 1;
  return precision == Precision::fp4 && model.stored != Precision::fp4 ? 0.5 : 2;
}

/// Limits for requests of these lengths, as trtllm-bench sets them (its tuning of batch size and
/// tokens, read November 2026): as many as the memory of all devices holds at their longest, where
/// each has at least a head of every request, and the tokens of a step in which all of them decode
/// and as many prompts come as end. Both are bounded, and rounded up the more the larger they are.
void size_for(const TrafficMeans& lengths, const Problem& p, const Strategy& s, EngineLimits& l) {
  const ServingMemory m = memory_of(p, s, l);
  const double devices = static_cast<double>(s.tp) * s.pp * std::max(1, s.dp);
  const double heads =
      p.model.attention.kind == AttentionKind::latent ? 1 : p.model.attention.kv_heads;
  const double copies =
      std::max(1.0, s.tp * std::max(1, s.dp) / heads) / std::max(1.0, s.tp / heads);
  const Bytes each =
      static_cast<double>(s.tp) * s.pp *
      ((lengths.input + lengths.output) * copies * m.cache_per_token + m.cache_of_any);
  const Bytes weights(p.parameters.total() * assumed_bytes(p.model, s.precision));
  const Bytes free = p.runtime.engine.memory_fraction * (devices * p.capacity - weights);
  const double fitting = each.value > 0 ? max(Bytes(0), free) / each : 1e9;
  const double requests = std::min(fitting, 4096.0) / s.pp;
  l.max_requests = static_cast<int>(std::max(64.0, rounded_up(requests, requests < 256    ? 32
                                                                        : requests < 1024 ? 128
                                                                                          : 256)));
  const double tokens = std::min(requests * (1 + lengths.input / lengths.output), 32768.0);
  l.token_budget = static_cast<int>(std::max(2048.0, rounded_up(tokens, tokens < 4096   ? 256
                                                                        : tokens < 8192 ? 512
                                                                                        : 1024)));
}

EngineFit fit(const Problem& p, const Strategy& s, const EngineChoices& given,
              const TrafficMeans& lengths) {
  const Engine& e = p.runtime.engine;
  EngineFit f;
  EngineLimits& l = f.limits;
  l.token_budget = in_one_pass(p, usual_limit(p, s, e.token_budget));
  l.max_requests = usual_limit(p, s, e.max_requests);
  if (e.sized && lengths.output > 0) size_for(lengths, p, s, l);
  l.token_budget = given.token_budget.value_or(l.token_budget);
  l.max_requests = given.max_requests.value_or(l.max_requests);
  l.block = given.block.value_or(e.block);
  l.prefix_cache = given.prefix_cache.value_or(e.prefix_cache);
  // Every decoding request takes a token of the budget.
  l.max_requests = std::min(l.max_requests, l.token_budget);
  f.memory = memory_of(p, s, l);
  ServingMemory& m = f.memory;
  m.cache =
      max(Bytes(0), cache_of(e, given.memory_fraction.value_or(e.memory_fraction), m, p.capacity));
  // Where tokens take nothing there is room for any number of them beside the states.
  const bool grows = m.cache_per_token.value > 0 || given.cache_tokens;
  const Bytes token = grows ? m.cache_per_token : m.cache / any_number;
  l.cache_tokens = given.cache_tokens.value_or(token.value > 0 ? std::floor(m.cache / token) : 0);
  l.state_tokens = token.value > 0 ? rounded_up(m.cache_of_any / token, l.block) : 0;
  if (given.cache_tokens) m.cache = *given.cache_tokens * m.cache_per_token;
  f.fits = l.cache_tokens >= l.block + l.state_tokens;
  const Held held{m.weights, m.cache, m.activations + m.other};
  const int stage = m.residence.stage;
  m.residence = residence_of(p, held);
  m.residence.stage = stage;
  m.residence.fixed = true;
  m.second = p.tier.capacity.value > 0 ? place(p, held).second : Bytes(0);
  return f;
}

}  // namespace

TrafficMeans sizing_lengths(const Engine& engine, const Traffic& traffic) {
  return engine.sized ? means_of(traffic) : TrafficMeans{};
}

EngineFit fit_engine(const Problem& p, const Strategy& s, const EngineChoices& given,
                     const TrafficMeans& lengths) {
  if (p.tier.read_only && p.serving.placement == Placement::overflow) {
    // Weights leave the first memory only where the cache has no room beside them.
    Problem without = p;
    without.tier = {};
    if (EngineFit f = fit(without, s, given, lengths); f.fits) return f;
  }
  return fit(p, s, given, lengths);
}

}  // namespace sextant
