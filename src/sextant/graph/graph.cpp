// SPDX-License-Identifier: Apache-2.0
#include "sextant/graph/graph.hpp"

#include <utility>

#include "sextant/graph/branches.hpp"

namespace sextant::graph {
namespace {

/// Whether item i of n is one of `marked` that are dealt evenly, each the last of its round.
bool dealt(int i, int marked, int n) {
  const auto upto = [&](std::int64_t k) { return k * marked / n; };
  return upto(i + 1) > upto(i);
}

/// A second embedding that every layer has (Gemma 3n): gate, product, projection, norm.
void per_layer_embedding(const Model& m, BranchMaker& b) {
  const double p = m.per_layer_embedding;
  if (p == 0) return;
  b.linear("layer gate", Cut::whole, whole(m.hidden), whole(p), Bucket::mlp);
  b.streamed("layer gating", StreamOp::silu_mul, Cut::whole, whole(2 * p), 3, 5);
  b.linear("layer projection", Cut::whole, whole(p), whole(m.hidden), Bucket::mlp);
  b.norm("layer norm", false);
}

Branch dense(const Model& m, bool wide, int norms) {
  BranchMaker b(m, wide ? "wide mlp" : "mlp", Module::mlp);
  const bool input = b.begin(norms);
  b.mlp(false, (wide ? 2.0 : 1.0) * m.ffn, Bucket::mlp, m.mlp_bias, input);
  per_layer_embedding(m, b);
  b.end();
  return b.take();
}

Branch experts(const Model& m, int norms) {
  const Experts& e = m.experts;
  const double h = m.hidden;
  const double halves = gated(m.mlp) ? 2 : 1;
  const double width = e.latent > 0 ? e.latent : h;
  BranchMaker b(m, "experts", Module::experts);
  const bool input = b.begin(norms);
  Operator& router = b.linear("router", Cut::whole, whole(h), whole(e.count), Bucket::router);
  router.wide = true;
  router.kept = {.bytes = whole(8.0 * e.count), .input = input};  // logits, probabilities in fp32
  if (e.router_bias) router.weights.whole += e.count;
  if (e.latent > 0) b.linear("to latent", Cut::whole, whole(h), whole(width), Bucket::shared);
  if (e.shared > 0) {
    b.mlp(true, e.shared_ffn, Bucket::shared, e.bias, false);
    if (e.shared_gate) {
      Operator& gate = b.linear("shared gate", Cut::whole, whole(h), whole(1), Bucket::shared);
      gate.wide = true;
      gate.aside = true;
    }
  }
  Operator routed{.kind = Kind::experts, .name = "experts", .out = whole(width)};
  routed.bucket = Bucket::experts;
  routed.bias = e.bias;
  routed.routed = {.count = e.count,
                   .served = served(e),
                   .topk = double(e.topk),
                   .width = width,
                   .ffn = double(e.ffn),
                   .halves = halves,
                   .most_nodes = double(e.most_nodes),
                   .imbalance = e.imbalance,
                   .skew = e.skew};
  const double bias = e.bias ? halves * e.ffn + width : 0;
  routed.weights = cut(e.count * ((halves + 1) * width * e.ffn + bias));
  b.add(routed);
  if (e.latent > 0) b.linear("from latent", Cut::whole, whole(width), whole(h), Bucket::shared);
  per_layer_embedding(m, b);
  b.end();
  return b.take();
}

double embedding_width(const Model& m) {
  return m.embedding_width > 0 ? m.embedding_width : m.hidden;
}

Branch embedding(const Model& m) {
  const double h = m.hidden;
  const double width = embedding_width(m);
  BranchMaker b(m, "embedding");
  Operator look{.kind = Kind::lookup, .name = "look-up", .out = whole(width)};
  look.weights = cut(m.vocab * width);
  look.bucket = Bucket::embedding;
  b.add(look);
  if (m.embedding_width > 0) {
    b.linear("project in", Cut::whole, whole(width), whole(h), Bucket::embedding);
  }
  if (m.position == Position::learned) {
    Operator& p = b.streamed("positions", StreamOp::add, Cut::whole, whole(h), 6, 4);
    p.weights = cut(m.max_context * h);
    p.bucket = Bucket::embedding;
  }
  if (m.embedding_norm) b.norm("embedding norm", false);
  if (m.per_layer_embedding > 0) {
    const double p = m.per_layer_embedding;
    Operator& table =
        b.streamed("layer look-up", StreamOp::copy, Cut::whole, whole(m.layers * p), 4, 12);
    table.weights = cut(double(m.vocab) * m.layers * p);
    table.bucket = Bucket::per_layer_embedding;
    b.linear("layer inputs", Cut::whole, whole(h), whole(m.layers * p), Bucket::mlp);
    Operator& norm =
        b.streamed("layer inputs norm", StreamOp::rmsnorm, Cut::whole, whole(m.layers * p), 8, 10);
    norm.weights = whole(p);
    norm.bucket = Bucket::norms;
  }
  Branch made = b.take();
  made.layers = 1;
  return made;
}

Branch head(const Model& m, Ahead ahead) {
  const double width = embedding_width(m);
  BranchMaker b(m, "head");
  // DeepSeek-V3 (arXiv 2412.19437, 2.2): norms of the state and of the next token's embedding, a
  // projection of both to one; the layer itself is among the model's, the output table is shared.
  for (int i = 0; i < ahead.inputs; ++i) {
    b.norm("state norm");
    b.norm("token norm");
    b.linear("look ahead", Cut::columns, whole(2.0 * m.hidden), cut(m.hidden), Bucket::head);
  }
  // The table is read once for every token that a position predicts, and held once.
  for (int i = ahead.heads; i >= 0; --i) {
    const bool own = i == 0;
    b.norm("final norm");
    if (m.embedding_width > 0) {
      b.linear("project out", Cut::whole, whole(m.hidden), whole(width), Bucket::embedding);
    }
    Operator& logits = b.linear(own ? "logits" : "logits ahead", Cut::columns, whole(width),
                                cut(m.vocab), Bucket::head, m.head_bias);
    logits.after_norm = logits.wide = logits.kept.input = true;
    const double table = own && !m.tied ? m.vocab * width : 0;
    logits.weights = cut(table + (own && m.head_bias ? m.vocab : 0));
    b.add({.kind = Kind::loss, .name = "cross-entropy", .cut = Cut::columns, .out = cut(m.vocab)});
  }
  Branch made = b.take();
  made.layers = 1;
  return made;
}

/// The tower as a model of its own, whose layers are made as any. Learned positions count for the
/// rotation that some towers have beside them.
Model tower_model(const Vision& t) {
  Model m;
  m.layers = t.layers;
  m.hidden = t.hidden;
  m.ffn = t.ffn;
  m.mlp = t.mlp;
  m.mlp_bias = t.mlp_bias;
  m.norm = t.norm;
  m.norm_bias = t.norm == Norm::layernorm;
  m.norms_per_layer = t.norms_per_layer;
  m.position = t.positions > 0 ? Position::none : Position::rope;
  m.attention = {.heads = t.heads,
                 .kv_heads = t.heads,
                 .head_dim = t.head_dim,
                 .window = t.window,
                 .qkv_bias = t.attention_bias,
                 .output_bias = t.attention_bias,
                 .qk_norm = t.qk_norm};
  return m;
}

/// Pixels to the tower's width, and what is added to them.
Branch patches(const Model& m, const Vision& t) {
  BranchMaker b(m, "patches");
  const double pixels = 3.0 * t.frames * t.patch * t.patch;
  b.linear("patch embedding", Cut::whole, whole(pixels), whole(m.hidden), Bucket::vision,
           t.patch_bias);
  const double rows = double(t.positions) + t.class_tokens;
  if (rows > 0) {
    Operator& p = b.streamed("positions", StreamOp::add, Cut::whole, whole(m.hidden), 6, 4);
    p.weights = whole(rows * m.hidden);
  }
  for (int i = 1; i < t.norms; ++i) b.norm("patch norm", false);
  Branch made = b.take();
  made.layers = 1;
  return made;
}

/// From the tower's width to the language model's. Pairs of multiplies are cut as an MLP is, a last
/// one alone is whole.
Branch projector(const Model& tower, const Model& m) {
  const Vision& t = m.vision;
  BranchMaker b(tower, "projector");
  if (t.norms > 0) b.norm("projector norm", false);
  const int last = t.projector_layers - 1;
  for (int i = 0; i <= last; ++i) {
    const double in = i == 0 ? t.projector_in : t.projector;
    const double out = i == last ? m.hidden : t.projector;
    const bool rows = i % 2 == 1;
    const bool columns = !rows && i < last;
    Operator& op = b.linear("projection",
                            columns ? Cut::columns
                            : rows  ? Cut::rows
                                    : Cut::whole,
                            rows ? cut(in) : whole(in), columns ? cut(out) : whole(out),
                            Bucket::vision, t.projector_bias);
    op.kept.wide = op.out;
    if (!columns) continue;
    Operator act{.kind = Kind::activation, .name = "activation", .cut = Cut::columns};
    act.out = cut(out);
    act.kept.operand = act.out;
    b.add(act);
  }
  Branch made = b.take();
  made.layers = t.projectors;
  return made;
}

/// Of a model that has one: patches, layers, projector.
std::vector<Branch> tower(const Model& m) {
  const Vision& t = m.vision;
  if (t.layers == 0) return {};
  const ImageShape image = image_shape(t);
  const Model shape = tower_model(t);
  const int norms = t.norms_per_layer;
  std::vector<Branch> all;
  all.push_back(patches(shape, t));
  const auto layers = [&](Branch made, std::string_view name, int count) {
    if (count == 0) return;
    made.name = name;
    made.layers = count;
    all.push_back(std::move(made));
  };
  const int windowed = t.window > 0 ? t.window_layers : 0;
  layers(grouped_attention(shape, true, false, (norms + 1) / 2), "image blocks", windowed);
  layers(grouped_attention(shape, false, false, (norms + 1) / 2), "image attention",
         t.layers - windowed);
  layers(dense(shape, false, norms / 2), "image mlp", t.layers);
  all.push_back(projector(shape, m));
  for (Branch& b : all) {
    const bool last = &b == &all.back();
    for (Operator& op : b.operators) {
      op.per_image = last && op.kind != Kind::norm ? image.tokens : image.patches();
      op.bucket = Bucket::vision;
      op.wide = true;
      op.cache = {};
      if (op.kind == Kind::attention) op.mixer.sequence = image.sequence;
    }
  }
  return all;
}

void add_to(Width& sum, const Width& w) {
  sum.cut += w.cut;
  sum.kv += w.kv;
  sum.whole += w.whole;
  if (w.kv > 0) sum.kv_heads = w.kv_heads;
}

void sum_weights(Branch& b) {
  for (const Operator& op : b.operators) {
    if (op.kind == Kind::experts) {
      b.routed += op.weights.all();
      continue;
    }
    add_to(b.weights, op.weights);
    if (op.published) add_to(b.published, op.weights);
  }
}

/// Marks what a checkpoint of narrow weights leaves as it was trained.
void leave_wide(Branch& b, Narrow narrow) {
  for (Operator& op : b.operators) {
    const bool way_out = op.cut == Cut::rows;
    op.published = op.kind == Kind::linear && !(narrow == Narrow::outputs && way_out);
  }
}

/// Deals branches to layers in the model's order: leading dense layers, or experts spread between
/// them, windows and recurrences spread evenly with the rarer kind at the end of each round (Gemma,
/// gpt-oss, Qwen3-Next), reuse of keys and values and wider MLPs in the last layers (Gemma 3n, 4).
class Dealer {
 public:
  Dealer(const Model& m, Ahead ahead) : m_(m), ahead_(ahead), counts_(count_layers(m)) {
    made_.fill(-1);
    mixers_ = counts_.attention + (m.hybrid.parallel ? 0 : counts_.recurrent);
    mlps_ = counts_.dense + counts_.experts;
    exclusive_ = one_branch_each(m);
  }

