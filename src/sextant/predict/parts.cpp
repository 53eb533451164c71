// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/parts.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/cost/attention.hpp"
#include "sextant/cost/gemm.hpp"
#include "sextant/cost/power.hpp"
#include "sextant/cost/stream.hpp"

namespace sextant::training {

Seconds Phase::time() const {
  Seconds sum = compute;
  for (const Span& s : exchange.values) sum += s.exposed;
  return sum;
}

void Phase::add(const Phase& o, double times) {
  compute += times * o.compute;
  weights += times * o.weights;
  for (std::size_t i = 0; i < exchange.size; ++i) {
    exchange.values[i].busy += times * o.exchange.values[i].busy;
    exchange.values[i].exposed += times * o.exchange.values[i].exposed;
  }
  launches += times * o.launches;
  collectives += times * o.collectives;
  flops += times * o.flops;
  energy += times * o.energy;
  memory += times * o.memory;
  sent += times * o.sent;
}

void Part::add(const Part& o, double times) {
  forward.add(o.forward, times);
  recompute.add(o.recompute, times);
  backward.add(o.backward, times);
  once.add(o.once, times);
  accumulate.add(o.accumulate, times);
}

namespace {

/// Ranks of a group that meet without leaving the innermost network between nodes.
int group_inside(const Network& net, Group group) {
  int reach = 1;
  for (int i = 0; i < net.count; ++i) {
    const NetworkLevel& level = net.levels[static_cast<std::size_t>(i)];
    if (level.network && i > 0) break;
    reach = static_cast<int>(level.reach * group.per_node / net.devices_per_node);
  }
  return std::clamp(reach, 1, group.ranks);
}

/// How tensor parallelism cuts a weight.
enum class Cut : std::uint8_t { whole, columns, rows };

/// A weight matrix: y[tokens, out] = x[tokens, in]·Wᵀ, for `groups` experts at once.
struct Linear {
  const char* name;
  double tokens;
  double out;
  double in;
  Cut cut = Cut::whole;
  double groups = 1;
  bool bias = false;
  bool cast_fused = false;      ///< the kernel before writes x in 8 bits
  bool high_precision = false;  ///< never quantised
};

/// A multiply with its shape, for the record.
struct Multiply : KernelCost {
  Gemm shape;
};

std::string text_of(const KernelCost&) { return {}; }
std::string text_of(const Multiply& c) {
  const std::string one = whole(c.shape.m) + " x " + whole(c.shape.n) + " x " + whole(c.shape.k);
  return c.shape.batch > 1 ? whole(c.shape.batch) + " x (" + one + ")" : one;
}

constexpr double two_step_sums = 1.07;

template <class Trace>
class Composer {
 public:
  Composer(const Problem& p, const Strategy& s, const Widths& l, Hertz clock, Trace& trace)
      : p_(p), s_(s), l_(l), clock_(clock), trace_(trace) {
    full_ = s.recompute == Recompute::full;
  }

  Part attention(bool windowed) {
    begin(windowed ? 1 : 0);
    again_ = full_ || s_.modules.norms;
    norm("norm", l_.norm_tokens, l_.hidden);
    again_ = full_;
    projections();
    core(windowed);
    again_ = full_;
    linear({.name = "output",
            .tokens = l_.tokens,
            .out = l_.hidden,
            .in = latent() ? l_.v : l_.q,
            .cut = Cut::rows,
            .bias = p_.model.attention.output_bias});
    residual();
    return part_;
  }

  Part recurrent() {
    begin(2);
    const Hybrid& h = p_.model.hybrid;
    const double tp = s_.tp;
    const double inner = static_cast<double>(h.heads) * h.head_dim / tp;
    const double keys = static_cast<double>(h.groups) * h.state / tp;
    again_ = full_;
    norm("norm", l_.norm_tokens, l_.hidden);
    linear({.name = "in projection",
            .tokens = l_.tokens,
            .out = 2 * inner + 2 * keys + h.heads / tp,
            .in = l_.hidden,
            .cut = Cut::columns,
            .cast_fused = true});
    elementwise("convolution", StreamOp::copy, l_.tokens, inner + 2 * keys, 4, 8);
    // Chunked scan (Mamba-2, arXiv 2405.21060, section 6): scores and outputs inside a chunk, and
    // the states between chunks.
    constexpr double chunk = 256;
    const double chunks = std::max(1.0, l_.tokens / chunk) * h.heads / tp;
    batched("scan scores", chunks, chunk, chunk, h.state);
    batched("scan outputs", chunks, chunk, h.head_dim, chunk);
    batched("scan states", 2 * chunks, h.state, h.head_dim, chunk);
    elementwise("gate and norm", StreamOp::rmsnorm, l_.tokens, inner, 6, 10);
    linear({.name = "out projection",
            .tokens = l_.tokens,
            .out = l_.hidden,
            .in = inner,
            .cut = Cut::rows});
    residual();
    return part_;
  }

