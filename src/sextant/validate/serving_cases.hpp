// SPDX-License-Identifier: Apache-2.0
// Serving under load as case files write it: an engine or two pools of them, requests over time,
// and which number was measured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/settings.hpp"
#include "sextant/serving/choices.hpp"
#include "sextant/serving/requests.hpp"
#include "sextant/spec/measurement.hpp"
#include "sextant/spec/strategy.hpp"
#include "sextant/validate/model_columns.hpp"
#include "sextant/validate/row.hpp"

namespace sextant {

enum class ServingMetric : std::uint8_t {
  ttft_p50_seconds,
  ttft_p90_seconds,
  ttft_p99_seconds,
  tpot_p50_seconds,
  tpot_p99_seconds,
  latency_p50_seconds,
  latency_mean_seconds,
  output_tokens_per_second,
};
constexpr auto names_of(ServingMetric) {
  return std::array<std::string_view, 8>{"ttft_p50_seconds",     "ttft_p90_seconds",
                                         "ttft_p99_seconds",     "tpot_p50_seconds",
                                         "tpot_p99_seconds",     "latency_p50_seconds",
                                         "latency_mean_seconds", "output_tokens_per_second"};
}

struct ServingCase {
  std::string runtime;  ///< preset name
  std::string model;    ///< preset name, or empty
  ModelColumns columns;
  Strategy strategy;  ///< of the engines, or of those that read prompts
  int workers = 1;
  Strategy decode;  ///< of those that generate
  int decode_workers = 0;
  std::optional<int> held;  ///< requests a rank of those, where the source is known to limit them
  std::optional<Precision> cache;  ///< nothing: as the engine keeps it
  EngineChoices choices;
  std::vector<Setting> settings;  ///< of the runtime and the workload, by the source's habits
  Traffic traffic;                ///< without its trace
  std::string trace;              ///< path
  ServingMetric metric = ServingMetric::ttft_p50_seconds;
  bool mean = false;  ///< what the row calls a median is a mean over all requests
  std::string run;    ///< what distinguishes one run from another: metrics of a run share it
};

/// Reads a row of kind serving; what it asks for that cannot be is put in `unsupported`.
ServingCase read_serving_case(RowReader& row, const std::string& file, const Protocol& protocol,
                              std::string& unsupported);

}  // namespace sextant
