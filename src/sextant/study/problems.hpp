// SPDX-License-Identifier: Apache-2.0
// Technologies by name, problems around generated systems, and measurements that come with the
// program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/csv.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/settings.hpp"
#include "sextant/predict/problem.hpp"
#include "sextant/tech/generate.hpp"

namespace sextant::study {

/// Names of presets; an empty link or memory is what devices of the node usually have, and a core
/// of "own" theirs; without, it is one for all nodes. No node is H100's.
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

/// A 7B GPT on 1024 devices, 512 sequences: small enough for every device from V100's on.
Strategy small_strategy();

/// A case file of the program's own.
CsvTable shipped_cases(std::string_view file);

}  // namespace sextant::study