  Part mlp() {
    begin(3);
    again_ = full_ || s_.modules.norms || s_.modules.mlp;
    norm("norm", l_.norm_tokens, l_.hidden);
    again_ = full_ || s_.modules.mlp;
    feed_forward("", l_.tokens, l_.ffn);
    again_ = full_ && !p_.runtime.fusion.recompute_stops_early;
    residual();
    return part_;
  }

  Part experts() {
    begin(4);
    again_ = full_ || s_.modules.norms || s_.modules.experts;
    norm("norm", l_.norm_tokens, l_.hidden);
    again_ = full_ || s_.modules.experts;
    const Experts& e = p_.model.experts;
    route();
    if (l_.shared_ffn > 0) feed_forward("shared ", l_.tokens, l_.shared_ffn);
    const double h = e.latent > 0 ? e.latent : l_.hidden;
    const double rows = l_.norm_tokens * e.topk;
    send_tokens("dispatch", h);
    elementwise("sort by expert", StreamOp::copy, l_.expert_tokens, h, 4, 4);
    // Rows of an expert are padded to whole tiles of the matrix units, as 8-bit multiplies need.
    const double each = std::max(1.0, std::ceil(l_.expert_tokens / l_.local_experts / 32)) * 32;
    linear({.name = "expert up",
            .tokens = each,
            .out = l_.gate * l_.expert_ffn,
            .in = h,
            .groups = l_.local_experts,
            .bias = e.bias});
    activation("expert activation", l_.expert_tokens, l_.expert_ffn);
    again_ = full_ || s_.modules.experts;
    linear({.name = "expert down",
            .tokens = each,
            .out = h,
            .in = l_.expert_ffn,
            .groups = l_.local_experts,
            .bias = e.bias});
    elementwise("unsort", StreamOp::copy, l_.expert_tokens, h, 4, 4);
    send_tokens("combine", h);
    elementwise("weighted sum", StreamOp::add, rows, h, 3, 5);
    again_ = full_;
    residual();
    return part_;
  }

  Part embedding() {
    begin(5);
    again_ = false;
    const double h = l_.hidden;
    forward("look-up", streamed(StreamOp::copy, l_.tokens, h, 4), 1);
    // Gradients are sorted by token and added; the table's gradient is cleared first.
    backward("look-up gradient", streamed(StreamOp::copy, l_.tokens, h, 12), 4);
    backward("clear table", streamed(StreamOp::copy, l_.vocab, h, gradient_bytes()), 1);
    if (p_.model.position == Position::learned) {
      elementwise("positions", StreamOp::add, l_.norm_tokens, h, 6, 4);
    }
    if (p_.runtime.dropout) elementwise("dropout", StreamOp::dropout, l_.norm_tokens, h, 5, 5);
    if (s_.tp > 1) {
      const Bytes x(l_.tokens * h * 2);
      exchange_forward(Exchange::tensor, "embedding sum",
                       s_.sp ? Collective::reduce_scatter : Collective::all_reduce, l_.tensor, x,
                       Seconds(0));
      if (s_.sp) {
        exchange_backward(Exchange::tensor, "gather gradient", Collective::all_gather, l_.tensor, x,
                          Seconds(0));
      }
    }
    return part_;
  }

  Part head() {
    begin(6);
    again_ = false;
    norm("final norm", l_.norm_tokens, l_.hidden);
    linear({.name = "logits",
            .tokens = l_.tokens,
            .out = l_.vocab,
            .in = l_.hidden,
            .cut = Cut::columns,
            .bias = p_.model.head_bias,
            .cast_fused = true,
            .high_precision = true});
    loss();
    return part_;
  }

