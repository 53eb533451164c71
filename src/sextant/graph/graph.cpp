// SPDX-License-Identifier: Apache-2.0
#include "sextant/graph/graph.hpp"

#include <utility>

namespace sextant::graph {
namespace {

Width cut(double n) { return {.cut = n}; }
Width whole(double n) { return {.whole = n}; }

/// Whether item i of n is one of `marked` that are dealt evenly, each the last of its round.
bool dealt(int i, int marked, int n) {
  const auto upto = [&](std::int64_t k) { return k * marked / n; };
  return upto(i + 1) > upto(i);
}

/// Makes the operators of one branch.
class BranchMaker {
 public:
  BranchMaker(const Model& m, std::string_view name, Module module = Module::none) : m_(m) {
    branch_.name = name;
    branch_.module = module;
  }

  Branch take() { return std::move(branch_); }

  Operator& add(Operator op) {
    branch_.operators.push_back(std::move(op));
    return branch_.operators.back();
  }

  /// A norm of the model's own kind over the residual stream.
  void norm(const char* name, bool input = true) {
    const double statistics = m_.norm == Norm::layernorm ? 8 : 4;  // fp32 mean and 1/σ
    Operator op{.kind = Kind::norm, .name = name, .out = whole(m_.hidden)};
    op.module = input ? Module::norms : Module::none;
    op.stream = m_.norm == Norm::layernorm ? StreamOp::layernorm : StreamOp::rmsnorm;
    op.bucket = Bucket::norms;
    op.weights = whole(m_.hidden * (m_.norm_bias ? 2.0 : 1.0));
    op.kept = {.wide = whole(m_.hidden), .bytes = whole(statistics)};
    add(op);
  }

  Operator& linear(const char* name, Cut how, Width in, Width out, Bucket bucket,
                   bool bias = false) {
    Operator op{.kind = Kind::linear, .name = name, .cut = how, .in = in, .out = out};
    op.bias = bias;
    op.bucket = bucket;
    const double rows = in.all() + (bias ? 1 : 0);
    if (how == Cut::whole) {
      op.weights = whole(rows * out.all());
    } else if (how == Cut::columns) {
      op.weights = {.cut = rows * out.cut, .kv = rows * out.kv, .kv_heads = out.kv_heads};
    } else {
      op.weights = cut(rows * out.all());
    }
    return add(op);
  }

  /// Numbers that stream: so many bytes an element, forward and backward.
  Operator& streamed(const char* name, StreamOp stream, Cut how, Width width, double ahead,
                     double back) {
    Operator op{.kind = Kind::elementwise, .name = name, .cut = how, .out = width};
    op.stream = stream;
    op.ahead = ahead;
    op.back = back;
    return add(op);
  }

  void residual() { add({.kind = Kind::residual, .name = "residual", .out = whole(m_.hidden)}); }

  /// Norms of the branch: the first before it, the others behind it.
  bool begin(int norms) {
    behind_ = std::max(0, norms - 1);
    if (norms > 0) norm("norm");
    return norms > 0;
  }
  void end() {
    for (int i = 0; i < behind_; ++i) norm("output norm", false);
    residual();
  }

  /// Up, activation, down. `input`: its norm's output is kept for it.
  void mlp(bool shared, double ffn, Bucket bucket, bool bias, bool input) {
    const double halves = gated(m_.mlp) ? 2 : 1;
    Operator& up = linear(shared ? "shared up" : "up", Cut::columns, whole(m_.hidden),
                          cut(halves * ffn), bucket, bias);
    up.after_norm = true;
    up.gated = gated(m_.mlp);
    up.kept = {.gate = cut(halves * ffn), .input = input};
    up.alone = input || shared;
    up.aside = shared;
    Operator act{.kind = Kind::activation, .cut = Cut::columns, .out = cut(ffn)};
    act.name = shared ? "shared activation" : "activation";
    act.module = Module::activation;
    act.gated = gated(m_.mlp);
    act.kept.operand = cut(ffn);
    act.aside = shared;
    add(act);
    Operator& down = linear(shared ? "shared down" : "down", Cut::rows, cut(ffn), whole(m_.hidden),
                            bucket, bias);
    down.last = !shared;
    down.aside = shared;
  }

