// SPDX-License-Identifier: Apache-2.0
// How a measurement was taken, as far as it changes the number: what was in the cache, how long the
// device had been busy, what the host added. Columns of a case file, each by its field's name;
// where a file has no such columns, its source's habits stand in presets/measurements.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/spec/describe.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

/// Where a kernel finds its weights.
enum class Weights : std::uint8_t { cold, hot };
constexpr auto names_of(Weights) { return std::array<std::string_view, 2>{"cold", "hot"}; }

/// What the operands hold: it decides how much the wires switch.
enum class Operands : std::uint8_t {
  random,
  repeated,  ///< one of the two holds the same row over and over: every token is alike
  constant,
  zeros,
  leftover,  ///< random as far as memory was used before, and zeros in what is new
};
constexpr auto names_of(Operands) {
  return std::array<std::string_view, 5>{"random", "repeated", "constant", "zeros", "leftover"};
}

/// How tokens find their experts.
enum class Chosen : std::uint8_t {
  trained,  ///< some are more popular: the model says how much
  even,     ///< by a router that was never trained
};
constexpr auto names_of(Chosen) { return std::array<std::string_view, 2>{"trained", "even"}; }

/// What of several runs was reported.
enum class Statistic : std::uint8_t { mean, median, min };
constexpr auto names_of(Statistic) {
  return std::array<std::string_view, 3>{"mean", "median", "min"};
}

struct Protocol {
  Weights weights = Weights::cold;
  double copies = 1;  ///< of hot weights, used in turn: they are hot as far as all fit the cache
  double runs = 20;   ///< back to back, so the power controller sees that much load
  Seconds busy;       ///< or that long, however short a run is; 0: the runs count
  Operands data = Operands::random;
  Bytes recycled;  ///< of leftover weights, what was used before
  Chosen chosen = Chosen::trained;
  Statistic statistic = Statistic::mean;  ///< the median token is one that no prompt delays
  Seconds host_backward;  ///< host time of a backward pass that was not captured in a graph
  Seconds eager;  ///< added to a collective that no graph held, or a multiply alone in its graph
  Bytes one_operand;          ///< of tensors from this size on a sum's operands are one; 0: never
  bool every_logit = false;   ///< of a prompt's tokens, not of the last alone
  bool per_device = false;    ///< a rate is of one device, though the column says of all
  bool mean_latency = false;  ///< a latency is a mean over requests, though it is called a median
  double length_ratio = 1;    ///< lengths of a closed loop lie between this share of nominal and it
};
template <class V>
void describe(V& v, Protocol& p) {
  v("weights", p.weights, {.help = "found in memory or in the cache"});
  v("copies", p.copies, {.help = "of hot weights, used in turn", .min = 1, .max = 1e6});
  v("runs", p.runs, {.help = "back to back", .min = 1, .max = 1e9});
  v("busy", p.busy, {.help = "or that long, however short a run is", .max = 1e6});
  v("data", p.data, {.help = "what the operands hold"});
  v("recycled", p.recycled, {.help = "of leftover weights, what was used before"});
  v("chosen", p.chosen, {.help = "how tokens find their experts"});
  v("statistic", p.statistic, {.help = "of several runs, or of a run's tokens"});
  v("host_backward", p.host_backward,
    {.help = "host time of a backward pass that is not in a graph", .max = 1e3});
  v("eager", p.eager,
    {.help = "added to a collective that no graph holds, or a multiply alone in its graph",
     .max = 1e3});
  v("one_operand", p.one_operand,
    {.help = "of tensors from this size on, both operands of a sum are one; 0: never"});
  v("every_logit", p.every_logit,
    {.help = "a pass over a prompt gives the logits of all its tokens"});
  v("per_device", p.per_device, {.help = "a rate is of one device, not of all"});
  v("mean_latency", p.mean_latency, {.help = "a latency is a mean, though called a median"});
  v("length_ratio", p.length_ratio,
    {.help = "lengths of a closed loop lie between this share of nominal and it", .max = 1});
}

/// What a source calls by one name and is another preset.
struct MeasuredSystem {
  std::string name;
  std::string preset;
};
template <class V>
void describe(V& v, MeasuredSystem& s) {
  v("name", s.name, {.help = "as the source's rows say", .required = true});
  v("preset", s.preset, {.help = "what was measured", .required = true});
}

