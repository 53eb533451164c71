// SPDX-License-Identifier: Apache-2.0
// What `sextant tech` says of a generated device: its numbers, and where area and power go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/study/split.hpp"

namespace sextant {

struct DeviceResult {
  Technology technology;
  Budget budget;
  Blueprint blueprint;
  std::vector<std::string> assumptions;
  std::optional<study::Split> split;  ///< where a workload chose it
};
/// The figure: shares of area and power.
Answer answer_of(const DeviceResult& result);

}  // namespace sextant
