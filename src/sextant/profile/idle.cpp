// SPDX-License-Identifier: Apache-2.0
#include "sextant/profile/idle.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace sextant::profile {
namespace {

/// Between two kernels that wait in line a device takes about a microsecond (measured on one H200:
/// 0.9 to 1.4 us), a few where one waits for another's memory.
constexpr Nanoseconds usual_step = 5000;
/// Pieces that a picture of time may have; shorter ones are joined.
constexpr double most_pieces = 4000;

struct Gap {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::size_t before = 0;  ///< whose start ends it, in `mine`
};

class IdleFinder {
 public:
  IdleFinder(const IdleInput& in, Profile& p) : in_(in), p_(p) {}

  void run() {
    for (const Call& c : in_.recording.calls) {
      if (synchronises(in_.recording.texts[c.name])) waits_[c.thread].push_back({c.start, c.end});
    }
    for (auto& [thread, list] : waits_) std::sort(list.begin(), list.end());
    overhead_ = in_.recording.overhead;
    std::sort(overhead_.begin(), overhead_.end(),
              [](const Span& a, const Span& b) { return a.start < b.start; });
    for (const Span& s : overhead_)
      longest_overhead_ = std::max(longest_overhead_, s.end - s.start);
    sweep();
    count_launches();
  }

 private:
  struct Wake {
    Nanoseconds start;
    Nanoseconds end;
    bool operator<(const Wake& other) const {
      return std::tie(start, end) < std::tie(other.start, other.end);
    }
  };

  const Activity& activity(std::size_t m) const { return in_.recording.activities[in_.mine[m]]; }
  Kind kind(std::size_t m) const { return p_.groups[in_.group[m]].job.kind; }

  bool moves_data(std::size_t m) const {
    if (activity(m).work != Work::copy) return false;
    const std::string_view name = in_.recording.texts[activity(m).name];
    return name.find("HtoD") != std::string_view::npos ||
           name.find("DtoH") != std::string_view::npos;
  }

  // Work in order of its start: what ends last so far decides whether the device is idle. What
  // communication and copies do alone is time that nothing hides.
  void sweep() {
    Nanoseconds busy_until = in_.first;
    Nanoseconds useful_until = in_.first;
    for (std::size_t m = 0; m < in_.mine.size(); ++m) {
      const Activity& a = activity(m);
      if (a.start > busy_until) gap({busy_until, a.start, m});
      const Nanoseconds from = std::max(a.start, busy_until);
      if (a.end > from) p_.busy += seconds(a.end - from);
      const bool moving = moves_data(m);
      if (moving || kind(m) == Kind::communication) {
        alone_.push_back({std::max(a.start, useful_until), a.end, moving});
      } else {
        // Waiting work ends where useful work starts.
        for (Alone& w : alone_) w.end = std::min(w.end, std::max(w.start, a.start));
        useful_until = std::max(useful_until, a.end);
        settle_alone();
      }
      draw(m);
      busy_until = std::max(busy_until, a.end);
    }
    settle_alone();
  }

  struct Alone {
    Nanoseconds start;
    Nanoseconds end;
    bool copy;
  };
  void settle_alone() {
    Nanoseconds counted = 0;
    for (const Alone& w : alone_) {
      const Nanoseconds from = std::max(w.start, counted);
      if (w.end <= from) continue;
      counted = w.end;
      if (w.copy) {
        p_.waits[Wait::copy].time += seconds(w.end - from);
        ++p_.waits[Wait::copy].times;
      } else {
        p_.exposed_communication += seconds(w.end - from);
      }
    }
    alone_.clear();
  }

  void gap(const Gap& g) {
    const Wait who = cause(g);
    p_.waits[who].time += seconds(g.end - g.start);
    ++p_.waits[who].times;
    const Seconds start = seconds(g.start - in_.first);
    while (step_ < p_.steps.size() && start >= p_.steps[step_].start + p_.steps[step_].time)
      ++step_;
    if (step_ < p_.steps.size() && start >= p_.steps[step_].start)
      p_.steps[step_].idle += seconds(g.end - g.start);
    p_.pieces.push_back({start, seconds(g.end - g.start), Kind::unknown, true, who, ""});
  }

