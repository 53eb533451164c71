// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sextant {

bool divides(double part, double whole) { return part > 0 && std::fmod(whole, part) == 0; }

std::string nearest(double value, double limit, const Rule& keeps) {
  limit = std::min(limit, 16 * value);
  double below = std::min(value - 1, limit);
  while (below >= 1 && !keeps(below)) --below;
  double above = std::max(value + 1, 1.0);
  while (above <= limit && !keeps(above)) ++above;
  const bool has_below = below >= 1;
  const bool has_above = above <= limit;
  if (has_below && has_above) return fmt::format("{} or {} are the nearest", below, above);
  if (has_below) return fmt::format("{} is the nearest", below);
  if (has_above) return fmt::format("{} is the nearest", above);
  return "";
}

std::string nearest_multiple(double value, double step) {
  const double below = std::floor(value / step) * step;
  if (below < step) return fmt::format("{} is the nearest", step);
  return fmt::format("{} or {} are the nearest", below, below + step);
}

}  // namespace sextant
