// SPDX-License-Identifier: Apache-2.0
// Options of `rl`.
#pragma once

#include <optional>
#include <string>

#include "sextant/options/inputs.hpp"
#include "sextant/run/rl.hpp"

namespace sextant {

/// A step of reinforcement learning. What is not given is defaulted, and listed as an assumption.
struct RlOptions : ScenarioOptions {
  RlAlgorithm algorithm = RlAlgorithm::grpo;
  // What is asked and answered.
  std::optional<int> prompts, samples, input, output;
  std::optional<double> spread;
  std::optional<int> longest;
  std::optional<int> seed;
  bool allow_long = false;
  // How it is judged and learnt.
  PresetRef reward_model;
  PresetRef critic;  ///< of PPO; empty: a model like the one that is trained
  std::optional<bool> reference;
  int epochs = 1;
  std::optional<int> pack;
  // The engines.
  PresetRef rollout_runtime;  ///< empty: vllm
  std::optional<int> rollout_gpus, rollout_tp, rollout_pp, rollout_dp, rollout_ep;
  std::string rollout_precision;
  std::string kv_precision;
  std::optional<int> max_requests, token_budget;
  std::optional<double> memory_fraction;
  bool overlap = false;
  // What the framework does between the phases.
  Refit refit = Refit::whole;
  std::optional<bool> sleep;
  std::optional<double> unpinned;
  std::optional<double> host_per_answer, host_per_tensor;
};

/// The fields of training but its sequences, which are the prompts and their answers.
const std::vector<InputField>& rl_fields();

template <class V>
void describe(V& v, RlOptions& o) {
  describe_presets(v, o, "software stack of training; without, the system's");
  v("algorithm", o.algorithm, {.help = "grpo: several answers a prompt; ppo: with a critic"});
  v("prompts", o.prompts, {.help = "prompts a step", .min = 1, .max = 1e6, .max_remote = 1e4});
  v("samples", o.samples,
    {.help = "answers to each; without, 16 for grpo, 1 for ppo",
     .min = 1,
     .max = 1e4,
     .max_remote = 256});
  v("input", o.input, {.help = "tokens of a prompt, mean", .min = 1, .max = 1e6});
  v("output", o.output,
    {.help = "tokens of an answer, mean", .min = 1, .max = 1e6, .max_remote = 100000});
  v("spread", o.spread,
    {.help = "of answers' lengths: standard deviation over the mean, lognormal; without, all alike",
     .min = 0.01,
     .max = 10});
  v("longest", o.longest,
    {.help = "tokens of the longest answer, where it is cut; the mean stays",
     .min = 1,
     .max = 1e7});
  v("seed", o.seed,
    {.help = "of the lengths that --spread draws; without, 1", .min = 0, .max = 1e9});
  v("allow_long", o.allow_long, {.help = "go on with a context beyond the model's"});
  v("reward_model", o.reward_model,
    {.help = "model that judges answers; without, a rule that costs nothing",
     .preset = PresetKind::model});
  v("critic", o.critic,
    {.help = "model that ppo trains beside; without, one like the model",
     .preset = PresetKind::model});
  v("reference", o.reference,
    {.help = "compare with the model it started from; without, yes", .no = "no_reference"});
  v("epochs", o.epochs, {.help = "times each answer is trained on", .min = 1, .max = 1000});
  v("pack", o.pack,
    {.help = "tokens of a microbatch at most: answers are packed; without, 8192",
     .min = 1,
     .max = 1e8});
  v("rollout_runtime", o.rollout_runtime,
    {.help = "software stack of the engines; without, vllm", .preset = PresetKind::runtime});
  v("rollout_gpus", o.rollout_gpus,
    {.help = "devices of their own for the engines; without, those of training in turn",
     .min = 1,
     .max = 1e6,
     .max_remote = 4096});
  v("rollout_tp", o.rollout_tp, {.help = "tensor-parallel degree of an engine", .min = 1});
  v("rollout_pp", o.rollout_pp, {.help = "its pipeline stages", .min = 1});
  v("rollout_dp", o.rollout_dp, {.help = "its replicas of attention", .min = 1});
  v("rollout_ep", o.rollout_ep, {.help = "its expert-parallel degree", .min = 1});
  v("rollout_precision", o.rollout_precision,
    {.help = "of the engines' weights; without, bf16", .choices = choices_of<Precision>()});
  v("kv_precision", o.kv_precision, {.help = "of their cache", .choices = choices_of<Precision>()});
  v("max_requests", o.max_requests,
    {.help = "answers at a time and engine; without, the engine's default", .min = 1});
  v("token_budget", o.token_budget,
    {.help = "tokens a step of an engine; without, its default", .min = 1});
  v("memory_fraction", o.memory_fraction,
    {.help = "share of memory that an engine takes; without, 0.6 where training waits beside it",
     .min = 0.01,
     .max = 1});
  v("overlap", o.overlap,
    {.help = "with devices of their own: engines answer the next step's prompts beside training"});
  v("refit", o.refit,
    {.help = "whole: every rank gathers all new weights; share: its engine's alone"});
  v("sleep", o.sleep,
    {.help = "engines and training leave shared devices to each other; without, yes",
     .no = "no_sleep"});
  v("unpinned", o.unpinned,
    {.help = "rate of copies to memory that is not pinned, over the host link's; without, 0.2",
     .min = 0.01,
     .max = 1});
  v("host_per_tensor", o.host_per_tensor,
    {.help = "seconds of the host for a tensor of the new weights; without, 0.0008",
     .min = 0,
     .max = 3600});
  v("host_per_answer", o.host_per_answer,
    {.help = "seconds of the host for an answer, beside the devices; without, 0.0005",
     .min = 0,
     .max = 3600});
  describe_fields(v, rl_fields(), o.given);
}

}  // namespace sextant
