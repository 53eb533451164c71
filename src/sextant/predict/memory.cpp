// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/memory.hpp"

#include <algorithm>

#include "sextant/predict/recompute.hpp"
#include "sextant/predict/scores.hpp"
#include "sextant/predict/tuning.hpp"

namespace sextant {
namespace {

using graph::Kind;
using graph::Module;

// Every tensor is counted where autograd keeps it: the inputs of norms and of GEMMs, what the
// attention kernel needs again, inputs and outputs of activation functions, masks of dropout.
// For a GPT with unfused attention and dropout the sum is s b h (10 + 24/t + 5 a s/(h t))
// (Korthikanti et al., arXiv 2205.05198, eq. 2; with sequence parallelism eq. 4).
class Tensors {
 public:
  Tensors(const Problem& problem, const Strategy& strategy, const Widths& widths) noexcept
      : p_(problem),
        s_(strategy),
        l_(widths),
        element_(activation_bytes(strategy.precision)),
        operand_(std::min(element_, element_bytes(trained_in(problem, strategy)))),
        in_blocks_(training_block(problem, trained_in(problem, strategy)) > 0) {}

  /// Tokens of a microbatch, as wide as the model, between the blocks.
  Bytes hidden() const noexcept { return Bytes(l_.norm_tokens * l_.hidden * element_); }

  /// What a branch keeps for one microbatch.
  Bytes branch(const graph::Branch& b, const RecomputeModules& modules, Recompute recompute,
               bool first_of_layer = true) const noexcept {
    Bytes sum;
    for (const graph::Operator& op : b.operators) {
      if (op.kept.input && !takes_in(modules, Module::norms) && takes_input(b, op)) {
        // With sequence parallelism its own part, gathered again in the backward pass, unless the
        // stack keeps the gathered one.
        const double part = p_.runtime.footprint.gathered_inputs ? 1 : l_.shared;
        sum += Bytes(all_rows(op) / part * op.in.all() * operand_);
      }
      // What a norm reads and a sum masks is the layer's, whatever is recomputed between them.
      const bool outside = op.kind == Kind::norm || op.kind == Kind::residual;
      const bool dropped =
          !outside && (takes_in(modules, b.module) || takes_in(modules, op.module));
      if (dropped) continue;
      if (modules.alternate) {
        const bool layer_input = first_of_layer && &op == &b.operators.front();
        sum += kept_by_alternation(op, layer_input) * tensors(op, modules, recompute);
        // The seventh multiply of a layer is kept though nothing needs it.
        if (op.kind == Kind::linear && op.gated) sum += hidden();
        continue;
      }
      sum += tensors(op, modules, recompute);
      // The input of the way out of an MLP is kept for that multiply alone.
      if (op.kind == Kind::activation && !takes_input(b, op)) {
        sum -= Bytes(all_rows(op) * op.kept.operand.on(s_.tp) * operand_);
      }
    }
    return sum;
  }

  /// Copies of the logits beyond the one kept while the loss is computed or its gradient taken.
  Bytes loss() const noexcept {
    return Bytes((p_.runtime.footprint.loss_copies - 1) * 4 * l_.tokens * l_.vocab);
  }
  /// The largest matrix of a layer in 16 bits, made from 4 for its multiply.
  Bytes unpacked() const noexcept {
    if (!is_packed(p_.work.tuning)) return {};
    double largest = 0;
    for (int i = 0; i < p_.graph.branch_count(); ++i) {
      for (const graph::Operator& op : p_.graph.branches[static_cast<std::size_t>(i)].operators) {
        if (op.kind == Kind::linear) largest = std::max(largest, op.weights.on(s_.tp));
      }
    }
    return Bytes(largest * element_);
  }
  /// Gradients inside a branch's backward pass: of its output, and of the inside of its MLP.
  Bytes backward(const graph::Branch& b) const noexcept {
    double inside = 0;
    for (const graph::Operator& op : b.operators) {
      if (op.kind == Kind::activation) {
        inside = std::max(inside, (op.gated ? 2 : 1) * all_rows(op) * op.out.on(s_.tp));
      } else if (op.kind == Kind::experts) {
        inside = std::max(inside, op.routed.halves * l_.expert_tokens * op.routed.ffn / s_.etp);
      }
    }
    return hidden() + Bytes(inside * element_);
  }

