// SPDX-License-Identifier: Apache-2.0
// What follows from what was given: the one derivation that commands, requests, searches, points of
// sweeps and rows of case files all come through.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sextant/predict/problem.hpp"
#include "sextant/scenario/inputs.hpp"

namespace sextant {

/// What can become of a scenario beyond what the rules say of its strategy.
enum class Refusal : std::uint8_t { gpus_not_divisible, context_too_long, nothing_fits, count };
constexpr auto names_of(Refusal) {
  return std::array<std::string_view, 3>{"gpus not divisible", "context too long", "nothing fits"};
}

/// Of a cache that nobody chose: 16 bits, as many as a step that is all in 32 has, or 8 where the
/// engine's narrow checkpoints bring them along.
Precision usual_cache(const Model& model, const Runtime& runtime, Precision precision);

/// Replicas follow from the devices, the batch from the replicas, sequence parallelism from the
/// runtime, the sequence from the model. Sets the strategy and the problem's workload; nothing
/// where all is well. No allocation, but for a draft model or prediction layers that were not
/// there.
std::optional<Refusal> derive(Task task, const Inputs& inputs, Problem& problem,
                              Strategy& strategy) noexcept;

}  // namespace sextant
