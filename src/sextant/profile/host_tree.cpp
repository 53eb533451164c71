// SPDX-License-Identifier: Apache-2.0
#include "sextant/profile/host_tree.hpp"

#include <algorithm>

#include "sextant/profile/shape.hpp"

namespace sextant::profile {
namespace {

/// Operators inside one another that are looked at: more are no program's.
constexpr int deepest = 1000;

}  // namespace

HostTree::HostTree(const Recording& r)
    : r_(r), parents_(r.operators.size(), nobody), known_(r.texts.size(), 0) {
  std::uint32_t inner = nobody;
  for (std::uint32_t i = 0; i < r.operators.size(); ++i) {
    if (i > 0 && r.operators[i].thread != r.operators[i - 1].thread) inner = nobody;
    while (inner != nobody && r.operators[inner].end <= r.operators[i].start)
      inner = parents_[inner];
    parents_[i] = inner;
    inner = i;
  }
}

std::uint32_t HostTree::around(const Call& c) const {
  const auto after = std::upper_bound(
      r_.operators.begin(), r_.operators.end(), c, [](const Call& call, const OperatorCall& o) {
        return call.thread != o.thread ? call.thread < o.thread : call.start < o.start;
      });
  if (after == r_.operators.begin() || (after - 1)->thread != c.thread) return nobody;
  auto at = static_cast<std::uint32_t>(after - 1 - r_.operators.begin());
  for (int i = 0; at != nobody && r_.operators[at].end < c.start; ++i) {
    at = i < deepest ? parents_[at] : nobody;
  }
  return at;
}

std::uint32_t HostTree::with_sizes(std::uint32_t inner) {
  std::uint32_t at = inner;
  for (int i = 0; at != nobody && !has_sizes(r_.operators[at].shape); ++i) {
    at = i < deepest ? parents_[at] : nobody;
  }
  return at;
}

bool HostTree::has_sizes(std::uint32_t shape) {
  if (shape == 0 || shape >= known_.size()) return false;
  char& known = known_[shape];
  if (known == 0) known = shape_of(r_.texts[shape]).tensors.empty() ? 1 : 2;
  return known == 2;
}

}  // namespace sextant::profile
