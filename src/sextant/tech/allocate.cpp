// SPDX-License-Identifier: Apache-2.0
#include "sextant/tech/allocate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "sextant/spec/patience.hpp"
#include "sextant/tech/spread.hpp"

namespace sextant {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double mebibyte = 1024.0 * 1024;
constexpr double same_answer = 0.005;

/// The choices that are moved; the rest of the budget stays.
struct Choice {
  double l2 = 0;  ///< MiB
  int stacks = 1;
  int links = 2;
  double clock = 1;  ///< share of the design clock
  bool operator<(const Choice& o) const {
    return std::tie(l2, stacks, links, clock) < std::tie(o.l2, o.stacks, o.links, o.clock);
  }
};

// How fine a clock is chosen.
constexpr double clock_step = 0.005;
double to_step(double clock) {
  return std::clamp(std::round(clock / clock_step) * clock_step, 0.35, 1.0);
}

class Search {
 public:
  Search(const Technology& t, const Budget& limits, const Objective& objective,
         const AllocationSpace& space)
      : t_(t), limits_(limits), objective_(objective), space_(space) {}

  Budget budget_of(const Choice& c) const {
    Budget b = limits_;
    b.l2 = Bytes(c.l2 * mebibyte);
    b.stacks = c.stacks;
    b.links = c.links;
    // The design clock is what a device without a limit on its clock would have.
    if (c.clock < 1) b.clock = c.clock * design_;
    return b;
  }

  double value(const Choice& c) {
    Patience::check();
    const auto [found, is_new] = known_.try_emplace(c, infinite);
    if (!is_new) return found->second;
    const std::optional<Blueprint> made = try_generate(t_, budget_of(c));
    if (!made || has_small_cache(made->device)) return infinite;
    const double v = objective_(*made);
    if (std::isfinite(v)) found->second = v;
    return found->second;
  }

  /// Of all that was tried and is no worse than so much, the one with the fewest stacks: it is as
  /// good, and cheaper. By its pits alone the objective would ask for six on one node and for five
  /// on the next.
  Choice modest(Choice best, double most) const {
    const auto rank = [&](const Choice& c) {
      return std::tuple(std::max(0, space_.least_stacks - c.stacks), c.stacks, known_.at(c));
    };
    for (const auto& [c, v] : known_) {
      if (v <= most && rank(c) < rank(best)) best = c;
    }
    return best;
  }

  /// Numbers of cores and of waves of tiles are whole, so that the objective has many small pits,
  /// and often one for a large cache and one for a small one. A start leaves its pit by looking at
  /// points spread evenly around it, other ones than any other start, nearer and nearer; it
  /// descends from the best with much more cache, with much less and with about as much while that
  /// helps.
  double settle(Choice& at, int start) {
    double best = descend(at);
    if (!std::isfinite(best)) return best;
    int index = start * 100000;
    bool far = true;  // once: worse points a long way off, which may lie above a deeper pit
    for (const double reach : {1.0, 0.4, 0.15}) {
      for (bool better = true; better;) {
        better = false;
        for (Choice c : best_around(at, index, reach, std::exchange(far, false))) {
          const double v = descend(c);
          if (!(v < best * (1 - 1e-6))) continue;
          best = v;
          at = c;
          better = true;
        }
      }
    }
    return best;
  }

  /// Takes the best of the largest moves that help, while one does.
  double descend(Choice& at) {
    double best = value(at);
    for (bool better = true; better;) {
      better = false;
      const Choice from = at;
      for (const double step : {1.0, 0.4, 0.15, 0.05, 0.02}) {
        for (const Choice& c : neighbours(from, step)) {
          const double v = value(c);
          if (!(v < best * (1 - 1e-6))) continue;
          best = v;
          at = c;
          better = true;
        }
        if (better) break;
      }
    }
    return best;
  }

  void set_design(Hertz f) { design_ = f; }
  int evaluations() const { return static_cast<int>(known_.size()); }

 private:
  static constexpr int samples = 36;
  static constexpr std::size_t middle = 2;

  /// The best of some points of the box of `reach` for every octave of cache; none that cannot run,
  /// and far ones even where they are worse than `at`.
  std::vector<Choice> best_around(const Choice& at, int& index, double reach, bool far) {
    std::array<Choice, 5> found{};
    std::array<double, 5> least{infinite, infinite, value(at), infinite, infinite};
    const double here = least[middle];
    for (int i = 0; i < samples; ++i) {
      const Choice c = around(at, ++index, reach);
      const double octaves = std::clamp(std::round(std::log2(c.l2 / at.l2)), -2.0, 2.0);
      const auto band = static_cast<std::size_t>(octaves + middle);
      const double v = value(c);
      if (!(v < least.at(band))) continue;
      least.at(band) = v;
      found.at(band) = c;
    }
    std::vector<Choice> list;
    for (std::size_t band = 0; band < found.size(); ++band) {
      if (least.at(band) < (far && band != middle ? infinite : here))
        list.push_back(found.at(band));
    }
    return list;
  }

