// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/parts.hpp"

#include <algorithm>
#include <utility>

#include "sextant/cost/experts.hpp"
#include "sextant/cost/gemm.hpp"
#include "sextant/cost/mixer.hpp"
#include "sextant/cost/power.hpp"
#include "sextant/cost/stream.hpp"
#include "sextant/predict/joules.hpp"
#include "sextant/predict/recompute.hpp"
#include "sextant/predict/scores.hpp"
#include "sextant/predict/tuning.hpp"

namespace sextant::training {

namespace {

using graph::Cut;
using graph::Kind;
using graph::Module;

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

/// A kernel that a collective runs beside, and its time.
struct Window {
  Seconds time{0};
  Beside kernel = Beside::nothing;
};
Window beside_if(bool overlapped, Beside kernel, Seconds time) {
  return overlapped ? Window{time, kernel} : Window{};
}

template <class Trace>
class Composer {
 public:
  Composer(const Problem& p, const Strategy& s, const Widths& l, Hertz clock, Trace& trace)
      : p_(p), s_(s), l_(l), clock_(clock), trace_(trace) {
    full_ = s.recompute == Recompute::full;
    type_ = trained_in(p, s);
    element_ = activation_bytes(type_);
  }

  Part part(const graph::Branch& branch) {
    part_ = {};
    branch_ = &branch;
    for (const graph::Operator& op : branch.operators) {
      again_ = computed_again(op);
      kind_ = op.kind;
      if constexpr (Trace::records) operator_ = &op;
      apply(op);
    }
    return part_;
  }

 private:
  // -- the walk ----------------------------------------------------------------------------------

  bool recomputes(Module m) const {
    return m == Module::core ? s_.recompute == Recompute::selective : takes_in(modules_of(s_), m);
  }

  /// Whether recomputation ends before a multiply's result: it is a layer's last.
  bool stops_before(const graph::Operator& op) const {
    return op.last && full_ && p_.runtime.fusion.recompute_stops_early;
  }

  /// Whether an operator runs once more in the backward pass. A layer's last multiply and sum are
  /// not needed for any gradient; embedding and head are never left out.
  bool computed_again(const graph::Operator& op) const {
    if (branch_ == &p_.graph.embedding() || branch_ == &p_.graph.head()) return false;
    if (op.kind == Kind::residual) {
      if (modules_of(s_).alternate && s_.tp == 1 && branch_->module == Module::none) return true;
      return full_ && !(p_.runtime.fusion.recompute_stops_early && branch_->module == Module::mlp);
    }
    if (modules_of(s_).alternate) {
      if (op.kind == Kind::rotation || op.kind == Kind::elementwise) return true;
      // What ranks sum up is kept: no collective runs again.
      if (left_by_alternation(op) >= 1 && s_.tp == 1) return true;
    }
    // But an adapter beside it needs its own inside, which comes after that multiply.
    if (stops_before(op) && adapter_rank(p_.work.tuning, op) <= 0) return false;
    return full_ || recomputes(branch_->module) || recomputes(op.module);
  }

  bool trained(const graph::Operator& op) const { return is_trained(p_.work.tuning, op); }

  /// Whether the backward pass ends before an operator: nothing before it, nor it, is trained.
  bool ends_here(const graph::Operator& op) const {
    const bool first = branch_ == &p_.graph.embedding() || op.bucket == graph::Bucket::vision;
    return first && !trained(op);
  }

  double rows(const graph::Operator& op) const { return l_.rows(op); }

  void apply(const graph::Operator& op) {
    switch (op.kind) {
      case Kind::norm:
        return norm(op, rows(op), op.out.on(s_.tp));
      case Kind::linear:
        return linear(op);
      case Kind::elementwise:
        return elementwise(op.name, op.stream, rows(op), op.out.on(s_.tp), op.ahead,
                           ends_here(op) ? 0 : op.back, op.launches);
      case Kind::rotation:
        return rotate(op);
      case Kind::attention:
        return attend(op);
      case Kind::indexer:
        return mix(op);
      case Kind::scan:
        return scan(op);
      case Kind::activation:
        return activation(op);
      case Kind::experts:
        return experts(op);
      case Kind::residual:
        return residual(op);
      case Kind::lookup:
        return look_up(op);
      case Kind::loss:
        return loss();
      case Kind::cast:
      case Kind::exchange:
        break;
    }
  }

  // -- the model's pieces ------------------------------------------------------------------------

  void rotate(const graph::Operator& op) {
    // One kernel reads and writes q and k; eager code builds the rotated halves: two products
    // and a sum, and a copy to join the halves.
    const bool fused = p_.runtime.fusion.rope;
    const double back = ends_here(op) ? 0 : fused ? 4 : 22;
    elementwise(op.name, StreamOp::add, rows(op), op.out.on(s_.tp), fused ? 4 : 22, back,
                fused ? 1 : 8);
  }

