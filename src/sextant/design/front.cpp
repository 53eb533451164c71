// SPDX-License-Identifier: Apache-2.0
#include "sextant/design/front.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

#include "sextant/search/parallel.hpp"
#include "sextant/spec/diagnostic.hpp"
#include "sextant/tech/spread.hpp"

namespace sextant::design {
namespace {

constexpr double mebibyte = 1024.0 * 1024;
// Seconds of work: a design takes about a millisecond.
constexpr int first_points = 1500;
constexpr std::size_t most_points = 6000;
constexpr std::size_t parents = 40;  // of a generation

/// A design as a point of the unit cube, so that points can be spread and moved alike.
constexpr std::size_t dimensions = 7;
using Place = std::array<double, dimensions>;

constexpr std::array<int, 3> die_counts = {1, 2, 4};
constexpr int most_links = 36;         // twice B200's
constexpr int most_stacks_a_die = 8;   // more of HBM than a full reticle's sides hold
constexpr double least_area = 100e-6;  // of a die
constexpr double least_power = 0.35;   // of what the full clock needs

Place halton(int n) {
  constexpr std::array<int, dimensions> primes = {2, 3, 5, 7, 11, 13, 17};
  Place p{};
  for (std::size_t d = 0; d < dimensions; ++d) p[d] = mirrored(n, primes[d]);
  return p;
}

/// So many equal parts of the unit: which one.
std::size_t part(double share, std::size_t parts) {
  return std::min(static_cast<std::size_t>(share * static_cast<double>(parts)), parts - 1);
}
int count(double share, int least, int most) {
  const int choices = most - least + 1;
  return least + static_cast<int>(part(share, static_cast<std::size_t>(choices)));
}

/// What tells designs apart.
using Key = std::tuple<std::size_t, int, double, int, int, double, double>;

class Builder {
 public:
  Builder(const Workload& w, const std::vector<Technology>& technologies, const Budget& budget,
          const Freedom& freedom, const std::vector<Respect>& respects)
      : w_(w), technologies_(technologies), budget_(budget), free_(freedom), respects_(respects) {
    w_.goal = Goal::time;
  }

  /// What a place stands for; whole numbers where there are whole things.
  Design design_at(const Place& p) const {
    Design d;
    d.technology = part(p[0], technologies_.size());
    Budget& b = d.budget = budget_;
    if (free_.dies) b.dies = die_counts[part(p[1], die_counts.size())];
    if (free_.area) {
      const double area = least_area + p[2] * (reticle.value - least_area);
      b.area = SquareMeters(std::floor(area * 1e5) * 1e-5);  // to 10 mm2
    }
    if (free_.stacks) {
      const int most = most_parts(technologies_[d.technology], b);
      b.stacks = count(p[3], 1, std::max(most, most_stacks_a_die * b.dies));
    }
    if (free_.links) b.links = count(p[4], 2, most_links);
    if (free_.l2) {
      // From 4 MiB to ten times A100's share, by octaves.
      const double all = 800 * b.dies * b.area / reticle;
      b.l2 = Bytes(mebibyte *
                   std::round(std::exp2(std::lerp(2, std::log2(std::max(8.0, all)), p[5]))));
    }
    return d;
  }
  Key key_of(const Design& d, const Place& p) const {
    return {d.technology,   d.budget.dies,     d.budget.area.value, d.budget.stacks,
            d.budget.links, d.budget.l2.value, power_share(p)};
  }

  /// Builds and prices it; no values where it cannot be built or cannot run the workload.
  void evaluate(Design& d, const Place& p) const {
    const Technology& t = technologies_[d.technology];
    std::optional<Blueprint> made = try_generate(t, d.budget);
    if (!made || has_small_cache(made->device)) return;
    if (free_.power) {
      d.budget.power = power_share(p) * made->natural_power;
      made = try_generate(t, d.budget);
      if (!made) return;
    }
    d.blueprint = std::move(*made);
    const double time = objective_of(w_, t)(d.blueprint);
    if (!std::isfinite(time)) return;
    for (const Respect r : respects_) d.values.push_back(value_of(r, d, time));
  }

 private:
  double power_share(const Place& p) const {
    return free_.power ? std::round(100 * std::lerp(least_power, 1, p[6])) / 100 : 1;
  }

  double value_of(Respect r, const Design& d, double time) const {
    switch (r) {
      case Respect::cost:
        return d.blueprint.cost().value;
      case Respect::power:
        return d.blueprint.device.power.limit.value;
      case Respect::area:
        return d.blueprint.device.die.area.value;
      case Respect::energy:
        return outcome_on(w_, technologies_[d.technology], d.blueprint).energy.value;
      default:
        return time;
    }
  }

  Workload w_;
  const std::vector<Technology>& technologies_;
  const Budget& budget_;
  Freedom free_;
  const std::vector<Respect>& respects_;
};

bool no_worse(const std::vector<double>& a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
  }
  return true;
}

class Search {
 public:
  explicit Search(const Builder& builder) : builder_(builder) {}

  void run() {
    std::vector<Place> places;
    for (int i = 1; i <= first_points; ++i) places.push_back(halton(i));
    add(places);
    for (const double step : {0.12, 0.05, 0.02, 0.008}) {
      for (bool better = true; better && tried_.size() < most_points;) better = refine(step);
    }
  }

