// SPDX-License-Identifier: Apache-2.0
// A training case meets the model of a training step.
#include "sextant/validate/train_results.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sextant/predict/train.hpp"
#include "sextant/scenario/derive.hpp"
#include "sextant/validate/parts.hpp"

namespace sextant {
namespace {

// Allocated memory as the logs of the first rank show it at the end of a step.
Bytes allocated(const TrainScenario& x) {
  return stage_memory(x.problem, x.strategy, 0).optimizer_step;
}

double value_of(TrainMetric metric, const TrainScenario& x, const Estimate& e) {
  switch (metric) {
    case TrainMetric::step_seconds:
      return e.step.value;
    case TrainMetric::tokens_per_second_per_gpu:
      return e.tokens / e.step.value / e.devices;
    case TrainMetric::model_tflops_per_gpu:
      return e.model_flops.value / e.step.value / e.devices / 1e12;
    case TrainMetric::forward_backward_seconds:
      return e.forward_backward().value;
    case TrainMetric::optimizer_seconds:
      return e.time[Time::optimizer].exposed.value;
    case TrainMetric::activation_bytes_after_forward:
      return e.memory.after_forward.value;
    case TrainMetric::peak_bytes_forward_backward:
      return e.memory.peak_forward_backward.value;
    case TrainMetric::allocated_gb:
      return allocated(x) / logged_gigabyte;
    case TrainMetric::fits:
      return e.verdict == Verdict::fits ? 1 : 0;
  }
  return 0;
}

// What the step spends most of its time on.
std::string_view longest_part(const Estimate& e) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < e.time.size; ++i) {
    if (e.time.values[i].exposed > e.time.values[best].exposed) best = i;
  }
  return name_of(static_cast<Time>(best));
}

CaseResult result_of(const Case& c, const TrainCase& t, const TrainScenario& x, const Estimate& e) {
  CaseResult r = unpredicted(c, "");
  r.predicted = value_of(t.metric, x, e);
  r.bound = longest_part(e);
  // A yes or no is right or wrong; it has no ratio.
  r.error = t.metric == TrainMetric::fits ? std::abs(r.predicted - r.measured)
                                          : r.predicted / r.measured - 1;
  return r;
}

CaseResult allocated_result(const Case& c, const TrainCase& t, const TrainScenario& x) {
  CaseResult r = unpredicted(c, "");
  r.id += "/allocated";
  r.group += " (allocated)";
  r.metric = "allocated_bytes";
  r.predicted = allocated(x).value;
  r.measured = t.allocated.value;
  r.error = r.predicted / r.measured - 1;
  r.bound = "memory";
  return r;
}

}  // namespace

std::optional<TrainScenario> scenario_of(const Case& c, Catalogue& catalogue, std::string& reason) {
  const auto& t = std::get<TrainCase>(c.kernel);
  const auto parts = find_parts(
      {c.system, t.runtime, t.model, t.columns, t.inputs.training.seq, t.backend, t.settings},
      catalogue, reason);
  if (!parts) return std::nullopt;
  TrainScenario x;
  x.device = parts->system->device.name;
  x.problem = prepare(*parts->system, parts->runtime, parts->libraries, parts->model,
                      Training{.predict_ahead = 0});
  if (c.protocol.data != Operands::random) {
    quieten(x.problem.chip, activity_of(c.protocol, Bytes(0)));
  }
  if (derive(Task::train, t.inputs, x.problem, x.strategy)) {
    reason = fmt::format("gpus is not tp {} x pp {} x cp {} x dp {}: {}", x.strategy.tp,
                         x.strategy.pp, x.strategy.cp, x.strategy.dp, t.inputs.gpus);
    return std::nullopt;
  }
  return x;
}

void predict_train(const Case& c, Catalogue& catalogue, std::vector<CaseResult>& out) {
  const auto& t = std::get<TrainCase>(c.kernel);
  std::string reason = c.unsupported;
  const auto x = reason.empty() ? scenario_of(c, catalogue, reason) : std::nullopt;
  if (!x) {
    out.push_back(unpredicted(c, reason));
    return;
  }
  const Estimate e = evaluate(x->problem, x->strategy);
  if (e.verdict != Verdict::fits && e.verdict != Verdict::out_of_memory) {
    out.push_back(unpredicted(c, "cannot run: " + joined(check(x->problem, x->strategy))));
    return;
  }
  out.push_back(result_of(c, t, *x, e));
  CaseResult& r = out.back();
  r.time = c.metric.ends_with("_seconds");
  // Bytes, and whether it runs at all, are no times, and an optimizer alone is no step.
  if (t.metric < TrainMetric::optimizer_seconds) {
    r.likeness = likeness_of(Asked::train, x->device, x->problem, x->strategy);
  }
  if (t.allocated.value > 0) out.push_back(allocated_result(c, t, *x));
}

}  // namespace sextant
