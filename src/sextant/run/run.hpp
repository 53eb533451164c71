// SPDX-License-Identifier: Apache-2.0
// A whole training run: from the time of a step and the tokens to be seen to days, device-hours,
// money, energy and emissions, with the failures, checkpoints and restarts of a machine this large.
#pragma once

#include "sextant/spec/describe.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

/// How often machines fail and what a failure costs. Defaults are those of published runs.
struct Reliability {
  /// Of one device, everything that interrupts a job counted: 419 unexpected interruptions in 54
  /// days on 16,384 H100 (Llama 3, arXiv 2407.21783, section 3.3.4) are one in 50,700 device-hours.
  Seconds between_failures{50'700.0 * 3600};
  /// From an interruption to the first new step: found, replaced, loaded. Ten minutes before
  /// fault-tolerant restarts, three with them (physics of long runs: HSDP at 100,000 devices).
  Seconds restart{600};
  /// To take a checkpoint beyond writing it: the step is stopped, ranks agree.
  Seconds checkpoint_pause{2};
  /// Of storage, for one device: 2 TB/s sustained for 16,384 (Llama 3, section 3.3.1).
  BytesPerSecond checkpoint_bandwidth{2e12 / 16'384};
  /// Between checkpoints; 0: the interval that wastes least.
  Seconds checkpoint_interval{0};
};
template <class V>
void describe(V& v, Reliability& r) {
  v("between_failures", r.between_failures,
    {.help = "mean time between interruptions of one device", .min = 1, .max = 1e15});
  v("restart", r.restart, {.help = "from an interruption to the next step", .max = 1e7});
  v("checkpoint_pause", r.checkpoint_pause,
    {.help = "what a checkpoint takes beyond writing it", .max = 1e5});
  v("checkpoint_bandwidth", r.checkpoint_bandwidth,
    {.help = "of storage, for one device", .min = 1, .max = 1e13});
  v("checkpoint_interval", r.checkpoint_interval,
    {.help = "between checkpoints; 0: the interval that wastes least", .max = 1e7});
}

/// The building around the machine and what it pays.
struct Facility {
  /// Energy of the building over that of the machine: hyperscale centres state 1.1, the mean of
  /// all is 1.56 (Uptime Institute survey, 2024).
  double pue = 1.2;
  /// Kilograms of CO2 for a kilowatt-hour: the world's mean of 2024 (Ember, Global Electricity
  /// Review 2025).
  double grid_kg_per_kwh = 0.473;
  DollarsPerSecond device_price{0};  ///< of one device; 0: nobody asked
};
template <class V>
void describe(V& v, Facility& f) {
  v("pue", f.pue, {.help = "energy of the building over that of the machine", .min = 1, .max = 5});
  v("grid_kg_per_kwh", f.grid_kg_per_kwh,
    {.help = "kilograms of CO2 for a kilowatt-hour", .max = 10});
  v("device_price", f.device_price, {.help = "rent of one device", .max = 1e3});
}

/// What a run has to do, a step at a time.
struct RunWork {
  double tokens = 0;  ///< to be seen
  double tokens_per_step = 0;
  Seconds step;
  double devices = 1;
  Bytes states;  ///< of one device: what a checkpoint writes
  Watts power;   ///< of one device and its share of the node
};

struct WholeRun {
  double steps = 0;
  Seconds computing;  ///< were nothing ever to fail
  Seconds time;       ///< expected, with all that is lost
  Seconds time_p99;   ///< 99 of 100 runs end by then
  double goodput = 1;
  double interruptions = 0;  ///< expected
  Seconds checkpoint;        ///< to take one
  Seconds checkpoint_interval;
  Seconds lost_checkpoints;  ///< taking them
  Seconds lost_work;         ///< done since the last one, and done again
  Seconds lost_restarts;
  double device_hours = 0;
  Dollars cost;
  Joules energy;
  double co2_kg = 0;
};

/// The interval between checkpoints that wastes least (Daly, A higher order estimate of the optimum
/// checkpoint interval for restart dumps, 2006, equation 37): with a checkpoint of C and a mean
/// time between failures of M, √(2CM)·[1 + ⅓√(C/2M) + C/18M] − C below C = 2M, else M.
Seconds best_checkpoint_interval(Seconds checkpoint, Seconds between_failures);

/// Expected values of a run. Failures are independent; one that comes during a restart starts it
/// again, so a machine that fails faster than it restarts never ends: goodput 0, infinite time.
WholeRun whole_run(const RunWork& work, const Reliability& reliability, const Facility& facility);

}  // namespace sextant
