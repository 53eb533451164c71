// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/pass.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sextant/cost/experts.hpp"
#include "sextant/cost/gemm.hpp"
#include "sextant/cost/mixer.hpp"
#include "sextant/cost/power.hpp"
#include "sextant/cost/stream.hpp"
#include "sextant/predict/held.hpp"
#include "sextant/predict/record.hpp"
#include "sextant/predict/scores.hpp"
#include "sextant/predict/step.hpp"
#include "sextant/predict/tiers.hpp"
#include "sextant/spec/patience.hpp"

namespace sextant {
namespace {

/// Tokens of the busiest of `ep` ranks over their mean. A rank's share is a sum over its experts,
/// whose popularities differ by `skew`; the largest of n such shares lies √(2 ln n) standard
/// deviations above the mean. 0.7 gives 1.2 to 1.4 for 128 experts on 4 to 8 ranks, as the power
/// laws that engines are benchmarked with do (physics of grouped multiplies: 1.3 to 2).
double busiest_rank(const graph::Routed& r, int ep) {
  if (ep <= 1) return r.imbalance;
  // Groups wider than a node copy their most popular experts (EPLB): no worse than eight ranks.
  const double ranks = std::min(ep, 8);
  const double spread = r.skew / std::sqrt(std::max(1.0, r.count / ranks));
  return r.imbalance * std::min(ranks, 1 + spread * std::sqrt(2 * std::log(ranks)));
}

/// Sums of a pass before the host's pace is applied.
struct Sum {
  Table<Seconds, Work> parts;
  double launches = 0;
  Flops flops;
  Bytes dram;
  Bytes second;
  Joules energy;  ///< of kernels, beyond idling
  Joules memory;  ///< of that, traffic of device memory
  Joules links;
  Seconds device() const {
    Seconds t;
    for (const Seconds s : parts.values) t += s;
    return t;
  }
};

using graph::Kind;

template <class Trace>
class ServingPass {
 public:
  ServingPass(const Problem& p, const Strategy& s, Tokens tokens, Hertz clock, Trace& trace)
      : p_(p), s_(s), t_(tokens), clock_(clock), trace_(trace) {
    matrix_clock_ = min(clock, p.chip.clock);
    // Attention's constants are of kernels alone on a device, whose clock is counted as the matrix
    // units' (cost/attention.hpp): here it follows the real one down.
    attention_clock_ = p.chip.clock * (clock / p.chip.light_clock);
    element_ = p.runtime.wide_results ? 4 : activation_bytes(s.precision);
    tensor_ = {s.tp, std::min(s.tp, p.network.devices_per_node)};
    find_cache();
  }

  Sum run() {
    for (const graph::Branch& b : p_.graph.branches) {
      if (b.cross && t_.seen <= 0) continue;
      count_ = b.layers;
      for (const graph::Operator& op : b.operators) apply(b, op);
    }
    tower_ = t_.images > 0;
    for (std::size_t i = 0; tower_ && i < p_.graph.tower.size(); ++i) {
      const graph::Branch& b = p_.graph.tower[i];
      count_ = b.layers;
      for (const graph::Operator& op : b.operators) apply(b, op);
    }
    tower_ = false;
    count_ = 1;
    branch_ = nullptr;
    if (s_.pp > 1) {
      const Bytes sent(t_.all() * p_.model.hidden * element_ / s_.tp);
      const Group pair{2, p_.network.devices_per_node > s_.tp ? 2 : 1};
      exchange(Work::pipeline, "to the next stage", Collective::send_recv, pair, sent, s_.pp - 1);
    }
    return sum_;
  }

  /// Attention kernels of all layers alone, at another context: what a growing cache changes.
  Seconds attention_at(double context) {
    t_.context = context;
    find_cache();
    Seconds sum;
    for (const graph::Branch& b : p_.graph.branches) {
      for (const graph::Operator& op : b.operators) {
        if (op.kind == Kind::attention || op.kind == Kind::indexer) {
          sum += b.layers * mixed(op).time;
        }
      }
    }
    return sum;
  }

 private:
  /// Where the cache of all sequences is by now, those of other stages' passes included.
  void find_cache() {
    if (p_.tier.capacity.value <= 0) return;
    const StageKind stage = stage_of(p_, sliced(s_), t_.home.stage);
    const double held = t_.sequences * cached(p_, s_, stage, t_.context, t_.seen) +
                        (t_.chunk > 0 ? t_.pieces * cached(p_, s_, stage, t_.chunk_context, 0) : 0);
    cache_share_ = cache_share(t_.home, Bytes(s_.pp * held));
  }

