// SPDX-License-Identifier: Apache-2.0
// Where presets are found. Texts are looked up, not parsed: a program that wants one of two hundred
// models must not read them all.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/presets.hpp"

namespace sextant {

/// The text of one preset, found.
struct PresetSource {
  std::string identity = {};  ///< the same for the same text, however it was reached
  std::string file = {};      ///< for messages
  bool embedded = false;
  std::string folder = {};    ///< where relative paths in it start
  std::string stem = {};      ///< the preset's name where its text gives none
  std::string text = {};      ///< of the file, or of one [[model]] of it
  int first_line = 1;         ///< the line of the file on which `text` starts
  std::string fragment = {};  ///< the model to pick from a file of many
};

/// One [[model]] table in a file of many.
struct ModelSlice {
  std::string_view name;
  std::string_view text;
  int line = 1;
};

/// Finds the [[model]] tables by their headers and `name = "…"` lines, without parsing.
std::vector<ModelSlice> scan_models(std::string_view text);

struct CatalogQuery {
  PresetKind kind;
  std::string_view name;
  std::string_view folder = {};            ///< for relative paths
  std::vector<std::string> excluded = {};  ///< identities to pass over
  Lookup lookup = Lookup::anywhere;
};

/// Whether $SEXTANT_PATH names folders whose files may stand in for what is compiled in.
bool presets_overridden();

/// A path, then the folders of $SEXTANT_PATH, then what is compiled in. Throws std::system_error
/// for a path that cannot be read.
std::optional<PresetSource> find_preset(const CatalogQuery& query);

}  // namespace sextant
