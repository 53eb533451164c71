// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/recipe.hpp"

#include <algorithm>

namespace sextant {
namespace {

/// The most ranks of a node that experts can be dealt to.
int expert_ranks(const Problem& p, const Strategy& s) {
  if (p.model.experts.count == 0) return 1;
  const int ranks = std::min(s.tp * s.dp, p.network.devices_per_node);
  int ep = 1;
  while (2 * ep <= ranks && p.model.experts.count % (2 * ep) == 0) ep *= 2;
  return ep;
}

/// Chunks a stage as Megatron's and NeMo's recipes set them: as many as leave each two layers, of
/// which embedding and loss may be one each (Llama 3.1 405B).
int usual_chunks(const Problem& p, Strategy s) {
  if (s.pp == 1 || !p.runtime.schedules.interleaved) return 1;
  for (s.interleave = (p.model.layers + 2) / s.pp / 2; s.interleave > 1; --s.interleave) {
    const int chunks = s.pp * s.interleave;
    const bool even = p.model.layers % chunks == 0 || (p.model.layers + 2) % chunks == 0;
    if (even && legal(p, s) == Verdict::fits) break;
  }
  return std::max(1, s.interleave);
}

}  // namespace

std::optional<Strategy> usual_recipe(const Problem& p, int devices, Precision precision) {
  for (const Recompute recompute : {Recompute::selective, Recompute::full}) {
    for (int size = 1; size <= devices; size *= 2) {
      if (devices % size != 0) break;
      Strategy s;
      s.tp = std::min(size, p.network.devices_per_node);
      s.pp = size / s.tp;
      s.dp = devices / size;
      s.ep = expert_ranks(p, s);
      s.sp = s.tp > 1 && p.runtime.sequence_parallel;
      s.zero = s.dp > 1 ? 1 : 0;
      s.recompute = recompute;
      s.precision = precision;
      s.interleave = usual_chunks(p, s);
      if (evaluate(p, s).verdict == Verdict::fits) return s;
    }
  }
  return std::nullopt;
}

}  // namespace sextant
