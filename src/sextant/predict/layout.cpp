// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/layout.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant {
namespace {

double latent_query_dim(const Attention& a) { return a.nope_dim + a.rope_dim; }

// Vocabularies are padded to a multiple of 128 a rank (Megatron's make-vocab-size-divisible-by).
double padded_vocab(const Model& m, double tp) {
  return tp > 1 ? std::ceil(m.vocab / (128 * tp)) * 128 : m.vocab;
}

// Ranks of a group whose neighbours are `stride` ranks apart.
Group spread_out(const Network& net, double ranks, double stride) {
  const double per_node = std::max(1.0, std::floor(net.devices_per_node / stride));
  const auto n = static_cast<int>(std::max(1.0, ranks));
  return {n, std::min(n, static_cast<int>(per_node))};
}

// Nanotron deals blocks to stages by cost: a stage takes blocks until the sum reaches its share
// (first stages of 131 runs tell). Attention and MLP weights are a layer's cost, the head's weights
// the head's. So the stages before i hold the fewest layers whose cost reaches i shares.
int layers_before(const Model& m, int stages, int stage) {
  const Attention& a = m.attention;
  const double halves = gated(m.mlp) ? 3 : 2;
  const double layer = m.hidden * (4.0 * a.heads * a.head_dim + halves * m.ffn);
  const double total = m.layers * layer + static_cast<double>(m.hidden) * m.vocab;
  if (stage == 0) return 0;
  if (stage == stages) return m.layers;
  const int least = static_cast<int>(std::ceil(total * stage / stages / layer));
  return std::clamp(least, stage, m.layers);
}

// Of n chunks, the middle ones get what is left over, since the first has the embedding and the
// last the head (BLOOM: 70 layers on 12 stages, 5 on the outer two). Every pp-th chunk is a
// stage's, so two numbers of layers occur.
int dealt_layers(int layers, const Strategy& s, int stage) {
  const int chunks = s.pp * s.interleave;
  const int extra = layers % chunks;
  const int first = (chunks - extra) / 2;
  const int least = layers / chunks * s.interleave + extra / s.pp;
  const int turn = ((stage - first) % s.pp + s.pp) % s.pp;
  return least + (turn < extra % s.pp ? 1 : 0);
}

}  // namespace

Widths widths_of(const Problem& p, const Strategy& s) noexcept {
  const Model& m = p.model;
  const Attention& a = m.attention;
  const double tp = s.tp;
  Widths l;
  l.seq = static_cast<double>(p.work.seq) / s.cp;
  l.tokens = s.microbatch * l.seq;
  l.norm_tokens = s.sp ? l.tokens / tp : l.tokens;
  l.hidden = m.hidden;
  l.heads = a.heads / tp;
  l.kv_heads = std::max(1.0, a.kv_heads / tp);  // replicated where there are fewer than tp
  const bool latent = a.kind == AttentionKind::latent;
  l.q = l.heads * (latent ? latent_query_dim(a) : a.head_dim);
  l.k = latent ? l.q : l.kv_heads * a.head_dim;
  l.v = latent ? l.heads * a.value_dim : l.kv_heads * a.head_dim;
  l.gate = gated(m.mlp) ? 2 : 1;
  l.ffn = m.ffn / tp;
  l.vocab = padded_vocab(m, tp);
  if (m.experts.count > 0) {
    const Experts& e = m.experts;
    l.local_experts = static_cast<double>(e.count) / s.ep;
    l.expert_ffn = static_cast<double>(e.ffn) / s.etp;
    // With tp the tokens of all tensor-parallel ranks are routed; etp ranks see the same ones.
    l.expert_tokens = l.tokens * e.topk * s.etp / tp;
    l.shared_ffn = (e.shared_ffn > 0 ? e.shared_ffn : static_cast<double>(e.shared) * e.ffn) / tp;
  }
  l.tensor = spread_out(p.network, tp, 1);
  l.context = spread_out(p.network, s.cp, tp);
  l.expert = spread_out(p.network, s.ep, s.etp);
  return l;
}

Groups groups_of(const Problem& p, const Strategy& s) noexcept {
  const double tp = s.tp;
  const double cp = s.cp;
  const double replicas = static_cast<double>(s.dp) * cp;
  const bool pipeline_inside = s.order == Order::tp_cp_ep_pp_dp;
  const double dp_stride = pipeline_inside && s.cp == 1 ? tp * s.pp : tp;
  Groups g;
  g.data = spread_out(p.network, replicas, dp_stride);
  g.shard = spread_out(p.network, s.shard > 0 ? s.shard * cp : replicas, dp_stride);
  const double expert_ranks = static_cast<double>(s.ep) * s.etp;
  g.expert_data = spread_out(p.network, tp * replicas / expert_ranks, expert_ranks);
  const double pp_stride = pipeline_inside ? tp * cp : tp * replicas;
  g.pipeline = spread_out(p.network, std::min(2, s.pp), pp_stride);
  return g;
}

double stage_layers(const Problem& p, const Strategy& s, int stage) noexcept {
  if (s.pp == 1) return p.model.layers;
  if (p.runtime.balanced_stages && s.interleave == 1) {
    return layers_before(p.model, s.pp, stage + 1) - layers_before(p.model, s.pp, stage);
  }
  return dealt_layers(p.model.layers, s, stage);
}

Stages stages_of(const Problem& p, const Strategy& s) noexcept {
  Stages found;
  for (int i = 0; i < s.pp; ++i) {
    const double layers = stage_layers(p, s, i);
    const bool ends = i == 0 || i == s.pp - 1;
    const auto known = std::find_if(
        found.kinds.begin() + std::min(1, found.count), found.kinds.begin() + found.count,
        [&](const StageKind& k) { return !ends && k.layers == layers; });
    if (known != found.kinds.begin() + found.count) {
      ++known->count;
    } else {
      found.kinds[static_cast<std::size_t>(found.count++)] = {layers, i, 1, i == 0, i == s.pp - 1};
    }
  }
  return found;
}

LayerMix average_layer(const Problem& p) noexcept {
  const double layers = p.model.layers;
  LayerMix mix;
  mix.windowed = p.layers.windowed / layers;
  mix.full = (p.layers.attention - p.layers.windowed) / layers;
  mix.recurrent = p.layers.recurrent / layers;
  mix.dense = p.layers.dense / layers;
  mix.experts = p.layers.experts / layers;
  return mix;
}

RankParameters rank_parameters(const Problem& p, const Strategy& s, int stage) noexcept {
  const ParameterCount& n = p.parameters;
  const double tp = s.tp;
  const double share = stage_layers(p, s, stage) / p.model.layers;
  RankParameters r;
  // Norms and routers are on every tensor-parallel rank.
  r.dense = share * ((n.attention + n.recurrent + n.mlp + n.shared) / tp + n.norms + n.router);
  if (p.model.experts.count > 0) {
    r.experts = share * n.experts / (static_cast<double>(s.ep) * s.etp);
  }
  const double padding = p.model.vocab > 0 ? padded_vocab(p.model, tp) * tp / p.model.vocab : 1;
  if (stage == 0) r.embedding = (n.embedding + n.per_layer_embedding) * padding / tp;
  if (stage == s.pp - 1) {
    r.head = n.head * padding / tp;
    if (p.model.tied && s.pp > 1) r.head = n.embedding * padding / tp;  // a copy
  }
  return r;
}

}  // namespace sextant
