// SPDX-License-Identifier: Apache-2.0
// What commands share in reading their flags.
#pragma once

#include <string>
#include <vector>

#include "sextant/io/settings.hpp"
#include "sextant/options/common.hpp"
#include "sextant/spec/flags.hpp"

namespace sextant {

/// The --set options, whose paths must start with one of `roots`.
inline std::vector<Setting> settings_of(const Common& common,
                                        const std::vector<std::string>& roots) {
  std::vector<Setting> settings;
  for (const std::string& s : common.set) settings.push_back(parse_setting(s));
  check_roots(settings, roots);
  return settings;
}

}  // namespace sextant
