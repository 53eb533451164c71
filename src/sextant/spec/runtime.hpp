// SPDX-License-Identifier: Apache-2.0
// The software stack as a few physical numbers.
#pragma once

#include <string>

#include "sextant/spec/describe.hpp"
#include "sextant/spec/device.hpp"
#include "sextant/spec/engine.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

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
  bool attention = true;        ///< otherwise two products with a softmax between them
  bool bias_activation = true;  ///< bias and activation in one kernel
  bool residual_norm = false;   ///< residual add and norm in one kernel
  bool bias_dropout_add = true;
  bool rope = true;             ///< position encoding inside the QKV or attention kernel
  bool allreduce_norm = false;  ///< all-reduce, residual add and norm in one kernel
  bool quantize = true;         ///< quantisation of activations inside the previous kernel
  bool experts = true;          ///< routing, permuting and combining are kernels made for it
  double routing_launches = 6;  ///< of an expert layer in one pass, beside its multiplies
  double loss_bytes = 12;  ///< moved for each logit, forward and backward; 12: one kernel each way
  bool gradient_accumulation = true;  ///< weight gradients added in the GEMM's epilogue
  /// Bytes moved for each element of q, k and v to join their gradients; 0: attention works on the
  /// packed tensor.
  double join_gradients = 0;
  double join_steps = 6;    ///< moved for each result to add a step of a ring to those before
  double append_bytes = 4;  ///< moved for each new element of a cache, where that is a kernel
  /// Heads that the fused softmax of unfused attention takes at a time; 0: there is none.
  int softmax_heads = 1;
  double cache_cells = 1;              ///< tokens of a cache that unfused attention takes at a time
  bool recompute_stops_early = false;  ///< recomputation skips a layer's last multiply and sum
};
template <class V>
void describe(V& v, Fusion& f) {
  v("attention", f.attention, {.help = "attention is one kernel, not two products and a softmax"});
  v("bias_activation", f.bias_activation, {.help = "bias and activation are one kernel"});
  v("residual_norm", f.residual_norm, {.help = "residual add and norm are one kernel"});
  v("bias_dropout_add", f.bias_dropout_add, {.help = "bias, dropout and add are one kernel"});
  v("rope", f.rope, {.help = "position encoding is inside another kernel"});
  v("allreduce_norm", f.allreduce_norm, {.help = "all-reduce, add and norm are one kernel"});
  v("quantize", f.quantize, {.help = "activations are quantised by the kernel before"});
  v("experts", f.experts, {.help = "experts are routed and combined by kernels made for it"});
  v("routing_launches", f.routing_launches,
    {.help = "kernels of an expert layer in one pass of training, beside its multiplies",
     .max = 1e4});
  v("loss_bytes", f.loss_bytes,
    {.help = "bytes moved a logit by the loss and its gradient", .max = 1e4});
  v("gradient_accumulation", f.gradient_accumulation,
    {.help = "weight gradients are added in the GEMM's epilogue"});
  v("join_gradients", f.join_gradients,
    {.help = "bytes an element of q, k, v to join their gradients; 0: packed", .max = 1000});
  v("join_steps", f.join_steps,
    {.help = "bytes a result to add a step of a context-parallel ring to those before",
     .max = 1000});
  v("append_bytes", f.append_bytes,
    {.help = "bytes moved for each new element of a cache", .max = 1000});
  v("softmax_heads", f.softmax_heads,
    {.help = "heads the fused softmax of unfused attention takes at a time; 0: there is none",
     .max = 64});
  v("cache_cells", f.cache_cells,
    {.help = "tokens of a cache that unfused attention takes at a time, the last of them masked",
     .min = 1,
     .max = 1e4});
  v("recompute_stops_early", f.recompute_stops_early,
    {.help = "recomputation skips a layer's last multiply and sum"});
}

