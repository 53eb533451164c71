// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/memory.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Bytes of a stored number: weights and activations.
double stored_bytes(const Strategy& s) noexcept {
  return std::max(2.0, element_bytes(s.precision));
}

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
        element_(stored_bytes(strategy)),
        operand_(std::min(element_, element_bytes(strategy.precision))) {}

  /// Tokens of a microbatch, as wide as the model, between the blocks.
  Bytes hidden() const noexcept { return Bytes(l_.norm_tokens * l_.hidden * element_); }

  /// Layers of these kinds, `layers` of them in all, for one microbatch.
  Bytes layers(const LayerMix& mix, double layers, Recompute recompute) const noexcept {
    if (recompute == Recompute::full) return layers * hidden();
    const double attentions = mix.full + mix.windowed;
    const double blocks = attentions + mix.recurrent + mix.dense + mix.experts;
    return layers * norms() + attentions * attention(recompute) + mix.recurrent * recurrent() +
           mix.dense * mlp(l_.tokens, l_.ffn) + mix.experts * experts() + blocks * mask();
  }

  /// Embedding on the first stage: the mask of its dropout.
  Bytes embedding() const noexcept { return mask(); }
  /// Last norm, head and loss: the head's input and the fp32 softmax of the logits.
  Bytes head() const noexcept {
    return norm_input() + norm_output() + Bytes(4 * l_.tokens * l_.vocab);
  }
  /// Copies of the logits beyond that while the loss is computed or its gradient taken.
  Bytes loss() const noexcept {
    return Bytes((p_.runtime.footprint.loss_copies - 1) * 4 * l_.tokens * l_.vocab);
  }
  /// Gradients inside a layer's backward pass: of its output, and of the inside of its MLP.
  Bytes backward() const noexcept {
    const double rows = std::max(l_.tokens * l_.ffn, l_.expert_tokens * l_.expert_ffn);
    return hidden() + Bytes(l_.gate * rows * element_);
  }

 private:
  Bytes norm_input() const noexcept {
    const double statistics = p_.model.norm == Norm::layernorm ? 8 : 4;  // fp32 mean and 1/σ
    return hidden() + Bytes(l_.norm_tokens * statistics);
  }
  // The GEMM behind a norm keeps its output; with sequence parallelism its own part, gathered
  // again in the backward pass, unless the stack keeps the gathered one.
  Bytes norm_output() const noexcept {
    const double tokens = p_.runtime.footprint.gathered_inputs ? l_.tokens : l_.norm_tokens;
    return Bytes(tokens * l_.hidden * operand_);
  }
  Bytes norms() const noexcept {
    const double count = p_.model.norms_per_layer;
    const double feeding = s_.modules.norms ? 0 : std::min(count, 2.0);  // the others end a block
    return count * norm_input() + feeding * norm_output();
  }
  Bytes mask() const noexcept { return Bytes(p_.runtime.dropout ? l_.norm_tokens * l_.hidden : 0); }

  // Softmax of one layer: a logarithm of its sum per head (FlashAttention), or the whole matrix
  // and, with dropout, its mask and the product of the two (2 + 1 + 2 bytes: the 5 of eq. 2).
  Bytes softmax(Recompute recompute) const noexcept {
    if (recompute != Recompute::none) return {};
    const double rows = l_.heads * l_.tokens;
    if (p_.runtime.attention != AttentionBackend::unfused) return Bytes(4 * rows);
    const double each = p_.runtime.dropout ? 2 * element_ + 1 : element_;
    return Bytes(rows * p_.work.seq * each);
  }
  Bytes attention(Recompute recompute) const noexcept {
    const Attention& a = p_.model.attention;
    const bool latent = a.kind == AttentionKind::latent;
    const double output = latent ? l_.v : l_.q;
    double width = output;
    if (!(latent && s_.modules.latent)) width += l_.q + l_.k + l_.v;
    if (a.qk_norm) width += l_.q + l_.k;  // before their norm
    if (a.gate) width += 2 * l_.q;        // the gate, and the gated output
    double bytes = l_.tokens * width * element_;
    if (operand_ < element_) bytes += l_.tokens * output * operand_;  // quantised for the GEMM
    if (latent) {
      // Down-projections before and after their norms, on every tensor-parallel rank.
      const double ranks = 2.0 * (a.q_rank + a.kv_rank) + a.rope_dim;
      bytes += l_.norm_tokens * ranks * element_;
    }
    return Bytes(bytes) + softmax(recompute);
  }

  // Mamba-2 or gated DeltaNet: the input projection, the convolution's output, the mixed values
  // before and after their gated norm, and one fp32 state a chunk of 256 tokens (arXiv 2405.21060).
  Bytes recurrent() const noexcept {
    const Hybrid& r = p_.model.hybrid;
    const double inner = static_cast<double>(r.heads) * r.head_dim / s_.tp;
    const double shared = 2.0 * r.groups * r.state / s_.tp;
    const double width = (2 * inner + shared) + (inner + shared) + 2 * inner;
    return Bytes(l_.tokens * (width * element_ + inner * r.state * 4 / 256));
  }

  // Input of the activation function, what it makes of a gate where no kernel fuses the two, and
  // the second GEMM's input.
  Bytes mlp(double tokens, double width) const noexcept {
    if (s_.modules.mlp) return {};
    const bool gate_output = l_.gate > 1 && p_.runtime.footprint.gate_output;
    double bytes = l_.gate * element_;
    if (!s_.modules.activation) bytes += operand_ + (gate_output ? element_ : 0);
    return Bytes(tokens * width * bytes);
  }
  // Router logits and probabilities in fp32; the tokens as sent to the experts and as they return.
  Bytes experts() const noexcept {
    const Experts& e = p_.model.experts;
    const Bytes shared = mlp(l_.tokens, l_.shared_ffn);
    if (s_.modules.experts) return shared;
    const double width = e.latent > 0 ? e.latent : l_.hidden;
    const double router = 8.0 * e.count * l_.norm_tokens;
    const double moved = l_.expert_tokens * width * (operand_ + element_);
    return shared + Bytes(router + moved) + mlp(l_.expert_tokens, l_.expert_ffn);
  }

  const Problem& p_;
  const Strategy& s_;
  const Widths& l_;
  double element_;  // as stored
  double operand_;  // as a GEMM's input is kept
};

