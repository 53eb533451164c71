// SPDX-License-Identifier: Apache-2.0
// Options of `traffic`.
#pragma once

#include <string>

#include "sextant/options/inputs.hpp"
#include "sextant/options/requests.hpp"
#include "sextant/serving/choices.hpp"
#include "sextant/spec/device.hpp"

namespace sextant {

/// Requests over time. What is not given is the engine's default, and listed as an assumption.
struct TrafficOptions : RequestOptions {
  static constexpr Task imports = Task::infer;
  PresetRef model;
  PresetRef system;
  PresetRef runtime;  ///< empty: vllm
  std::optional<int> tp, pp, dp, ep, replicas;
  std::string precision;
  std::string kv_precision;
  std::string placement;  ///< of a device's second memory
  std::optional<double> placed;
  std::optional<int> speculate;
  std::optional<double> acceptance, draft_cost;
  std::string draft;
  // Requests.
  std::string arrivals = "poisson";  ///< or a file
  std::optional<int> concurrency, input, output;
  bool allow_long = false;
  // The engine.
  std::optional<int> token_budget, max_requests, block;
  std::optional<double> memory_fraction;
  std::optional<bool> prefix_cache;
  std::string router;
  // Disaggregation.
  std::optional<int> prefill_workers, prefill_tp, prefill_pp, prefill_dp, prefill_ep;
  std::optional<int> decode_workers, decode_tp, decode_pp, decode_dp, decode_ep;
  bool sweep_ratio = false;
  // What users accept, and what it costs.
  std::string max_ttft_p99;
  std::string max_tpot_p99;
  std::string price;
  std::string from;                ///< another tool's configuration, or a scenario
  std::vector<std::string> notes;  ///< on what it said
  // Output.
  bool curve = false;
  bool series = false;
  std::string plot;
  std::string trace;
};

template <class V>
void describe_traffic_engine(V& v, TrafficOptions& o) {
  v("token_budget", o.token_budget,
    {.help = "tokens a step; without, the engine's default", .min = 1, .max = 1e8});
  v("max_requests", o.max_requests,
    {.help = "requests at a time; without, the engine's default", .min = 1, .max = 1e8});
  v("block", o.block, {.help = "tokens of a cache block", .min = 1, .max = 1e6});
  v("memory_fraction", o.memory_fraction,
    {.help = "share of memory that the engine takes", .min = 0.01, .max = 1});
  v("prefix_cache", o.prefix_cache,
    {.help = "keep blocks of shared prefixes; without, as the engine does",
     .no = "no_prefix_cache"});
  v("router", o.router,
    {.help = "round-robin, least-requests, least-tokens, two-choices or prefix-aware",
     .choices = choices_of<Router>()});
  v("prefill_workers", o.prefill_workers,
    {.help = "disaggregated: engines that read prompts", .min = 1, .max = 1e6, .max_remote = 256});
  v("prefill_tp", o.prefill_tp, {.help = "their tensor-parallel degree; without, --tp"});
  v("prefill_pp", o.prefill_pp, {.help = "their pipeline stages"});
  v("prefill_dp", o.prefill_dp, {.help = "their replicas of attention"});
  v("prefill_ep", o.prefill_ep, {.help = "their expert-parallel degree"});
  v("decode_workers", o.decode_workers,
    {.help = "disaggregated: engines that generate", .min = 1, .max = 1e6, .max_remote = 256});
  v("decode_tp", o.decode_tp, {.help = "their tensor-parallel degree; without, --tp"});
  v("decode_pp", o.decode_pp, {.help = "their pipeline stages"});
  v("decode_dp", o.decode_dp, {.help = "their replicas of attention"});
  v("decode_ep", o.decode_ep, {.help = "their expert-parallel degree"});
  v("sweep_ratio", o.sweep_ratio, {.help = "the best split of as many workers"});
}

template <class V>
void describe(V& v, TrafficOptions& o) {
  describe_presets(v, o,
                   "software stack with its engine; without, the one that is usual on the system",
                   {"from", "from"});
  describe_from(v, o.from);
  v("tp", o.tp, {.help = "tensor-parallel degree of an engine"});
  v("pp", o.pp, {.help = "its pipeline stages"});
  v("dp", o.dp, {.help = "its replicas of attention, each with its own requests"});
  v("ep", o.ep, {.help = "its expert-parallel degree, over the ranks of tp and dp"});
  v("replicas", o.replicas, {.help = "engines", .min = 1, .max = 1e6, .max_remote = 256});
  v("precision", o.precision,
    {.help = "of the weights: bf16 fp16 fp8 fp4; int8 and int4: weights alone",
     .choices = choices_of<Precision>()});
  v("kv_precision", o.kv_precision,
    {.help = "of the cache: bf16 fp16 fp8 int8", .choices = choices_of<Precision>()});
  v("placement", o.placement,
    {.help = "what lives in a device's second memory: overflow, weights, cache, both, spread",
     .choices = choices_of<Placement>()});
  v("placed", o.placed, {.help = "share of what --placement names"});
  v("speculate", o.speculate, {.help = "tokens a draft model proposes a step"});
  v("acceptance", o.acceptance, {.help = "chance that one of them is right"});
  v("draft", o.draft,
    {.help =
         "model that proposes them; without, the model's own prediction layers, if it has any"});
  v("draft_cost", o.draft_cost, {.help = "time of a draft step over one of the model"});
  v("arrivals", o.arrivals,
    {.help =
         "poisson, gamma, uniform, burst, closed, or the file of a trace; in a request its text",
     .placeholder = "KIND|FILE"});
  v("concurrency", o.concurrency,
    {.help = "closed: users, each waits for its answer", .max_remote = 100000});
  v("input", o.input, {.help = "tokens of a prompt"});
  v("output", o.output, {.help = "tokens generated", .max_remote = 1000000});
  describe_requests(v, o);
  v("allow_long", o.allow_long, {.help = "go on with a context beyond the model's"});
  describe_traffic_engine(v, o);
  v("max_ttft_p99", o.max_ttft_p99,
    {.help = "first token of 99 in 100 within, such as '1 s'; a request over it is not good"});
  v("max_tpot_p99", o.max_tpot_p99, {.help = "time a token of 99 in 100, such as '40 ms'"});
  v("price", o.price, {.help = price_help, .number = true});
  v("curve", o.curve, {.help = "latencies against the rate, up to the most it can serve"});
  v("series", o.series,
    {.help = "in JSON: requests and cache over time, latencies by share of requests"});
  v("plot", o.plot,
    {.help = "write figures of load, latencies and the curve: out.html; one of them: out.svg",
     .placeholder = "FILE",
     .local = true});
  v("trace", o.trace,
    {.help = "write a timeline for ui.perfetto.dev: out.json",
     .placeholder = "FILE",
     .local = true});
}

}  // namespace sextant
