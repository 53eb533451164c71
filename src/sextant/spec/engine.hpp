// SPDX-License-Identifier: Apache-2.0
// How a serving engine schedules requests: what its scheduler does, with which limits, and what its
// host adds. Part of a runtime.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/spec/describe.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

/// How prompts meet the requests that are decoding.
enum class Joining : std::uint8_t {
  mixed,          ///< in the same step, within one token budget (vLLM V1, TensorRT-LLM)
  prompts_first,  ///< in steps of their own, before decoding goes on (SGLang)
  together,       ///< a batch starts and ends as one (static batching)
};
constexpr auto names_of(Joining) {
  return std::array<std::string_view, 3>{"mixed", "prompts-first", "together"};
}

/// What a request must find free in the cache before it starts.
enum class Reserve : std::uint8_t {
  prompt,   ///< its prompt; later blocks may run out, and the last request is preempted
  share,    ///< its prompt beside a share of what running requests may still write (SGLang)
  longest,  ///< all that it may ever need: nothing is evicted (TensorRT-LLM's default)
  slot,     ///< one of so many slots, each with its longest cache
};
constexpr auto names_of(Reserve) {
  return std::array<std::string_view, 4>{"prompt", "share", "longest", "slot"};
}

/// Of what `memory_fraction` is a share.
enum class MemoryShare : std::uint8_t {
  device,  ///< of the device: weights, activations and cache together (vLLM)
  kept,    ///< of the device: weights and cache; activations live in the rest (SGLang)
  free,    ///< of what weights and activations leave (TensorRT-LLM)
};
constexpr auto names_of(MemoryShare) {
  return std::array<std::string_view, 3>{"device", "kept", "free"};
}

/// How the kernels of a step with prompts are launched; decode-only steps replay whole graphs where
/// the runtime has graphs.
enum class MixedLaunch : std::uint8_t {
  graph,      ///< as decoding
  piecewise,  ///< graphs between attention kernels, which the host launches layer by layer
  eager,      ///< kernel by kernel
};
constexpr auto names_of(MixedLaunch) {
  return std::array<std::string_view, 3>{"graph", "piecewise", "eager"};
}

/// A limit that an engine sets by the memory of a device.
struct ByMemory {
  int small = 2048;  ///< under 70 GiB
  int large = 8192;  ///< from 70 GiB
  int huge = 16384;  ///< from 160 GiB
  int of(Bytes memory) const {
    constexpr double gib = 1024.0 * 1024 * 1024;
    // Drivers report a little less than the name says.
    return memory.value >= 158 * gib ? huge : memory.value >= 69 * gib ? large : small;
  }
};
template <class V>
void describe(V& v, ByMemory& m) {
  v("small", m.small, {.help = "with less than 70 GiB", .min = 1, .max = 1e8});
  v("large", m.large, {.help = "with 70 GiB or more", .min = 1, .max = 1e8});
  v("huge", m.huge, {.help = "with 160 GiB or more", .min = 1, .max = 1e8});
}