// What a stage's layers keep for one microbatch: under full recomputation `recompute_layers` of
// them keep their input alone.
Bytes kept_layers(const Strategy& s, const Kept& kept, double layers) noexcept {
  if (s.recompute != Recompute::full) return layers * kept.layer;
  const double again =
      s.recompute_layers > 0 ? std::min<double>(s.recompute_layers, layers) : layers;
  return again * kept.again + (layers - again) * kept.layer;
}

// Tensors that communication inside a layer reads or writes beside those that are kept.
Bytes layer_buffers(const Problem& p, const Strategy& s, const Widths& l) noexcept {
  double elements = 0;
  if (s.sp && s.tp > 1) elements += p.runtime.footprint.gather_buffers * l.tokens * l.hidden;
  if (s.cp > 1) elements += 2 * l.tokens * (l.k + l.v);      // the neighbour's, twice
  if (s.ep > 1) elements += 2 * l.expert_tokens * l.hidden;  // sent and received
  return Bytes(elements * stored_bytes(s));
}

// Weights of a rank whose states are shared by the same ranks.
struct Held {
  double layers = 0;  ///< of the stage's layers
  double ends = 0;    ///< embedding and head
  double layer = 0;   ///< of one layer
  double shard = 1;   ///< ranks that share states
  double replicas = 1;
  double all() const { return layers + ends; }
};

