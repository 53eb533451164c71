// SPDX-License-Identifier: Apache-2.0
// What a scenario is given beside its presets, one described field each: the flags of `train` and
// `infer`, the fields of a request and of a plan, the columns of a case file.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/io/read.hpp"
#include "sextant/io/reflect.hpp"
#include "sextant/spec/model.hpp"
#include "sextant/spec/strategy.hpp"
#include "sextant/spec/system.hpp"
#include "sextant/spec/workload.hpp"

namespace sextant {

enum class Task : std::uint8_t { train, infer };
constexpr auto names_of(Task) { return std::array<std::string_view, 2>{"train", "infer"}; }

/// Zeros, and `sp` unless it was given, are derived: see derive().
/// Whether fields were given whose absence means the runtime's or the model's own value.
struct Said {
  bool sp = false;
  bool precision = false;
  bool cache = false;
  bool draft_cost = false;
};
template <class Gives>
Said said(const Gives& gives) {
  return {gives("sp"), gives("precision"), gives("kv_precision"), gives("draft_cost")};
}

struct Inputs {
  int gpus = 0;
  Strategy strategy{.dp = 0};
  Training training{.batch = 0, .seq = 0};
  Serving serving;
  std::shared_ptr<const Model> draft;  ///< what serving.speculation.draft names, loaded
  bool allow_long = false;
  bool alone = false;  ///< nothing runs beside computing, whatever the runtime does: cases say it
  Said said;
};

/// The fields of a task, bound to the inputs: the devices, those axes of describe(Strategy) that
/// the task has, the workload.
StructRef fields_of(Task task, Inputs& inputs);

/// A field as those see it who only list it: what its target points to is nobody's.
struct InputField {
  Slot slot;
  std::vector<std::string_view> choices;  ///< of a name, or of parts that may be switched on
};
const std::vector<InputField>& input_fields(Task task);
std::vector<InputField> listed(StructRef fields);
/// What is done, of both tasks: the batch, the sequence, the prompt, …; not how.
const std::vector<InputField>& workload_fields();

/// One spelling for a field that has several: "strategy.tp" is "tp", "modules" is
/// "recompute_modules".
std::string canonical_input(std::string_view name);

/// "--kv-precision".
std::string flag_of_field(std::string_view name);

/// The runtime that a task takes when none is named: the system's, or to serve where it has none of
/// its own this engine.
std::string usual_runtime(Task task, const System& system, const std::string& engine = "");

/// Overlays a table of fields, texts as flags have them or values as JSON has them. Names of what
/// was given are added, problems as well, each by its flag.
void read_inputs(Task task, const Node& table, Inputs& inputs, GivenFields& given,
                 std::vector<Diagnostic>& problems);

/// The same for any described fields; names that are none of theirs are passed over and returned.
std::vector<std::string> read_given(StructRef fields, const Node& table, GivenFields& given,
                                    std::vector<Diagnostic>& problems);

/// A text as the value of one field, as read_inputs() has it: true and 1 are yes, names of parts
/// are separated by commas or blanks.
bool read_input(const std::string& text, Slot& slot, const Document& document,
                const std::string& path, std::vector<Diagnostic>& problems);

/// "tp 8, pp 8, interleave 3, sp, recompute selective, bf16": the axes that differ from one device.
std::string summary_of(const Strategy& strategy, Task task);

}  // namespace sextant
