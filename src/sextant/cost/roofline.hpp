// SPDX-License-Identifier: Apache-2.0
// What studies assume in place of kernels: a share of peak that no shape changes.
#pragma once

#include "sextant/cost/chip.hpp"
#include "sextant/cost/kernel.hpp"

namespace sextant {

/// The longer of both: the FLOPs at the assumed share of peak, the bytes at the whole bandwidth.
/// Nothing to multiply: no time.
inline KernelCost on_roofline(const Chip& chip, Flops flops = Flops(0), Bytes bytes = Bytes(0),
                              Precision type = Precision::bf16) {
  KernelCost c;
  c.flops = flops;
  c.dram = bytes;
  c.l2 = bytes;
  c.busy[Bound::compute] =
      Seconds(flops / (chip.roofline * chip.cores * chip.per_clock[type]) / chip.clock.value);
  c.busy[Bound::dram] = bytes / chip.bandwidth;
  c.time = max(c.busy[Bound::compute], c.busy[Bound::dram]);
  c.clock = chip.clock;
  find_bound(c);
  return c;
}

}  // namespace sextant
