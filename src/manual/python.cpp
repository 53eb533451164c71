// SPDX-License-Identifier: Apache-2.0
// The functions of the Python package, one a command, with types and docstrings. They are written
// out rather than made at run time so that editors and type checkers know every argument.
#include <algorithm>
#include <array>

#include "manual/manual.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::manual {
namespace {

/// All but what every command has to shape its text: Python gets values, not a format or a file. A
/// command's own "output" or "format" stays.
bool is_for_python(const OptionDescription& option) {
  Common common;
  const std::vector<Option> shared = options_of(common);
  return std::none_of(shared.begin(), shared.end(), [&](const Option& o) {
    return o.name != "set" && o.info.help == option.help;
  });
}

bool is_keyword(const std::string& name) {
  constexpr std::array<std::string_view, 12> keywords = {
      "as", "class", "def", "for", "from", "global", "if", "import", "in", "is", "lambda", "with"};
  return contains(keywords, name);
}

std::string argument_name(const OptionDescription& option) {
  return is_keyword(option.name) ? option.name + "_" : option.name;
}

std::string type_of(const OptionDescription& option) {
  if (option.object) return "Preset";
  if (option.name == "set") return "Settings";
  if (option.type == "array") return "Texts";
  if (option.number) return "str | float";
  if (option.type == "boolean") return "bool";
  if (option.type == "integer") return "int";
  if (option.type == "number") return "float";
  return option.placeholder == "FILE" || option.placeholder == "FOLDER" ? "Path" : "str";
}

std::string argument(const OptionDescription& option) {
  const std::string start = "    " + argument_name(option) + ": " + type_of(option);
  return start + (option.required && option.unless.empty() ? ",\n" : " | None = None,\n");
}

std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text + ".";
}

std::string in_docstring(const std::string& text) {
  return replaced(replaced(text, "\\", "\\\\"), "\"\"\"", "\\\"\\\"\\\"");
}

std::string docstring(const CommandDescription& command) {
  std::string text = "    \"\"\"" + in_docstring(sentence(command.help)) + "\n\n    Arguments:\n";
  for (const OptionDescription& o : command.options) {
    if (!is_for_python(o)) continue;
    text += "        " + argument_name(o) + ": " + in_docstring(o.help);
    if (!o.choices.empty() && o.help.find(o.choices.back()) == std::string::npos) {
      text += " (" + joined(o.choices, ", ") + ")";
    }
    if (!o.default_text.empty()) text += "; without, " + o.default_text;
    text += "\n";
  }
  return text + "\n    On the command line:\n        " + in_docstring(command.example) +
         "\n    \"\"\"\n";
}

/// A tuple of texts.
std::string tuple_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names) text += "\"" + n + "\", ";
  return "(" + text.substr(0, text.empty() ? 0 : text.size() - 1) + ")";
}

std::string function(const CommandDescription& command, const std::string& name) {
  std::string positional;
  std::string required;
  std::string rest;
  std::vector<std::string> lists;
  std::vector<std::string> writes;
  for (const OptionDescription& o : command.options) {
    if (!is_for_python(o)) continue;
    const bool needed = o.required && o.unless.empty();
    (o.positional ? positional : needed ? required : rest) += argument(o);
    if (o.type == "array") lists.push_back(o.name);
    if (o.type == "string" && o.local && !o.reads && !o.positional) writes.push_back(o.name);
  }
  return "\n\ndef " + name + "(\n" + positional + "    *,\n" + required + rest + ") -> Answer:\n" +
         docstring(command) + "    return ask(\"" + command.name +
         "\", locals(), lists=" + tuple_of(lists) + ", writes=" + tuple_of(writes) + ")\n";
}

std::string module_of(const Manual& manual, const std::string& group, const std::string& about) {
  std::string functions;
  std::vector<std::string> names;
  for (const CommandDescription& c : manual.commands) {
    const std::size_t blank = c.name.find(' ');
    if ((blank == std::string::npos ? "" : c.name.substr(0, blank)) != group) continue;
    std::string name = blank == std::string::npos ? c.name : c.name.substr(blank + 1);
    if (is_keyword(name)) name += "_";
    functions += function(c, name);
    names.push_back("\"" + name + "\"");
  }
  return "# SPDX-License-Identifier: Apache-2.0\n# Written by sextant-manual.\n\"\"\"" +
         in_docstring(sentence(about)) +
         "\"\"\"\nfrom __future__ import annotations\n\n"
         "from ._answer import Answer, Path, Preset, Settings, Texts, ask\n\n__all__ = [" +
         joined(names, ", ") + "]\n" + functions;
}

}  // namespace

std::vector<Page> python_modules(const Manual& manual) {
  std::vector<Page> pages = {
      {"python/sextant/_commands.py", module_of(manual, "", "the commands as functions")}};
  for (const cli::CommandGroup& g : manual.groups) {
    const std::string name(g.name);
    pages.push_back(
        {"python/sextant/" + name + ".py", module_of(manual, name, std::string(g.help))});
  }
  return pages;
}

}  // namespace sextant::manual
