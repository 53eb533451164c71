// SPDX-License-Identifier: Apache-2.0
// Options of `import`.
#pragma once

#include <string>
#include <vector>

#include "sextant/options/option.hpp"
#include "sextant/scenario/inputs.hpp"

namespace sextant {

/// What another tool was told, as a scenario.
struct ImportOptions {
  std::vector<std::string> what;  ///< a file, or the words of a command
  std::string name;               ///< to go by; empty: the file's own
  std::string as;                 ///< the format; empty: by what it looks like
  std::string task;               ///< where the format leaves it open
  PresetRef model, system;
  std::optional<int> gpus;
};

template <class V>
void describe(V& v, ImportOptions& o) {
  v("what", o.what,
    {.help = "a file, or after -- a command: vllm serve …; in a request the text of one",
     .required = true,
     .positional = true,
     .placeholder = "FILE|COMMAND"});
  v("name", o.name,
    {.help = "to go by: its ending tells YAML, JSON, TOML and scripts apart; without, the file's"});
  v("as", o.as,
    {.help = "the format, where it cannot be told: vllm, sglang, trtllm, megatron, nemo, "
             "megatron-bridge, primus, deepspeed, torchtitan, axolotl, torchtune, mlperf"});
  v("task", o.task,
    {.help = "train or infer, where the format is of neither", .choices = choices_of<Task>()});
  v("model", o.model,
    {.help = "in place of what it says: a preset or a config.json", .preset = PresetKind::model});
  v("system", o.system,
    {.help = "what it runs on, which few formats say", .preset = PresetKind::system});
  v("gpus", o.gpus, {.help = "devices, where it does not say how many", .min = 1, .max = 1e7});
}

}  // namespace sextant