// ZeRO (Rajbhandari et al., arXiv 1910.02054, section 3): stage 1 shares optimizer states, 2 the
// gradients too, 3 the weights too; of these two layers, embedding and head are whole at a time.
void add_states(const Problem& p, const Strategy& s, const Held& h, double element,
                States& to) noexcept {
  const Footprint& f = p.runtime.footprint;
  const auto shared = [&](int from) { return s.zero >= from ? 1 / h.shard : 1.0; };
  const double rest = 1 - 1 / h.shard;
  to.weights += Bytes(h.all() * element * shared(3));
  if (narrow(s.precision)) {
    to.weights += Bytes(h.layers * f.narrow_copies * element_bytes(s.precision));
  }
  const double gradient = element_bytes(p.runtime.gradients);
  to.gradients += Bytes(h.all() * gradient * shared(2));
  const bool bucket = f.gradient_bucket && gradient > element && s.zero < 2;
  if (bucket && h.replicas > 1) to.gradients += Bytes(h.all() * element);
  if (bucket && h.replicas <= 1) to.autograd += Bytes(h.all() * element);
  if (!s.offload) {
    // Two moments, and master weights where the weights are narrower than fp32.
    const bool full = p.work.optimizer == Optimizer::adamw;
    const double each = full ? (element < 4 ? 12 : 8) : 2 * element;
    to.optimizer += Bytes(h.all() * each * shared(1));
  }
  if (s.zero >= 3) to.buffers += Bytes(std::min(h.all(), h.ends + 2 * h.layer) * element * rest);
  if (s.zero >= 2) to.buffers += Bytes(std::min(h.all(), h.layer) * gradient * rest);
  if (s.zero == 1 && f.update_copy && h.shard > 1) {
    to.update_copy += Bytes(h.all() * element * (1 + 1 / h.shard));
  }
}

Held dense_part(const Strategy& s, const Groups& g, const RankParameters& r,
                double layers) noexcept {
  Held h;
  h.layers = r.dense;
  h.layer = layers > 0 ? r.dense / layers : 0;
  h.ends = r.embedding + r.head;
  h.shard = s.zero > 0 ? g.shard.ranks : 1;
  h.replicas = g.data.ranks;
  return h;
}

Held expert_part(const Strategy& s, const Groups& g, const RankParameters& r,
                 double layers) noexcept {
  Held h;
  h.layers = r.experts;
  h.layer = layers > 0 ? r.experts / layers : 0;
  h.replicas = g.expert_data.ranks;
  const double share = static_cast<double>(g.shard.ranks) / g.data.ranks;
  h.shard = s.zero > 0 ? std::max(1.0, h.replicas * share) : 1;
  return h;
}

States states_of(const Problem& p, const Strategy& s, const Groups& g, const RankParameters& r,
                 double layers) noexcept {
  States states;
  add_states(p, s, dense_part(s, g, r, layers), stored_bytes(s), states);
  add_states(p, s, expert_part(s, g, r, layers), stored_bytes(s), states);
  const double first = (r.dense + r.experts) / std::max(1.0, layers) + r.embedding;
  states.unmade = r.total() > 0 ? std::min(1.0, first / r.total()) : 0;
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
               bool last_stage, Bytes activations) noexcept {
  const Bytes none{};
  const Bytes loss = last_stage ? kept.loss : none;
  const bool lazy = !p.runtime.footprint.gradient_buffer && microbatches_of(p, s) <= 1;
  const Moment start{lazy ? none : states.gradients, activations, std::max(loss, kept.live)};
  if (!lazy) return start;
  const Bytes first = s.recompute == Recompute::full ? kept.again : kept.layer;
  const Moment last{(1 - states.unmade) * states.gradients, first, kept.live};
  const Moment end{states.gradients, none, kept.hidden};
  return fuller(start, fuller(last, end));
}

StageKind kind_of(const Problem& p, const Strategy& s, int stage) noexcept {
  return {stage_layers(p, s, stage), stage, 1, stage == 0, stage == s.pp - 1};
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
  const double microbatches = microbatches_of(p, s);
  if (s.schedule == Schedule::gpipe) return microbatches;
  const double behind = s.pp - stage;
  if (s.interleave <= 1) return std::min(microbatches, behind);
  const double chunks = 2 * (behind - 1) + (s.interleave - 1.0) * s.pp + 1;
  return std::min(microbatches, chunks / s.interleave);
}