  /// A kernel that finds this share of its bytes in the second memory; kernel() counts them.
  template <class Kernel>
  KernelCost reads(double share, const Kernel& kernel) {
    share_ = share;
    if (share <= 0) return kernel(p_.chip);
    const Chip chip = reading(p_.chip, p_.tier, share);
    KernelCost c = kernel(chip);
    c.byte_energy = chip.memory_energy / p_.chip.memory_energy;
    c.time += later(p_.chip, p_.tier);
    c.busy[Bound::latency] += later(p_.chip, p_.tier);
    find_bound(c);
    return c;
  }

  /// The same of weights, with other bytes beside them that are in the first memory.
  template <class Kernel>
  KernelCost reads_weights(double weights, double others, const Kernel& kernel) {
    return reads(t_.home.weights * weights / std::max(1.0, weights + others), kernel);
  }
  KernelCost multiply(const Gemm& g) {
    const double element = element_bytes(g.type);
    const double stored = g.weight_bits > 0 ? g.weight_bits / 8 : element;
    return reads_weights(g.n * g.k * stored, g.m * (g.k * element + g.n * g.result_bytes),
                         [&](const Chip& chip) { return gemm(chip, g, matrix_clock_); });
  }

  void apply(const graph::Branch& b, const graph::Operator& op) {
    type_ = op.kind;
    if constexpr (Trace::records) branch_ = &b, operator_ = &op;
    // Looking up tokens and positions hides behind the first norm.
    if (op.bucket == graph::Bucket::embedding && op.kind != Kind::linear) return;
    const bool head = &b == &p_.graph.head();
    const double tokens = op.per_image > 0 ? t_.images * op.per_image : head ? sampled() : t_.all();
    if (op.per_image > 0 && tokens <= 0) return;  // made once, with the prompt
    work_ = head ? Work::head : Work::stream;
    aside_ = op.aside && tokens <= p_.runtime.overlap.shared_tokens;
    switch (op.kind) {
      case Kind::norm:
        return norm(op, tokens, head);
      case Kind::linear:
        return linear(op, tokens, head);
      case Kind::elementwise:
        return stream(op.name, op.stream, tokens, op.out.on(s_.tp), op.ahead);
      case Kind::rotation:
        if (!p_.runtime.fusion.rope && !p_.kernels.whole_module) {
          stream(op.name, StreamOp::add, tokens, op.out.on(s_.tp), 4);
        }
        return;
      case Kind::attention:
        return attend(b, op, tokens);
      case Kind::indexer:
      case Kind::scan:
        return kernel(Work::attention, op.name, mixed(op), 2);
      case Kind::activation:
        return activation(op, tokens);
      case Kind::experts:
        return experts(op, tokens);
      case Kind::loss:
        stream("sampling", StreamOp::softmax, tokens, vocab(), 6);
        return exchange(Work::head, "gather logits", Collective::all_gather, tensor_,
                        Bytes(tokens * vocab() * s_.tp * element_), 1);
      case Kind::residual:
        // In the next norm, or the collective before it; branches side by side are added first.
        if (b.operators.front().kind == Kind::norm) return;
        return stream("sum of branches", StreamOp::add, tokens, op.out.all(), 6);
      case Kind::lookup:
      case Kind::cast:
      case Kind::exchange:
        break;
    }
  }

  /// The last token of every sequence, or all that are being checked.
  double sampled() const {
    if (t_.every_logit) return t_.all();
    return t_.sequences * (t_.queries <= most_decoded ? t_.queries : 1) +
           (t_.chunk > 0 ? t_.pieces : 0);
  }

  double vocab() const { return std::ceil(static_cast<double>(p_.model.vocab) / s_.tp); }

  void attend(const graph::Branch& b, const graph::Operator& op, double tokens) {
    const graph::Mixer& x = op.mixer;
    const double heads = x.heads / s_.tp;
    if (!p_.kernels.whole_module && op.cache.elements.all() > 0) {
      const double written = x.latent ? x.rank + x.rope : op.cache.elements.on(s_.tp);
      stream("append to the cache", StreamOp::copy, tokens, written, p_.runtime.fusion.append_bytes,
             cache_share_);
    }
    kernel(Work::attention, b.name.data(), mixed(op),
           in_pieces(op, std::max(t_.queries, t_.chunk)) ? most_pieces : 1);
    note([&] {
      if (x.sequence > 0) {
        return counted(tokens / x.sequence) + counted(heads) + whole(x.sequence) + " x " +
               whole(x.window > 0 ? x.window : x.sequence) + " x " + whole(x.head_dim);
      }
      if (x.image > 0) {
        return counted(t_.sequences) + counted(heads) + whole(t_.queries) + " x " +
               whole(t_.seen * x.image) + " x " + whole(x.head_dim);
      }
      return counted(t_.sequences) + counted(heads) + whole(t_.queries) + " x " +
             whole(x.window > 0 ? std::min(t_.context, x.window) : t_.context) + " x " +
             whole(x.latent ? x.rank + x.rope : x.head_dim);
    });
    // Heads come out one after the other where attention does not write the packed layout.
    if (p_.runtime.fusion.join_gradients > 0) {
      stream("join heads", StreamOp::copy, tokens, op.out.on(s_.tp), 4);
    }
  }