  struct Entry {
    Design design;
    Place place{};
  };
  std::vector<Entry>& front() { return front_; }
  int evaluations() const { return static_cast<int>(tried_.size()); }
  int built() const { return built_; }

 private:
  /// Evaluates what is new, all at once, and keeps what nothing is better than; whether any stayed.
  bool add(const std::vector<Place>& places) {
    std::vector<Entry> fresh;
    for (const Place& p : places) {
      Entry e{builder_.design_at(p), p};
      if (tried_.insert(builder_.key_of(e.design, p)).second) fresh.push_back(std::move(e));
    }
    const std::atomic<bool> stop{false};
    for_each_unit(threads_or_all(0), fresh.size(), stop,
                  [&](int, std::size_t i) { builder_.evaluate(fresh[i].design, fresh[i].place); });
    bool any = false;
    for (Entry& e : fresh) {
      if (e.design.values.empty()) continue;
      ++built_;
      any = keep(std::move(e)) || any;
    }
    return any;
  }

  bool keep(Entry e) {
    const std::vector<double>& v = e.design.values;
    const bool beaten = std::any_of(front_.begin(), front_.end(), [&](const Entry& other) {
      return no_worse(other.design.values, v);
    });
    if (beaten) return false;
    std::erase_if(front_, [&](const Entry& other) { return no_worse(v, other.design.values); });
    front_.push_back(std::move(e));
    return true;
  }

  /// Neighbours of some of the front, spread over it: one choice moved, or two against each other.
  bool refine(double step) {
    std::sort(front_.begin(), front_.end(),
              [](const Entry& a, const Entry& b) { return a.design.values < b.design.values; });
    std::vector<Place> places;
    const std::size_t stride = std::max<std::size_t>(1, front_.size() / parents);
    const std::size_t offset = generation_++ % stride;
    for (std::size_t i = offset; i < front_.size(); i += stride) {
      const Place at = front_[i].place;
      for (std::size_t d = 0; d < dimensions; ++d) {
        for (const double sign : {1.0, -1.0}) {
          Place one = at;
          one[d] = moved(d, at[d], sign * step);
          places.push_back(one);
          Place two = one;
          const std::size_t other = (d + 1 + generation_ % (dimensions - 1)) % dimensions;
          two[other] = moved(other, at[other], -sign * step);
          places.push_back(two);
        }
      }
    }
    return add(places);
  }

  /// A choice of few moves by one of them at least.
  static double moved(std::size_t dimension, double from, double step) {
    constexpr std::array<double, dimensions> coarse = {0.34, 0.34, 0, 0.06, 0.03, 0, 0};
    const double by = std::max(std::abs(step), coarse.at(dimension));
    return std::clamp(from + std::copysign(by, step), 0.0, 1.0 - 1e-9);
  }

  const Builder& builder_;
  std::vector<Entry> front_;
  std::set<Key> tried_;
  std::size_t generation_ = 0;
  int built_ = 0;
};

std::size_t balanced_of(const std::vector<Design>& designs) {
  std::size_t best = 0;
  double least = infinite;
  for (std::size_t i = 0; i < designs.size(); ++i) {
    double sum = 0;
    for (const double v : designs[i].values) sum += std::log(v);
    if (sum >= least) continue;
    least = sum;
    best = i;
  }
  return best;
}

}  // namespace

Dimension unit_of(Respect r) {
  constexpr std::array<Dimension, 5> units = {Dimension{.time = 1}, Dimension{.money = 1},
                                              Dimension{.time = -1, .energy = 1},
                                              Dimension{.energy = 1}, Dimension{.length = 2}};
  return units.at(static_cast<std::size_t>(r));
}

Front front_of(const Workload& w, const std::vector<Technology>& technologies, const Budget& budget,
               const Freedom& freedom, const std::vector<Respect>& respects) {
  const Builder builder(w, technologies, budget, freedom, respects);
  Search search(builder);
  search.run();
  Front f{.respects = respects,
          .designs = {},
          .evaluations = search.evaluations(),
          .built = search.built()};
  for (Search::Entry& e : search.front()) f.designs.push_back(std::move(e.design));
  if (f.designs.empty()) {
    throw_if_any(check(technologies.front(), budget));  // what was given may say why
    throw InputError("--pareto: none of " + std::to_string(f.evaluations) +
                         " designs can be built and runs the workload",
                     "give it more devices, or fix less");
  }
  std::sort(f.designs.begin(), f.designs.end(),
            [](const Design& a, const Design& b) { return a.values < b.values; });
  f.balanced = balanced_of(f.designs);
  return f;
}

std::vector<std::size_t> spread_over(const Front& f, std::size_t most) {
  std::set<std::size_t> chosen = {f.balanced};
  const std::size_t last = f.designs.size() - 1;
  if (last < most) {
    std::vector<std::size_t> all(f.designs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  const double low = std::log(f.designs.front().values.front());
  const double high = std::log(f.designs.back().values.front());
  for (std::size_t k = 0; k + 1 < most; ++k) {
    const double share = static_cast<double>(k) / static_cast<double>(most - 2);
    const double at = std::exp(std::lerp(low, high, share));
    const auto found =
        std::lower_bound(f.designs.begin(), f.designs.end(), at,
                         [](const Design& d, double value) { return d.values.front() < value; });
    const auto i = static_cast<std::size_t>(found - f.designs.begin());
    chosen.insert(std::min(i, last));
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace sextant::design
