// SPDX-License-Identifier: Apache-2.0
// Training steps as case files write them: a system, a runtime, a model by name or by its
// dimensions, a strategy, and which number of the step was measured.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/scenario/inputs.hpp"
#include "sextant/validate/model_columns.hpp"
#include "sextant/validate/row.hpp"

namespace sextant {

enum class TrainMetric : std::uint8_t {
  step_seconds,
  tokens_per_second_per_gpu,
  model_tflops_per_gpu,
  forward_backward_seconds,
  optimizer_seconds,
  activation_bytes_after_forward,
  peak_bytes_forward_backward,
  allocated_gb,  ///< held between steps
  fits,          ///< 1: it ran, 0: it was out of memory
};
constexpr auto names_of(TrainMetric) {
  return std::array<std::string_view, 9>{"step_seconds",
                                         "tokens_per_second_per_gpu",
                                         "model_tflops_per_gpu",
                                         "forward_backward_seconds",
                                         "optimizer_seconds",
                                         "activation_bytes_after_forward",
                                         "peak_bytes_forward_backward",
                                         "allocated_gb",
                                         "fits"};
}
/// A gigabyte of the loggers that these numbers come from.
inline constexpr Bytes logged_gigabyte{1024.0 * 1024 * 1024};

struct TrainCase {
  std::string runtime;  ///< preset name
  std::string model;    ///< preset name, or empty
  std::string backend;  ///< of attention; empty: as the runtime does
  ModelColumns columns;
  Inputs inputs;
  TrainMetric metric = TrainMetric::step_seconds;
  Bytes allocated;                ///< memory held between steps, where it was measured
  std::vector<Setting> settings;  ///< of the runtime, by the source's habits
};

/// Reads a row of kind train or memory; what it asks for that cannot be is put in `unsupported`.
TrainCase read_train(RowReader& row, std::string& unsupported);

}  // namespace sextant
