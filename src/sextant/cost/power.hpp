// SPDX-License-Identifier: Apache-2.0
// The clock that power allows. A long matrix multiply is limited by the board's power, not by its
// matrix units, and how far depends on how long it runs.
//
//   P(f) = idle + v·(matrix_energy·FLOP/s + vector_power·share·f/clock)
//               + memory_energy·B/s·(0.25 + 0.75·v),   v = (f / clock)^0.8
//
// Seven constants (matrix, memory and vector energy, the exponent, the memory's own share, the
// exponent over the width of a type, what switches) for one H200's ten operating points and seven
// whole steps (power_test.cpp and predict/energy_test.cpp hold them): watts within 5 %, clocks
// within 5 % but one step (5.2 %). The fit was penalised at those bars and at 680 TFLOP/s for
// 8192³, so five points lie just inside; a free fit meets the points better and that rate worse
// (693). Nothing was left out: how well it carries to another board is not known.
#pragma once

#include <cmath>
#include <limits>

#include "sextant/cost/chip.hpp"
#include "sextant/cost/kernel.hpp"

namespace sextant {

/// Energy grows with the voltage that a clock needs: (f / f_ref)^exponent. Constant voltage would
/// give 0, one in proportion to the clock 2; fits are flat between 0.6 and 1.
inline constexpr double energy_exponent = 0.8;
/// The controller settles a little under the limit: 691 W of 700 W on H200.
inline constexpr double power_control = 0.988;
/// Time constant of the power controller. 20 runs of a 5 ms multiply lose 9 %, of a 1.4 ms one 1 %.
inline constexpr Seconds power_response{0.05};

/// How long a kernel's load lasts, for the power controller: so many runs back to back, or a time.
struct Load {
  double repeats = 1;
  Seconds seconds{0};  ///< 0: the repeats count
};
/// A load that runs for ever.
inline constexpr Load sustained{.seconds = Seconds(std::numeric_limits<double>::infinity())};

/// Fills a chip's power constants, deriving what the device leaves open.
void derive_power(const Device& device, Chip& chip);

/// Data that switch less than random numbers (KernelCost::activity), in everything the chip runs.
void quieten(Chip& chip, double activity);

/// Energy of a kernel's device-memory traffic, the way to the cores included, at its clock.
Joules memory_draw(const Chip& chip, const KernelCost& cost);

/// What the board would draw running this kernel back to back at its clock.
Watts power_demand(const Chip& chip, const KernelCost& cost, Precision type);

/// What the controller lets a board draw beyond idling.
inline Watts dynamic_budget(const Chip& chip) {
  return power_control * chip.power_limit - chip.idle;
}

/// Below it no board goes, whatever it draws there.
inline Hertz lowest_clock(const Chip& chip) { return 0.25 * chip.clock; }

/// The next clock to try on the way to the fixed point P(f) = limit, where a load asks for more
/// than the budget; demand grows as f^1.4 where compute bounds, slower elsewhere.
inline Hertz slowed(const Chip& chip, Hertz clock, Watts demand, Watts budget) {
  const double step = std::pow(max(budget, 0.05 * demand) / demand, 1 / (1 + energy_exponent));
  return max(clock * step, lowest_clock(chip));
}

/// Runs `kernel(clock)` at the clock that power allows, averaged over the load. A board keeps its
/// highest clock until its matrix units are busy (H200: a matrix-vector product holds 1.98 GHz, a
/// multiply of zeros 1.75); kernel constants are counted in cycles of the matrix units' clock, so
/// beyond that a kernel gets no faster.
template <class Kernel>
KernelCost at_power(const Chip& chip, Precision type, Load load, const Kernel& kernel) {
  const auto run = [&](Hertz clock) {
    KernelCost c = kernel(min(clock, chip.clock));
    c.clock = clock;
    return c;
  };
  KernelCost burst = kernel(chip.clock);
  const Hertz top = burst.bound == Bound::compute ? chip.clock : chip.light_clock;
  burst.clock = top;
  const Watts budget = dynamic_budget(chip);
  Hertz clock = top;
  KernelCost cost = burst;
  for (int i = 0; i < 12; ++i) {
    const Watts demand = power_demand(chip, cost, type) - chip.idle;
    if (demand <= budget * (i == 0 ? 1 : 1.001)) break;
    clock = slowed(chip, clock, demand, budget);
    cost = run(clock);
  }
  if (clock == top) return burst;
  const Seconds busy = load.seconds.value > 0 ? load.seconds : load.repeats * burst.time;
  if (std::isinf(busy.value)) return cost;
  const double x = busy / power_response;
  const double settled = x < 1e-9 ? 0 : 1 - (1 - std::exp(-x)) / x;
  return run(top + settled * (clock - top));
}

}  // namespace sextant
