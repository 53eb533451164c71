// SPDX-License-Identifier: Apache-2.0
// The libraries that a runtime calls on one system.
#pragma once

#include "sextant/spec/collectives.hpp"
#include "sextant/spec/kernels.hpp"

namespace sextant {

struct Libraries {
  Kernels kernels;
  CollectiveLibrary collectives;
  CollectiveLibrary small;  ///< for all-reduces up to the runtime's `communication.small_limit`
};

}  // namespace sextant
