// SPDX-License-Identifier: Apache-2.0
// What `sextant profile` says: a profiler's trace beside the model.
#pragma once

#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/profile/analyse.hpp"

namespace sextant {

struct ProfileResult {
  std::string trace;    ///< its file
  std::string device;   ///< the preset
  bool pieces = false;  ///< say what ran when
  profile::Profile profile;
  std::vector<std::string> assumptions;
};

/// What the trace leaves open, in sentences; throws InputError where it says nothing of shapes.
std::vector<std::string> assumptions_of(const profile::Recording& recording,
                                        const std::string& device);
Answer answer_of(const ProfileResult& result);

}  // namespace sextant
