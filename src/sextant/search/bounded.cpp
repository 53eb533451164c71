// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/bounded.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "sextant/predict/step.hpp"
#include "sextant/search/findings.hpp"
#include "sextant/search/parallel.hpp"
#include "sextant/search/shapes.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Units that differ in what is recomputed alone, with their floors.
struct Bundle {
  std::uint64_t first = 0;  ///< unit
  std::uint32_t cut = 0;
  PassFloor pass;
  double score = infinite;
  double step = infinite;
  double memory = infinite;
  std::uint64_t points = 0;
};

/// What all threads have found: the worst score that is still among the best, and the fronts.
struct Shared {
  double best = infinite;
  double worst = infinite;
  Fronts fronts;
  std::uint64_t version = 0;
};

/// The numbers of layers to recompute that share a floor.
struct Segment {
  std::size_t first = 0;
  std::size_t last = 0;
  bool alive = false;
  Bytes memory;
};
constexpr std::size_t most_segments = 4;

/// Cuts that are kept for the next of their units: those of a wide space have tens of thousands of
/// mappings each, so all searches of the process have so many bytes for them together.
class LaidCuts {
 public:
  LaidCuts() = default;
  LaidCuts(LaidCuts&&) = default;
  LaidCuts& operator=(LaidCuts&&) = delete;
  LaidCuts(const LaidCuts&) = delete;
  LaidCuts& operator=(const LaidCuts&) = delete;
  ~LaidCuts() {
    while (!all_.empty()) forget_one();
  }

  template <class Make>
  const Laid& of(std::size_t cut, const Make& make) {
    if (auto at = all_.find(cut); at != all_.end()) return *at->second;
    // There is no telling which comes again.
    while (held > most && !all_.empty()) forget_one();
    const auto& made = all_[cut] = std::make_unique<Laid>(make());
    held += made->bytes();
    return *made;
  }

 private:
  static constexpr std::size_t most = std::size_t{80} << 20;
  static inline std::atomic<std::size_t> held = 0;

  void forget_one() {
    held -= all_.begin()->second->bytes();
    all_.erase(all_.begin());
  }

  std::unordered_map<std::size_t, std::unique_ptr<Laid>> all_;
};

class BranchWorker {
 public:
  BranchWorker(const Problem& p, const SearchSpace& space, const SearchPlan& plan,
               const SearchAim& aim, Bytes memory, Guarded<Shared>& shared)
      : findings(aim, memory),
        p_(p),
        space_(space),
        plan_(plan),
        aim_(aim),
        limit_(min(memory, p.capacity)),
        shared_(shared),
        kinds_(space.recompute.size() * space.modules.size()) {
    const auto& all = space.schedule;
    permissive_ = contains(all, Schedule::one_f_one_b) ? Schedule::one_f_one_b : all.front();
    beside_ = p.runtime.overlap.experts || contains(all, Schedule::dual_pipe);
  }

  /// Floors of a cut's bundles; those that cannot run or fit are left out. Returns the
  /// points passed.
  std::uint64_t survey(std::size_t cut) {
    const Laid& laid = load(cut);
    const std::uint64_t end =
        cut + 1 < plan_.cuts.size() ? plan_.cuts[cut + 1].first_unit : plan_.units;
    std::uint64_t passed = 0;
    for (std::uint64_t unit = plan_.cuts[cut].first_unit; unit < end; unit += kinds_) {
      Bundle g;
      g.first = unit;
      g.cut = static_cast<std::uint32_t>(cut);
      const bool runs = survey(laid, g);
      for (const Shape& shape : laid.shapes) g.points += points_of(shape);
      // Half of the way for those that are to be looked at.
      passed += runs ? g.points / 2 : g.points;
      if (runs) bundles.push_back(g);
    }
    return passed;
  }

  /// Looks at what of a bundle may matter; returns the best score of all threads.
  double run(const Bundle& g) {
    catch_up();
    const bool one = space_.devices.size() == 1;
    const Floor whole{Seconds(g.step), Bytes(g.memory), idle_energy(Seconds(g.step))};
    if (one && !worth(space_.devices.front(), whole, 0)) return known_.best;
    const Laid& laid = load(g.cut);
    for (std::uint64_t unit = g.first; unit < g.first + kinds_; ++unit) run(laid, g, unit);
    publish();
    return known_.best;
  }

  Findings findings;
  std::vector<Bundle> bundles;

 private:
  struct Floor {
    Seconds step;
    Bytes memory;
    Joules energy;
  };