  KernelCost mixed(const graph::Operator& op, MixerPass pass, double ranks = 0) const {
    MixerShape shape;
    shape.batch = s_.microbatch;
    shape.queries = shape.context = p_.work.seq;
    shape.ranks = ranks > 0 ? ranks : s_.tp;
    shape.pass = pass;
    shape.type = attention_type(s_.precision);
    shape.patches = rows(op);
    shape.images = p_.work.images;
    shape.dropout = p_.runtime.dropout;
    if (ranks == 0 && goes_round(op)) {
      return mixer_in_a_ring(p_.chip, p_.kernels, op, shape, s_.cp, clock_);
    }
    const KernelCost c = mixer(p_.chip, p_.kernels, op, shape, clock_);
    // Context-parallel ranks hold a share of every query's work each. Images are dealt out whole.
    if (s_.cp == 1 || ranks > 0 || op.mixer.sequence > 0) return c;
    const PrefillKernel& k = pass == MixerPass::backward ? p_.kernels.backward : p_.kernels.prefill;
    return scaled(c, 1.0 / s_.cp, op.kind == Kind::attention ? k.start : Seconds(0), s_.cp);
  }

  bool goes_round(const graph::Operator& op) const {
    return s_.cp > 1 && comes_in_steps(p_.chip, op, p_.work.seq);
  }

  void mix(const graph::Operator& op, double ranks = 0) {
    forward(op.name, mixed(op, MixerPass::forward, ranks), 3);
    backward(op.name, mixed(op, MixerPass::backward, ranks), 6, "gradient");
  }

  /// A state goes through a sequence in order, so context-parallel ranks take a share of the heads
  /// each, over all of it: values, gates and what heads of a group share are sent there, results
  /// and for a norm over channels their gate back (Megatron-LM's mamba_context_parallel.py; its
  /// pull request 2614 for the delta rule).
  void scan(const graph::Operator& op) {
    if (s_.cp == 1) return mix(op);
    const graph::Mixer& x = op.mixer;
    const double inner = op.out.on(s_.tp);
    const bool selective = x.recurrence == Recurrence::mamba1;
    const double shared = selective ? 0 : 2 * std::max(x.groups / s_.tp, double(s_.cp)) * x.state;
    const double back = selective || x.recurrence == Recurrence::gated_delta ? 1 : 2;
    share_heads("gather sequences", 2 * inner + shared);
    mix(op, double(s_.tp) * s_.cp);
    share_heads("gather heads", back * inner);
  }

  /// So many numbers a token, between shares of the sequence and of the heads.
  void share_heads(const char* name, double width) {
    exchange(Exchange::context, name, Collective::all_to_all, l_.context,
             Bytes(l_.tokens * width * element_));
  }

  /// Numbers a token of keys and values, on this rank.
  double keys_and_values(const graph::Mixer& x) const {
    return std::max(1.0, x.kv_heads / s_.tp) * (x.head_dim + x.value_dim);
  }

  void attend(const graph::Operator& op) {
    const graph::Mixer& x = op.mixer;
    const double queries = op.out.on(s_.tp);
    const double results = x.heads / s_.tp * x.value_dim;
    const bool trains = !ends_here(op);
    if (p_.runtime.fusion.join_gradients > 0 && trains) {
      backward("join gradients",
               streamed(StreamOp::copy, rows(op), queries + keys_and_values(x),
                        p_.runtime.fusion.join_gradients),
               2);
    }
    const bool of_text = x.sequence == 0 && x.image == 0;
    const bool gather_heads = s_.cp > 1 && s_.context == ContextKind::all_to_all && of_text;
    if (gather_heads) share_heads("gather sequences", queries + keys_and_values(x));
    const Seconds before = part_.forward.compute;
    const Seconds before_back = part_.backward.compute;
    const bool pieces = in_pieces(p_.runtime.fusion, p_.kernels, x);
    if (pieces) {
      unfused_core(x, queries, results, gather_heads);
    } else {
      const double ranks = gather_heads ? static_cast<double>(s_.tp) * s_.cp : 0;
      const double steps = gather_heads || !of_text ? 1 : s_.cp;
      forward(op.name, mixed(op, MixerPass::forward, ranks), steps);
      if (trains) backward("attention gradient", mixed(op, MixerPass::backward, ranks), 3 * steps);
    }
    if (gather_heads) {
      share_heads("gather heads", results);
    } else if (s_.cp > 1 && of_text) {
      ring_exchange(x, part_.forward.compute - before, part_.backward.compute - before_back);
      if (!pieces && goes_round(op)) join_steps(queries + keys_and_values(x), results, trains);
    }
  }

  /// A ring's results are weighed by their sums of exponentials and added; the gradients of
  /// queries, keys and values are added as they are.
  void join_steps(double inputs, double results, bool trains) {
    const double joins = s_.cp - 1;
    const double bytes = joins * p_.runtime.fusion.join_steps;
    forward("join steps", streamed(StreamOp::add, l_.tokens, results, bytes), 2 * joins);
    if (!trains) return;
    backward("join gradients of steps", streamed(StreamOp::add, l_.tokens, inputs, joins * 6),
             3 * joins);
  }

