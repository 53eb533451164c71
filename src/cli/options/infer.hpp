// SPDX-License-Identifier: Apache-2.0
// Options of `infer` and `ops infer`.
#pragma once

#include <array>
#include <string>

#include "cli/options/option.hpp"
#include "sextant/spec/device.hpp"
#include "sextant/spec/workload.hpp"

namespace sextant::cli {

/// Requests served. What is not given is defaulted, and listed as an assumption.
struct InferOptions {
  PresetRef model;
  PresetRef system;
  PresetRef runtime;  ///< empty: trtllm
  std::optional<int> tp, pp, dp, ep;
  std::optional<int> batch, input, output, chunk, speculate;
  std::optional<double> acceptance, draft_cost;
  std::string batching;
  std::string precision;
  std::string kv_precision;
  bool allow_long = false;  ///< go on with a context beyond the model's
  bool curve = false;       ///< all batch sizes that fit
  bool sensitivity = false;
  bool explain = false;
  std::string plot;  ///< figure of the curve, or the roofline: .svg or .html
};

/// What is served, on what, and how. Here --output counts tokens; the file keeps its short name,
/// -o.
template <class V>
void describe_serving_options(V& v, InferOptions& o) {
  v("model", o.model,
    {.help = "model preset, file or Hugging Face config.json",
     .required = true,
     .preset = PresetKind::model});
  v("system", o.system,
    {.help = "system preset or file", .required = true, .preset = PresetKind::system});
  v("runtime", o.runtime,
    {.help = "software stack; without, trtllm", .preset = PresetKind::runtime});
  v("tp", o.tp, {.help = "tensor-parallel degree"});
  v("pp", o.pp, {.help = "pipeline stages"});
  v("dp", o.dp, {.help = "replicas of attention, each with its share of the batch"});
  v("ep", o.ep, {.help = "expert-parallel degree, over the ranks of tp and dp"});
  v("batch", o.batch, {.help = "requests at a time"});
  v("input", o.input, {.help = "tokens of a prompt"});
  v("output", o.output, {.help = "tokens generated"});
  v("batching", o.batching,
    {.help = "static, or closed-loop: what ends is replaced", .choices = choices_of<Batching>()});
  v("chunk", o.chunk, {.help = "prompt tokens that join a decode step; without, whole"});
  v("precision", o.precision,
    {.help = "of the weights: bf16 fp16 fp8 fp4; int8 and int4: weights alone",
     .choices = choices_of<Precision>()});
  v("kv_precision", o.kv_precision,
    {.help = "of the cache: bf16 fp16 fp8 int8", .choices = choices_of<Precision>()});
  v("speculate", o.speculate, {.help = "tokens a draft model proposes a step"});
  v("acceptance", o.acceptance, {.help = "chance that one of them is right"});
  v("draft_cost", o.draft_cost, {.help = "a draft step over a step of the model"});
  v("allow_long", o.allow_long, {.help = "go on with a context beyond the model's"});
}

template <class V>
void describe(V& v, InferOptions& o) {
  describe_serving_options(v, o);
  v("curve", o.curve, {.help = "batch sizes from 1 to the largest that fits"});
  v("sensitivity", o.sensitivity, {.help = "what a tenth more of each resource changes"});
  v("explain", o.explain, {.help = "every operator of a prefill and a decode pass"});
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

}  // namespace sextant::cli
