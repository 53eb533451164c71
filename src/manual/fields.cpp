// SPDX-License-Identifier: Apache-2.0
// The fields of a scenario for the page, which keeps them in its address.
#include <algorithm>

#include "manual/manual.hpp"
#include "sextant/io/node.hpp"
#include "sextant/scenario/inputs.hpp"

namespace sextant::manual {
namespace {

/// Whether it is of the scenario, not of what is asked about it.
bool is_of_scenario(Task task, const OptionDescription& option) {
  if (!option.preset.empty() || option.name == "set") return true;
  const std::vector<InputField>& fields = input_fields(task);
  return std::any_of(fields.begin(), fields.end(),
                     [&](const InputField& f) { return f.slot.name == option.name; });
}

Node described(const OptionDescription& option) {
  Node field = Node::table();
  field.set("type", Node::of(option.type));
  field.set("help", Node::of(option.help));
  if (option.choices.empty()) return field;
  Node& choices = field.set("choices", Node::array());
  for (const std::string& choice : option.choices) choices.push(Node::of(choice));
  return field;
}

}  // namespace

Page fields_module(const Manual& manual) {
  std::string text =
      "// SPDX-License-Identifier: Apache-2.0\n"
      "// The fields of a scenario, as requests have them. Written by sextant-manual from the\n"
      "// descriptions of the commands: after a change, copy build/ui/fields.ts here.\n"
      "export interface FieldFacts {\n"
      "  type: string;\n"
      "  help: string;\n"
      "  choices?: readonly string[];\n"
      "}\n";
  for (const Task task : {Task::train, Task::infer}) {
    const std::string name(name_of(task));
    text += "\nexport const " + name + "Fields: Record<string, FieldFacts> = {\n";
    for (const CommandDescription& c : manual.commands) {
      if (c.name != name) continue;
      for (const OptionDescription& o : c.options) {
        if (is_of_scenario(task, o))
          text += "  " + o.name + ": " + to_json(described(o), 0) + ",\n";
      }
    }
    text += "};\n";
  }
  return {"ui/fields.ts", text};
}

}  // namespace sextant::manual
