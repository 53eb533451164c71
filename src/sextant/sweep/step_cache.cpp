// SPDX-License-Identifier: Apache-2.0
#include "sextant/sweep/step_cache.hpp"

namespace sextant::sweep {
namespace {

/// Entries of each kind: a few megabytes, and more than a plan's inner axes mostly combine to.
constexpr std::size_t entries = 1024;

/// Where an entry belongs. Two that meet there drive each other out; nothing worse.
std::size_t place_of(const Strategy& s, Scope scope, const Training& work) {
  return (hash_of(s, scope) ^ (static_cast<std::uint64_t>(work.seq) * 0x9e3779b9U)) % entries;
}

// The number of sequences makes microbatches, not layers or stages.
bool same_work(Training a, const Training& b) {
  a.batch = b.batch;
  return a == b;
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
  Entry<Block>& block = blocks_[place_of(s, Scope::block, work)];
  if (block.generation != generation_ || !same_work(block.work, work) ||
      !alike(block.strategy, s, Scope::block)) {
    block = {generation_, s, work, block_of(problem, s)};
  }
  Entry<Mapping>& mapping = mappings_[place_of(s, Scope::mapping, work)];
  if (mapping.generation != generation_ || !same_work(mapping.work, work) ||
      !alike(mapping.strategy, s, Scope::mapping)) {
    mapping = {generation_, s, work, mapping_of(problem, s)};
  }
  return sextant::evaluate(problem, s, block.value, mapping.value);
}

}  // namespace sextant::sweep
