// SPDX-License-Identifier: Apache-2.0
// A technology whose numbers have ranges, as it may turn out: every cause of doubt is a share of
// likelihood between 0 and 1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/tech/generate.hpp"

namespace sextant {

/// A device's parts and the network around it.
struct SpreadParts {
  Technology technology;
  LinkPart network;
};

class Spread {
 public:
  /// Of the parts that such a budget uses.
  Spread(SpreadParts parts, const Budget& budget);

  /// "a14 logic": one for each number that moves on its own. A process that is that of several
  /// dies, or of the core's clock too, is one process.
  const std::vector<std::string>& causes() const { return causes_; }

  /// The parts where each cause lies at its share, in the order of causes().
  SpreadParts at(const std::vector<double>& shares) const;

 private:
  SpreadParts parts_;
  bool bridges_ = false;
  bool bonds_ = false;
  bool tier_ = false;
  std::vector<std::string> causes_;
};

/// Digits of `n` mirrored at the point: numbers that fill [0, 1) evenly (van der Corput; Halton
/// takes a prime for each dimension).
double mirrored(int n, int base);

/// `samples` points of the unit cube, of which each stratum of each dimension has one, jittered;
/// the same for the same seed everywhere.
std::vector<std::vector<double>> latin_hypercube(int samples, std::size_t dimensions,
                                                 std::uint64_t seed);

}  // namespace sextant
