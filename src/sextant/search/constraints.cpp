// SPDX-License-Identifier: Apache-2.0
#include "sextant/search/constraints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "sextant/scenario/inputs.hpp"
#include "sextant/units/lists.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

/// "pp<=16" taken apart.
struct Constraint {
  std::string axis;
  std::string relation;
  std::vector<std::string> values;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t to = text.find(at); to != std::string::npos; to = text.find(at, from)) {
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  parts.push_back(text.substr(from));
  return parts;
}

/// The axes of a space by name: what --fix and --limit may say of them. Names and ranges are those
/// of scenario/inputs.hpp.
class Axes {
 public:
  Axes(Flags& flags, Task task) : flags_(flags), fields_(input_fields(task)) {}

  // A visitor of describe(space).
  void operator()(std::string_view name, Choices& choices) {
    axes_.push_back({name, &choices, {}});
  }
  template <NamedEnum E>
  void operator()(std::string_view name, std::vector<E>& values) {
    axes_.push_back({name, nullptr, [this, &values](const char* flag, const Texts& given) {
                       values.clear();
                       for (const std::string& g : given)
                         values.push_back(flags_.choice<E>(flag, g));
                     }});
  }
  void operator()(std::string_view name, std::vector<bool>& values) {
    axes_.push_back({name, nullptr, [this, &values](const char* flag, const Texts& given) {
                       values.clear();
                       for (const std::string& g : given) values.push_back(truth(flag, g));
                     }});
  }

  /// Given by a flag of its own.
  void hold(std::string_view name) {
    for (Axis& a : axes_) a.held = a.held || a.name == name;
  }
  void fix(const std::string& text) { read("--fix", text, {"="}); }
  void limit(const std::string& text) { read("--limit", text, {"<=", ">=", "<", ">", "="}); }

 private:
  using Texts = std::vector<std::string>;
  struct Axis {
    std::string_view name;
    Choices* numbers;  ///< or names:
    std::function<void(const char*, const Texts&)> set;
    bool held = false;
  };

  /// Each once, in their order: what is searched twice is found twice.
  static Texts distinct(const Texts& values) {
    Texts all;
    for (const std::string& v : values) {
      if (!contains(all, v)) all.push_back(v);
    }
    return all;
  }

  bool truth(const char* flag, const std::string& text) {
    const bool yes = text == "true" || text == "yes" || text == "on" || text == "1";
    const bool no = text == "false" || text == "no" || text == "off" || text == "0";
    if (!yes && !no) flags_.add(flag, "expected yes or no, got '" + text + "'");
    return yes;
  }

  void read(const char* flag, const std::string& text, const Texts& relations) {
    const std::size_t at = text.find_first_of("<>=");
    const auto relation =
        at == std::string::npos
            ? relations.end()
            : std::find_if(relations.begin(), relations.end(), [&](const std::string& r) {
                return text.compare(at, r.size(), r) == 0;
              });
    if (relation == relations.end() || at == 0 || at + relation->size() == text.size()) {
      return flags_.add(flag,
                        "'" + text + "' is not of the form AXIS" + relations.front() + "VALUE",
                        std::string("such as ") + (relations.size() == 1 ? "tp=8" : "'pp<=16'"));
    }
    set(flag,
        {text.substr(0, at), *relation, distinct(split(text.substr(at + relation->size()), ','))});
  }

  void set(const char* flag, const Constraint& c) {
    auto* axis = find_by(axes_, &Axis::name, c.axis);
    if (axis == nullptr) {
      Texts names;
      for (const Axis& a : axes_) names.emplace_back(a.name);
      const std::string hint = did_you_mean(c.axis, names);
      return flags_.add(flag, "there is no axis '" + c.axis + "'",
                        hint.empty() ? fmt::format("one of {}", fmt::join(names, ", ")) : hint);
    }
    if (c.relation == "=" && axis->held) {
      return flags_.add(flag, c.axis + " is given twice",
                        "once, with all its values: " + c.axis + "=A,B");
    }
    axis->held = axis->held || c.relation == "=";
    if (axis->numbers != nullptr) return bound(flag, c, *axis->numbers);
    if (c.relation != "=") {
      return flags_.add(flag, c.axis + " has names, not an order", c.axis + "=" + c.values.front());
    }
    axis->set(flag, c.values);
  }

  void bound(const char* flag, const Constraint& c, Choices& axis) {
    const auto field = std::find_if(fields_.begin(), fields_.end(),
                                    [&](const InputField& f) { return f.slot.name == c.axis; });
    const Field range = field != fields_.end() ? field->slot.field : Field{.max = 1e8};
    std::vector<int> values;
    for (const std::string& text : c.values) {
      const std::optional<double> value = parse_number(text);
      if (!value || *value != std::floor(*value)) {
        return flags_.add(flag, c.axis + ": expected a whole number, got '" + text + "'");
      }
      if (*value < range.min || *value > range.max) {
        return flags_.add(
            flag, fmt::format("{}: expected {} to {}, got {}", c.axis, range.min, range.max, text));
      }
      values.push_back(static_cast<int>(*value));
    }
    if (c.relation == "=") {
      axis.only = values;
      return;
    }
    if (values.size() > 1) return flags_.add(flag, c.axis + ": a limit is one number");
    const int value = values.front();
    if (c.relation == "<=") axis.most = std::min(axis.most, value);
    if (c.relation == "<") axis.most = std::min(axis.most, value - 1);
    if (c.relation == ">=") axis.least = std::max(axis.least, value);
    if (c.relation == ">") axis.least = std::max(axis.least, value + 1);
  }

  Flags& flags_;
  const std::vector<InputField>& fields_;
  std::vector<Axis> axes_;
};

template <class Space>
void constrain(Space& space, Task task, const Constraints& c, Flags& flags) {
  Axes axes(flags, task);
  describe(axes, space);
  for (const std::string_view name : c.held) axes.hold(name);
  for (const std::string& text : c.fix) axes.fix(text);
  for (const std::string& text : c.limit) axes.limit(text);
}

}  // namespace

void constrain(SearchSpace& space, const Constraints& c, Flags& flags) {
  constrain(space, Task::train, c, flags);
}

void constrain(ServingSpace& space, const Constraints& c, Flags& flags) {
  constrain(space, Task::infer, c, flags);
}

}  // namespace sextant
