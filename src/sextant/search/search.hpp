// SPDX-License-Identifier: Apache-2.0
// The best training strategies of a space, proven: every point is evaluated, or its group cannot
// hold a better one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "sextant/predict/train.hpp"
#include "sextant/search/parallel.hpp"
#include "sextant/search/space.hpp"

namespace sextant {

/// What is sought. Where device counts differ, throughput and step time favour more devices, the
/// others do not.
enum class TrainingObjective : std::uint8_t {
  throughput,  ///< tokens a second
  step_time,
  throughput_per_device,
  memory,  ///< the most left free
  energy,  ///< the least a token
  cost,    ///< the least a token, at a price of a device and hour
};
constexpr auto names_of(TrainingObjective) {
  return std::array<std::string_view, 6>{
      "tokens-per-second", "step-time", "tokens-per-second-per-gpu", "memory", "energy", "cost"};
}

struct SearchAim {
  TrainingObjective objective = TrainingObjective::throughput;
  int top = 10;
  int threads = 1;
  Bytes max_memory{0};        ///< 0: what the device has
  std::size_t sample = 2000;  ///< feasible points kept for a picture, at most
  bool front = true;          ///< the front is asked for, not the best alone
  bool exhaustive = false;    ///< evaluate every point, also those that cannot matter
};

struct Found {
  Strategy strategy;
  Estimate estimate;
  double score = 0;         ///< the smaller the better
  std::uint64_t order = 0;  ///< place in the space, which settles ties
  int variant = 0;          ///< of whoever searches several problems
};

/// Shared with whoever watches, or wants it to stop.
struct SearchProgress {
  std::atomic<std::uint64_t> done{0};  ///< points, legal or not
  std::atomic<bool> stop{false};
  /// The best score so far, and what no strategy that is still to be looked at can go below: for
  /// searches of training.
  std::atomic<double> best{std::numeric_limits<double>::infinity()};
  std::atomic<double> bound{0};
  /// The strategy of that score.
  Guarded<std::optional<Found>> found = {};

  /// Before another search: what was found so far is no answer to it.
  void start_again();
  /// Takes it where it is better than the best so far.
  void offer(const Found& better);
};

/// By how much of it the best found may be worse than the best there is, where nothing that was not
/// looked at scores below `bound`.
double gap_of(double best, double bound);

struct SearchResult {
  std::uint64_t evaluated = 0;             ///< whose time and memory were computed
  std::uint64_t feasible = 0;              ///< of these, that fit
  Table<std::uint64_t, Verdict> rejected;  ///< by the first rule broken
  std::uint64_t over_limit = 0;            ///< that fit the device but not `max_memory`
  std::vector<Found> best;                 ///< by score
  std::vector<Found> pareto;  ///< of step time, memory and devices: none is better in all three
  std::vector<Found> sample;  ///< feasible points, spread evenly over the space
  bool stopped = false;       ///< before the end: the best so far
  double skipped = 0;         ///< points that were not looked at: of unknown verdict
  double barred = 0;          ///< of these, in groups of which none is legal
  double no_room = 0;         ///< of these, in groups of which none fits
  /// What no strategy that was not looked at goes below.
  double bound = std::numeric_limits<double>::infinity();

  /// Of the best: 0 where none is better.
  double gap() const;
  bool proven() const { return gap() == 0; }
};

/// Devices, time and memory of an estimate as one number, the smaller the better.
double score_of(TrainingObjective objective, const Estimate& estimate);

/// The same result for any number of threads.
SearchResult search(const Problem& problem, const SearchSpace& space, const SearchPlan& plan,
                    const SearchAim& aim, SearchProgress& progress);

/// Adds what another search of the same aim found.
void merge(SearchResult& into, const SearchResult& more, int top);

}  // namespace sextant
