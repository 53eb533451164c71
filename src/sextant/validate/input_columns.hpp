// SPDX-License-Identifier: Apache-2.0
// The columns of a case file that are fields of a scenario: their names, types and ranges are those
// of scenario/inputs.hpp.
#pragma once

#include <initializer_list>

#include "sextant/scenario/inputs.hpp"
#include "sextant/validate/row.hpp"

namespace sextant {

/// Reads every field of the task that the row has a cell for; those `required` must be there,
/// those of `others` are read by someone else.
Inputs read_input_columns(RowReader& row, Task task,
                          std::initializer_list<std::string_view> required,
                          std::initializer_list<std::string_view> others = {});

}  // namespace sextant