  // Keys and values go round while the part that has arrived is computed; with a window, which the
  // ring has none of, all of them are gathered before (Transformer Engine, pull request 1060).
  void ring_exchange(const graph::Mixer& x, Seconds ahead, Seconds back) {
    const Bytes whole(s_.cp * l_.tokens * keys_and_values(x) * element_);
    const auto beside = [&](Seconds time) {
      return beside_if(x.window == 0, Beside::previous, time);
    };
    exchange_forward(Exchange::context, "key-value ring", Collective::all_gather, l_.context, whole,
                     beside(ahead));
    // Keys, values and their gradients.
    exchange_backward(Exchange::context, "key-value gradient ring", Collective::all_gather,
                      l_.context, 2 * whole, beside(back));
  }

  // Batched multiplies around a softmax of its own: a context-parallel rank's share of the queries,
  // or of the heads, over all keys.
  void unfused_core(const graph::Mixer& x, double queries, double results, bool shares_heads) {
    const double keys = p_.work.seq;
    const double heads = s_.microbatch * (x.heads / s_.tp) / (shares_heads ? s_.cp : 1);
    const double rows = shares_heads ? keys : keys / s_.cp;
    batched("scores", heads, rows, keys, x.head_dim);
    for (const ScorePiece& piece : score_pieces(p_.runtime.fusion, heads, element_)) {
      elementwise(piece.name, piece.op, heads * rows, keys, piece.ahead, piece.back,
                  piece.launches);
    }
    if (p_.runtime.dropout) {
      elementwise("score dropout", StreamOp::dropout, heads * rows, keys, 5, 5);
    }
    batched("attention values", heads, rows, x.value_dim, keys);
    elementwise("transpose", StreamOp::copy, l_.tokens, results, reorder_bytes, 2 * reorder_bytes,
                2);
    if (takes_packed(p_.runtime.fusion)) return;
    elementwise("order heads", StreamOp::copy, l_.tokens, queries + keys_and_values(x),
                reorder_bytes, reorder_bytes, 3);
  }

  void activation(const graph::Operator& op) {
    const double width = op.out.on(s_.tp);
    const double tokens = rows(op);
    const bool trains = !ends_here(op);
    if (!op.gated) return elementwise(op.name, StreamOp::gelu, tokens, width, 4, trains ? 6 : 0);
    // Unfused, the activation, then a product; gradients of both.
    const bool fused = p_.runtime.fusion.bias_activation;
    const double launches = fused ? 1 : 2;
    const double wide = element_ / 2;
    forward(op.name, computed(tokens, width, wide * (fused ? 6 : 10)), launches);
    if (trains) backward(op.name, computed(tokens, width, wide * (fused ? 10 : 18)), launches);
  }

