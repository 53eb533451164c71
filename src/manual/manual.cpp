// SPDX-License-Identifier: Apache-2.0
#include "manual/manual.hpp"

#include "sextant/io/presets.hpp"

namespace sextant::manual {

Manual the_manual() {
  Manual m;
  m.version = SEXTANT_VERSION;
  m.commands = cli::describe_commands();
  m.groups.assign(cli::command_groups().begin(), cli::command_groups().end());
  const auto kinds = names_of(PresetKind{});
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    m.presets[std::string(kinds[i])] = preset_names(static_cast<PresetKind>(i));
  }
  return m;
}

bool takes_value(const OptionDescription& option) { return option.type != "boolean"; }

Values values_of(const OptionDescription& option) {
  Values v;
  v.words = option.choices;
  v.preset = option.preset;
  // A preset that may be written out in a request may be a file on the command line.
  v.files = option.object || option.placeholder == "FILE" || option.placeholder == "FOLDER";
  if (option.positional && v.words.empty() && v.preset.empty()) {
    v.files = true;
    if (!option.local) v.preset = "*";
  }
  return v;
}

std::vector<Entry> words_after(const Manual& manual, const std::string& group) {
  std::vector<Entry> words;
  std::string last_group;
  for (const CommandDescription& c : manual.commands) {
    const std::size_t blank = c.name.find(' ');
    const std::string own_group = blank == std::string::npos ? "" : c.name.substr(0, blank);
    if (own_group == group) {
      words.push_back({group.empty() ? c.name : c.name.substr(blank + 1), c.help});
    } else if (group.empty() && own_group != last_group) {
      for (const cli::CommandGroup& g : manual.groups) {
        if (g.name == own_group) words.push_back({own_group, std::string(g.help)});
      }
    }
    last_group = own_group;
  }
  return words;
}

std::vector<Page> shell_pages(const Manual& manual) {
  std::vector<Page> pages = {
      {"completions/sextant", bash_completion(manual)},  // the name that bash-completion loads
      {"completions/_sextant", zsh_completion(manual)},
      {"completions/sextant.fish", fish_completion(manual)},
  };
  for (Page& p : manual_pages(manual)) pages.push_back(std::move(p));
  return pages;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : separator) + w;
  return text;
}

}  // namespace sextant::manual
