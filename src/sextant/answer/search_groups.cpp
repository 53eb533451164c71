// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/search_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "sextant/answer/search.hpp"
#include "sextant/io/errors.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

/// Axes that someone has to set. Replicas, the microbatch and the type are of any strategy.
int axes_set(const Strategy& s) {
  Strategy plain;
  plain.dp = s.dp;
  plain.microbatch = s.microbatch;
  plain.precision = s.precision;
  int count = 0;
  const auto* const from = reinterpret_cast<const char*>(&s);
  const auto* const other = reinterpret_cast<const char*>(&plain);
  auto compare = [&](std::string_view, auto& value, const Field&) {
    const auto* const at = reinterpret_cast<const char*>(&value);
    if (std::memcmp(at, other + (at - from), sizeof value) != 0) ++count;
  };
  describe(compare, const_cast<Strategy&>(s));
  return count;
}

// What the runtime would have to hide is an axis, too.
int axes_set(const Found& f) { return axes_set(f.strategy) + (f.variant > 0 ? 1 : 0); }
int axes_set(const ServingFound& f) { return axes_set(f.strategy); }

std::string summary_of(const TrainingSearch& asked, const Found& f) {
  return name_of_found(asked, f);
}
std::string summary_of(const ServingSearch&, const ServingFound& f) { return name_of_found(f); }

template <class Search, class Item>
UnmeasuredOfEach each_unmeasured(const Search& asked, const std::vector<Item>& found) {
  UnmeasuredOfEach all;
  for (const Item& f : found) {
    const Likeness like = likeness_of(asked, f);
    all.push_back(unmeasured_of(measured_errors(), like.question, like.choices));
  }
  return all;
}

template <class Search, class Item>
std::vector<Alike> grouped(const Search& asked, const std::vector<Item>& best) {
  struct Ranked {
    Contender contender;
    std::size_t unmeasured = 0;
    int axes = 0;
    bool before(const Ranked& other) const {
      return std::pair(unmeasured, axes) < std::pair(other.unmeasured, other.axes);
    }
  };
  std::vector<Ranked> all;
  for (const Item& f : best) {
    const std::optional<Contender> c = contender_of(asked, f);
    if (!c) return {};
    const Interval i = interval_of(measured_errors(), c->likeness);
    all.push_back({*c, i.unmeasured.size(), axes_set(f)});
  }
  const auto chance = [&](std::size_t a, std::size_t b) {
    return relate(measured_errors(), all[a].contender, all[b].contender).chance_faster;
  };
  std::vector<Alike> groups;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (groups.empty() || chance(groups.back().first, i) >= surely) {
      groups.push_back({.first = i, .last = i, .recommended = i});
    }
    Alike& g = groups.back();
    g.last = i + 1;
    g.nearer = g.nearer || all[i].unmeasured != all[g.recommended].unmeasured;
    if (all[i].before(all[g.recommended])) g.recommended = i;
  }
  for (Alike& g : groups) {
    g.chance = chance(g.first, g.recommended);
    g.summary = summary_of(asked, best[g.recommended]);
  }
  return groups;
}

}  // namespace

Likeness likeness_of(const TrainingSearch& asked, const Found& f) {
  const Problem& p = asked.variants[static_cast<std::size_t>(f.variant)].problem;
  return likeness_of(Asked::train, known_as(asked.scenario.system), p, f.strategy);
}
Likeness likeness_of(const ServingSearch& asked, const ServingFound& f) {
  const Scenario& s = asked.scenario;
  return likeness_of(Asked::infer, known_as(s.system), s.problem, f.strategy);
}

std::optional<Contender> contender_of(const TrainingSearch& asked, const Found& f) {
  const TrainingObjective sought = asked.aim.objective;
  if (sought == TrainingObjective::memory || sought == TrainingObjective::energy) return {};
  return Contender{likeness_of(asked, f), f.score};
}

std::optional<Contender> contender_of(const ServingSearch& asked, const ServingFound& f) {
  switch (asked.aim.objective) {
    case ServingObjective::devices:  // what it takes is sure; that the limits hold is not
      return {};
    case ServingObjective::latency:
      return Contender{likeness_of(asked, f), f.estimate.latency.value};
    case ServingObjective::throughput:
      break;
  }
  return Contender{likeness_of(asked, f), f.devices() / f.tokens_per_second()};
}