  void residual(const graph::Operator& op) {
    const double h = op.out.all();
    const double rows = l_.rows(op);
    const Runtime& r = p_.runtime;
    if (r.dropout && op.per_image == 0) {
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
    if (ends_here(op)) return;
    // Gradients of both branches are added.
    backward("residual gradient", streamed(StreamOp::add, rows, h, r.fusion.residual_norm ? 2 : 6),
             r.fusion.residual_norm ? 0 : 1);
  }

  void norm(const graph::Operator& n, double rows, double cols) {
    const StreamOp op = n.stream;
    forward(n.name, streamed(op, rows, cols, 4), 1);
    if (ends_here(n)) return;
    // Of a frozen one: its input and a gradient in, a gradient out.
    if (!trained(n)) return backward("norm gradient", streamed(op, rows, cols, 6), 1);
    // Profiled on an H200 in whole steps: 2.1 times a layer norm's forward pass, 2.5 times an RMS
    // norm's.
    backward("norm gradient", streamed(op, rows, cols, op == StreamOp::layernorm ? 8.4 : 10), 2);
  }

  void look_up(const graph::Operator& op) {
    const double width = op.out.on(1);
    forward("look-up", streamed(StreamOp::copy, l_.tokens, width, 4), 1);
    if (trained(op)) {
      // Gradients are sorted by token and added; the table's gradient is cleared first.
      backward("look-up gradient", streamed(StreamOp::copy, l_.tokens, width, 12), 4);
      backward("clear table", moved(StreamOp::copy, l_.vocab, width, gradient()), 1);
    }
    if (p_.runtime.dropout) {
      elementwise("dropout", StreamOp::dropout, l_.norm_tokens, l_.hidden, 5, 5);
    }
    if (s_.tp == 1) return;
    const Bytes x(l_.tokens * width * element_);
    exchange_forward(Exchange::tensor, "embedding sum",
                     s_.sp ? Collective::reduce_scatter : Collective::all_reduce, l_.tensor, x);
    if (!s_.sp || !trained(op)) return;
    exchange_backward(Exchange::tensor, "gather gradient", Collective::all_gather, l_.tensor, x);
  }

  // -- experts -----------------------------------------------------------------------------------

  /// Routed experts by the kernels that serving calls, and their gradients.
  void experts(const graph::Operator& op) {
    const graph::Routed& r = op.routed;
    ExpertLayer layer;
    layer.tokens = r.imbalance * l_.expert_tokens / r.topk * s_.ep;
    layer.own = l_.routed_tokens;
    layer.hidden = r.width;
    layer.ffn = r.ffn;
    layer.topk = r.topk;
    layer.experts = r.count;
    layer.tp = s_.etp;
    layer.ep = s_.ep;
    layer.gated = r.halves == 2;
    layer.type = type_of(false);
    layer.scale_block = training_block(p_, layer.type);
    const bool small = narrow(layer.type);
    const ExpertKernel& k = small ? p_.kernels.experts_8bit : p_.kernels.experts;
    send_tokens("dispatch", r, true);
    if (s_.sp || s_.ep > 1) {
      join("gather tokens", r, Collective::all_gather, Collective::reduce_scatter, l_.slices,
           l_.joined_tokens);
    }
    sort_tokens("sort by expert", r);
    const double ffn = r.ffn / s_.etp;
    if (small) {
      quantise("expert up", l_.expert_tokens, r.width, r.halves * ffn, l_.local_experts, false);
      quantise("expert down", l_.expert_tokens, ffn, r.width, l_.local_experts, false);
    }
    const double launches = p_.runtime.fusion.routing_launches + 2 * l_.local_experts;
    forward(op.name, expert_layer(p_.chip, k, layer, clock_), launches);
    const bool fused = p_.runtime.fusion.gradient_accumulation;
    const ExpertGradients g =
        expert_gradients(p_.chip, k, layer, fused ? 2 * gradient() : element_, clock_);
    backward(op.name, summed(g.inputs, layer.type), launches, "input gradient");
    adapt(op, {l_.expert_tokens, r.width, r.halves * ffn, l_.local_experts});
    adapt(op, {l_.expert_tokens, ffn, r.width, l_.local_experts});
    if (trained(op)) {
      backward(op.name, summed(g.weights, layer.type), 2 * l_.local_experts, "weight gradient",
               true);
      accumulate(op.name, l_.local_experts * (r.halves + 1) * ffn, r.width, 2 * l_.local_experts);
    }
    sort_tokens("unsort", r);
    const bool as_one = !s_.sp && s_.ep == 1 && s_.etp == s_.tp;  // as in any MLP
    if (!as_one) {
      join("sum", r, Collective::reduce_scatter, Collective::all_gather, l_.slices,
           l_.joined_tokens);
    }
    send_tokens("combine", r, false);
    if (s_.sp) return;
    const Collective all = as_one ? Collective::all_reduce : Collective::all_gather;
    join(as_one ? "sum" : "gather results", r, all, all, l_.tensor, l_.tokens);
  }

  /// Ranks that share an expert's weights see the same tokens, and sum what they make of them: as
  /// copies for each of a token's experts where some leave for other ranks (Megatron-Core's
  /// dispatchers). Without sequence parallelism all of the tensor-parallel ranks have a token, each
  /// takes its part of them, and they gather the results (DeepSpeed-MoE).
  void join(const char* name, const graph::Routed& r, Collective ahead, Collective back,
            Group group, double tokens) {
    const Bytes bytes(tokens * r.width * element_);
    exchange_forward(Exchange::tensor, name, ahead, group, bytes);
    exchange_backward(Exchange::tensor, name, back, group, bytes);
  }

  /// What arrives from other ranks is put in order by expert.
  void sort_tokens(const char* name, const graph::Routed& r) {
    if (s_.ep > 1) elementwise(name, StreamOp::copy, l_.expert_tokens, r.width, 4, 4);
  }

  /// Tokens to the ranks of their experts, or back; in the backward pass the other way.
  void send_tokens(const char* name, const graph::Routed& r, bool to_experts) {
    if (l_.expert.ranks <= 1) return;
    const Communication& c = p_.runtime.communication;
    const auto place = [&](Phase& phase, Time pass) {
      const bool small = c.narrow_tokens && (pass != Time::backward) == to_experts;
      const ExpertTokens tokens{
          .tokens = l_.routed_tokens,
          .topk = r.topk,
          .hidden = r.width,
          .element_bytes = small ? std::min(2.0, element_bytes(type_)) : element_,
          .most_nodes = r.most_nodes,
          .kernels = c.expert_kernels};
      CollectiveCost cost = expert_exchange(p_.network, p_.collectives, l_.expert, tokens);
      cost.time = r.imbalance * cost.time;
      const Bytes bytes(tokens.tokens * r.topk * r.width * tokens.element_bytes);
      const Span s = hidden(phase, Exchange::expert, cost, l_.expert, Seconds(0), false);
      record(Exchange::expert, name, {Collective::all_to_all, l_.expert, bytes}, s, pass);
    };
    place(part_.forward, Time::forward);
    if (again_) place(part_.recompute, Time::recompute);
    place(part_.backward, Time::backward);
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
                       Bytes(l_.tokens * 4));
    }
  }

