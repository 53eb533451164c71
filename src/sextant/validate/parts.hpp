// SPDX-License-Identifier: Apache-2.0
// Everything that a row of kind train or infer names, found among the presets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/validate/validate.hpp"

namespace sextant {

/// As the row writes it; `columns` are kept by reference.
struct PartNames {
  const std::string& system;
  const std::string& runtime;
  const std::string& model;
  const ModelColumns& columns;
  int context = 0;                     ///< that a model without a preset must hold
  std::string_view backend = {};       ///< of attention; empty: as the runtime does
  std::vector<Setting> settings = {};  ///< of the runtime, over its preset
};

struct Parts {
  const System* system = nullptr;
  Runtime runtime;
  Libraries libraries;
  Model model;
};

/// Nothing, and the reason, where a preset is missing or the model's columns do not fit together.
std::optional<Parts> find_parts(const PartNames& names, Catalogue& catalogue, std::string& reason);

/// Messages in one line.
std::string joined(const std::vector<Diagnostic>& problems);

}  // namespace sextant