  /// What a tower keeps of the images of one microbatch: everything, or under full recomputation
  /// what its layers take in.
  Bytes tower(const RecomputeModules& modules, Recompute recompute) const noexcept {
    if (l_.images <= 0 || p_.work.tuning.rank > 0 || p_.work.tuning.frozen.vision) return {};
    const bool full = recompute == Recompute::full;
    Bytes sum;
    for (const graph::Branch& b : p_.graph.tower) {
      if (full && b.layers > 1) continue;
      sum += b.layers * branch(b, modules, full ? Recompute::none : recompute);
    }
    if (!full) return sum;
    const Vision& v = p_.model.vision;
    const double tokens = l_.images * image_shape(v).patches() / l_.shared;
    return sum + Bytes(v.layers * tokens * v.hidden * element_);
  }

 private:
  /// Of an operator's tokens, those of all ranks that sequence parallelism deals them out to.
  double all_rows(const graph::Operator& op) const noexcept {
    return op.per_image > 0 ? l_.images * op.per_image : l_.tokens;
  }

  /// Bytes of one value that goes into an activation.
  double gate() const noexcept {
    return p_.runtime.footprint.narrow_gate || in_blocks_ ? operand_ : element_;
  }

  /// The share of what an operator keeps where every second multiply is computed again. What ranks
  /// have summed up stays.
  double kept_by_alternation(const graph::Operator& op, bool layer_input) const noexcept {
    switch (op.kind) {
      case Kind::norm:
        return layer_input || s_.tp > 1 ? 1 : 0;
      case Kind::linear:
        return 1 - left_by_alternation(op);
      case Kind::elementwise:
      case Kind::rotation:
        return 0;
      default:
        return 1;
    }
  }

  /// Whether a multiply of the branch that takes what is kept with an operator needs it for
  /// gradients of weights: as wide as the operator's input, or as an activation's result.
  bool takes_input(const graph::Branch& b, const graph::Operator& kept) const noexcept {
    const Tuning& t = p_.work.tuning;
    if (trains_all(t)) return true;
    const double width = kept.kind == Kind::activation ? kept.out.all() : kept.in.all();
    return std::any_of(b.operators.begin(), b.operators.end(), [&](const graph::Operator& op) {
      return op.kind == Kind::linear && op.in.all() == width && needs_input(t, op);
    });
  }

  /// What adapters keep: their inside, and DoRA's two results, which its lengths multiply.
  double adapter(const graph::Operator& op) const noexcept {
    const Tuning& t = p_.work.tuning;
    const double rank = adapter_rank(t, op);
    if (rank <= 0 || op.kind == Kind::experts) return 0;
    return (rank + (t.adapter == Adapter::dora ? 2 * op.out.on(s_.tp) : 0)) * element_;
  }

  Bytes tensors(const graph::Operator& op, const RecomputeModules& modules,
                Recompute recompute) const noexcept {
    const double tokens = l_.rows(op);
    const graph::Kept& k = op.kept;
    const double tp = s_.tp;
    double bytes = tokens * (k.wide.on(tp) * element_ + k.gate.on(tp) * gate() +
                             k.operand.on(tp) * operand_ + k.bytes.on(tp) +
                             (operand_ < element_ && !in_blocks_ ? k.copy.on(tp) * operand_ : 0));
    bytes += tokens * adapter(op);
    switch (op.kind) {
      case Kind::attention:
        return Bytes(bytes) + softmax(op, recompute);
      case Kind::activation:
        // What a gate makes where no kernel fuses it with the product.
        if (op.gated && p_.runtime.footprint.gate_output) {
          bytes += tokens * op.out.on(tp) * element_;
        }
        break;
      case Kind::experts:
        return Bytes(bytes) + experts(op, modules);
      case Kind::lookup:
        return Bytes(bytes) + Bytes(p_.runtime.dropout ? tokens * l_.hidden : 0);
      case Kind::residual:
        if (op.per_image > 0) break;  // towers have no dropout
        return Bytes(bytes) + Bytes(p_.runtime.dropout ? tokens * op.out.all() : 0);
      case Kind::loss:
        return Bytes(bytes) + Bytes(4 * l_.tokens * l_.vocab);  // fp32 softmax of the logits
      default:
        break;
    }
    return Bytes(bytes);
  }

