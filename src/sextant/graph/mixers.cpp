// SPDX-License-Identifier: Apache-2.0
// The branches that mix tokens: attention and recurrences.
#include "sextant/graph/branches.hpp"

namespace sextant::graph {
namespace {

/// Shape of the attention in one kind of layer; layers with and without a window may differ.
struct HeadShape {
  double heads;
  double kv_heads;
  double head_dim;
  double value_dim;
  bool shared_kv;
};

HeadShape shape_of(const Attention& a, bool windowed) {
  HeadShape s{double(a.heads), double(a.kv_heads), double(a.head_dim), 0, a.shared_kv};
  if (!windowed) {
    if (a.global_heads > 0) s.heads = a.global_heads;
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

/// What comes out of each head times a number that the layer's input gives it (Step-3.5, Ling 3).
void gate_heads(const Model& m, BranchMaker& b, double heads, double width) {
  Operator& gate =
      b.linear("head gate", Cut::columns, whole(m.hidden), cut(heads), Bucket::attention);
  gate.after_norm = true;
  gate.alone = false;  // its input is gathered for the queries
  gate.kept.wide = gate.out;
  Operator& times = b.streamed("gate heads", StreamOp::silu_mul, Cut::columns, cut(width), 4, 8);
  times.kept.wide = times.out;
}

}  // namespace

Branch grouped_attention(const Model& m, bool windowed, bool reuses, int norms) {
  const Attention& a = m.attention;
  const HeadShape s = shape_of(a, windowed);
  const double q = s.heads * s.head_dim;
  const double mixed = s.heads * s.value_dim;
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
    n.weights = whole(a.qk_norm_wide ? (s.heads + s.kv_heads) * s.head_dim : 2 * s.head_dim);
    n.bucket = Bucket::norms;
  }
  rotate(m, b, with_keys(q, key));
  Operator core{.kind = Kind::attention, .name = "attention", .cut = Cut::columns, .out = cut(q)};
  core.module = Module::core;
  core.bucket = Bucket::attention;
  core.weights = cut(a.sinks ? s.heads : 0);
  core.kept = {.wide = cut(mixed), .copy = cut(mixed)};
  core.mixer = {.heads = s.heads,
                .kv_heads = s.kv_heads,
                .head_dim = s.head_dim,
                .value_dim = s.value_dim,
                .window = windowed ? double(a.window) : 0,
                .sinks = a.sinks};
  core.cache = {.elements = with_keys(0, stored), .window = core.mixer.window};
  b.add(core);
  if (a.head_gate) gate_heads(m, b, s.heads, mixed);
  output_projection(m, b, mixed);
  b.end();
  return b.take();
}

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

namespace {

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

}  // namespace

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
  if (a.head_gate) gate_heads(m, b, heads, v);
  output_projection(m, b, v);
  b.end();
  return b.take();
}

namespace {

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
/// rank, Ling's by full ones; lightning attention has no convolution and decays by constants.
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
  // z, x, B, C, dt; or q, k, v, z, beta, alpha, which may be of every channel of the keys; of low
  // rank q, k, v, beta.
  const bool by_head = delta && rank == 0 && !r.channel_gates;
  const double of_heads = lightning ? 0 : by_head ? 2 * heads : heads;
  const double of_channels =
      (rank > 0 ? inner : 2 * inner) + shared + (r.channel_gates ? shared / 2 : 0);
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
  // Ling's lightning attention norms and rotates queries and keys as its other layers do;
  // MiniMax's does neither.
  if (lightning && m.attention.qk_norm) {
    Operator& n = b.streamed("head norms", StreamOp::rmsnorm, Cut::columns, cut(shared), 4, 8);
    n.weights = whole(2.0 * r.state);
    n.bucket = Bucket::norms;
    n.kept.wide = n.out;
    rotate(m, b, cut(shared));
  }
  // A, dt bias, and Mamba's D.
  const double steps = rank > 0 || r.channel_gates ? shared / 2 : heads;
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

}  // namespace

Branch recurrence(const Model& m, int norms) {
  if (m.hybrid.kind == Recurrence::convolution) return gated_convolution(m, norms);
  return (m.hybrid.kind == Recurrence::mamba1 ? selective : recurrent)(m, norms);
}

Branch side_by_side(const Model& m, Branch attention, Branch recurrence) {
  BranchMaker b(m, "attention and recurrence");
  const auto take = [&](Branch& from) {
    for (Operator& op : from.operators) {
      if (op.kind != Kind::residual) b.add(std::move(op));
    }
  };
  take(attention);
  recurrence.operators.front().kept.input = false;  // kept for attention
  take(recurrence);
  b.streamed("sum", StreamOp::add, Cut::whole, whole(m.hidden), 6, 4);
  b.residual();
  return b.take();
}

}  // namespace sextant::graph
