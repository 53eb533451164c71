// SPDX-License-Identifier: Apache-2.0
// What other tools' arguments mean here: one table a format (presets/imports), read as it is
// written. Each argument is used, irrelevant or not modelled; none is passed over.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/scenario/inputs.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {

/// What becomes of an argument.
enum class Disposition : std::uint8_t {
  used,        ///< it is in the scenario
  irrelevant,  ///< it changes no time, no memory and no energy
  unmodelled,  ///< it may, and the scenario does not have it
};
constexpr auto names_of(Disposition) {
  return std::array<std::string_view, 3>{"used", "irrelevant", "not modelled"};
}

/// What a table says of one argument.
struct ImportRule {
  Disposition disposition = Disposition::used;
  /// Of the scenario ("tp"), a setting ("runtime.launch.graph"), a field of a model that is spelt
  /// out ("model.layers"), or a fact that others follow from ("_nodes").
  std::string field = {};
  std::map<std::string, std::string> values = {};  ///< what each value means; "": nothing is said
  std::map<std::string, std::string> sets = {};    ///< what follows where it is on
  std::string why = {};                            ///< it is irrelevant, or may cost
};

/// Fields that a value is the matter of, with theirs: "@_narrow=fp8 @_narrow_weights=true". Empty
/// where it is its own field's.
std::vector<std::pair<std::string, std::string>> meant_for_others(std::string_view value);

enum class ImportSyntax : std::uint8_t { command, yaml, json, toml };
constexpr auto names_of(ImportSyntax) {
  return std::array<std::string_view, 4>{"command", "yaml", "json", "toml"};
}

struct ImportFormat {
  std::string name;   ///< "vllm"
  std::string title;  ///< for people
  std::vector<ImportSyntax> syntaxes;
  std::string task;                              ///< "train", "infer", or empty: as asked
  std::string runtime;                           ///< the preset that stands for the tool
  std::vector<std::string> programs;             ///< what a command line calls: "vllm serve"
  std::vector<std::vector<std::string>> detect;  ///< a file that has all keys of one of these
  std::string positional;                        ///< the field of a word without a flag
  std::vector<std::string> switches;             ///< flags without a value
  std::vector<std::string> many;                 ///< flags with several
  bool suffixes = false;  ///< numbers may be written 8k (thousands) and 8K (times 1024)
  std::string root;       ///< of the keys in a file: "modules.pre_trainer.overrides"
  std::map<std::string, ImportRule> rules;    ///< by name; "a.*" is all below
  std::map<std::string, std::string> absent;  ///< the tool's default for a field not given
  const ImportFormat* base = nullptr;         ///< whose rules hold as well
  std::vector<std::string> under;             ///< tables of a file that hold the base's keys

  /// The rule for a name, or null. A flag may be written with '_' for '-'.
  const ImportRule* find(std::string_view argument) const;
  bool reads(ImportSyntax syntax) const { return contains(syntaxes, syntax); }
  bool is_switch(std::string_view argument) const;
  bool takes_many(std::string_view argument) const;
  std::vector<std::string> names() const;

 private:
  /// By its name alone, or by what is above it.
  const ImportRule* look_up(const std::string& key, bool exact) const;
};

/// By the ending of its name; of a text without one, by what it looks like.
ImportSyntax syntax_of(std::string_view text, std::string_view file);

/// All of presets/imports, read once; a fault in them throws InputError.
const std::vector<ImportFormat>& import_formats();
/// Flags of what starts programs: torchrun and its kin.
const ImportFormat& launcher_format();

}  // namespace sextant
