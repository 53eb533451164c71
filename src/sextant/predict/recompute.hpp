// SPDX-License-Identifier: Apache-2.0
// What recomputation takes in: for its time and for the memory that it saves.
#pragma once

#include "sextant/graph/graph.hpp"
#include "sextant/spec/strategy.hpp"

namespace sextant {

/// Parts beyond `Recompute`: none beside whole layers (Megatron-Core refuses both together).
constexpr RecomputeModules modules_of(const Strategy& s) {
  return s.recompute == Recompute::full ? RecomputeModules{} : s.modules;
}

/// Whether what a branch or an operator is known by is computed again beyond `Recompute`.
constexpr bool takes_in(const RecomputeModules& modules, graph::Module module) {
  using enum graph::Module;
  switch (module) {
    case norms:
      return modules.norms || modules.alternate;
    case activation:
      return modules.activation || modules.alternate;
    case mlp:
      return modules.mlp;
    case experts:
      return modules.experts;
    case latent:
      return modules.latent;
    case core:
    case none:
      break;
  }
  return false;
}

}  // namespace sextant