struct Engine {
  Joining joining = Joining::mixed;
  bool chunked = true;  ///< prompts are cut to the budget that is left
  Reserve reserve = Reserve::prompt;
  double reserve_share = 0.3;  ///< of outputs to come, with Reserve::share
  ByMemory token_budget;       ///< tokens a step
  ByMemory max_requests{256, 1024, 1024};
  /// Devices whose name has this in it have the limits of small ones, whatever their memory.
  std::string modest;
  /// Both limits are of all ranks of attention of an engine, which have equal parts (SGLang).
  bool limits_of_all = false;
  /// Both limits are set for the lengths to come instead, where those are known (trtllm-bench).
  bool sized = false;
  int block = 16;  ///< tokens of a cache block
  double memory_fraction = 0.9;
  MemoryShare memory_share = MemoryShare::device;
  bool prefix_cache = true;
  int graph_limit = 512;  ///< the largest batch with a graph
  MixedLaunch mixed_launch = MixedLaunch::graph;
  /// The host prepares a step while the one before runs: the longer of the two shows, and a request
  /// that comes meanwhile waits for the step after.
  bool asynchronous = true;
  /// Steps of decoding between two looks for new requests; after prompts, and when idle, it looks
  /// at once (SGLang's scheduler_recv_interval).
  int poll_steps = 1;
  /// Steps that prompts are held back beside decoding requests, until they fill `hold_fill` of the
  /// token budget (TensorRT-LLM's batch_wait_timeout_iters) or, where that is 0, until every rank
  /// of attention has one (its attention_dp_config.timeout_iters).
  int hold_steps = 0;
  double hold_fill = 0;
  bool narrow_cache = false;      ///< narrow checkpoints bring the scales of an 8-bit cache along
  bool checkpoint_cache = false;  ///< checkpoints are heeded that say so or not (Model::cache)
  Seconds schedule{0};            ///< host time a step
  Seconds sequence{0};            ///< and for each request in it
  Seconds prompt{0};              ///< and for each prompt in it
  /// To launch a layer of a step of prompts and tokens together, where no graph holds all of it;
  /// hidden where the device takes longer.
  Seconds layer{0};
  /// And for each of its operators, where they are launched one by one.
  Seconds operation{0};
  /// Every rank's host launches at its own pace, and all ranks of attention meet to send tokens to
  /// their experts and back: the slowest of n, whose delays have an exponential tail, is late by
  /// this times ln n.
  Seconds meeting{0};
  /// They meet in the dispatch, whose host asks how many tokens come: all of them, also those
  /// without a token, and none where tokens are gathered.
  bool dispatch_meets = false;
  Seconds request{0};  ///< at the front end, one after the other, beside the steps
  /// And for each token of its prompt, which is made of text.
  Seconds tokenizing{0};
  /// What the first step of a fresh server takes longer: kernels that are compiled when first met.
  Seconds first_use{0};
  /// From the end of a prompt to the engine that goes on with it, beside moving the cache: routers,
  /// handshakes, registering blocks.
  Seconds hand_over{0};
};
template <class V>
void describe(V& v, Engine& e) {
  v("joining", e.joining, {.help = "how prompts meet decoding requests"});
  v("chunked", e.chunked, {.help = "prompts are cut to the budget left"});
  v("reserve", e.reserve, {.help = "what a request must find free before it starts"});
  v("reserve_share", e.reserve_share,
    {.help = "of outputs to come that stay free, with reserve = share", .max = 1});
  v("token_budget", e.token_budget, {.help = "tokens a step, by device memory"});
  v("max_requests", e.max_requests, {.help = "requests at a time, by device memory"});
  v("modest", e.modest,
    {.help = "part of the names of devices that have the limits of small ones, whatever their "
             "memory; empty: none"});
  v("limits_of_all", e.limits_of_all,
    {.help = "both are of all ranks of attention together, each of which has its part"});
  v("sized", e.sized, {.help = "both are set for the lengths to come, as its benchmark does"});
  v("block", e.block, {.help = "tokens of a cache block", .min = 1, .max = 65536});
  v("memory_fraction", e.memory_fraction, {.help = "of memory that the engine takes", .max = 1});
  v("memory_share", e.memory_share, {.help = "what the fraction is of"});
  v("prefix_cache", e.prefix_cache, {.help = "blocks of shared prefixes are kept"});
  v("graph_limit", e.graph_limit, {.help = "largest batch with a graph", .max = 65536});
  v("mixed_launch", e.mixed_launch, {.help = "how steps with prompts are launched"});
  v("asynchronous", e.asynchronous, {.help = "the host prepares a step while one runs"});
  v("poll_steps", e.poll_steps,
    {.help = "steps of decoding between two looks for new requests", .min = 1, .max = 1e6});
  v("hold_steps", e.hold_steps, {.help = "steps that prompts wait for more of them", .max = 1e6});
  v("hold_fill", e.hold_fill,
    {.help = "share of the token budget they wait for; 0: one for every rank", .max = 1});
  v("narrow_cache", e.narrow_cache, {.help = "narrow weights come with an 8-bit cache"});
  v("checkpoint_cache", e.checkpoint_cache,
    {.help = "the cache has the bits that the model's checkpoint says"});
  v("schedule", e.schedule, {.help = "host time a step", .max = 10});
  v("sequence", e.sequence, {.help = "host time a request of a step", .max = 10});
  v("prompt", e.prompt, {.help = "host time a prompt of a step", .max = 10});
  v("layer", e.layer, {.help = "host time a layer of a step of prompts and tokens", .max = 10});
  v("operation", e.operation,
    {.help = "host time an operator of such a layer, launched one by one", .max = 10});
  v("meeting", e.meeting,
    {.help = "host time such a layer, times ln n, that n ranks of attention wait for the slowest",
     .max = 10});
  v("dispatch_meets", e.dispatch_meets,
    {.help = "ranks of attention meet in the dispatch of tokens: those without one too, and none "
             "where tokens are gathered"});
  v("request", e.request, {.help = "host time of the front end a request", .max = 10});
  v("tokenizing", e.tokenizing,
    {.help = "host time of the front end a token of a prompt", .max = 1});
  v("first_use", e.first_use,
    {.help = "by which the first step is longer: kernels compiled when first met", .max = 3600});
  v("hand_over", e.hand_over,
    {.help = "from a prompt's end to the engine that goes on with it, beside moving the cache",
     .max = 10});
}

/// What a front end does for a request, one after the other.
inline Seconds front_end(const Engine& e, double prompt_tokens) {
  return e.request + prompt_tokens * e.tokenizing;
}

/// The batch that a graph was captured for: 1, 2, 4, then by 8, from 256 by 16 (vLLM's list; others
/// differ little); beyond `limit` the batch itself.
constexpr int graph_batch(int requests, int limit) {
  if (requests > limit || requests <= 2) return requests;
  if (requests <= 4) return 4;
  const int step = requests > 256 ? 16 : 8;
  const int padded = (requests + step - 1) / step * step;
  return padded < limit ? padded : limit;
}

}  // namespace sextant