UnmeasuredOfEach unmeasured_of(const TrainingSearch& asked, const std::vector<Found>& found) {
  return each_unmeasured(asked, found);
}
UnmeasuredOfEach unmeasured_of(const ServingSearch& asked, const std::vector<ServingFound>& found) {
  return each_unmeasured(asked, found);
}

void mark(Records& rows, const UnmeasuredOfEach& of_each) {
  const bool any =
      std::any_of(of_each.begin(), of_each.end(), [](const auto& one) { return !one.empty(); });
  const auto add = [&](Record& row, const std::vector<Unmeasured>& unmeasured) {
    std::string axes;
    for (const Unmeasured& u : unmeasured) axes += (axes.empty() ? "" : ", ") + u.axis;
    row("unmeasured", std::move(axes), any ? "never measured so" : "");
  };
  for (std::size_t i = 0; i < of_each.size(); ++i) add(rows.rows[i], of_each[i]);
  if (rows.sample) add(*rows.sample, {});
}

std::vector<Alike> groups_of(const TrainingSearch& asked, const std::vector<Found>& best) {
  return grouped(asked, best);
}
std::vector<Alike> groups_of(const ServingSearch& asked, const std::vector<ServingFound>& best) {
  return grouped(asked, best);
}

std::optional<Found> measured_instead(const TrainingSearch& asked, const SearchResult& result,
                                      const std::vector<Alike>& groups) {
  if (groups.empty()) return {};
  const auto count = [&](const Found& f) { return unmeasured_of(asked, {f}).front().size(); };
  std::size_t fewest = count(result.best[groups.front().recommended]);
  if (fewest == 0) return {};
  const std::optional<Contender> first = contender_of(asked, result.best.front());
  std::optional<Found> nearest;
  for (const std::vector<Found>* others : {&result.pareto, &result.sample}) {
    for (const Found& f : *others) {
      const std::size_t n = count(f);
      if (n > fewest || (n == fewest && (!nearest || f.score >= nearest->score))) continue;
      const Relation r = relate(measured_errors(), *first, *contender_of(asked, f));
      if (r.chance_faster >= surely) continue;
      nearest = f;
      fewest = n;
    }
  }
  return nearest;
}

void add(Answer& a, const std::vector<Alike>& groups) {
  a.list("groups", "Alike", records_of(groups, [](Record& r, const Alike& g) {
           r("first", g.first + 1);
           r("last", g.last);
           r("recommended", g.recommended + 1);
           r("summary", g.summary);
           r("probability_first_is_faster", g.chance);
         }));
}

void say(Answer& a, const std::vector<Alike>& groups) {
  const bool any = std::any_of(groups.begin(), groups.end(),
                               [](const Alike& g) { return g.last - g.first > 1; });
  if (!any) return;
  a.say("\nwhat cannot be told apart, by the errors of such predictions where someone measured");
  for (const Alike& g : groups) {
    if (g.last - g.first < 2) continue;
    std::string text =
        fmt::format("  {} to {}: {} is the simplest{} ({})", g.first + 1, g.last, g.recommended + 1,
                    g.nearer ? " of those nearest to what was measured" : "", g.summary);
    if (g.recommended != g.first) {
      text += fmt::format("; {} is faster with a probability of {}", g.first + 1,
                          format_percent(g.chance));
    }
    a.say(text);
  }
}

void say(Answer& a, const UnmeasuredOfEach& of_each) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::size_t>, std::less<>> ranks;
  for (std::size_t i = 0; i < of_each.size(); ++i) {
    for (const Unmeasured& u : of_each[i]) {
      if (!ranks.contains(u.sentence)) order.push_back(u.sentence);
      ranks[u.sentence].push_back(i + 1);
    }
  }
  if (!order.empty()) a.say("\nwhat lies outside of everything measured");
  for (const std::string& sentence : order) {
    const std::vector<std::size_t>& of = ranks[sentence];
    a.say(fmt::format(
        "  {} ({})", sentence,
        of.size() == of_each.size() ? std::string("all") : fmt::format("{}", fmt::join(of, ", "))));
  }
}

}  // namespace sextant
