// SPDX-License-Identifier: Apache-2.0
#include "sextant/scenario/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <utility>

#include "sextant/io/settings.hpp"
#include "sextant/io/text.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

template <Task task>
struct View {
  Inputs* inputs;
};

/// Passes on the axes that the task has, by the names of its flags.
template <class V>
struct TaskAxes {
  V& v;
  Task task;
  template <class T>
  void operator()(std::string_view name, T& value, Field field = {}) {
    if (task == Task::infer && !field.axis.serves) return;
    v(name == "modules" ? "recompute_modules" : name, value, field);
  }
};

template <class V, Task task>
void describe(V& v, View<task>& view) {
  Inputs& i = *view.inputs;
  v("gpus", i.gpus, {.help = "devices; without, what the degrees take", .min = 1, .max = 1e7});
  TaskAxes<V> axes{v, task};
  describe(axes, i.strategy);
  if constexpr (task == Task::train) {
    describe(v, i.training);
  } else {
    describe(v, i.serving);
    v("allow_long", i.allow_long, {.help = "go on with a context beyond the model's"});
  }
}

/// Parts by name, each of them switched on.
void read_parts(const Node& names, const StructRef& parts, const Document& document,
                const std::string& path, std::vector<Diagnostic>& problems) {
  std::vector<std::string> known;
  for (const Slot& part : parts.fields) known.emplace_back(part.name);
  for (const Node& name : names.items) {
    const auto* at = find_by(parts.fields, &Slot::name, name.string);
    if (at != nullptr) {
      *std::get<bool*>(at->target) = true;
      continue;
    }
    const std::string hint = did_you_mean(name.string, known);
    problems.push_back(
        problem_at(document, name.place, path, "unknown value '" + printable(name.string) + "'",
                   hint.empty() ? fmt::format("of {}", fmt::join(known, ", ")) : hint));
  }
}

bool read_node(const Node& node, Slot& slot, const Document& document, const std::string& path,
               std::vector<Diagnostic>& problems) {
  const auto* parts = std::get_if<StructRef>(&slot.target);
  if (parts == nullptr || node.kind != Node::Kind::array) {
    return read_value(document, node, slot, path, problems);
  }
  const std::size_t before = problems.size();
  read_parts(node, *parts, document, path, problems);
  return problems.size() == before;
}

Node node_of(const std::string& text, const Target& target) {
  if (std::holds_alternative<bool*>(target)) {
    for (const auto& [word, value] :
         {std::pair("1", true), std::pair("yes", true), std::pair("on", true),
          std::pair("0", false), std::pair("no", false), std::pair("off", false)}) {
      if (text == word) return Node::of(value);
    }
  }
  if (!std::holds_alternative<StructRef>(target)) return value_of_text(text, target);
  Node list = Node::array();
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find_first_of(", ", from), text.size());
    if (to > from) list.push(Node::of(text.substr(from, to - from)));
    from = to + 1;
  }
  return list;
}

}  // namespace

StructRef fields_of(Task task, Inputs& inputs) {
  if (task == Task::train) {
    View<Task::train> view{&inputs};
    return reflect(view);
  }
  View<Task::infer> view{&inputs};
  return reflect(view);
}

std::vector<InputField> listed(StructRef fields) {
  std::vector<InputField> all;
  for (Slot& slot : fields.fields) {
    InputField& field = all.emplace_back(InputField{std::move(slot), {}});
    if (const auto* e = std::get_if<EnumRef>(&field.slot.target)) {
      field.choices.assign(e->names.begin(), e->names.end());
    } else if (const auto* parts = std::get_if<StructRef>(&field.slot.target)) {
      for (const Slot& part : parts->fields) field.choices.push_back(part.name);
    }
  }
  return all;
}

const std::vector<InputField>& input_fields(Task task) {
  const auto list = [](Task t) {
    static std::array<Inputs, 2> nobodys;
    return listed(fields_of(t, nobodys[static_cast<std::size_t>(t)]));
  };
  static const std::array lists = {list(Task::train), list(Task::infer)};
  return lists[static_cast<std::size_t>(task)];
}

