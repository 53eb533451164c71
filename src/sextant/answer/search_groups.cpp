// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/search_groups.hpp"

#include <cstring>

#include "sextant/answer/search.hpp"
#include "sextant/io/errors.hpp"

namespace sextant {
namespace {

/// Axes that someone has to set. Replicas, the microbatch and the type are of any strategy.
int axes_set(const Found& f) {
  const Strategy& s = f.strategy;
  Strategy plain;
  plain.dp = s.dp;
  plain.microbatch = s.microbatch;
  plain.precision = s.precision;
  int count = f.variant > 0 ? 1 : 0;  // what the runtime would have to hide
  const auto* const from = reinterpret_cast<const char*>(&s);
  const auto* const other = reinterpret_cast<const char*>(&plain);
  auto compare = [&](std::string_view, auto& value, const Field&) {
    const auto* const at = reinterpret_cast<const char*>(&value);
    if (std::memcmp(at, other + (at - from), sizeof value) != 0) ++count;
  };
  describe(compare, const_cast<Strategy&>(s));
  return count;
}

}  // namespace

bool is_time(TrainingObjective objective) {
  return objective != TrainingObjective::memory && objective != TrainingObjective::energy;
}

Contender contender_of(const TrainingSearch& asked, const Found& f) {
  const Problem& p = asked.variants[static_cast<std::size_t>(f.variant)].problem;
  return {likeness_of(Asked::train, asked.scenario.system.device.name, p, f.strategy), f.score};
}

std::vector<Alike> groups_of(const TrainingSearch& asked, const std::vector<Found>& best) {
  std::vector<Alike> groups;
  if (!is_time(asked.aim.objective)) return groups;
  const Errors& errors = measured_errors();
  const auto chance = [&](std::size_t a, std::size_t b) {
    return chance_faster(errors, contender_of(asked, best[a]), contender_of(asked, best[b]));
  };
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (groups.empty() || chance(groups.back().first, i) >= surely) {
      groups.push_back({.first = i, .last = i, .simplest = i});
    }
    Alike& g = groups.back();
    g.last = i + 1;
    if (axes_set(best[i]) < axes_set(best[g.simplest])) g.simplest = i;
  }
  for (Alike& g : groups) {
    g.chance = chance(g.first, g.simplest);
    g.summary = name_of_found(asked, best[g.simplest]);
  }
  return groups;
}

}  // namespace sextant
