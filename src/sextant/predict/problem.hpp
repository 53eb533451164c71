// SPDX-License-Identifier: Apache-2.0
// All that a prediction needs but the strategy, lowered once: what a search holds fixed.
#pragma once

#include <memory>

#include "sextant/cost/chip.hpp"
#include "sextant/cost/collective.hpp"
#include "sextant/graph/graph.hpp"
#include "sextant/spec/libraries.hpp"
#include "sextant/spec/model.hpp"
#include "sextant/spec/runtime.hpp"
#include "sextant/spec/strategy.hpp"
#include "sextant/spec/system.hpp"
#include "sextant/spec/workload.hpp"

namespace sextant {

/// Where a serving engine has put what it reads, with a second memory.
struct Residence {
  double weights = 0;   ///< share in the second memory
  double cache = 0;     ///< the same, where it does not follow from `room`
  bool spills = false;  ///< the cache fills `room` first
  Bytes room;           ///< of the first memory, for the cache
  int stage = 0;        ///< of the pipeline, with the most cache
  bool fixed = false;   ///< by whoever runs passes; else by what the workload holds at most
};

struct Problem {
  Chip chip;
  Network network;
  CollectiveLibrary collectives;
  CollectiveLibrary small_collectives;  ///< all-reduces up to the runtime's small_limit
  Kernels kernels;
  Runtime runtime;
  Model model;  ///< completed
  graph::Graph graph;
  LayerCount layers;
  ParameterCount parameters;
  Training work;
  int ahead = 0;  ///< of the model's layers, those that predict further tokens
  Serving serving;
  std::shared_ptr<const Problem> draft;  ///< serves what proposes tokens; none: draft_cost
  MatrixRates peak;  ///< of the datasheet, by the type a multiply really runs in
  Bytes capacity;    ///< memory of one device
  Bytes nominal;     ///< of the device as engines know it
  Tier tier;         ///< its second memory
  Residence residence;
  BytesPerSecond host_link;  ///< device to host
  Bytes host_memory;         ///< of a node, a device's share
  Watts host_power;          ///< of a node beside its devices, a device's share
  int max_devices = 1;
  bool communicates = true;  ///< false: one rank's compute alone, as some measurements are taken
};

/// Checks nothing that needs a strategy; `libraries` are those that the runtime calls on this
/// system (load_libraries()).
Problem prepare(const System& system, const Runtime& runtime, const Libraries& libraries,
                const Model& model, const Training& work);

/// Gives the model the prediction layers that the problem's work trains.
void look_ahead(Problem& problem);

/// The same problem for the small model that drafts for it; its host has no time of its own.
std::shared_ptr<const Problem> draft_of(const Problem& problem, const Model& small);
/// With the model's own prediction layer, which is run again for each further token.
std::shared_ptr<const Problem> own_draft_of(const Problem& problem);
/// How the small model is run: cut as the large one where it can be, else whole on every device.
Strategy draft_strategy(const Problem& draft, const Strategy& strategy);

/// The same for serving.
Problem prepare(const System& system, const Runtime& runtime, const Libraries& libraries,
                const Model& model, const Serving& serving);

}  // namespace sextant
