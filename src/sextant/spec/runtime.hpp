// SPDX-License-Identifier: Apache-2.0
// The software stack as a few physical numbers.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sextant/spec/collectives.hpp"
#include "sextant/spec/describe.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

/// Which attention kernels the stack calls.
enum class AttentionBackend : std::uint8_t { unfused, flash, cudnn, trtllm };
constexpr auto names_of(AttentionBackend) {
  return std::array<std::string_view, 4>{"unfused", "flash", "cudnn", "trtllm"};
}

/// How kernels reach the device.
struct Launch {
  bool graph = false;      ///< a captured graph: the host is out of the way
  Seconds gap{1e-6};       ///< idle time between two dependent kernels on the device
  Seconds host{5e-6};      ///< time the host needs to issue one kernel (eager)
  Seconds graph_start{0};  ///< cost of starting one graph
};
template <class V>
void describe(V& v, Launch& l) {
  v("graph", l.graph, {.help = "kernels are replayed from a captured graph"});
  v("gap", l.gap, {.help = "idle time between two dependent kernels", .max = 1});
  v("host", l.host, {.help = "host time to issue one kernel when eager", .max = 1});
  v("graph_start", l.graph_start, {.help = "cost of starting one graph", .max = 1});
}

/// What is one kernel instead of several.
struct Fusion {
  bool bias_activation = true;  ///< bias and activation in one kernel
  bool residual_norm = false;   ///< residual add and norm in one kernel
  bool bias_dropout_add = true;
  bool rope = true;             ///< position encoding inside the QKV or attention kernel
  bool allreduce_norm = false;  ///< all-reduce, residual add and norm in one kernel
  bool quantize = true;         ///< quantisation of activations inside the previous kernel
  bool cross_entropy = true;
  bool gradient_accumulation = true;  ///< weight gradients added in the GEMM's epilogue
};
template <class V>
void describe(V& v, Fusion& f) {
  v("bias_activation", f.bias_activation, {.help = "bias and activation are one kernel"});
  v("residual_norm", f.residual_norm, {.help = "residual add and norm are one kernel"});
  v("bias_dropout_add", f.bias_dropout_add, {.help = "bias, dropout and add are one kernel"});
  v("rope", f.rope, {.help = "position encoding is inside another kernel"});
  v("allreduce_norm", f.allreduce_norm, {.help = "all-reduce, add and norm are one kernel"});
  v("quantize", f.quantize, {.help = "activations are quantised by the kernel before"});
  v("cross_entropy", f.cross_entropy, {.help = "loss is one kernel"});
  v("gradient_accumulation", f.gradient_accumulation,
    {.help = "weight gradients are added in the GEMM's epilogue"});
}

/// The collective library.
struct Communication {
  CollectiveLibrary small = CollectiveLibrary::nccl;  ///< for messages under `small_limit`
  Bytes small_limit{512 * 1024.0};
  Seconds extra_latency{0};  ///< a collective, beyond the library's own
  double skew = 0;           ///< share a collective waits for the slowest rank
};
template <class V>
void describe(V& v, Communication& c) {
  v("small", c.small, {.help = "library for small all-reduces"});
  v("small_limit", c.small_limit, {.help = "largest message it takes"});
  v("extra_latency", c.extra_latency, {.help = "a collective, beyond the library's own", .max = 1});
  v("skew", c.skew, {.help = "share a collective waits for the slowest rank", .max = 10});
}

/// What runs beside what.
struct Overlap {
  bool tensor = false;      ///< tensor-parallel collectives beside GEMMs
  bool gradients = false;   ///< data-parallel reduction beside the backward pass
  bool parameters = false;  ///< parameter gathering beside the forward pass
  bool pipeline = false;    ///< stage-to-stage transfers beside compute
};
template <class V>
void describe(V& v, Overlap& o) {
  v("tensor", o.tensor, {.help = "tensor-parallel collectives run beside GEMMs"});
  v("gradients", o.gradients, {.help = "gradients are reduced beside the backward pass"});
  v("parameters", o.parameters, {.help = "parameters are gathered beside the forward pass"});
  v("pipeline", o.pipeline, {.help = "stage-to-stage transfers run beside compute"});
}

struct Runtime {
  std::string name;
  std::string notes;
  AttentionBackend attention = AttentionBackend::flash;
  Launch launch;
  Fusion fusion;
  Communication communication;
  Overlap overlap;
  Seconds host_per_step{0};        ///< host work a step that nothing hides
  Seconds host_per_layer{0};       ///< overhead a layer that is not a kernel's own
  bool sequence_parallel = false;  ///< the stack's default when tp > 1
  double straggler = 1;            ///< a synchronous job runs at its slowest member
};
template <class V>
void describe(V& v, Runtime& r) {
  v("name", r.name, {.help = "preset name"});
  v("notes", r.notes, {.help = "remarks"});
  v("attention", r.attention, {.help = "attention kernels"});
  v("launch", r.launch, {.help = "how kernels reach the device"});
  v("fusion", r.fusion, {.help = "what is one kernel instead of several"});
  v("communication", r.communication, {.help = "the collective library"});
  v("overlap", r.overlap, {.help = "what runs beside what"});
  v("host_per_step", r.host_per_step, {.help = "host work a step that nothing hides", .max = 1e3});
  v("host_per_layer", r.host_per_layer, {.help = "overhead a layer beyond its kernels", .max = 1});
  v("sequence_parallel", r.sequence_parallel, {.help = "default when tp > 1"});
  v("straggler", r.straggler,
    {.help = "step time over that of an average member", .min = 1, .max = 10});
}

}  // namespace sextant
