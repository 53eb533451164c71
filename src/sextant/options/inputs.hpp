// SPDX-License-Identifier: Apache-2.0
// Options that are fields of a scenario: names, types, ranges, choices and words are those of
// scenario/inputs.hpp, and so of describe(Strategy).
#pragma once

#include "sextant/options/option.hpp"
#include "sextant/scenario/inputs.hpp"

namespace sextant {

/// What `train`, `infer` and `search` are about.
struct ScenarioOptions {
  PresetRef model;
  PresetRef system;
  PresetRef runtime;  ///< empty: the task's usual one
  Node given = Node::table();
  std::string from;                ///< another tool's configuration, or a scenario
  std::vector<std::string> notes;  ///< on what it said
};

/// Options that may stand for those presets that are required.
struct Substitutes {
  std::string_view model = {};
  std::string_view system = {};
};

/// Names of presets; `runtime` says what stands for one that is not given.
template <class V, class Options>
void describe_presets(V& v, Options& o, std::string_view runtime, const Substitutes& unless = {}) {
  v("model", o.model,
    {.help = "model preset, file or Hugging Face config.json",
     .required = true,
     .preset = PresetKind::model,
     .unless = unless.model});
  v("system", o.system,
    {.help = "system preset or file",
     .required = true,
     .preset = PresetKind::system,
     .unless = unless.system});
  v("runtime", o.runtime, {.help = runtime, .alias = "assumptions", .preset = PresetKind::runtime});
}

/// What a file says stands for the options that are not given.
template <class V>
void describe_from(V& v, std::string& from) {
  v("from", from,
    {.help = "a scenario, or another tool's configuration or launch script: see 'import'",
     .placeholder = "FILE",
     .local = true,
     .reads = true});
}

/// One field of a task's inputs as an option.
template <class V>
void describe_input(V& v, const InputField& field, Node& given) {
  GivenRef ref{&given, &field.slot};
  const Field& f = field.slot.field;
  OptionInfo info{.help = f.help, .choices = field.choices};
  const bool parts = std::holds_alternative<StructRef>(field.slot.target);
  if (parts) info.commas = true;
  if (std::holds_alternative<int*>(field.slot.target) ||
      std::holds_alternative<double*>(field.slot.target)) {
    info.min = f.min;
    info.max = f.max;
  }
  if (field.slot.name == "sp") info.no = "no_sp";
  // The cost of every token is summed.
  if (field.slot.name == "output") info.max_remote = 100000;
  v(field.slot.name, ref, info);
}

template <class V>
void describe_fields(V& v, const std::vector<InputField>& fields, Node& given) {
  for (const InputField& field : fields) describe_input(v, field, given);
}
template <class V>
void describe_inputs(V& v, Task task, Node& given) {
  describe_fields(v, input_fields(task), given);
}

}  // namespace sextant
