// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/findings.hpp"

#include <algorithm>

namespace sextant {

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

void add_to(Fronts& fronts, const Found& f) {
  const Estimate& e = f.estimate;
  fronts[static_cast<std::uint64_t>(e.devices)].add(e.step.value, e.memory.total().value, f.order,
                                                    f);
}

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

/// Spreads neighbouring numbers over all 64 bits (SplitMix64, Steele et al. 2014).
std::uint64_t Sample::scattered(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

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

double gap_of(double best, double bound) {
  if (!(best > bound)) return 0;
  return best > 0 && best < std::numeric_limits<double>::infinity() ? 1 - bound / best : 1;
}

void SearchProgress::start_again() {
  best = std::numeric_limits<double>::infinity();
  bound = 0;
  found.with([](std::optional<Found>& f) { f.reset(); });
}

void SearchProgress::offer(const Found& better) {
  if (!(better.score < best)) return;
  found.with([&](std::optional<Found>& f) {
    if (f && f->score <= better.score) return;
    f = better;
    best = better.score;
  });
}

double SearchResult::gap() const {
  const double found = best.empty() ? std::numeric_limits<double>::infinity() : best.front().score;
  return gap_of(found, bound);
}

void merge(SearchResult& into, const SearchResult& more, int top) {
  into.evaluated += more.evaluated;
  into.feasible += more.feasible;
  into.over_limit += more.over_limit;
  into.stopped = into.stopped || more.stopped;
  into.skipped += more.skipped;
  into.barred += more.barred;
  into.no_room += more.no_room;
  into.bound = std::min(into.bound, more.bound);
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

}  // namespace sextant