 private:
  // -- the model's pieces ------------------------------------------------------------------------

  bool latent() const { return p_.model.attention.kind == AttentionKind::latent; }

  void projections() {
    const Attention& a = p_.model.attention;
    if (!latent()) {
      const double gate = a.gate ? l_.q : 0;
      linear({.name = "qkv",
              .tokens = l_.tokens,
              .out = l_.q + gate + l_.k + (a.shared_kv ? 0 : l_.v),
              .in = l_.hidden,
              .cut = Cut::columns,
              .bias = a.qkv_bias,
              .cast_fused = true});
    } else {
      // Down-projections are on every rank; up-projections are cut by heads.
      const double kv_down = static_cast<double>(a.kv_rank) + a.rope_dim;
      linear({.name = "down projections",
              .tokens = l_.norm_tokens,
              .out = a.q_rank + kv_down,
              .in = l_.hidden,
              .cast_fused = true});
      again_ = full_ || s_.modules.latent;
      elementwise("latent norms", StreamOp::rmsnorm, l_.norm_tokens, a.q_rank + a.kv_rank, 4, 8);
      linear({.name = "query up",
              .tokens = l_.tokens,
              .out = l_.q,
              .in = a.q_rank > 0 ? static_cast<double>(a.q_rank) : l_.hidden,
              .cut = Cut::columns,
              .cast_fused = true});
      linear({.name = "key and value up",
              .tokens = l_.tokens,
              .out = l_.heads * (static_cast<double>(a.nope_dim) + a.value_dim),
              .in = static_cast<double>(a.kv_rank),
              .cut = Cut::columns,
              .cast_fused = true});
    }
    if (p_.runtime.fusion.join_gradients > 0) {
      backward(
          "join gradients",
          streamed(StreamOp::copy, l_.tokens, l_.q + l_.k + l_.v, p_.runtime.fusion.join_gradients),
          2);
    }
    if (a.qk_norm) elementwise("head norms", StreamOp::rmsnorm, l_.tokens, l_.q + l_.k, 4, 8);
    if (p_.model.position == Position::rope) {
      // One kernel reads and writes q and k; eager code builds the rotated halves: two products
      // and a sum, and a copy to join the halves.
      const bool fused = p_.runtime.fusion.rope;
      const double width = latent() ? l_.heads * a.rope_dim * 2 : l_.q + l_.k;
      elementwise("rope", StreamOp::add, l_.tokens, width, fused ? 4 : 22, fused ? 4 : 22,
                  fused ? 1 : 8);
    }
  }

  void core(bool windowed) {
    again_ = full_ || s_.recompute == Recompute::selective;
    const Attention& a = p_.model.attention;
    // Learned sinks: cuDNN's kernels took them only in 2026.
    const bool unfused = p_.runtime.attention == AttentionBackend::unfused ||
                         (a.sinks && p_.runtime.attention == AttentionBackend::cudnn);
    if (unfused && !latent()) return unfused_core();
    AttentionShape shape;
    shape.batch = s_.microbatch;
    shape.heads = l_.heads;
    shape.kv_heads = latent() ? l_.heads : l_.kv_heads;
    shape.head_dim = latent() ? static_cast<double>(a.nope_dim) + a.rope_dim : a.head_dim;
    shape.value_dim = latent() ? a.value_dim : a.head_dim;
    shape.queries = shape.context = p_.work.seq;
    shape.window = windowed ? a.window : 0;
    const bool gather_heads = s_.cp > 1 && s_.context == ContextKind::all_to_all;
    if (gather_heads) {
      shape.heads = std::max(1.0, l_.heads / s_.cp);
      shape.kv_heads = std::max(1.0, shape.kv_heads / s_.cp);
      const Bytes in(l_.tokens * (l_.q + l_.k + l_.v) * 2);
      exchange(Exchange::context, "gather sequences", Collective::all_to_all, l_.context, in,
               Seconds(0));
    }
    const auto kernel = [&](const PrefillKernel& k, bool backward) {
      KernelCost c = attention_prefill(p_.chip, k, shape, backward, clock_);
      // A ring over cp ranks in zigzag order: each holds its share of every query's work.
      return s_.cp > 1 && !gather_heads ? scaled(c, 1.0 / s_.cp, k.start, s_.cp) : c;
    };
    const KernelCost ahead = kernel(p_.kernels.prefill, false);
    const KernelCost back = kernel(p_.kernels.backward, true);
    const double steps = gather_heads ? 1 : s_.cp;
    forward("attention", ahead, steps);
    backward("attention gradient", back, 3 * steps);
    if (gather_heads) {
      exchange(Exchange::context, "gather heads", Collective::all_to_all, l_.context,
               Bytes(l_.tokens * l_.q * 2), Seconds(0));
    } else if (s_.cp > 1) {
      ring_exchange(ahead.time, back.time);
    }
  }

