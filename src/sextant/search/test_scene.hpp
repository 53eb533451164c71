// SPDX-License-Identifier: Apache-2.0
// What tests of this folder search.
#pragma once

#include "sextant/io/presets.hpp"
#include "sextant/predict/problem.hpp"

namespace sextant {

inline Problem problem_for(const char* model, const char* system, int batch) {
  const Runtime runtime = load_runtime("megatron-core");
  return prepare(load_system(system), runtime, load_libraries(load_system(system), runtime),
                 load_model(model), Training{.batch = batch, .seq = 2048});
}

}  // namespace sextant