  /// Points of a group's units in one shape.
  std::uint64_t points_of(const Shape& shape) const {
    std::uint64_t sum = 0;
    for (const Recompute r : space_.recompute) sum += shape.points(r == Recompute::full);
    return sum * space_.modules.size();
  }

  Joules idle_energy(Seconds step) const { return (p_.chip.idle + p_.host_power) * step; }

  double score_of(double devices, const Floor& f) const {
    Estimate e;
    e.step = f.step;
    e.devices = devices;
    e.memory.parts[Space::weights] = f.memory;
    e.energy.idle = f.energy;
    return sextant::score_of(aim_.objective, e);
  }

  /// Whether such a strategy may be among the best or on the front.
  bool worth(double devices, const Floor& f, std::uint64_t order) const {
    if (f.memory > limit_) return false;
    if (score_of(devices, f) <= std::min(known_.worst, findings.worst())) return true;
    if (!aim_.front) return false;
    const auto key = static_cast<std::uint64_t>(devices);
    const auto takes = [&](const Fronts& fronts) {
      const auto at = fronts.find(key);
      return at == fronts.end() || at->second.takes(f.step.value, f.memory.value, order);
    };
    return takes(known_.fronts) && takes(findings.fronts());
  }

  const Laid& load(std::size_t cut) {
    return laid_.of(cut, [&] { return lay(p_, space_, plan_.cuts[cut]); });
  }

  /// Whether any mapping of a shape is legal, whatever its schedule.
  bool runs(const Laid& laid, const Shape& shape, const Strategy& unit) const {
    for (std::size_t i = shape.first; i < shape.last; ++i) {
      Strategy s = with_mapping(unit, laid.mappings[i]);
      s.schedule = permissive_;
      if (s.pp == 1) s.schedule = Schedule::one_f_one_b;
      if (legal(p_, s) == Verdict::fits) return true;
    }
    return false;
  }

  bool survey(const Laid& laid, Bundle& g) {
    const Strategy first = unit_of(space_, plan_, g.first).strategy;
    alive_.assign(laid.shapes.size(), false);
    bool any = false;
    for (std::size_t i = 0; i < laid.shapes.size(); ++i) {
      alive_[i] = runs(laid, laid.shapes[i], first);
      any = any || alive_[i];
      if (!alive_[i]) findings.barred += points_of(laid.shapes[i]);
    }
    if (!any) return false;
    const Widths widths = widths_of(p_, first);
    bool fits = false;
    for (std::uint64_t unit = g.first; unit < g.first + kinds_; ++unit) {
      const Strategy u = unit_of(space_, plan_, unit).strategy;
      const Kept kept = kept_of(p_, u, widths);
      for (std::size_t i = 0; i < laid.shapes.size(); ++i) {
        if (!alive_[i]) continue;
        const Shape& shape = laid.shapes[i];
        const Strategy s = with_mapping(u, shape.strategy);
        const Segment all = segment(shape, shape.floor.least, s, kept, 0, count_of(shape, s));
        if (all.memory > limit_) {
          findings.no_room += shape.points(u.recompute == Recompute::full);
          continue;
        }
        if (!fits) g.pass = pass_floor(p_, first, beside_, &memo_);
        fits = true;
        const Seconds step = step_of(shape, shape.floor.least, s, g.pass, all.first);
        g.score = std::min(g.score, score_of(shape.devices, {step, all.memory, idle_energy(step)}));
        g.step = std::min(g.step, step.value);
        g.memory = std::min(g.memory, all.memory.value);
      }
    }
    return fits;
  }

  static std::size_t count_of(const Shape& shape, const Strategy& s) {
    return s.recompute == Recompute::full ? shape.layers.size() : 1;
  }

  /// What is kept falls or rises evenly with the number of layers: one of the ends holds the least.
  Segment segment(const Shape& shape, const Mapping& mapping, Strategy s, const Kept& kept,
                  std::size_t first, std::size_t last) const {
    Segment x{.first = first, .last = last, .alive = true, .memory = {}};
    if (s.recompute != Recompute::full) {
      x.memory = memory_floor(p_, s, kept, mapping);
      return x;
    }
    s.recompute_layers = shape.layers[last - 1];
    x.memory = memory_floor(p_, s, kept, mapping);
    if (last - first == 1) return x;
    s.recompute_layers = shape.layers[first];
    x.memory = min(x.memory, memory_floor(p_, s, kept, mapping));
    return x;
  }