/// How the stack uses collective libraries (presets/collectives).
struct Communication {
  std::string library;  ///< empty: the system's own
  std::string small;    ///< for all-reduces up to `small_limit`; empty: the same
  /// What TensorRT-LLM's workspace and vLLM's and SGLang's buffers hold (November 2026).
  Bytes small_limit{8e6};
  Seconds extra_latency{0};  ///< a collective, beyond the library's own
  double skew = 0;           ///< share a collective waits for the slowest rank
  double cores = 0.12;       ///< share of a device that a collective takes from kernels beside it
  /// Host time of a tensor-parallel collective for each of its ranks while transfers between stages
  /// on different nodes are pending.
  Seconds pending{0};
  Seconds crossing{0};  ///< the same where the collective itself spans nodes, nothing pending
  /// In which gradients are summed over replicas and parameters gathered; 0: one for all layers.
  int messages_per_layer = 0;
  /// Where gradients are sharded, parameters are freed after each pass, and gathered for the next
  /// (FSDP's SHARD_GRAD_OP); others hold them, and gather them once a step (DeepSpeed, Megatron).
  bool frees_parameters = false;
  bool expert_kernels = false;  ///< tokens reach their experts by kernels made for it (DeepEP)
  /// Served experts get all tokens gathered and their results summed by a reduce-scatter, where one
  /// host holds all ranks; links between hosts have kernels of their own (TensorRT-LLM's choice).
  bool gathers_tokens = false;
  bool sums_tokens = false;       ///< with prompts in a step both are all-reduces over all rows
  bool narrow_tokens = false;     ///< and to the experts in the type their multiplies take
  bool scatter_transfers = true;  ///< tensor-parallel ranks send a stage's output in parts
};
template <class V>
void describe(V& v, Communication& c) {
  v("library", c.library, {.help = "collective library; empty: the system's"});
  v("small", c.small, {.help = "library for small all-reduces; empty: the same"});
  v("small_limit", c.small_limit, {.help = "largest message it takes"});
  v("extra_latency", c.extra_latency, {.help = "a collective, beyond the library's own", .max = 1});
  v("skew", c.skew, {.help = "share a collective waits for the slowest rank", .max = 10});
  v("cores", c.cores, {.help = "share of a device taken from kernels beside it", .max = 1});
  v("pending", c.pending,
    {.help = "host time of a tensor-parallel collective, a rank, beside pending transfers",
     .max = 1});
  v("crossing", c.crossing,
    {.help = "host time of a tensor-parallel collective that spans nodes, a rank", .max = 1});
  v("messages_per_layer", c.messages_per_layer,
    {.help = "in which gradients are summed and parameters gathered; 0: one for all", .max = 1e4});
  v("frees_parameters", c.frees_parameters,
    {.help = "ZeRO 2 frees parameters after each pass; otherwise they are gathered once a step"});
  v("expert_kernels", c.expert_kernels,
    {.help = "tokens reach their experts by the collective library's kernels for it"});
  v("gathers_tokens", c.gathers_tokens,
    {.help = "served experts gather all tokens, where one host holds all ranks"});
  v("sums_tokens", c.sums_tokens,
    {.help = "where prompts are among them, they are gathered, and results summed, by all-reduces "
             "over the rows of all ranks"});
  v("narrow_tokens", c.narrow_tokens,
    {.help = "tokens go to their experts in the type that multiplies take"});
  v("scatter_transfers", c.scatter_transfers,
    {.help = "tensor-parallel ranks send a stage's output in parts"});
}

/// What runs beside what.
struct Overlap {
  bool tensor =
      false;  ///< those of tensor-parallel ranks of a node beside the GEMMs they feed or drain
  bool weights = false;     ///< those of the backward pass beside weight-gradient GEMMs
  bool gradients = false;   ///< data-parallel reduction beside the backward pass
  bool parameters = false;  ///< parameter gathering beside the forward pass
  bool pipeline = false;    ///< stage-to-stage transfers beside compute
  bool experts = false;     ///< tokens to experts and back beside another microbatch's compute
  /// Tokens of a pass up to which serving runs shared experts beside the routed ones, on a stream
  /// of their own or as one more of them.
  int shared_tokens = 0;
};
template <class V>
void describe(V& v, Overlap& o) {
  v("tensor", o.tensor,
    {.help = "tensor-parallel collectives of the first fabric run beside GEMMs"});
  v("weights", o.weights, {.help = "those of the backward pass beside weight-gradient GEMMs"});
  v("gradients", o.gradients, {.help = "gradients are reduced beside the backward pass"});
  v("parameters", o.parameters, {.help = "parameters are gathered beside the forward pass"});
  v("pipeline", o.pipeline, {.help = "stage-to-stage transfers run beside compute"});
  v("experts", o.experts, {.help = "expert exchange runs beside another microbatch's compute"});
  v("shared_tokens", o.shared_tokens,
    {.help = "tokens up to which serving runs shared experts beside routed ones; 0: never",
     .max = 1e9});
}

