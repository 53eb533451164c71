// SPDX-License-Identifier: Apache-2.0
#include "sextant/tech/allocate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double mebibyte = 1024.0 * 1024;
constexpr double same_answer = 0.005;
// V100 has 77 KiB of cache a core, the least of all devices whose kernels were measured; below, the
// kernel model is not to be believed.
constexpr Bytes least_l2{75 * 1024.0};

/// The choices that are moved; the rest of the budget stays.
struct Choice {
  double l2 = 0;  ///< MiB
  int stacks = 1;
  int links = 2;
  double clock = 1;  ///< share of the design clock
};

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
    ++evaluations_;
    const std::optional<Blueprint> made = try_generate(t_, budget_of(c));
    if (!made || made->device.l2.capacity < made->device.cores * least_l2) return infinite;
    const double v = objective_(*made);
    return std::isfinite(v) ? v : infinite;
  }

  /// Takes the best of all moves, large and small, while one helps.
  double descend(Choice& at) {
    double best = value(at);
    for (bool better = true; better;) {
      better = false;
      const Choice from = at;
      for (const double step : {1.0, 0.5, 0.25, 0.12, 0.06, 0.03, 0.015}) {
        for (const Choice& c : neighbours(from, step)) {
          const double v = value(c);
          if (!(v < best * (1 - 1e-6))) continue;
          best = v;
          at = c;
          better = true;
        }
      }
    }
    return best;
  }

  void set_design(Hertz f) { design_ = f; }
  int evaluations() const { return evaluations_; }

 private:
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
    for (const double sign : {1.0, -1.0}) {
      const double factor = sign > 0 ? 1 + step : 1 / (1 + step);
      if (space_.l2) add([&](Choice& c) { c.l2 = std::max(1.0, std::round(c.l2 * factor)); });
      if (space_.stacks) {
        const double d = sign * std::max(1.0, std::round(at.stacks * step));
        add([&](Choice& c) { c.stacks = whole(c.stacks + d, 1); });
      }
      if (space_.links) {
        const double d = sign * std::max(1.0, std::round(at.links * step));
        add([&](Choice& c) { c.links = whole(c.links + d, space_.least_links); });
      }
      if (space_.clock) add([&](Choice& c) { c.clock = std::clamp(c.clock * factor, 0.35, 1.0); });
      // Cache exchanges area with memory places, or with links.
      if (space_.l2 && space_.stacks) {
        add([&](Choice& c) {
          c.stacks = whole(c.stacks + sign, 1);
          c.l2 = std::max(1.0, std::round(c.l2 / factor));
        });
      }
      if (space_.l2 && space_.links) {
        const double d = sign * std::max(1.0, std::round(at.links * step));
        add([&](Choice& c) {
          c.links = whole(c.links + d, space_.least_links);
          c.l2 = std::max(1.0, std::round(c.l2 / factor));
        });
      }
      // Memory places and links exchange edge.
      if (space_.stacks && space_.links) {
        const double d = sign * std::max(1.0, std::round(at.links * step));
        add([&](Choice& c) {
          c.links = whole(c.links + d, space_.least_links);
          c.stacks = whole(c.stacks - sign, 1);
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
  int evaluations_ = 0;
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
  for (Choice c : starts(first, space)) {
    const double v = search.descend(c);
    if (!std::isfinite(v)) continue;
    values.push_back(v);
    if (v < out.value) {
      out.value = v;
      best = c;
    }
  }
  out.budget = search.budget_of(best);
  out.blueprint = generate(technology, out.budget);
  out.evaluations = search.evaluations();
  out.starts = static_cast<int>(values.size());
  for (const double v : values) {
    out.spread = std::max(out.spread, v / out.value - 1);
    if (v <= out.value * (1 + same_answer)) ++out.agreeing;
  }
  return out;
}

}  // namespace sextant
