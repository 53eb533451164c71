// SPDX-License-Identifier: Apache-2.0
#include "sextant/sweep/evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sextant/sweep/specs.hpp"

namespace sextant::sweep {
namespace {

constexpr double never = std::numeric_limits<double>::quiet_NaN();

std::string reason_of(const InputError& e) {
  if (e.diagnostics().empty()) return e.what();
  const Diagnostic& d = e.diagnostics().front();
  return (d.field.empty() ? "" : d.field + ": ") + d.message;
}

}  // namespace

Evaluator::Evaluator(const Plan& plan, InnerSearch search)
    : plan_(plan),
      search_(std::move(search)),
      outputs_(outputs_of(plan)),
      slots_(plan.axes.size()),
      digits_(plan.wheels.size()),
      last_(plan.wheels.size()),
      specs_(std::make_unique<Specs>(plan)) {
  scene_.task = plan.task;
  scene_.inputs = plan.base;
  scene_.inputs.said = said([&](const char* field) { return plan.gives(field); });
  for (std::size_t a = 0; a < plan.axes.size(); ++a) {
    const Layer layer = plan.axes[a].layer;
    if (layer != Layer::preset && layer != Layer::point) continue;
    Diagnostic problem;
    slots_[a] = find_slot(scene_, plan.axes[a].path, problem);
  }
}

Evaluator::~Evaluator() = default;

// Sets the inputs to the point's, and makes a new problem where one is needed.
void Evaluator::turn_to(std::uint64_t point) {
  digits_of(plan_, point, digits_);
  bool problem_changes = fresh_;
  for (std::size_t w = 0; w < plan_.wheels.size(); ++w) {
    if (!fresh_ && digits_[w] == last_[w]) continue;
    problem_changes |= plan_.wheels[w].makes_problem;
    for (const std::size_t a : plan_.wheels[w].axes) {
      const Axis& axis = plan_.axes[a];
      if (slots_[a]) assign(slots_[a]->target, axis.numbers[digits_[w]], axis.text(digits_[w]));
    }
  }
  fresh_ = false;
  last_ = digits_;
  if (problem_changes) make_problem();
}

void Evaluator::make_problem() {
  steps_.forget();
  try {
    problem_ = specs_->problem(scene_, digits_);
    broken_.clear();
  } catch (const InputError& e) {
    broken_ = reason_of(e);
  }
}

// The code of what became of what was given.
double Evaluator::settle(Answer& answer) {
  const sextant::Inputs& given = scene_.inputs;
  sextant::Inputs in = given;
  // A search may leave devices over, or share them between instances.
  if (plan_.best && plan_.task == Task::infer) in.gpus = 0;
  const std::optional<Refusal> outcome = derive(plan_.task, in, problem_, answer.strategy);
  return outcome ? code_of(*outcome) : code_of(Verdict::fits);
}

double Evaluator::run(Answer& answer) {
  answer.made = scene_.made;
  const double code = settle(answer);
  if (code != code_of(Verdict::fits)) return code;
  if (plan_.best) {
    const std::optional<InnerAnswer> found =
        search_ ? search_({plan_, problem_, scene_.inputs}) : std::nullopt;
    if (!found) return code_of(Refusal::nothing_fits);
    answer.strategy = found->strategy;
    answer.serving = problem_.serving = found->serving;
  }
  const Strategy& s = answer.strategy;
  const bool trains = plan_.task == Task::train;
  Verdict verdict{};
  if (trains) {
    answer.step = steps_.evaluate(problem_, s);
    verdict = answer.step.verdict;
  } else {
    answer.service = serve(problem_, s);
    verdict = answer.service.verdict;
  }
  const bool ran = verdict == Verdict::fits || verdict == Verdict::out_of_memory;
  if (plan_.energy && ran) {
    answer.energy = trains ? answer.step.energy : request_energy(problem_, s, answer.service);
    answer.tokens = trains ? answer.step.tokens
                           : static_cast<double>(problem_.serving.batch) * problem_.serving.output;
  }
  return code_of(verdict);
}

void Evaluator::fill(const Answer& answer, double verdict, Chunk& chunk) const {
  chunk.values.push_back(verdict);
  const bool ran = verdict == code_of(Verdict::fits) || verdict == code_of(Verdict::out_of_memory);
  Strategy strategy = answer.strategy;
  const StructRef fields = plan_.best ? reflect(strategy) : StructRef{};
  for (std::size_t i = 1; i < outputs_.size(); ++i) {
    const Output& o = outputs_[i];
    double value = never;
    if (ran && o.value != nullptr) value = o.value(answer);
    if (ran && o.value == nullptr) value = number_of(fields.fields[o.strategy_field].target);
    chunk.values.push_back(std::isfinite(value) ? value : never);
  }
}

void Evaluator::answer(std::uint64_t point, Chunk& chunk) {
  turn_to(point);
  Answer answer;
  if (broken_.empty()) return fill(answer, run(answer), chunk);
  const auto known = std::find(chunk.texts.begin(), chunk.texts.end(), broken_);
  const auto at = static_cast<std::size_t>(known - chunk.texts.begin());
  if (known == chunk.texts.end()) chunk.texts.push_back(broken_);
  fill(answer, static_cast<double>(first_text_code + at), chunk);
}

}  // namespace sextant::sweep
