// SPDX-License-Identifier: Apache-2.0
// What tests of this folder search.
#pragma once

#include "sextant/predict/test_problem.hpp"

namespace sextant {

inline Problem problem_for(const char* model, const char* system, int batch) {
  return test::problem_of(system, "megatron-core", model, Training{.batch = batch, .seq = 2048});
}

}  // namespace sextant
