// SPDX-License-Identifier: Apache-2.0
// The search for the best strategy at one point of a sweep: `sextant search` in small, with what
// the plan gives fixed.
#include <algorithm>

#include "cli/flags.hpp"
#include "cli/sweep.hpp"
#include "sextant/search/search.hpp"
#include "sextant/search/serving.hpp"

namespace sextant::cli {
namespace {

using sweep::InnerQuestion;

template <NamedEnum E>
E objective_of(const std::string& text) {
  Flags flags;
  const E objective = flags.choice<E>("best", text);
  throw_if_any(std::move(flags.problems));
  return objective;
}

/// Fixes what the plan gives.
class Fixer {
 public:
  explicit Fixer(const sweep::Plan& plan) : plan_(plan) {}

  void number(const char* field, Choices& choices, int value) const {
    if (plan_.gives(field)) choices.only = {value};
  }
  template <class T>
  void choice(const char* field, std::vector<T>& values, T value) const {
    if (plan_.gives(field)) values = {value};
  }

 private:
  const sweep::Plan& plan_;
};

SearchSpace training_space(const InnerQuestion& q) {
  const Strategy& s = q.inputs.strategy;
  const Fixer fix(q.plan);
  SearchSpace space;
  space.devices = {q.inputs.gpus};
  fix.number("tp", space.tp, s.tp);
  fix.number("pp", space.pp, s.pp);
  fix.number("dp", space.dp, s.dp);
  fix.number("cp", space.cp, s.cp);
  fix.number("ep", space.ep, s.ep);
  fix.number("etp", space.etp, s.etp);
  fix.number("microbatch", space.microbatch, s.microbatch);
  fix.number("interleave", space.interleave, s.interleave);
  fix.number("zero", space.zero, s.zero);
  fix.number("shard", space.shard, s.shard);
  fix.number("recompute_layers", space.recompute_layers, s.recompute_layers);
  fix.choice("sp", space.sp, s.sp);
  fix.choice("offload", space.offload, s.offload);
  fix.choice("recompute", space.recompute, s.recompute);
  fix.choice("schedule", space.schedule, s.schedule);
  fix.choice("order", space.order, s.order);
  fix.choice("context", space.context, s.context);
  fix.choice("precision", space.precision, s.precision);
  space.modules = {s.modules};
  return space;
}

std::optional<Strategy> best_training(const InnerQuestion& q) {
  const SearchSpace space = training_space(q);
  SearchAim aim;
  aim.objective = objective_of<TrainingObjective>(q.plan.best->objective);
  aim.top = 1;
  aim.sample = 0;
  SearchProgress progress;
  const SearchResult found = search(q.problem, space, lay_out(q.problem, space), aim, progress);
  if (found.best.empty()) return std::nullopt;
  return found.best.front().strategy;
}

std::optional<Strategy> best_serving(const InnerQuestion& q) {
  const Strategy& s = q.inputs.strategy;
  const Fixer fix(q.plan);
  ServingSpace space;
  space.devices = q.inputs.gpus;
  fix.number("tp", space.tp, s.tp);
  fix.number("pp", space.pp, s.pp);
  fix.number("dp", space.dp, s.dp);
  fix.number("ep", space.ep, s.ep);
  space.batch.only = {q.inputs.serving.batch};
  space.precision = {s.precision};
  space.cache = {q.inputs.serving.cache};
  ServingAim aim;
  aim.objective = objective_of<ServingObjective>(q.plan.best->objective);
  space.at_most = aim.objective == ServingObjective::devices;
  aim.top = 1;
  SearchProgress progress;
  const ServingResult found = search_serving(q.problem, space, aim, progress);
  if (found.best.empty()) return std::nullopt;
  return found.best.front().strategy;
}

}  // namespace

void check_objective(const sweep::Plan& plan) {
  if (!plan.best) return;
  if (plan.task == sweep::Task::infer) {
    objective_of<ServingObjective>(plan.best->objective);
  } else if (objective_of<TrainingObjective>(plan.best->objective) == TrainingObjective::cost) {
    throw InputError("best: cost needs what a device costs, which a plan does not say",
                     "one price for all devices ranks as tokens-per-second-per-gpu does");
  }
}

sweep::InnerSearch inner_search() {
  return [](const InnerQuestion& q) -> std::optional<Strategy> {
    try {
      return q.plan.task == sweep::Task::train ? best_training(q) : best_serving(q);
    } catch (const InputError&) {  // no value of an axis is left: nothing runs
      return std::nullopt;
    }
  };
}

}  // namespace sextant::cli
