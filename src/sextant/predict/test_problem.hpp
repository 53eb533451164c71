// SPDX-License-Identifier: Apache-2.0
// Problems for tests, with the libraries that the runtime calls on the system.
#pragma once

#include <string_view>

#include "sextant/io/presets.hpp"
#include "sextant/predict/problem.hpp"

namespace sextant::test {

template <class Work>
Problem problem_of(const System& system, const Runtime& runtime, const Model& model,
                   const Work& work) {
  return prepare(system, runtime, load_libraries(system, runtime), model, work);
}

/// Of presets by name.
template <class Work>
Problem problem_of(std::string_view system, std::string_view runtime, std::string_view model,
                   const Work& work) {
  return problem_of(load_system(system), load_runtime(runtime), load_model(model), work);
}

inline Tier tier_of(double gigabytes, double terabytes_per_second, bool read_only = false) {
  Tier t;
  t.capacity = Bytes(gigabytes * 1e9);
  t.bandwidth = BytesPerSecond(terabytes_per_second * 1e12);
  t.read_only = read_only;
  return t;
}

}  // namespace sextant::test
