// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/power.hpp"

#include <algorithm>

namespace sextant {

void derive_power(const Device& d, Chip& c) {
  // H200: 125 W of 700 W at full clock with nothing running (nvidia-smi, 2026).
  c.idle = d.power.idle.value > 0 ? d.power.idle : 0.18 * d.power.limit;
  // Boards are sold so that a full matrix load at the highest clock asks for about 1.2 times the
  // limit: H200 1.23 (from the law above), A100 1.18 (257 TFLOP/s on random data, 295 on zeros).
  const FlopsPerSecond full = 0.83 * c.per_clock_16bit * c.cores * c.clock;
  const Watts asked = 1.2 * c.power_limit - c.idle;
  c.matrix_energy = d.power.matrix_fp16.value > 0
                        ? d.power.matrix_fp16
                        : JoulesPerFlop(std::max(0.0, asked.value) / full.value);
  // H200: copy 568 W at 4.22 TB/s, matrix-vector 563 W at 4.15 TB/s: 105 pJ a byte on the board.
  c.memory_energy = d.power.memory.value > 0 ? d.power.memory : JoulesPerByte(105e-12);
}

Watts power_demand(const Chip& chip, const KernelCost& cost, Precision type) {
  // fp8 8192³ on H200: 0.45 pJ a FLOP against 0.86 for bf16, hence the exponent over the width.
  const double width = std::pow(element_bytes(type) / 2, 0.92);
  const double voltage = std::pow(cost.clock / chip.clock, energy_exponent);
  const Joules matrix = chip.matrix_energy * cost.flops * (width * voltage);
  return chip.idle + (matrix + chip.memory_energy * cost.dram) / cost.time;
}

}  // namespace sextant