  // -- kernels -----------------------------------------------------------------------------------

  KernelCost moved(StreamOp op, double rows, double cols, double bytes, double element = 2) const {
    return stream(p_.chip, p_.kernels.stream[op], following(moving(op, rows, cols, bytes, element)),
                  clock_);
  }

  /// Of numbers as wide as the step's.
  KernelCost streamed(StreamOp op, double rows, double cols, double bytes) const {
    return moved(op, rows, cols, bytes, element_);
  }

  /// As fast as a copy of so many bytes, but computing all the while: casts, gates, the loss.
  KernelCost computed(double rows, double cols, double bytes) const {
    StreamKernel kernel = p_.kernels.stream[StreamOp::copy];
    kernel.arithmetic = 1;
    return stream(p_.chip, kernel, following(moving(StreamOp::copy, rows, cols, bytes)), clock_);
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
    const Gemm g{.m = m,
                 .n = n,
                 .k = k,
                 .batch = batch,
                 .type = type,
                 .result_bytes = result_bytes,
                 .scale_block = training_block(p_, type)};
    if constexpr (!Trace::records) {
      if (trace_.memo != nullptr) return {(*trace_.memo)(p_.chip, g, clock_), g};
    }
    return {gemm(p_.chip, g, clock_), g};
  }

  /// The gradient of a weight, whose operands lie in rows of `in` and `out`: how many tokens there
  /// are aligns no row of 16 bits, and the last step is filled up with zeros (4097 tokens on an
  /// H200: 183 us, 4096: 178, where rows of 4097 take 1199). Copies in 8 bits are transposed, into
  /// rows of tokens.
  Multiply weight_gradient(double out, double in, double tokens, double batch, Precision type,
                           double result_bytes) const {
    constexpr double filled = 8;
    const bool fills = element_bytes(type) == 2;
    const double steps = fills ? filled * std::ceil(tokens / filled) : tokens;
    Multiply m = multiply(out, in, steps, batch, type, result_bytes);
    m.flops *= tokens / steps;
    m.shape.k = tokens;
    return m;
  }

  /// Gradients in 8 bits are accumulated in two steps, because the matrix units keep too few bits
  /// of a sum: nine shapes on an H200, 1250 TFLOP/s sustained against 1340 in one step.
  template <class Cost>
  Cost summed(Cost c, Precision type) const {
    if (!narrow(type) || training_block(p_, type) > 0) return c;
    c.time *= two_step_sums;
    c.busy[Bound::compute] *= two_step_sums;
    return c;
  }

  /// A multiply of two activations: its gradient is two more.
  void batched(const char* name, double batch, double m, double n, double k) {
    const Precision type = type_of(true);
    forward(name, multiply(m, n, k, batch, type, element_), 1);
    backward(name, multiply(m, k, n, batch, type, element_), 1);
    backward(name, multiply(n, k, m, batch, type, element_), 1);
  }

  double gradient() const { return gradient_bytes(p_.runtime, s_.precision); }

  /// The type a multiply runs in.
  Precision type_of(bool wide) const { return narrow(type_) && wide ? Precision::bf16 : type_; }

  void linear(const graph::Operator& w) {
    const double tokens = rows(w);
    const double in = w.in.on(s_.tp);
    const double out =
        w.kind == Kind::linear && w.bucket == graph::Bucket::head ? l_.vocab : w.out.on(s_.tp);
    const double groups = std::max(1.0, w.groups / s_.tp);
    const Precision type = type_of(w.wide);
    const Multiply y = multiply(tokens, out, in, groups, type, element_);
    const Multiply dx = summed(multiply(tokens, in, out, groups, type, element_), type);
    const bool fused = p_.runtime.fusion.gradient_accumulation;
    const double result = fused ? 2 * gradient() : element_;
    const Multiply dw = summed(weight_gradient(out, in, tokens, groups, type, result), type);
    const Bytes inputs(tokens * in * element_);  // of all tensor-parallel ranks together
    const Bytes outputs(tokens * out * element_);
    const bool alone = w.alone && s_.tp > 1;

    if (narrow(type)) quantise(w.name, tokens * groups, in, out, groups, w.after_norm);
    const bool packed = unpacks(w);
    if (packed) forward(w.name, unpacked(out * groups, in), 1, "unpack weights");
    if (w.cut == Cut::columns && alone) gather(inputs, y.time);
    forward(w.name, y, groups);
    const double part = modules_of(s_).alternate && !again_ ? left_by_alternation(w) : 0;
    if (part > 0 && part < 1) {
      again(w.name, multiply(tokens, part * out, in, groups, type, element_), groups);
    }
    if (w.cut == Cut::rows && alone) reduce(outputs, y.time);

    if (w.cut == Cut::rows && s_.sp && alone && !ends_here(w)) {
      exchange_backward(Exchange::tensor, "gather gradient", Collective::all_gather, l_.tensor,
                        outputs, beside_if(multiplies_send(), Beside::next, dx.time), true);
    }
    if (packed) backward(w.name, unpacked(out * groups, in), 1, "unpack weights");
    if (!ends_here(w)) backward(w.name, dx, groups, "input gradient");
    if (w.cut == Cut::columns && alone && !ends_here(w)) {
      column_backward(inputs, dx.time, dw.time);
    }
    adapt(w, {tokens * groups, in, out});
    if (!trained(w)) return;
    backward(w.name, dw, groups, "weight gradient", true);
    accumulate(w.name, out * groups, in, groups);
    if (w.bias) {
      backward(w.name, streamed(StreamOp::copy, tokens * groups, out, 2), groups, "bias gradient");
    }
  }