  /// Of the decoding sequences, then of the piece of a prompt beside them.
  KernelCost mixed(const graph::Operator& op) {
    const Hertz clock = op.kind == Kind::attention ? attention_clock_ : clock_;
    MixerShape shape{.batch = t_.sequences,
                     .queries = t_.queries,
                     .context = t_.context,
                     .ranks = double(s_.tp),
                     .cache = p_.serving.cache,
                     .type = attention_type(s_.precision),
                     .patches = t_.images * op.per_image,
                     .images = t_.seen};
    if (op.mixer.sequence > 0) return mixer(p_.chip, p_.kernels, op, shape, clock);
    const auto run = [&] {
      return reads(cache_share_, [&](const Chip& chip) {
        return in_pieces(op, shape.queries) ? pieces(chip, p_.kernels, p_.runtime.fusion, op.mixer,
                                                     shape, {matrix_clock_, clock_})
                                            : mixer(chip, p_.kernels, op, shape, clock);
      });
    };
    KernelCost c;
    const bool together =
        t_.chunk > 0 && t_.queries <= most_decoded && joins_tokens(p_.kernels, op, shape.cache);
    if (together) {
      shape.beside = t_.sequences;
      shape.beside_context = t_.context;
    } else if (t_.sequences > 0) {
      c = run();
    }
    if (t_.chunk <= 0) return c;
    shape.batch = t_.pieces;
    shape.queries = t_.chunk / t_.pieces;
    shape.context = t_.chunk_context;
    const KernelCost piece = run();
    if (together) return piece;
    c.byte_energy = piece.byte_energy;
    return then(c, piece);
  }

  /// Whether attention is two products around a softmax, not one kernel. Those of few rows are
  /// kernels of the library's own.
  bool in_pieces(const graph::Operator& op, double queries) const {
    return op.kind == Kind::attention && queries > p_.kernels.few_rows.rows &&
           sextant::in_pieces(p_.runtime.fusion, p_.kernels, op.mixer);
  }

  void activation(const graph::Operator& op, double tokens) {
    const double width = op.out.on(s_.tp);
    if (!op.gated) {
      stream(op.name, StreamOp::gelu, tokens, width, 4);
    } else {
      stream(op.name, StreamOp::silu_mul, tokens, 2 * width, 3);
    }
  }

  void experts(const graph::Operator& op, double tokens) {
    const graph::Routed& r = op.routed;
    ExpertLayer layer;
    const double replicas = std::max(1, s_.dp);
    layer.tokens = busiest_rank(r, s_.ep) * tokens * replicas;
    layer.own = tokens;
    layer.hidden = r.width;
    layer.ffn = r.ffn;
    layer.topk = r.topk;
    layer.experts = r.served;
    layer.ep = s_.ep;
    layer.tp = std::max(1.0, s_.tp * replicas / s_.ep);
    layer.gated = r.halves == 2;
    layer.routing.independent = true;
    layer.routing.skew = r.skew;
    layer.type = matrix_type(s_.precision, tokens);
    layer.weight_bits = stored_bits(p_, s_.precision);
    layer.scale_block = block_of_scales(layer.type, tokens);
    if (layer.scale_block > 0) layer.block_rows = p_.runtime.weights.block_rows;
    layer.widening = p_.kernels.widening;
    layer.result_bytes = element_;
    ExpertKernel k = !p_.runtime.fusion.experts ? p_.kernels.experts_unfused
                     : narrow(layer.type)       ? p_.kernels.experts_8bit
                                                : p_.kernels.experts;
    const double own = p_.kernels.issue_packed_experts;
    const double issue =
        issue_packed(layer.type, layer.weight_bits, own > 0 ? own : p_.kernels.issue_packed);
    if (issue > 0) k.efficiency = std::min(k.efficiency, issue);
    const double threads = p_.chip.mechanism.matrix_efficiency_int8;
    if (made_narrow(p_, layer.type) && threads > 0) k.efficiency = std::min(k.efficiency, threads);
    send_tokens("dispatch", r, tokens, true);
    // Of the experts that are chosen, all weights; of tokens their rows between the multiplies.
    const double chosen = std::min(r.served / double(s_.ep), layer.tokens * r.topk);
    const double weights =
        chosen * (r.halves + 1) * r.width * r.ffn / layer.tp * layer.weight_bits / 8;
    const double rows =
        layer.tokens * r.topk / s_.ep * element_ * (2 * r.width + 2 * r.ffn / layer.tp);
    kernel(Work::experts, op.name,
           reads_weights(
               weights, rows,
               [&](const Chip& chip) { return expert_layer(chip, k, layer, matrix_clock_); }),
           6);
    note([&] {
      return whole(layer.tokens) + " to " + whole(r.topk) + " of " + whole(r.count) + ", " +
             whole(r.width) + " x " + whole(r.ffn);
    });
    send_tokens("combine", r, tokens, false);
    all_reduce(tokens, p_.model.hidden);
  }

