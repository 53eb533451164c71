// SPDX-License-Identifier: Apache-2.0
#include "cli/from.hpp"

#include <algorithm>

#include "cli/command_table.hpp"
#include "sextant/answer/import.hpp"
#include "sextant/io/files.hpp"
#include "sextant/io/text.hpp"
#include "sextant/options/request.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/options/traffic.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::cli {
namespace {

/// Only fields of the scenario stand in for what a file says.
bool is_field(const Option& o) {
  return std::holds_alternative<GivenRef>(o.value) || std::holds_alternative<PresetRef*>(o.value) ||
         std::holds_alternative<std::optional<int>*>(o.value) ||
         std::holds_alternative<std::optional<double>*>(o.value);
}

Node fields_given(const std::vector<Option>& options, const Node& request) {
  Node given = Node::table();
  for (const Node::Member& m : request.members) {
    const Option* o = find_by(options, &Option::name, m.key);
    const bool plain = m.value.kind != Node::Kind::table && m.value.kind != Node::Kind::array;
    if (o != nullptr && is_field(*o) && plain) given.set(m.key, m.value);
  }
  return given;
}

/// Whether another command that takes the same file has this field.
bool of_scenarios(Task task, const std::string& name) {
  TrafficOptions traffic;
  const std::vector<Option> requests = options_of(traffic);
  const std::vector<InputField>& fields = input_fields(task);
  return is_engine_field(name) || find_by(requests, &Option::name, name) != nullptr ||
         std::any_of(fields.begin(), fields.end(),
                     [&](const InputField& f) { return f.slot.name == name; });
}

void require(const std::vector<Option>& options, std::vector<Diagnostic>& problems) {
  for (const Option& o : options) {
    const auto* const* preset = std::get_if<PresetRef*>(&o.value);
    if (!o.info.required || preset == nullptr || !(*preset)->empty()) continue;
    Diagnostic& d = problems.emplace_back();
    d.message = flag_of(o.name) + " is required";
    d.hint = std::string(o.info.help) + ", or --from a file that says it";
  }
}

/// The settings of a scenario that no flag says otherwise, before those that were given.
void put_settings(const Document& file, const Node& list, const Node& flags, Common& common) {
  std::vector<std::string> all;
  std::vector<Diagnostic> problems;
  for (const Node& setting : list.items) {
    if (setting.kind == Node::Kind::string) {
      if (flags.find(axis_of(setting.string)) == nullptr) all.push_back(setting.string);
    } else {
      problems.push_back(problem_at(file, setting.place, "set", "expected texts in quotes"));
    }
  }
  throw_if_any(std::move(problems));
  all.insert(all.end(), common.set.begin(), common.set.end());
  common.set = std::move(all);
}

}  // namespace

std::vector<std::string> fill_from(const FromFile& from, const std::vector<Option>& options,
                                   const std::vector<Option>& fresh, Common& common) {
  std::vector<std::string> remarks;
  std::vector<Diagnostic> problems;
  if (!from.file.empty()) {
    const Document file{.file = from.file, .text = read_file(from.file), .root = {}};
    const Node request = write_request(options, fresh);
    Imported imported = import_text(file.text, file.file,
                                    {.format = {},
                                     .task = std::string(name_of(from.task)),
                                     .given = fields_given(options, request)});
    remarks = remarks_of(imported);
    Node table = Node::table();
    give_way(imported.scenario, common.set);
    for (const Node::Member& m : imported.scenario.members) {
      if (m.key == "task" || request.find(m.key) != nullptr) continue;
      if (m.key == "set") {
        put_settings(file, m.value, request, common);
      } else if (find_by(options, &Option::name, m.key) != nullptr ||
                 !of_scenarios(from.task, m.key)) {
        table.members.push_back(m);
      } else {
        remarks.push_back(m.key + " " + to_json(m.value, 0) + ": not of this command");
      }
    }
    std::vector<Option> open = options;
    for (Option& o : open) o.info.required = false;
    read_request(file, table, open, problems);
  }
  require(options, problems);
  throw_if_any(std::move(problems));
  return remarks;
}

}  // namespace sextant::cli
