// SPDX-License-Identifier: Apache-2.0
#include "sextant/sweep/step_cache.hpp"

#include <initializer_list>

namespace sextant::sweep {
namespace {

/// Entries of each kind: a few megabytes, and more than a plan's inner axes mostly combine to.
constexpr std::size_t entries = 1024;

/// Where an entry belongs. Two that meet there drive each other out; nothing worse.
std::size_t place_of(std::initializer_list<int> numbers) {
  std::uint64_t hash = 0;
  for (const int n : numbers) {
    hash = (hash ^ static_cast<std::uint64_t>(n)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  }
  return hash % entries;
}

// The number of sequences makes microbatches, not layers or stages.
bool same_work(const Training& a, const Training& b) {
  return a.seq == b.seq && a.optimizer == b.optimizer;
}

}  // namespace

Estimate StepCache::evaluate(const Problem& problem, const Strategy& s) {
  const Verdict verdict = legal(problem, s);
  if (verdict != Verdict::fits) {
    Estimate e;
    e.verdict = verdict;
    return e;
  }
  if (blocks_.empty()) {
    blocks_.resize(entries);
    mappings_.resize(entries);
  }
  const Training& work = problem.work;
  const auto recompute = static_cast<int>(s.recompute);
  const auto precision = static_cast<int>(s.precision);
  Entry<Block>& block = blocks_[place_of(
      {s.tp, s.cp, s.ep, s.microbatch, recompute, precision, s.sp ? 1 : 0, work.seq})];
  if (block.generation != generation_ || !same_work(block.work, work) ||
      !same_block(block.strategy, s)) {
    block = {generation_, s, work, block_of(problem, s)};
  }
  Entry<Mapping>& mapping = mappings_[place_of(
      {s.tp, s.pp, s.dp, s.cp, s.ep, s.interleave, s.zero, precision, work.seq})];
  if (mapping.generation != generation_ || !same_work(mapping.work, work) ||
      !same_mapping(mapping.strategy, s)) {
    mapping = {generation_, s, work, mapping_of(problem, s)};
  }
  return sextant::evaluate(problem, s, block.value, mapping.value);
}

}  // namespace sextant::sweep
