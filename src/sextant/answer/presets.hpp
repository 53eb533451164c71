// SPDX-License-Identifier: Apache-2.0
// What `sextant list` and the page's lists say of presets: a record each.
#pragma once

#include "sextant/answer/answer.hpp"
#include "sextant/io/presets.hpp"

namespace sextant {

/// All of a kind, with the numbers that people choose by.
Records preset_records(PresetKind kind);

/// Of the kinds that a page lists.
Record presets_record();

/// "devices".
std::string plural(PresetKind kind);

/// Calls `visit` with the function that loads a preset of the kind.
template <class Visit>
auto visit_loader(PresetKind kind, const Visit& visit) {
  switch (kind) {
    case PresetKind::system:
      return visit([](const auto&... x) { return load_system(x...); });
    case PresetKind::model:
      return visit([](const auto&... x) { return load_model(x...); });
    case PresetKind::runtime:
      return visit([](const auto&... x) { return load_runtime(x...); });
    case PresetKind::kernel:
      return visit([](const auto&... x) { return load_kernels(x...); });
    case PresetKind::collective:
      return visit([](const auto&... x) { return load_collectives(x...); });
    case PresetKind::measurement:
      return visit([](const auto&... x) { return load_measurement(x...); });
    case PresetKind::node:
      return visit([](const auto&... x) { return load_node(x...); });
    case PresetKind::dram:
      return visit([](const auto&... x) { return load_dram(x...); });
    case PresetKind::link:
      return visit([](const auto&... x) { return load_link(x...); });
    case PresetKind::core:
      return visit([](const auto&... x) { return load_core(x...); });
    case PresetKind::device:
      break;
  }
  return visit([](const auto&... x) { return load_device(x...); });
}

}  // namespace sextant