  Seconds step_of(const Shape& shape, const Mapping& mapping, const Strategy& s,
                  const PassFloor& pass, std::size_t fewest) const {
    const double again = s.recompute == Recompute::full ? shape.again(shape.layers[fewest]) : 0;
    return step_floor(p_, s, shape.floor.even ? &pass : nullptr, mapping, again);
  }

  /// Cuts a shape's numbers of layers into pieces and says which are worth a look; then of its
  /// mappings, each with its own states.
  bool look(const Laid& laid, const Shape& shape, const Strategy& s, const Kept& kept,
            const PassFloor& pass) {
    if (!look(shape, s, kept, pass)) return false;
    promising_.assign(shape.last - shape.first, false);
    bool any = false;
    for (Segment& x : segments_) {
      if (!x.alive) continue;
      x.alive = false;
      for (std::size_t i = shape.first; i < shape.last; ++i) {
        const Mapping& mapping = laid.prepared[i];
        const Strategy each = with_mapping(s, laid.mappings[i]);
        // The cheaper floor first: what is too slow with the least memory of all is too slow.
        const Seconds step = step_of(shape, mapping, each, pass, x.first);
        Floor floor{step, x.memory, idle_energy(step)};
        if (!worth(shape.devices, floor, 0)) continue;
        floor.memory = segment(shape, mapping, each, kept, x.first, x.last).memory;
        if (!worth(shape.devices, floor, 0)) continue;
        promising_[i - shape.first] = x.alive = any = true;
      }
    }
    return any;
  }

  bool look(const Shape& shape, const Strategy& s, const Kept& kept, const PassFloor& pass) {
    segments_.clear();
    const std::size_t count = count_of(shape, s);
    const std::size_t pieces = std::min(count, most_segments);
    bool any = false;
    for (std::size_t i = 0; i < pieces; ++i) {
      Segment x =
          segment(shape, shape.floor.least, s, kept, i * count / pieces, (i + 1) * count / pieces);
      const Seconds step = step_of(shape, shape.floor.least, s, pass, x.first);
      x.alive = worth(shape.devices, {step, x.memory, idle_energy(step)}, 0);
      any = any || x.alive;
      segments_.push_back(x);
    }
    return any;
  }

  void run(const Laid& laid, const Bundle& g, std::uint64_t index) {
    const Strategy unit = unit_of(space_, plan_, index).strategy;
    const Kept kept = kept_of(p_, unit, widths_of(p_, unit));
    std::optional<Block> block;
    std::uint64_t place = 0;
    for (const Shape& shape : laid.shapes) {
      const Strategy s = with_mapping(unit, shape.strategy);
      if (runs(laid, shape, unit) && look(laid, shape, s, kept, g.pass)) {
        if (!block) block = block_of(p_, s, &memo_);
        explore({laid, shape, unit, *block, (index << 32U) | place, count_of(shape, s)});
      }
      place += shape.points(unit.recompute == Recompute::full);
    }
  }

  /// A shape of a unit whose block is at hand.
  struct Sight {
    const Laid& laid;
    const Shape& shape;
    const Strategy& unit;
    const Block& block;
    std::uint64_t order;  ///< of its first point
    std::size_t count;    ///< of layers to recompute
  };

  void explore(const Sight& x) {
    columns_.clear();
    for (const Schedule schedule : space_.schedule) {
      if (takes_schedule(x.shape.strategy, schedule)) columns_.push_back(schedule);
    }
    legal_.clear();
    hops_.assign(x.shape.last - x.shape.first, std::nullopt);
    for (std::size_t i = x.shape.first; i < x.shape.last; ++i) {
      Strategy s = with_mapping(x.unit, x.laid.mappings[i]);
      for (const Schedule schedule : columns_) {
        s.schedule = schedule;
        const Verdict verdict = legal(p_, s);
        legal_.push_back(verdict == Verdict::fits);
        if (verdict != Verdict::fits) findings.reject(verdict, x.count);
      }
    }
    for (const Segment& segment : segments_) {
      for (std::size_t k = segment.first; segment.alive && k < segment.last; ++k) explore(x, k);
    }
  }