/// What a stack holds in memory beyond the tensors a model needs, and which of those it keeps.
struct Footprint {
  Bytes context{1.5e9};   ///< driver, libraries and communicators, outside the allocator
  Bytes workspace{70e6};  ///< of GEMMs, inside the allocator: two of 32 MiB on Hopper, and masks
  double slack = 0.05;    ///< share of what comes and goes in a step lost to fragmentation
  /// Gradients have a buffer that stays; otherwise the backward pass makes them and the optimizer
  /// step frees them.
  bool gradient_buffer = true;
  bool gradient_bucket = false;  ///< they are kept as the backward pass made them, too
  bool update_copy = false;      ///< ZeRO-1 gathers updated weights through a copy
  bool gathered_inputs = false;  ///< with sequence parallelism inputs are kept gathered
  double gather_buffers = 1;     ///< buffers for gathered inputs, which stay
  /// In 8 bits, what goes into the activation of an MLP is kept in 8 bits (Megatron's
  /// activation_func_fp8_input_store), as training in blocks of 8 bits always does.
  bool narrow_gate = false;
  bool gate_output = false;    ///< a gated MLP keeps its activated gate beside the product
  bool routed_outputs = true;  ///< what experts return is kept, to weigh it in the backward pass
  double loss_copies = 2;      ///< of the logits in fp32 while the loss is computed
  double gathered_layers = 2;  ///< that are whole at a time where weights are sharded
  double narrow_copies = 2;    ///< of weights in 8 bits or fewer, beside the 16-bit ones
  /// Those copies are all there is of a layer's weights: the optimizer writes them, replicas gather
  /// them (Megatron's fp8_param_gather).
  bool narrow_weights = false;
};
template <class V>
void describe(V& v, Footprint& f) {
  v("context", f.context, {.help = "driver, libraries and communicators", .max = 1e12});
  v("workspace", f.workspace, {.help = "of GEMMs, inside the allocator", .max = 1e12});
  v("slack", f.slack,
    {.help = "share of activations and working memory lost to fragmentation", .max = 1});
  v("gradient_buffer", f.gradient_buffer, {.help = "gradients have a buffer that stays"});
  v("gradient_bucket", f.gradient_bucket,
    {.help = "they are kept as the backward pass made them, too"});
  v("update_copy", f.update_copy, {.help = "ZeRO-1 gathers updated weights through a copy"});
  v("gathered_inputs", f.gathered_inputs,
    {.help = "with sequence parallelism inputs of GEMMs are kept gathered"});
  v("gather_buffers", f.gather_buffers, {.help = "buffers for gathered inputs", .max = 100});
  v("narrow_gate", f.narrow_gate,
    {.help = "training in 8 bits, what an activation takes in is kept in 8 bits"});
  v("gate_output", f.gate_output, {.help = "a gated MLP keeps its activated gate"});
  v("routed_outputs", f.routed_outputs, {.help = "what routed experts return is kept"});
  v("gathered_layers", f.gathered_layers,
    {.help = "layers that are whole at a time where weights are sharded", .min = 1, .max = 100});
  v("loss_copies", f.loss_copies,
    {.help = "copies of the logits in fp32 while the loss is computed", .min = 1, .max = 100});
  v("narrow_copies", f.narrow_copies,
    {.help = "copies of weights in 8 bits or fewer, beside the 16-bit ones", .max = 100});
  v("narrow_weights", f.narrow_weights,
    {.help = "training in 8 bits or fewer, weights have no 16-bit copy and are gathered so"});
}

/// Pipeline schedules that a stack has besides 1F1B; a search tries no others unless told to.
struct Schedules {
  bool interleaved = true;  ///< 1F1B over several chunks a stage
  bool gpipe = false;
  bool zero_bubble = false;
  bool zero_bubble_v = false;
  bool dual_pipe = false;
};
template <class V>
void describe(V& v, Schedules& s) {
  constexpr const char* why = "limits what a search tries";
  v("interleaved", s.interleaved, {.help = "1F1B over several chunks a stage", .inert = why});
  v("gpipe", s.gpipe, {.help = "all forward, all backward", .inert = why});
  v("zero_bubble", s.zero_bubble, {.help = "ZB-H1", .inert = why});
  v("zero_bubble_v", s.zero_bubble_v, {.help = "ZB-V", .inert = why});
  v("dual_pipe", s.dual_pipe, {.help = "DualPipe", .inert = why});
}

