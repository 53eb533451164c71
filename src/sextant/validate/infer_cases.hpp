// SPDX-License-Identifier: Apache-2.0
// Serving as case files write it: a system, a runtime, a model by name or by its dimensions, a
// strategy, requests, and which number was measured.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/predict/infer.hpp"
#include "sextant/scenario/inputs.hpp"
#include "sextant/validate/model_columns.hpp"
#include "sextant/validate/row.hpp"

namespace sextant {

enum class InferMetric : std::uint8_t {
  latency_seconds,
  ttft_seconds,
  tpot_seconds,
  output_tokens_per_second,
  phase_seconds,  ///< one pass
};
constexpr auto names_of(InferMetric) {
  return std::array<std::string_view, 5>{"latency_seconds", "ttft_seconds", "tpot_seconds",
                                         "output_tokens_per_second", "phase_seconds"};
}

/// A pass over prompts, or over one new token of every sequence.
enum class InferPhase : std::uint8_t { prefill, decode };
constexpr auto names_of(InferPhase) { return std::array<std::string_view, 2>{"prefill", "decode"}; }

struct InferCase {
  std::string runtime;  ///< preset name
  std::string model;    ///< preset name, or empty
  std::string backend;  ///< of attention; empty: as the runtime does
  ModelColumns columns;
  Inputs inputs;
  InferMetric metric = InferMetric::latency_seconds;
  InferPhase phase = InferPhase::prefill;  ///< of one pass
  int context = 0;                         ///< of one pass, its own tokens included
  bool mixed = false;                      ///< tokens of requests and a piece of a prompt together:
  PassShape shape;                         ///< this pass
  bool shard = false;                      ///< compute of one tensor-parallel rank alone
};

/// Reads a row of kind infer; what it asks for that cannot be is put in `unsupported`.
InferCase read_infer(RowReader& row, std::string& unsupported);

}  // namespace sextant
