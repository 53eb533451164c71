// SPDX-License-Identifier: Apache-2.0
// How sure a prediction is: an interval that holds nine times in ten among left-out measurements of
// questions like this one (split conformal prediction over log-ratios, by group: Vovk et al.,
// Algorithmic Learning in a Random World, section 4.5), widened where nothing is near and where a
// choice lies outside of everything measured.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sextant/predict/reach.hpp"

namespace sextant {

/// What makes questions alike.
struct Likeness {
  Asked question = Asked::train;
  std::string device = {};
  std::string runtime = {};
  bool experts = false;
  bool narrow = false;
  bool many_nodes = false;
  std::string model = {};
  bool assumed = false;  ///< a roofline stands for kernels
  std::vector<Choice> choices = {};
};

Likeness likeness_of(Asked question, std::string device, const Problem& problem,
                     const Strategy& strategy);

struct Interval {
  static constexpr double level = 0.9;
  double low = 1;   ///< times the predicted number
  double high = 1;  ///< of a time; a rate's is the inverse
  std::string basis = {};
  int cases = 0;
  std::vector<Unmeasured> unmeasured = {};  ///< choices outside of everything measured
};

/// The standard deviation of the logarithm that it stands for, were that normal.
double deviation_of(const Interval& interval);

/// For a time.
Interval interval_of(const Errors& errors, const Likeness& likeness);
/// For a rate that is work over that time.
inline Interval inverse(Interval i) {
  std::swap(i.low, i.high);
  i.low = 1 / i.low;
  i.high = 1 / i.high;
  return i;
}

/// A question and the time predicted for it, or for a unit of its work.
struct Contender {
  Likeness likeness;
  double seconds = 0;
};
/// How the time of the first is to that of the second. Logarithms of both errors are taken as
/// normal, with the spread of their intervals and what they share of it (SharedError): with the
/// same device and the same runtime a part of the error is the same, and cancels.
struct Relation {
  double chance_faster = 0.5;  ///< that the first is
  double low = 1;              ///< its time over the other's, nine times in ten
  double high = 1;
};
Relation relate(const Errors& errors, const Contender& first, const Contender& second);

}  // namespace sextant
