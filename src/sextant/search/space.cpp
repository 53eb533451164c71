// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/space.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>

#include "sextant/predict/layout.hpp"
#include "sextant/spec/diagnostic.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {

std::vector<int> divisors(int n) {
  std::vector<int> low;
  std::vector<int> high;
  for (int d = 1; static_cast<std::int64_t>(d) * d <= n; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d != n / d) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

std::vector<int> values_of(const Choices& c, std::vector<int> usual) {
  if (!c.only.empty()) usual = c.only;
  std::erase_if(usual, [&](int v) { return !c.allows(v); });
  return usual;
}

/// Whether groups that share states are looked at beside their absence.
bool has_none(const Choices& shard) { return contains(shard.only, 0) && shard.allows(0); }

void keep_schedules(SearchSpace& space, const Runtime& runtime) {
  const Schedules& has = runtime.schedules;
  std::erase_if(space.schedule, [&](Schedule x) {
    return (x == Schedule::gpipe && !has.gpipe) ||
           (x == Schedule::zero_bubble && !has.zero_bubble) ||
           (x == Schedule::zero_bubble_v && !has.zero_bubble_v) ||
           (x == Schedule::dual_pipe && !has.dual_pipe);
  });
  if (!has.interleaved) space.interleave.only = {1};
}

namespace {

void require(bool ok, std::string_view axis, std::string_view why) {
  if (ok) return;
  throw InputError("search: no value of " + std::string(axis) + " is left: " + std::string(why),
                   "loosen --fix or --limit");
}

std::vector<int> expert_degrees(const Problem& p, const Choices& c, int all) {
  return values_of(c, p.model.experts.count > 0 ? divisors(all) : std::vector<int>{1});
}

auto as_tuple(const Cut& c) { return std::tuple(c.precision, c.tp, c.cp, c.ep, c.etp); }

/// Each once: device counts have cuts in common.
std::vector<Cut> cuts_of(const Problem& p, const SearchSpace& space) {
  const std::vector<int> ep = expert_degrees(p, space.ep, std::max(1, p.model.experts.count));
  require(!ep.empty(), "ep", "divisors of the experts");
  std::vector<Cut> cuts;
  const auto add = [&](int tp, int cp) {
    for (const int e : ep) {
      for (const int etp : expert_degrees(p, space.etp, tp)) {
        for (const Precision precision : space.precision)
          cuts.push_back({tp, cp, e, etp, precision});
      }
    }
  };
  for (const int devices : space.devices) {
    for (const int tp : values_of(space.tp, divisors(devices))) {
      if (devices % tp != 0) continue;
      for (const int cp : values_of(space.cp, divisors(devices / tp))) add(tp, cp);
    }
  }
  const auto before = [](const Cut& a, const Cut& b) { return as_tuple(a) < as_tuple(b); };
  const auto same = [](const Cut& a, const Cut& b) { return as_tuple(a) == as_tuple(b); };
  std::sort(cuts.begin(), cuts.end(), before);
  cuts.erase(std::unique(cuts.begin(), cuts.end(), same), cuts.end());
  return cuts;
}

/// Divisors of a stage's layers; where stages differ, of the fewest and of the most. Embedding and
/// loss may be a layer each (126 layers on 16 stages, 8 chunks of one).
std::vector<int> interleaves(const Problem& p, const SearchSpace& space, int pp) {
  const int layers = p.model.layers;
  std::vector<int> all = {1};
  if (pp > 1 && pp <= layers) {
    all = divisors(layers / pp);
    if (layers % pp != 0) {
      for (const int n : divisors(layers / pp + 1)) {
        if (static_cast<std::int64_t>(pp) * n <= layers + 2) all.push_back(n);
      }
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
    }
  }
  return values_of(space.interleave, std::move(all));
}

/// Without context parallelism there is nothing to move, one way or the other.
std::size_t context_kinds(const SearchSpace& space, const Cut& cut) {
  return cut.cp == 1 ? 1 : space.context.size();
}

std::uint64_t units_of(const SearchSpace& space, const SearchPlan& plan, const Cut& cut) {
  return plan.microbatches.size() * space.sp.size() * context_kinds(space, cut) *
         space.recompute.size() * space.modules.size();
}

/// Points of a mapping in one unit of its cut, averaged over the units: their recomputations
/// differ.
double points_of(const Problem& p, const SearchSpace& space, const Strategy& mapping) {
  double schedules = 0;
  for (const Schedule schedule : space.schedule) {
    if (takes_schedule(mapping, schedule)) ++schedules;
  }
  double kinds = 0;
  Strategy s = mapping;
  for (const Recompute recompute : space.recompute) {
    s.recompute = recompute;
    kinds += static_cast<double>(layer_counts(p, space, s).size());
  }
  return schedules * kinds;
}

}  // namespace

void mappings_of(const Problem& p, const SearchSpace& space, const Cut& cut,
                 std::vector<Strategy>& found) {
  found.clear();
  Strategy s{.tp = cut.tp, .cp = cut.cp, .ep = cut.ep, .etp = cut.etp, .precision = cut.precision};
  const std::int64_t inner = static_cast<std::int64_t>(cut.tp) * cut.cp;
  for (const int devices : space.devices) {
    if (devices % inner != 0) continue;
    const int rest = static_cast<int>(devices / inner);
    for (const int pp : values_of(space.pp, divisors(rest))) {
      if (rest % pp != 0) continue;
      s.pp = pp;
      s.dp = rest / pp;
      const bool given = space.dp.only.empty() || contains(space.dp.only, s.dp);
      if (!given || !space.dp.allows(s.dp)) continue;
      const bool replicas = static_cast<std::int64_t>(s.dp) * s.cp * s.tp > s.ep;
      // Which of stages and replicas are neighbours matters where a node has room for both.
      const bool ordered = s.pp > 1 && s.dp > 1 && inner < p.network.devices_per_node;
      for (const int interleave : interleaves(p, space, pp)) {
        s.interleave = interleave;
        for (const int zero : values_of(space.zero, {0, 1, 2, 3})) {
          // States of one replica have nobody to be shared with.
          if (zero > 0 && space.zero.only.empty() && (!replicas || s.dp * s.cp == 1)) continue;
          s.zero = zero;
          for (const int shard : values_of(space.shard, {0})) {
            // A group of all replicas, or of those that share nothing, is none.
            const bool none = zero == 0 || shard == s.dp;
            if (shard != 0 && none && has_none(space.shard)) continue;
            s.shard = shard;
            for (const bool offload : space.offload) {
              s.offload = offload;
              for (const Order order : space.order) {
                if (!ordered && order != space.order.front()) continue;
                s.order = order;
                found.push_back(s);
              }
            }
          }
        }
      }
    }
  }
}

std::vector<int> layer_counts(const Problem& p, const SearchSpace& space, const Strategy& s) {
  if (s.recompute != Recompute::full) return {0};
  std::vector<int> all = {0};
  const int layers = static_cast<int>(std::ceil(static_cast<double>(p.model.layers) / s.pp));
  for (int n = 1; n < layers; ++n) all.push_back(n);
  return values_of(space.recompute_layers, std::move(all));
}

SearchPlan lay_out(const Problem& p, const SearchSpace& space) {
  require(!space.devices.empty(), "gpus", "give a number of devices");
  require(!space.sp.empty() && !space.recompute.empty() && !space.schedule.empty() &&
              !space.order.empty() && !space.context.empty() && !space.precision.empty(),
          "a choice", "every one was excluded");
  SearchPlan plan;
  plan.cuts = cuts_of(p, space);
  require(!plan.cuts.empty(), "tp or cp", "their products must divide the devices");
  require(!values_of(space.zero, {0, 1, 2, 3}).empty(), "zero", "0 to 3");
  plan.microbatches = values_of(space.microbatch, divisors(p.work.batch));
  require(!plan.microbatches.empty(), "microbatch", "divisors of the batch");
  std::vector<Strategy> mappings;
  std::vector<Cut> used;
  for (Cut& cut : plan.cuts) {
    mappings_of(p, space, cut, mappings);
    if (mappings.empty()) continue;
    cut.first_unit = plan.units;
    const std::uint64_t units = units_of(space, plan, cut);
    plan.units += units;
    double each = 0;
    for (const Strategy& m : mappings) each += points_of(p, space, m);
    plan.points += each * static_cast<double>(units) / static_cast<double>(space.recompute.size());
    used.push_back(cut);
  }
  plan.cuts = std::move(used);
  require(plan.points > 0, "pp or dp", "tp x cp x pp x dp must be the devices");
  return plan;
}

SearchUnit unit_of(const SearchSpace& space, const SearchPlan& plan, std::uint64_t index) {
  const auto after =
      std::upper_bound(plan.cuts.begin(), plan.cuts.end(), index,
                       [](std::uint64_t i, const Cut& c) { return i < c.first_unit; });
  const Cut& cut = *(after - 1);
  std::uint64_t rest = index - cut.first_unit;
  const auto next = [&](std::size_t count) {
    const std::size_t digit = rest % count;
    rest /= count;
    return digit;
  };
  SearchUnit unit;
  unit.cut = static_cast<std::size_t>(after - 1 - plan.cuts.begin());
  Strategy& s = unit.strategy;
  s.tp = cut.tp;
  s.cp = cut.cp;
  s.ep = cut.ep;
  s.etp = cut.etp;
  s.precision = cut.precision;
  s.modules = space.modules[next(space.modules.size())];
  s.recompute = space.recompute[next(space.recompute.size())];
  s.context = space.context[next(context_kinds(space, cut))];
  s.sp = space.sp[next(space.sp.size())];
  s.microbatch = plan.microbatches[next(plan.microbatches.size())];
  return unit;
}

}  // namespace sextant
