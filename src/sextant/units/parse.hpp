// SPDX-License-Identifier: Apache-2.0
// Text such as "3.35 TB/s" or "400 Gb/s" to a quantity in base units. Nothing is guessed: a missing
// or foreign unit is an error that shows the form.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sextant/units/quantity.hpp"

namespace sextant {

/// A number in base units with the dimension its unit had.
struct ParsedQuantity {
  double value = 0;
  Dimension dimension;
};

/// Either a value or the reason there is none.
struct ParseResult {
  std::optional<ParsedQuantity> quantity;
  std::string problem;  ///< empty when `quantity` is set
};

/// Reads "<number> <unit>". `G` is 10^9, `Gi` is 2^30, `B` bytes, `b` bits.
ParseResult parse_quantity(std::string_view text);

/// An example of a well-formed quantity of this dimension, for messages: "1.5 TB/s".
std::string example_of(Dimension dimension);

/// Reads a plain number in full (no trailing characters); finite only.
std::optional<double> parse_number(std::string_view text);

/// Reads a count as people write large ones: "15T", "300 B" (billions), "1.4e12", "2048".
std::optional<double> parse_count(std::string_view text);

}  // namespace sextant
