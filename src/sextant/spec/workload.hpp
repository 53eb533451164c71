// SPDX-License-Identifier: Apache-2.0
// What is asked of the model: a training step, or requests to serve.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sextant/spec/describe.hpp"
#include "sextant/spec/device.hpp"

namespace sextant {

/// Adam, by how it keeps its states.
enum class Optimizer : std::uint8_t {
  adamw,              ///< fp32 master weights and moments
  adamw_bf16_states,  ///< moments as the weights, no master weights
};
constexpr auto names_of(Optimizer) {
  return std::array<std::string_view, 2>{"adamw", "adamw-bf16-states"};
}

struct Training {
  int batch = 1;   ///< sequences a step, over all replicas
  int seq = 2048;  ///< tokens a sequence
  Optimizer optimizer = Optimizer::adamw;
};
template <class V>
void describe(V& v, Training& t) {
  v("batch", t.batch, {.help = "sequences a step, over all replicas", .min = 1, .max = 1e8});
  v("seq", t.seq, {.help = "tokens a sequence", .min = 1, .max = 1e8});
  v("optimizer", t.optimizer, {.help = "how Adam keeps its states"});
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
  double draft_cost = 0.1;  ///< time of a draft step over a step of the large model
};
struct Serving {
  int batch = 1;     ///< requests at a time
  int input = 512;   ///< tokens of the prompt
  int output = 128;  ///< tokens generated
  Batching batching = Batching::fixed;
  int chunk = 0;  ///< prompt tokens that join a decode step; 0: prompts are not cut
  Precision cache = Precision::bf16;
  Speculation speculation;
};
template <class V>
void describe(V& v, Serving& s) {
  v("batch", s.batch, {.help = "requests at a time", .min = 1, .max = 1e8});
  v("input", s.input, {.help = "tokens of a prompt", .min = 1, .max = 1e8});
  v("output", s.output, {.help = "tokens generated", .min = 1, .max = 1e7});
  v("batching", s.batching, {.help = "static, or closed-loop: what ends is replaced"});
  v("chunk", s.chunk,
    {.help = "prompt tokens that join a decode step; 0, or without: whole prompts", .max = 1e8});
  v("kv_precision", s.cache, {.help = "type of keys and values"});
  v("speculate", s.speculation.tokens, {.help = "tokens a draft model proposes a step", .max = 64});
  v("acceptance", s.speculation.acceptance, {.help = "chance that one of them is right", .max = 1});
  v("draft_cost", s.speculation.draft_cost,
    {.help = "a draft step over a step of the model", .max = 10});
}

}  // namespace sextant
