// SPDX-License-Identifier: Apache-2.0
// All that a prediction needs but the strategy, lowered once: what a search holds fixed.
#pragma once

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
  Serving serving;
  MatrixRates peak;  ///< of the datasheet, by the type a multiply really runs in
  Bytes capacity;    ///< memory of one device
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

/// The same for serving.
Problem prepare(const System& system, const Runtime& runtime, const Libraries& libraries,
                const Model& model, const Serving& serving);

}  // namespace sextant
