// SPDX-License-Identifier: Apache-2.0
// What `sextant import` says: a scenario file, and what became of each argument.
#pragma once

#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/import/import.hpp"

namespace sextant {

/// The scenario as a file that `train`, `infer` and `traffic` take with --from, with a remark on
/// each argument.
std::string scenario_file(const Imported& imported);

Answer answer_of(const Imported& imported);

/// "not modelled: --enable-lora (adapters …)": what a prediction from it should be read with.
std::vector<std::string> remarks_of(const Imported& imported);

}  // namespace sextant
