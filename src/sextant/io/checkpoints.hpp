// SPDX-License-Identifier: Apache-2.0
// Published checkpoints (presets/imports/data/checkpoints.toml) and accelerators by the names they
// have elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"

namespace sextant {

/// A table that is compiled in, by its path under presets; throws InputError where there is none.
Document embedded_table(std::string_view path);

/// A published checkpoint: the preset of its shape, and the type its weights come in.
struct Checkpoint {
  std::string model;        ///< empty: none is known
  std::string precision;    ///< empty: as the tool loads it
  std::string activations;  ///< of Model::activations; empty: usual
};
/// By the name that it has on Hugging Face.
Checkpoint checkpoint_named(std::string_view name);
/// All names that are known, for suggestions.
std::vector<std::string> checkpoint_names();

/// The preset of a checkpoint of that name, whoever published it and whether or not that is said:
/// "Llama-3.1-8B-Instruct" is llama3.1-8b. Empty where none is known.
std::string model_like(std::string_view name);

/// The system of devices of an accelerator's product name ("NVIDIA H100-SXM-80GB"), or empty
/// (presets/imports/data/accelerators.toml).
std::string system_with(std::string_view accelerator);

}  // namespace sextant