  // Keys and values go round while the part that has arrived is computed.
  void ring_exchange(Seconds ahead, Seconds back) {
    const Bytes chunk(l_.tokens * (l_.k + l_.v) * 2);
    const Bytes whole = chunk * s_.cp;
    exchange_forward(Exchange::context, "key-value ring", Collective::all_gather, l_.context, whole,
                     ahead);
    // Keys, values and their gradients.
    exchange_backward(Exchange::context, "key-value gradient ring", Collective::all_gather,
                      l_.context, 2 * whole, back);
  }

  // Batched multiplies around a fused scale-mask-softmax (Megatron-LM before FlashAttention).
  void unfused_core() {
    const double dim = p_.model.attention.head_dim;
    const double batch = s_.microbatch * l_.heads;
    const double s = p_.work.seq / static_cast<double>(s_.cp);
    batched("scores", batch, s, s, dim);
    // The causal kernel keeps a row in registers: it reads a triangle and writes a square, its
    // gradient reads two triangles.
    // Other numbers of heads than it takes at a time go through casts, scale, mask and softmax one
    // by one.
    if (std::fmod(batch, std::max(1, p_.runtime.fusion.softmax_heads)) == 0) {
      elementwise("softmax", StreamOp::gelu, batch * s, s, 3, 4);
    } else {
      elementwise("softmax in pieces", StreamOp::gelu, batch * s, s, 30, 24, 9);
    }
    if (p_.runtime.dropout) elementwise("score dropout", StreamOp::dropout, batch * s, s, 5, 5);
    batched("attention values", batch, s, dim, s);
    elementwise("transpose", StreamOp::copy, l_.tokens, l_.q, 4, 8, 2);
  }

  void feed_forward(const std::string_view prefix, double tokens, double ffn) {
    const bool shared = !prefix.empty();
    const bool bias = p_.model.mlp_bias && !shared;
    linear({.name = shared ? "shared up" : "up",
            .tokens = tokens,
            .out = l_.gate * ffn,
            .in = l_.hidden,
            .cut = Cut::columns,
            .bias = bias,
            .cast_fused = true});
    const bool outer = again_;
    activation(shared ? "shared activation" : "activation", tokens, ffn);
    // A layer's last multiply is not needed for any gradient.
    again_ = outer && !(p_.runtime.fusion.recompute_stops_early && !shared && full_);
    linear({.name = shared ? "shared down" : "down",
            .tokens = tokens,
            .out = l_.hidden,
            .in = ffn,
            .cut = Cut::rows,
            .bias = bias});
  }

  void activation(const char* name, double tokens, double width) {
    again_ = again_ || s_.modules.activation;
    if (l_.gate == 1) {
      elementwise(name, StreamOp::gelu, tokens, width, 4, 6);
    } else if (p_.runtime.fusion.bias_activation) {
      forward(name, computed(tokens, width, 6), 1);
      backward(name, computed(tokens, width, 10), 1);
    } else {
      // The activation, then a product; gradients of both.
      forward(name, computed(tokens, width, 10), 2);
      backward(name, computed(tokens, width, 18), 2);
    }
  }

  void residual() {
    const double h = l_.hidden;
    const double rows = l_.norm_tokens;
    const Runtime& r = p_.runtime;
    if (r.dropout) {
      if (r.fusion.bias_dropout_add) {
        elementwise("bias, dropout and sum", StreamOp::dropout, rows, h, 7, 5);
      } else {
        elementwise("dropout", StreamOp::dropout, rows, h, 5, 5);
        elementwise("residual sum", StreamOp::add, rows, h, 6, 0);
      }
    } else if (!r.fusion.residual_norm) {
      elementwise("residual sum", StreamOp::add, rows, h, 6, 0);
    } else {
      elementwise("residual sum in norm", StreamOp::add, rows, h, 4, 0, 0);
    }
    // Gradients of both branches are added.
    backward("residual gradient", streamed(StreamOp::add, rows, h, r.fusion.residual_norm ? 2 : 6),
             r.fusion.residual_norm ? 0 : 1);
  }

