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
  if (options.gpus) how.given.set("gpus", Node::of(*options.gpus));
  if (options.what.size() > 1) return answer_of(import_command(options.what, how));
  if (options.what.empty())
    throw InputError("nothing to import", "give a file, or -- and a command");
  const std::string& what = options.what.front();
  // A command in quotes has blanks; requests over a network name no files.
  if (common.lookup == Lookup::presets || what.find(' ') != std::string::npos) {
    return answer_of(import_text(what, "command line", how));
  }
  return answer_of(import_text(read_file(what), what, how));
}

}  // namespace sextant::cli