/// How weights that serving keeps in 4 and 8 bits are stored and multiplied.
struct WeightFormat {
  double int8_bits = 8;     ///< with scales: one of 16 bits for 32 in files of llama.cpp
  double int4_bits = 4.25;  ///< with scales: AWQ and GPTQ, one of 16 bits and a zero point for 128
  /// Of the head, the embedding and what a checkpoint leaves wide, beside weights of 4 bits.
  double int4_rest_bits = 16;
  double fp4_rest_bits = 16;   ///< the same beside 4-bit floats
  double int8_rest_bits = 16;  ///< and beside whole numbers of 8 bits
  /// Operations a clock and core that multiplies with scales for blocks of 8-bit weights reach,
  /// where their kernel falls short of the device; 0: it does not.
  double block_operations = 0;
  /// Rows of which each expert takes whole blocks where weights have such scales; 0: as tokens
  /// come.
  int block_rows = 0;
  /// What narrow weights are multiplied with, where their checkpoint does not say: engines may make
  /// activations narrow by themselves.
  Activations activations = Activations::usual;
  /// The same of 4-bit floats in blocks of 32 (MXFP4), where the chip has 4-bit floats: gpt-oss was
  /// trained for 16-bit activations. Usual: as `activations`.
  Activations mxfp4_activations = Activations::usual;
  int activation_block = 0;  ///< values that share a scale of activations so made; 0: rows
  /// Checkpoints' int8 activations are multiplied on chips that have 4-bit floats too.
  bool int8_beside_fp4 = true;
  /// 4-bit floats are multiplied as such where threads feed the matrix units; elsewhere with
  /// `activations`.
  bool fp4_by_threads = false;
};
template <class V>
void describe(V& v, WeightFormat& w) {
  v("int8_bits", w.int8_bits, {.help = "of an 8-bit weight, scales included", .min = 8, .max = 16});
  v("int4_bits", w.int4_bits, {.help = "of a 4-bit weight, scales included", .min = 4, .max = 8});
  v("int4_rest_bits", w.int4_rest_bits,
    {.help = "beside 4-bit weights, of the head, the embedding and what a checkpoint leaves wide",
     .min = 4,
     .max = 16});
  v("fp4_rest_bits", w.fp4_rest_bits,
    {.help = "the same beside 4-bit floats", .min = 4, .max = 16});
  v("int8_rest_bits", w.int8_rest_bits,
    {.help = "and beside whole numbers of 8 bits", .min = 4, .max = 16});
  v("block_operations", w.block_operations,
    {.help = "a clock and core, of multiplies with scaled blocks of 8-bit weights; 0: the device's",
     .max = 1e6});
  v("block_rows", w.block_rows,
    {.help = "of which experts with such scales take whole blocks, one without any token; 0: none",
     .max = 256});
  v("activations", w.activations,
    {.help = "what the engine multiplies narrow weights with where their checkpoint does not say: "
             "usual; or int8, where the chip's matrix units take it at no less than the rate of 16 "
             "bits"});
  v("mxfp4_activations", w.mxfp4_activations,
    {.help =
         "the same of 4-bit floats in blocks of 32 where the chip has 4-bit floats: wide, fp8, or "
         "usual, their own type"});
  v("activation_block", w.activation_block,
    {.help = "values that share a scale of activations so made, by which each sum is scaled; 0: "
             "rows",
     .max = 65536});
  v("int8_beside_fp4", w.int8_beside_fp4,
    {.help = "int8 activations of checkpoints are multiplied where the device has 4-bit floats too",
     .inert = "forbids what it does not allow"});
  v("fp4_by_threads", w.fp4_by_threads,
    {.help = "4-bit floats are multiplied as such where threads feed the matrix units"});
}