  void norm(const char* name, double rows, double cols) {
    const StreamOp op = p_.model.norm == Norm::layernorm ? StreamOp::layernorm : StreamOp::rmsnorm;
    forward(name, streamed(op, rows, cols, 4), 1);
    // Profiled on an H200 in whole steps: 2.1 times a layer norm's forward pass, 2.5 times an RMS
    // norm's.
    backward("norm gradient", streamed(op, rows, cols, op == StreamOp::layernorm ? 8.4 : 10), 2);
  }

  void route() {
    const Experts& e = p_.model.experts;
    linear({.name = "router",
            .tokens = l_.norm_tokens,
            .out = static_cast<double>(e.count),
            .in = l_.hidden,
            .high_precision = true});
    elementwise("choose experts", StreamOp::copy, l_.norm_tokens, e.count, 16, 16, 8);
    if (e.latent > 0) {
      linear({.name = "to latent",
              .tokens = l_.norm_tokens,
              .out = static_cast<double>(e.latent),
              .in = l_.hidden});
      linear({.name = "from latent",
              .tokens = l_.norm_tokens,
              .out = l_.hidden,
              .in = static_cast<double>(e.latent)});
    }
    const double h = e.latent > 0 ? e.latent : l_.hidden;
    elementwise("permute", StreamOp::copy, l_.norm_tokens * e.topk, h, 4, 4, 2);
  }

  /// Tokens to the ranks of their experts, or back. A stack that sends a token once to a node and
  /// hands it on inside (DeepEP, arXiv 2412.19437, section 3.2.2) needs fewer bytes between nodes:
  /// of n nodes, k choices reach n (1 − (1 − 1/n)^k).
  void send_tokens(const char* name, double width) {
    const double k = p_.model.experts.topk;
    double copies = k;
    const int inside = group_inside(p_.network, l_.expert);
    const double nodes = static_cast<double>(l_.expert.ranks) / inside;
    if (p_.runtime.communication.one_copy_a_node && nodes > 1) {
      const double reached = nodes * (1 - std::pow(1 - 1 / nodes, k));
      copies = reached;
      exchange(Exchange::expert, name, Collective::all_to_all, {inside, l_.expert.per_node},
               Bytes(l_.norm_tokens * k * width * 2), Seconds(0));
    }
    exchange(Exchange::expert, name, Collective::all_to_all, l_.expert,
             Bytes(l_.norm_tokens * copies * width * 2), Seconds(0));
  }

  // Vocabulary-parallel cross-entropy in fp32 (Megatron-LM, arXiv 1909.08053, section 3).
  void loss() {
    const double bytes = p_.runtime.fusion.loss_bytes / 2;
    const double launches = bytes > 6 ? 8 : 2;
    forward("cross-entropy", computed(l_.tokens, l_.vocab, bytes), launches);
    backward("cross-entropy", computed(l_.tokens, l_.vocab, bytes), launches);
    if (s_.tp == 1) return;
    for (int i = 0; i < 3; ++i) {
      exchange_forward(Exchange::tensor, "loss sums", Collective::all_reduce, l_.tensor,
                       Bytes(l_.tokens * 4), Seconds(0));
    }
  }

  // -- kernels -----------------------------------------------------------------------------------

  KernelCost streamed(StreamOp op, double rows, double cols, double bytes) const {
    return stream(p_.chip, p_.kernels.stream[op], moving(op, rows, cols, bytes), clock_);
  }

  /// As fast as a copy of so many bytes, but computing all the while: casts, gates, the loss.
  KernelCost computed(double rows, double cols, double bytes) const {
    StreamKernel kernel = p_.kernels.stream[StreamOp::copy];
    kernel.arithmetic = 1;
    return stream(p_.chip, kernel, moving(StreamOp::copy, rows, cols, bytes), clock_);
  }

