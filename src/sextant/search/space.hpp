// SPDX-License-Identifier: Apache-2.0
// The strategies that a search looks at: which values each axis may take, and the combinations of
// them that use a given number of devices.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sextant/predict/problem.hpp"

namespace sextant {

/// Values that an axis may take: all that make sense, or those given, between two limits.
struct Choices {
  std::vector<int> only;  ///< empty: all that make sense
  int least = 0;
  int most = std::numeric_limits<int>::max();
  bool allows(int value) const { return value >= least && value <= most; }
};

/// The given values, or `usual`, within the limits.
std::vector<int> values_of(const Choices& choices, std::vector<int> usual);
/// In rising order.
std::vector<int> divisors(int n);

/// What may vary. An axis without given values takes, of the values that make a difference:
/// tp, pp, cp: divisors of the devices; dp: the rest; ep, etp: divisors of the experts and of tp;
/// microbatch: divisors of the batch; interleave: divisors of a stage's layers; recompute_layers:
/// every number of a stage's layers.
struct SearchSpace {
  std::vector<int> devices;
  Choices tp, pp, dp, cp, ep, etp, microbatch, interleave, zero, recompute_layers;
  Choices shard{.only = {0}};
  std::vector<bool> sp{false, true};
  std::vector<bool> offload{false};
  std::vector<Recompute> recompute{Recompute::none, Recompute::selective, Recompute::full};
  std::vector<RecomputeModules> modules{{}};
  std::vector<Schedule> schedule{Schedule::one_f_one_b, Schedule::gpipe, Schedule::zero_bubble};
  std::vector<Order> order{Order::tp_cp_ep_dp_pp, Order::tp_cp_ep_pp_dp};
  std::vector<ContextKind> context{ContextKind::ring, ContextKind::all_to_all};
  std::vector<Precision> precision{Precision::bf16};
};

/// Strategies that cut a layer alike, whatever their microbatch and recomputation.
struct Cut {
  int tp = 1;
  int cp = 1;
  int ep = 1;
  int etp = 1;
  Precision precision = Precision::bf16;
  std::uint64_t first_unit = 0;
};

/// A space laid out as units, each of strategies that share one block: a search takes these one at
/// a time. Their order is always the same.
struct SearchPlan {
  std::vector<Cut> cuts;  ///< by rising first_unit
  std::vector<int> microbatches;
  std::uint64_t units = 0;
  double points = 0;
};
/// Throws InputError where no value of an axis is left, or none of the devices can be used.
SearchPlan lay_out(const Problem& problem, const SearchSpace& space);

struct SearchUnit {
  std::size_t cut = 0;  ///< in SearchPlan::cuts
  Strategy strategy;    ///< its block's axes are set, the others are not
};
SearchUnit unit_of(const SearchSpace& space, const SearchPlan& plan, std::uint64_t index);

/// The strategies of a cut that differ in how stages and replicas lie on the devices.
void mappings_of(const Problem& problem, const SearchSpace& space, const Cut& cut,
                 std::vector<Strategy>& found);

/// The schedules that make a difference for a strategy.
inline bool takes_schedule(const Strategy& s, Schedule schedule) {
  return s.pp > 1 || schedule == Schedule::one_f_one_b;
}

/// Numbers of layers to recompute, of a stage under full recomputation: 0 (all), then 1, 2, …
std::vector<int> layer_counts(const Problem& problem, const SearchSpace& space,
                              const Strategy& strategy);

}  // namespace sextant
