// SPDX-License-Identifier: Apache-2.0
// Options of `train` and `ops train`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/options/inputs.hpp"
#include "sextant/scenario/run_plan.hpp"

namespace sextant {

/// Ranks that execution traces are written of.
enum class TraceRanks : std::uint8_t {
  some,  ///< all, or where that would be too much the first of each stage
  all,
  stages,
};
constexpr auto names_of(TraceRanks) {
  return std::array<std::string_view, 3>{"auto", "all", "stages"};
}

/// One training step. What is not given is derived or defaulted, and listed as an assumption.
struct TrainOptions : ScenarioOptions {
  static constexpr Task imports = Task::train;
  RunQuestion run;
  bool explain = false;
  bool sensitivity = false;
  // In JSON, for programs.
  bool timeline = false;
  bool choices = false;
  bool nearest = false;
  std::string trace;  ///< file for a Chrome trace of the pipeline; .et: execution traces
  TraceRanks trace_ranks = TraceRanks::some;
};

/// What is trained, on what, and how.
template <class V>
void describe_training(V& v, TrainOptions& o) {
  describe_presets(v, o, "software stack; without, the one that is usual on the system",
                   {"from", "from"});
  describe_from(v, o.from);
  describe_inputs(v, Task::train, o.given);
}

template <class V>
void describe(V& v, TrainOptions& o) {
  describe_training(v, o);
  v("tokens", o.run.tokens,
    {.help = "the whole run of so many, such as 15T: days, dollars, energy, failures",
     .number = true});
  v("price", o.run.price, {.help = price_help, .number = true});
  describe_fields(v, run_fields(), o.run.given);
  v("explain", o.explain, {.help = "every operator of the slowest stage"});
  v("sensitivity", o.sensitivity, {.help = "what a tenth more of each resource changes"});
  v("timeline", o.timeline, {.help = "in JSON, what each stage does when"});
  v("choices", o.choices, {.help = "in JSON, the legal values of each axis, the others held"});
  v("nearest", o.nearest, {.help = "in JSON, how far off the nearest measured cases are"});
  v("trace", o.trace,
    {.help = "write a timeline for ui.perfetto.dev: out.json; or execution traces for ASTRA-sim, a "
             "file a rank: out.et",
     .placeholder = "FILE",
     .local = true});
  v("trace_ranks", o.trace_ranks,
    {.help = "ranks that get an execution trace: all, or the first of each of the stages",
     .local = true});
}

/// The same step by its operators, with a roofline.
struct OpsTrainOptions : TrainOptions {
  std::string plot;
};

template <class V>
void describe(V& v, OpsTrainOptions& o) {
  describe_training(v, o);
  v("plot", o.plot,
    {.help = "write the roofline: out.svg or out.html", .placeholder = "FILE", .local = true});
}

}  // namespace sextant
