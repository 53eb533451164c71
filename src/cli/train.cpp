// SPDX-License-Identifier: Apache-2.0
// `sextant train`: one training step, its time, its memory, and what both are made of.
#include "sextant/predict/train.hpp"

#include <fmt/format.h>

#include "cli/neighbours.hpp"
#include "cli/scenario.hpp"
#include "cli/train_report.hpp"
#include "sextant/io/files.hpp"
#include "sextant/report/trace.hpp"

namespace sextant::cli {
namespace {

// A timeline of more spans than this is hundreds of megabytes, and no viewer opens it.
constexpr double most_spans = 2e6;

void write_trace(const std::string& path, const Scenario& x) {
  const double spans = timeline_size(x.problem, x.strategy);
  if (spans > most_spans) {
    throw InputError(fmt::format("--trace: the pipeline has about {:.0f} spans, more than {:.0f}",
                                 spans, most_spans),
                     "a smaller --batch shows the same schedule");
  }
  write_file_atomically(path, to_trace(timeline(x.problem, x.strategy)));
}

}  // namespace

std::string run_train(const TrainOptions& options, const Common& common) {
  if (!options.trace.empty()) check_writable(options.trace);
  const Scenario x = read_scenario(options, common);
  TrainAnswer a{
      .scenario = x, .estimate = {}, .operators = {}, .neighbours = {}, .sensitivity = {}};
  if (options.explain) {
    Explained explained = explain(x.problem, x.strategy);
    a.estimate = explained.estimate;
    a.operators = std::move(explained.operators);
  } else {
    a.estimate = evaluate(x.problem, x.strategy);
  }
  if (a.estimate.verdict == Verdict::out_of_memory) a.neighbours = fitting(x);
  if (options.sensitivity) {
    a.sensitivity = find_sensitivity(
        x.problem, {{"step_seconds", "a step"}},
        [&](const Problem& p) { return std::vector{evaluate(p, x.strategy).step.value}; });
  }
  if (!options.trace.empty()) write_trace(options.trace, x);
  switch (common.format) {
    case Format::json:
      return train_json(a);
    case Format::csv:
      return train_csv(a);
    case Format::text:
    case Format::html:
      break;
  }
  return train_text(a);
}

}  // namespace sextant::cli
