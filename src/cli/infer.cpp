// SPDX-License-Identifier: Apache-2.0
// `sextant infer`: requests served, how fast, in how much memory, and why. `sextant ops infer` and
// `ops train`: the operators behind an answer, with their roofline.
#include "sextant/predict/infer.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/commands.hpp"
#include "cli/figure.hpp"
#include "sextant/answer/infer.hpp"
#include "sextant/answer/track_record.hpp"
#include "sextant/io/errors.hpp"
#include "sextant/options/scenario.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/scenario/choices.hpp"
#include "sextant/scenario/prices.hpp"
#include "sextant/validate/infer_cases.hpp"

namespace sextant::cli {
namespace {

// One pass by its operators; the host's part is a line of its own, so that shares sum to one.
OperatorList pass_operators(const Scenario& x, InferPhase phase, const PassShape& shape,
                            ExplainedPass pass) {
  if (pass.cost.parts[Work::host].value > 0) {
    Operator host;
    host.name = "launches and scheduler";
    host.part = name_of(Work::host);
    host.cost.time = host.exposed = pass.cost.parts[Work::host];
    host.cost.bound = Bound::launch;
    pass.operators.push_back(std::move(host));
  }
  const Precision type = multiplied_in(x.problem, x.strategy, x.strategy.precision);
  OperatorList list = list_operators(x.problem, type, std::move(pass.operators), pass.cost.time);
  list.heading =
      fmt::format("{} of {} on {}", name_of(phase), x.problem.model.name, x.system.device.name);
  list.title = fmt::format("{}, {}: batch {:.4g}, {:.10g} token{} each, context {:.0f}: {} at {}",
                           list.heading, describe_serving(x.strategy), shape.batch, shape.queries,
                           shape.queries > 1 ? "s" : "", shape.context, format(pass.cost.time, 4),
                           format(pass.cost.clock));
  return list;
}

Sensitivity sensitivity_of(const Scenario& x) {
  const bool tokens = x.problem.serving.output > 1;
  std::vector<Outcome> outcomes = {{"ttft_seconds", "to the first token"},
                                   {"latency_seconds", "a request"},
                                   {"output_tokens_per_second", "tokens/s"}};
  if (tokens) outcomes.insert(outcomes.begin(), {"tpot_seconds", "per token"});
  return find_sensitivity(x.problem, std::move(outcomes), [&](const Problem& p) {
    const ServingEstimate e = serve(p, x.strategy);
    std::vector<double> values = {e.ttft.value, e.latency.value, e.tokens_per_second};
    if (tokens) values.insert(values.begin(), e.tpot.value);
    return values;
  });
}

}  // namespace

Answer run_infer(const InferOptions& options, const Common& common) {
  check_figure_path(options.plot);
  Scenario x = read_serving(options, common);
  std::vector<Diagnostic> problems = check_readers(options, common);
  DevicePrice price = read_device_price(options.price, x.system, problems);
  throw_if_any(std::move(problems));
  if (!price.assumption.empty()) x.assumptions.push_back(std::move(price.assumption));
  InferResult a{.scenario = x,
                .estimate = serve(x.problem, x.strategy),
                .neighbours = {},
                .curve = {},
                .passes = {},
                .sensitivity = {},
                .price = price.dollars_per_hour,
                .extras = {}};
  if (a.estimate.verdict == Verdict::out_of_memory) a.neighbours = fitting_serving(x);
  if (options.curve || !options.plot.empty()) a.curve = batch_curve(x);
  if (options.sensitivity) a.sensitivity = sensitivity_of(x);
  if (options.explain) {
    const auto add = [&](InferPhase phase, const PassShape& shape, const PassCost& cost) {
      a.passes.push_back(
          pass_operators(x, phase, shape, explain_pass(x.problem, x.strategy, shape, cost)));
    };
    add(InferPhase::prefill, prompt_pass(x.problem, x.strategy, a.estimate), a.estimate.prefill);
    add(InferPhase::decode, decode_pass(x.problem, a.estimate.decoding), a.estimate.decode);
  }
  if (options.choices) a.extras.node("choices", "number", choices_of(x));
  const Records nearest =
      track_record(options.nearest ? "infer" : "", x.system.device.name, x.problem.runtime.name);
  options.nearest ? a.extras.list("nearest_cases", "NearestCase", nearest)
                  : a.extras.some("nearest_cases", "NearestCase", nearest);
  return with_figure(answer_of(std::move(a)), options.plot);
}

Answer run_ops_infer(const OpsInferOptions& options, const Common& common) {
  check_figure_path(options.plot);
  Flags flags;
  const auto phase = flags.choice<InferPhase>("--phase", options.phase);
  throw_if_any(std::move(flags.problems));
  Scenario x = read_serving(options, common);
  const bool prefill = phase == InferPhase::prefill;
  PassShape shape =
      prefill ? prompt_pass(x.problem) : decode_pass(x.problem, x.problem.serving.batch);
  const double context = options.context ? *options.context : shape.context;
  if (context < shape.queries) {
    throw InputError(
        fmt::format("--context: {} is less than the pass's own {} tokens", context, shape.queries));
  }
  if (!options.context && !prefill) {
    x.assumptions.push_back(fmt::format("context {}: halfway through the output", context));
  }
  const Likeness likeness = likeness_of(Asked::infer, known_as(x.system), x.problem, x.strategy);
  shape.context = context;
  ExplainedPass pass = explain_pass(x.problem, x.strategy, shape);
  return with_figure(
      answer_of(pass_operators(x, phase, shape, std::move(pass)), likeness, x.assumptions),
      options.plot);
}

Answer run_ops_train(const OpsTrainOptions& options, const Common& common) {
  check_figure_path(options.plot);
  const Scenario x = read_training(options, common);
  Explained e = explain(x.problem, x.strategy);
  OperatorList list =
      list_operators(x.problem, x.strategy.precision, std::move(e.operators), e.estimate.step);
  list.heading = fmt::format("training {} on {}", x.problem.model.name, x.system.device.name);
  list.title =
      fmt::format("{} x {}: {} a step, operators of stage {}, the slowest", list.heading,
                  e.estimate.devices, format(e.estimate.step, 4), e.estimate.slowest_stage);
  const Likeness likeness = likeness_of(Asked::train, known_as(x.system), x.problem, x.strategy);
  return with_figure(answer_of(list, likeness, x.assumptions), options.plot);
}

}  // namespace sextant::cli