  /// Between attention's replicas and the ranks of the experts. Ranks that share heads have the
  /// same tokens, and send their share of them.
  void send_tokens(const char* name, const graph::Routed& r, double tokens, bool to_experts) {
    if (s_.dp <= 1) return;
    const int ranks = s_.ep < s_.dp ? s_.tp * s_.dp : s_.ep;
    const Group group{ranks, std::min(ranks, p_.network.devices_per_node)};
    const double own = tokens / s_.tp;
    const bool gathered = gathers_tokens(p_, s_);
    // Tokens go as the experts read them; but kernels of scaled 8-bit blocks that gather all tokens
    // quantise them afterwards (TensorRT-LLM's fused_moe_cutlass.py, read November 2026).
    const Precision type = matrix_type();
    const bool summed = gathered && p_.runtime.communication.sums_tokens &&
                        (t_.queries > most_decoded || t_.chunk > 0);
    const bool later =
        summed || (gathered && element_bytes(type) == 1 && scale_block(p_, type) > 0);
    const double element = to_experts && narrow(type) && !later ? element_bytes(type) : element_;
    if (gathered) {
      const Bytes all(own * ranks * r.width * element);
      const Collective how = summed       ? Collective::all_reduce
                             : to_experts ? Collective::all_gather
                                          : Collective::reduce_scatter;
      return place(Work::exchange, name, all, 1,
                   collective(p_.network, p_.collectives, how, group, all));
    }
    const ExpertTokens sent{.tokens = own,
                            .topk = r.topk,
                            .hidden = r.width,
                            .element_bytes = element,
                            .most_nodes = r.most_nodes,
                            .busiest = busiest_rank(r, s_.ep),
                            .kernels = p_.runtime.communication.expert_kernels,
                            .decode = t_.queries <= most_decoded};
    place(Work::exchange, name, Bytes(own * r.topk * r.width * element), 1,
          expert_exchange(p_.network, p_.collectives, group, sent));
  }

  // -- kernels -----------------------------------------------------------------------------------

  /// Weights of fewer bits than the matrix units take are widened by their kernel, which reaches
  /// `share` of their rate where its threads feed them.
  double issue_packed(Precision type, double weight_bits, double share) const {
    const Precision real = p_.chip.runs[type];
    const bool widened = weight_bits > 0 && weight_bits / 8 < element_bytes(real);
    return widened && !p_.chip.on_vector(real) && !p_.chip.copied_in ? share : 0;
  }

  /// What multiplies run in.
  Precision matrix_type() const { return matrix_type(s_.precision); }
  Precision matrix_type(Precision weights) const {
    // Checkpoints in narrow types leave the tower for images as it was.
    if (tower_) return attention_type(s_.precision);
    return multiplied_in(p_, s_, weights);
  }
  /// Of so many rows. Few are multiplied by the vector units beside the stream of weights, and what
  /// makes them narrow takes no longer than the gap before it.
  Precision matrix_type(Precision weights, double rows) const {
    const Precision type = matrix_type(weights);
    return made_of_few(type, rows) ? multiplied_in(weights, Activations::usual, p_.chip) : type;
  }
  bool made_of_few(Precision type, double rows) const {
    return rows <= p_.kernels.few_rows.rows && made_narrow(p_, type);
  }
  double block_of_scales(Precision type, double rows) const {
    return made_of_few(type, rows) ? 0 : scale_block(p_, type);
  }

  void norm(const graph::Operator& op, double tokens, bool head) {
    const StreamOp plain = op.stream;
    const bool layer = plain == StreamOp::layernorm;
    const double h = op.out.all();
    const Fusion& f = p_.runtime.fusion;
    const bool first = op.module == graph::Module::norms;  // of its branch, after a sum
    if (head || !first) return stream(op.name, plain, tokens, h, 4);
    // The sum before it is the all-reduce's, and so is the norm, where the stack's own kernels do
    // it.
    const bool fused = s_.tp > 1 && p_.communicates && f.allreduce_norm && !layer;
    if (fused && own_sum(Bytes(tokens * h * element_))) return;
    if (f.residual_norm)
      return stream(op.name, layer ? plain : StreamOp::add_rmsnorm, tokens, h, 8);
    stream("residual sum", StreamOp::add, tokens, h, 6);
    stream(op.name, plain, tokens, h, 4);
  }

