// SPDX-License-Identifier: Apache-2.0
// The clock that power allows. A long matrix multiply is limited by the board's power, not by its
// matrix units, and how far depends on how long it runs.
//
//   P(f) = idle + matrix_energy·(f/clock)^0.4·FLOP/s + memory_energy·B/s
//
// Measured on one H200 (700 W): sustained bf16 multiplies of 2048³, 4096³, 8192³ and 16384³ hold
// 1.737, 1.513, 1.478 and 1.437 GHz at 691 W. The law with exponent 0.4, fitted at 8192³ alone,
// gives 1.729, 1.505 and 1.428 GHz for the other three.
#pragma once

#include <cmath>
#include <limits>

#include "sextant/cost/chip.hpp"
#include "sextant/cost/kernel.hpp"

namespace sextant {

/// Energy of a FLOP grows with the voltage that a clock needs: (f / f_ref)^exponent.
inline constexpr double energy_exponent = 0.4;
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

/// Energy of a kernel's device-memory traffic, the way to the cores included, at its clock.
Joules memory_draw(const Chip& chip, const KernelCost& cost);

/// What the board would draw running this kernel back to back at its clock.
Watts power_demand(const Chip& chip, const KernelCost& cost, Precision type);

/// What the controller lets a board draw beyond idling.
inline Watts dynamic_budget(const Chip& chip) {
  return power_control * chip.power_limit - chip.idle;
}

/// The next clock to try on the way to the fixed point P(f) = limit, where a load asks for more
/// than the budget; demand grows as f^1.4 where compute bounds, slower elsewhere.
inline Hertz slowed(const Chip& chip, Hertz clock, Watts demand, Watts budget) {
  const double step = std::pow(max(budget, 0.05 * demand) / demand, 1 / (1 + energy_exponent));
  return max(clock * step, 0.25 * chip.clock);
}

/// Runs `kernel(clock)` at the clock that power allows, averaged over the load.
template <class Kernel>
KernelCost at_power(const Chip& chip, Precision type, Load load, const Kernel& kernel) {
  const KernelCost burst = kernel(chip.clock);
  const Watts budget = dynamic_budget(chip);
  Hertz clock = chip.clock;
  KernelCost cost = burst;
  for (int i = 0; i < 12; ++i) {
    const Watts demand = power_demand(chip, cost, type) - chip.idle;
    if (demand <= budget * (i == 0 ? 1 : 1.001)) break;
    clock = slowed(chip, clock, demand, budget);
    cost = kernel(clock);
  }
  if (clock == chip.clock) return burst;
  const Seconds busy = load.seconds.value > 0 ? load.seconds : load.repeats * burst.time;
  if (std::isinf(busy.value)) return cost;
  const double x = busy / power_response;
  const double settled = x < 1e-9 ? 0 : 1 - (1 - std::exp(-x)) / x;
  return kernel(chip.clock + settled * (clock - chip.clock));
}

}  // namespace sextant
