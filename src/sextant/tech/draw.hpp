// SPDX-License-Identifier: Apache-2.0
// What a planned device draws: idle, in a large multiply and reading memory from end to end; and
// the clocks that a limit leaves it.
#pragma once

#include "sextant/tech/plan.hpp"

namespace sextant::tech {

/// Below this share of the design clock the voltage is at its least, and slowing down saves no
/// energy a FLOP.
inline constexpr double least_clock = 0.35;

/// Power of the parts that draw it whatever runs, at a clock.
struct Idle {
  Watts die;
  Watts memory;
  Watts links;
  Watts board;
  Watts sum() const { return die + memory + links + board; }
};
Idle idle_of(const Plan& plan, Hertz clock);

/// A full matrix load.
struct Load16 {
  Hertz design;  ///< clock at which `energy` holds
  JoulesPerFlop energy;
  JoulesPerByte memory_energy;
  double cores = 0;
  double efficiency = 0;
  double boost_sag = 1;  ///< busy clock over the rated one
};
Load16 load_of(const Plan& plan, int cores);
JoulesPerFlop energy_at(const Load16& load, Hertz rated);
FlopsPerSecond rate_at(const Plan& plan, const Load16& load, Hertz rated);
Watts matrix_at(const Plan& plan, const Load16& load, Hertz rated);
Watts traffic_at(const Plan& plan, const Load16& load, Hertz rated);
Watts demand(const Plan& plan, const Load16& load, Hertz idle_clock, Hertz rated);

/// The limit with which the design clock is sold: as far below what a full load asks for as that
/// of the core's own GPU.
Watts natural_limit(const Plan& plan, const Load16& load);
/// What a full load at the rated clock may ask for on a board of this limit.
Watts sold_draw(const Plan& plan, const Load16& load, Watts limit);

/// The highest clock not above `most` at which demand is no more than `allowed`.
Hertz clock_within(const Plan& plan, const Load16& load, Watts allowed, Hertz most,
                   bool idle_follows);

/// Watts a board must have for its memory to be read at full rate and the highest clock.
Watts streaming_demand(const Device& device);
/// Settles the clock of streams within the limit; where even the slowest clock draws too much, the
/// memory runs slower too.
void settle_streams(Blueprint& out);

}  // namespace sextant::tech
