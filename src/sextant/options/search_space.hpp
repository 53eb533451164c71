// SPDX-License-Identifier: Apache-2.0
// From options to a space to search and what is sought in it.
#pragma once

#include "sextant/options/scenario.hpp"
#include "sextant/options/search.hpp"

namespace sextant {

inline AskedOf asked_of(const SearchOptions& o, const Common& common) {
  return {o.given, [&](Task task) { return question_of(o, common, task); }};
}
inline TrainingSearch read_training_search(const SearchOptions& o, const Common& common) {
  return read_training_search(o, asked_of(o, common));
}
inline ServingSearch read_serving_search(const SearchOptions& o, const Common& common) {
  return read_serving_search(o, asked_of(o, common));
}

}  // namespace sextant