  /// With one number of layers to recompute: first the way of a microbatch, whatever replicas do.
  void explore(const Sight& x, std::size_t k) {
    const Shape& shape = x.shape;
    Strategy s = with_mapping(x.unit, x.laid.mappings[shape.lean]);
    const bool full = s.recompute == Recompute::full;
    s.recompute_layers = full ? shape.layers[k] : 0;
    const std::size_t place = full ? static_cast<std::size_t>(shape.places[k]) : 0;
    const Bytes memory = memory_floor(p_, s, x.block.kept, shape.floor.least);
    ways_ = {};
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      s.schedule = columns_[c];
      const Glance least = glance(p_, s, x.block, shape.floor.least,
                                  ways_.of(p_, s, x.block, x.shape.floor.least.stages), {});
      if (!worth(shape.devices, {least.step, memory, least.energy}, 0)) continue;
      for (std::size_t i = shape.first; i < shape.last; ++i) {
        const std::size_t cell = (i - shape.first) * columns_.size() + c;
        if (legal_[cell] && promising_[i - shape.first])
          weigh(x, s, i, memory, x.order + cell * x.count + place);
      }
    }
  }

  /// One strategy, by its i-th mapping.
  void weigh(const Sight& x, const Strategy& way, std::size_t i, Bytes memory,
             std::uint64_t order) {
    const Mapping& mapping = x.laid.prepared[i];
    const Strategy s = with_mapping(way, x.laid.mappings[i]);
    std::optional<Sending>& hop = hops_[i - x.shape.first];
    if (!hop) hop = transfer_of(p_, s, x.block, mapping);
    const Passage& passage = ways_.of(p_, s, x.block, x.shape.floor.least.stages);
    const Glance seen = glance(p_, s, x.block, mapping, passage, *hop);
    Floor floor{seen.step, memory, seen.energy};
    if (!worth(x.shape.devices, floor, order)) return;
    // Of the first stage, which mostly holds the most.
    floor.memory =
        stage_memory(p_, s, x.block.kept, mapping.states[0], mapping.stages.kinds[0]).total();
    if (!worth(x.shape.devices, floor, order)) return;
    findings.add(s, evaluate(p_, s, x.block, mapping, passage, *hop), order);
  }

  void catch_up() {
    shared_.with([&](Shared& all) {
      if (all.version != known_.version) known_ = all;
    });
  }

  void publish() {
    if (findings.evaluated == published_) return;
    published_ = findings.evaluated;
    shared_.with([&](Shared& all) {
      for (const Found& f : findings.best()) all.best = std::min(all.best, f.score);
      all.worst = std::min(all.worst, findings.worst());
      for (const auto& [devices, front] : findings.fronts()) all.fronts[devices].add(front);
      ++all.version;
      known_.best = all.best;
    });
  }

  const Problem& p_;
  const SearchSpace& space_;
  const SearchPlan& plan_;
  const SearchAim& aim_;
  const Bytes limit_;
  Guarded<Shared>& shared_;
  const std::size_t kinds_;  ///< units of a group
  Schedule permissive_ = Schedule::one_f_one_b;
  bool beside_ = false;
  Shared known_;
  GemmMemo memo_;
  std::uint64_t published_ = 0;
  LaidCuts laid_;
  std::vector<bool> alive_;
  std::vector<Segment> segments_;
  std::vector<bool> promising_;  ///< mappings of the shape
  std::vector<Schedule> columns_;
  std::vector<bool> legal_;  ///< by mapping and schedule
  std::vector<std::optional<Sending>> hops_;
  Passages ways_;
};

/// Of the least memory.
constexpr std::size_t few_smallest = 8;

/// Bundles in the order they are looked at: the least memory first, a few, for one end of the
/// front; then by what they may reach.
std::vector<Bundle> ordered(std::vector<Bundle> all) {
  const auto by = [](auto key) {
    return [key](const Bundle& a, const Bundle& b) {
      return key(a) != key(b) ? key(a) < key(b) : a.first < b.first;
    };
  };
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(std::min(few_smallest, all.size()));
  std::partial_sort(all.begin(), middle, all.end(), by([](const Bundle& g) { return g.memory; }));
  std::sort(middle, all.end(), by([](const Bundle& g) { return g.score; }));
  return all;
}

/// Looked at whether there is time or not: a search has an answer.
constexpr std::size_t in_any_case = 16;

/// Points of a space whose floors take seconds: DeepSeek-V3 on 2,048 devices, 218 million, took 20
/// on a core before any of it was looked at.
constexpr double long_survey = 1e8;

class Bounded {
 public:
  Bounded(const Problem& problem, const SearchSpace& space, const SearchPlan& plan,
          const SearchAim& aim, SearchProgress& progress)
      : plan_(plan),
        aim_(aim),
        progress_(progress),
        memory_(aim.max_memory.value > 0 ? aim.max_memory : problem.capacity),
        threads_(std::max(1, aim.threads)) {
    workers_.reserve(static_cast<std::size_t>(threads_));
    for (int i = 0; i < threads_; ++i) {
      workers_.emplace_back(problem, space, plan, aim, memory_, shared_);
    }
  }

