// SPDX-License-Identifier: Apache-2.0
// Any bytes as a quantity or a setting; a quantity that was read is finite, and stays what it is
// when it is written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sextant/io/settings.hpp"
#include "sextant/spec/system.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"

namespace {

void check_quantity(const std::string& text) {
  const sextant::ParseResult first = sextant::parse_quantity(text);
  if (!first.quantity) {
    if (first.problem.empty()) std::abort();
    return;
  }
  const auto [value, dimension] = *first.quantity;
  if (!std::isfinite(value)) std::abort();
  sextant::format_quantity(value, dimension);
  const sextant::ParseResult second =
      sextant::parse_quantity(sextant::write_quantity(value, dimension));
  // A dimension without a unit of its own is written as a bare number.
  if (!second.quantity) return;
  const double tolerance = 1e-14 * std::abs(value);
  if (!(std::abs(second.quantity->value - value) <= tolerance)) std::abort();
  if (second.quantity->dimension != dimension) std::abort();
}

void check_setting(const std::string& text) {
  sextant::System system;
  system.fabrics.resize(1);
  try {
    const sextant::Setting setting = sextant::parse_setting(text);
    sextant::apply({setting}, system, "system");
    sextant::apply({setting}, system.device, "device");
  } catch (const sextant::InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_quantity(text);
  check_setting(text);
  return 0;
}
