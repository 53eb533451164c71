// SPDX-License-Identifier: Apache-2.0
// What a search has found so far: the best, the fronts, a sample, counts. Internal to search.
#pragma once

#include <limits>
#include <map>

#include "sextant/search/pareto.hpp"
#include "sextant/search/search.hpp"

namespace sextant {

using Fronts = std::map<std::uint64_t, Front<Found>>;  // by devices

/// Of equal scores the one that needs less memory.
bool better(const Found& a, const Found& b);
/// Of a heap whose front is the worst.
void keep_best(std::vector<Found>& heap, const Found& found, int top);
void add_to(Fronts& fronts, const Found& found);
/// More devices must buy time or memory.
std::vector<Found> pareto_of(const Fronts& fronts);

/// An even sample of at most so many: points whose scattered place ends in zeros, ever more of them
/// as points come. Whatever thread meets a point, the same ones stay.
class Sample {
 public:
  explicit Sample(std::size_t most) : most_(most) {}
  bool takes(std::uint64_t order) const { return most_ > 0 && (scattered(order) & mask_) == 0; }
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
  static std::uint64_t scattered(std::uint64_t order);

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
    barred += other.barred;
    no_room += other.no_room;
    for (std::size_t i = 0; i < rejected.size; ++i) rejected.values[i] += other.rejected.values[i];
    for (const Found& f : other.best_) keep_best(best_, f, aim_.top);
    for (const auto& [devices, front] : other.fronts_) fronts_[devices].add(front);
    sample_.add(other.sample_);
  }

  /// What a score must not exceed to be among the best.
  double worst() const {
    const bool full = static_cast<int>(best_.size()) >= aim_.top;
    return full ? best_.front().score : std::numeric_limits<double>::infinity();
  }
  const std::vector<Found>& best() const { return best_; }
  const Fronts& fronts() const { return fronts_; }

  /// Of a space of so many points.
  SearchResult result(double points) {
    SearchResult r;
    r.evaluated = evaluated;
    r.feasible = feasible;
    r.over_limit = over_limit;
    r.rejected = rejected;
    r.skipped = points - static_cast<double>(feasible + over_limit);
    r.barred = static_cast<double>(barred);
    r.no_room = static_cast<double>(no_room);
    for (const std::uint64_t n : rejected.values) r.skipped -= static_cast<double>(n);
    std::sort(best_.begin(), best_.end(), better);
    r.best = std::move(best_);
    r.pareto = pareto_of(fronts_);
    r.sample = std::move(sample_).sorted();
    return r;
  }

  std::uint64_t evaluated = 0;
  std::uint64_t feasible = 0;
  std::uint64_t over_limit = 0;
  std::uint64_t barred = 0;   ///< points of groups of which none is legal
  std::uint64_t no_room = 0;  ///< or fits
  Table<std::uint64_t, Verdict> rejected;

 private:
  const SearchAim& aim_;
  Bytes memory_;
  std::vector<Found> best_;
  Fronts fronts_;
  Sample sample_;
};

}  // namespace sextant
