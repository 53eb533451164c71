// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/problem.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Idle power is measured on a cool device. In a node whose devices all work they are 30 to 40 K
// hotter, and leak more. Fitted to bf16 training on nodes of eight H100 (NeMo, Megatron-LM,
// llm-foundry), whose clocks nobody states; fits are flat from 1.5 to 1.8, and A100 nodes hardly
// reach their limit.
constexpr double hot_node = 1.6;

}  // namespace

Problem prepare(const System& system, const Runtime& runtime, const Libraries& libraries,
                const Model& model, const Training& work) {
  Problem p;
  const double roofline = libraries.kernels.roofline;
  p.chip = roofline > 0 ? lower_to_roofline(system.device, roofline) : lower(system.device);
  if (system.devices_per_node > 1) p.chip.idle *= hot_node;
  p.network = lower(system);
  p.kernels = libraries.kernels;
  p.collectives = libraries.collectives;
  p.small_collectives = libraries.small;
  p.runtime = runtime;
  for (Seconds* t :
       {&p.runtime.launch.host, &p.runtime.launch.graph_start, &p.runtime.host_per_step,
        &p.runtime.host_per_sequence, &p.runtime.host_per_request, &p.runtime.host_per_optimizer,
        &p.runtime.host_per_recompute, &p.runtime.host_per_layer}) {
    *t *= system.host.pace;
  }
  p.model = model;
  complete(p.model);
  p.layers = count_layers(p.model);
  p.graph = graph::build(p.model);
  p.parameters = count_parameters(p.graph);
  p.work = work;
  for (std::size_t i = 0; i < p.peak.size; ++i) {
    const auto type = static_cast<Precision>(i);
    p.peak[type] = peak_of(system.device, runs_as(system.device, type));
  }
  p.capacity = system.device.memory.capacity;
  p.tier = system.device.tier;
  p.host_link = system.host.link;
  p.host_memory = system.host.memory / std::max(1, system.devices_per_node);
  p.host_power = system.node_overhead / std::max(1, system.devices_per_node);
  p.max_devices = system.max_devices;
  return p;
}

Problem prepare(const System& system, const Runtime& runtime, const Libraries& libraries,
                const Model& model, const Serving& serving) {
  Problem p = prepare(system, runtime, libraries, model, Training{});
  p.serving = serving;
  return p;
}

}  // namespace sextant
