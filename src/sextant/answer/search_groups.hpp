// SPDX-License-Identifier: Apache-2.0
// Which of the best strategies cannot be told apart: their times differ by less than predictions of
// this kind err. And which of them choose what nobody measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/predict/uncertainty.hpp"
#include "sextant/search/question.hpp"

namespace sextant {

/// Surely faster: as often as an interval holds.
inline constexpr double surely = Interval::level;

Likeness likeness_of(const TrainingSearch& asked, const Found& found);
Likeness likeness_of(const ServingSearch& asked, const ServingFound& found);

/// A strategy and its time; nothing where what is sought is none, of which errors are known.
std::optional<Contender> contender_of(const TrainingSearch& asked, const Found& found);
std::optional<Contender> contender_of(const ServingSearch& asked, const ServingFound& found);

/// Of each of a list.
using UnmeasuredOfEach = std::vector<std::vector<Unmeasured>>;
UnmeasuredOfEach unmeasured_of(const TrainingSearch& asked, const std::vector<Found>& found);
UnmeasuredOfEach unmeasured_of(const ServingSearch& asked, const std::vector<ServingFound>& found);
/// A column "cp, devices" beside a list, which people see where there is any.
void mark(Records& rows, const UnmeasuredOfEach& of_each);
/// Every sentence once, with the numbers of those in the list that it is true of.
void say(Answer& answer, const UnmeasuredOfEach& of_each);

/// Neighbours of a list of the best.
struct Alike {
  std::size_t first = 0;
  std::size_t last = 0;         ///< one after the last
  std::size_t recommended = 0;  ///< nearest to what was measured; of those, the fewest axes set
  std::string summary = {};     ///< of it
  double chance = 0.5;          ///< that the first is faster than it
  bool nearer = false;          ///< others of the group lie further from everything measured
};

/// In order. The first of a group is not surely (nine in ten) faster than any other of it; errors
/// that two strategies of the same model, device and runtime have in common cancel
/// (predict/uncertainty.hpp). Nothing where what is sought is no time.
std::vector<Alike> groups_of(const TrainingSearch& asked, const std::vector<Found>& best);
std::vector<Alike> groups_of(const ServingSearch& asked, const std::vector<ServingFound>& best);

/// Where the first group's choice was not measured: of other strategies the one nearest to what
/// was, that the first is not surely faster than.
std::optional<Found> measured_instead(const TrainingSearch& asked, const SearchResult& result,
                                      const std::vector<Alike>& groups);

/// "groups".
void add(Answer& answer, const std::vector<Alike>& groups);
void say(Answer& answer, const std::vector<Alike>& groups);

}  // namespace sextant