  Wait cause(const Gap& g) const {
    if (profiling(g)) return Wait::profiler;
    const std::uint32_t at = in_.owners[in_.mine[g.before]].call;
    if (at == nobody) return g.end - g.start > usual_step ? Wait::host : Wait::launch;
    const Call& call = in_.recording.calls[at];
    if (call.end <= g.start) return g.end - g.start > usual_step ? Wait::dependency : Wait::launch;
    // The host was late. It may have waited for the device before.
    const auto thread = waits_.find(call.thread);
    if (thread == waits_.end()) return Wait::host;
    const std::vector<Wake>& list = thread->second;
    auto last = std::upper_bound(list.begin(), list.end(), Wake{call.start, call.start});
    if (last == list.begin()) return Wait::host;
    --last;
    const bool waited = last->start < g.start && last->end >= g.start && last->end <= g.end;
    return waited ? Wait::synchronisation : Wait::host;
  }

  /// The profiler's own work fills most of it.
  bool profiling(const Gap& g) const {
    if (overhead_.empty()) return false;
    const auto from =
        std::lower_bound(overhead_.begin(), overhead_.end(), g.start - longest_overhead_,
                         [](const Span& s, Nanoseconds t) { return s.start < t; });
    Nanoseconds covered = 0;
    int looked = 0;
    for (auto s = from; s != overhead_.end() && s->start < g.end && looked < 100; ++s, ++looked) {
      covered += std::max<Nanoseconds>(0, std::min(s->end, g.end) - std::max(s->start, g.start));
    }
    return covered * 2 > g.end - g.start;
  }

  // Neighbours of a kind are one piece, so that a picture stays small.
  void draw(std::size_t m) {
    const Activity& a = activity(m);
    const Nanoseconds least =
        static_cast<Nanoseconds>(static_cast<double>(in_.last - in_.first) / most_pieces);
    const Seconds start = seconds(a.start - in_.first);
    const Seconds length = seconds(a.end - a.start);
    if (!p_.pieces.empty()) {
      Piece& last = p_.pieces.back();
      const Seconds end = start + length;
      const bool near = start - (last.start + last.length) < seconds(least);
      if (!last.idle && near && (last.kind == kind(m) || last.length < seconds(least))) {
        if (length > last.length) {
          last.kind = kind(m);
          last.label = p_.groups[in_.group[m]].name;
        }
        last.length = max(last.length, end - last.start);
        return;
      }
      // A gap too short to be seen goes with its neighbours.
      if (last.idle && last.length < seconds(least) && p_.pieces.size() > 1) {
        p_.pieces.pop_back();
        Piece& before = p_.pieces.back();
        if (!before.idle && (before.kind == kind(m) || before.length < seconds(least))) {
          before.length = max(before.length, end - before.start);
          return;
        }
      }
    }
    p_.pieces.push_back({start, length, kind(m), false, Wait::host, p_.groups[in_.group[m]].name});
  }

  void count_launches() {
    std::uint32_t last = nobody;
    for (const std::uint32_t i : in_.mine) {
      if (in_.owners[i].call != last) ++p_.launches;
      last = in_.owners[i].call;
    }
  }

  const IdleInput& in_;
  Profile& p_;
  std::map<std::uint16_t, std::vector<Wake>> waits_;
  std::vector<Span> overhead_;
  Nanoseconds longest_overhead_ = 0;
  std::vector<Alone> alone_;
  std::size_t step_ = 0;  ///< that time has come to
};

}  // namespace

void find_idle(const IdleInput& input, Profile& profile) { IdleFinder(input, profile).run(); }

}  // namespace sextant::profile