  SearchResult run() {
    const bool all = survey();
    looked_.assign(bundles_.size(), 0);
    look(std::min(in_any_case, bundles_.size()), never_);
    look(bundles_.size(), progress_.stop);
    Findings found(aim_, memory_);
    for (BranchWorker& w : workers_) found.add(w.findings);
    SearchResult r = found.result(plan_.points);
    if (!all) r.bound = 0;
    for (std::size_t i = 0; i < bundles_.size(); ++i) {
      if (looked_[i] == 0) r.bound = std::min(r.bound, bundles_[i].score);
    }
    r.stopped = r.bound < infinite;
    return r;
  }

 private:
  BranchWorker& worker(int thread) { return workers_[static_cast<std::size_t>(thread)]; }

  /// Floors of all cuts, from everywhere in turn: whenever it is stopped, some of each kind are
  /// known. Returns whether it got to the end.
  bool survey() {
    const std::size_t n = plan_.cuts.size();
    std::atomic<std::size_t> surveyed = 0;
    const auto each = [&](int thread, std::size_t i) {
      progress_.done += worker(thread).survey(spread_over(n, i));
      ++surveyed;
    };
    std::size_t done = std::min(n, in_any_case);
    for_each_unit(threads_, done, never_, each);
    // Twice as many each time, and then a look: whoever waits for seconds has something soon.
    const bool takes_long = plan_.points > long_survey;
    while (done < n && !progress_.stop) {
      if (takes_long) peek();
      const std::size_t end = takes_long ? std::min(n, 2 * done) : n;
      for_each_unit(threads_, end - done, progress_.stop,
                    [&](int thread, std::size_t i) { each(thread, done + i); });
      done = end;
    }
    for (BranchWorker& w : workers_) {
      bundles_.insert(bundles_.end(), w.bundles.begin(), w.bundles.end());
    }
    bundles_ = ordered(std::move(bundles_));
    return surveyed == n;
  }

  /// Looks at a few of the most promising of those that are surveyed, and takes them off the list.
  void peek() {
    std::vector<Bundle> all;
    for (BranchWorker& w : workers_) {
      all.insert(all.end(), w.bundles.begin(), w.bundles.end());
      w.bundles.clear();
    }
    const auto few = all.begin() + static_cast<std::ptrdiff_t>(std::min(in_any_case, all.size()));
    const auto order = [](const Bundle& a, const Bundle& b) {
      return std::tie(a.score, a.first) < std::tie(b.score, b.first);
    };
    std::partial_sort(all.begin(), few, all.end(), order);
    const std::vector<Bundle> now(all.begin(), few);
    worker(0).bundles.assign(few, all.end());
    for_each_unit(threads_, now.size(), never_,
                  [&](int thread, std::size_t i) { look_at(now[i], thread); });
  }

  void look_at(const Bundle& b, int thread) {
    // The thread that found it says so.
    if (worker(thread).run(b) < progress_.best) {
      for (const Found& f : worker(thread).findings.best()) progress_.offer(f);
    }
    progress_.done += b.points - b.points / 2;
  }

  /// A permutation of n numbers whose neighbours are far apart.
  static std::size_t spread_over(std::size_t n, std::size_t i) {
    constexpr std::size_t prime = 1000003;
    return n % prime == 0 ? i : i * prime % n;
  }

  void look(std::size_t most, const std::atomic<bool>& stop) {
    const std::size_t from = begun_;
    begun_ = most;
    for_each_unit(threads_, most - from, stop, [&](int thread, std::size_t i) {
      const Bundle& b = bundles_[from + i];
      if (from + i >= few_smallest) progress_.bound = b.score;
      look_at(b, thread);
      looked_[from + i] = 1;
    });
  }

  const SearchPlan& plan_;
  const SearchAim& aim_;
  SearchProgress& progress_;
  const Bytes memory_;
  const int threads_;
  const std::atomic<bool> never_{false};
  Guarded<Shared> shared_;
  std::vector<BranchWorker> workers_;
  std::vector<Bundle> bundles_;
  std::vector<char> looked_;
  std::size_t begun_ = 0;
};

}  // namespace

SearchResult search_bounded(const Problem& problem, const SearchSpace& space,
                            const SearchPlan& plan, const SearchAim& aim,
                            SearchProgress& progress) {
  return Bounded(problem, space, plan, aim, progress).run();
}

}  // namespace sextant
