// SPDX-License-Identifier: Apache-2.0
// Completion for bash, zsh and fish. Names of presets are written into the scripts: they are
// compiled into the program, so asking it would only be slower.
#include "manual/manual.hpp"

namespace sextant::manual {
namespace {

/// In single quotes, for bash and zsh.
std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

/// Of fish: the backslash is special in single quotes too.
std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

/// The variable that holds the names of a kind of preset, for all shells.
std::string variable(const std::string& kind) {
  return "_sextant_" + (kind == "*" ? std::string("presets") : kind + "s");
}

std::vector<std::string> all_presets(const Manual& manual) {
  std::vector<std::string> all;
  for (const auto& [kind, names] : manual.presets)
    all.insert(all.end(), names.begin(), names.end());
  return all;
}

std::vector<std::string> names_of_entries(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& e : entries) names.push_back(e.name);
  return names;
}

std::vector<std::string> flags_of(const OptionDescription& option) {
  std::vector<std::string> flags = option.flags;
  if (!option.no_flag.empty()) flags.push_back(option.no_flag);
  return flags;
}

// ---- bash -------------------------------------------------------------------------------------

std::string bash_values(const Values& v) {
  std::string text;
  if (!v.words.empty()) text += " words=" + quoted(joined(v.words, " "));
  if (!v.preset.empty()) text += " words=$" + variable(v.preset);
  if (v.files) text += " files=1";
  return text.empty() ? " :" : text;
}

std::string bash_command(const CommandDescription& command) {
  std::vector<std::string> flags = {"--help"};
  std::string cases;
  std::string positional;
  for (const OptionDescription& o : command.options) {
    for (const std::string& f : flags_of(o)) flags.push_back(f);
    const std::string values = bash_values(values_of(o));
    if (o.positional) {
      positional += "          [[ $current == -* ]] ||" + values + "\n";
    } else if (takes_value(o)) {
      cases += "        " + joined(o.flags, "|") + ")" + values + " ;;\n";
    }
  }
  return "    " + quoted(command.name) + ")\n      case $previous in\n" + cases +
         "        *)\n          words=" + quoted(joined(flags, " ")) + "\n" + positional +
         "          ;;\n      esac\n      ;;\n";
}

// ---- zsh --------------------------------------------------------------------------------------

/// Inside a specification of _arguments or _describe.
std::string zsh_escaped(std::string text) {
  text = replaced(std::move(text), "\\", "\\\\");
  for (const char* special : {":", "[", "]"}) {
    text = replaced(std::move(text), special, std::string("\\") + special);
  }
  return text;
}

std::string zsh_value(const OptionDescription& option) {
  const Values v = values_of(option);
  const std::string message = zsh_escaped(option.help);
  if (!v.preset.empty()) return ":" + message + ":" + variable(v.preset);
  if (!v.words.empty()) return ":" + message + ":(" + joined(v.words, " ") + ")";
  return ":" + message + ":" + (v.files ? "_files" : " ");
}

std::string zsh_command(const CommandDescription& command) {
  std::string text = "    " + quoted(command.name) + ")\n      _arguments \\\n";
  text += "        '--help[what the command does, and its options]'";
  for (const OptionDescription& o : command.options) {
    const std::string help = "[" + zsh_escaped(o.help) + "]";
    const std::string value = takes_value(o) ? zsh_value(o) : "";
    const std::string often = o.type == "array" ? "*" : "";
    for (const std::string& f : o.flags) {
      text += " \\\n        " + quoted(often + f + help + value);
    }
    if (!o.no_flag.empty()) text += " \\\n        " + quoted(o.no_flag + "[not]");
    if (o.positional) text += " \\\n        " + quoted("1" + zsh_value(o));
  }
  return text + "\n      ;;\n";
}

std::string zsh_words(const std::vector<Entry>& entries, const std::string& indent) {
  std::string text = indent + "commands=(\n";
  for (const Entry& e : entries) {
    text += indent + "  " + quoted(e.name + ":" + zsh_escaped(e.help)) + "\n";
  }
  return text + indent + ")\n" + indent + "_describe command commands\n";
}

// ---- fish -------------------------------------------------------------------------------------

std::string fish_flag(const std::string& flag) {
  return flag.starts_with("--") ? "-l " + flag.substr(2) : "-s " + flag.substr(1);
}

std::string fish_value(const OptionDescription& option) {
  const Values v = values_of(option);
  std::string text = v.files ? " -r -F" : " -x";
  if (!v.preset.empty()) {
    text += " -a \"$" + variable(v.preset) + "\"";
  } else if (!v.words.empty()) {
    text += " -a " + fish_quoted(joined(v.words, " "));
  }
  return text;
}

std::string fish_command(const CommandDescription& command) {
  const std::string begin = "complete -c sextant -n '__sextant_at " + command.name + "'";
  std::string text;
  for (const OptionDescription& o : command.options) {
    const std::string help = " -d " + fish_quoted(o.help) + "\n";
    if (o.positional) {
      text += begin + replaced(replaced(fish_value(o), " -r", ""), " -x", "") + help;
      continue;
    }
    for (const std::string& f : o.flags) {
      text += begin + " " + fish_flag(f) + (takes_value(o) ? fish_value(o) : "") + help;
    }
    if (!o.no_flag.empty()) text += begin + " " + fish_flag(o.no_flag) + " -d 'not'\n";
  }
  return text;
}

}  // namespace

