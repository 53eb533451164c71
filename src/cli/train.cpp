// SPDX-License-Identifier: Apache-2.0
// `sextant train`: one training step, its time, its memory, and what both are made of.
#include "sextant/predict/train.hpp"

#include "cli/commands.hpp"
#include "cli/trace.hpp"
#include "sextant/answer/track_record.hpp"
#include "sextant/answer/train.hpp"
#include "sextant/options/scenario.hpp"
#include "sextant/predict/layout.hpp"
#include "sextant/predict/timeline.hpp"
#include "sextant/scenario/choices.hpp"

namespace sextant::cli {
namespace {

// More spans than this no page draws.
constexpr double most_drawn_spans = 20000;

Record timeline_record(const Scenario& x) {
  Record r;
  r("stages", x.strategy.pp);
  r("microbatches", microbatches_of(x.problem, x.strategy));
  const bool too_large = timeline_size(x.problem, x.strategy) > most_drawn_spans;
  r("too_large", only_if(too_large, true));
  if (too_large) return r;
  const Timeline t = timeline(x.problem, x.strategy);
  r("seconds", t.end);
  r.list("spans", "Span", records_of(t.spans, [](Record& n, const TimelineSpan& s) {
           n("stage", s.stage);
           n("microbatch", s.microbatch);
           n("chunk", s.chunk);
           n("kind", s.what);
           n("start", s.start);
           n("duration", s.length);
         }));
  r("perfetto", false);
  return r;
}

}  // namespace

Answer run_train(const TrainOptions& options, const Common& common) {
  std::vector<Diagnostic> problems = check_readers(options, common);
  check_trace(options, problems);
  RunPlan plan = read_run(options.run, problems);
  const Scenario x = [&] {
    try {
      return read_training(options, common);
    } catch (const InputError& e) {
      problems.insert(problems.end(), e.diagnostics().begin(), e.diagnostics().end());
      throw InputError(std::move(problems));
    }
  }();
  throw_if_any(with_length(plan, x.problem.work, std::move(problems)));
  read_run_price(options.run, x.system.device.name, plan);
  TrainResult a{.scenario = x,
                .estimate = {},
                .operators = {},
                .neighbours = {},
                .sensitivity = {},
                .run = {},
                .extras = {},
                .files = {}};
  if (options.explain) {
    Explained explained = explain(x.problem, x.strategy);
    a.estimate = explained.estimate;
    a.operators = std::move(explained.operators);
  } else {
    a.estimate = evaluate(x.problem, x.strategy);
  }
  if (plan.tokens > 0) a.run = answer_run(std::move(plan), x.problem, a.estimate);
  if (a.estimate.verdict == Verdict::out_of_memory) a.neighbours = fitting(x);
  if (options.sensitivity) {
    a.sensitivity = find_sensitivity(
        x.problem, {{"step_seconds", "a step"}},
        [&](const Problem& p) { return std::vector{evaluate(p, x.strategy).step.value}; });
  }
  if (options.timeline) a.extras.object("timeline", "Timeline", timeline_record(x));
  if (options.choices) a.extras.node("choices", "number", choices_of(x));
  const Records nearest =
      track_record(options.nearest ? "train" : "", x.system.device.name, x.problem.runtime.name);
  options.nearest ? a.extras.list("nearest_cases", "NearestCase", nearest)
                  : a.extras.some("nearest_cases", "NearestCase", nearest);
  if (!options.trace.empty()) a.files = write_trace(options, x);
  return answer_of(std::move(a));
}

}  // namespace sextant::cli
