// SPDX-License-Identifier: Apache-2.0
#include "sextant/run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
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

RunWork work_of(const Problem& p, const Estimate& e, double tokens) {
  const double element = 2;  // weights as multiplies of 16 bits and less are made from them
  const double each = element + optimizer_bytes(p.work.optimizer, element);
  // Of frozen weights nothing is written.
  const StageKind whole = stage_of(p, Strategy{}, 0);
  const double trained = trained_parameters(p, Strategy{}, whole).total();
  RunWork w{.tokens = tokens,
            .tokens_per_step = e.tokens,
            .step = e.step,
            .devices = e.devices,
            .devices_per_node = static_cast<double>(p.network.devices_per_node),
            .states = Bytes(trained * each / e.devices),
            .power = {},
            .idle = {}};
  if (e.step.value <= 0) return w;
  w.power = e.energy.total() / e.step;
  w.idle = (e.energy.idle + e.energy.host) / e.step;
  return w;
}

WholeRun whole_run(const RunWork& work, const RunTerms& terms) {
  const Reliability& reliability = terms.reliability;
  WholeRun r;
  r.steps = std::ceil(work.tokens / work.tokens_per_step);
  r.computing = r.steps * work.step;
  const double hosts = work.devices / std::min(work.devices_per_node, reliability.devices_per_host);
  const double failures = work.devices / reliability.device_between_failures.value +
                          hosts / reliability.node_between_failures.value;
  r.between_failures = Seconds(1 / failures);
  r.checkpoint = reliability.checkpoint_pause + work.states / reliability.checkpoint_bandwidth;
  r.checkpoint_interval = reliability.checkpoint_interval.value > 0
                              ? reliability.checkpoint_interval
                              : best_checkpoint_interval(r.checkpoint, r.between_failures);
  // An interval holds work and the checkpoint after it. Failures come with rate 1/M all the while;
  // each costs half an interval of work and a restart, which the next failure may cut short: in the
  // mean a restart of R takes M (e^(R/M) − 1).
  const double m = r.between_failures.value;
  const double segment = (r.checkpoint_interval + r.checkpoint).value;
  const Seconds busy = r.computing * (segment / r.checkpoint_interval.value);
  const double restart = m * std::expm1(reliability.restart.value / m);
  const double each = segment / 2 + restart;
  const double share = each / m;  // of the time, lost to failures
  if (!(share < 1) || !std::isfinite(each)) {
    r.time = Seconds(std::numeric_limits<double>::infinity());
    return r;
  }
  r.time = busy / (1 - share);
  r.interruptions = r.time / r.between_failures;
  r.lost_checkpoints = busy - r.computing;
  r.lost_work = Seconds(r.interruptions * segment / 2);
  r.lost_restarts = Seconds(r.interruptions * restart);
  r.goodput = r.computing / r.time;
  r.each = Seconds(each);
  // The number of failures is Poisson; what each costs is uniform over the interval, and a restart.
  const double second = each * each + segment * segment / 12;
  r.spread = Seconds(std::sqrt(r.interruptions * second) / (1 - share));
  r.device_hours = work.devices * r.time.value / hour;
  const Joules device =
      work.power * (r.computing + r.lost_work) + work.idle * (r.lost_checkpoints + r.lost_restarts);
  r.energy = terms.facility.pue * work.devices * device;
  r.co2_kg = r.energy.value / joules_per_kwh * terms.facility.grid_kg_per_kwh;
  return r;
}

namespace {

/// The number that a Poisson variable does not exceed in 99 of 100 cases.
double poisson_p99(double mean) {
  double term = std::exp(-mean);
  double sum = term;
  double k = 0;
  while (sum < 0.99 && k < 1000) {
    term *= mean / ++k;
    sum += term;
  }
  return k;
}

}  // namespace

// Few interruptions are counted, many are as good as normal. Of the two independent spreads, of
// failures and of the step, the ratios to the expected time combine as logarithms.
Seconds finish_p99(const WholeRun& run, double error) {
  if (!run.ends()) return run.time;
  const Seconds failures = run.interruptions < 50 ? run.computing + run.lost_checkpoints +
                                                        poisson_p99(run.interruptions) * run.each
                                                  : run.time + normal_p99 * run.spread;
  const double late = std::max(0.0, std::log(failures / run.time));
  return run.time * std::exp(std::hypot(normal_p99 * error, late));
}

std::string format_duration(Seconds time) {
  constexpr double day = 86400;
  const double t = time.value;
  if (t >= 2 * day) return fmt::format("{:.{}f} days", t / day, t < 100 * day ? 1 : 0);
  if (t >= 2 * hour) return fmt::format("{:.1f} h", t / hour);
  if (t >= 120) return fmt::format("{:.1f} min", t / 60);
  return fmt::format("{:.3g} s", t);
}

}  // namespace sextant