std::string bash_completion(const Manual& manual) {
  std::string text = "# bash completion for sextant, written by sextant-manual.\n";
  for (const auto& [kind, names] : manual.presets) {
    text += variable(kind) + "=" + quoted(joined(names, " ")) + "\n";
  }
  text += variable("*") + "=" + quoted(joined(all_presets(manual), " ")) + R"(

_sextant() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local command='' words='' files=''
  if (( COMP_CWORD > 1 )); then command=${COMP_WORDS[1]}; fi
)";
  for (const cli::CommandGroup& g : manual.groups) {
    text += "  if [[ $command == " + std::string(g.name) +
            " ]] && (( COMP_CWORD > 2 )); then command+=\" ${COMP_WORDS[2]}\"; fi\n";
  }
  text += "  case $command in\n    '') words=" +
          quoted(joined(names_of_entries(words_after(manual, "")), " ") + " --help --version") +
          " ;;\n";
  for (const cli::CommandGroup& g : manual.groups) {
    const std::string name(g.name);
    text += "    " + name + ") words=" +
            quoted(joined(names_of_entries(words_after(manual, name)), " ") + " --help") + " ;;\n";
  }
  for (const CommandDescription& c : manual.commands) text += bash_command(c);
  return text + R"(  esac
  mapfile -t COMPREPLY < <(
    compgen -W "$words" -- "$current"
    [[ -z $files ]] || compgen -f -- "$current"
  )
  if [[ -n $files ]]; then compopt -o filenames 2>/dev/null; fi
  return 0
}
complete -F _sextant sextant
)";
}

std::string zsh_completion(const Manual& manual) {
  std::string text = "#compdef sextant\n# zsh completion for sextant, written by sextant-manual.\n";
  const auto add = [&](const std::string& kind, const std::vector<std::string>& names) {
    text += variable(kind) + "() {\n  local -a names\n  names=(" + joined(names, " ") +
            ")\n  compadd -a names\n  _files\n}\n";
  };
  for (const auto& [kind, names] : manual.presets) add(kind, names);
  add("*", all_presets(manual));
  text += R"(
_sextant() {
  local -a commands
  if (( CURRENT == 2 )); then
)";
  text += zsh_words(words_after(manual, ""), "    ");
  text += R"(    _arguments '--help[the commands]' '--version[of the program]'
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
)";
  for (const cli::CommandGroup& g : manual.groups) {
    const std::string name(g.name);
    text += "  if [[ $command == " + name + " ]]; then\n    if (( CURRENT == 2 )); then\n" +
            zsh_words(words_after(manual, name), "      ") +
            "      return\n    fi\n    command=\"$command $words[2]\"\n    shift words\n"
            "    (( CURRENT-- ))\n  fi\n";
  }
  text += "  case $command in\n";
  for (const CommandDescription& c : manual.commands) text += zsh_command(c);
  return text + "  esac\n}\n_sextant \"$@\"\n";
}

std::string fish_completion(const Manual& manual) {
  std::string text = "# fish completion for sextant, written by sextant-manual.\n";
  for (const auto& [kind, names] : manual.presets) {
    text += "set -g " + variable(kind) + " " + joined(names, " ") + "\n";
  }
  text += "set -g " + variable("*") + " " + joined(all_presets(manual), " ") + R"(

# The words after the program begin with these.
function __sextant_at
    set -l given (commandline -opc)
    set -e given[1]
    for i in (seq (count $argv))
        test "$given[$i]" = "$argv[$i]"; or return 1
    end
end
# There are no words after the program but these.
function __sextant_after
    test (count (commandline -opc)) -eq (math 1 + (count $argv)); and __sextant_at $argv
end

complete -c sextant -f
complete -c sextant -n __sextant_after -l help -d 'the commands'
complete -c sextant -n __sextant_after -l version -d 'of the program'
)";
  const auto add = [&](const std::string& condition, const std::string& group) {
    for (const Entry& e : words_after(manual, group)) {
      text += "complete -c sextant -n " + condition + " -a " + e.name + " -d " +
              fish_quoted(e.help) + "\n";
    }
  };
  add("__sextant_after", "");
  for (const cli::CommandGroup& g : manual.groups) {
    const std::string name(g.name);
    add("'__sextant_after " + name + "'", name);
  }
  for (const CommandDescription& c : manual.commands) text += fish_command(c);
  return text;
}

}  // namespace sextant::manual
