// SPDX-License-Identifier: Apache-2.0
// Another tool's configuration as a scenario. Nothing is executed and nothing is guessed: every
// argument is accounted for, and what cannot be known from the text is said to be missing.
#pragma once

#include <string>
#include <vector>

#include "sextant/import/format.hpp"
#include "sextant/io/node.hpp"
#include "sextant/scenario/inputs.hpp"

namespace sextant {

/// Whether a scenario's field is one of those that requests over time have beside the others.
bool is_engine_field(std::string_view name);

/// One argument, and what became of it.
struct ImportedArgument {
  std::string name;   ///< as it was written: "--tensor-parallel-size", "model.num_layers"
  std::string value;  ///< empty: a switch
  Place place;
  Disposition disposition = Disposition::used;
  std::string field;  ///< that it gives; of what is used
  std::string why;    ///< it changes nothing, or what it may cost
};

/// A field that the tool decides where its arguments do not.
struct ImportedDefault {
  std::string field;
  std::string value;
};

struct Imported {
  std::string format;  ///< "vllm"
  std::string title;
  Task task = Task::train;
  /// Fields by the names of flags, as a scenario file has them; settings under "set".
  Node scenario = Node::table();
  std::vector<ImportedArgument> arguments;
  std::vector<ImportedDefault> defaults;
  std::vector<std::string> missing;  ///< "system: …"; what no argument says and a prediction needs
};

struct ImportHints {
  std::string format;          ///< by name; empty: by what the text looks like
  std::string task;            ///< "train" or "infer"; empty: the format's own
  Node given = Node::table();  ///< fields that win over what the text says
};

/// A file's text; its name tells YAML, JSON, TOML and scripts apart. Throws InputError with every
/// unknown argument and every contradiction, each with its place.
Imported import_text(std::string text, std::string file, const ImportHints& options = {});

/// A command line, one word each.
Imported import_command(const std::vector<std::string>& words, const ImportHints& options = {});

}  // namespace sextant
