// SPDX-License-Identifier: Apache-2.0
// Options of `infer` and `ops infer`.
#pragma once

#include <array>
#include <string>

#include "sextant/options/inputs.hpp"

namespace sextant {

/// Requests served. What is not given is defaulted, and listed as an assumption.
struct InferOptions : ScenarioOptions {
  static constexpr Task imports = Task::infer;
  bool curve = false;  ///< all batch sizes that fit
  bool sensitivity = false;
  bool explain = false;
  // In JSON, for programs.
  bool choices = false;
  bool nearest = false;
  std::string price;  ///< of a device and hour, or a public tier
  std::string plot;   ///< figure of the curve, or the roofline: .svg or .html
};

/// What is served, on what, and how. Here --output counts tokens; the file keeps its short name,
/// -o.
template <class V>
void describe_serving_options(V& v, InferOptions& o) {
  describe_presets(v, o, "software stack; without, the one that is usual on the system",
                   {"from", "from"});
  describe_from(v, o.from);
  describe_inputs(v, Task::infer, o.given);
}

template <class V>
void describe(V& v, InferOptions& o) {
  describe_serving_options(v, o);
  v("curve", o.curve, {.help = "batch sizes from 1 to the largest that fits"});
  v("sensitivity", o.sensitivity, {.help = "what a tenth more of each resource changes"});
  v("explain", o.explain, {.help = "every operator of a prefill and a decode pass"});
  v("choices", o.choices, {.help = "in JSON, the legal values of each axis, the others held"});
  v("nearest", o.nearest, {.help = "in JSON, how far off the nearest measured cases are"});
  v("price", o.price, {.help = price_help, .number = true});
  v("plot", o.plot,
    {.help = "write a figure of the curve: out.svg or out.html",
     .placeholder = "FILE",
     .local = true});
}

/// One pass by its operators, with a roofline.
struct OpsInferOptions : InferOptions {
  std::string phase = "decode";
  std::optional<int> context;  ///< without, the mean over the output
};

inline constexpr std::array<std::string_view, 2> serving_phases = {"prefill", "decode"};

template <class V>
void describe(V& v, OpsInferOptions& o) {
  describe_serving_options(v, o);
  v("phase", o.phase, {.help = "prefill or decode", .choices = serving_phases});
  v("context", o.context, {.help = "tokens a sequence looks at, its own included"});
  v("plot", o.plot,
    {.help = "write the roofline: out.svg or out.html", .placeholder = "FILE", .local = true});
}

}  // namespace sextant
