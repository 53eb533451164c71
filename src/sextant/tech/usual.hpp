// SPDX-License-Identifier: Apache-2.0
// What a device of a node usually has: the core, the links and their number and the memory that
// GPUs of that time were built with. Names of presets.
#pragma once

#include "sextant/spec/technology.hpp"

namespace sextant {

struct UsualParts {
  const char* core;
  const char* link;
  int links;
  const char* memory;
};

/// One core for all nodes, so that a node's gain is technology and nothing else.
inline constexpr const char* usual_core = "hopper";

/// H100's, as the area and the core of a device of which nothing is said.
inline constexpr const char* usual_node = "n4";

/// By density: V100's at 12 nm, A100's at 7 nm, H100's at 4 nm, B200's after it; memory after it as
/// announced for that time (Rubin has HBM4 at N3).
inline UsualParts usual_parts(const LogicNode& node) {
  if (node.logic < 0.9) return {"volta", "nvlink3", 6, "hbm2"};
  if (node.logic < 1.2) return {"ampere", "nvlink3", 12, "hbm2e"};
  if (node.logic < 2) return {"hopper", "nvlink4", 18, "hbm3"};
  return {"blackwell", node.logic < 2.6 ? "nvlink5" : "nvlink6", 18,
          node.logic < 3.2 ? "hbm4"
          : node.logic < 4 ? "hbm4e"
                           : "hbm5"};
}

}  // namespace sextant
