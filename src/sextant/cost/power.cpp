// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/power.hpp"

#include <algorithm>

namespace sextant {

void derive_power(const Device& d, Chip& c) {
  // H200: 125 W of 700 W at full clock with nothing running (nvidia-smi, 2026).
  c.idle = d.power.idle.value > 0 ? d.power.idle : 0.18 * d.power.limit;
  // H200: copy 568 W at 4.22 TB/s, matrix-vector 563 W at 4.15 TB/s: 105 pJ a byte on the board;
  // the joint fit takes 102.6.
  c.memory_energy = d.power.memory.value > 0 ? d.power.memory : JoulesPerByte(102.6e-12);
  // A board without its own energy is taken to draw what its generation does (N5 to N3: H200 0.81,
  // B200 0.85, MI300X 1.29, MI355X 0.66 pJ). It follows no budget: more watts never cost more.
  const JoulesPerFlop wide =
      d.power.matrix_fp16.value > 0 ? d.power.matrix_fp16 : JoulesPerFlop(1e-12);
  // 8192³ on H200: 0.41 pJ a FLOP in fp8 and 1.443 GHz against 0.76 in bf16 and 1.478, memory taken
  // off: an exponent of 0.87 over the width. 0.92 meets the clock with the rate predicted for it.
  const double halved = std::pow(0.5, 0.92);
  const JoulesPerFlop byte = d.power.matrix_fp8.value > 0 ? d.power.matrix_fp8 : halved * wide;
  const JoulesPerFlop nibble = d.power.matrix_fp4.value > 0 ? d.power.matrix_fp4 : halved * byte;
  // Joint fit: 361 W at full issue and 1.755 GHz on H200, 5.8 pJ a FLOP of the fp32 peak, 7.2 times
  // a 16-bit matrix FLOP. Operators bound by issue alone gave 170 to 390 W, median 260 at 85 %
  // busy: GELU draws 697 W in all, its gradient 629, layer norm 633 and 647, RMS norm 568 and 641.
  const JoulesPerFlop vector = 7.2 * wide;
  for (std::size_t i = 0; i < c.matrix_energy.size; ++i) {
    const Precision p = c.runs.values[i];
    const double bytes = element_bytes(p);
    // Of 16 bits on lanes a board's own energy is theirs.
    c.matrix_energy.values[i] = bytes > 2     ? c.on_vector(p) ? vector : wide / halved
                                : bytes > 1   ? wide
                                : bytes > 0.5 ? byte
                                              : nibble;
  }
  // Kernels issue what they issue, however wide the units: 256 FLOP a clock a core, as on H200.
  c.vector_power = vector * Flops(256) * double(d.cores) * d.clock;
}

namespace {

/// What the voltage of a clock makes of an energy. Kernels of a step run at one clock, so that the
/// last answer is mostly the next one.
class VoltageMemo {
 public:
  double operator()(double ratio) {
    if (ratio != ratio_) {
      ratio_ = ratio;
      energy_ = std::pow(ratio, energy_exponent);
    }
    return energy_;
  }

 private:
  double ratio_ = 1;
  double energy_ = 1;
};

/// HBM3E takes 28 to 32 pJ a byte (3.5 to 4 pJ a bit), of 103 on the board; the clocks under the
/// limit are met with a quarter.
constexpr double dram_share = 0.25;

/// Share of a kernel's time in which ordinary units issue: all of a streaming operator's
/// arithmetic (a copy has none: 507 to 568 W at 4.2 TB/s, which is memory alone); of an attention
/// kernel whatever is neither start nor matrix work (softmax, masks, moving operands through
/// registers, and in decoding the padding of one query to a tile): Llama 2 7B decoding 64 sequences
/// spends three quarters of its time there and reaches the limit at 2.7 TB/s. A multiply's own
/// overhead is in its matrix energy.
double vector_share(const Chip& chip, const KernelCost& cost, Precision type) {
  if (cost.tiling.m > 0 || cost.time.value <= 0) return 0;
  if (cost.flops.value <= 0) return std::min(1.0, cost.busy[Bound::special] / cost.time);
  const FlopsPerSecond peak = chip.per_clock[type] * chip.cores * cost.clock;
  const double started = 1 - std::min(1.0, cost.busy[Bound::launch] / cost.time);
  return std::clamp(started - cost.flops / cost.time / peak, 0.0, 1.0);
}

/// What data that switch less save. Zeros draw 394 W in 8192³ on H200 at 1.75 GHz, where random
/// numbers would take 900: clocks, instructions and addresses remain.
double switching(double activity) {
  constexpr double by_data = 0.653;
  return 1 - by_data * (1 - activity);
}

}  // namespace

void quieten(Chip& chip, double activity) {
  for (JoulesPerFlop& energy : chip.matrix_energy.values) energy = energy * switching(activity);
  chip.memory_energy = chip.memory_energy * switching(activity);
}

Joules memory_draw(const Chip& chip, const KernelCost& cost) {
  // A byte's energy was measured at the highest clock. About a quarter of it is the DRAM's own; the
  // rest is L2 and the wires to the cores, which follow the voltage too.
  thread_local VoltageMemo voltage;
  const double path = voltage(cost.clock / chip.light_clock);
  return cost.byte_energy * chip.memory_energy * cost.dram * switching(cost.activity) *
         (dram_share + (1 - dram_share) * path);
}

Watts power_demand(const Chip& chip, const KernelCost& cost, Precision type) {
  if (cost.time.value <= 0) return chip.idle;
  thread_local VoltageMemo voltage_of;
  const double voltage = voltage_of(cost.clock / chip.clock);
  const Joules matrix =
      chip.matrix_energy[type] * cost.flops * (voltage * switching(cost.activity));
  const Watts vector =
      vector_share(chip, cost, type) * voltage * (cost.clock / chip.clock) * chip.vector_power;
  return chip.idle + vector + (matrix + memory_draw(chip, cost)) / cost.time;
}

}  // namespace sextant
