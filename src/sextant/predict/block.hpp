// SPDX-License-Identifier: Apache-2.0
// A layer, the embedding and the head as one rank computes and keeps them, at the clock that power
// allows. It is the expensive part of a prediction, every kernel and collective of a layer, and the
// same for all strategies that cut a layer alike: a search makes it once for all of those.
#pragma once

#include "sextant/predict/memory.hpp"
#include "sextant/predict/parts.hpp"

namespace sextant {

struct Block {
  Widths widths;
  training::Parts parts;
  Kept kept;
  double flops = 0;   ///< of a token's way forward through the whole model
  double frozen = 0;  ///< of these, of weights that need no gradient
  double masked = 0;  ///< and attention's that a causal mask leaves out
  Hertz clock;        ///< that power allows
  Watts power;        ///< of one device while it computes
};

/// Depends on the axes of Scope::block alone: strategies that are alike() in them share one. No
/// allocation. `memo`: of the problem's chip.
Block block_of(const Problem& problem, const Strategy& strategy, GemmMemo* memo = nullptr) noexcept;

/// Host and device run side by side, the slower one sets the pace; where they are close, each waits
/// for the other at times.
inline Seconds paced(Seconds device, Seconds host) {
  return Seconds(smooth_max(device.value, host.value));
}

/// What the host needs for one pass: issuing so many kernels, and its work for so many layers.
inline Seconds host_time(const Problem& p, const Strategy& s, double launches, double layers) {
  const Runtime& r = p.runtime;
  const Seconds issue = r.launch.graph ? Seconds(0) : r.launch.host;
  const double again = s.recompute == Recompute::full ? 0.5 : 0;  // half in each pass
  return launches * issue + layers * (r.host_per_layer + again * r.host_per_recompute);
}

}  // namespace sextant
