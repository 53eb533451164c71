// SPDX-License-Identifier: Apache-2.0
// What is asked of the model: a training step, or requests to serve.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/spec/describe.hpp"
#include "sextant/spec/device.hpp"

namespace sextant {

/// How weights follow their gradients, and what is kept for it.
enum class Optimizer : std::uint8_t {
  adamw,              ///< fp32 master weights and moments
  adamw_bf16_states,  ///< moments as the weights, no master weights
  adamw_8bit,         ///< moments in 8 bits by blocks, no master weights (arXiv 2110.02861)
  adafactor,          ///< second moment by rows and columns, no other state (arXiv 1804.04235)
  muon,               ///< orthogonal updates of matrices; one moment (arXiv 2502.16982)
  sgd,                ///< with momentum
};
constexpr auto names_of(Optimizer) {
  return std::array<std::string_view, 6>{
      "adamw", "adamw-bf16-states", "adamw-8bit", "adafactor", "muon", "sgd"};
}

/// Bytes that an optimizer's states take for one parameter stored in `element` bytes: moments, and
/// master weights where the weights are narrower than fp32.
constexpr double optimizer_bytes(Optimizer optimizer, double element) {
  const double master = element < 4 ? 4 : 0;
  switch (optimizer) {
    case Optimizer::adamw:
      return master + 8;
    case Optimizer::adamw_bf16_states:
      return 2 * element;
    case Optimizer::adamw_8bit:
      return 2 * (1 + 4.0 / 256);  // a scale of fp32 for a block of 256
    case Optimizer::adafactor:
      return 8.0 / 4096;  // a row's and a column's, of a matrix some thousands wide
    case Optimizer::muon:
    case Optimizer::sgd:
      break;
  }
  return master + 4;
}

/// Bytes that its step reads and writes for one parameter: states and weights of `element` bytes,
/// and the gradient of `gradient` bytes.
constexpr double optimizer_traffic(Optimizer optimizer, double gradient, double element) {
  const double narrow = element < 4 ? element : 0;  // weights out, beside their masters
  switch (optimizer) {
    case Optimizer::adamw:
      return 24 + gradient + narrow;  // weights, two moments in and out
    case Optimizer::adamw_bf16_states:
      return 7 * element;  // the same as wide as the weights, and the gradient
    case Optimizer::adamw_8bit:
      return 2 * 2.03 + 2 * element + gradient;
    case Optimizer::adafactor:
      // Means of the squares by rows and by columns; the update, fp32, written, its size found, and
      // read; weights in and out.
      return 3 * gradient + 12 + 2 * element;
    case Optimizer::muon:
    case Optimizer::sgd:
      break;
  }
  return 16 + gradient + narrow;
}

/// Small weights that are trained beside frozen ones. LoRA: y = W·x + s·B·A·x (arXiv 2106.09685);
/// QLoRA: W in 4 bits (arXiv 2305.14314); DoRA: directions by LoRA, lengths on their own (arXiv
/// 2402.09353).
enum class Adapter : std::uint8_t { lora, qlora, dora };
constexpr auto names_of(Adapter) {
  return std::array<std::string_view, 3>{"lora", "qlora", "dora"};
}

/// Projections of a layer, of its attention (or recurrence) and of its MLP.
struct Projections {
  bool qkv = false;
  bool output = false;
  bool up = false;  ///< with the gate
  bool down = false;
  bool experts = false;  ///< into and out of every routed expert
  bool operator==(const Projections&) const = default;
};
template <class V>
void describe(V& v, Projections& p) {
  v("qkv", p.qkv, {.help = "into attention or a recurrence"});
  v("output", p.output, {.help = "out of it"});
  v("up", p.up, {.help = "into the MLP, gate included"});
  v("down", p.down, {.help = "out of it"});
  v("experts", p.experts, {.help = "into and out of every routed expert"});
}

/// Parts of a model that are not trained.
struct Frozen {
  bool embedding = false;
  bool attention = false;
  bool mlp = false;
  bool experts = false;
  bool norms = false;
  bool head = false;
  bool vision = false;
  bool operator==(const Frozen&) const = default;
};
template <class V>
void describe(V& v, Frozen& f) {
  v("embedding", f.embedding, {.help = "of the input"});
  v("attention", f.attention, {.help = "attention and recurrences"});
  v("mlp", f.mlp, {.help = "dense MLPs and shared experts"});
  v("experts", f.experts, {.help = "routed experts and their router"});
  v("norms", f.norms, {.help = "norms"});
  v("head", f.head, {.help = "output projection"});
  v("vision", f.vision, {.help = "tower for images and its projector"});
}

/// What is trained.
struct Tuning {
  int rank = 0;         ///< of adapters; 0: the weights themselves
  Projections targets;  ///< with adapters; none: all but those of routed experts
  Adapter adapter = Adapter::lora;
  Frozen frozen;
  bool operator==(const Tuning&) const = default;
};

struct Training {
  int batch = 1;   ///< sequences a step, over all replicas
  int seq = 2048;  ///< tokens a sequence
  Optimizer optimizer = Optimizer::adamw;
  Tuning tuning = {};
  int images = 0;          ///< a sequence, their tokens among its own
  int predict_ahead = -1;  ///< prediction layers that are trained; negative: all that the model has
  bool operator==(const Training&) const = default;
};
template <class V>
void describe(V& v, Training& t) {
  v("batch", t.batch, {.help = "sequences a step, over all replicas", .min = 1, .max = 1e8});
  v("seq", t.seq, {.help = "tokens a sequence", .min = 1, .max = 1e8});
  v("optimizer", t.optimizer, {.help = "how weights follow their gradients"});
  v("lora_rank", t.tuning.rank,
    {.help = "of adapters on frozen weights; 0: all weights are trained", .max = 1e5});
  v("lora_targets", t.tuning.targets,
    {.help =
         "projections with adapters: qkv, output, up, down, experts; without, all but experts"});
  v("adapter", t.tuning.adapter,
    {.help = "lora; qlora: frozen weights in 4 bits; dora: lengths of rows beside"});
  v("frozen", t.tuning.frozen,
    {.help = "parts not trained: embedding, attention, mlp, experts, norms, head, vision"});
  v("images", t.images,
    {.help = "images a sequence, whose tokens are among its own; 0: text alone", .max = 1e5});
  v("predict_ahead", t.predict_ahead,
    {.help = "layers that predict tokens beyond the next; without, those that the model has",
     .min = -1,
     .max = 16});
}

/// How requests share a batch.
enum class Batching : std::uint8_t {
  fixed,        ///< all start and end together
  closed_loop,  ///< a request that ends is replaced by the next (continuous batching)
};
constexpr auto names_of(Batching) {
  return std::array<std::string_view, 2>{"static", "closed-loop"};
}

/// A small model proposes tokens, the large one checks them in one step.
struct Speculation {
  int tokens = 0;           ///< proposed a step; 0: none
  double acceptance = 0.8;  ///< chance that a proposed token is right
  double draft_cost = 0.1;  ///< time of a draft step over a step of the large model, if given
  std::string draft;        ///< the small model; empty: the large one's own prediction layers
};
/// What lives in a device's second memory (Device::tier).
enum class Placement : std::uint8_t {
  overflow,  ///< what the first cannot hold: the cache, then weights; of read-only tiers weights
  weights,   ///< weights, and what of the cache the first cannot hold
  cache,     ///< the cache, and what of the weights the first cannot hold
  both,      ///< weights and cache
  spread,    ///< of both so much that reading the two memories takes equally long
};
constexpr auto names_of(Placement) {
  return std::array<std::string_view, 5>{"overflow", "weights", "cache", "both", "spread"};
}

struct Serving {
  int batch = 1;     ///< requests at a time
  int input = 512;   ///< tokens of the prompt
  int output = 128;  ///< tokens generated
  Batching batching = Batching::fixed;
  int chunk = 0;  ///< prompt tokens that join a decode step; 0: prompts are not cut
  Precision cache = Precision::bf16;
  Speculation speculation;
  int images = 0;  ///< of a prompt, their tokens beside its own
  Placement placement = Placement::overflow;
  double placed = 1;  ///< share of what `placement` names
};
template <class V>
void describe(V& v, Serving& s) {
  v("batch", s.batch,
    {.help = "requests at a time", .min = 1, .max = 1e8, .axis = {.serves = true}});
  v("input", s.input,
    {.help = "tokens of a prompt", .min = 1, .max = 1e8, .axis = {.serves = true}});
  v("output", s.output,
    {.help = "tokens generated", .min = 1, .max = 1e7, .axis = {.serves = true}});
  v("batching", s.batching, {.help = "static, or closed-loop: what ends is replaced"});
  v("chunk", s.chunk,
    {.help = "prompt tokens that join a decode step; 0, or without: whole prompts", .max = 1e8});
  v("kv_precision", s.cache, {.help = "type of keys and values"});
  v("speculate", s.speculation.tokens,
    {.help = "tokens a draft model proposes a step", .max = 64, .axis = {.serves = true}});
  v("acceptance", s.speculation.acceptance, {.help = "chance that one of them is right", .max = 1});
  v("draft", s.speculation.draft,
    {.help =
         "model that proposes them; without, the model's own prediction layers, if it has any"});
  v("draft_cost", s.speculation.draft_cost,
    {.help = "a draft step over a step of the model, whatever drafts", .max = 10});
  v("images", s.images,
    {.help = "images a prompt, whose tokens join its own; 0: text alone",
     .max = 1e5,
     .axis = {.serves = true}});
  v("placement", s.placement,
    {.help = "what lives in a device's second memory: overflow, weights, cache, both, spread"});
  v("placed", s.placed, {.help = "share of what --placement names", .min = above_zero, .max = 1});
}

}  // namespace sextant
