// SPDX-License-Identifier: Apache-2.0
#include "sextant/design/split.hpp"

#include <cmath>

#include "sextant/spec/diagnostic.hpp"

namespace sextant::design {

std::string objective_text(const Workload& w) {
  if (w.goal != Goal::time) return std::string(name_of(w.goal)) + " of a token";
  return w.trains ? "time of a step" : "latency of a request";
}

Dimension objective_unit(Goal goal) {
  constexpr std::array<Dimension, 3> units = {Dimension{.time = 1}, Dimension{.energy = 1},
                                              Dimension{.money = 1}};
  return units.at(static_cast<std::size_t>(goal));
}

Split best_split(const Workload& w, const Technology& t, const Budget& budget,
                 const Blueprint& usual, const AllocationSpace& space) {
  const Objective objective = objective_of(w, t);
  Split s{.allocation = allocate(t, budget, objective, space),
          .objective = objective_text(w),
          .unit = objective_unit(w.goal),
          .usual = objective(usual)};
  if (std::isfinite(s.allocation.value)) return s;
  throw InputError(
      "no split of this area runs the workload: a strategy that is not legal, or "
      "memory that does not hold it",
      "see 'sextant train' or 'sextant infer' with a device saved by -o");
}

}  // namespace sextant::design
