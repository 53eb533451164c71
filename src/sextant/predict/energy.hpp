// SPDX-License-Identifier: Apache-2.0
// The energy of a training step and of a served request, by what draws it.
#pragma once

#include "sextant/predict/infer.hpp"

namespace sextant {

/// Of one device.
struct Energy {
  Joules compute;  ///< matrix and vector units
  Joules memory;   ///< traffic of device memory, the way to the cores included
  Joules links;    ///< bytes sent to other devices, switches included
  Joules idle;     ///< what it draws whatever runs
  Joules total() const { return compute + memory + links + idle; }
};
Energy operator+(const Energy& a, const Energy& b);
Energy operator*(double times, const Energy& e);

/// A step on a device of the slowest stage.
Energy step_energy(const Problem& problem, const Strategy& strategy);

/// One pass of serving, prefill or decode.
Energy pass_energy(const Problem& problem, const Strategy& strategy, PassShape shape);

/// A batch of requests on one device: one prefill, and the decode steps after it at their mean
/// context.
Energy request_energy(const Problem& problem, const Strategy& strategy);

}  // namespace sextant
