// SPDX-License-Identifier: Apache-2.0
#include "sextant/scenario/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sextant/spec/patience.hpp"

namespace sextant {
namespace {

/// One thing that saves memory; false where the strategy has it already or cannot have it.
struct Change {
  std::string name;
  std::function<bool(Strategy&)> make;
};

// Twice as many ranks share a replica: half the replicas where they halve, else more devices.
bool twice(Strategy& s, int Strategy::*degree) {
  s.*degree *= 2;
  if (s.dp % 2 == 0) s.dp /= 2;
  return true;
}

std::vector<Change> changes(const Strategy& base) {
  std::vector<Change> list;
  for (const Recompute r : {Recompute::selective, Recompute::full}) {
    if (base.recompute >= r) continue;
    list.push_back({fmt::format("recompute {}", name_of(r)), [r](Strategy& s) {
                      const bool more = s.recompute < r;
                      s.recompute = r;
                      return more;
                    }});
  }
  struct Module {
    const char* name;
    bool RecomputeModules::*field;
  };
  for (const Module m :
       {Module{"norms", &RecomputeModules::norms},
        Module{"activation", &RecomputeModules::activation}, Module{"mlp", &RecomputeModules::mlp},
        Module{"experts", &RecomputeModules::experts}}) {
    list.push_back({fmt::format("recompute-modules {}", m.name), [m](Strategy& s) {
                      if (s.recompute == Recompute::full || s.modules.*m.field) return false;
                      return s.modules.*m.field = true;
                    }});
  }
  list.push_back({"sp", [](Strategy& s) {
                    if (s.sp || s.tp == 1) return false;
                    return s.sp = true;
                  }});
  for (const int stage : {1, 2, 3}) {
    list.push_back({fmt::format("zero {}", stage), [stage](Strategy& s) {
                      if (s.zero >= stage || s.dp * s.cp == 1) return false;
                      return s.zero = stage, true;
                    }});
  }
  list.push_back({fmt::format("microbatch {}", std::max(1, base.microbatch / 2)), [](Strategy& s) {
                    if (s.microbatch == 1) return false;
                    return s.microbatch /= 2, true;
                  }});
  list.push_back(
      {fmt::format("tp {}", 2 * base.tp), [](Strategy& s) { return twice(s, &Strategy::tp); }});
  list.push_back(
      {fmt::format("pp {}", 2 * base.pp), [](Strategy& s) { return twice(s, &Strategy::pp); }});
  list.push_back({"offload", [](Strategy& s) {
                    if (s.offload) return false;
                    return s.offload = true;
                  }});
  return list;
}

class Search {
 public:
  explicit Search(const Scenario& x) : x_(x), changes_(changes(x.strategy)) {}

  std::vector<Neighbour> run() {
    constexpr std::size_t enough = 6;
    // One change, then two, then three, until some fit; those on the same devices first.
    for (int depth = 1; depth <= 3 && found_.empty(); ++depth) extend(x_.strategy, "", 0, depth);
    std::sort(found_.begin(), found_.end(), [](const Neighbour& a, const Neighbour& b) {
      if (a.estimate.devices != b.estimate.devices) return a.estimate.devices < b.estimate.devices;
      return a.estimate.step < b.estimate.step;
    });
    if (found_.size() > enough) found_.resize(enough);
    return std::move(found_);
  }

 private:
  void extend(const Strategy& from, const std::string& name, std::size_t first, int depth) {
    for (std::size_t i = first; i < changes_.size(); ++i) {
      Patience::check();
      Strategy s = from;
      if (!changes_[i].make(s)) continue;
      const std::string all = name + (name.empty() ? "" : ", ") + changes_[i].name;
      if (depth > 1) {
        extend(s, all, i + 1, depth - 1);
        continue;
      }
      // That it does not fit is known long before how long it takes.
      if (legal(x_.problem, s) != Verdict::fits ||
          stage_memory(x_.problem, s, 0).total() > x_.problem.capacity) {
        continue;
      }
      const Estimate e = evaluate(x_.problem, s);
      if (e.verdict == Verdict::fits) found_.push_back({all, s, e});
    }
  }

  const Scenario& x_;
  std::vector<Change> changes_;
  std::vector<Neighbour> found_;
};

}  // namespace

std::vector<Neighbour> fitting(const Scenario& scenario) {
  std::vector<Neighbour> found = Search(scenario).run();
  for (Neighbour& n : found) {
    const double devices = devices_of(n.strategy);
    if (devices != devices_of(scenario.strategy)) {
      n.change += fmt::format(", on {} devices", devices);
    }
  }
  return found;
}

namespace {

// Looks for neighbours that fit.
class Neighbours {
 public:
  explicit Neighbours(const Scenario& x) : x_(x) {}

