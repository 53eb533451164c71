// SPDX-License-Identifier: Apache-2.0
#include "sextant/profile/clock.hpp"

#include <algorithm>
#include <unordered_map>

#include "sextant/cost/power.hpp"

namespace sextant::profile {
namespace {

/// Clocks are tried in steps of half a percent of the highest.
constexpr double clock_step = 0.005;
constexpr int most_steps = 150;
constexpr double most_windows = 4096;
/// A kernel slower than this is not slowed down by the clock alone: it does its work, and draws its
/// energy, over the longer time.
constexpr double slow_for_its_own_reasons = 1.25;

class Settler {
 public:
  Settler(const ClockInput& in, const Attainable& a, Profile& p)
      : in_(in), a_(a), p_(p), budget_(dynamic_budget(a.chip)) {}

  void run() {
    fill_windows();
    for (Window& w : windows_) {
      if (w.calls.empty()) continue;
      const int level = level_of(w);
      const Hertz clock = clock_at(level);
      p_.slowest_clock = p_.slowest_clock.value > 0 ? min(p_.slowest_clock, clock) : clock;
      p_.fastest_clock = max(p_.fastest_clock, clock);
      for (const auto& [group, calls] : w.calls) {
        const KernelCost& c = cost(group, level);
        if (c.time.value <= 0) continue;
        OperatorGroup& g = p_.groups[group];
        g.predicted = g.predicted.value_or(Seconds(0)) + calls * c.time;
        g.bound = c.bound;
      }
    }
  }

 private:
  struct Window {
    std::unordered_map<std::uint32_t, double> calls;  ///< by group
    Nanoseconds busy = 0;
  };

  Hertz clock_at(int level) const { return (1 - clock_step * level) * a_.chip.light_clock; }

  // As long as the controller takes to answer: what comes within it is averaged.
  void fill_windows() {
    const double span = std::max(1.0, static_cast<double>(in_.last - in_.first));
    length_ = std::max(power_response.value * 1e9, span / most_windows);
    windows_.resize(static_cast<std::size_t>(span / length_) + 1);
    // A call's share in each window is that of its kernels' time.
    for (std::size_t m = 0; m < in_.mine.size(); ++m) {
      const Activity& a = in_.recording.activities[in_.mine[m]];
      const OperatorGroup& g = p_.groups[in_.group[m]];
      Window& w =
          windows_[static_cast<std::size_t>(static_cast<double>(a.start - in_.first) / length_)];
      const double all = std::max(1e-12, g.measured.value);
      w.calls[in_.group[m]] += g.calls * (static_cast<double>(a.end - a.start) * 1e-9 + 1e-12) /
                               (all + 1e-12 * g.kernels);
      w.busy += a.end - a.start;
    }
  }

  const KernelCost& cost(std::uint32_t group, int level) {
    const auto at =
        costs_.try_emplace(std::uint64_t{group} << 32 | static_cast<std::uint32_t>(level));
    if (at.second) at.first->second = cost_of(a_, p_.groups[group].job, clock_at(level));
    return at.first->second;
  }

  double stretch(std::uint32_t group) {
    const OperatorGroup& g = p_.groups[group];
    const double ratio = g.measured / (g.calls * cost(group, 0).time);
    return ratio > slow_for_its_own_reasons ? ratio : 1;
  }

  bool allowed(const Window& w, int level) {
    Joules energy;
    Seconds time(std::max(0.0, length_ - static_cast<double>(w.busy)) * 1e-9);
    for (const auto& [group, calls] : w.calls) {
      const KernelCost& c = cost(group, level);
      if (c.time.value <= 0) continue;
      energy +=
          calls * ((power_demand(a_.chip, c, p_.groups[group].job.type) - a_.chip.idle) * c.time);
      time += calls * stretch(group) * c.time;
    }
    return time.value <= 0 || energy / time <= budget_;
  }

  /// The highest clock at which the window's work keeps within the board's power.
  int level_of(const Window& w) {
    if (allowed(w, 0)) return 0;
    int high = 0;
    int low = most_steps;
    while (low - high > 1) {
      const int middle = (low + high) / 2;
      (allowed(w, middle) ? low : high) = middle;
    }
    return low;
  }

  const ClockInput& in_;
  const Attainable& a_;
  Profile& p_;
  Watts budget_;
  double length_ = 1;  ///< nanoseconds
  std::vector<Window> windows_;
  std::unordered_map<std::uint64_t, KernelCost> costs_;
};

}  // namespace

void settle(const ClockInput& input, const Attainable& attainable, Profile& profile) {
  Settler(input, attainable, profile).run();
}

}  // namespace sextant::profile