  /// Weights in 4 bits are made 16 for each multiply (arXiv 2305.14314, equation 5).
  bool unpacks(const graph::Operator& w) const {
    const bool layer = branch_ != &p_.graph.embedding() && branch_ != &p_.graph.head();
    return is_packed(p_.work.tuning) && layer && !w.wide;
  }
  KernelCost unpacked(double rows, double cols) const {
    return computed(rows, cols, nf4_bytes + 2);
  }

  struct Sides {
    double tokens;
    double in;
    double out;
    double groups = 1;  ///< experts, with adapters each
  };

  /// An adapter beside a frozen projection: two thin multiplies, a scale and a sum, and in the
  /// backward pass the four multiplies of their gradients, the scale's, and the sum of the two
  /// gradients of the input (arXiv 2106.09685, section 4.1, as eager code has it).
  void adapt(const graph::Operator& w, const Sides& x) {
    const double r = adapter_rank(p_.work.tuning, w);
    if (r <= 0) return;
    const double each = x.tokens / x.groups;
    const auto thin = [&](double m, double n, double k) {
      return multiply(m, n, k, x.groups, type_of(true), element_);
    };
    forward(w.name, thin(each, r, x.in), 1, "adapter down");
    again_ = again_ && !stops_before(w);
    forward(w.name, thin(each, x.out, r), 1, "adapter up");
    forward(w.name, streamed(StreamOp::add, x.tokens, x.out, 4), 1, "adapter scale");
    forward(w.name, streamed(StreamOp::add, x.tokens, x.out, 6), 1, "adapter sum");
    if (p_.work.tuning.adapter == Adapter::dora) lengthen(w, x);
    backward(w.name, streamed(StreamOp::add, x.tokens, x.out, 4), 1, "adapter scale");
    const auto trained_with = [&](double m, double n, const char* what) {
      const Multiply c = weight_gradient(m, n, each, x.groups, type_of(true), element_);
      backward(w.name, c, 1, what, true);
    };
    trained_with(x.out, r, "adapter up gradient");
    backward(w.name, thin(each, r, x.out), 1, "adapter input gradient");
    trained_with(r, x.in, "adapter down gradient");
    backward(w.name, thin(each, x.in, r), 1, "adapter input gradient");
    backward(w.name, streamed(StreamOp::add, x.tokens, x.in, 6), 1, "adapter input sum");
    accumulate(w.name, x.groups * (x.in + x.out), r, 2);
  }

  /// DoRA's lengths: W + s·B·A and the norms of its rows, anew in each forward pass and without a
  /// gradient (arXiv 2402.09353, section 4.3); each result times its row's length, and the gradient
  /// of that.
  void lengthen(const graph::Operator& w, const Sides& x) {
    const double r = adapter_rank(p_.work.tuning, w);
    forward(w.name, multiply(x.out, x.in, r, x.groups, type_of(true), element_), 1, "direction");
    forward(w.name, streamed(StreamOp::add, x.groups * x.out, x.in, 12), 3, "row lengths");
    forward(w.name, streamed(StreamOp::add, x.tokens, x.out, 8), 2, "scale rows");
    backward(w.name, streamed(StreamOp::add, x.tokens, x.out, 14), 4, "row gradients");
  }

  /// Gradients added to their sum in a kernel of its own, where the multiply does not.
  void accumulate(const char* name, double out, double in, double launches) {
    if (p_.runtime.fusion.gradient_accumulation) return;
    const KernelCost sum = moved(StreamOp::add, out, in, element_ + 2 * gradient());
    charge(part_.accumulate, sum, launches);
    part_.accumulate.weights += sum.time;
    record(Time::backward, name, "accumulate", sum, Runs::accumulation, true);
  }

