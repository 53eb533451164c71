// SPDX-License-Identifier: Apache-2.0
// Quantities for people ("3.35 TB/s", three to four significant digits) and for files (round trip).
#pragma once

#include <string>

#include "sextant/units/quantity.hpp"

namespace sextant {

/// For reading: an SI prefix and `digits` significant digits ("12.4 µs", "80.0 GB").
std::string format_quantity(double value, Dimension dimension, int digits = 3);

/// For files: parses back to the same double ("3.35 TB/s", "1.83 GHz").
std::string write_quantity(double value, Dimension dimension);

/// The shortest decimal text that reads back as the same double.
std::string write_number(double value);

template <Dimension D>
std::string format(Quantity<D> q, int digits = 3) {
  return format_quantity(q.value, D, digits);
}
template <Dimension D>
std::string write(Quantity<D> q) {
  return write_quantity(q.value, D);
}

/// Memory sizes in binary units: "74.5 GiB".
std::string format_binary_bytes(double bytes, int digits = 3);

/// "12.3 %".
std::string format_percent(double share, int decimals = 1);

}  // namespace sextant
