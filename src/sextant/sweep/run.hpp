// SPDX-License-Identifier: Apache-2.0
// A whole sweep: from a plan to a store, begun anew or gone on with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sextant/io/store.hpp"
#include "sextant/sweep/evaluator.hpp"
#include "sextant/sweep/plan.hpp"

namespace sextant::sweep {

/// Points that are still to be answered, cut into chunks.
class Worklist {
 public:
  Worklist() = default;
  Worklist(std::vector<PointRange> ranges, std::uint64_t chunk_points);

  std::uint64_t points() const { return points_; }
  std::uint64_t chunks() const { return (points_ + chunk_points_ - 1) / chunk_points_; }
  /// Calls `visit(point)` for each point of a chunk, in order.
  void each(std::uint64_t chunk, const std::function<void(std::uint64_t point)>& visit) const;

  const std::vector<PointRange>& ranges() const { return ranges_; }
  std::uint64_t chunk_points() const { return chunk_points_; }

 private:
  std::vector<PointRange> ranges_;
  std::vector<std::uint64_t> starts_;  ///< points before each range
  std::uint64_t points_ = 0;
  std::uint64_t chunk_points_ = 1;
};

/// Where the results go.
struct Target {
  std::string path;
  StoreFormat format = StoreFormat::sqlite;
  bool resume = false;
  std::string version;  ///< of the program
};

/// A plan's store, opened.
class Results {
 public:
  /// Refuses, with InputError, a store that is there already unless it may be gone on with: its
  /// plan, the presets it names and the version must be the same.
  Results(const Plan& plan, const Target& target);

  /// What is left to do, in chunks for so many workers.
  Worklist worklist(int workers) const;
  /// Writes a chunk's rows; commits now and then.
  void take(const Worklist& worklist, const Chunk& chunk);
  void commit();

  std::uint64_t written() const { return written_; }
  /// Of these, those that survive whatever happens.
  std::uint64_t committed() const { return committed_; }
  /// How often each verdict was given, of the rows written.
  std::vector<std::pair<std::string, std::uint64_t>> verdicts() const;

 private:
  void write_row(std::uint64_t point, const double* values, const Chunk& chunk);

  const Plan& plan_;
  const std::vector<Output> outputs_;
  std::unique_ptr<Store> store_;
  std::vector<Cell> cells_;
  std::vector<std::size_t> digits_;
  std::vector<std::uint64_t> verdicts_;  ///< by code; the last: all that a chunk has a text for
  std::uint64_t written_ = 0;
  std::uint64_t committed_ = 0;
  double next_commit_ = 0;  ///< on a steady clock
};

/// The chunk's points, answered.
Chunk answer_chunk(Evaluator& evaluator, const Worklist& worklist, std::uint64_t number);

struct RunOptions {
  int threads = 1;
  InnerSearch search;
  std::function<bool()> stopped = [] { return false; };
  std::function<void(std::uint64_t done)> progress = [](std::uint64_t) {};
};

/// Answers everything that is missing. Returns early where it is stopped; all that was answered is
/// committed then.
void run(const Plan& plan, Results& results, const RunOptions& options);

/// Points a second of one thread, without a store: from points spread over the plan, for about that
/// many seconds.
double measure_rate(const Plan& plan, const InnerSearch& search, double seconds);

/// Facts of a plan, as stored beside its results.
StoreFacts facts_of(const Plan& plan, const std::string& version);

}  // namespace sextant::sweep
