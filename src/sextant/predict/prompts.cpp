// SPDX-License-Identifier: Apache-2.0
// What a pass of serving holds and launches, before anything is timed.
#include <algorithm>
#include <cmath>

#include "sextant/predict/infer.hpp"
#include "sextant/predict/tuning.hpp"

namespace sextant {

// Engines apply scales of 128 values on every chip: Blackwell's own are powers of two for 32.
double scale_block(const Problem& p, Precision type) noexcept {
  const double own = made_narrow(p, type) ? p.runtime.weights.activation_block : 0;
  return own > 0 ? own : block_of_scales(p.chip, type, p.model.block_scales);
}

namespace {

/// Whether the engine multiplies 4-bit floats as they are, though it makes activations int8.
bool keeps_fp4(const Problem& p) noexcept {
  const bool threads = !p.chip.mechanism.asynchronous && !p.chip.copied_in;
  return p.runtime.weights.fp4_by_threads && threads &&
         p.chip.runs[Precision::fp4] == Precision::fp4;
}

}  // namespace

bool made_narrow(const Problem& p, Precision type) noexcept {
  if (p.runtime.weights.activations != Activations::int8) return false;
  return p.chip.runs[type] == Precision::int8 || (type == Precision::fp4 && keeps_fp4(p));
}

Precision multiplied_in(const Problem& p, const Strategy& s, Precision weights) noexcept {
  const Activations said = weights == s.precision ? p.model.activations : Activations::usual;
  const WeightFormat& w = p.runtime.weights;
  const bool mxfp4 = weights == Precision::fp4 && p.model.fp4_block == 32 &&
                     p.chip.runs[Precision::fp4] == Precision::fp4;
  if (said == Activations::usual && mxfp4 && w.mxfp4_activations != Activations::usual) {
    // What is beside such weights in 8 bits (DeepSeek V4) has 8-bit activations anyway.
    const bool narrow_rest = element_bytes(p.model.rest) == 1;
    return multiplied_in(weights, narrow_rest ? Activations::fp8 : w.mxfp4_activations, p.chip);
  }
  if (said != Activations::usual || w.activations == Activations::usual) {
    return multiplied_in(weights, said, p.chip);
  }
  const bool as_it_is = weights == Precision::fp4 && keeps_fp4(p);
  const auto rate = [&](Precision type) { return p.chip.per_clock[type]; };
  // V100 has whole numbers on the vector units alone, slower than its matrix units' 16 bits.
  const bool slower = rate(Precision::int8) < rate(Precision::bf16);
  const Activations made = as_it_is || slower ? Activations::usual : w.activations;
  return multiplied_in(weights, made, p.chip);
}

double stored_bits(const Problem& p, Precision type) noexcept {
  constexpr double scale = 8;
  if (type == Precision::fp4) return 8 * element_bytes(type) + scale / p.model.fp4_block;
  const WeightFormat& w = p.runtime.weights;
  return type == Precision::int4   ? w.int4_bits
         : type == Precision::int8 ? w.int8_bits
                                   : stored_bits(type);
}

double rest_bits(const Problem& p, Precision type) noexcept {
  const WeightFormat& w = p.runtime.weights;
  switch (type) {
    case Precision::int4:
      return w.int4_rest_bits;
    case Precision::fp4:
      return w.fp4_rest_bits;
    case Precision::int8:
      return w.int8_rest_bits;
    default:
      return 16;
  }
}

double left_bits(const Problem& p, Precision type) noexcept {
  return std::min(stored_bits(p, p.model.rest), rest_bits(p, type));
}

// Engines' compilers make floats narrow inside the kernel before, int8 by one of its own (vLLM's
// fusion passes, read November 2026).
bool quantised_apart(const Problem& p, Precision type) noexcept {
  const bool fused = p.runtime.fusion.quantize && type != Precision::int8;
  return narrow(type) && (scale_block(p, type) > 0 || !fused);
}

Bytes cache_bytes_per_token(const Problem& p) noexcept {
  double bytes = 0;
  for (const graph::Branch& b : p.graph.branches) {
    for (const graph::Operator& op : b.operators) {
      const graph::Cached& c = op.cache;
      bytes += b.layers * (c.elements.all() * element_bytes(p.serving.cache) + c.bytes);
    }
  }
  return Bytes(bytes);
}

namespace {

/// How many launches from the host an operator takes where no graph holds it.
double launches(const Problem& p, const Strategy& s, const graph::Operator& op) noexcept {
  /// Routed experts are a handful of kernels: choose, sort, multiply, activate, multiply, combine.
  constexpr double expert_launches = 6;
  if (op.kind == graph::Kind::experts) return expert_launches;
  const bool multiplies = op.kind == graph::Kind::linear;
  return multiplies && quantised_apart(p, weights_of(p, s, op)) ? 2 : 1;
}

/// And a branch of a layer. Piece by piece, graphs hold all but what mixes tokens, which is counted
/// with the layer; but latent attention is one operator there with what stands before it, kernel by
/// kernel (TensorRT-LLM's mla_custom_op_inplace, read November 2026).
double launches(const Problem& p, const Strategy& s, const graph::Branch& branch) noexcept {
  double all = 0;
  double since_linear = 0;
  double latent = 0;
  for (const graph::Operator& op : branch.operators) {
    const double one = launches(p, s, op);
    all += one;
    if (since_linear > 0 || op.kind == graph::Kind::linear) since_linear += one;
    if (op.kind == graph::Kind::attention && op.mixer.latent) latent = since_linear;
  }
  return p.runtime.engine.mixed_launch == MixedLaunch::piecewise ? latent : all;
}

}  // namespace

bool gathers_tokens(const Problem& p, const Strategy& s) noexcept {
  // Where experts are cut over replicas, every rank has a piece of each.
  if (s.ep < s.dp) return true;
  const Communication& c = p.runtime.communication;
  return c.gathers_tokens && !c.expert_kernels && s.ep <= p.network.devices_per_node &&
         p.network.levels[0].reach <= p.network.devices_per_node;
}

Seconds prompt_launch(const Problem& p, const Strategy& s, double working) noexcept {
  const Engine& e = p.runtime.engine;
  if (e.mixed_launch == MixedLaunch::graph) return Seconds(0);
  double operators = 0;
  const auto count = [&](const graph::Branch& branch) {
    operators += branch.layers * launches(p, s, branch);
  };
  const bool images = p.serving.images > 0;
  for (int b = 0; e.operation.value > 0 && b < p.graph.branch_count(); ++b) {
    const graph::Branch& branch = p.graph.branches[static_cast<std::size_t>(b)];
    if (!branch.cross || images) count(branch);
  }
  if (e.operation.value > 0 && images) {
    std::for_each(p.graph.tower.begin(), p.graph.tower.end(), count);
  }
  const int layers = p.model.layers + (images ? p.model.vision.layers : 0);
  const double ranks = p.model.experts.count > 0 ? std::max(1, s.dp) : 1;
  const double met = !e.dispatch_meets      ? std::clamp(working, 1.0, ranks)
                     : gathers_tokens(p, s) ? 1
                                            : ranks;
  return layers * (e.layer + delay_of_slowest(met) * e.meeting) + operators * e.operation;
}

double prompt_tokens(const Problem& p) noexcept {
  return p.serving.input + p.serving.images * image_tokens(p.model.vision);
}

PassShape prompt_pass(const Problem& p) noexcept {
  const double tokens = prompt_tokens(p);
  const double batch = p.serving.batch;
  return {.batch = batch, .queries = tokens, .context = tokens, .images = batch * p.serving.images};
}

PassShape prompt_pass(const Problem& p, const Strategy& s, const ServingEstimate& e) noexcept {
  const double replicas = std::max(1, s.dp);
  const double prompt = prompt_tokens(p);
  const double tokens = std::ceil(e.prompts / replicas) * prompt / e.prompt_passes;  // of each
  const double queries = std::min(prompt, tokens);
  return {.batch = std::min(e.prompts, replicas * std::max(1.0, tokens / prompt)),
          .queries = queries,
          .context = (prompt + queries) / 2,
          .images = e.prompts * p.serving.images / e.prompt_passes};
}

PassShape decode_pass(const Problem& p, double requests) noexcept {
  return {.batch = requests,
          .queries = 1.0 + p.serving.speculation.tokens,
          .context = prompt_tokens(p) + std::floor((p.serving.output + 1) / 2.0)};
}

double tokens_a_step(const Speculation& speculation) noexcept {
  const double a = std::min(speculation.acceptance, 0.9999);
  return (1 - std::pow(a, speculation.tokens + 1.0)) / (1 - a);
}

}  // namespace sextant
