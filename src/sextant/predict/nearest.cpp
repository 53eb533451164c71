// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sextant {
namespace {

constexpr std::int64_t most_tries = 1'000'000;

std::string in_words(std::int64_t below, std::int64_t above) {
  if (below > 0 && above > 0) return fmt::format("{} or {} are the nearest", below, above);
  if (below > 0 || above > 0) return fmt::format("{} is the nearest", std::max(below, above));
  return "";
}

}  // namespace

std::string nearest(std::int64_t value, std::int64_t limit,
                    const std::function<bool(std::int64_t)>& keeps) {
  limit = std::min({limit, 16 * value, value + most_tries});
  const std::int64_t least = std::max<std::int64_t>(1, value - most_tries);
  std::int64_t below = std::min(value - 1, limit);
  while (below >= least && !keeps(below)) --below;
  std::int64_t above = value + 1;
  while (above <= limit && !keeps(above)) ++above;
  return in_words(below >= least ? below : 0, above <= limit ? above : 0);
}

std::string nearest_multiple(std::int64_t value, std::int64_t step) {
  const std::int64_t below = value / step * step;
  return in_words(below, below + step);
}

}  // namespace sextant
