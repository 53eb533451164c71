// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/held.hpp"

#include <cmath>

#include "sextant/predict/tiers.hpp"

namespace sextant {
namespace {

/// Bytes that a sequence of so many tokens holds on a rank, in one layer of a branch.
double cached(const graph::Branch& b, double tokens, double images, double element, double ranks) {
  double bytes = 0;
  for (const graph::Operator& op : b.operators) {
    bytes += graph::cached_bytes(op, tokens, images, element, ranks);
  }
  return bytes;
}

}  // namespace

double cached(const Problem& p, const Strategy& s, const StageKind& stage, double tokens,
              double images) {
  const graph::Graph& g = p.graph;
  const double element = element_bytes(p.serving.cache);
  double bytes = 0;
  for (int i = 0; i < g.branch_count(); ++i) {
    double layers = 0;
    for (std::size_t t = 0; t < static_cast<std::size_t>(g.type_count); ++t) {
      if (g.types[t].holds(i)) layers += stage.types[t];
    }
    bytes +=
        layers * cached(g.branches[static_cast<std::size_t>(i)], tokens, images, element, s.tp);
  }
  return bytes;
}

namespace {

double weight_bytes(const Problem& p, const Strategy& s, const RankParameters& n) {
  const Experts& e = p.model.experts;
  const double narrow = stored_bits(p, s.precision) / 8;
  const double copies = e.count > 0 ? double(served(e)) / e.count : 1;
  const double left = leaves_some(p.model, s.precision) ? n.published : 0;
  return (n.dense - left + copies * n.experts) * narrow + left * left_bits(p, s.precision) / 8 +
         (n.embedding + n.head) * rest_bits(p, s.precision) / 8 + n.vision * 2;
}

/// Sets the weights of the fullest stage and what a token takes in the one with the most cache;
/// what one sequence takes there at its end.
Bytes hold(const Problem& p, const Strategy& s, ServingMemory& r) {
  const Strategy cut = sliced(s);
  const double longest = prompt_tokens(p) + p.serving.output;
  const double images = p.serving.images;
  double largest = 0;
  Bytes sequence;
  for (int i = 0; i < s.pp; ++i) {
    const StageKind stage = stage_of(p, cut, i);
    largest = std::max(largest, weight_bytes(p, s, rank_parameters(p, cut, stage)));
    const Bytes held(cached(p, s, stage, longest, images));
    if (held < sequence) continue;
    sequence = held;
    r.residence.stage = i;
    // What one more token takes while no window is full.
    r.cache_per_token = Bytes(cached(p, s, stage, 1, 0) - cached(p, s, stage, 0, 0));
    r.cache_of_any = Bytes(cached(p, s, stage, 0, images));
  }
  if (p.draft) {  // its weights and its cache lie beside the last stage's
    const Strategy small = draft_strategy(*p.draft, s);
    const ServingMemory drafts = serving_memory(*p.draft, small, false);
    largest += drafts.weights.value;
    sequence += Bytes(cached(*p.draft, small, stage_of(*p.draft, sliced(small), 0), longest, 0));
    r.cache_per_token += drafts.cache_per_token;
    r.cache_of_any += drafts.cache_of_any;
  }
  r.weights = Bytes(largest);
  return sequence;
}

/// Of a pass over so many requests of a replica.
Bytes activations_of(const Problem& p, const Strategy& s, double requests) {
  const Serving& w = p.serving;
  const Model& m = p.model;
  const double widest =
      std::max({double(m.ffn), m.experts.count > 0 ? double(m.experts.topk) * m.experts.ffn : 0,
                double(m.hybrid.heads) * m.hybrid.head_dim});
  const double prompt = prompt_tokens(p);
  const double tokens = std::min(requests * prompt, budget_of(p, s) + (w.chunk > 0 ? requests : 0));
  const double text = tokens * (4.0 * m.hidden + 3 * widest / s.tp);
  // The images of the prompts that one pass takes go through their tower before it.
  const double images = w.images * std::ceil(tokens / prompt);
  const double tower = images * image_shape(m.vision).patches() *
                       (4.0 * m.vision.hidden + 3.0 * m.vision.ffn / s.tp);
  return Bytes(std::max(text, tower) * 2 + requests * static_cast<double>(m.vocab) * 4);
}

}  // namespace

ServingMemory serving_memory(const Problem& p, const Strategy& s, bool tiered) {
  const Serving& w = p.serving;
  ServingMemory r;
  r.capacity = r.first_capacity = p.capacity;
  const Bytes sequence = hold(p, s, r);
  const double batch = std::ceil(static_cast<double>(w.batch) / std::max(1, s.dp));
  r.cache = batch * sequence;
  r.other = p.runtime.footprint.context;
  // The most requests of a replica that fit, by bisection: activations grow with them too.
  const bool second = tiered && p.tier.capacity.value > 0;
  const Bytes free = r.capacity - r.weights - r.other + (second ? p.tier.capacity : Bytes(0));
  const auto fit = [&](double requests) {
    const Bytes cache = requests * sequence;
    const Bytes active = activations_of(p, s, requests);
    if (!second) return cache + active <= free;
    return cache <= most_cache(p, r.weights, active + r.other);
  };
  double most = 0;
  double too_many = std::max(1.0, std::floor(free / Bytes(p.model.vocab * 4.0)) + 1);
  while (too_many - most > 1) {
    const double middle = std::floor((most + too_many) / 2);
    (fit(middle) ? most : too_many) = middle;
  }
  r.max_batch = most * std::max(1, s.dp);
  // In a closed loop those that do not fit are not in the pass.
  const bool closed = w.batching == Batching::closed_loop;
  r.activations = activations_of(p, s, closed ? std::min(batch, std::max(1.0, most)) : batch);
  if (!second) return r;
  const Bytes rest = r.activations + r.other;
  const Bytes cache = most_cache(p, r.weights, rest);
  const Held held{r.weights, closed ? min(r.cache, max(cache, Bytes(0))) : r.cache, rest};
  const int stage = r.residence.stage;
  r.residence = residence_of(p, held);
  r.residence.stage = stage;
  r.second = place(p, held).second;
  r.second_capacity = p.tier.capacity;
  r.capacity = r.weights + cache + rest;
  return r;
}

}  // namespace sextant