  /// Forward and backward of an element-wise operator, by bytes an element.
  void elementwise(const char* name, StreamOp op, double rows, double cols, double ahead,
                   double back, double launches = 1) {
    if (ahead > 0) forward(name, streamed(op, rows, cols, ahead), launches);
    if (back > 0) backward(name, streamed(op, rows, cols, back), launches);
  }

  static KernelCost scaled(KernelCost c, double share, Seconds start, double launches) {
    c.time = share * (c.time - start) + launches * start;
    c.flops *= share;
    c.dram *= share;
    c.l2 *= share;
    for (Seconds& b : c.busy.values) b *= share;
    return c;
  }

  Multiply multiply(double m, double n, double k, double batch, Precision type,
                    double result_bytes) const {
    const Gemm g{
        .m = m, .n = n, .k = k, .batch = batch, .type = type, .result_bytes = result_bytes};
    return {gemm(p_.chip, g, clock_), g};
  }

  /// Gradients in 8 bits are accumulated in two steps, because the matrix units keep too few bits
  /// of a sum: nine shapes on an H200, 1250 TFLOP/s sustained against 1340 in one step.
  static Multiply gradient(Multiply c, Precision type) {
    if (!narrow(type)) return c;
    c.time *= two_step_sums;
    c.busy[Bound::compute] *= two_step_sums;
    return c;
  }

  /// A multiply of two activations: its gradient is two more.
  void batched(const char* name, double batch, double m, double n, double k) {
    const Precision type = s_.precision == Precision::fp16 ? Precision::fp16 : Precision::bf16;
    forward(name, multiply(m, n, k, batch, type, 2), 1);
    backward(name, multiply(m, k, n, batch, type, 2), 1);
    backward(name, multiply(n, k, m, batch, type, 2), 1);
  }

  double gradient_bytes() const { return element_bytes(p_.runtime.gradients); }

  void linear(const Linear& w) {
    const bool quantised = narrow(s_.precision) && !w.high_precision;
    const Precision wide = s_.precision == Precision::fp16 ? Precision::fp16 : Precision::bf16;
    const Precision type = quantised ? s_.precision : wide;
    const double rows = w.tokens * w.groups;
    const double launches = w.groups;
    const Multiply y = multiply(w.tokens, w.out, w.in, w.groups, type, 2);
    const Multiply dx = gradient(multiply(w.tokens, w.in, w.out, w.groups, type, 2), type);
    const bool fused = p_.runtime.fusion.gradient_accumulation;
    const double result = fused ? 2 * gradient_bytes() : 2;
    const Multiply dw = gradient(multiply(w.out, w.in, w.tokens, w.groups, type, result), type);
    const Bytes inputs(w.tokens * w.in * 2);  // of all tensor-parallel ranks together
    const Bytes outputs(w.tokens * w.out * 2);

    if (quantised) quantise(w, rows);
    if (w.cut == Cut::columns) gather(inputs, y.time);
    forward(w.name, y, launches);
    if (w.cut == Cut::rows) reduce(outputs, y.time);

    if (w.cut == Cut::rows && s_.sp && s_.tp > 1) {
      exchange_backward(Exchange::tensor, "gather gradient", Collective::all_gather, l_.tensor,
                        outputs, p_.runtime.overlap.tensor ? dx.time : Seconds(0), true);
    }
    backward(w.name, dx, launches, "input gradient");
    if (w.cut == Cut::columns && s_.tp > 1) column_backward(inputs, dx.time, dw.time);
    backward(w.name, dw, launches, "weight gradient", true);
    if (!fused) {
      // Added to the sum in a kernel of its own.
      const double bytes = 2 + 2 * gradient_bytes();
      const KernelCost sum = streamed(StreamOp::add, w.out * w.groups, w.in, bytes);
      charge(part_.accumulate, sum, launches);
      part_.accumulate.weights += sum.time;
      record(Time::backward, w.name, "accumulate", sum, Runs::accumulation);
    }
    if (w.bias)
      backward(w.name, streamed(StreamOp::copy, rows, w.out, 2), launches, "bias gradient");
  }

