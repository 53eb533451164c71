// SPDX-License-Identifier: Apache-2.0
// Manual pages in the language of man(7).
#include "manual/manual.hpp"

namespace sextant::manual {
namespace {

/// Text that troff takes as it is. Bytes beyond ASCII pass: man and groff read UTF-8.
std::string plain(const std::string& text) {
  std::string out;
  for (const char ch : text) {
    if (ch == '\\') {
      out += "\\e";
    } else if (ch == '-') {
      out += "\\-";
    } else if (ch == '\'') {
      out += "\\(aq";
    } else {
      out += ch;
    }
  }
  return out.starts_with(".") ? "\\&" + out : out;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

std::string upper(std::string text) {
  for (char& ch : text) {
    if (ch >= 'a' && ch <= 'z') ch = static_cast<char>(ch - 'a' + 'A');
    if (ch == '_') ch = '-';
  }
  return text;
}

std::string page_name(const std::string& command) {
  return "sextant-" + replaced(command, " ", "-");
}

std::string heading(const std::string& name, const std::string& help, const Manual& manual) {
  return ".TH " + plain(upper(name)) + " 1 \"\" \"sextant " + manual.version +
         "\" \"Sextant\"\n.SH NAME\n" + plain(name) + " \\- " + plain(help) + "\n";
}

std::string value_name(const OptionDescription& option) {
  if (!option.placeholder.empty()) return option.placeholder;
  return upper(option.preset.empty() ? option.name : option.preset);
}

std::string synopsis(const CommandDescription& command) {
  std::string text = ".SH SYNOPSIS\n" + bold("sextant " + command.name);
  for (const OptionDescription& o : command.options) {
    if (o.positional || !o.required) continue;
    text += " " + bold(o.flags.back()) + " " + italic(value_name(o));
  }
  for (const OptionDescription& o : command.options) {
    if (!o.positional) continue;
    text += o.required ? " " + italic(upper(o.name)) : " [" + italic(upper(o.name)) + "]";
  }
  return text + " [" + italic("OPTION") + " ...]\n";
}

std::string option_entry(const OptionDescription& option) {
  std::string tag;
  if (option.positional) tag = italic(upper(option.name));
  for (const std::string& f : option.flags) tag += (tag.empty() ? "" : ", ") + bold(f);
  if (!option.no_flag.empty()) tag += ", " + bold(option.no_flag);
  if (takes_value(option) && !option.positional) tag += " " + italic(value_name(option));
  std::string text = ".TP\n" + tag + "\n" + plain(option.help) + ".";
  if (!option.choices.empty()) {
    std::vector<std::string> choices;
    for (const std::string& c : option.choices) choices.push_back(bold(c));
    text += " One of " + joined(choices, ", ") + ".";
  }
  if (option.commas) text += " Several are joined by commas.";
  if (option.type == "array") text += " May be given more than once.";
  if (!option.default_text.empty()) text += " Without, " + bold(option.default_text) + ".";
  if (option.required) text += " Required.";
  return text + "\n";
}

/// One command over several lines, none much longer than a terminal is wide.
std::string example(const std::string& command) {
  std::string text;
  std::string line;
  for (std::size_t at = 0; at < command.size();) {
    const std::size_t end = std::min(command.find(" --", at + 1), command.size());
    const std::string part = command.substr(at, end - at);
    if (!line.empty() && line.size() + part.size() > 66) {
      text += plain(line) + " \\e\n";
      line = "   ";
    }
    line += part;
    at = end;
  }
  return ".SH EXAMPLE\n.EX\n" + text + plain(line) + "\n.EE\n";
}

const char* const exit_status = R"(.SH EXIT STATUS
.TP
0
The question was answered. A strategy that does not fit in memory is an answer.
.TP
2
The input is wrong; every problem is named.
.TP
3
A file could not be read or written, or memory ran out.
)";

std::string command_page(const CommandDescription& command, const Manual& manual) {
  std::string text =
      heading(page_name(command.name), command.help, manual) + synopsis(command) + ".SH OPTIONS\n";
  for (const OptionDescription& o : command.options) text += option_entry(o);
  return text + example(command.example) + exit_status + ".SH SEE ALSO\n" + bold("sextant") +
         "(1)\n";
}

std::string main_page(const Manual& manual) {
  std::string text =
      heading("sextant", "how fast, and why, a large language model trains or serves", manual) +
      ".SH SYNOPSIS\n" + bold("sextant") + " " + italic("COMMAND") + " [" + italic("OPTION") +
      " ...]\n.SH DESCRIPTION\n" +
      plain(
          "Predicts how fast, in how much memory and at what power a large language model trains "
          "or serves on a given system, before anyone buys or builds it, and says why.") +
      "\n.SH COMMANDS\nEach has a page of its own and \\fB\\-\\-help\\fR.\n";
  for (const CommandDescription& c : manual.commands) {
    text += ".TP\n" + bold("sextant " + c.name) + "\n" + plain(c.help) + ".\n";
  }
  text += ".SH ENVIRONMENT\n.TP\n\\fBSEXTANT_PATH\\fR\n" +
          plain(
              "Folders with presets of your own, separated by colons, laid out as the program's: "
              "devices/NAME.toml, models/NAME.toml.") +
          "\n.TP\n\\fBNO_COLOR\\fR\nNo colours, whatever the terminal can do.\n";
  text += exit_status;
  text += ".SH SEE ALSO\n";
  std::vector<std::string> others;
  for (const CommandDescription& c : manual.commands) {
    others.push_back(bold(page_name(c.name)) + "(1)");
  }
  return text + joined(others, ",\n") + "\n";
}

}  // namespace

std::vector<Page> manual_pages(const Manual& manual) {
  std::vector<Page> pages = {{"man/man1/sextant.1", main_page(manual)}};
  for (const CommandDescription& c : manual.commands) {
    pages.push_back({"man/man1/" + page_name(c.name) + ".1", command_page(c, manual)});
  }
  return pages;
}

}  // namespace sextant::manual
