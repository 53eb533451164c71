// SPDX-License-Identifier: Apache-2.0
// All that a prediction needs but the strategy, lowered once: what a search holds fixed.
#pragma once

#include "sextant/cost/chip.hpp"
#include "sextant/cost/collective.hpp"
#include "sextant/graph/graph.hpp"
#include "sextant/spec/kernels.hpp"
#include "sextant/spec/model.hpp"
#include "sextant/spec/runtime.hpp"
#include "sextant/spec/strategy.hpp"
#include "sextant/spec/system.hpp"
#include "sextant/spec/workload.hpp"

namespace sextant {

struct Problem {
  Chip chip;
  Network network;
  CollectiveKernels collectives;
  Kernels kernels;
  Runtime runtime;
  Model model;  ///< completed
  graph::Graph graph;
  LayerCount layers;
  ParameterCount parameters;
  Training work;
  Serving serving;
  MatrixRates peak;          ///< of the datasheet, by the type a multiply really runs in
  Bytes capacity;            ///< memory of one device
  BytesPerSecond host_link;  ///< device to host
  int max_devices = 1;
  bool communicates = true;  ///< false: one rank's compute alone, as some measurements are taken
};

/// Checks nothing that needs a strategy; `kernels` is the library that the runtime's attention
/// backend names (kernel_library()), loaded for this device.
Problem prepare(const System& system, const Runtime& runtime, const Kernels& kernels,
                const Model& model, const Training& work);

/// The same for serving.
Problem prepare(const System& system, const Runtime& runtime, const Kernels& kernels,
                const Model& model, const Serving& serving);

/// The kernel-library preset that a runtime calls.
std::string_view kernel_library(const Runtime& runtime);

}  // namespace sextant