struct Runtime {
  std::string name;
  std::string notes;
  bool trains = true;  ///< what the stack is for
  bool serves = true;
  std::string kernels = "pytorch";  ///< the kernel library (presets/kernels)
  Launch launch;
  Fusion fusion;
  Communication communication;
  Overlap overlap;
  Seconds host_per_step{0};        ///< host work a step that nothing hides
  Seconds host_per_microbatch{0};  ///< of training: fetching it, waiting for its transfer
  Seconds host_per_sequence{0};    ///< of a step of serving, for each sequence in it
  Seconds host_per_request{0};     ///< setting up a batch of requests before its first pass
  Seconds host_per_optimizer{0};   ///< before the optimizer's kernels start
  Seconds host_per_recompute{0};   ///< a layer whose activations are recomputed, half in each pass
  Seconds host_per_layer{0};       ///< overhead a layer that is not a kernel's own
  int pass_tokens = 0;  ///< of prompts that a pass takes at most; 0: all that a step does
  bool sequence_parallel = false;         ///< the stack's default when tp > 1
  bool dropout = false;                   ///< on attention scores and before each residual sum
  bool wide_results = false;              ///< of served layers: in 32 bits between kernels
  bool balanced_stages = false;           ///< layers are dealt to stages by cost, the head included
  Precision gradients = Precision::fp32;  ///< type they are accumulated in
  Precision reduction = Precision::fp32;  ///< type they are summed over replicas in
  /// Spread of step times from device to device, as a standard deviation over the mean. A
  /// synchronous job waits for the slowest of its members.
  double spread = 0;
  Schedules schedules;
  WeightFormat weights;
  Footprint footprint;
  Engine engine;  ///< how requests are scheduled, of a stack that serves
  Provenance provenance;
};
/// Bytes of a gradient as it is added up, and as replicas sum it: no narrower than the weights of a
/// step that is all in 32 bits.
inline double gradient_bytes(Precision kept, Precision step) {
  return std::max(element_bytes(kept), element_bytes(step) > 2 ? element_bytes(step) : 0);
}
inline double gradient_bytes(const Runtime& r, Precision step) {
  return gradient_bytes(r.gradients, step);
}
inline double reduced_bytes(const Runtime& r, Precision step) {
  return gradient_bytes(r.reduction, step);
}
template <class V>
void describe(V& v, Runtime& r) {
  v("name", r.name, {.help = "preset name", .inert = "a name"});
  v("notes", r.notes, {.help = "remarks", .inert = "a remark"});
  v("trains", r.trains,
    {.help = "models are trained with it", .inert = "limits what may be asked"});
  v("serves", r.serves, {.help = "models are served with it", .inert = "limits what may be asked"});
  v("kernels", r.kernels, {.help = "kernel library: 'sextant list kernels'"});
  v("launch", r.launch, {.help = "how kernels reach the device"});
  v("fusion", r.fusion, {.help = "what is one kernel instead of several"});
  v("communication", r.communication, {.help = "use of collective libraries"});
  v("overlap", r.overlap, {.help = "what runs beside what"});
  v("host_per_step", r.host_per_step, {.help = "host work a step that nothing hides", .max = 1e3});
  v("host_per_microbatch", r.host_per_microbatch,
    {.help = "host work a microbatch of training that nothing hides", .max = 1e2});
  v("host_per_sequence", r.host_per_sequence,
    {.help = "host work of a step of serving for each sequence in it", .max = 1e3});
  v("host_per_request", r.host_per_request,
    {.help = "host work before the first pass of a batch of requests", .max = 1e3});
  v("host_per_optimizer", r.host_per_optimizer,
    {.help = "host work before the optimizer's kernels", .max = 1e3});
  v("host_per_recompute", r.host_per_recompute,
    {.help = "host work for each layer that is recomputed", .max = 1});
  v("host_per_layer", r.host_per_layer, {.help = "overhead a layer beyond its kernels", .max = 1});
  v("pass_tokens", r.pass_tokens,
    {.help = "tokens of prompts that a pass takes at most; 0: all that a step does", .max = 1e7});
  v("sequence_parallel", r.sequence_parallel,
    {.help = "default when tp > 1", .inert = "what a strategy leaves out"});
  v("dropout", r.dropout, {.help = "dropout on scores and before each residual sum"});
  v("wide_results", r.wide_results,
    {.help = "serving: 32 bits between kernels, whatever multiplies take"});
  v("balanced_stages", r.balanced_stages, {.help = "layers are dealt by cost, the head included"});
  v("gradients", r.gradients, {.help = "type gradients are accumulated in"});
  v("reduction", r.reduction, {.help = "type gradients are summed over replicas in"});
  v("spread", r.spread, {.help = "standard deviation of devices' step times", .max = 1});
  v("schedules", r.schedules, {.help = "pipeline schedules that the stack has"});
  v("weights", r.weights, {.help = "how 4-bit weights are stored"});
  v("footprint", r.footprint, {.help = "memory beyond the model's tensors"});
  v("engine", r.engine,
    {.help = "how requests are scheduled", .inert = "of requests over time: serving/ tests it"});
  v("provenance", r.provenance,
    {.help = "where the constants come from", .inert = "says where constants come from"});
}

}  // namespace sextant
