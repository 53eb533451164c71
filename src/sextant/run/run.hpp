// SPDX-License-Identifier: Apache-2.0
// A whole training run: from the time of a step and the tokens to be seen to days, device-hours,
// money, energy and emissions, with the failures, checkpoints and restarts of a machine this large.
#pragma once

#include <string>

#include "sextant/predict/train.hpp"
#include "sextant/spec/describe.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

/// How often machines fail and what a failure costs. Defaults are those of published runs.
struct Reliability {
  /// Of the 419 unexpected interruptions in 54 days on 16,384 H100 (Llama 3, arXiv 2407.21783,
  /// Table 5) 268 were of a GPU (faulty 148, HBM 72, SRAM 19, system processor 17, silent
  /// corruption 6, thermal 6): one in 79,200 device-hours.
  Seconds device_between_failures{79'200.0 * 3600};
  /// The other 151, of hosts, network and software, over 2,048 nodes: one in 17,600 node-hours. So
  /// taken, software fails more often on larger machines, as it did.
  Seconds node_between_failures{17'600.0 * 3600};
  /// Behind one host, where a node of the network holds more (72 in a rack of GB200).
  double devices_per_host = 8;
  /// From an interruption to the first new step: found, replaced, loaded. Ten minutes before
  /// fault-tolerant restarts, three with them (fault-tolerant HSDP on 100,000 devices).
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
  v("device_between_failures", r.device_between_failures,
    {.help = "run: mean time between interruptions by one device", .min = 1, .max = 1e15});
  v("node_between_failures", r.node_between_failures,
    {.help = "run: the same by one node's host, links and software", .min = 1, .max = 1e15});
  v("devices_per_host", r.devices_per_host,
    {.help = "run: devices behind one host, where a node has more", .min = 1, .max = 1e5});
  v("restart", r.restart, {.help = "run: from an interruption to the next step", .max = 1e7});
  v("checkpoint_pause", r.checkpoint_pause,
    {.help = "run: what a checkpoint takes beyond writing it", .max = 1e5});
  v("checkpoint_bandwidth", r.checkpoint_bandwidth,
    {.help = "run: of storage, for one device", .min = 1, .max = 1e13});
  v("checkpoint_interval", r.checkpoint_interval,
    {.help = "run: between checkpoints; without, the interval that wastes least", .max = 1e7});
}

/// The building around the machine and what it pays.
struct Facility {
  /// Energy of the building over that of the machine: hyperscale centres state 1.1, the mean of
  /// all is 1.56 (Uptime Institute survey, 2024).
  double pue = 1.2;
  /// Kilograms of CO2 for a kilowatt-hour: the world's mean of 2024 (Ember, Global Electricity
  /// Review 2025).
  double grid_kg_per_kwh = 0.473;
};
template <class V>
void describe(V& v, Facility& f) {
  v("pue", f.pue,
    {.help = "run: energy of the building over that of the machine", .min = 1, .max = 5});
  v("grid_kg_per_kwh", f.grid_kg_per_kwh,
    {.help = "run: kilograms of CO2 for a kilowatt-hour", .max = 10});
}

/// All that a run is told beside its step.
struct RunTerms {
  Reliability reliability = {};
  Facility facility = {};
};
template <class V>
void describe(V& v, RunTerms& t) {
  describe(v, t.reliability);
  describe(v, t.facility);
}

/// What a run has to do, a step at a time.
struct RunWork {
  double tokens = 0;  ///< to be seen
  double tokens_per_step = 0;
  Seconds step;
  double devices = 1;
  double devices_per_node = 8;
  Bytes states;  ///< of one device: what a checkpoint writes
  Watts power;   ///< of one device and its share of the node, while it computes
  Watts idle;    ///< the same while it waits
};

/// A run of a step's estimate: a checkpoint holds the weights and the optimizer's states once.
RunWork work_of(const Problem& problem, const Estimate& estimate, double tokens);

struct WholeRun {
  double steps = 0;
  Seconds computing;  ///< were nothing ever to fail
  Seconds time;       ///< expected, with all that is lost
  Seconds each;       ///< that one interruption costs
  Seconds spread;     ///< standard deviation of the time, by when failures come
  double goodput = 0;
  double interruptions = 0;  ///< expected
  Seconds between_failures;  ///< of the whole machine
  Seconds checkpoint;        ///< to take one
  Seconds checkpoint_interval;
  Seconds lost_checkpoints;  ///< taking them
  Seconds lost_work;         ///< done since the last one, and done again
  Seconds lost_restarts;
  double device_hours = 0;
  Joules energy;
  double co2_kg = 0;
  bool ends() const { return goodput > 0; }
};

/// The interval between checkpoints that wastes least (Daly, A higher order estimate of the optimum
/// checkpoint interval for restart dumps, 2006, equation 37): with a checkpoint of C and a mean
/// time between failures of M, √(2CM)·[1 + ⅓√(C/2M) + C/18M] − C below C = 2M, else M.
Seconds best_checkpoint_interval(Seconds checkpoint, Seconds between_failures);

/// Expected values of a run. Failures are independent; one that comes during a restart starts it
/// again, so a machine that fails faster than it restarts never ends: goodput 0, infinite time.
WholeRun whole_run(const RunWork& work, const RunTerms& terms = {});

/// 99 of 100 such runs end by then. `error` is the standard deviation of the logarithm of the
/// step's time about what was predicted; 0: only failures are uncertain.
Seconds finish_p99(const WholeRun& run, double error = 0);

/// Times that people live through: "3.12 h", "5.9 min", "3300 days".
std::string format_duration(Seconds time);

}  // namespace sextant
