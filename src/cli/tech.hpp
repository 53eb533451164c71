// SPDX-License-Identifier: Apache-2.0
// Technologies by name, and problems around generated systems, for `sextant tech` and the studies.
#pragma once

#include <string>
#include <vector>

#include "sextant/io/presets.hpp"
#include "sextant/io/settings.hpp"
#include "sextant/predict/problem.hpp"
#include "sextant/tech/generate.hpp"

namespace sextant::cli {

/// Names of presets; an empty one is what devices of the node usually have.
struct TechnologyNames {
  std::string node;
  std::string dram;
  std::string link = {};
  std::string core = {};
};
Technology load_technology(const TechnologyNames& names, const std::vector<Setting>& settings = {},
                           Lookup lookup = Lookup::anywhere);

/// A training problem with the runtime's kernel library for the system's device.
Problem problem_of(const System& system, const char* runtime, const Model& model,
                   const Training& work);

}  // namespace sextant::cli
