// SPDX-License-Identifier: Apache-2.0
// What sextant-manual makes of the descriptions of the commands: completion for three shells,
// manual pages, the functions of the Python package.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/command_table.hpp"

namespace sextant::manual {

using cli::CommandDescription;
using cli::OptionDescription;

/// Everything there is to say of the program.
struct Manual {
  std::string version;
  std::vector<CommandDescription> commands;
  std::vector<cli::CommandGroup> groups;
  std::map<std::string, std::vector<std::string>> presets;  ///< names by kind: "device", …
};
Manual the_manual();

/// The words a shell may offer for an option's value.
struct Values {
  std::vector<std::string> words = {};
  std::string preset = {};  ///< a kind of preset, "*" for any, or empty
  bool files = false;
};
Values values_of(const OptionDescription& option);
/// A switch takes none.
bool takes_value(const OptionDescription& option);

/// A word of help or of a page.
struct Entry {
  std::string name;
  std::string help;
};
/// What may follow "sextant", or "sextant GROUP".
std::vector<Entry> words_after(const Manual& manual, const std::string& group);

std::string bash_completion(const Manual& manual);
std::string zsh_completion(const Manual& manual);
std::string fish_completion(const Manual& manual);

/// A file of generated text and where it belongs below the output folder.
struct Page {
  std::string path;
  std::string text;
};
/// sextant(1), and one page a command.
std::vector<Page> manual_pages(const Manual& manual);

/// What a shell's user has: completions/… and man/man1/….
std::vector<Page> shell_pages(const Manual& manual);

/// python/sextant/_commands.py, and a module for each group of commands.
std::vector<Page> python_modules(const Manual& manual);

/// ui/answers.ts: the types of answers, for the page (ui/src/answers.ts).
Page answers_module();

/// ui/fields.ts: the fields of a scenario, for the page (ui/src/fields.ts).
Page fields_module(const Manual& manual);

/// Every occurrence of `from` becomes `to`.
std::string replaced(std::string text, const std::string& from, const std::string& to);
std::string joined(const std::vector<std::string>& words, const std::string& separator);

}  // namespace sextant::manual
