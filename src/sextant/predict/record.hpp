// SPDX-License-Identifier: Apache-2.0
// How the operators of a prediction are recorded: not at all for searches, every one for people.
// Compositions are templates over these two, so that a search pays nothing for what only people
// read. Internal to predict.
#pragma once

#include <string>
#include <vector>

#include "sextant/cost/gemm.hpp"
#include "sextant/predict/train.hpp"

namespace sextant {

/// Records nothing.
struct Silent {
  static constexpr bool records = false;
  GemmMemo* memo = nullptr;  ///< of a search, for multiplies that it has met before
  bool energy = true;        ///< joules are asked for, not times alone
};

/// Records every operator, in the order of the passes.
struct Recorder {
  static constexpr bool records = true;
  std::vector<Operator> operators;
};

/// A dimension of a shape, for the record.
inline std::string whole(double x) { return std::to_string(static_cast<long long>(x)); }

}  // namespace sextant
