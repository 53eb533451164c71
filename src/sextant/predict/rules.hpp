// SPDX-License-Identifier: Apache-2.0
// What may run: the rules that a strategy must keep, to train and to serve. One table each
// (rules.cpp) answers both the search, which wants the first rule broken, and people, who want all
// of them with the nearest values that keep them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/predict/problem.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {

/// Whether a strategy can run, or the first rule it breaks.
enum class Verdict : std::uint8_t {
  fits,
  out_of_memory,
  too_many_devices,        ///< more than the system has
  heads_not_divisible,     ///< tp must divide the heads
  ffn_not_divisible,       ///< tp must divide the MLP's width
  sequence_not_divisible,  ///< cp (2 cp with a causal ring) and tp must divide the sequence
  layers_too_few,          ///< a stage would be empty
  batch_not_divisible,     ///< batch = dp x microbatch x a whole number
  interleave_needs_pipeline,
  interleave_batch,         ///< interleaving needs a multiple of pp microbatches
  experts_not_divisible,    ///< ep must divide the experts
  expert_ranks,             ///< ep x etp must divide tp x cp x dp
  shard_not_divisible,      ///< the sharding group must divide dp
  needs_tensor_parallel,    ///< sp without tp
  zero_with_pipeline,       ///< weights cannot be gathered for every microbatch of a pipeline
  zero_bubble_interleaved,  ///< ZB-H1 has one chunk a stage
  runtime_task,             ///< the software stack does not train, or does not serve
  precision_of_weights,     ///< int8 and int4 are for weights that do not change
  chunk_without_loop,       ///< pieces of a prompt join the steps of others
  images_without_tower,     ///< the model sees none
  images_too_many,          ///< more tokens than a sequence has
  placement_without_tier,   ///< no second memory, or none that holds a cache
  stages_not_paired,        ///< DualPipe gives a rank one from either end
  count
};
constexpr auto names_of(Verdict) {
  return std::array<std::string_view, 23>{"fits",
                                          "out of memory",
                                          "too many devices",
                                          "heads not divisible",
                                          "MLP not divisible",
                                          "sequence not divisible",
                                          "too few layers",
                                          "batch not divisible",
                                          "interleave without pipeline",
                                          "microbatches not divisible",
                                          "experts not divisible",
                                          "expert ranks not divisible",
                                          "sharding group not divisible",
                                          "sp without tp",
                                          "zero with pipeline",
                                          "zero bubble with interleave",
                                          "not a task of the runtime",
                                          "integers do not train",
                                          "chunks without a closed loop",
                                          "images without a tower",
                                          "images beyond the sequence",
                                          "no second memory",
                                          "stages not paired"};
}

/// Devices that a strategy takes.
inline double devices_of(const Strategy& s) {
  return static_cast<double>(s.tp) * s.cp * s.pp * s.dp;
}

/// An axis that says how far another one goes is nothing without it.
inline bool has_use(const Strategy& s, std::string_view axis) {
  if (axis == "shard") return s.zero > 0;
  return axis != "recompute_layers" || s.recompute == Recompute::full;
}

/// With the defaults of axes that have nothing to act on: files of other tools say them all the
/// same. It takes as long and as much memory as the strategy itself.
Strategy acting(const Problem& problem, Strategy strategy) noexcept;

/// The first rule that a strategy breaks; `fits` says nothing of memory yet. No allocation.
Verdict legal(const Problem& problem, const Strategy& strategy) noexcept;
Verdict legal_serving(const Problem& problem, const Strategy& strategy) noexcept;

/// Every rule that a strategy breaks, each with the nearest legal values; fields are the strategy's
/// ("tp"). Empty where legal() says `fits`.
std::vector<Diagnostic> check(const Problem& problem, const Strategy& strategy);
std::vector<Diagnostic> check_serving(const Problem& problem, const Strategy& strategy);

}  // namespace sextant
