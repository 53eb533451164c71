// SPDX-License-Identifier: Apache-2.0
#include "sextant/study/split.hpp"

#include <cmath>
#include <limits>

#include "sextant/predict/energy.hpp"
#include "sextant/spec/diagnostic.hpp"
#include "sextant/study/problems.hpp"

namespace sextant::study {
namespace {

/// What a device costs its owner in this time: its price over four years with the share of server
/// and network that stands around it, and power with what cooling adds.
Dollars cost_of(Dollars price, Seconds time, Joules energy) {
  constexpr double around = 1.3;              // server and network add 25 to 35 %
  constexpr Seconds life(4.0 * 365 * 86400);  // assumed, in use all the time
  constexpr double pue = 1.2;                 // 1.1 to 1.3
  constexpr Dollars kilowatt_hour(0.08);      // assumed
  return around * price * (time / life) + kilowatt_hour * (pue * energy.value / 3.6e6);
}

}  // namespace

double worth(const Workload& w, const Technology& t, const Blueprint& d) {
  constexpr double never = std::numeric_limits<double>::infinity();
  const System system = system_of(d, t, w.around);
  Problem p = problem_of(system, w.trains ? "megatron-core" : "trtllm", w.model, w.training);
  p.serving = w.serving;
  Seconds time;
  double per_token = 0;  // devices over the tokens that they make in that time
  if (w.trains) {
    const Estimate e = evaluate(p, w.strategy);
    if (e.verdict != Verdict::fits) return never;
    time = e.step;
    per_token = e.devices / e.tokens;
  } else {
    const ServingEstimate e = serve(p, w.strategy);
    if (e.verdict != Verdict::fits) return never;
    time = e.latency;
    per_token = e.devices / (static_cast<double>(w.serving.batch) * w.serving.output);
  }
  if (w.goal == Goal::time) return time.value;
  const Joules energy =
      (w.trains ? evaluate(p, w.strategy).energy : request_energy(p, w.strategy)).device();
  const Dollars total = cost_of(w.price.value > 0 ? w.price : d.cost(), time, energy);
  return per_token * (w.goal == Goal::energy ? energy.value : total.value);
}

namespace {

/// The mean over nearby core counts, which is what a split is chosen by.
Objective objective_of(const Workload& w, const Technology& t) {
  return over_core_counts([&](const Blueprint& d) { return worth(w, t, d); });
}

}  // namespace

Split best_split(const Workload& w, const Technology& t, const Budget& budget,
                 const Blueprint& usual, const AllocationSpace& space) {
  constexpr std::array<Dimension, 3> units = {Dimension{.time = 1}, Dimension{.energy = 1},
                                              Dimension{.money = 1}};
  const Objective objective = objective_of(w, t);
  Split s{.allocation = allocate(t, budget, objective, space),
          .objective = w.goal != Goal::time ? std::string(name_of(w.goal)) + " of a token"
                       : w.trains           ? "time of a step"
                                            : "latency of a request",
          .unit = units[static_cast<std::size_t>(w.goal)],
          .usual = objective(usual)};
  if (std::isfinite(s.allocation.value)) return s;
  throw InputError(
      "no split of this area runs the workload: a strategy that is not legal, or "
      "memory that does not hold it",
      "see 'sextant train' or 'sextant infer' with a device saved by -o");
}

}  // namespace sextant::study