  std::vector<ServingNeighbour> run() {
    more(&Strategy::tp, "tp");
    narrower_weights();
    narrower_cache();
    if (found_.empty()) more(&Strategy::pp, "pp");
    smaller_batch();
    return std::move(found_);
  }

 private:
  bool attempt(std::string change, const Strategy& s, const Serving& work) {
    Problem p = x_.problem;
    p.serving = work;
    const ServingEstimate e = serve(p, s);
    if (e.verdict != Verdict::fits) return false;
    found_.push_back({std::move(change), s, work, e});
    return true;
  }

  void more(int Strategy::*degree, const char* name) {
    const bool follows = x_.given.contains("gpus") && !x_.given.contains("dp");
    if (!follows || !fewest(degree, name, x_.inputs.gpus)) fewest(degree, name, 0);
  }

  // The fewest that fit: more of either leave less on each device. Where devices were given and
  // replicas follow from them, on those.
  bool fewest(int Strategy::*degree, const char* name, int devices) {
    const int most = std::min(x_.problem.max_devices, most_ranks);
    std::vector<Strategy> legal;
    Strategy s = x_.strategy;
    for (++(s.*degree); s.*degree <= most; ++(s.*degree)) {
      if (devices > 0) {
        const auto others = static_cast<int>(devices_of(s) / s.dp);
        if (others > devices) break;
        if (devices % others != 0) continue;
        s.dp = devices / others;
      }
      if (legal_serving(x_.problem, s) == Verdict::fits) legal.push_back(s);
    }
    const auto first = std::partition_point(legal.begin(), legal.end(), [&](const Strategy& c) {
      return serve(x_.problem, c).verdict != Verdict::fits;
    });
    if (first == legal.end()) return false;
    return attempt(fmt::format("{} {}", name, (*first).*degree), *first, x_.problem.serving);
  }

  void narrower_weights() {
    using enum Precision;
    const auto can = [&](Precision p) {
      return whole_numbers(p) || runs_as(x_.system.device, p) == p;
    };
    for (const Precision p : {fp8, int8, fp4, int4}) {
      if (element_bytes(p) >= element_bytes(x_.strategy.precision) || !can(p)) continue;
      Strategy s = x_.strategy;
      s.precision = p;
      if (attempt(fmt::format("precision {}", name_of(p)), s, x_.problem.serving)) return;
    }
  }

  void narrower_cache() {
    if (narrow(x_.problem.serving.cache)) return;
    Serving work = x_.problem.serving;
    work.cache = Precision::fp8;
    attempt("kv-precision fp8", x_.strategy, work);
  }

  void smaller_batch() {
    Serving work = x_.problem.serving;
    int low = 0;  // fits
    int high = work.batch;
    while (high - low > 1) {
      Patience::check();
      work.batch = low + (high - low) / 2;
      Problem p = x_.problem;
      p.serving = work;
      (serve(p, x_.strategy).verdict == Verdict::fits ? low : high) = work.batch;
    }
    work.batch = low;
    if (low > 0) attempt(fmt::format("batch {}", low), x_.strategy, work);
  }

  static constexpr int most_ranks = 100000;
  const Scenario& x_;
  std::vector<ServingNeighbour> found_;
};

}  // namespace

std::vector<ServingNeighbour> fitting_serving(const Scenario& scenario) {
  return Neighbours(scenario).run();
}

std::vector<CurvePoint> batch_curve(const Scenario& x) {
  constexpr int most = 1 << 20;  // beyond it nobody batches
  Problem p = x.problem;
  const auto at = [&](int batch) {
    Patience::check();
    p.serving.batch = batch;
    return CurvePoint{batch, serve(p, x.strategy), false};
  };
  std::vector<CurvePoint> points;
  // In a closed loop more may be asked for than are in flight.
  const auto fits = [](const CurvePoint& c) {
    return c.estimate.verdict == Verdict::fits && c.estimate.active >= c.batch;
  };
  int low = 0;
  int high = 1;
  for (; high <= most; high *= 2) {
    CurvePoint c = at(high);
    if (!fits(c)) break;
    low = high;
    points.push_back(c);
  }
  // The largest lies between the last power that fits and the first that does not.
  while (low > 0 && high <= most && high - low > 1) {
    const int middle = low + (high - low) / 2;
    (fits(at(middle)) ? low : high) = middle;
  }
  if (points.empty()) return {at(1)};
  if (low > points.back().batch) points.push_back(at(low));
  for (CurvePoint& a : points) {
    a.pareto = std::none_of(points.begin(), points.end(), [&](const CurvePoint& b) {
      const bool no_worse = b.estimate.latency <= a.estimate.latency &&
                            b.estimate.tokens_per_second >= a.estimate.tokens_per_second;
      return no_worse && b.batch != a.batch;
    });
  }
  return points;
}

}  // namespace sextant