  // 8-bit copies, plain and transposed: of the input, of the gradient, and of the weights once a
  // step (Transformer Engine). The kernel before may make the plain one. A transposed write of one
  // byte an element has short lines; it counts as four.
  void quantise(const char* name, double rows, double in, double out, double groups,
                bool after_norm) {
    const Kind outer = std::exchange(kind_, Kind::cast);
    const double narrow_bytes = element_bytes(type_);
    const double transposed = 4 * narrow_bytes;
    // 4 bits need the largest value of a tensor first, and a rotation: two more passes, and no
    // kernel before can do it (NVFP4 pre-training, arXiv 2509.25149).
    const bool four_bits = narrow_bytes < 1;
    const double bytes = 2 + narrow_bytes + transposed + (four_bits ? 4 : 0);
    const bool made = after_norm && p_.runtime.fusion.quantize && !four_bits;
    forward(name, computed(rows, in, made ? narrow_bytes + transposed : bytes), 1,
            made ? "transpose" : "cast");
    // What arrives in 8 bits wants its transposed copy alone.
    const double copies = keeps_narrow(p_, s_) ? narrow_bytes + transposed : bytes;
    const KernelCost weights = computed(out * groups, in, copies);
    charge(part_.once, weights, 1);
    record(Time::forward, name, "cast weights", weights, Runs::step);
    backward(name, computed(rows, out, bytes), 1, "cast gradient");
    kind_ = outer;
  }

  /// Kernels that send parts of what they multiply write into each other's memory: all ranks lie in
  /// one first fabric, NVLink's of a node or of a rack (NVIDIA/TransformerEngine, issue 1071 and
  /// pull request 1470, read November 2026).
  bool multiplies_send() const {
    const Network& n = p_.network;
    return p_.runtime.overlap.tensor && n.count > 0 && l_.tensor.ranks <= n.levels[0].reach;
  }

  void gather(Bytes inputs, Seconds beside) {
    if (!s_.sp) return;
    exchange_forward(Exchange::tensor, "gather", Collective::all_gather, l_.tensor, inputs,
                     beside_if(multiplies_send(), Beside::next, beside), true);
  }

  void reduce(Bytes outputs, Seconds beside) {
    exchange_forward(
        Exchange::tensor, "sum", s_.sp ? Collective::reduce_scatter : Collective::all_reduce,
        l_.tensor, outputs, beside_if(multiplies_send() && s_.sp, Beside::previous, beside), true);
  }

  // The input's gradient is summed beside the weight's gradient; with sequence parallelism the
  // input itself is gathered once more, beside its gradient (arXiv 2205.05198, section 4.2.2).
  void column_backward(Bytes inputs, Seconds dx, Seconds dw) {
    const bool beside = p_.runtime.overlap.weights || multiplies_send();
    if (s_.sp) {
      exchange_backward(Exchange::tensor, "gather input again", Collective::all_gather, l_.tensor,
                        inputs, beside_if(beside, Beside::previous, dx));
    }
    exchange_backward(Exchange::tensor, "sum gradient",
                      s_.sp ? Collective::reduce_scatter : Collective::all_reduce, l_.tensor,
                      inputs, beside_if(beside, Beside::next, dw));
  }

  // -- bookkeeping -------------------------------------------------------------------------------

  void charge(Phase& phase, const KernelCost& c, double launches) {
    phase.compute += c.time;
    phase.launches += launches;
    phase.flops += c.flops;
    if constexpr (!Trace::records) {
      if (!trace_.energy) return;
    }
    const Precision type = c.tiling.m > 0 ? type_ : Precision::bf16;
    phase.energy += (power_demand(p_.chip, c, type) - p_.chip.idle) * c.time;
    phase.memory += memory_draw(p_.chip, c);
  }

  template <class Cost>
  void forward(const char* name, const Cost& c, double launches, const char* what = "") {
    charge(part_.forward, c, launches);
    record(Time::forward, name, what, c);
    if (again_) again(name, c, launches, what);
  }

  template <class Cost>
  void again(const char* name, const Cost& c, double launches, const char* what = "") {
    charge(part_.recompute, c, launches);
    record(Time::recompute, name, what, c);
  }

  template <class Cost>
  void backward(const char* name, const Cost& c, double launches, const char* what = "",
                bool weights = false) {
    charge(part_.backward, c, launches);
    if (weights) part_.backward.weights += c.time;
    record(Time::backward, name, what, c, Runs::microbatch, weights);
  }

  void exchange(Exchange kind, const char* name, Collective op, Group group, Bytes bytes) {
    exchange_forward(kind, name, op, group, bytes);
    exchange_backward(kind, name, op, group, bytes);
  }

  void exchange_forward(Exchange kind, const char* name, Collective op, Group group, Bytes bytes,
                        Window beside = {}, bool in_steps = false) {
    const Sent what{op, group, bytes, beside.kernel};
    record(kind, name, what, send(part_.forward, kind, op, group, bytes, beside.time, in_steps),
           Time::forward);
    if (!again_) return;
    record(kind, name, what, send(part_.recompute, kind, op, group, bytes, beside.time, in_steps),
           Time::recompute);
  }

