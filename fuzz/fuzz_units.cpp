// SPDX-License-Identifier: Apache-2.0
// Any bytes as a quantity or a setting of anything; a quantity that was read is finite, and stays
// what it is when it is written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sextant/io/presets.hpp"
#include "sextant/io/settings.hpp"
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

/// Of a new T where the setting is for one.
template <class T>
void apply_to(const sextant::Setting& setting, const char* root, T value = {}) {
  if (sextant::root_of(setting) == root) sextant::apply({setting}, value, root);
}

void check_setting(const std::string& text) {
  using namespace sextant;
  try {
    const Setting setting = parse_setting(text);
    System system;
    system.fabrics.resize(1);
    apply_to(setting, "system", system);
    apply_to<Device>(setting, "device");
    apply_to<Model>(setting, "model");
    apply_to<Runtime>(setting, "runtime");
    apply_to<Kernels>(setting, "kernels");
    apply_to<LogicNode>(setting, "node");
    apply_to<MemoryPart>(setting, "dram");
    apply_to<LinkPart>(setting, "link");
    apply_to<CoreTemplate>(setting, "core");
  } catch (const InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_quantity(text);
  check_setting(text);
  return 0;
}