/// The network adapters of one node, where a measurement used others than its system's preset has.
struct Adapters {
  std::string system;  ///< names that start so
  int count = 0;       ///< 0: as the preset says
  BytesPerSecond rate;
  double both_ways = 1;  ///< share of the rate that each direction keeps when both are busy
};
template <class V>
void describe(V& v, Adapters& a) {
  v("system", a.system, {.help = "systems whose names start so", .required = true});
  v("count", a.count, {.help = "of a node", .required = true, .min = 1, .max = 1e4});
  v("rate", a.rate, {.help = "of one, one direction", .required = true, .min = above_zero});
  v("both_ways", a.both_ways, {.help = "share of it when both are busy", .min = 0.01, .max = 1});
}

/// How a source started its engines, where that is not the runtime's default: the rows that it is
/// about, and what is set for them.
struct MeasuredEngine {
  std::string runtime;    ///< as rows say; empty: any
  std::string system;     ///< names that start so
  std::string version;    ///< of the runtime, as rows say; empty: any; "none": where they say none
  std::string model;      ///< as rows say; empty: any
  std::string precision;  ///< as rows say; empty: any
  int input = 0;          ///< tokens of a prompt, nominal; 0: any
  int output = 0;
  int users = 0;  ///< of a closed loop, at least
  int most_users = 1'000'000'000;
  int tensor = 0;  ///< ranks of tensor parallelism, at least
  int most_tensor = 1'000'000;
  int ranks = 0;  ///< of attention, at least
  int most_ranks = 1'000'000;
  int pools = 0;        ///< 1: engines that do all; 2: some for prompts, some for tokens; 0: any
  bool decode = false;  ///< of two pools the ranks are of that which generates, else of the other
  /// What recipes chose by the load and rows do not say: experts, and attention too, over all the
  /// devices of an engine; or attention cut over the devices that rows call ranks of it.
  bool spread_experts = false;
  bool spread_attention = false;
  bool gather_attention = false;
  /// Tokens beside one prompt that the budget of a step was told to hold: so many for every user,
  /// with which no step has two prompts, and so many more. 0 and 0: the engine's own budget.
  int beside_prompt = 0;
  int spare_tokens = 0;
  std::vector<std::string> set;  ///< fields of `runtime` and `serving`: "runtime.engine.block=64"
};
template <class V>
void describe(V& v, MeasuredEngine& e) {
  v("runtime", e.runtime, {.help = "of the rows meant; empty: any"});
  v("system", e.system, {.help = "systems whose names start so"});
  v("version", e.version, {.help = "of the runtime, as rows say; empty: any; none: unsaid"});
  v("model", e.model, {.help = "as rows say; empty: any"});
  v("precision", e.precision, {.help = "as rows say; empty: any"});
  v("input", e.input, {.help = "tokens of a prompt; 0: any", .max = 1e9});
  v("output", e.output, {.help = "tokens generated; 0: any", .max = 1e9});
  v("users", e.users, {.help = "of a closed loop, at least", .max = 1e9});
  v("most_users", e.most_users, {.help = "of a closed loop, at most", .max = 1e9});
  v("tensor", e.tensor, {.help = "ranks of tensor parallelism, at least", .max = 1e6});
  v("most_tensor", e.most_tensor, {.help = "ranks of tensor parallelism, at most", .max = 1e6});
  v("ranks", e.ranks, {.help = "of attention, at least", .max = 1e6});
  v("most_ranks", e.most_ranks, {.help = "of attention, at most", .max = 1e6});
  v("pools", e.pools,
    {.help = "1: engines that do all; 2: prompts and tokens apart; 0: any", .max = 2});
  v("decode", e.decode, {.help = "of two pools this is about that which generates"});
  v("spread_experts", e.spread_experts, {.help = "experts over all devices, which rows leave out"});
  v("spread_attention", e.spread_attention,
    {.help = "a rank of attention on every device, which rows leave out"});
  v("gather_attention", e.gather_attention,
    {.help = "attention cut over all devices, which rows call ranks of it"});
  v("beside_prompt", e.beside_prompt,
    {.help = "tokens of every user that a step's budget holds beside one prompt", .max = 64});
  v("spare_tokens", e.spare_tokens,
    {.help = "tokens more that it holds beside one prompt; both 0: the engine's own", .max = 1e6});
  v("set", e.set, {.help = "fields of runtime and serving, as --set writes them"});
}

