// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/import.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/io/text.hpp"

namespace sextant {
namespace {

constexpr std::array all_dispositions = {Disposition::used, Disposition::unmodelled,
                                         Disposition::irrelevant};

std::string as_written(const ImportedArgument& a) {
  return printable(a.name, 120) + (a.value.empty() ? "" : " " + printable(a.value));
}

std::string remark(const ImportedArgument& a) {
  std::string text = as_written(a);
  if (a.disposition == Disposition::used && !a.field.empty()) text += ": " + a.field;
  if (!a.why.empty()) text += (a.disposition == Disposition::used ? ", " : ": ") + a.why;
  return printable(text, 300);
}

/// The command that takes the scenario; what it needs beside it.
std::string how_to_ask(const Imported& imported) {
  // Only requests over time are served by engines of two kinds.
  const bool apart = imported.scenario.find("prefill_workers") != nullptr;
  const auto& members = imported.scenario.members;
  const bool limited = std::any_of(members.begin(), members.end(),
                                   [](const Node::Member& m) { return is_engine_field(m.key); });
  std::string text;
  if (!apart) text = fmt::format("# sextant {} --from this.toml\n", name_of(imported.task));
  if (limited)
    text += "# sextant traffic --from this.toml: requests over time, within the engine's limits\n";
  return text;
}

}  // namespace

std::string scenario_file(const Imported& imported) {
  std::string text = fmt::format("# From {}.\n", imported.title) + how_to_ask(imported);
  for (const std::string& m : imported.missing) text += fmt::format("# Missing: {}\n", m);
  for (const Disposition d : all_dispositions) {
    std::string lines;
    for (const ImportedArgument& a : imported.arguments) {
      if (a.disposition == d) lines += "#   " + remark(a) + "\n";
    }
    if (!lines.empty()) text += fmt::format("#\n# {}:\n{}", name_of(d), lines);
  }
  if (!imported.defaults.empty()) {
    text += "#\n# not said, so as the tool does:\n";
    for (const ImportedDefault& d : imported.defaults) {
      text += fmt::format("#   {} {}\n", d.field, d.value);
    }
  }
  return text + "\n" + to_toml(imported.scenario);
}

Answer answer_of(const Imported& imported) {
  Answer a;
  a("format", imported.format);
  a("task", imported.task);
  a.node("scenario", "", imported.scenario);  // any field of any command
  a("toml", scenario_file(imported));
  const Records rows = records_of(imported.arguments, [](Record& r, const ImportedArgument& one) {
    r("name", one.name, "argument");
    r("value", one.value, "value");
    r("disposition", one.disposition, "disposition");
    r("field", one.field, "field");
    r("why", one.why, "why");
    r("line", one.place.line);
  });
  a.list("arguments", "ImportedArgument", rows);
  a.list("defaults", "ImportedDefault",
         records_of(imported.defaults, [](Record& r, const ImportedDefault& one) {
           r("field", one.field);
           r("value", one.value);
         }));
  a.strings("missing", imported.missing);
  a.lines(rows);
  std::string text = scenario_file(imported);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  a.say(std::move(text));
  return a;
}

std::vector<std::string> remarks_of(const Imported& imported) {
  std::vector<std::string> all;
  for (const ImportedArgument& a : imported.arguments) {
    if (a.disposition == Disposition::unmodelled) all.push_back("not modelled: " + remark(a));
  }
  for (const ImportedDefault& d : imported.defaults) {
    all.push_back(
        fmt::format("{} {}: as {} does where nothing is said", d.field, d.value, imported.title));
  }
  return all;
}

}  // namespace sextant