  // Softmax of one layer: a logarithm of its sum per head (FlashAttention), or the whole matrix
  // and, with dropout, its mask and the product of the two (2 + 1 + 2 bytes: the 5 of eq. 2).
  Bytes softmax(const graph::Operator& op, Recompute recompute) const noexcept {
    if (recompute != Recompute::none) return {};
    const graph::Mixer& x = op.mixer;
    const double rows = x.heads / s_.tp * all_rows(op);
    // Ten of NVIDIA's runs of gpt-oss, whose sinks no kernel of theirs took, had no room for
    // scores.
    const Fusion& fusion = p_.runtime.fusion;
    if (fusion.attention || !in_pieces(fusion, p_.kernels, x)) return Bytes(4 * rows);
    const double each = p_.runtime.dropout ? 2 * element_ + 1 : element_;
    return Bytes(rows * p_.work.seq * each);
  }

  // The tokens as sent to the experts and, where they are weighed then, as they return, and the
  // inside of the MLPs.
  Bytes experts(const graph::Operator& op, const RecomputeModules& modules) const noexcept {
    const graph::Routed& r = op.routed;
    const Tuning& t = p_.work.tuning;
    const bool trained = needs_input(t, op);
    const double returned = p_.runtime.footprint.routed_outputs ? element_ : 0;
    const double moved = r.width * ((trained ? operand_ : 0) + returned);
    const bool gate_output = r.halves > 1 && p_.runtime.footprint.gate_output;
    double inside = r.halves * gate();
    if (!modules.activation) inside += (trained ? operand_ : 0) + (gate_output ? element_ : 0);
    // The insides of both adapters, and DoRA's results.
    double adapters = 2 * adapter_rank(t, op);
    if (adapters > 0 && t.adapter == Adapter::dora) {
      adapters += 2 * (r.halves * r.ffn / s_.etp + r.width);
    }
    return Bytes(l_.expert_tokens * (moved + r.ffn / s_.etp * inside + adapters * element_));
  }