/// How many requests engines that generate were told to hold: of disaggregated runs, whose rows do
/// not say it.
struct HeldRequests {
  std::string runtime;    ///< as rows say
  std::string system;     ///< names that start so
  std::string precision;  ///< as rows say; empty: any
  int input = 0;          ///< tokens of a prompt, nominal; 0: any
  int output = 0;
  int prompts = 0;  ///< engines for prompts; 0: any
  int workers = 1;  ///< engines that generate
  int ranks = 1;    ///< of attention in each
  int users = 1;    ///< at most; of several, the fewest that are enough
  int held = 1;     ///< by each rank
};
template <class V>
void describe(V& v, HeldRequests& h) {
  v("runtime", h.runtime, {.help = "of the rows meant", .required = true});
  v("system", h.system, {.help = "systems whose names start so"});
  v("precision", h.precision, {.help = "as rows say; empty: any"});
  v("input", h.input, {.help = "tokens of a prompt; 0: any", .max = 1e9});
  v("output", h.output, {.help = "tokens generated; 0: any", .max = 1e9});
  v("prompts", h.prompts, {.help = "engines for prompts; 0: any", .max = 1e6});
  v("workers", h.workers, {.help = "engines that generate", .min = 1, .max = 1e6});
  v("ranks", h.ranks, {.help = "of attention in each", .min = 1, .max = 1e6});
  v("users", h.users, {.help = "of a closed loop, at most", .min = 1, .max = 1e9});
  v("held", h.held, {.help = "requests that a rank holds", .required = true, .min = 1, .max = 1e9});
}

/// A cell of a source's rows that its recipes contradict.
struct Correction {
  std::string model;  ///< of the rows meant, as they name it; empty: any
  std::string column;
  std::string said;
  std::string meant;
};
template <class V>
void describe(V& v, Correction& c) {
  v("model", c.model, {.help = "of the rows meant, as they name it; empty: any"});
  v("column", c.column, {.help = "of the case file", .required = true});
  v("said", c.said, {.help = "by its rows", .required = true});
  v("meant", c.meant, {.help = "by the recipes", .required = true});
}

/// The habits of one source.
struct Measurement {
  std::string name;
  std::string notes;
  std::vector<std::string> source;    ///< all of these stand in a case's `source`
  std::string kind;                   ///< of cases; empty: any
  std::string dtype;                  ///< of kernels; empty: any
  std::string library;                ///< of kernels, where rows do not say it; empty: as usual
  std::vector<std::string> unsaid;    ///< what rows leave out and its recipes say: "recompute=full"
  std::vector<Correction> corrected;  ///< what rows say and its recipes do otherwise
  std::vector<std::string> set;  ///< of runtimes that train, by its recipes: "runtime.dropout=true"
  Protocol protocol;
  std::vector<MeasuredSystem> systems;
  std::vector<Adapters> networks;       ///< of rows between nodes
  std::vector<MeasuredEngine> engines;  ///< each that is about a row, in order
  std::vector<HeldRequests> held;
};
template <class V>
void describe(V& v, Measurement& m) {
  v("name", m.name, {.help = "preset name", .inert = "a name"});
  v("notes", m.notes, {.help = "remarks", .inert = "a remark"});
  v("source", m.source,
    {.help = "texts that a case's source holds, all of them", .required = true});
  v("kind", m.kind, {.help = "of cases; empty: any"});
  v("dtype", m.dtype, {.help = "of kernels; empty: any"});
  v("library", m.library, {.help = "kernels of experts, where rows do not say; empty: trtllm"});
  v("unsaid", m.unsaid,
    {.help = "columns that rows leave out, as the recipes set them: recompute=full"});
  v("corrected", m.corrected, {.help = "cells that the recipes contradict"});
  v("set", m.set, {.help = "fields of runtimes that train, as --set writes them"});
  v("protocol", m.protocol, {.help = "how they were taken"});
  v("systems", m.systems, {.help = "what was measured under another's name"});
  v("networks", m.networks, {.help = "adapters that the preset of a system does not have"});
  v("engines", m.engines, {.help = "how serving engines were started"});
  v("held", m.held, {.help = "requests that engines which generate were told to hold"});
}

}  // namespace sextant
