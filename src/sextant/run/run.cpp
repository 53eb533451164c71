// SPDX-License-Identifier: Apache-2.0
#include "sextant/run/run.hpp"

#include <cmath>
#include <limits>

namespace sextant {
namespace {

constexpr double hour = 3600;
constexpr double joules_per_kwh = 3.6e6;
constexpr double normal_p99 = 2.3263;  // 99th percentile of the standard normal distribution

}  // namespace

Seconds best_checkpoint_interval(Seconds checkpoint, Seconds between_failures) {
  const double c = checkpoint.value;
  const double m = between_failures.value;
  if (c >= 2 * m) return between_failures;
  const double young = std::sqrt(2 * c * m);
  const double daly = young * (1 + std::sqrt(c / (2 * m)) / 3 + c / (18 * m)) - c;
  return max(Seconds(daly), checkpoint);
}

WholeRun whole_run(const RunWork& work, const Reliability& reliability, const Facility& facility) {
  WholeRun r;
  r.steps = std::ceil(work.tokens / work.tokens_per_step);
  r.computing = r.steps * work.step;
  const Seconds between = reliability.between_failures / work.devices;
  r.checkpoint = reliability.checkpoint_pause + work.states / reliability.checkpoint_bandwidth;
  r.checkpoint_interval = reliability.checkpoint_interval.value > 0
                              ? reliability.checkpoint_interval
                              : best_checkpoint_interval(r.checkpoint, between);
  // An interval holds work and the checkpoint after it. Failures come with rate 1/M all the while;
  // each costs half an interval of work and a restart, which the next failure may cut short: in the
  // mean a restart of R takes M (e^(R/M) − 1).
  const double m = between.value;
  const double segment = (r.checkpoint_interval + r.checkpoint).value;
  const Seconds busy = r.computing * (segment / r.checkpoint_interval.value);
  const double restart = m * std::expm1(reliability.restart.value / m);
  const double each = segment / 2 + restart;
  const double share = each / m;  // of the time, lost to failures
  if (!(share < 1) || !std::isfinite(each)) {
    r.time = r.time_p99 = Seconds(std::numeric_limits<double>::infinity());
    r.goodput = 0;
    return r;
  }
  r.time = busy / (1 - share);
  r.interruptions = r.time / between;
  r.lost_checkpoints = busy - r.computing;
  r.lost_work = Seconds(r.interruptions * segment / 2);
  r.lost_restarts = Seconds(r.interruptions * restart);
  r.goodput = r.computing / r.time;
  // The number of failures is Poisson; what each costs is uniform over the interval, and a restart.
  const double second = each * each + segment * segment / 12;
  r.time_p99 = r.time + Seconds(normal_p99 * std::sqrt(r.interruptions * second) / (1 - share));
  r.device_hours = work.devices * r.time.value / hour;
  r.cost = facility.device_price * (work.devices * r.time);
  r.energy = facility.pue * (work.power * (work.devices * r.time));
  r.co2_kg = r.energy.value / joules_per_kwh * facility.grid_kg_per_kwh;
  return r;
}

}  // namespace sextant