  void stream(const char* name, StreamOp op, double rows, double cols, double bytes,
              double second = 0) {
    if (rows <= 0 || cols <= 0) return;
    const KernelCost c = reads(second, [&](const Chip& chip) {
      return sextant::stream(chip, p_.kernels.stream[op],
                             following(moving(op, rows, cols, bytes, element_)), clock_);
    });
    kernel(work_, name, c, 1);
    note([&] { return whole(rows) + " x " + whole(cols); });
  }

  void batched(const char* name, double batch, double m, double n, double k) {
    const Gemm g{.m = m,
                 .n = n,
                 .k = k,
                 .batch = batch,
                 .type = attention_type(s_.precision),
                 .result_bytes = element_};
    kernel(Work::multiply, name, multiply(g), 1, &g);
  }

  void linear(const graph::Operator& op, double tokens, bool head) {
    if (op.absorbed && t_.queries <= 1) return absorb(op.mixer, tokens);
    const bool logits = op.bucket == graph::Bucket::head;
    const bool left = leaves(p_, s_, op) && left_bits(p_, s_.precision) < 16;
    const Precision weights =
        left && !narrow(p_.model.rest) ? Precision::int8 : weights_of(p_, s_, op);
    Gemm g{.m = tokens,
           .n = logits ? vocab() : op.out.on(s_.tp),
           .k = op.in.on(s_.tp),
           .batch = std::max(1.0, op.groups / s_.tp),
           .type = matrix_type(weights, tokens),
           .result_bytes = element_};
    g.widening = p_.kernels.widening;
    if (tokens <= p_.kernels.few_rows.rows || made_narrow(p_, g.type)) {
      g.core_bytes = p_.kernels.few_rows.core_bytes;
    }
    if (head) {
      const bool bf16 = p_.chip.per_clock[Precision::bf16].value > 0;
      if (activation_bytes(s_.precision) <= 2) g.type = bf16 ? Precision::bf16 : Precision::fp16;
      if (narrow(s_.precision)) g.weight_bits = rest_bits(p_, s_.precision);
      return kernel(Work::head, logits ? "output head" : op.name, multiply(g), 1, &g);
    }
    const bool into_latent =
        op.cut == graph::Cut::whole && p_.model.attention.kind == AttentionKind::latent;
    g.whole_outputs =
        (op.bucket == graph::Bucket::router || into_latent) && tokens <= p_.kernels.few_rows.whole;
    g.scale_block = block_of_scales(g.type, tokens);
    const double reached = p_.runtime.weights.block_operations;
    if (g.scale_block > 0 && reached > 0) g.core_operations = reached;
    const bool of_4_bits = element_bytes(p_.chip.runs[g.type]) < 1;
    const bool quantised = quantised_apart(p_, g.type);
    if (quantised || (of_4_bits && !written_in_4_bits(op))) {
      type_ = Kind::cast;
      quantise(g);
      type_ = Kind::linear;
    }
    if ((quantised && !made_narrow(p_, g.type)) || of_4_bits) g.provider = GemmLibrary::scaled;
    if (of_4_bits) g.issue = p_.kernels.issue_4bit;
    if (!tower_ && narrow(weights)) g.weight_bits = stored_bits(p_, weights);
    if (!tower_ && leaves(p_, s_, op)) g.weight_bits = left_bits(p_, s_.precision);
    const double issue = issue_packed(g.type, g.weight_bits, p_.kernels.issue_packed);
    if (issue > 0) g.issue = issue;
    kernel(Work::multiply, op.name, multiply(g), 1, &g);
    if (op.cut == graph::Cut::rows && op.alone && op.bucket != graph::Bucket::shared) {
      all_reduce(tokens, op.out.all());
    }
  }

  /// Whether the kernel before writes what a multiply takes with a scale a block: one that sums
  /// parts of ranks and normalises them does, and so does attention but in latent space; norms
  /// alone and activations do not (TensorRT-LLM's RESIDUAL_RMS_NORM_QUANT_NVFP4 and its attention
  /// with NVFP4 outputs, vLLM's passes that fuse the same: read November 2026).
  bool written_in_4_bits(const graph::Operator& op) const {
    if (op.after_norm) return s_.tp > 1 && p_.communicates && p_.runtime.fusion.allreduce_norm;
    return op.bucket == graph::Bucket::attention && op.cut == graph::Cut::rows &&
           p_.model.attention.kind == AttentionKind::grouped;
  }

  /// A scale a block is found in passing, one a row only behind its end.
  void quantise(const Gemm& g) {
    if (g.scale_block > 0) return stream("quantise", StreamOp::add, g.m, g.k, 3);
    kernel(Work::stream, "quantise", quantize_rows(p_.chip, p_.kernels, g.type, g.m, g.k), 1);
  }

  /// Queries are taken into the latent space, results out of it, head by head.
  void absorb(const graph::Mixer& x, double tokens) {
    batched("absorb", x.heads / s_.tp, tokens, x.rank, x.nope);
    batched("expand", x.heads / s_.tp, tokens, x.value_dim, x.rank);
  }

