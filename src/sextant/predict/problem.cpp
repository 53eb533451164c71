// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/problem.hpp"

#include <algorithm>

#include "sextant/predict/rules.hpp"

namespace sextant {
namespace {

// Idle power is measured on a cool device. In a node whose devices all work they are 30 to 40 K
// hotter, and leak more. Fitted to bf16 training on nodes of eight H100 (NeMo, Megatron-LM,
// llm-foundry), whose clocks nobody states; fits are flat from 1.5 to 1.8, and A100 nodes hardly
// reach their limit.
constexpr double hot_node = 1.6;
// What leaks more is part of what a device draws idle: 18 % of the limit, H200's whole, at most.
// Memory's standby and links, of which devices that are only designed can have far more, do not.
constexpr double leaking = 0.18;

/// What follows from the problem's model.
void build(Problem& p, graph::Ahead ahead) {
  p.layers = count_layers(p.model);
  p.graph = graph::build(p.model, ahead);
  p.parameters = count_parameters(p.graph);
}

std::shared_ptr<const Problem> drafting(const Problem& p, const Model& small, graph::Ahead ahead) {
  auto draft = std::make_shared<Problem>(p);
  draft->draft = nullptr;
  draft->serving.speculation = {};
  Runtime& r = draft->runtime;
  r.host_per_step = r.host_per_sequence = r.host_per_layer = Seconds(0);
  draft->model = small;
  complete(draft->model);
  build(*draft, ahead);
  return draft;
}

}  // namespace

Problem prepare(const System& system, const Runtime& runtime, const Libraries& libraries,
                const Model& model, const Training& work) {
  Problem p;
  const double roofline = libraries.kernels.roofline;
  p.chip = roofline > 0 ? lower_to_roofline(system.device, roofline) : lower(system.device);
  if (const double cycles = libraries.kernels.block_cycles; cycles > 0) {
    p.chip.mechanism.promotion = cycles * p.chip.vector_per_clock.value / 2;
  }
  if (system.devices_per_node > 1) {
    const Watts leaks = std::min(p.chip.idle, leaking * system.device.power.limit);
    p.chip.idle += (hot_node - 1) * leaks;
  }
  p.network = lower(system);
  p.kernels = libraries.kernels;
  p.collectives = libraries.collectives;
  p.small_collectives = libraries.small;
  p.runtime = runtime;
  for (Seconds* t :
       {&p.runtime.launch.host, &p.runtime.launch.graph_start, &p.runtime.host_per_step,
        &p.runtime.host_per_sequence, &p.runtime.host_per_request, &p.runtime.host_per_optimizer,
        &p.runtime.host_per_recompute, &p.runtime.host_per_layer, &p.runtime.host_per_microbatch}) {
    *t *= system.host.pace;
  }
  p.model = model;
  complete(p.model);
  build(p, {});
  p.work = work;
  look_ahead(p);
  for (std::size_t i = 0; i < p.peak.size; ++i) {
    const auto type = static_cast<Precision>(i);
    p.peak[type] = peak_of(system.device, runs_as(system.device, type));
  }
  p.capacity = system.device.memory.capacity;
  const Bytes nominal = system.device.memory.nominal;
  p.nominal = nominal.value > 0 ? nominal : p.capacity;
  const std::string& modest = runtime.engine.modest;
  if (!modest.empty() && system.device.name.find(modest) != std::string::npos) {
    p.nominal = Bytes(0);  // whatever they have
  }
  p.tier = system.device.tier;
  p.host_link = system.host.link;
  p.host_memory = system.host.memory / std::max(1, system.devices_per_node);
  p.host_power = system.node_overhead / std::max(1, system.devices_per_node);
  p.max_devices = system.max_devices;
  return p;
}

Problem prepare(const System& system, const Runtime& runtime, const Libraries& libraries,
                const Model& model, const Serving& serving) {
  Problem p = prepare(system, runtime, libraries, model, Training{.predict_ahead = 0});
  p.serving = serving;
  return p;
}

void look_ahead(Problem& p) {
  const Training& t = p.work;
  // Whoever trains adapters keeps the layers of the checkpoint aside.
  const int own = t.tuning.rank > 0 ? 0 : p.model.prediction_layers;
  const int wanted = t.predict_ahead < 0 ? own : t.predict_ahead;
  if (wanted == p.ahead) return;
  // Each has attention and an MLP, or experts, as the last layers have; two layers where one has
  // either.
  const int more = wanted - p.ahead;
  p.model.layers += one_branch_each(p.model) ? 2 * more : more;
  for (int* n : {&p.model.hybrid.attention_layers, &p.model.hybrid.mlp_layers}) *n += more;
  p.ahead = wanted;
  build(p, {wanted, wanted});
}

std::shared_ptr<const Problem> draft_of(const Problem& p, const Model& small) {
  return drafting(p, small, {});
}

std::shared_ptr<const Problem> own_draft_of(const Problem& p) {
  Model small = p.model;
  small.layers = 1;
  small.prediction_layers = small.wide_mlp_layers = 0;
  small.experts.dense_layers = 0;
  small.attention.kv_shared_layers = 0;
  small.hybrid = {};
  small.vision = {};
  return drafting(p, small, {.inputs = 1});
}

Strategy draft_strategy(const Problem& draft, const Strategy& strategy) {
  Strategy s = strategy;
  s.pp = 1;
  if (draft.model.experts.count == 0) s.ep = s.etp = 1;
  if (legal_serving(draft, s) == Verdict::fits) return s;
  s.tp = s.ep = s.etp = 1;
  return s;
}

}  // namespace sextant