Kept kept_of(const Problem& p, const Strategy& s, const Widths& widths) noexcept {
  const Tensors t(p, s, widths);
  const LayerMix mix = average_layer(p);
  const bool full = s.recompute == Recompute::full;
  Strategy everything = s;
  everything.modules = {};
  Kept kept;
  kept.layer = t.layers(mix, 1, full ? Recompute::none : s.recompute);
  kept.again = t.layers(mix, 1, Recompute::full);
  kept.embedding = t.embedding();
  kept.head = t.head();
  kept.loss = t.loss();
  kept.hidden = t.hidden();
  // Its gradients, and what it computes again.
  kept.live = t.backward() + Tensors(p, everything, widths).layers(mix, 1, Recompute::none) -
              (full ? kept.again : kept.layer);
  kept.buffers = layer_buffers(p, s, widths);
  kept.passed = Bytes(2 * widths.norm_tokens * widths.hidden * stored_bytes(s));
  return kept;
}

States states_of(const Problem& p, const Strategy& s, const Groups& groups,
                 const StageKind& stage) noexcept {
  return states_of(p, s, groups, rank_parameters(p, s, stage.index), stage.layers);
}

StageMemory stage_memory(const Problem& p, const Strategy& s, const Kept& kept,
                         const States& states, const StageKind& stage) noexcept {
  const Footprint& f = p.runtime.footprint;
  StageMemory m;
  m.after_forward = kept_layers(s, kept, stage.layers);
  if (stage.first) m.after_forward += kept.embedding;
  if (stage.last) m.after_forward += kept.head;
  const Bytes activations = in_flight(p, s, stage.index) * m.after_forward;
  const Moment step{states.gradients, {}, states.update_copy};
  const Moment backward = fullest(p, s, kept, states, stage.last, activations);
  const Moment most = fuller(backward, fuller(step, {states.gradients, {}, states.autograd}));
  const Bytes buffers = states.buffers + kept.buffers + (s.pp > 1 ? kept.passed : Bytes{});
  const Bytes fixed = states.weights + states.optimizer + buffers + f.workspace;
  m.peak_forward_backward = fixed + backward.sum();
  m.optimizer_step = fixed + step.sum();
  m.parts[Space::weights] = states.weights;
  m.parts[Space::gradients] = most.gradients;
  m.parts[Space::optimizer] = states.optimizer;
  m.parts[Space::activations] = most.activations;
  m.parts[Space::working] = most.working + f.workspace;
  m.parts[Space::buffers] = buffers;
  m.parts[Space::context] = f.context + f.slack * (most.activations + most.working);
  return m;
}

StageMemory stage_memory(const Problem& p, const Strategy& s, int stage) noexcept {
  const StageKind kind = kind_of(p, s, stage);
  return stage_memory(p, s, kept_of(p, s, widths_of(p, s)), states_of(p, s, groups_of(p, s), kind),
                      kind);
}

Bytes layer_activations(const Problem& p, const Strategy& s) noexcept {
  const double layers = stage_layers(p, s, 0);
  const Kept kept = kept_of(p, s, widths_of(p, s));
  return layers > 0 ? kept_layers(s, kept, layers) / layers : Bytes{};
}

Bytes stage_activations(const Problem& p, const Strategy& s, int stage) noexcept {
  const Kept kept = kept_of(p, s, widths_of(p, s));
  return in_flight(p, s, stage) * kept_layers(s, kept, stage_layers(p, s, stage));
}

Bytes layer_states(const Problem& p, const Strategy& s, int stage) noexcept {
  RankParameters r = rank_parameters(p, s, stage);
  r.embedding = r.head = 0;
  const States states = states_of(p, s, groups_of(p, s), r, stage_layers(p, s, stage));
  return states.weights + states.gradients + states.optimizer;
}

}  // namespace sextant
