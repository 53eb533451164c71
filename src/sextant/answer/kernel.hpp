// SPDX-License-Identifier: Apache-2.0
// What `sextant ops` says of one kernel on one device, or of one collective on one system.
#pragma once

#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/cost/chip.hpp"
#include "sextant/cost/collective.hpp"
#include "sextant/spec/errors.hpp"
#include "sextant/spec/system.hpp"
#include "sextant/validate/cases.hpp"

namespace sextant {

struct KernelResult {
  std::string kernel;  ///< "gemm"
  Device device;
  Chip chip;
  KernelCost cost;
  Precision type{};
  Asked asked{};  ///< what its error is like
  Watts power;    ///< asked, were it run back to back
  std::vector<std::string> assumptions;
};
Answer answer_of(const KernelResult& result);

struct CollectiveResult {
  System system;
  CollectiveLibrary library;
  CollectiveCase what;
  CollectiveCost cost;
};
/// The figure: bus bandwidth by size.
Answer answer_of(const CollectiveResult& result);

}  // namespace sextant
