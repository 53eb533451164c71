// SPDX-License-Identifier: Apache-2.0
// `sextant import`: another tool's configuration as a scenario.
#include "sextant/import/import.hpp"

#include "cli/commands.hpp"
#include "sextant/answer/import.hpp"
#include "sextant/io/files.hpp"

namespace sextant::cli {

Answer run_import(const ImportOptions& options, const Common& common) {
  ImportHints how{.format = options.as, .task = options.task};
  if (!options.model.name.empty()) how.given.set("model", Node::of(options.model.name));
  if (!options.system.name.empty()) how.given.set("system", Node::of(options.system.name));
  if (options.model.object != nullptr || options.system.object != nullptr) {
    throw InputError("import: model and system are names here", "a scenario holds names");
  }
  if (options.gpus) how.given.set("gpus", Node::of(*options.gpus));
  if (options.what.size() > 1) return answer_of(import_command(options.what, how));
  if (options.what.empty())
    throw InputError("nothing to import", "give a file, or -- and a command");
  const std::string& what = options.what.front();
  // A command in quotes has blanks; requests over a network name no files.
  const bool text = common.lookup == Lookup::presets || what.find(' ') != std::string::npos;
  const std::string name = !options.name.empty() ? options.name : text ? "command line" : what;
  return answer_of(import_text(text ? what : read_file(what), name, how));
}

}  // namespace sextant::cli
