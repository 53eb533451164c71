// SPDX-License-Identifier: Apache-2.0
// `--from FILE`: a scenario, or another tool's configuration, in place of the options that are not
// given.
#pragma once

#include <string>
#include <vector>

#include "sextant/options/common.hpp"
#include "sextant/scenario/inputs.hpp"

namespace sextant::cli {

struct FromFile {
  const std::string& file;  ///< empty: there is none
  Task task;
};

/// Fills the options that are as new (as in `fresh`) with what the file says, and puts its settings
/// before the others. Returns remarks on what it said that no option has. Throws InputError, also
/// where something required is in neither.
std::vector<std::string> fill_from(const FromFile& from, const std::vector<Option>& options,
                                   const std::vector<Option>& fresh, Common& common);

}  // namespace sextant::cli