  // 8-bit copies, plain and transposed: of the input, of the gradient, and of the weights once a
  // step (Transformer Engine). The kernel before may make the plain one. A transposed write of one
  // byte an element has short lines; it counts as four.
  void quantise(const Linear& w, double rows) {
    const double narrow_bytes = element_bytes(s_.precision);
    const double transposed = 4 * narrow_bytes;
    // 4 bits need the largest value of a tensor first, and a rotation: two more passes, and no
    // kernel before can do it (NVFP4 pre-training, arXiv 2509.25149).
    const bool four_bits = narrow_bytes < 1;
    const double bytes = 2 + narrow_bytes + transposed + (four_bits ? 4 : 0);
    const bool made = w.cast_fused && p_.runtime.fusion.quantize && !four_bits;
    forward(w.name, computed(rows, w.in, made ? narrow_bytes + transposed : bytes), 1,
            made ? "transpose" : "cast");
    const KernelCost weights = computed(w.out * w.groups, w.in, bytes);
    charge(part_.once, weights, 1);
    record(Time::forward, w.name, "cast weights", weights, Runs::step);
    backward(w.name, computed(rows, w.out, bytes), 1, "cast gradient");
  }

  void gather(Bytes inputs, Seconds beside) {
    if (!s_.sp || s_.tp == 1) return;
    exchange_forward(Exchange::tensor, "gather", Collective::all_gather, l_.tensor, inputs,
                     p_.runtime.overlap.tensor ? beside : Seconds(0), true);
  }

  void reduce(Bytes outputs, Seconds beside) {
    if (s_.tp == 1) return;
    exchange_forward(Exchange::tensor, "sum",
                     s_.sp ? Collective::reduce_scatter : Collective::all_reduce, l_.tensor,
                     outputs, p_.runtime.overlap.tensor && s_.sp ? beside : Seconds(0), true);
  }

  // The input's gradient is summed beside the weight's gradient; with sequence parallelism the
  // input itself is gathered once more, beside its gradient (arXiv 2205.05198, section 4.2.2).
  void column_backward(Bytes inputs, Seconds dx, Seconds dw) {
    const Overlap& o = p_.runtime.overlap;
    const bool beside = o.weights || o.tensor;
    if (s_.sp) {
      exchange_backward(Exchange::tensor, "gather input again", Collective::all_gather, l_.tensor,
                        inputs, beside ? dx : Seconds(0));
    }
    exchange_backward(Exchange::tensor, "sum gradient",
                      s_.sp ? Collective::reduce_scatter : Collective::all_reduce, l_.tensor,
                      inputs, beside ? dw : Seconds(0));
  }

  // -- bookkeeping -------------------------------------------------------------------------------

  void begin(std::size_t part) {
    part_ = {};
    name_ = part_names[part];
    again_ = false;
  }

  void charge(Phase& phase, const KernelCost& c, double launches) {
    phase.compute += c.time;
    phase.launches += launches;
    phase.flops += c.flops;
    const Precision type = c.tiling.m > 0 ? s_.precision : Precision::bf16;
    phase.energy += (power_demand(p_.chip, c, type) - p_.chip.idle) * c.time;
    phase.memory += memory_draw(p_.chip, c);
  }

  template <class Cost>
  void forward(const char* name, const Cost& c, double launches, const char* what = "") {
    charge(part_.forward, c, launches);
    record(Time::forward, name, what, c);
    if (!again_) return;
    charge(part_.recompute, c, launches);
    record(Time::recompute, name, what, c);
  }

  template <class Cost>
  void backward(const char* name, const Cost& c, double launches, const char* what = "",
                bool weights = false) {
    charge(part_.backward, c, launches);
    if (weights) part_.backward.weights += c.time;
    record(Time::backward, name, what, c);
  }

  void exchange(Exchange kind, const char* name, Collective op, Group group, Bytes bytes,
                Seconds beside) {
    exchange_forward(kind, name, op, group, bytes, beside);
    exchange_backward(kind, name, op, group, bytes, beside);
  }

  void exchange_forward(Exchange kind, const char* name, Collective op, Group group, Bytes bytes,
                        Seconds beside, bool in_steps = false) {
    const Span s = send(part_.forward, kind, op, group, bytes, beside, in_steps);
    record(kind, name, group, bytes, s);
    if (!again_) return;
    record(kind, name, group, bytes,
           send(part_.recompute, kind, op, group, bytes, beside, in_steps), true);
  }

