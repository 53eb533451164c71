// SPDX-License-Identifier: Apache-2.0
// Serving a model: the first token, the following ones, throughput, memory, and what they are made
// of.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/predict/train.hpp"

namespace sextant {

/// What a step of serving spends its time on.
enum class Work : std::uint8_t {
  multiply,  ///< weights
  attention,
  experts,   ///< routed experts
  stream,    ///< norms, activations, position encoding, quantising
  head,      ///< output head and sampling
  tensor,    ///< tensor-parallel sums
  exchange,  ///< tokens to their experts and back
  pipeline,  ///< stage to stage
  vision,    ///< the tower that makes tokens of images
  host,      ///< the device waits for its host, the engine's own work
  count
};
constexpr auto names_of(Work) {
  return std::array<std::string_view, 10>{"multiply", "attention", "experts",  "stream", "head",
                                          "tensor",   "exchange",  "pipeline", "vision", "host"};
}
std::string_view meaning_of(Work w);

/// One pass of the model over some tokens of every sequence.
struct PassCost {
  Seconds time;  ///< the sum of `parts`
  Table<Seconds, Work> parts;
  Flops flops;
  Bytes dram;
  Bytes second;  ///< of those, from the second memory
  Hertz clock;
  Watts power;
  Energy work;  ///< beyond idling, of a rank of each stage together
};

/// Memory of one device.
struct ServingMemory {
  Bytes weights;
  Bytes cache;  ///< of the whole batch at its longest, or of a closed loop all that is left
  Bytes activations;
  Bytes other;
  Bytes capacity;         ///< of both memories, as far as weights and cache may use them
  Bytes first_capacity;   ///< of device memory
  Bytes second;           ///< held in the second memory
  Bytes second_capacity;  ///< zero: there is none
  Residence residence;
  Bytes cache_per_token;  ///< of one sequence, this device
  Bytes cache_of_any;     ///< of one sequence, however long: states, and images it looks at
  double max_batch = 0;   ///< requests that fit at their longest
  Bytes total() const { return weights + cache + activations + other; }
  bool fits() const { return total() <= capacity; }
};

/// Trivially copyable.
struct ServingEstimate {
  Verdict verdict = Verdict::fits;
  Seconds first_token;  ///< prompt in, first token out, without waiting
  Seconds front_end;    ///< of that, before its passes: the request read, text made tokens
  Seconds ttft;         ///< as a request sees it
  Seconds tpot;         ///< mean over the output, after the first token
  Seconds step;      ///< of that, a decode step that no prompt joins: what the median token waits
  Seconds drafting;  ///< of a step's share of a token, what proposing takes
  Seconds latency;   ///< ttft + (output − 1) tpot
  double tokens_per_second = 0;
  PassCost prefill;          ///< one pass over prompts, their mean
  double prompt_passes = 1;  ///< of a batch, or of a request of a closed loop
  double prompts = 1;        ///< that these read, of all replicas of attention
  PassCost decode;           ///< mean over the output
  double decoding = 1;       ///< requests of one such pass
  PassCost draft;            ///< a proposal for each request; nothing without drafts
  PassCost draft_prefill;    ///< and the pass over prompts of what makes them, for its own cache
  ServingMemory memory;
  double active = 1;  ///< requests that decode at a time: no more than memory holds
  double devices = 1;
};

/// Strategy: tp, pp, ep, dp (attention data parallelism: replicas of attention inside the expert
/// group, each with its share of the batch), precision of the weights.
ServingEstimate serve(const Problem& problem, const Strategy& strategy) noexcept;

/// One pass: `queries` tokens of each of `batch` sequences whose context, these included, is
/// `context`; beside them `chunk` tokens of prompts that look at `chunk_context` tokens each, the
/// piece included (0: none).
struct PassShape {
  double batch = 1;
  double queries = 1;
  double context = 1;
  double chunk = 0;
  double chunk_context = 0;
  double pieces = 1;         ///< prompts that share the chunk
  double images = 0;         ///< that the pass makes tokens of, of all its prompts
  bool every_logit = false;  ///< of all tokens of a prompt, not of its last
};

/// Tokens that one pass takes where nothing else is said: TensorRT-LLM's max_num_tokens and vLLM's
/// max_num_batched_tokens. Longer prompts are cut, shorter ones share a pass.
inline constexpr int usual_budget = 8192;
PassCost serving_pass(const Problem& problem, const Strategy& strategy, PassShape shape) noexcept;

/// The same, with every operator. Counts are runs in one pass.
struct ExplainedPass {
  PassCost cost;
  std::vector<Operator> operators;
};
ExplainedPass explain_pass(const Problem& problem, const Strategy& strategy, PassShape shape);
/// One of an answer's passes: what the host adds there depends on the others.
ExplainedPass explain_pass(const Problem& problem, const Strategy& strategy, PassShape shape,
                           const PassCost& answered);

/// Values that share a scale in what goes into multiplies of this type, 0 without blocks, and
/// whether a kernel of its own makes it narrow.
double scale_block(const Problem& problem, Precision type) noexcept;
/// The type that weights of a type are multiplied in. What a checkpoint of narrow weights leaves in
/// another type takes that type's usual one.
Precision multiplied_in(const Problem& problem, const Strategy& strategy,
                        Precision weights) noexcept;
/// Whether the engine by itself makes what goes into multiplies of this type narrow.
bool made_narrow(const Problem& problem, Precision type) noexcept;
/// Bits a weight takes where it is stored, its scales included: 4-bit integers as the stack keeps
/// them, 4-bit floats as the model is published.
double stored_bits(const Problem& problem, Precision type) noexcept;
/// Beside weights of that type, of the head and the embedding; and of what a checkpoint leaves.
double rest_bits(const Problem& problem, Precision type) noexcept;
double left_bits(const Problem& problem, Precision type) noexcept;
bool quantised_apart(const Problem& problem, Precision type) noexcept;

/// Whether ranks of attention that serve gather the tokens of all for the experts, rather than send
/// each to its own.
bool gathers_tokens(const Problem& problem, const Strategy& strategy) noexcept;

/// By how many of its means the slowest of n lags, whose delays have exponential tails: Gumbel's
/// law, less the constant of one alone.
inline double delay_of_slowest(double n) noexcept { return std::log(std::max(1.0, n)); }

/// What the host needs to launch a step with prompts, where no graph holds all of it; hidden where
/// the device takes longer. Of the ranks of attention `working` have tokens in it.
Seconds prompt_launch(const Problem& problem, const Strategy& strategy, double working) noexcept;

/// Tokens that a step with drafts gives: a chain of guesses, (1 − α^(γ+1)) / (1 − α) of them (arXiv
/// 2211.17192, equation 1).
double tokens_a_step(const Speculation& speculation) noexcept;

/// Tokens of a prompt, those of its images included.
double prompt_tokens(const Problem& problem) noexcept;

/// All prompts of a batch in one pass, with their images.
PassShape prompt_pass(const Problem& problem) noexcept;
/// One of the passes over prompts that an answer is made of, their mean.
PassShape prompt_pass(const Problem& problem, const Strategy& strategy,
                      const ServingEstimate& estimate) noexcept;
/// A step of so many decoding requests, halfway through the output.
PassShape decode_pass(const Problem& problem, double requests) noexcept;

/// Bytes of cache that one token of one sequence takes on all devices together, each kept once.
Bytes cache_bytes_per_token(const Problem& problem) noexcept;

}  // namespace sextant
