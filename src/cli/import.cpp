// SPDX-License-Identifier: Apache-2.0
// `sextant import`: another tool's configuration as a scenario.
#include "sextant/import/import.hpp"

#include "cli/commands.hpp"
#include "sextant/answer/import.hpp"
#include "sextant/io/files.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/scenario/scenario.hpp"

namespace sextant::cli {

namespace {

/// With settings beside those that follow from the arguments.
Answer said(Imported imported, const Common& common) {
  settings_of(common, setting_roots());  // throws what is wrong with them
  if (common.set.empty()) return answer_of(imported);
  const Node* own = imported.scenario.find("set");
  Node all = own != nullptr ? *own : Node::array();
  for (const std::string& s : common.set) {
    all.push(Node::of(s));
    std::erase_if(imported.missing, [&](const std::string& m) {
      return m.starts_with(s.substr(0, s.find('=')) + ":");
    });
  }
  imported.scenario.set("set", std::move(all));
  return answer_of(imported);
}

}  // namespace

Answer run_import(const ImportOptions& options, const Common& common) {
  ImportHints how{.format = options.as, .task = options.task};
  if (!options.model.name.empty()) how.given.set("model", Node::of(options.model.name));
  if (!options.system.name.empty()) how.given.set("system", Node::of(options.system.name));
  if (options.model.object != nullptr || options.system.object != nullptr) {
    throw InputError("import: model and system are names here", "a scenario holds names");
  }
  if (options.gpus) how.given.set("gpus", Node::of(*options.gpus));
  if (options.what.size() > 1) return said(import_command(options.what, how), common);
  if (options.what.empty())
    throw InputError("nothing to import", "give a file, or -- and a command");
  const std::string& what = options.what.front();
  // A command in quotes has blanks; requests over a network name no files.
  const bool text = common.lookup == Lookup::presets || what.find(' ') != std::string::npos;
  const std::string name = !options.name.empty() ? options.name : text ? "command line" : what;
  return said(import_text(text ? what : read_file(what), name, how), common);
}

}  // namespace sextant::cli
