// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/search.hpp"

#include <algorithm>
#include <optional>

#include "sextant/predict/step.hpp"
#include "sextant/search/bounded.hpp"
#include "sextant/search/findings.hpp"
#include "sextant/search/parallel.hpp"

namespace sextant {
namespace {

/// One thread: takes units, keeps the mappings of the cut it is at.
class PointWorker {
 public:
  PointWorker(const Problem& p, const SearchSpace& space, const SearchPlan& plan,
              const SearchAim& aim, Bytes memory)
      : findings(aim, memory), p_(p), space_(space), plan_(plan) {}

  /// Returns the points passed.
  std::uint64_t run(std::size_t index) {
    const SearchUnit unit = unit_of(space_, plan_, index);
    load(unit.cut);
    std::optional<Block> block;
    std::uint64_t place = 0;
    for (std::size_t i = 0; i < mappings_.size(); ++i) {
      Strategy s = with_mapping(unit.strategy, mappings_[i]);
      if (i == 0 || !dealt_alike(mappings_[i], mappings_[i - 1])) {
        counts_ = layer_counts(p_, space_, s);
        ways_.assign(counts_.size(), {});
      }
      std::optional<Sending> hop;
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
        if (!hop) hop = transfer_of(p_, s, *block, prepared_[i]);
        for (std::size_t k = 0; k < counts_.size(); ++k) {
          s.recompute_layers = counts_[k];
          const Passage& way = ways_[k].of(p_, s, *block, prepared_[i].stages);
          const std::uint64_t order = (static_cast<std::uint64_t>(index) << 32U) | place++;
          findings.add(s, evaluate(p_, s, *block, prepared_[i], way, *hop), order);
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

  const Problem& p_;
  const SearchSpace& space_;
  const SearchPlan& plan_;
  std::optional<std::size_t> cut_;
  std::vector<Strategy> mappings_;
  std::vector<Mapping> prepared_;
  std::vector<bool> ready_;
  std::vector<int> counts_;
  std::vector<Passages> ways_;  ///< by number of layers
};

}  // namespace

SearchResult search(const Problem& problem, const SearchSpace& space, const SearchPlan& plan,
                    const SearchAim& aim, SearchProgress& progress) {
  if (!aim.exhaustive) return search_bounded(problem, space, plan, aim, progress);
  const Bytes memory = aim.max_memory.value > 0 ? aim.max_memory : problem.capacity;
  const int threads = std::max(1, aim.threads);
  std::vector<PointWorker> workers;
  workers.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) workers.emplace_back(problem, space, plan, aim, memory);
  for_each_unit(threads, plan.units, progress.stop, [&](int thread, std::size_t unit) {
    progress.done += workers[static_cast<std::size_t>(thread)].run(unit);
  });
  Findings all(aim, memory);
  for (PointWorker& w : workers) all.add(w.findings);
  SearchResult result = all.result(plan.points);
  result.stopped = result.skipped > 0;
  if (result.stopped) result.bound = 0;
  return result;
}

}  // namespace sextant
