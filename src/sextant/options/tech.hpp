// SPDX-License-Identifier: Apache-2.0
// Options of `tech`.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sextant/options/option.hpp"
#include "sextant/spec/device.hpp"

namespace sextant {

/// A device from technology and budgets. What is empty is derived, and listed as an assumption.
struct TechOptions {
  std::string node;
  std::string dram;
  std::string core;
  std::string link_gen;
  std::string network = "ib-ndr";  ///< between nodes, for --system and --optimise
  std::string area;                ///< "814 mm2", of one die
  std::string power;
  std::string l2;
  std::optional<int> dies, stacks, spare_stacks, links;
  std::string tier;                    ///< second memory: a part's name, " x4" of them
  std::optional<double> kept;          ///< share of the cores that is sold
  std::string memory_rate = "device";  ///< as devices run it, or as its standard rates it
  std::vector<std::string> chiplet;    ///< dies without cores
  std::string price;                   ///< of a device, for the objective cost
  bool system = false;                 ///< of eight a node, for -o out.toml and in JSON
  std::string plot;
  // What the device is made to do, for all that follows.
  std::string workload;  ///< train or infer
  bool uncertainty = false;
  std::vector<std::string> pareto;  ///< two or three of pareto_respects
  std::string solve;                ///< a number's path
  std::string until;                ///< the condition that it is sought for
  std::optional<int> samples, seed;
  std::string optimise;  ///< train or infer: area and power are split for it; empty: as usual
  std::string objective = "time";
  std::string strategy;  ///< best: chosen with the split
  PresetRef model;
  std::string precision;
  std::optional<int> gpus, tp, pp, batch, seq, input, output_tokens;
};

enum class MemoryRate : std::uint8_t { device, standard };
constexpr auto names_of(MemoryRate) {
  return std::array<std::string_view, 2>{"device", "standard"};
}
inline constexpr std::array<std::string_view, 5> pareto_respects = {"time", "cost", "power",
                                                                    "energy", "area"};
inline constexpr std::array<std::string_view, 1> split_strategies = {"best"};
inline constexpr int usual_samples = 200;
inline constexpr std::array<std::string_view, 2> optimised_workloads = {"train", "infer"};
inline constexpr std::array<std::string_view, 3> split_objectives = {"time", "energy", "cost"};

template <class V>
void describe(V& v, TechOptions& o) {
  v("node", o.node,
    {.help = "logic process: 'sextant list nodes'; with --pareto n5,n3; without, H100's",
     .preset = PresetKind::node});
  v("dram", o.dram,
    {.help = "memory: 'sextant list drams'; without, that of the node's time",
     .preset = PresetKind::dram});
  v("core", o.core,
    {.help = "core template: 'sextant list cores'; without, hopper; own: that of the node's time",
     .preset = PresetKind::core});
  v("area", o.area, {.help = "of one die, such as '814 mm2'"});
  v("dies", o.dies, {.help = "dies of the package"});
  v("power", o.power, {.help = "board limit, such as '700 W'; without, what it needs"});
  v("stacks", o.stacks,
    {.help = "parts of memory; without, as many as the edge holds beside the links"});
  v("spare_stacks", o.spare_stacks, {.help = "places for memory left empty"});
  v("tier", o.tier,
    {.help = "a second memory beside it, for serving: 'hbf x2', 'lpddr5x x8', 'cxl x4'",
     .placeholder = "PART"});
  v("memory_rate", o.memory_rate,
    {.help = "rate of memory: as devices run it, or as its standard rates it",
     .choices = choices_of<MemoryRate>()});
  v("kept", o.kept,
    {.help = "share of the cores that is sold; without, as the core's GPU", .min = 0.1, .max = 1});
  v("chiplet", o.chiplet,
    {.help = "dies without cores: 'base n7 370mm2 x4 hybrid' (base, io or cache; hybrid or "
             "interposer)",
     .placeholder = "DIE"});
  v("links", o.links, {.help = "links between devices"});
  v("link_gen", o.link_gen,
    {.help = "their kind: 'sextant list links'", .preset = PresetKind::link});
  v("network", o.network, {.help = "link between nodes", .preset = PresetKind::link});
  v("l2", o.l2, {.help = "last-level cache as sold, such as '50 MiB'"});
  v("plot", o.plot,
    {.help = "write a figure: out.svg or out.html", .placeholder = "FILE", .local = true});
  v("system", o.system,
    {.help =
         "nodes of eight as a system: with -o out.toml in place of the device, in JSON beside it"});
  v("workload", o.workload,
    {.help = "what it is made to do: train or infer", .choices = optimised_workloads});
  v("uncertainty", o.uncertainty,
    {.help = "how sure: samples of the technology's ranges, and what they make of the workload"});
  v("samples", o.samples,
    {.help = "of --uncertainty; 200 without", .min = 10, .max = 100000, .max_remote = 2000});
  v("seed", o.seed, {.help = "of the samples; 1 without", .min = 0});
  v("pareto", o.pareto,
    {.help = "designs of which none is better in all: two or three of time, cost, power, energy, "
             "area; what no flag gives is free, node and dram may be lists",
     .placeholder = "LIST",
     .choices = pareto_respects,
     .commas = true});
  v("solve", o.solve,
    {.help = "what a number would have to be, such as dram.bandwidth, budget.power or node.logic",
     .placeholder = "FIELD"});
  v("until", o.until,
    {.help = "for that: share.dram<0.5, time<80ms, tokens_per_second>1e6, power<700W",
     .placeholder = "CONDITION"});
  v("optimise", o.optimise,
    {.help = "split for a workload: train or infer",
     .alias = "optimize",
     .choices = optimised_workloads});
  v("objective", o.objective,
    {.help = "time, or energy or cost of a token", .choices = split_objectives});
  v("strategy", o.strategy,
    {.help = "best, with --optimise: chosen with the split, as far as --tp and --pp leave it open; "
             "node, dram and network may be lists",
     .choices = split_strategies});
  v("price", o.price,
    {.help = "of a device, such as '30000 $', for the objective cost; without, its parts"});
  v("model", o.model,
    {.help = "of that workload: gpt3-6.7b, or llama2-13b to serve", .preset = PresetKind::model});
  v("precision", o.precision, {.help = "of the multiplies", .choices = choices_of<Precision>()});
  v("gpus", o.gpus, {.help = "devices; to train 1024"});
  v("tp", o.tp, {.help = "tensor-parallel degree; to train 4"});
  v("pp", o.pp, {.help = "pipeline stages; to train 4"});
  v("batch", o.batch, {.help = "sequences; to train 512"});
  v("seq", o.seq, {.help = "tokens a sequence, to train"});
  v("input", o.input, {.help = "tokens of a prompt, to serve"});
  v("output_tokens", o.output_tokens, {.help = "tokens generated, to serve", .max_remote = 10000});
}

}  // namespace sextant