  Graph run() {
    g_.layers = m_.layers;
    std::vector<int> types;
    types.reserve(static_cast<std::size_t>(m_.layers));
    for (int i = 0; i < m_.layers; ++i) {
      const bool mixes = dealt(i, mixers_, m_.layers);
      const bool mlp = exclusive_ ? !mixes : dealt(i, mlps_, m_.layers);
      types.push_back(type_of({mixes ? next_mixer() : -1, mlp ? next_mlp() : -1}));
    }
    for (int i = 0; i < static_cast<int>(g_.branches.size()); ++i) {
      const auto mixes = [&](const LayerType& t) { return t.mixer == i; };
      const bool mixer = std::any_of(g_.types.begin(), g_.types.begin() + g_.type_count, mixes);
      const bool left = m_.narrow == Narrow::experts || (m_.narrow != Narrow::layers && mixer);
      if (left) leave_wide(g_.branches[static_cast<std::size_t>(i)], m_.narrow);
    }
    g_.branches.push_back(embedding(m_));
    g_.branches.push_back(head(m_, ahead_));
    g_.tower = tower(m_);
    for (Branch& b : g_.branches) sum_weights(b);
    for (Branch& b : g_.tower) sum_weights(b);
    for (const Branch* end : {&g_.embedding(), &g_.head()}) {
      for (const Operator& op : end->operators) {
        const bool table = op.bucket == Bucket::embedding || op.bucket == Bucket::head ||
                           op.bucket == Bucket::per_layer_embedding;
        if (!table) g_.ends += op.weights.all();
      }
    }
    const auto width = static_cast<std::size_t>(g_.type_count);
    g_.before.assign((types.size() + 1) * width, 0);
    for (std::size_t i = 0; i < types.size(); ++i) {
      for (std::size_t t = 0; t < width; ++t) {
        g_.before[(i + 1) * width + t] = g_.before[i * width + t] + (types[i] == int(t) ? 1 : 0);
      }
    }
    return std::move(g_);
  }

