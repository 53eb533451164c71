// SPDX-License-Identifier: Apache-2.0
// Options of `search`.
#pragma once

#include <string>

#include "sextant/options/inputs.hpp"
#include "sextant/options/requests.hpp"
#include "sextant/search/wishes.hpp"

namespace sextant {

/// The best strategies, for training or for serving. What is done is given as `train` and `infer`
/// have it; the axes are left open.
struct SearchOptions : ScenarioOptions, SearchWishes, RequestOptions {
  std::string plan;  ///< of several jobs: a file, or its text
  bool infer = false;
  std::string plot;
  // Of several systems, what each can do for as much.
  std::vector<std::string> systems;
  std::string budget;
  std::string tokens;  ///< of the whole run
  // Capacity planning.
  std::string traffic;  ///< arrivals: as `traffic` takes them
  std::string max_ttft_p99;
  std::string max_tpot_p99;
};

template <class V>
void describe(V& v, SearchOptions& o) {
  v("plan", o.plan,
    {.help =
         "train here, serve there: jobs of one model together, plan.toml; in a request its text",
     .positional = true,
     .placeholder = "PLAN"});
  describe_presets(v, o, "software stack; without, the one that is usual on the system",
                   {.model = "plan", .system = "systems,plan"});
  v("systems", o.systems,
    {.help = "compare the best of each of several systems: dgx-h100,dgx-b200", .commas = true});
  v("budget", o.budget,
    {.help = "as many devices as it buys: '2 MW', '300 $/h', '512 gpus', or '5 M$' for --tokens"});
  v("tokens", o.tokens,
    {.help = "of --systems or --budget: the whole run of so many, such as 15T", .number = true});
  v("gpus", o.gpus,
    {.help = "devices",
     .required = true,
     .unless = "budget,plan",
     .min = 1,
     .max = most_searched,
     .late = true});
  v("max_gpus", o.max_gpus,
    {.help = "twice as many, four times, … up to so many as well",
     .min = 1,
     .max = most_searched,
     .late = true});
  v("infer", o.infer, {.help = "search ways to serve instead of to train"});
  v("objective", o.objective,
    {.help = "to train: tokens-per-second, step-time, tokens-per-second-per-gpu, memory, energy or "
             "cost; to serve: throughput, latency or gpus"});
  v("fix", o.fix, {.help = "hold an axis: tp=8, recompute=none,full", .placeholder = "AXIS=VALUE"});
  v("limit", o.limit, {.help = "bound an axis: 'pp<=16'", .placeholder = "AXIS<=VALUE"});
  v("explore", o.explore,
    {.help = "axes that are otherwise held: shard, offload, modules, overlap",
     .choices = explored_choices(),
     .commas = true});
  v("precision", o.precision, {.help = "of the multiplies; several: bf16,fp8", .commas = true});
  v("max_memory", o.max_memory, {.help = "of a device, such as '70 GB'; without, what it has"});
  v("time", o.time,
    {.help = "search so long at most, such as '5 s': the best by then, and its gap"});
  v("exhaustive", o.exhaustive,
    {.help = "evaluate every strategy, also those that cannot be better: all counts are exact"});
  v("loosen", o.loosen,
    {.help =
         "say what each axis that is held would buy, set free alone: --fix, --limit, --explore"});
  v("top", o.top, {.help = "strategies to show", .min = 1, .max = 1000});
  v("threads", o.threads, {.help = "0: all cores", .local = true, .min = 0, .max = 1024});
  v("plot", o.plot,
    {.help = "write the Pareto front: out.svg or out.html", .placeholder = "FILE", .local = true});
  for (const InputField& field : workload_fields()) describe_input(v, field, o.given);
  v("price", o.price,
    {.help = "dollars a device and hour, or a public tier: aws, lambda; of several systems: "
             "'aws,mi300x-node=1.99'",
     .number = true});
  v("kv_precision", o.kv_precision, {.help = "of the cache; several: bf16,fp8", .commas = true});
  v("max_ttft", o.max_ttft, {.help = "time to the first token at most, such as '500 ms'"});
  v("max_tpot", o.max_tpot, {.help = "time of a token at most, such as '30 ms'"});
  v("min_throughput", o.min_throughput,
    {.help = "tokens a second at least, to serve", .min = 0, .max = 1e12});
  v("traffic", o.traffic,
    {.help = "plan capacity for requests over time: poisson, gamma, uniform, or the file of a "
             "trace; in a request its text",
     .placeholder = "KIND|FILE"});
  describe_requests(v, o);
  v("max_ttft_p99", o.max_ttft_p99,
    {.help = "first token of 99 in 100 requests of --traffic within, such as '1 s'"});
  v("max_tpot_p99", o.max_tpot_p99, {.help = "time a token of 99 in 100, such as '40 ms'"});
}

}  // namespace sextant
