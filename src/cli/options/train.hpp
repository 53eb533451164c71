// SPDX-License-Identifier: Apache-2.0
// Options of `train` and `ops train`.
#pragma once

#include <array>
#include <string>

#include "cli/options/option.hpp"
#include "sextant/spec/strategy.hpp"
#include "sextant/spec/workload.hpp"

namespace sextant::cli {

/// One training step. What is not given is derived or defaulted, and listed as an assumption.
struct TrainOptions {
  PresetRef model;
  PresetRef system;
  PresetRef runtime;  ///< empty: megatron-core
  std::optional<int> gpus, tp, pp, dp, cp, ep, etp;
  std::optional<int> interleave, microbatch, batch, seq, zero, shard, recompute_layers;
  std::optional<bool> sp;
  std::string recompute;
  std::vector<std::string> recompute_modules;
  std::string schedule;
  std::string context;
  std::string order;
  std::string precision;
  std::string optimizer;
  bool offload = false;
  bool explain = false;
  bool sensitivity = false;
  std::string trace;  ///< file for a Chrome trace of the pipeline
};

inline constexpr std::array<std::string_view, 5> recompute_modules = {"norms", "activation", "mlp",
                                                                      "experts", "latent"};

/// What is trained, on what, and how.
template <class V>
void describe_training(V& v, TrainOptions& o) {
  v("model", o.model,
    {.help = "model preset, file or Hugging Face config.json",
     .required = true,
     .preset = PresetKind::model});
  v("system", o.system,
    {.help = "system preset or file", .required = true, .preset = PresetKind::system});
  v("runtime", o.runtime,
    {.help = "software stack; without, megatron-core", .preset = PresetKind::runtime});
  v("gpus", o.gpus, {.help = "devices; without, what the degrees take"});
  v("tp", o.tp, {.help = "tensor-parallel degree"});
  v("pp", o.pp, {.help = "pipeline stages"});
  v("dp", o.dp, {.help = "replicas; without, what is left of --gpus"});
  v("cp", o.cp, {.help = "context-parallel degree"});
  v("ep", o.ep, {.help = "expert-parallel degree"});
  v("etp", o.etp, {.help = "tensor-parallel degree inside experts"});
  v("interleave", o.interleave, {.help = "model chunks a stage"});
  v("microbatch", o.microbatch, {.help = "sequences a microbatch"});
  v("batch", o.batch, {.help = "sequences a step, over all replicas"});
  v("seq", o.seq, {.help = "tokens a sequence"});
  v("zero", o.zero, {.help = "ZeRO stage, 0 to 3"});
  v("shard", o.shard, {.help = "replicas that share states under ZeRO; without, all"});
  v("sp", o.sp, {.help = "sequence parallelism; without, as the runtime does", .no = "no_sp"});
  v("recompute", o.recompute,
    {.help = "none, selective or full", .choices = choices_of<Recompute>()});
  v("recompute_layers", o.recompute_layers, {.help = "of a stage, when full"});
  v("recompute_modules", o.recompute_modules,
    {.help = "parts beyond that: norms,activation,mlp,experts,latent",
     .choices = recompute_modules,
     .commas = true});
  v("schedule", o.schedule,
    {.help = "1f1b, gpipe or zero-bubble", .choices = choices_of<Schedule>()});
  v("context", o.context,
    {.help = "context parallelism by ring or all-to-all", .choices = choices_of<ContextKind>()});
  v("order", o.order,
    {.help = "what lies inside a node: tp-cp-ep-dp-pp, tp-cp-ep-pp-dp",
     .choices = choices_of<Order>()});
  v("offload", o.offload, {.help = "optimizer states live in host memory"});
  v("precision", o.precision,
    {.help = "of the multiplies: bf16 fp16 fp8 fp4 tf32 fp32", .choices = choices_of<Precision>()});
  v("optimizer", o.optimizer,
    {.help = "adamw or adamw-bf16-states", .choices = choices_of<Optimizer>()});
}

template <class V>
void describe(V& v, TrainOptions& o) {
  describe_training(v, o);
  v("explain", o.explain, {.help = "every operator of the slowest stage"});
  v("sensitivity", o.sensitivity, {.help = "what a tenth more of each resource changes"});
  v("trace", o.trace,
    {.help = "write a timeline for ui.perfetto.dev: out.json",
     .placeholder = "FILE",
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

}  // namespace sextant::cli
