// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/search.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "sextant/predict/block.hpp"
#include "sextant/predict/mapping.hpp"
#include "sextant/search/parallel.hpp"
#include "sextant/search/pareto.hpp"

namespace sextant {
namespace {

/// Spreads neighbouring numbers over all 64 bits (SplitMix64, Steele et al. 2014).
std::uint64_t scatter(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// Of equal scores the one that needs less memory.
bool better(const Found& a, const Found& b) {
  if (a.score != b.score) return a.score < b.score;
  const Bytes x = a.estimate.memory.total();
  const Bytes y = b.estimate.memory.total();
  return x != y ? x < y : a.order < b.order;
}

void keep_best(std::vector<Found>& heap, const Found& f, int top) {
  heap.push_back(f);
  std::push_heap(heap.begin(), heap.end(), better);
  if (static_cast<int>(heap.size()) <= top) return;
  std::pop_heap(heap.begin(), heap.end(), better);
  heap.pop_back();
}

using Fronts = std::map<std::uint64_t, Front<Found>>;  // by devices

void add_to(Fronts& fronts, const Found& f) {
  const Estimate& e = f.estimate;
  fronts[static_cast<std::uint64_t>(e.devices)].add(e.step.value, e.memory.total().value, f.order,
                                                    f);
}

/// More devices must buy time or memory.
std::vector<Found> pareto_of(const Fronts& fronts) {
  std::vector<Found> all;
  Front<Found> fewer;
  for (const auto& [devices, front] : fronts) {
    for (const auto& e : front.entries()) {
      if (fewer.takes(e.x, e.y, e.order)) all.push_back(e.point);
    }
    fewer.add(front);
  }
  return all;
}

/// An even sample of at most so many: points whose scattered place ends in zeros, ever more of them
/// as points come. Whatever thread meets a point, the same ones stay.
class Sample {
 public:
  explicit Sample(std::size_t most) : most_(most) {}
  bool takes(std::uint64_t order) const { return most_ > 0 && (scatter(order) & mask_) == 0; }
  void add(Found found) {
    if (!takes(found.order)) return;
    points_.push_back(std::move(found));
    while (points_.size() > most_) {
      mask_ = 2 * mask_ + 1;
      std::erase_if(points_, [&](const Found& f) { return !takes(f.order); });
    }
  }
  void add(const Sample& other) {
    mask_ = std::max(mask_, other.mask_);
    std::erase_if(points_, [&](const Found& f) { return !takes(f.order); });
    for (const Found& f : other.points_) add(f);
  }
  std::vector<Found> sorted() && {
    std::sort(points_.begin(), points_.end(),
              [](const Found& a, const Found& b) { return a.order < b.order; });
    return std::move(points_);
  }

 private:
  std::size_t most_;
  std::uint64_t mask_ = 0;
  std::vector<Found> points_;
};

/// What one thread has found.
class Findings {
 public:
  Findings(const SearchAim& aim, Bytes memory) : aim_(aim), memory_(memory), sample_(aim.sample) {}

  void reject(Verdict verdict, std::uint64_t points) { rejected[verdict] += points; }

  void add(const Strategy& s, const Estimate& e, std::uint64_t order) {
    ++evaluated;
    if (e.verdict != Verdict::fits) return reject(e.verdict, 1);
    const Bytes total = e.memory.total();
    if (total > memory_) {
      ++over_limit;
      return;
    }
    ++feasible;
    const double score = score_of(aim_.objective, e);
    // The heap's front is the worst that is kept.
    if (static_cast<int>(best_.size()) < aim_.top || score <= best_.front().score) {
      keep_best(best_, {s, e, score, order}, aim_.top);
    }
    Front<Found>& front = fronts_[static_cast<std::uint64_t>(e.devices)];
    if (front.takes(e.step.value, total.value, order)) {
      front.add(e.step.value, total.value, order, {s, e, score, order});
    }
    if (sample_.takes(order)) sample_.add({s, e, score, order});
  }

  void add(Findings& other) {
    evaluated += other.evaluated;
    feasible += other.feasible;
    over_limit += other.over_limit;
    for (std::size_t i = 0; i < rejected.size; ++i) rejected.values[i] += other.rejected.values[i];
    for (const Found& f : other.best_) keep_best(best_, f, aim_.top);
    for (const auto& [devices, front] : other.fronts_) fronts_[devices].add(front);
    sample_.add(other.sample_);
  }

  SearchResult result() {
    SearchResult r;
    r.evaluated = evaluated;
    r.feasible = feasible;
    r.over_limit = over_limit;
    r.rejected = rejected;
    std::sort(best_.begin(), best_.end(), better);
    r.best = std::move(best_);
    r.pareto = pareto_of(fronts_);
    r.sample = std::move(sample_).sorted();
    return r;
  }

  std::uint64_t evaluated = 0;
  std::uint64_t feasible = 0;
  std::uint64_t over_limit = 0;
  Table<std::uint64_t, Verdict> rejected;

 private:
  const SearchAim& aim_;
  Bytes memory_;
  std::vector<Found> best_;
  Fronts fronts_;
  Sample sample_;
};

/// One thread: takes units, keeps the mappings of the cut it is at.
class Worker {
 public:
  Worker(const Problem& p, const SearchSpace& space, const SearchPlan& plan, const SearchAim& aim,
         Bytes memory)
      : findings(aim, memory), p_(p), space_(space), plan_(plan) {}

  /// Returns the points passed.
  std::uint64_t run(std::size_t index) {
    const SearchUnit unit = unit_of(space_, plan_, index);
    load(unit.cut);
    std::optional<Block> block;
    std::uint64_t place = 0;
    for (std::size_t i = 0; i < mappings_.size(); ++i) {
      Strategy s = merged(unit.strategy, mappings_[i]);
      counts_ = layer_counts(p_, space_, s);
      for (const Schedule schedule : space_.schedule) {
        if (!takes_schedule(s, schedule)) continue;
        s.schedule = schedule;
        const Verdict verdict = legal(p_, s);
        if (verdict != Verdict::fits) {
          findings.reject(verdict, counts_.size());
          place += counts_.size();
          continue;
        }
        if (!block) block = block_of(p_, s);
        if (!ready_[i]) {
          prepared_[i] = mapping_of(p_, s);
          ready_[i] = true;
        }
        for (const int layers : counts_) {
          s.recompute_layers = layers;
          const std::uint64_t order = (static_cast<std::uint64_t>(index) << 32U) | place++;
          findings.add(s, evaluate(p_, s, *block, prepared_[i]), order);
        }
        s.recompute_layers = 0;
      }
    }
    return place;
  }

  Findings findings;

 private:
  void load(std::size_t cut) {
    if (cut_ == cut) return;
    cut_ = cut;
    mappings_of(p_, space_, plan_.cuts[cut], mappings_);
    prepared_.resize(mappings_.size());
    ready_.assign(mappings_.size(), false);
  }

  static Strategy merged(Strategy s, const Strategy& mapping) {
    s.pp = mapping.pp;
    s.dp = mapping.dp;
    s.interleave = mapping.interleave;
    s.zero = mapping.zero;
    s.shard = mapping.shard;
    s.offload = mapping.offload;
    s.order = mapping.order;
    return s;
  }

  const Problem& p_;
  const SearchSpace& space_;
  const SearchPlan& plan_;
  std::optional<std::size_t> cut_;
  std::vector<Strategy> mappings_;
  std::vector<Mapping> prepared_;
  std::vector<bool> ready_;
  std::vector<int> counts_;
};

}  // namespace

double score_of(TrainingObjective objective, const Estimate& e) {
  switch (objective) {
    case TrainingObjective::throughput:
    case TrainingObjective::step_time:
      break;
    case TrainingObjective::throughput_per_device:
    case TrainingObjective::cost:  // a price a device and hour is the same for all
      return e.step.value * e.devices;
    case TrainingObjective::memory:
      return e.memory.total().value;
    case TrainingObjective::energy:
      return e.energy.total().value * e.devices;  // of the same tokens
  }
  return e.step.value;
}

void merge(SearchResult& into, const SearchResult& more, int top) {
  into.evaluated += more.evaluated;
  into.feasible += more.feasible;
  into.over_limit += more.over_limit;
  into.stopped = into.stopped || more.stopped;
  for (std::size_t i = 0; i < more.rejected.size; ++i) {
    into.rejected.values[i] += more.rejected.values[i];
  }
  std::make_heap(into.best.begin(), into.best.end(), better);
  for (const Found& f : more.best) keep_best(into.best, f, top);
  std::sort(into.best.begin(), into.best.end(), better);
  Fronts fronts;
  for (const Found& f : into.pareto) add_to(fronts, f);
  for (const Found& f : more.pareto) add_to(fronts, f);
  into.pareto = pareto_of(fronts);
  into.sample.insert(into.sample.end(), more.sample.begin(), more.sample.end());
}

SearchResult search(const Problem& problem, const SearchSpace& space, const SearchPlan& plan,
                    const SearchAim& aim, SearchProgress& progress) {
  const Bytes memory = aim.max_memory.value > 0 ? aim.max_memory : problem.capacity;
  const int threads = std::max(1, aim.threads);
  std::vector<Worker> workers;
  workers.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) workers.emplace_back(problem, space, plan, aim, memory);
  for_each_unit(threads, plan.units, progress.stop, [&](int thread, std::size_t unit) {
    progress.done += workers[static_cast<std::size_t>(thread)].run(unit);
  });
  Findings all(aim, memory);
  for (Worker& w : workers) all.add(w.findings);
  SearchResult result = all.result();
  result.stopped = progress.stop;
  return result;
}

}  // namespace sextant
