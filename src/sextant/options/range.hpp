// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "sextant/options/option.hpp"
#include "sextant/units/format.hpp"

namespace sextant {

/// What a number may be: "1 to 100", "1 or more".
inline std::string range_words(const OptionInfo& info) {
  if (!std::isfinite(info.max)) return write_number(info.min) + " or more";
  if (!std::isfinite(info.min)) return write_number(info.max) + " or less";
  return write_number(info.min) + " to " + write_number(info.max);
}

}  // namespace sextant