 private:
  enum Slot {
    full,
    windowed,
    full_reusing,
    windowed_reusing,
    recurring,
    plain,
    wide,
    routed,
    cross,
    cross_mlp,
    slots
  };

  /// Norms of a layer are shared out to its branches.
  int norms(bool first) const {
    if (exclusive_) return m_.norms_per_layer;
    return first ? (m_.norms_per_layer + 1) / 2 : m_.norms_per_layer / 2;
  }

  int next_mixer() {
    const int j = mixer_++;
    if (!dealt(j, counts_.attention, mixers_)) return made(recurring);
    const int k = attention_++;
    crosses_ = dealt(k, counts_.cross, counts_.attention);
    if (crosses_) return made(cross);
    const bool sees_all = dealt(k, counts_.attention - counts_.windowed, counts_.attention);
    const bool reuses = k >= counts_.attention - m_.attention.kv_shared_layers;
    return made(static_cast<Slot>((sees_all ? full : windowed) + (reuses ? 2 : 0)));
  }

  int next_mlp() {
    const int k = mlp_++;
    if (crosses_) return made(cross_mlp);
    if (m_.experts.spread ? dealt(k, counts_.experts, mlps_) : k >= counts_.dense) {
      return made(routed);
    }
    const int j = dense_++;
    return made(j >= counts_.dense - m_.wide_mlp_layers ? wide : plain);
  }

