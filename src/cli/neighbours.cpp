// SPDX-License-Identifier: Apache-2.0
#include "cli/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace sextant::cli {
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
      Strategy s = from;
      if (!changes_[i].make(s)) continue;
      const std::string all = name + (name.empty() ? "" : ", ") + changes_[i].name;
      if (depth > 1) {
        extend(s, all, i + 1, depth - 1);
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

}  // namespace sextant::cli
