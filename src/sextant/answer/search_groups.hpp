// SPDX-License-Identifier: Apache-2.0
// Which of the best strategies cannot be told apart: their times differ by less than predictions of
// this kind err.
#pragma once

#include <string>
#include <vector>

#include "sextant/predict/uncertainty.hpp"
#include "sextant/search/question.hpp"

namespace sextant {

/// Surely faster: as often as an interval holds.
inline constexpr double surely = Interval::level;

/// Whether what is sought is a time, of which errors are known.
bool is_time(TrainingObjective objective);
/// A strategy and its score, of an objective that is a time.
Contender contender_of(const TrainingSearch& asked, const Found& found);

/// Neighbours of a list of the best.
struct Alike {
  std::size_t first = 0;
  std::size_t last = 0;      ///< one after the last
  std::size_t simplest = 0;  ///< with the fewest axes that are not left alone
  std::string summary = {};  ///< of the simplest
  double chance = 0.5;       ///< that the first is faster than it
};

/// In order. The first of a group is not surely (nine in ten) faster than any other of it; errors
/// that two strategies of the same model, device and runtime have in common cancel
/// (predict/uncertainty.hpp). Nothing where what is sought is no time.
std::vector<Alike> groups_of(const TrainingSearch& asked, const std::vector<Found>& best);

}  // namespace sextant
