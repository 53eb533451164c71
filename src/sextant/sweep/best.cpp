// SPDX-License-Identifier: Apache-2.0
// The search for the best strategy at one point of a sweep: `sextant search` in small, with what
// the plan gives fixed.
#include "sextant/sweep/best.hpp"

#include "sextant/search/search.hpp"
#include "sextant/search/serving.hpp"
#include "sextant/spec/flags.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::sweep {
namespace {

template <NamedEnum E>
E objective_of(const std::string& text) {
  Flags flags;
  const E objective = flags.choice<E>("best", text);
  throw_if_any(std::move(flags.problems));
  return objective;
}

/// Fixes what the plan gives: a visitor of describe(space).
class Fixer {
 public:
  explicit Fixer(const InnerQuestion& q)
      : plan_(q.plan),
        inputs_(static_cast<const Inputs&>(q.inputs)),
        fields_(fields_of(q.plan.task, inputs_)) {}

  void operator()(std::string_view name, Choices& choices) const {
    if (plan_.gives(name)) choices.only = {static_cast<int>(value_of(name))};
  }
  template <class T>
  void operator()(std::string_view name, std::vector<T>& values) const {
    if (plan_.gives(name)) values = {static_cast<T>(static_cast<int>(value_of(name)))};
  }

 private:
  double value_of(std::string_view name) const {
    const auto* at = find_by(fields_.fields, &Slot::name, name);
    return at != nullptr ? number_of(at->target) : 0;
  }

  const Plan& plan_;
  Inputs inputs_;
  StructRef fields_;
};

std::optional<InnerAnswer> best_training(const InnerQuestion& q) {
  SearchSpace space;
  space.devices = {q.inputs.gpus};
  space.modules = {q.inputs.strategy.modules};
  keep_schedules(space, q.problem.runtime);
  Fixer fix(q);
  describe(fix, space);
  SearchAim aim;
  aim.objective = objective_of<TrainingObjective>(q.plan.best->objective);
  aim.top = 1;
  aim.sample = 0;
  aim.front = false;
  SearchProgress progress;
  const SearchResult found = search(q.problem, space, lay_out(q.problem, space), aim, progress);
  if (found.best.empty()) return std::nullopt;
  return InnerAnswer{found.best.front().strategy, {}};
}

std::optional<InnerAnswer> best_serving(const InnerQuestion& q) {
  ServingSpace space;
  space.devices = q.inputs.gpus;
  space.precision = {q.problem.model.stored};
  Fixer fix(q);
  describe(fix, space);
  ServingAim aim;
  aim.objective = objective_of<ServingObjective>(q.plan.best->objective);
  space.at_most = aim.objective == ServingObjective::devices;
  aim.top = 1;
  SearchProgress progress;
  const ServingResult found = search_serving(q.problem, space, aim, progress);
  if (found.best.empty()) return std::nullopt;
  return InnerAnswer{found.best.front().strategy, found.best.front().serving};
}

}  // namespace

void check_objective(const Plan& plan) {
  if (!plan.best) return;
  if (plan.task == Task::infer) {
    objective_of<ServingObjective>(plan.best->objective);
  } else if (objective_of<TrainingObjective>(plan.best->objective) == TrainingObjective::cost) {
    throw InputError("best: cost needs what a device costs, which a plan does not say",
                     "one price for all devices ranks as tokens-per-second-per-gpu does");
  }
}

InnerSearch inner_search() {
  return [](const InnerQuestion& q) -> std::optional<InnerAnswer> {
    try {
      return q.plan.task == Task::train ? best_training(q) : best_serving(q);
    } catch (const InputError&) {  // no value of an axis is left: nothing runs
      return std::nullopt;
    }
  };
}

}  // namespace sextant::sweep
