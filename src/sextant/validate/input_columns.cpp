// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/input_columns.hpp"

#include <algorithm>

#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

/// One cell, by the type of its field.
struct CellReader {
  RowReader& row;
  const Slot& slot;

  void operator()(bool* v) const { *v = row.whole(slot.name, 0, 1) != 0; }
  void operator()(int* v) const { *v = row.whole(slot.name, slot.field.min, slot.field.max); }
  void operator()(double* v) const { *v = row.number(slot.name, slot.field.min, slot.field.max); }
  void operator()(const EnumRef& e) const {
    const std::string cell = row.text(slot.name);
    const auto at = std::find(e.names.begin(), e.names.end(), cell);
    if (at != e.names.end()) {
      return e.set(e.value, static_cast<std::size_t>(at - e.names.begin()));
    }
    row.unknown(slot.name, cell, did_you_mean(cell, {e.names.begin(), e.names.end()}));
  }
  void operator()(const StructRef&) const {
    std::vector<Diagnostic> problems;
    Slot parts = slot;
    read_input(row.text(slot.name), parts, {}, "", problems);
    for (const Diagnostic& d : problems) row.problem(slot.name, d.message, d.hint);
  }
  template <class T>
  void operator()(const T&) const {
    row.problem(slot.name, "cannot be given by a case");
  }
};

}  // namespace

Inputs read_input_columns(RowReader& row, Task task,
                          std::initializer_list<std::string_view> required,
                          std::initializer_list<std::string_view> others) {
  Inputs inputs;
  inputs.allow_long = true;  // it was measured
  for (const Slot& slot : fields_of(task, inputs).fields) {
    if (contains(others, slot.name)) continue;
    const bool needed = contains(required, slot.name);
    if (!needed && row.text(slot.name).empty()) continue;
    std::visit(CellReader{row, slot}, slot.target);
  }
  const std::string overlap = task == Task::train ? row.text("overlap") : "";
  inputs.alone = overlap == "none";
  if (!overlap.empty() && !inputs.alone) {
    row.unknown("overlap", overlap, "'none', or as the runtime does");
  }
  // Sequence parallelism beside one tensor-parallel rank and chunks of one stage change nothing;
  // sources write them so.
  Strategy& s = inputs.strategy;
  inputs.said = said([&](const char* field) { return !row.text(field).empty(); });
  s.sp = s.sp && s.tp > 1;
  if (s.pp == 1) s.interleave = 1;
  return inputs;
}

}  // namespace sextant