  void exchange_backward(Exchange kind, const char* name, Collective op, Group group, Bytes bytes,
                         Seconds beside, bool in_steps = false) {
    const Span s = send(part_.backward, kind, op, group, bytes, beside, in_steps);
    record(kind, name, group, bytes, s);
  }

  /// A collective beside kernels of `beside`: what sticks out shows, and so do the cores it takes.
  /// In steps, a multiply waits for the first part of its input (or ends after the last of its
  /// output), so one of the ranks' parts shows.
  Span send(Phase& phase, Exchange kind, Collective op, Group group, Bytes bytes, Seconds beside,
            bool in_steps) {
    if (group.ranks <= 1) return {};
    const Communication& c = p_.runtime.communication;
    const CollectiveCost cost = collective(p_.network, p_.collectives, op, group, bytes);
    const Seconds busy = cost.time * (1 + c.skew) + c.extra_latency;
    Span s{busy, busy};
    if (beside.value > 0) {
      const Seconds first = in_steps ? busy / group.ranks : Seconds(0);
      const Seconds rest = busy - first;
      s.exposed = first + max(c.cores * rest, rest - beside);
    }
    Span& sum = phase.exchange[kind];
    sum.busy += s.busy;
    sum.exposed += s.exposed;
    phase.launches += 1;
    phase.sent += bytes;
    if (kind == Exchange::tensor) phase.collectives += 1;
    return s;
  }

  template <class Cost>
  void record(Time kind, const char* name, const char* what, const Cost& c,
              Runs runs = Runs::microbatch) {
    if constexpr (Trace::records) {
      Operator o;
      o.name = name;
      if (*what != 0) o.name += std::string(", ") + what;
      o.kind = kind;
      o.part = std::string(name_);
      o.shape = text_of(c);
      o.cost = static_cast<const KernelCost&>(c);
      o.exposed = c.time;
      o.again = kind == Time::recompute;
      o.runs = runs;
      trace_.operators.push_back(std::move(o));
    } else {
      static_cast<void>(kind), static_cast<void>(name), static_cast<void>(what);
      static_cast<void>(c), static_cast<void>(runs);
    }
  }

  void record(Exchange kind, const char* name, Group group, Bytes bytes, Span s,
              bool again = false) {
    if constexpr (Trace::records) {
      if (group.ranks <= 1) return;
      Operator o;
      o.name = name;
      o.kind = kind == Exchange::tensor    ? Time::tensor
               : kind == Exchange::context ? Time::context
                                           : Time::expert;
      o.part = std::string(name_);
      o.message = bytes;
      o.cost.time = s.busy;
      o.cost.busy[Bound::network] = s.busy;
      o.cost.bound = Bound::network;
      o.exposed = s.exposed;
      o.again = again;
      trace_.operators.push_back(std::move(o));
    } else {
      static_cast<void>(kind), static_cast<void>(name), static_cast<void>(group);
      static_cast<void>(bytes), static_cast<void>(s), static_cast<void>(again);
    }
  }

  const Problem& p_;
  const Strategy& s_;
  const Widths& l_;
  Hertz clock_;
  Trace& trace_;
  Part part_;
  std::string_view name_;
  bool full_ = false;
  bool again_ = false;  ///< what follows is computed again in the backward pass
};

}  // namespace

template <class Trace>
Parts compose(const Problem& p, const Strategy& s, const Widths& l, Hertz clock, Trace& trace) {
  Composer<Trace> composer(p, s, l, clock, trace);
  Parts parts;
  if (p.layers.attention > p.layers.windowed) parts.full = composer.attention(false);
  if (p.layers.windowed > 0) parts.windowed = composer.attention(true);
  if (p.layers.recurrent > 0) parts.recurrent = composer.recurrent();
  if (p.layers.dense > 0) parts.dense = composer.mlp();
  if (p.layers.experts > 0) parts.experts = composer.experts();
  parts.embedding = composer.embedding();
  parts.head = composer.head();
  return parts;
}

template Parts compose<Silent>(const Problem&, const Strategy&, const Widths&, Hertz, Silent&);
template Parts compose<Recorder>(const Problem&, const Strategy&, const Widths&, Hertz, Recorder&);

}  // namespace sextant::training
