// SPDX-License-Identifier: Apache-2.0
// A serving case meets the model of serving.
#include "sextant/validate/infer_results.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/predict/infer.hpp"
#include "sextant/scenario/derive.hpp"
#include "sextant/serving/price.hpp"
#include "sextant/validate/parts.hpp"

namespace sextant {
namespace {

// What a pass spends most of its time on.
std::string_view longest_part(const PassCost& c) {
  const auto& parts = c.parts.values;
  const auto longest = std::max_element(parts.begin(), parts.end());
  return name_of(static_cast<Work>(longest - parts.begin()));
}

void fill(CaseResult& r, double predicted, const PassCost& pass) {
  r.predicted = predicted;
  r.error = predicted / r.measured - 1;
  r.bound = longest_part(pass);
}

void fill(CaseResult& r, InferMetric metric, const ServingEstimate& e, const Protocol& protocol) {
  switch (metric) {
    case InferMetric::latency_seconds:
      return fill(r, e.latency.value, e.latency > 2 * e.ttft ? e.decode : e.prefill);
    case InferMetric::ttft_seconds:
      return fill(r, e.ttft.value, e.prefill);
    case InferMetric::tpot_seconds:
      return fill(r, (protocol.statistic == Statistic::median ? e.step : e.tpot).value, e.decode);
    case InferMetric::output_tokens_per_second:
      return fill(r, e.tokens_per_second / (protocol.per_device ? e.devices : 1),
                  e.latency > 2 * e.ttft ? e.decode : e.prefill);
    case InferMetric::phase_seconds:
      break;
  }
}

/// A step of prompts and tokens together, as the engine runs it under load.
double engine_step(const InferScenario& x, const PassShape& shape) {
  StepPrice price(x.problem, x.strategy, shape.context);
  const double looked_at = std::max(1.0, shape.chunk_context - shape.chunk / 2);  // by a token
  StepShape step{.decoding = shape.batch,
                 .contexts = shape.batch * shape.context,
                 .prompt_tokens = shape.chunk,
                 .reach = shape.chunk * looked_at};
  // Tokens of a prompt from its start look at half of it in the mean.
  if (shape.chunk > 0) step.prompts = std::max(1, static_cast<int>(shape.chunk / 2 / looked_at));
  return price.step(step).seconds;
}

}  // namespace

std::optional<InferScenario> serving_of(const Case& c, Catalogue& catalogue, std::string& reason) {
  const auto& t = std::get<InferCase>(c.kernel);
  const Serving& work = t.inputs.serving;
  const int context = std::max(t.context, work.input + work.output);
  const auto parts =
      find_parts({c.system, t.runtime, t.model, t.columns, context, t.backend}, catalogue, reason);
  if (!parts) return std::nullopt;
  InferScenario x;
  x.device = parts->system->device.name;
  Model model = parts->model;
  if (c.protocol.chosen == Chosen::even) model.experts.skew = 0;
  x.problem = prepare(*parts->system, parts->runtime, parts->libraries, model, work);
  if (derive(Task::infer, t.inputs, x.problem, x.strategy)) {
    reason = fmt::format("gpus is not tp {} x pp {} x dp {}: {}", x.strategy.tp, x.strategy.pp,
                         x.strategy.dp, t.inputs.gpus);
    return std::nullopt;
  }
  if (t.shard) {
    // The other ranks are imagined.
    x.problem.communicates = false;
    x.problem.max_devices = std::max(x.problem.max_devices, x.strategy.tp);
  }
  return x;
}

void predict_infer(const Case& c, Catalogue& catalogue, std::vector<CaseResult>& out) {
  const auto& t = std::get<InferCase>(c.kernel);
  std::string reason = c.unsupported;
  const auto x = reason.empty() ? serving_of(c, catalogue, reason) : std::nullopt;
  if (!x) {
    out.push_back(unpredicted(c, reason));
    return;
  }
  if (legal_serving(x->problem, x->strategy) != Verdict::fits) {
    out.push_back(unpredicted(c, "cannot run: " + joined(check_serving(x->problem, x->strategy))));
    return;
  }
  CaseResult r = unpredicted(c, "");
  r.likeness = likeness_of(Asked::infer, x->device, x->problem, x->strategy);
  r.time = c.metric.ends_with("_seconds");
  if (t.metric == InferMetric::phase_seconds) {
    const bool prefill = t.phase == InferPhase::prefill;
    const PassShape one{.batch = static_cast<double>(t.inputs.serving.batch),
                        .queries = prefill ? static_cast<double>(t.inputs.serving.input) : 1.0,
                        .context = static_cast<double>(t.context),
                        .every_logit = c.protocol.every_logit};
    const PassCost pass = serving_pass(x->problem, x->strategy, t.mixed ? t.shape : one);
    fill(r, t.mixed ? engine_step(*x, t.shape) : pass.time.value, pass);
  } else {
    fill(r, t.metric, serve(x->problem, x->strategy), c.protocol);
  }
  out.push_back(std::move(r));
}

}  // namespace sextant
