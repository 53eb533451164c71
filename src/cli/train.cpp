// SPDX-License-Identifier: Apache-2.0
// `sextant train`: one training step, its time, its memory, and what both are made of.
#include "sextant/predict/train.hpp"

#include <fmt/format.h>

#include "cli/choices.hpp"
#include "cli/neighbours.hpp"
#include "cli/scenario.hpp"
#include "cli/track_record.hpp"
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

// More spans than this no page draws.
constexpr double most_drawn_spans = 20000;

Node timeline_node(const Scenario& x) {
  Node root = Node::table();
  if (timeline_size(x.problem, x.strategy) > most_drawn_spans) {
    root.set("too_large", Node::of(true));
    return root;
  }
  const Timeline t = timeline(x.problem, x.strategy);
  root.set("stages", Node::of(t.stages));
  root.set("seconds", Node::of(t.end.value));
  Node& spans = root.set("spans", Node::array());
  for (const TimelineSpan& s : t.spans) {
    Node& n = spans.push(Node::table());
    n.set("stage", Node::of(s.stage));
    n.set("microbatch", Node::of(s.microbatch));
    n.set("chunk", Node::of(s.chunk));
    n.set("kind", Node::of(name_of(s.what)));
    n.set("start", Node::of(s.start.value));
    n.set("duration", Node::of(s.length.value));
  }
  root.set("perfetto", Node::of(false));
  return root;
}

}  // namespace

std::string run_train(const TrainOptions& options, const Common& common) {
  if (!options.trace.empty()) check_writable(options.trace);
  const Scenario x = read_scenario(options, common);
  TrainAnswer a{.scenario = x,
                .estimate = {},
                .operators = {},
                .neighbours = {},
                .sensitivity = {},
                .extras = Node::table()};
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
  if (options.timeline) a.extras.set("timeline", timeline_node(x));
  if (options.choices) a.extras.set("choices", training_choices(options, x));
  if (options.nearest) {
    a.extras.set("nearest_cases",
                 track_record("train", x.system.device.name, x.problem.runtime.name));
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
