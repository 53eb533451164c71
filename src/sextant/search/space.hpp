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

/// Every value that an axis of names has.
template <NamedEnum E>
std::vector<E> all_of() {
  std::vector<E> all;
  for (std::size_t i = 0; i < names_of(E{}).size(); ++i) all.push_back(static_cast<E>(i));
  return all;
}

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
  std::vector<Recompute> recompute = all_of<Recompute>();
  std::vector<RecomputeModules> modules{{}};
  std::vector<Schedule> schedule = all_of<Schedule>();
  std::vector<Order> order = all_of<Order>();
  std::vector<ContextKind> context = all_of<ContextKind>();
  std::vector<Precision> precision{Precision::bf16};
};

/// The axes by the names that describe(Strategy) has, for whoever fixes or bounds them.
template <class V>
void describe(V& v, SearchSpace& s) {
  v("tp", s.tp);
  v("pp", s.pp);
  v("dp", s.dp);
  v("cp", s.cp);
  v("ep", s.ep);
  v("etp", s.etp);
  v("microbatch", s.microbatch);
  v("interleave", s.interleave);
  v("zero", s.zero);
  v("shard", s.shard);
  v("offload", s.offload);
  v("context", s.context);
  v("order", s.order);
  v("sp", s.sp);
  v("schedule", s.schedule);
  v("recompute", s.recompute);
  v("recompute_layers", s.recompute_layers);
  v("precision", s.precision);
}

/// Leaves what the runtime has: schedules, and chunks a stage. Who wants others says so after this.
void keep_schedules(SearchSpace& space, const Runtime& runtime);

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

/// A block's axes with those of a mapping.
inline Strategy with_mapping(Strategy s, const Strategy& mapping) {
  s.pp = mapping.pp;
  s.dp = mapping.dp;
  s.interleave = mapping.interleave;
  s.zero = mapping.zero;
  s.shard = mapping.shard;
  s.offload = mapping.offload;
  s.order = mapping.order;
  return s;
}

/// Whether two mappings deal layers and microbatches to stages alike.
inline bool dealt_alike(const Strategy& a, const Strategy& b) {
  return a.pp == b.pp && a.dp == b.dp && a.interleave == b.interleave;
}

/// The schedules that make a difference for a strategy.
inline bool takes_schedule(const Strategy& s, Schedule schedule) {
  return s.pp > 1 || schedule == Schedule::one_f_one_b;
}

/// Numbers of layers to recompute, of a stage under full recomputation: 0 (all), then 1, 2, …
std::vector<int> layer_counts(const Problem& problem, const SearchSpace& space,
                              const Strategy& strategy);

}  // namespace sextant
