// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/layout.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/predict/tuning.hpp"

namespace sextant {
namespace {

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
// last the head (BLOOM: 70 layers on 12 stages, 5 on the outer two).
int chunk_start(int layers, int chunks, int chunk) {
  const int extra = layers % chunks;
  const int first = (chunks - extra) / 2;
  return layers / chunks * chunk + std::clamp(chunk - first, 0, extra);
}

}  // namespace

Widths widths_of(const Problem& p, const Strategy& s) noexcept {
  const Model& m = p.model;
  const double tp = s.tp;
  Widths l;
  l.seq = static_cast<double>(p.work.seq) / s.cp;
  l.tokens = s.microbatch * l.seq;
  l.norm_tokens = s.sp ? l.tokens / tp : l.tokens;
  l.hidden = m.hidden;
  l.images = static_cast<double>(s.microbatch) * p.work.images / s.cp;
  l.shared = s.sp ? tp : 1;
  l.vocab = padded_vocab(m, tp);
  if (m.experts.count > 0) {
    const Experts& e = m.experts;
    l.local_experts = static_cast<double>(e.count) / s.ep;
    // With tp the tokens of all tensor-parallel ranks are routed; etp ranks see the same ones.
    l.routed_tokens = l.tokens / tp;
    l.expert_tokens = l.routed_tokens * e.topk * s.etp;
    l.joined_tokens = s.ep > 1 ? l.expert_tokens : l.routed_tokens * s.etp;
  }
  l.tensor = spread_out(p.network, tp, 1);
  l.context = spread_out(p.network, s.cp, tp);
  l.expert = spread_out(p.network, s.ep, s.etp);
  l.slices = spread_out(p.network, s.etp, 1);
  return l;
}

int expert_shards(const Strategy& s) noexcept {
  const int experts = s.ep * s.etp;
  const int all = std::max(1, s.tp * s.cp * s.dp / experts);
  int n = std::max(1, s.tp * s.cp * (s.shard > 0 ? s.shard : s.dp) / experts);
  while (all % n != 0) --n;
  return n;
}

Groups groups_of(const Problem& p, const Strategy& s) noexcept {
  const double tp = s.tp;
  const double cp = s.cp;
  const double replicas = static_cast<double>(s.dp) * cp;
  const bool pipeline_inside = s.order == Order::tp_cp_ep_pp_dp;
  const double dp_stride = pipeline_inside && s.cp == 1 ? tp * s.pp : tp;
  Groups g;
  g.data = spread_out(p.network, replicas, dp_stride);
  const double sharing = s.shard > 0 ? s.shard * cp : replicas;
  g.shard = spread_out(p.network, sharing, dp_stride);
  g.across = spread_out(p.network, replicas / sharing, dp_stride * sharing);
  const double expert_ranks = static_cast<double>(s.ep) * s.etp;
  g.expert_data = spread_out(p.network, tp * replicas / expert_ranks, expert_ranks);
  const double expert_sharing = expert_shards(s);
  g.expert_shard = spread_out(p.network, expert_sharing, expert_ranks);
  g.expert_across = spread_out(p.network, tp * replicas / expert_ranks / expert_sharing,
                               expert_ranks * expert_sharing);
  const double pp_stride = pipeline_inside ? tp * cp : tp * replicas;
  g.pipeline = spread_out(p.network, std::min(2, s.pp), pp_stride);
  const int ends = std::min(2, s.pp);
  g.ends = {ends, pp_stride * (s.pp - 1) < p.network.devices_per_node ? ends : 1};
  return g;
}

LayerRange chunk_layers(const Problem& p, const Strategy& s, int stage, int chunk) noexcept {
  if (p.runtime.balanced_stages && s.interleave == 1) {
    return {layers_before(p.model, s.pp, stage), layers_before(p.model, s.pp, stage + 1)};
  }
  const int chunks = s.pp * s.interleave;
  const int at = chunk * s.pp + stage;
  const int layers = p.graph.layers;
  // Where the last chunk has prediction layers and their heads it has as few others as can be, then
  // the first (Megatron-Bridge's layouts of DeepSeek-V3: 4 layers each and 1 beside the prediction
  // layer, or 1, then 2 each, and the prediction layer alone).
  const int each = (layers + chunks - 1) / chunks;
  const int missing = each * chunks - layers;
  const int of_first = std::max(0, missing - std::max(0, each - p.ahead));
  if (p.ahead > 0 && p.ahead <= each && of_first < each) {
    const auto start = [&](int n) { return std::clamp(n * each - of_first, 0, layers); };
    return {start(at), start(at + 1)};
  }
  return {chunk_start(layers, chunks, at), chunk_start(layers, chunks, at + 1)};
}

StageKind stage_of(const Problem& p, const Strategy& s, int stage) noexcept {
  StageKind kind;
  kind.index = stage;
  kind.first = stage == 0;
  kind.last = stage == s.pp - 1;
  for (int c = 0; c < s.interleave; ++c) {
    const LayerRange held = chunk_layers(p, s, stage, c);
    kind.layers += held.last - held.first;
    p.graph.count(held.first, held.last, kind.types);
  }
  return kind;
}

StageKind scheduled(const Strategy& s, StageKind kind) noexcept {
  if (s.schedule == Schedule::zero_bubble_v) kind.last = kind.first;
  return kind;
}

Stages stages_of(const Problem& p, const Strategy& s) noexcept {
  Stages found;
  for (int i = 0; i < s.pp; ++i) {
    const StageKind kind = stage_of(p, s, i);
    const bool ends = kind.first || kind.last;
    const auto begin = found.kinds.begin() + std::min(1, found.count);
    const auto end = found.kinds.begin() + found.count;
    auto known = std::find_if(begin, end,
                              [&](const StageKind& k) { return !ends && k.types == kind.types; });
    // Room is left for the last stage.
    if (known == end && !ends && found.count == Stages::most - 1) {
      known = std::min_element(begin, end, [&](const StageKind& a, const StageKind& b) {
        return std::abs(a.layers - kind.layers) < std::abs(b.layers - kind.layers);
      });
    }
    if (known != end) {
      ++known->count;
    } else {
      found.kinds[static_cast<std::size_t>(found.count++)] = kind;
    }
  }
  return found;
}

RankParameters rank_parameters(const Problem& p, const Strategy& s,
                               const StageKind& stage) noexcept {
  const ParameterCount& n = p.parameters;
  const graph::Graph& g = p.graph;
  const double tp = s.tp;
  RankParameters r;
  r.dense = stage.layers / g.layers * g.ends;
  for (int t = 0; t < g.type_count; ++t) {
    const auto at = static_cast<std::size_t>(t);
    const double count = stage.types[at];
    for (const int branch : {g.types[at].mixer, g.types[at].mlp}) {
      if (branch < 0 || count == 0) continue;
      const graph::Branch& b = g.branches[static_cast<std::size_t>(branch)];
      r.dense += count * b.weights.on(tp);
      r.published += count * b.published.on(tp);
      r.experts += count * b.routed / (static_cast<double>(s.ep) * s.etp);
    }
  }
  const double padding = p.model.vocab > 0 ? padded_vocab(p.model, tp) * tp / p.model.vocab : 1;
  if (stage.first) {
    r.embedding = (n.embedding + n.per_layer_embedding) * padding / tp;
    for (const graph::Branch& b : g.tower) r.vision += b.layers * b.weights.on(tp);
  }
  if (stage.last) {
    r.head = n.head * padding / tp;
    if (p.model.tied && !stage.first) r.head = n.embedding * padding / tp;  // a copy
  }
  return r;
}

RankParameters trained_parameters(const Problem& p, const Strategy& s,
                                  const StageKind& stage) noexcept {
  const Tuning& tuning = p.work.tuning;
  RankParameters r = passed_parameters(p, s, stage);
  if (trains_all(tuning)) return r;
  const graph::Graph& g = p.graph;
  r.dense = tuning.rank == 0 && !tuning.frozen.norms ? stage.layers / g.layers * g.ends : 0;
  r.experts = 0;
  const auto add = [&](int branch, double count) {
    if (branch < 0 || count == 0) return;
    for (const graph::Operator& op : g.branches[static_cast<std::size_t>(branch)].operators) {
      const bool routed = op.kind == graph::Kind::experts;
      if (routed) {
        r.experts += count * adapter_parameters(tuning, op, s.etp) / s.ep;
      } else {
        r.dense += count * adapter_parameters(tuning, op, s.tp);
      }
      if (!is_trained(tuning, op)) continue;
      if (routed) {
        r.experts += count * op.weights.all() / (static_cast<double>(s.ep) * s.etp);
      } else {
        r.dense += count * op.weights.on(s.tp);
      }
    }
  };
  for (int t = 0; t < g.type_count; ++t) {
    const auto at = static_cast<std::size_t>(t);
    add(g.types[at].mixer, stage.types[at]);
    add(g.types[at].mlp, stage.types[at]);
  }
  if (tuning.rank > 0 || tuning.frozen.embedding) r.embedding = 0;
  if (tuning.rank > 0 || tuning.frozen.head) r.head = 0;
  if (tuning.rank > 0 || tuning.frozen.vision) r.vision = 0;
  return r;
}

RankParameters passed_parameters(const Problem& p, const Strategy& s,
                                 const StageKind& stage) noexcept {
  RankParameters r = rank_parameters(p, s, stage);
  if (p.work.images == 0) r.vision = 0;
  return r;
}

}  // namespace sextant
