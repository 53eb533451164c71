// SPDX-License-Identifier: Apache-2.0
// One training step: time, memory, and what they are made of.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/cost/kernel.hpp"
#include "sextant/predict/joules.hpp"
#include "sextant/predict/layout.hpp"
#include "sextant/predict/memory.hpp"

namespace sextant {

/// What a step's time goes to.
enum class Time : std::uint8_t {
  forward,  ///< kernels
  backward,
  recompute,
  tensor,      ///< tensor-parallel collectives
  context,     ///< context-parallel exchange
  expert,      ///< expert-parallel exchange
  pipeline,    ///< stage-to-stage transfers
  bubble,      ///< waiting for the first and last microbatch
  gradients,   ///< data-parallel reduction
  parameters,  ///< gathering of sharded parameters
  optimizer,
  host,    ///< the device waits for its host
  spread,  ///< waiting for the slowest device
  count
};
constexpr auto names_of(Time) {
  return std::array<std::string_view, 13>{
      "forward", "backward",  "recompute",  "tensor",    "context", "expert", "pipeline",
      "bubble",  "gradients", "parameters", "optimizer", "host",    "spread"};
}
/// A sentence for people.
std::string_view meaning_of(Time t);

struct Span {
  Seconds busy;     ///< how long it works
  Seconds exposed;  ///< of that, what the step waits for; exposed times sum to the step
};

/// Trivially copyable.
struct Estimate {
  Verdict verdict = Verdict::fits;
  Seconds step;
  Table<Span, Time> time;
  StageMemory memory;  ///< of the fullest stage
  Bytes offloaded;     ///< in the host's memory, of the stage with most there
  int fullest_stage = 0;
  int slowest_stage = 0;
  double devices = 1;
  double tokens = 0;     ///< a step
  Flops model_flops;     ///< a step, all devices: no recomputation, attention not halved
  Flops hardware_flops;  ///< with recomputation
  Flops masked_flops;    ///< of the model's, attention's that a causal mask leaves out
  FlopsPerSecond peak;   ///< of one device, of the strategy's precision
  Hertz clock;           ///< that power allows
  Watts power;           ///< of one device while it computes
  Energy energy;         ///< a step, of a device of the slowest stage
  Seconds forward_backward() const;
  double mfu() const;
  /// Attention counts whole, as for the model; but no chip does more than its peak, so that where
  /// it would, what the mask leaves out was left out.
  double hfu() const;
  bool counts_masked() const;
};

/// How often an operator runs.
enum class Runs : std::uint8_t {
  microbatch,
  step,          ///< once, whatever the number of microbatches
  accumulation,  ///< with every microbatch, where there are several or gradients are wider
};

/// The kernel that a collective runs beside.
enum class Beside : std::uint8_t { nothing, previous, next };

/// One kernel or collective of a step, for people.
struct Operator {
  std::string name;  ///< "qkv", "qkv weight gradient"
  Time kind = Time::forward;
  graph::Kind type = graph::Kind::elementwise;
  std::string part;              ///< "attention", "mlp", "experts", "head", …
  std::string_view branch = {};  ///< of the model's graph; empty: none of it
  std::string_view of = {};      ///< the branch's operator that it is run for
  std::string shape;             ///< "2048 x 4608 x 12288"
  KernelCost cost;               ///< of a collective: time and busy[network] only
  Time pass = Time::forward;     ///< that it is run in, whatever its kind: or recompute, backward
  bool weights = false;          ///< a gradient of weights, which a schedule may put off
  Runs runs = Runs::microbatch;
  // Of a collective.
  Bytes message;
  Collective collective = Collective::count;
  Group group;
  Beside beside = Beside::nothing;
  double count = 1;  ///< runs in one step of one rank of the slowest stage
  Seconds exposed;   ///< of one run
};

struct Explained {
  Estimate estimate;
  std::vector<Operator> operators;
};

/// The step under a strategy. Illegal ones get a verdict and no numbers; what does not fit gets
/// both. No allocation, no exception.
Estimate evaluate(const Problem& problem, const Strategy& strategy) noexcept;

/// The same for a legal strategy whose block and mapping are at hand: all that a search does for
/// each of millions of strategies.
struct Block;
struct Mapping;
Estimate evaluate(const Problem& problem, const Strategy& strategy, const Block& block,
                  const Mapping& mapping) noexcept;

/// The same by the same code, with every operator.
Explained explain(const Problem& problem, const Strategy& strategy);

/// Time of one microbatch on one stage, for timelines.
struct StageTimes {
  Seconds forward;  ///< collectives included
  Seconds recompute;
  Seconds backward;
  Seconds transfer;    ///< to the next stage
  Seconds weights{0};  ///< of the backward pass, gradients of weights
  // Of these times, what the device waits for its host.
  Seconds host_forward{0};
  Seconds host_backward{0};
};
StageTimes stage_times(const Problem& problem, const Strategy& strategy, int stage) noexcept;

/// So many microbatches once forward through all stages, and no more: probabilities, values,
/// rewards.
Seconds forward_passes(const Problem& problem, const Strategy& strategy,
                       double microbatches) noexcept;

}  // namespace sextant
