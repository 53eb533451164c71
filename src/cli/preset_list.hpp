// SPDX-License-Identifier: Apache-2.0
// Presets of one kind with the numbers that tell them apart.
#pragma once

#include "sextant/io/node.hpp"
#include "sextant/io/presets.hpp"

namespace sextant::cli {

/// A list of objects, each with its name; quantities in SI base units.
Node preset_entries(PresetKind kind);

}  // namespace sextant::cli
