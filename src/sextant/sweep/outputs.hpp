// SPDX-License-Identifier: Apache-2.0
// What a point is answered with: one column each, numbers that are not there as NaN.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/store.hpp"
#include "sextant/predict/energy.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/predict/train.hpp"
#include "sextant/scenario/derive.hpp"
#include "sextant/sweep/plan.hpp"

namespace sextant::sweep {

/// All that is known of a point.
struct Answer {
  Strategy strategy;
  Serving serving;          ///< that an inner search found
  Estimate step;            ///< of training
  ServingEstimate service;  ///< of serving
  Energy energy;            ///< of one device, where it was asked for
  double tokens = 0;        ///< that the energy is for
  Made made;                ///< of a device that was generated
};

/// A column's text as a number: the verdict's, the outcome's, and after them the chunk's own texts.
constexpr double code_of(Verdict v) { return static_cast<double>(v); }
constexpr double code_of(Refusal o) {
  return static_cast<double>(Verdict::count) + static_cast<double>(o);
}
inline constexpr std::size_t first_text_code =
    static_cast<std::size_t>(Verdict::count) + static_cast<std::size_t>(Refusal::count);

struct Output {
  std::string name;
  CellType type = CellType::real;
  std::string unit;
  std::string help;
  std::vector<std::string> names;  ///< of a text: what its numbers mean
  double (*value)(const Answer&) = nullptr;
  std::size_t strategy_field = 0;  ///< without `value`: which of the strategy's fields
};

/// The columns after those of the axes; what an axis gives already is left out. The verdict is
/// first.
std::vector<Output> outputs_of(const Plan& plan);

/// Axes and outputs as a store has them.
std::vector<StoreColumn> columns_of(const Plan& plan, const std::vector<Output>& outputs);

}  // namespace sextant::sweep