  void all_reduce(double tokens, double width) {
    const Bytes bytes(tokens * width * element_);
    exchange(Work::tensor, "sum", Collective::all_reduce, tensor_, bytes, 1);
  }

  // -- bookkeeping -------------------------------------------------------------------------------

  /// "40 of ", or nothing for one.
  static std::string counted(double n) { return n > 1 ? whole(n) + " of " : ""; }

  /// Says which operator of the model this is run for.
  void belongs(Operator& o) const {
    if (branch_ == nullptr) return;
    o.branch = branch_->name;
    o.of = operator_->name;
  }

  /// Gives the last operator its shape, where someone reads it.
  template <class Text>
  void note(const Text& text) {
    if constexpr (Trace::records) trace_.operators.back().shape = text();
  }

  /// A kernel beside others takes what it computes and moves; its latencies are hidden.
  static Seconds taken_from_others(const KernelCost& c) {
    const Seconds core = max(c.busy[Bound::compute], c.busy[Bound::shared]);
    return min(c.time, max(core, max(c.busy[Bound::l2], c.busy[Bound::dram])));
  }

  /// All kernels of a pass run at one clock, whatever their models count in: it sets the voltage.
  void kernel(Work work, const char* name, KernelCost c, double launches,
              const Gemm* shape = nullptr) {
    if (tower_) work = Work::vision;
    c.clock = clock_;
    if (aside_) c.time = taken_from_others(c), launches = 0;
    sum_.parts[work] += count_ * c.time;
    sum_.launches += count_ * launches;
    sum_.flops += count_ * c.flops;
    sum_.dram += count_ * c.dram;
    sum_.second += count_ * std::exchange(share_, 0.0) * c.dram;
    const Precision type = c.tiling.m > 0 ? matrix_type() : Precision::bf16;
    sum_.energy += count_ * ((power_demand(p_.chip, c, type) - p_.chip.idle) * c.time);
    sum_.memory += count_ * memory_draw(p_.chip, c);
    if constexpr (Trace::records) {
      Operator o;
      o.name = name;
      o.type = type_;
      o.part = name_of(work);
      belongs(o);
      o.cost = c;
      o.count = count_;
      o.exposed = c.time;
      if (shape != nullptr) {
        o.shape = counted(shape->batch) + whole(shape->m) + " x " + whole(shape->n) + " x " +
                  whole(shape->k);
      }
      trace_.operators.push_back(std::move(o));
    } else {
      static_cast<void>(name), static_cast<void>(shape);
    }
  }

  void exchange(Work work, const char* name, Collective op, Group group, Bytes bytes,
                double times) {
    if (group.ranks <= 1 || !p_.communicates) return;
    const bool small = op == Collective::all_reduce && own_sum(bytes);
    const auto with = [&](const CollectiveLibrary& library) {
      return collective(p_.network, library, op, group, bytes);
    };
    CollectiveCost cost = with(small ? p_.small_collectives : p_.collectives);
    // A stack's own kernels are GPUs'; engines have no worse than what else they do.
    if (small && p_.chip.copied_in) {
      const CollectiveCost usual = with(p_.collectives);
      if (usual.time < cost.time) cost = usual;
    }
    place(work, name, bytes, times, cost);
  }

  /// Whether the serving stack's own kernels do an all-reduce of this size.
  bool own_sum(Bytes bytes) const {
    return bytes <= max(p_.runtime.communication.small_limit, p_.collectives.small_limit);
  }

  void place(Work work, const char* name, Bytes bytes, double times, const CollectiveCost& cost) {
    if (!p_.communicates) return;
    const Communication& c = p_.runtime.communication;
    const Seconds time = cost.time * (1 + c.skew) + c.extra_latency;
    sum_.parts[work] += (count_ * times) * time;
    sum_.launches += count_ * times;
    sum_.links += (count_ * times) * energy_of(cost.sent);
    if constexpr (Trace::records) {
      Operator o;
      o.name = name;
      o.type = Kind::exchange;
      o.part = name_of(work);
      belongs(o);
      o.message = bytes;
      o.cost.time = time;
      o.cost.busy[Bound::network] = time;
      o.cost.bound = Bound::network;
      o.count = count_ * times;
      o.exposed = time;
      trace_.operators.push_back(std::move(o));
    } else {
      static_cast<void>(name);
    }
  }