  /// The `index`-th point of a sequence that fills the box of `reach` around a choice.
  Choice around(const Choice& at, int index, double reach) const {
    const auto spread = [&](int base) { return reach * (2 * mirrored(index, base) - 1); };
    Choice c = at;
    if (space_.l2) c.l2 = std::max(1.0, std::round(at.l2 * std::exp2(2.5 * spread(2))));
    if (space_.stacks)
      c.stacks = std::max(1, at.stacks + static_cast<int>(std::lround(3 * spread(3))));
    if (space_.links) {
      const double links = at.links * std::exp2(spread(5));
      c.links = std::max(space_.least_links, static_cast<int>(std::lround(links)));
    }
    if (space_.clock) c.clock = to_step(at.clock * std::exp2(0.5 * spread(7)));
    return c;
  }

  std::vector<Choice> neighbours(const Choice& at, double step) const {
    std::vector<Choice> list;
    const auto add = [&](auto change) {
      Choice c = at;
      change(c);
      list.push_back(c);
    };
    const auto whole = [](double x, int least) {
      return std::max(least, static_cast<int>(std::lround(x)));
    };
    const auto set_l2 = [](Choice& c, double x) { c.l2 = std::max(1.0, std::round(x)); };
    const auto add_stacks = [&](Choice& c, double n) { c.stacks = whole(c.stacks + n, 1); };
    const auto add_links = [&](Choice& c, double sign) {
      const double n = sign * std::max(1.0, std::round(at.links * step));
      c.links = whole(c.links + n, space_.least_links);
    };
    for (const double sign : {1.0, -1.0}) {
      const double factor = sign > 0 ? 1 + step : 1 / (1 + step);
      if (space_.l2) add([&](Choice& c) { set_l2(c, c.l2 * factor); });
      if (space_.stacks) {
        add([&](Choice& c) { add_stacks(c, sign * std::max(1.0, std::round(at.stacks * step))); });
      }
      if (space_.links) add([&](Choice& c) { add_links(c, sign); });
      if (space_.clock) add([&](Choice& c) { c.clock = to_step(c.clock * factor); });
      // Cache exchanges area with memory places, or with links.
      if (space_.l2 && space_.stacks) {
        add([&](Choice& c) {
          add_stacks(c, sign);
          set_l2(c, c.l2 / factor);
        });
      }
      if (space_.l2 && space_.links) {
        add([&](Choice& c) {
          add_links(c, sign);
          set_l2(c, c.l2 / factor);
        });
      }
      // Memory places and links exchange edge.
      if (space_.stacks && space_.links) {
        add([&](Choice& c) {
          add_links(c, sign);
          add_stacks(c, -sign);
        });
      }
    }
    return list;
  }

  const Technology& t_;
  const Budget& limits_;
  const Objective& objective_;
  AllocationSpace space_;
  Hertz design_{0};
  std::map<Choice, double> known_;  ///< what was tried; starts meet
};

/// Starts that lie apart, all of which keep what the space does not move.
std::vector<Choice> starts(const Choice& usual, const AllocationSpace& s) {
  std::vector<Choice> list = {usual};
  for (const double scale : {0.25, 0.5, 1.5, 2.5}) {
    Choice c = usual;
    if (s.l2) c.l2 = std::max(1.0, std::round(usual.l2 * scale));
    if (s.stacks) c.stacks = std::max(1, static_cast<int>(usual.stacks * std::min(1.0, scale)));
    if (s.links) {
      c.links = std::max(s.least_links, static_cast<int>(usual.links * std::min(1.3, scale)));
    }
    if (s.clock) c.clock = scale < 1 ? 0.6 : 0.9;
    list.push_back(c);
  }
  return list;
}

}  // namespace

Objective over_core_counts(Objective objective, int points, double reach, double shift) {
  return [objective = std::move(objective), points, reach, shift](const Blueprint& d) {
    double sum = 0;
    for (int i = 0; i < points; ++i) {
      const double at = 2 * (i + 0.5 + shift) / points - 1;
      const int cores =
          std::max(1, static_cast<int>(std::lround(d.device.cores * (1 + reach * at))));
      sum += objective(cores == d.device.cores ? d : with_cores(d, cores));
    }
    return sum / points;
  };
}

Allocation allocate(const Technology& technology, const Budget& limits, const Objective& objective,
                    const AllocationSpace& space) {
  const Blueprint usual = generate(technology, limits);
  Search search(technology, limits, objective, space);
  search.set_design(usual.design_clock);
  Allocation out;
  std::vector<double> values;
  out.value = infinite;
  const Choice first{.l2 = std::round(usual.device.l2.capacity.value / mebibyte),
                     .stacks = usual.stacks,
                     .links = usual.links};
  Choice best = first;
  int start = 0;
  for (Choice c : starts(first, space)) {
    const double v = search.settle(c, ++start);
    if (!std::isfinite(v)) continue;
    values.push_back(v);
    if (v < out.value) {
      out.value = v;
      best = c;
    }
  }
  for (const double v : values) {
    out.spread = std::max(out.spread, v / out.value - 1);
    if (v <= out.value * (1 + same_answer)) ++out.agreeing;
  }
  if (std::isfinite(out.value)) {
    best = search.modest(best, out.value * (1 + space.as_good));
    out.value = search.value(best);
  }
  out.budget = search.budget_of(best);
  out.blueprint = generate(technology, out.budget);
  out.evaluations = search.evaluations();
  out.starts = static_cast<int>(values.size());
  return out;
}

}  // namespace sextant