const std::vector<InputField>& workload_fields() {
  static const std::vector<InputField> all = [] {
    const Strategy one;
    std::vector<std::string_view> taken = {"gpus", "recompute_modules", "kv_precision"};
    for (const Slot& axis : reflect(one).fields) taken.push_back(axis.name);
    std::vector<InputField> fields;
    for (const Task task : {Task::train, Task::infer}) {
      for (const InputField& f : input_fields(task)) {
        if (contains(taken, f.slot.name)) continue;
        taken.push_back(f.slot.name);
        fields.push_back(f);
      }
    }
    return fields;
  }();
  return all;
}

std::string canonical_input(std::string_view name) {
  if (name.starts_with("strategy.")) name.remove_prefix(9);
  const bool parts = name == "modules" || name.starts_with("modules.");
  return (parts ? "recompute_" : "") + std::string(name);
}

std::string flag_of_field(std::string_view name) {
  std::string flag = "--" + std::string(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string usual_runtime(Task task, const System& system, const std::string& engine) {
  if (task == Task::train) return system.trained_with;
  const bool own = engine.empty() || system.served_with != System().served_with;
  return own ? system.served_with : engine;
}

bool read_input(const std::string& text, Slot& slot, const Document& document,
                const std::string& path, std::vector<Diagnostic>& problems) {
  return read_node(node_of(text, slot.target), slot, document, path, problems);
}

std::vector<std::string> read_given(StructRef fields, const Node& table, GivenFields& given,
                                    std::vector<Diagnostic>& problems) {
  std::vector<std::string> others;
  for (const Node::Member& member : table.members) {
    if (member.value.kind == Node::Kind::null) continue;
    auto* slot = find_by(fields.fields, &Slot::name, member.key);
    if (slot == nullptr) {
      others.push_back(member.key);
      continue;
    }
    given.insert(member.key);
    const Document flag{flag_of_field(member.key), "", {}};
    if (member.value.kind == Node::Kind::string) {
      read_input(member.value.string, *slot, flag, "", problems);
    } else {
      Node value = member.value;
      value.place = {};
      read_node(value, *slot, flag, "", problems);
    }
  }
  return others;
}

void read_inputs(Task task, const Node& table, Inputs& inputs, GivenFields& given,
                 std::vector<Diagnostic>& problems) {
  const bool serves = task == Task::infer;
  for (const std::string& name : read_given(fields_of(task, inputs), table, given, problems)) {
    problems.push_back(problem_at(
        {flag_of_field(name), "", {}}, {}, "", serves ? "is of training" : "is of serving",
        serves ? "leave it out, or leave out --infer" : "add --infer, or leave it out"));
  }
  inputs.said = said([&](const char* field) { return given.contains(field); });
}

namespace {

/// Collects the words of a summary. A search writes thousands of them, so it looks at the struct
/// itself, not at a tree of references to it.
class Summary {
 public:
  Summary(const Strategy& strategy, Task task) : strategy_(strategy), task_(task) {}

  template <class T>
  void operator()(std::string_view name, const T& value, const Field& field) {
    const AxisInfo& axis = field.axis;
    if (task_ == Task::infer && !axis.serves) return;
    const auto at =
        reinterpret_cast<const char*>(&value) - reinterpret_cast<const char*>(&strategy_);
    const auto* const usual = reinterpret_cast<const char*>(&one_device_) + at;
    if (std::memcmp(&value, usual, sizeof value) == 0 && !axis.always) return;
    const std::size_t before = text.size();
    if (before > 0) text += ", ";
    if (!say(name, value, axis)) text.resize(before);
  }

  std::string text;

 private:
  /// Whether there is anything to say.
  template <class T>
  bool say(std::string_view name, const T& value, const AxisInfo& axis) {
    if constexpr (Described<T>) {
      bool any = false;
      auto part = [&](std::string_view word, const bool& on, const Field&) {
        if (!on) return;
        text.append(any ? " " : "recompute ").append(word);
        any = true;
      };
      describe(part, const_cast<T&>(value));
      return any;
    } else if constexpr (std::same_as<T, bool>) {
      text += name;
      return value;
    } else {
      if (!axis.bare) text.append(name).append(" ");
      if constexpr (NamedEnum<T>) {
        text += name_of(value);
      } else {
        text += std::to_string(value);
      }
      return true;
    }
  }

  const Strategy& strategy_;
  const Strategy one_device_{};
  const Task task_;
};

}  // namespace

std::string summary_of(const Strategy& strategy, Task task) {
  Summary summary(strategy, task);
  describe(summary, const_cast<Strategy&>(strategy));
  return std::move(summary.text);
}

}  // namespace sextant