  const Problem& p_;
  const Strategy& s_;
  Tokens t_;
  double element_ = 2;  // bytes, between the multiplies
  Hertz clock_;
  Hertz matrix_clock_;
  Hertz attention_clock_;
  Trace& trace_;
  Sum sum_;
  double count_ = 1;
  double cache_share_ = 0;  ///< in the second memory
  double share_ = 0;        ///< of the kernel at hand's bytes, there
  bool tower_ = false;      ///< on the way through it
  Work work_ = Work::stream;
  bool aside_ = false;  // the operator runs beside the routed experts
  Kind type_ = Kind::linear;
  const graph::Branch* branch_ = nullptr;  ///< for the record alone
  const graph::Operator* operator_ = nullptr;
  Group tensor_;
};

/// The host's pace, and what it adds: a pass as the engine runs it.
PassCost paced(const Problem& p, const Sum& sum, const Tokens& tokens) {
  const Runtime& r = p.runtime;
  const Seconds gaps = sum.launches * max(r.launch.gap, p.chip.mechanism.dispatch);
  const Seconds device = sum.device() + gaps;
  const Seconds issue = r.launch.graph ? r.launch.graph_start : sum.launches * r.launch.host;
  Seconds time = r.launch.graph ? device + issue : Seconds(smooth_max(device.value, issue.value));
  const int layers = p.model.layers + (tokens.images > 0 ? p.model.vision.layers : 0);
  time += r.host_per_step + tokens.sequences * r.host_per_sequence + layers * r.host_per_layer;
  PassCost c;
  c.parts = sum.parts;
  c.parts[Work::host] += time - sum.device();
  for (const Seconds s : c.parts.values) c.time += s;
  c.flops = sum.flops;
  c.dram = sum.dram;
  c.second = sum.second;
  return c;
}

/// Two halves of a batch may take turns: tokens of one are on their way to experts while the other
/// computes (two-batch overlap in SGLang, dual batches in vLLM, DeepSeek's two microbatches).
bool takes_turns(const Problem& p, const Strategy& s, const Tokens& t) {
  return p.runtime.overlap.experts && p.communicates && s.dp > 1 && s.ep > 1 &&
         p.model.experts.count > 0 && t.sequences + (t.chunk > 0 ? t.pieces : 0) >= 2;
}
Tokens half_of(Tokens t) {
  t.sequences = std::ceil(t.sequences / 2);
  t.chunk /= 2;
  t.pieces = std::max(1.0, t.pieces / 2);
  t.images /= 2;
  return t;
}

/// Of the exchange beside that compute, the share that shows. That of a few tokens takes no cores:
/// it is left to the network's cards.
double shows(const Problem& p, const Sum& sum, bool decode) {
  const Seconds busy = sum.parts[Work::exchange];
  Seconds window;
  for (const Work w : {Work::multiply, Work::attention, Work::experts, Work::stream}) {
    window += sum.parts[w];
  }
  const bool no_cores = decode && p.runtime.communication.expert_kernels;
  const Seconds cores = (no_cores ? 0 : exchange_cores(p)) * busy;
  return busy.value > 0 ? min(busy, shown_beside(busy, window, cores)) / busy : 1;
}

Sum twice(Sum half) {
  for (Seconds& s : half.parts.values) s *= 2.0;
  half.launches *= 2;
  half.flops *= 2.0;
  half.dram *= 2.0;
  half.second *= 2.0;
  half.energy *= 2.0;
  half.memory *= 2.0;
  half.links *= 2.0;
  return half;
}

template <class Trace>
Sum sum_in_turns(const Problem& p, const Strategy& s, const Tokens& tokens, Hertz clock,
                 Trace& trace) {
  Sum sum = twice(ServingPass<Trace>(p, s, half_of(tokens), clock, trace).run());
  const double share = shows(p, sum, tokens.queries <= most_decoded);
  sum.parts[Work::exchange] *= share;
  if constexpr (Trace::records) {
    for (Operator& o : trace.operators) {
      o.count *= 2;
      if (o.part == name_of(Work::exchange)) o.exposed *= share;
    }
  }
  return sum;
}

/// A batch at once, or its halves in turns where engines may and that is faster: they have
/// thresholds below which they do not.
template <class Trace>
Sum sum_of(const Problem& p, const Strategy& s, const Tokens& tokens, Hertz clock, Trace& trace) {
  if (!takes_turns(p, s, tokens)) return ServingPass<Trace>(p, s, tokens, clock, trace).run();
  Silent silent;
  const Sum whole = ServingPass<Silent>(p, s, tokens, clock, silent).run();
  const Sum turns = sum_in_turns(p, s, tokens, clock, silent);
  const bool faster = paced(p, turns, tokens).time < paced(p, whole, tokens).time;
  if constexpr (Trace::records) {  // only the better of them
    return faster ? sum_in_turns(p, s, tokens, clock, trace)
                  : ServingPass<Trace>(p, s, tokens, clock, trace).run();
  }
  return faster ? turns : whole;
}

/// A pass at the clock that power allows when passes of this kind follow each other.
struct Settled {
  Hertz clock;
  Sum sum;
};
Settled settled(const Problem& p, const Strategy& s, const Tokens& tokens) {
  const Chip& chip = p.chip;
  const Watts budget = dynamic_budget(chip);
  Silent silent;
  Hertz clock = chip.light_clock;
  for (int i = 0; i < 6; ++i) {
    const Sum sum = sum_of(p, s, tokens, clock, silent);
    const Watts demand = sum.energy / paced(p, sum, tokens).time;
    if (demand <= budget * (i == 0 ? 1 : 1.002)) return {clock, sum};
    clock = slowed(chip, clock, demand, budget);
  }
  return {clock, sum_of(p, s, tokens, clock, silent)};
}

PassCost cost_of(const Problem& p, const Tokens& tokens, const Settled& at) {
  const Sum& sum = at.sum;
  PassCost c = paced(p, sum, tokens);
  c.clock = at.clock;
  c.power = p.chip.idle + sum.energy / c.time;
  c.work = {.compute = sum.energy - sum.memory, .memory = sum.memory, .links = sum.links};
  return c;
}

/// Where a pass finds weights and cache.
Residence home_of(const Problem& p, const Strategy& s) {
  if (p.residence.fixed || p.tier.capacity.value <= 0) return p.residence;
  return serving_memory(p, s, true).residence;
}

}  // namespace

bool joins_tokens(const Problem& p) {
  if (p.runtime.engine.joining != Joining::mixed) return false;
  const auto joins = [&](const graph::Operator& op) {
    return joins_tokens(p.kernels, op, p.serving.cache);
  };
  return std::any_of(p.graph.branches.begin(), p.graph.branches.end(), [&](const auto& b) {
    return std::any_of(b.operators.begin(), b.operators.end(), joins);
  });
}

PassCost pass_over(const Problem& p, const Strategy& s, const Tokens& tokens) {
  return cost_of(p, tokens, settled(p, s, tokens));
}

Tokens tokens_of(const Problem& p, const Strategy& s, const PassShape& shape,
                 const Residence& home) {
  return {.sequences = std::ceil(shape.batch / std::max(1, s.dp)),
          .queries = shape.queries,
          .context = shape.context,
          .chunk = shape.chunk,
          .chunk_context = shape.chunk_context,
          .pieces = shape.pieces,
          .images = shape.images / std::max(1, s.dp),
          .seen = double(p.serving.images),
          .home = home,
          .every_logit = shape.every_logit};
}

MeanDecode mean_decode(const Problem& p, const Strategy& s, Tokens t, double first, double steps) {
  t.context = first + std::floor((steps - 1) / 2);
  PassCost mean = pass_over(p, s, t);
  const Seconds there = mean.time;
  if (steps <= 1) return {mean, t.context, there};
  Silent silent;
  ServingPass<Silent> one(p, s, t, mean.clock, silent);
  const Seconds middle = one.attention_at(t.context);
  Seconds sum;
  for (double j = 0; j < steps && !Patience::over(); ++j) sum += one.attention_at(first + j);
  const Seconds change = sum / steps - middle;
  mean.parts[Work::attention] += change;
  mean.time += change;
  return {mean, t.context, there};
}

std::string_view meaning_of(Work w) {
  constexpr Table<std::string_view, Work> meanings = {
      {"matrix multiplies with the weights",
       "attention and recurrences over the cache or the prompt", "routed experts",
       "norms, activations, position encoding, quantising", "output head and sampling",
       "tensor-parallel sums", "tokens to their experts and back", "transfers from stage to stage",
       "the tower that makes tokens of images", "launches, scheduler and other work of the host"}};
  return meanings[w];
}

Seconds with_host(const Engine& e, Seconds device, double decoding, double prompts) noexcept {
  const Seconds host = e.schedule + (decoding + prompts) * e.sequence + prompts * e.prompt;
  return e.asynchronous ? Seconds(smooth_max(device.value, host.value)) : device + host;
}

PassCost serving_pass(const Problem& p, const Strategy& s, PassShape shape) noexcept {
  return pass_over(p, s, tokens_of(p, s, shape, home_of(p, s)));
}

ExplainedPass explain_pass(const Problem& p, const Strategy& s, PassShape shape) {
  const Tokens tokens = tokens_of(p, s, shape, home_of(p, s));
  const Settled at = settled(p, s, tokens);
  Recorder recorder;
  static_cast<void>(sum_of(p, s, tokens, at.clock, recorder));
  ExplainedPass x;
  x.cost = cost_of(p, tokens, at);
  x.operators = std::move(recorder.operators);
  return x;
}

ExplainedPass explain_pass(const Problem& p, const Strategy& s, PassShape shape,
                           const PassCost& answered) {
  ExplainedPass x = explain_pass(p, s, shape);
  x.cost.time += answered.parts[Work::host] - x.cost.parts[Work::host];
  x.cost.parts[Work::host] = answered.parts[Work::host];
  return x;
}

}  // namespace sextant