  void exchange_backward(Exchange kind, const char* name, Collective op, Group group, Bytes bytes,
                         Window beside = {}, bool in_steps = false) {
    record(kind, name, {op, group, bytes, beside.kernel},
           send(part_.backward, kind, op, group, bytes, beside.time, in_steps), Time::backward);
  }

  Span send(Phase& phase, Exchange kind, Collective op, Group group, Bytes bytes, Seconds beside,
            bool in_steps) {
    if (group.ranks <= 1) return {};
    const CollectiveCost c = collective(p_.network, p_.collectives, op, group, bytes);
    return hidden(phase, kind, c, group, beside, in_steps);
  }

  /// A collective beside kernels of `beside`: what sticks out shows, and so do the cores it takes.
  /// In steps, a multiply waits for the first part of its input (or ends after the last of its
  /// output), so one of the ranks' parts shows.
  Span hidden(Phase& phase, Exchange kind, const CollectiveCost& cost, Group group, Seconds beside,
              bool in_steps) {
    const Communication& c = p_.runtime.communication;
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
    phase.links += energy_of(cost.sent);
    if (kind == Exchange::tensor) phase.collectives += 1;
    return s;
  }

  template <class Cost>
  void record(Time kind, const char* name, const char* what, const Cost& c,
              Runs runs = Runs::microbatch, bool weights = false) {
    if constexpr (Trace::records) {
      Operator o;
      o.name = name;
      if (*what != 0) o.name += std::string(", ") + what;
      o.kind = kind;
      o.type = kind_;
      o.part = std::string(branch_->name);
      o.branch = branch_->name;
      o.of = operator_->name;
      o.shape = text_of(c);
      o.cost = static_cast<const KernelCost&>(c);
      o.exposed = c.time;
      o.pass = kind;
      o.weights = weights;
      o.runs = runs;
      trace_.operators.push_back(std::move(o));
    }
  }

  struct Sent {
    Collective op;
    Group group;
    Bytes bytes;
    Beside beside = Beside::nothing;
  };
  void record(Exchange kind, const char* name, const Sent& what, Span s, Time pass) {
    if constexpr (Trace::records) {
      if (what.group.ranks <= 1) return;
      Operator o;
      o.name = name;
      o.kind = kind == Exchange::tensor    ? Time::tensor
               : kind == Exchange::context ? Time::context
                                           : Time::expert;
      o.part = std::string(branch_->name);
      o.branch = branch_->name;
      o.of = operator_->name;
      o.type = Kind::exchange;
      o.message = what.bytes;
      o.collective = what.op;
      o.group = what.group;
      o.beside = what.beside;
      o.cost.time = s.busy;
      o.cost.busy[Bound::network] = s.busy;
      o.cost.bound = Bound::network;
      o.exposed = s.exposed;
      o.pass = pass;
      trace_.operators.push_back(std::move(o));
    }
  }

  const Problem& p_;
  const Strategy& s_;
  const Widths& l_;
  Hertz clock_;
  Trace& trace_;
  Part part_;
  const graph::Branch* branch_ = nullptr;
  Kind kind_ = Kind::linear;
  const graph::Operator* operator_ = nullptr;  ///< for the record alone
  bool full_ = false;
  Precision type_ = Precision::bf16;  ///< of the multiplies
  double element_ = 2;                // bytes, between the multiplies
  bool again_ = false;                ///< what follows is computed again in the backward pass
};

}  // namespace

template <class Trace>
void compose(const Problem& p, const Strategy& s, const Widths& l, Hertz clock, Trace& trace,
             Parts& parts) {
  Composer<Trace> composer(p, s, l, clock, trace);
  const graph::Graph& g = p.graph;
  const auto types = static_cast<std::size_t>(g.type_count);
  for (std::size_t t = 0; t < types; ++t) parts.layers[t] = {};
  for (int i = 0; i < g.branch_count(); ++i) {
    const graph::Branch& branch = g.branches[static_cast<std::size_t>(i)];
    if (branch.cross && p.work.images == 0) continue;
    const Part part = composer.part(branch);
    for (std::size_t t = 0; t < types; ++t) {
      if (g.types[t].holds(i)) parts.layers[t].add(part, 1);
    }
  }
  parts.tower = {};
  if (p.work.images > 0) {
    for (const graph::Branch& b : g.tower) parts.tower.add(composer.part(b), b.layers);
  }
  parts.embedding = composer.part(g.embedding());
  parts.head = composer.part(g.head());
}

template void compose<Silent>(const Problem&, const Strategy&, const Widths&, Hertz, Silent&,
                              Parts&);
template void compose<Recorder>(const Problem&, const Strategy&, const Widths&, Hertz, Recorder&,
                                Parts&);

}  // namespace sextant::training