  int made(Slot slot) {
    int& at = made_[slot];
    if (at < 0) {
      at = static_cast<int>(g_.branches.size());
      g_.branches.push_back(make(slot));
    }
    ++g_.branches[static_cast<std::size_t>(at)].layers;
    return at;
  }

  Branch make(Slot slot) const {
    const bool latent = m_.attention.kind == AttentionKind::latent;
    switch (slot) {
      case recurring:
        return recurrence(m_, norms(true));
      case plain:
      case wide:
        return dense(m_, slot == wide, norms(false));
      case routed:
        return experts(m_, norms(false));
      case cross:
        return cross_attention(m_, norms(true));
      case cross_mlp: {
        Branch made = dense(m_, false, norms(false));
        made.name = "cross mlp";
        made.cross = true;
        return made;
      }
      default:
        break;
    }
    const bool window = slot == windowed || slot == windowed_reusing;
    const bool reuses = slot == full_reusing || slot == windowed_reusing;
    Branch made = (latent ? latent_attention : grouped_attention)(m_, window, reuses, norms(true));
    if (!m_.hybrid.parallel) return made;
    return side_by_side(m_, std::move(made), recurrence(m_, 0));
  }

  int type_of(LayerType t) {
    for (int i = 0; i < g_.type_count; ++i) {
      const LayerType& known = g_.types[static_cast<std::size_t>(i)];
      if (known.mixer == t.mixer && known.mlp == t.mlp) return i;
    }
    if (g_.type_count == most_types) return most_types - 1;  // no model has that many
    g_.types[static_cast<std::size_t>(g_.type_count)] = t;
    return g_.type_count++;
  }

  const Model& m_;
  Ahead ahead_;
  LayerCount counts_;
  Graph g_;
  std::array<int, slots> made_;
  int mixers_ = 0, mlps_ = 0;
  bool exclusive_ = false;
  int mixer_ = 0, attention_ = 0, mlp_ = 0, dense_ = 0;
  bool crosses_ = false;  ///< the layer looks at images
};

}  // namespace

void Graph::count(int first, int last, TypeCount& to) const {
  const auto n = static_cast<std::size_t>(type_count);
  const int* from = before.data() + static_cast<std::size_t>(first) * n;
  const int* upto = before.data() + static_cast<std::size_t>(last) * n;
  for (std::size_t t = 0; t < n; ++t) to[t] += upto[t] - from[t];
}

TypeCount Graph::all() const {
  TypeCount n{};
  count(0, layers, n);
  return n;
}

Graph build(const Model& m, Ahead ahead) { return Dealer(m, ahead).run(); }

}  // namespace sextant::graph
