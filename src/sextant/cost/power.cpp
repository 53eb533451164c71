// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/power.hpp"

#include <algorithm>

namespace sextant {

void derive_power(const Device& d, Chip& c) {
  // H200: 125 W of 700 W at full clock with nothing running (nvidia-smi, 2026).
  c.idle = d.power.idle.value > 0 ? d.power.idle : 0.18 * d.power.limit;
  // H200: copy 568 W at 4.22 TB/s, matrix-vector 563 W at 4.15 TB/s: 105 pJ a byte on the board.
  c.memory_energy = d.power.memory.value > 0 ? d.power.memory : JoulesPerByte(105e-12);
  // Boards are sold so that a full matrix load at the highest clock asks for about 1.2 times the
  // limit: H200 1.23 (from the law above), A100 1.2 (257 TFLOP/s on random data, 295 on zeros).
  // Of that, memory takes what a large multiply reads: 1.35 GB for 8192³ on H200.
  const FlopsPerSecond full = c.mechanism.matrix_efficiency * c.per_clock_16bit * c.cores * c.clock;
  const Watts asked = 1.2 * c.power_limit - c.idle;
  const JoulesPerFlop traffic = c.memory_energy * (Bytes(1.35e9) / Flops(1.1e12));
  const JoulesPerFlop derived = asked / full - traffic;
  c.matrix_energy =
      d.power.matrix_fp16.value > 0 ? d.power.matrix_fp16 : max(derived, JoulesPerFlop(0));
  // H200, operators bound by issue: GELU 697 W, its gradient 629, layer norm 633 and 647, RMS norm
  // 568 and 641, log-softmax 568, less idling and their 1.2 to 3.3 TB/s: 170 to 390 W, median 260
  // at 85 % busy, so 306 W at full issue. That is 4.5 pJ a FLOP of the fp32 peak, 6 times a 16-bit
  // matrix FLOP.
  c.vector_power = 6 * c.matrix_energy * d.vector.fp32;
}

namespace {

/// HBM3 takes 32 to 37 pJ a byte (4 to 4.6 pJ a bit), of 105 on the board.
constexpr double dram_share = 0.35;

/// Share of a kernel's time in which ordinary units issue: all of a streaming operator's
/// arithmetic (a copy has none: 507 to 568 W at 4.2 TB/s, which is memory alone); of an attention
/// kernel whatever is not matrix work (softmax, masks, moving operands through registers):
/// FlashAttention draws 686 and 590 W forward and backward, cuDNN's 632 and 686, where this rule
/// gives 582, 554, 666 and 629. A multiply's own overhead is in its matrix energy.
double vector_share(const Chip& chip, const KernelCost& cost, Precision type) {
  if (cost.tiling.m > 0 || cost.time.value <= 0) return 0;
  if (cost.flops.value <= 0) return std::min(1.0, cost.busy[Bound::special] / cost.time);
  const FlopsPerSecond peak = chip.per_clock[type] * chip.cores * cost.clock;
  return std::clamp(1 - cost.flops / cost.time / peak, 0.0, 1.0);
}

}  // namespace

Joules memory_draw(const Chip& chip, const KernelCost& cost) {
  // A byte's energy was measured at the highest clock. About a third of it is the DRAM's own; the
  // rest is L2 and the wires to the cores, which follow the voltage too.
  const double path = std::pow(cost.clock / chip.light_clock, energy_exponent);
  return chip.memory_energy * cost.dram * (dram_share + (1 - dram_share) * path);
}

Watts power_demand(const Chip& chip, const KernelCost& cost, Precision type) {
  // fp8 8192³ on H200: 0.45 pJ a FLOP against 0.86 for bf16, hence the exponent over the width.
  const double width = std::pow(element_bytes(type) / 2, 0.92);
  const double voltage = std::pow(cost.clock / chip.clock, energy_exponent);
  const Joules matrix = chip.matrix_energy * cost.flops * (width * voltage);
  const Watts vector =
      vector_share(chip, cost, type) * voltage * (cost.clock / chip.clock) * chip.vector_power;
  return chip.idle + vector + (matrix + memory_draw(chip, cost)) / cost.time;
}

}  // namespace sextant
