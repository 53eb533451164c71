// SPDX-License-Identifier: Apache-2.0
// Where a number comes from: a tree whose parts explain their parent. Time, memory, energy and
// cost alike; text, JSON and pages all render this one struct.
#pragma once

#include <string>
#include <vector>

#include "sextant/report/table.hpp"
#include "sextant/units/quantity.hpp"

namespace sextant {

struct Breakdown {
  std::string label;
  double value = 0;  ///< in base units
  Dimension unit = {};
  double share = 0;       ///< of the root's value; fill_shares() sets it
  std::string note = {};  ///< why, in a few words; may be empty
  std::vector<Breakdown> parts = {};
};

/// Sets every share from the values, the root's being 1 (0 where the root's value is 0).
void fill_shares(Breakdown& root);

/// An indented tree: label, value, share, bar, note.
std::string render_text(const Breakdown& root);

}  // namespace sextant
