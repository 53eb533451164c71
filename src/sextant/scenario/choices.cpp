// SPDX-License-Identifier: Apache-2.0
#include "sextant/scenario/choices.hpp"

#include <algorithm>

#include "sextant/predict/rules.hpp"

namespace sextant {
namespace {

/// No slider has more steps.
constexpr int most_values = 4096;
/// Of a microbatch, where the batch follows it.
constexpr int most_sequences = 64;

class Chooser {
 public:
  explicit Chooser(const Scenario& x) : x_(x), p_(x.problem), in_(x.inputs) {}

  Node run() {
    Node all = Node::table();
    const bool serves = x_.task == Task::infer;
    for (const Slot& axis : reflect(in_.strategy).fields) {
      int* const* value = std::get_if<int*>(&axis.target);
      if (value == nullptr || (serves && !axis.field.axis.serves)) continue;
      all.set(std::string(axis.name), values(axis, **value));
    }
    return all;
  }

 private:
  Node values(const Slot& axis, int& value) {
    const int before = value;
    const int least = static_cast<int>(axis.field.min);
    const int most = static_cast<int>(std::min<double>(axis.field.max, most_of(axis.name)));
    Node list = Node::array();
    for (value = least; value <= most; ++value) {
      if (possible()) list.push(Node::of(value));
    }
    value = before;
    return list;
  }

  int most_of(std::string_view axis) const {
    const Model& m = p_.model;
    if (axis == "recompute_layers") return std::min(m.layers, most_values);
    if (axis == "microbatch" && in_.training.batch == 0) return most_sequences;
    const int work = axis == "microbatch" ? in_.training.batch : 0;
    return std::min(std::max({p_.max_devices, m.layers, m.experts.count, work}), most_values);
  }

  bool possible() {
    Strategy s;
    if (derive(x_.task, in_, p_, s)) return false;
    if (s.tp == 1) s.sp = false;
    const Verdict verdict = x_.task == Task::train ? legal(p_, s) : legal_serving(p_, s);
    return verdict == Verdict::fits;
  }

  const Scenario& x_;
  Problem p_;  ///< with the work of the strategy at hand
  Inputs in_;
};

}  // namespace

Node choices_of(const Scenario& scenario) { return Chooser(scenario).run(); }

}  // namespace sextant