 private:
  const Model& m_;
  Branch branch_;
  int behind_ = 0;
};

/// Shape of the attention in one kind of layer; layers with and without a window may differ.
struct HeadShape {
  double kv_heads;
  double head_dim;
  double value_dim;
  bool shared_kv;
};

HeadShape shape_of(const Attention& a, bool windowed) {
  HeadShape s{double(a.kv_heads), double(a.head_dim), 0, a.shared_kv};
  if (!windowed) {
    if (a.global_kv_heads > 0) s.kv_heads = a.global_kv_heads;
    if (a.global_head_dim > 0) s.head_dim = a.global_head_dim;
    s.shared_kv = s.shared_kv || a.global_shared_kv;
  }
  s.value_dim = a.value_dim > 0 && !s.shared_kv ? a.value_dim : s.head_dim;
  return s;
}

void rotate(const Model& m, BranchMaker& b, Width width, Module module = Module::none) {
  if (m.position != Position::rope) return;
  b.add({.kind = Kind::rotation,
         .name = "rope",
         .cut = Cut::columns,
         .out = width,
         .module = module});
}

/// The output projection, where given in two steps: groups of heads to a rank each, then out.
void output_projection(const Model& m, BranchMaker& b, double width) {
  const Attention& a = m.attention;
  double in = width;
  if (a.output_rank > 0) {
    const double groups = a.output_groups;
    Operator& down = b.linear("output down", Cut::columns, whole(width / groups),
                              whole(a.output_rank), Bucket::attention);
    down.groups = groups;
    down.weights = cut(width * a.output_rank);
    in = groups * a.output_rank;
  }
  Operator& out = b.linear("output", Cut::rows, cut(in), whole(m.hidden), Bucket::attention);
  out.bias = a.output_bias;
  out.alone = !m.parallel_block;
  if (a.output_bias) out.weights.cut += m.hidden;
}

/// Multi-head and grouped attention. Layers that reuse keys and values of an earlier one have
/// neither projections nor a cache of them.
Branch grouped_attention(const Model& m, bool windowed, bool reuses, int norms) {
  const Attention& a = m.attention;
  const HeadShape s = shape_of(a, windowed);
  const double q = a.heads * s.head_dim;
  const double mixed = a.heads * s.value_dim;
  const double queries = a.gate ? q + mixed : q;
  const double kept_queries = a.gate ? queries + mixed : q;
  const double key = s.kv_heads * s.head_dim;
  const double both = key + s.kv_heads * s.value_dim;
  const double stored = s.shared_kv ? key : both;
  const auto with_keys = [&](double of_queries, double of_keys) {
    return Width{.cut = of_queries, .kv = reuses ? 0 : of_keys, .kv_heads = s.kv_heads};
  };
  constexpr const char* names[] = {"attention", "windowed attention", "attention, shared keys",
                                   "windowed attention, shared keys"};
  BranchMaker b(m, names[(windowed ? 1 : 0) + (reuses ? 2 : 0)]);
  b.begin(norms);
  Operator* first = nullptr;
  if (a.q_rank > 0) {
    first =
        &b.linear("query down", Cut::whole, whole(m.hidden), whole(a.q_rank), Bucket::attention);
    first->kept.input = true;
    first->after_norm = true;
    Operator& norm = b.streamed("query norm", StreamOp::rmsnorm, Cut::whole, whole(a.q_rank), 4, 8);
    norm.weights = whole(a.q_rank);
    norm.bucket = Bucket::norms;
    Operator& up = b.linear("query up", Cut::columns, whole(a.q_rank), cut(queries),
                            Bucket::attention, a.qkv_bias);
    up.after_norm = true;
    up.weights.cut = a.q_rank * queries + (a.qkv_bias ? queries : 0);
    up.kept.wide = cut(kept_queries);
    if (!reuses) {
      Operator& kv = b.linear("key and value", Cut::columns, whole(m.hidden), with_keys(0, stored),
                              Bucket::attention, a.qkv_bias);
      kv.after_norm = true;
      kv.kept.wide = with_keys(0, both);
    }
  } else {
    Operator& qkv = b.linear("qkv", Cut::columns, whole(m.hidden), with_keys(queries, stored),
                             Bucket::attention, a.qkv_bias);
    qkv.after_norm = true;
    qkv.kept = {.wide = with_keys(kept_queries, both), .input = true};
  }
  if (a.qk_norm || a.qk_norm_wide) {
    Operator& n =
        b.streamed("head norms", StreamOp::rmsnorm, Cut::columns, with_keys(q, key), 4, 8);
    n.kept.wide = n.out;
    n.weights = whole(a.qk_norm_wide ? (a.heads + s.kv_heads) * s.head_dim : 2 * s.head_dim);
    n.bucket = Bucket::norms;
  }
  rotate(m, b, with_keys(q, key));
  Operator core{.kind = Kind::attention, .name = "attention", .cut = Cut::columns, .out = cut(q)};
  core.module = Module::core;
  core.bucket = Bucket::attention;
  core.weights = cut(a.sinks ? a.heads : 0);
  core.kept = {.wide = cut(mixed), .copy = cut(mixed)};
  core.mixer = {.heads = double(a.heads),
                .kv_heads = s.kv_heads,
                .head_dim = s.head_dim,
                .value_dim = s.value_dim,
                .window = windowed ? double(a.window) : 0,
                .sinks = a.sinks};
  core.cache = {.elements = with_keys(0, stored), .window = core.mixer.window};
  b.add(core);
  output_projection(m, b, mixed);
  b.end();
  return b.take();
}

/// Llama 3.2 Vision: text asks, what the tower made of images answers; its keys and values are made
/// once and kept. Positions play no part.
Branch cross_attention(const Model& m, int norms) {
  const Attention& a = m.attention;
  const double q = double(a.heads) * a.head_dim;
  const double key = double(a.kv_heads) * a.head_dim;
  const double tokens = image_shape(m.vision).tokens;
  const auto keys = [&](double n) { return Width{.kv = n, .kv_heads = double(a.kv_heads)}; };
  BranchMaker b(m, "cross attention");
  b.begin(norms);
  Operator& ask = b.linear("query", Cut::columns, whole(m.hidden), cut(q), Bucket::attention);
  ask.after_norm = true;
  ask.kept = {.wide = cut(q), .input = true};
  Operator& answer = b.linear("image key and value", Cut::columns, whole(m.hidden), keys(2 * key),
                              Bucket::attention);
  answer.per_image = tokens;
  answer.kept.wide = answer.out;
  Operator& n = b.streamed("head norms", StreamOp::rmsnorm, Cut::columns, cut(q), 4, 8);
  n.kept.wide = n.out;
  n.weights = whole(2.0 * a.head_dim);
  n.bucket = Bucket::norms;
  Operator core{.kind = Kind::attention, .name = "attention", .cut = Cut::columns, .out = cut(q)};
  core.module = Module::core;
  core.kept = {.wide = cut(q), .copy = cut(q)};
  core.mixer = {.heads = double(a.heads),
                .kv_heads = double(a.kv_heads),
                .head_dim = double(a.head_dim),
                .value_dim = double(a.head_dim),
                .image = tokens};
  core.cache.image = keys(2 * key * tokens);
  b.add(core);
  output_projection(m, b, q);
  b.end();
  Branch made = b.take();
  made.cross = true;
  return made;
}

/// DeepSeek-V3.2's lightning indexer: a few small heads score every earlier token, attention looks
/// at the best. On every tensor-parallel rank; its keys are cached in 8 bits with a scale.
void index_tokens(const Model& m, BranchMaker& b) {
  const Attention& a = m.attention;
  const double heads = a.index_heads;
  const double dim = a.index_dim;
  const double in = a.q_rank > 0 ? a.q_rank : m.hidden;
  const Bucket attention = Bucket::attention;
  b.linear("index queries", Cut::whole, whole(in), whole(heads * dim), attention);
  b.linear("index keys", Cut::whole, whole(m.hidden), whole(dim + heads), attention);
  Operator op{.kind = Kind::indexer, .name = "indexer", .out = whole(heads * dim)};
  op.module = Module::core;
  op.weights = whole(2 * dim);
  op.bucket = Bucket::norms;
  op.kept.wide = whole(heads * dim + dim + heads);
  op.mixer = {.heads = heads, .head_dim = dim, .top = double(a.index_top)};
  op.cache.bytes = dim + 4;
  b.add(op);
}

/// DeepSeek-V2, arXiv 2405.04434, section 2.1: W_DQ, W_UQ, W_DKV with W_KR, W_UK with W_UV, W_O.
/// Down-projections are on every rank; up-projections are cut by heads.
Branch latent_attention(const Model& m, bool windowed, bool, int norms) {
  const Attention& a = m.attention;
  const double heads = a.heads;
  const double q = heads * (double(a.nope_dim) + a.rope_dim);
  const double v = heads * a.value_dim;
  const double ranks = double(a.q_rank) + a.kv_rank;
  const Bucket attention = Bucket::attention;
  BranchMaker b(m, windowed ? "windowed attention" : "attention");
  b.begin(norms);
  Operator& down = b.linear("down projections", Cut::whole, whole(m.hidden),
                            whole(ranks + a.rope_dim), attention);
  down.after_norm = true;
  down.kept = {.wide = whole(2 * ranks + a.rope_dim), .input = true};
  if (a.qkv_bias) {
    down.weights.whole += (a.q_rank > 0 ? a.q_rank : q) + a.kv_rank + a.rope_dim;
  }
  Operator& latent = b.streamed("latent norms", StreamOp::rmsnorm, Cut::whole, whole(ranks), 4, 8);
  latent.weights = whole(ranks);
  latent.bucket = Bucket::norms;
  latent.module = Module::latent;
  Operator& up = b.linear("query up", Cut::columns, whole(a.q_rank > 0 ? a.q_rank : m.hidden),
                          cut(q), attention);
  up.after_norm = true;
  up.module = Module::latent;
  up.kept.wide = cut(q);
  Operator& kv = b.linear("key and value up", Cut::columns, whole(a.kv_rank),
                          cut(heads * (double(a.nope_dim) + a.value_dim)), attention);
  kv.after_norm = true;
  kv.absorbed = true;
  kv.module = Module::latent;
  kv.kept.wide = cut(q + v);
  const Mixer mixer{.heads = heads,
                    .kv_heads = heads,
                    .head_dim = double(a.nope_dim) + a.rope_dim,
                    .value_dim = double(a.value_dim),
                    .window = windowed ? double(a.window) : 0,
                    .top = double(a.index_top),
                    .latent = true,
                    .rank = double(a.kv_rank),
                    .nope = double(a.nope_dim),
                    .rope = double(a.rope_dim)};
  kv.mixer = mixer;
  if (a.index_heads > 0) index_tokens(m, b);
  rotate(m, b, cut(heads * a.rope_dim * 2), Module::latent);
  Operator core{.kind = Kind::attention, .name = "attention", .cut = Cut::columns, .out = cut(q)};
  core.module = Module::core;
  core.kept = {.wide = cut(v), .copy = cut(v)};
  core.mixer = mixer;
  core.cache = {.elements = whole(double(a.kv_rank) + a.rope_dim), .window = mixer.window};
  b.add(core);
  output_projection(m, b, v);
  b.end();
  return b.take();
}

/// The short convolution over so many channels; a sequence keeps its last inputs.
void convolve(const Hybrid& r, BranchMaker& b, double channels, bool bias) {
  Operator& taps = b.streamed("convolution", StreamOp::copy, Cut::columns, cut(channels), 4, 8);
  taps.weights = cut(channels * (r.conv + (bias ? 1.0 : 0.0)));
  taps.bucket = Bucket::recurrent;
  taps.kept.wide = taps.out;
  taps.cache.state = channels * (r.conv - 1.0) * 2;
}

/// The scan, whose fp32 state a sequence keeps. For the backward pass so many bytes of each number
/// of it once a chunk, and the mixed values before and after their gate.
void scan(const Hybrid& r, BranchMaker& b, double weights, double chunk, double bytes) {
  const double inner = double(r.heads) * r.head_dim;
  Operator op{.kind = Kind::scan, .name = "scan", .cut = Cut::columns, .out = cut(inner)};
  op.weights = cut(weights);
  op.bucket = Bucket::recurrent;
  op.kept = {.wide = cut(2 * inner), .bytes = cut(inner * r.state * bytes / chunk)};
  op.cache.state = inner * r.state * 4;
  op.mixer = {.heads = double(r.heads),
              .head_dim = double(r.head_dim),
              .recurrence = r.kind,
              .state = double(r.state),
              .groups = double(r.groups),
              .chunk = chunk};
  b.add(op);
}

/// Mamba (arXiv 2312.00752, section 3.4): projections of the values and their gate, a short
/// convolution, of its results the time steps, B and C, the scan with its gate, the way out. Tensor
/// parallelism cuts the channels; time steps of low rank, B and C are sums over all of them.
Branch selective(const Model& m, int norms) {
  const Hybrid& r = m.hybrid;
  const double inner = double(r.heads) * r.head_dim;
  const double rank = r.dt_rank;
  const double state = r.state;
  const Bucket bucket = Bucket::recurrent;
  BranchMaker b(m, "recurrence");
  b.begin(norms);
  Operator& in = b.linear("in projection", Cut::columns, whole(m.hidden), cut(2 * inner), bucket);
  in.after_norm = true;
  in.kept = {.wide = cut(2 * inner), .input = true};
  convolve(r, b, inner, true);
  Operator& x = b.linear("steps, B and C", Cut::rows, cut(inner), whole(rank + 2 * state), bucket);
  x.kept.wide = x.out;
  const bool normed = r.inner_norms != InnerNorms::none;
  if (normed) {
    const std::pair<const char*, double> all[] = {
        {"norm of steps", rank}, {"norm of B", state}, {"norm of C", state}};
    for (const auto& [name, width] : all) {
      Operator& n = b.streamed(name, StreamOp::rmsnorm, Cut::whole, whole(width), 4, 8);
      n.weights = whole(r.inner_norms == InnerNorms::weighted ? width : 0);
      n.bucket = Bucket::norms;
      n.kept.wide = n.out;
    }
  }
  Operator& steps = b.linear("steps", Cut::columns, whole(rank), cut(inner), bucket, true);
  steps.after_norm = normed;
  steps.kept.wide = cut(inner);
  scan(r, b, inner * (state + 1), 2048, 8);  // A and D; the state and what decays it
  b.linear("out projection", Cut::rows, cut(inner), whole(m.hidden), bucket);
  b.end();
  return b.take();
}

/// Mamba-2 (arXiv 2405.21060), gated DeltaNet (arXiv 2412.06464) or lightning attention (arXiv
/// 2501.08313): a projection of everything, a short convolution, the scan, a gated norm, the way
/// out. Kimi's DeltaNet (arXiv 2510.26692) decays and gates every channel, by projections of low
/// rank; lightning attention has no convolution and decays by constants.
Branch recurrent(const Model& m, int norms) {
  const Hybrid& r = m.hybrid;
  const bool delta = r.kind == Recurrence::gated_delta;
  const bool lightning = r.kind == Recurrence::lightning;
  const double heads = r.heads;
  const double inner = heads * r.head_dim;
  const double shared = 2.0 * r.groups * r.state;  // B and C, or queries and keys
  const double rank = r.gate_rank;
  const Bucket bucket = Bucket::recurrent;
  BranchMaker b(m, "recurrence");
  b.begin(norms);
  // z, x, B, C, dt; or q, k, v, z, beta, alpha; of low rank q, k, v, beta.
  const double of_heads = lightning ? 0 : delta && rank == 0 ? 2 * heads : heads;
  const double of_channels = (rank > 0 ? inner : 2 * inner) + shared;
  Operator& in =
      b.linear("in projection", Cut::columns, whole(m.hidden), cut(of_channels + of_heads), bucket);
  in.after_norm = true;
  in.kept = {.wide = cut(of_channels), .input = true};
  if (rank > 0) {
    Operator& down = b.linear("gates down", Cut::whole, whole(m.hidden), whole(2 * rank), bucket);
    down.after_norm = true;
    down.kept.wide = down.out;
    Operator& up = b.linear("gates", Cut::columns, whole(rank), cut(shared / 2 + inner), bucket);
    up.kept.wide = up.out;
  }
  if (!lightning) convolve(r, b, inner + shared, !delta);
  // A, dt bias, and Mamba's D.
  const double steps = rank > 0 ? shared / 2 : heads;
  const double constants = lightning ? 0 : delta ? heads + steps : 3 * heads;
  scan(r, b, constants, delta ? 64 : 256, 4);
  Operator& gate = b.streamed("gate and norm", StreamOp::rmsnorm, Cut::columns, cut(inner), 6, 10);
  gate.weights = delta ? whole(r.head_dim) : cut(inner);
  gate.bucket = bucket;
  b.linear("out projection", Cut::rows, cut(inner), whole(m.hidden), bucket);
  b.end();
  return b.take();
}

/// LFM2's mixer: a projection to two gates and what passes them, a short convolution between them,
/// the way out. A sequence keeps the convolution's last inputs alone.
Branch gated_convolution(const Model& m, int norms) {
  const double h = m.hidden;
  const Bucket bucket = Bucket::recurrent;
  BranchMaker b(m, "recurrence");
  b.begin(norms);
  Operator& in = b.linear("in projection", Cut::columns, whole(h), cut(3 * h), bucket);
  in.after_norm = true;
  in.kept = {.wide = cut(3 * h), .input = true};
  b.streamed("input gate", StreamOp::silu_mul, Cut::columns, cut(2 * h), 3, 5);
  convolve(m.hybrid, b, h, false);
  b.streamed("output gate", StreamOp::silu_mul, Cut::columns, cut(2 * h), 3, 5);
  b.linear("out projection", Cut::rows, cut(h), whole(h), bucket);
  b.end();
  return b.take();
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
    mixers_ = counts_.attention + counts_.recurrent;
    mlps_ = counts_.dense + counts_.experts;
    exclusive_ = mixers_ + mlps_ == m.layers && mlps_ < m.layers;
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
    recurrence,
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
    if (!dealt(j, counts_.attention, mixers_)) return made(recurrence);
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
      case recurrence:
        if (m_.hybrid.kind == Recurrence::convolution) return gated_convolution(m_, norms(true));
        return (m_.hybrid.kind == Recurrence::mamba1 ? selective : recurrent)(m_, norms(true));
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
    return (latent ? latent_attention : grouped_attention)(m_, window, reuses, norms(true));
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
