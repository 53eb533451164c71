// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "sextant/options/option.hpp"
#include "sextant/spec/describe.hpp"
#include "sextant/units/format.hpp"

namespace sextant {

/// What a number may be: "1 to 100", "1 or more", "more than 0, 1 at most".
inline std::string range_words(const OptionInfo& info) {
  if (info.min == above_zero) {
    return std::isfinite(info.max) ? "more than 0, " + write_number(info.max) + " at most"
                                   : "more than 0";
  }
  if (!std::isfinite(info.max)) return write_number(info.min) + " or more";
  if (!std::isfinite(info.min)) return write_number(info.max) + " or less";
  return write_number(info.min) + " to " + write_number(info.max);
}

}  // namespace sextant
