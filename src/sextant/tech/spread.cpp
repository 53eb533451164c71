// SPDX-License-Identifier: Apache-2.0
#include "sextant/tech/spread.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

/// Moves one field of a described struct: a visitor of its describe().
struct Move {
  const Range& range;
  double share;

  template <class T>
  void operator()(std::string_view name, T& value, const Field& = {}) const {
    if (name != range.field) return;
    if constexpr (is_quantity<T>) {
      value.value = within_range(range, value.value, share);
    } else if constexpr (std::is_same_v<T, double>) {
      value = within_range(range, value, share);
    }
  }
};

template <class Part>
std::string cause_of(const Part& part, const Range& r) {
  return part.name + " " + (r.cause.empty() ? r.field : r.cause);
}

struct Uses {
  bool bridges;
  bool bonds;
  bool tier;
};
template <class Visit>
void visit_parts(SpreadParts& p, Uses uses, const Visit& visit) {
  visit(p.technology.node);
  visit(p.technology.core_node);
  for (Chiplet& c : p.technology.chiplets) visit(c.node);
  visit(p.technology.memory);
  if (uses.tier) visit(p.technology.tier);
  visit(p.technology.core);
  visit(p.technology.link);
  if (uses.bridges) visit(p.technology.bridge);
  if (uses.bonds) visit(p.technology.bond);
  visit(p.network);
}

/// SplitMix64 (Steele, Lea and Flood 2014): standard generators are the same everywhere, but their
/// distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(unit() * static_cast<double>(n));
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace

Spread::Spread(SpreadParts parts, const Budget& budget)
    : parts_(std::move(parts)),
      bridges_(budget.dies > 1 || !parts_.technology.chiplets.empty()),
      bonds_(!parts_.technology.chiplets.empty()),
      tier_(budget.tier_parts > 0) {
  visit_parts(parts_, {bridges_, bonds_, tier_}, [&](const auto& part) {
    for (const Range& r : part.ranges) {
      const std::string name = cause_of(part, r);
      if (!contains(causes_, name)) {
        causes_.push_back(name);
      }
    }
  });
}

SpreadParts Spread::at(const std::vector<double>& shares) const {
  SpreadParts out = parts_;
  visit_parts(out, {bridges_, bonds_, tier_}, [&](auto& part) {
    const Ranges ranges = std::exchange(part.ranges, {});  // where it lies is known now
    for (const Range& r : ranges) {
      const auto cause = std::find(causes_.begin(), causes_.end(), cause_of(part, r));
      const double share = shares.at(static_cast<std::size_t>(cause - causes_.begin()));
      Move move{r, r.against ? 1 - share : share};
      describe(move, part);
    }
  });
  return out;
}

double mirrored(int n, int base) {
  double x = 0;
  for (double digit = 1.0 / base; n > 0; n /= base, digit /= base) x += n % base * digit;
  return x;
}

std::vector<std::vector<double>> latin_hypercube(int samples, std::size_t dimensions,
                                                 std::uint64_t seed) {
  const auto n = static_cast<std::size_t>(samples);
  std::vector<std::vector<double>> points(n, std::vector<double>(dimensions));
  Random random(seed);
  std::vector<std::size_t> strata(n);
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::iota(strata.begin(), strata.end(), std::size_t{0});
    for (std::size_t i = n; i > 1; --i) std::swap(strata[i - 1], strata[random.below(i)]);
    for (std::size_t i = 0; i < n; ++i) {
      points[i][d] = (static_cast<double>(strata[i]) + random.unit()) / static_cast<double>(n);
    }
  }
  return points;
}

}  // namespace sextant