  const Problem& p_;
  const Strategy& s_;
  const Widths& l_;
  double element_;  // as stored
  double operand_;  // as a GEMM's input is kept
  bool in_blocks_;  // of 8 bits (arXiv 2412.19437, section 3.3.3)
};

// What a stage's layers keep for one microbatch: under full recomputation `recompute_layers` of
// them keep their input alone.
Bytes kept_layers(const Problem& p, const Strategy& s, const Kept& kept,
                  const StageKind& stage) noexcept {
  Bytes whole;
  for (int t = 0; t < p.graph.type_count; ++t) {
    const auto at = static_cast<std::size_t>(t);
    whole += stage.types[at] * kept.layers[at];
  }
  if (s.recompute != Recompute::full) return whole;
  const double again =
      s.recompute_layers > 0 ? std::min<double>(s.recompute_layers, stage.layers) : stage.layers;
  if (again >= stage.layers) return stage.layers * kept.again;
  return again * kept.again + (1 - again / stage.layers) * whole;
}

// Tensors that communication inside a layer reads or writes beside those that are kept.
Bytes layer_buffers(const Problem& p, const Strategy& s, const Widths& l) noexcept {
  double elements = 0;
  if (s.sp && s.tp > 1) elements += p.runtime.footprint.gather_buffers * l.tokens * l.hidden;
  if (s.ep * s.etp > 1) elements += 2 * l.joined_tokens * l.hidden;  // sent and received
  double keys = 0;
  for (const graph::Branch& b : p.graph.branches) {
    for (const graph::Operator& op : b.operators) {
      if (s.cp == 1 || op.kind != Kind::attention) continue;
      const graph::Mixer& x = op.mixer;
      keys = std::max(keys, std::max(1.0, x.kv_heads / s.tp) * (x.head_dim + x.value_dim));
    }
  }
  elements += 2 * l.tokens * keys;  // the neighbour's, twice
  return Bytes(elements * activation_bytes(s.precision));
}

// Weights of a rank whose states are shared by the same ranks.
struct StageHeld {
  double layers = 0;   ///< of the stage's layers
  double ends = 0;     ///< embedding and head
  double tower = 0;    ///< for images
  double layer = 0;    ///< of one layer
  double trained = 0;  ///< of all of them, or beside them
  double adapters = 0;
  double trained_layer = 0;
  double shard = 1;  ///< ranks that share states
  double replicas = 1;
};

/// Bytes of a layer's weight: as it is stored, and of the copies that multiplies in 8 bits or fewer
/// make of it.
struct LayerBytes {
  double stored = 0;
  double made = 0;
};

LayerBytes layer_bytes(const Problem& p, const Strategy& s, double element) noexcept {
  LayerBytes b{.stored = is_packed(p.work.tuning) ? nf4_bytes : element};
  const Precision type = trained_in(p, s);
  if (!narrow(type)) return b;
  // Square blocks serve both ways; scales of rows want a copy each.
  const double copies = p.runtime.footprint.narrow_copies;
  const double each = element_bytes(type);
  b.made = (training_block(p, type) > 0 ? std::min(1.0, copies) : copies) * each;
  if (keeps_narrow(p, s)) {
    b.stored = each;
    b.made = std::max(0.0, b.made - each);
  }
  return b;
}

// ZeRO (Rajbhandari et al., arXiv 1910.02054, section 3): stage 1 shares optimizer states, 2 the
// gradients too, 3 the weights too; of these some layers, embedding and head are whole at a time.
void add_states(const Problem& p, const Strategy& s, const StageHeld& h, double element,
                States& to) noexcept {
  const Footprint& f = p.runtime.footprint;
  const auto shared = [&](int from) { return s.zero >= from ? 1 / h.shard : 1.0; };
  const double rest = 1 - 1 / h.shard;
  const LayerBytes each_layer = layer_bytes(p, s, element);
  const double ends = (h.ends + h.tower + h.adapters) * element;
  to.weights += Bytes((h.layers * each_layer.stored + ends) * shared(3));
  if (!gathers_weights(s)) to.weights += Bytes(h.layers * each_layer.made);
  const double gradient = gradient_bytes(p.runtime, s.precision);
  to.gradients += Bytes(h.trained * gradient * shared(2));
  const bool bucket = f.gradient_bucket && gradient > element && (s.zero < 2 || h.shard <= 1);
  if (bucket && h.replicas > 1) to.gradients += Bytes(h.trained * element);
  if (bucket && h.replicas <= 1) to.autograd += Bytes(h.trained * element);
  const double each = optimizer_bytes(p.work.optimizer, element);
  (s.offload ? to.offloaded : to.optimizer) += Bytes(h.trained * each * shared(1));
  if (gathers_weights(s)) {
    const double whole = std::min(h.layers, f.gathered_layers * h.layer);
    to.buffers += Bytes((h.ends * element + whole * each_layer.stored) * rest);
    to.buffers += Bytes(whole * each_layer.made);
  }
  if (s.zero >= 2) {
    // Of a layer; in a pipeline of the chunk whose microbatches are under way (arXiv 2407.21783,
    // section 3.3.2).
    const double whole = s.pp > 1 ? h.trained / s.interleave : std::min(h.trained, h.trained_layer);
    to.buffers += Bytes(whole * gradient * rest);
  }
  if (s.zero == 1 && f.update_copy && h.shard > 1) {
    const bool adapters = h.adapters > 0;
    const double update = adapters ? element : std::min(element, each_layer.stored);
    to.update_copy += Bytes(h.trained * update * (1 + 1 / h.shard));
  }
}

/// Weights of a rank, and what of them, or beside them, is trained.
struct Weights {
  RankParameters all;
  RankParameters trained;
  double adapters = 0;
  double expert_adapters = 0;
};

StageHeld dense_part(const Strategy& s, const Groups& g, const Weights& w, double layers) noexcept {
  const RankParameters& r = w.all;
  StageHeld h;
  h.layers = r.dense;
  h.layer = layers > 0 ? r.dense / layers : 0;
  h.ends = r.embedding + r.head;
  h.tower = r.vision;
  h.trained = w.trained.dense + (w.trained.embedding + w.trained.head) + w.trained.vision;
  h.trained_layer = layers > 0 ? w.trained.dense / layers : 0;
  h.adapters = w.adapters;
  h.shard = s.zero > 0 ? g.shard.ranks : 1;
  h.replicas = g.data.ranks;
  return h;
}

StageHeld expert_part(const Strategy& s, const Groups& g, const Weights& w,
                      double layers) noexcept {
  const RankParameters& r = w.all;
  StageHeld h;
  h.layers = r.experts;
  h.layer = layers > 0 ? r.experts / layers : 0;
  h.trained = w.trained.experts;
  h.adapters = w.expert_adapters;
  h.trained_layer = layers > 0 ? w.trained.experts / layers : 0;
  h.replicas = g.expert_data.ranks;
  h.shard = s.zero > 0 ? g.expert_shard.ranks : 1;
  return h;
}

States states_of(const Problem& p, const Strategy& s, const Groups& g, const Weights& w,
                 double layers) noexcept {
  States states;
  add_states(p, s, dense_part(s, g, w, layers), activation_bytes(s.precision), states);
  add_states(p, s, expert_part(s, g, w, layers), activation_bytes(s.precision), states);
  const RankParameters& r = w.trained;
  const double first = (r.dense + r.experts) / std::max(1.0, layers) + r.embedding;
  states.unmade = r.total() > 0 ? std::min(1.0, first / r.total()) : 0;
  return states;
}

Weights weights_of(const Problem& p, const Strategy& s, const StageKind& stage) noexcept {
  Weights w{.all = rank_parameters(p, s, stage), .trained = trained_parameters(p, s, stage)};
  if (p.work.tuning.rank > 0) {
    w.adapters = w.trained.dense;
    w.expert_adapters = w.trained.experts;
  }
  return w;
}

/// The schedule is no axis of a mapping, whose states many schedules share: what one adds to them
/// is added where they are used.
States of_schedule(const Problem& p, const Strategy& s, States states, const StageKind& stage) {
  const bool v = s.schedule == Schedule::zero_bubble_v;
  if (v && (stage.first || stage.index == s.pp - 1)) {
    return states_of(p, s, groups_of(p, s), stage);
  }
  if (s.schedule != Schedule::dual_pipe || s.pp == 1) return states;
  // Two copies of the model, each shared by half of the pipeline's ranks.
  states.weights *= 2;
  states.gradients *= 2;
  if (s.zero == 0) states.optimizer *= 2;
  return states;
}

// Gradients, activations and working memory, which change in the course of a step.
struct Moment {
  Bytes gradients;
  Bytes activations;
  Bytes working;
  Bytes sum() const { return gradients + activations + working; }
};

Moment fuller(const Moment& a, const Moment& b) noexcept { return a.sum() < b.sum() ? b : a; }

// The fullest moment of forward and backward. Where gradients have a buffer, or earlier
// microbatches have left theirs, it is the end of the forward pass. Where the backward pass makes
// them while it frees activations, memory goes straight from one end to the other: it is that
// moment, or the first layer's backward pass, or the end.
Moment fullest(const Problem& p, const Strategy& s, const Kept& kept, const States& states,
               const StageKind& stage, Bytes activations) noexcept {
  const Bytes none{};
  const Bytes loss = stage.last ? kept.loss : none;
  Bytes live = kept.hidden;
  Bytes largest;
  for (int t = 0; t < p.graph.type_count; ++t) {
    const auto at = static_cast<std::size_t>(t);
    if (stage.types[at] <= 0) continue;
    live = std::max(live, kept.live[at]);
    largest = std::max(largest, kept.layers[at]);
  }
  live += kept.unpacked;
  const bool lazy = !p.runtime.footprint.gradient_buffer && microbatches_of(p, s) <= 1;
  const Moment start{lazy ? none : states.gradients, activations, std::max(loss, live)};
  if (!lazy) return start;
  const Bytes first = s.recompute == Recompute::full ? kept.again : largest;
  const Moment last{(1 - states.unmade) * states.gradients, first, live};
  const Moment end{states.gradients, none, kept.hidden};
  return fuller(start, fuller(last, end));
}

}  // namespace

Bytes StageMemory::total() const {
  Bytes sum;
  for (const Bytes b : parts.values) sum += b;
  return sum;
}

// GPipe holds all microbatches; 1F1B and ZB-H1 as many as there are stages behind (Narayanan et
// al., arXiv 2104.04473, section 2.2). Interleaved, stage i warms up with 2(p−i−1) + (v−1)p chunks
// and adds one (their schedule): p (1 + (p−1)/(p v)) passes on the first stage, as in Korthikanti
// et al., section 4.2.3.
double in_flight(const Problem& p, const Strategy& s, int stage) noexcept {
  if (s.pp == 1) return 1;
  const double microbatches = microbatches_of(p, s);
  if (s.schedule == Schedule::gpipe) return microbatches;
  // DualPipe holds one more than there are stages everywhere, ZB-V as many.
  if (s.schedule == Schedule::dual_pipe) return std::min(microbatches, s.pp + 1.0);
  if (s.schedule == Schedule::zero_bubble_v) return std::min<double>(microbatches, s.pp);
  const double behind = s.pp - stage;
  if (s.interleave <= 1) return std::min(microbatches, behind);
  const double chunks = 2 * (behind - 1) + (s.interleave - 1.0) * s.pp + 1;
  return std::min(microbatches, chunks / s.interleave);
}

Kept kept_of(const Problem& p, const Strategy& s, const Widths& widths) noexcept {
  const Tensors t(p, s, widths);
  const bool full = s.recompute == Recompute::full;
  const graph::Graph& g = p.graph;
  Kept kept;
  kept.hidden = t.hidden();
  kept.again = t.hidden();
  for (int i = 0; i < g.type_count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    Bytes everything;
    Bytes gradients;
    for (const int branch : {g.types[at].mixer, g.types[at].mlp}) {
      if (branch < 0) continue;
      const graph::Branch& b = g.branches[static_cast<std::size_t>(branch)];
      if (b.cross && p.work.images == 0) continue;
      const bool first = branch == g.types[at].mixer || g.types[at].mixer < 0;
      kept.layers[at] += t.branch(b, modules_of(s), full ? Recompute::none : s.recompute, first);
      everything += t.branch(b, {}, Recompute::none);
      gradients = std::max(gradients, t.backward(b));
    }
    // Its gradients, and what it computes again.
    kept.live[at] = gradients + everything - (full ? kept.again : kept.layers[at]);
  }
  kept.embedding = t.branch(g.embedding(), {}, Recompute::none);
  // No gradient goes beyond the first norm where nothing before it is trained: it keeps no input.
  if (p.work.tuning.rank > 0 && !full) kept.embedding -= kept.hidden;
  kept.embedding += t.tower(modules_of(s), s.recompute);
  kept.head = t.branch(g.head(), {}, Recompute::none);
  kept.loss = t.loss();
  kept.unpacked = t.unpacked();
  kept.buffers = layer_buffers(p, s, widths);
  kept.passed = Bytes(2 * widths.norm_tokens * widths.hidden * activation_bytes(s.precision));
  return kept;
}

States states_of(const Problem& p, const Strategy& s, const Groups& groups,
                 const StageKind& stage) noexcept {
  return states_of(p, s, groups, weights_of(p, s, stage), stage.layers);
}

StageMemory stage_memory(const Problem& p, const Strategy& s, const Kept& kept,
                         const States& mapped, const StageKind& mapped_stage) noexcept {
  const Footprint& f = p.runtime.footprint;
  const StageKind stage = scheduled(s, mapped_stage);
  const States states = of_schedule(p, s, mapped, stage);
  StageMemory m;
  m.after_forward = kept_layers(p, s, kept, stage);
  if (stage.first) m.after_forward += kept.embedding;
  const double passes = in_flight(p, s, stage.index);
  Bytes activations = passes * m.after_forward;
  if (stage.last) {
    // The loss goes straight into its backward pass, whatever else is under way; but in GPipe.
    activations += (s.schedule == Schedule::gpipe ? passes : std::min(passes, 1.0)) * kept.head;
    m.after_forward += kept.head;
  }
  const Moment step{states.gradients, {}, states.update_copy};
  const Moment backward = fullest(p, s, kept, states, stage, activations);
  const Moment most = fuller(backward, fuller(step, {states.gradients, {}, states.autograd}));
  const Bytes buffers = states.buffers + kept.buffers + (s.pp > 1 ? kept.passed : Bytes{});
  const Bytes fixed = states.weights + states.optimizer + buffers + f.workspace;
  m.peak_forward_backward = fixed + backward.sum();
  m.optimizer_step = fixed + step.sum();
  m.parts[Space::weights] = states.weights;
  m.parts[Space::gradients] = most.gradients;
  m.parts[Space::optimizer] = states.optimizer;
  m.offloaded = states.offloaded;
  m.parts[Space::activations] = most.activations;
  m.parts[Space::working] = most.working + f.workspace;
  m.parts[Space::buffers] = buffers;
  m.parts[Space::context] = f.context + f.slack * (most.activations + most.working);
  return m;
}

StageMemory stage_memory(const Problem& p, const Strategy& s, int stage) noexcept {
  const StageKind kind = stage_of(p, s, stage);
  return stage_memory(p, s, kept_of(p, s, widths_of(p, s)), states_of(p, s, groups_of(p, s), kind),
                      kind);
}

Bytes stage_activations(const Problem& p, const Strategy& s, int stage) noexcept {
  const Kept kept = kept_of(p, s, widths_of(p, s));
  return in_flight(p, s, stage) * kept_layers(p, s, kept, stage_of(p, s, stage));
}

Bytes layer_states(const Problem& p, const Strategy& s, int stage) noexcept {
  StageKind kind = stage_of(p, s, stage);
  kind.first = kind.last = false;
  const States states = of_schedule(p, s, states_of(p, s, groups_of(p, s), kind), kind);
  return states.weights + states.gradients + states.optimizer;
}

}  // namespace sextant
