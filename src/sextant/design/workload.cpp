// SPDX-License-Identifier: Apache-2.0
#include "sextant/design/workload.hpp"

#include <limits>

#include "sextant/predict/energy.hpp"
#include "sextant/study/problems.hpp"

namespace sextant::design {
namespace {

/// What a device costs its owner in this time: its price over four years with the share of server
/// and network that stands around it, and the power of all that with what cooling adds.
Dollars cost_of(Dollars price, Seconds time, Joules energy) {
  constexpr double around = 1.3;              // server and network add 25 to 35 %
  constexpr Seconds life(4.0 * 365 * 86400);  // assumed, in use all the time
  constexpr double pue = 1.2;                 // 1.1 to 1.3
  constexpr Dollars kilowatt_hour(0.08);      // assumed
  return around * price * (time / life) + kilowatt_hour * (pue * energy.value / 3.6e6);
}

/// With what it takes: energy and cost where they are asked for.
Outcome run_on(const Workload& w, const Technology& t, const Blueprint& d, bool with_energy) {
  const Problem p = problem_on(w, t, d);
  Outcome out;
  double devices = 1;
  double tokens = 0;
  Energy energy;
  if (w.trains) {
    const Estimate e = evaluate(p, w.strategy);
    out.verdict = e.verdict;
    out.time = e.step;
    devices = e.devices;
    tokens = e.tokens;
    energy = e.energy;
  } else {
    const ServingEstimate e = serve(p, w.strategy);
    out.verdict = e.verdict;
    out.time = e.latency;
    devices = e.devices;
    tokens = static_cast<double>(w.serving.batch) * w.serving.output;
    if (out.runs() && with_energy) energy = request_energy(p, w.strategy, e);
  }
  if (!out.runs()) return out;
  out.tokens_per_second = tokens / out.time.value;
  if (!with_energy) return out;
  const Dollars price = w.price.value > 0 ? w.price : d.cost();
  out.energy = token_energy(energy, devices, tokens);
  out.cost = devices / tokens * cost_of(price, out.time, energy.total());
  return out;
}

}  // namespace

Problem problem_on(const Workload& w, const Technology& t, const Blueprint& d) {
  Problem p = study::problem_of(system_of(d, t, w.around), w.trains ? "megatron-graph" : "trtllm",
                                w.model, w.training);
  p.serving = w.serving;
  return p;
}

Outcome time_on(const Workload& w, const Technology& t, const Blueprint& d) {
  return run_on(w, t, d, false);
}
Outcome outcome_on(const Workload& w, const Technology& t, const Blueprint& d) {
  return run_on(w, t, d, true);
}

study::Limits limits_on(const Workload& w, const Technology& t, const Blueprint& d) {
  const Problem p = problem_on(w, t, d);
  const int node = w.around.devices_per_node;
  return w.trains ? study::limits_of_training(p, w.strategy, node)
                  : study::limits_of_serving(p, w.strategy, node);
}

double worth(const Workload& w, const Technology& t, const Blueprint& d) {
  const Outcome o = w.goal == Goal::time ? time_on(w, t, d) : outcome_on(w, t, d);
  if (!o.runs()) return std::numeric_limits<double>::infinity();
  if (w.goal == Goal::time) return o.time.value;
  return w.goal == Goal::energy ? o.energy.value : o.cost.value;
}

Objective objective_of(const Workload& w, const Technology& t) {
  return over_core_counts([&](const Blueprint& d) { return worth(w, t, d); });
}

}  // namespace sextant::design
