// SPDX-License-Identifier: Apache-2.0
// Options of `ops` for one kernel or one collective; those of whole scenarios are in train.hpp and
// infer.hpp.
#pragma once

#include <array>
#include <string>

#include "sextant/options/option.hpp"
#include "sextant/spec/collectives.hpp"
#include "sextant/spec/device.hpp"
#include "sextant/spec/kernels.hpp"
#include "sextant/spec/model.hpp"

namespace sextant {

/// One kernel on one device. Sizes that a kernel does not have are ignored.
struct OpsOptions {
  std::string kernel;  ///< gemm, attention, experts, stream
  PresetRef device = {"h100-sxm"};
  std::string dtype = "bf16";
  std::string kv_dtype;  ///< empty: as dtype
  std::string backend = "flash";
  std::string phase = "prefill";
  std::string op = "rmsnorm";
  std::string routing = "balanced";
  std::string mlp = "swiglu";
  double m = 4096, n = 4096, k = 4096, batch = 1;
  double heads = 32, kv_heads = 0, head_dim = 128, q_len = 2048, kv_len = 0, window = 0;
  double tokens = 1024, hidden = 4096, ffn = 14336, topk = 2, experts = 8, tp = 1, ep = 1;
  double rows = 4096, cols = 8192;
  double activity = 1;  ///< of the operands: 1 random numbers, 0 zeros
  bool quantize = false;
  bool no_causal = false;
  bool latent = false;
  bool sustained = false;
  std::string busy;  ///< how long the load lasts: "5 ms"
};

template <class V>
void describe_kernel(V& v, OpsOptions& o) {
  v("device", o.device, {.help = "device preset or file", .preset = PresetKind::device});
  v("dtype", o.dtype,
    {.help = "fp32 tf32 fp16 bf16 fp8 int8 fp6 fp4 int4", .choices = choices_of<Precision>()});
  v("sustained", o.sustained, {.help = "the clock power allows when the load goes on"});
  v("busy", o.busy, {.help = "how long the load lasts, such as \"5 ms\""});
}

struct GemmOptions : OpsOptions {
  GemmOptions() { kernel = "gemm"; }
};

template <class V>
void describe(V& v, GemmOptions& o) {
  describe_kernel(v, o);
  v("m", o.m, {.help = "rows of x"});
  v("n", o.n, {.help = "columns of y"});
  v("k", o.k, {.help = "inner dimension"});
  v("batch", o.batch, {.help = "multiplies at once"});
  v("quantize", o.quantize, {.help = "quantise x row by row first"});
  v("activity", o.activity,
    {.help = "how much the operands switch: 1 random numbers, 0 zeros", .min = 0, .max = 1});
}

struct AttentionOptions : OpsOptions {
  AttentionOptions() { kernel = "attention"; }
};

// `fused`: vLLM's and SGLang's.
inline constexpr std::array<std::string_view, 4> attention_backends = {"flash", "fused", "cudnn",
                                                                       "trtllm"};
inline constexpr std::array<std::string_view, 3> attention_phases = {"prefill", "decode",
                                                                     "backward"};

template <class V>
void describe(V& v, AttentionOptions& o) {
  describe_kernel(v, o);
  v("backend", o.backend,
    {.help = "flash, fused (vLLM, SGLang), cudnn or trtllm", .choices = attention_backends});
  v("phase", o.phase, {.help = "prefill, decode or backward", .choices = attention_phases});
  v("batch", o.batch, {.help = "sequences"});
  v("heads", o.heads, {.help = "query heads"});
  v("kv_heads", o.kv_heads, {.help = "cache heads; 0: as many"});
  v("head_dim", o.head_dim, {.help = "of a head"});
  v("q_len", o.q_len, {.help = "queries a sequence"});
  v("kv_len", o.kv_len, {.help = "context; 0: as the queries"});
  v("window", o.window, {.help = "sliding window; 0: none"});
  v("kv_dtype", o.kv_dtype, {.help = "type of the cache", .choices = choices_of<Precision>()});
  v("no_causal", o.no_causal, {.help = "every query sees everything"});
  v("mla", o.latent, {.help = "latent attention (DeepSeek dimensions)"});
}

struct ExpertsOptions : OpsOptions {
  ExpertsOptions() { kernel = "experts"; }
};

template <class V>
void describe(V& v, ExpertsOptions& o) {
  describe_kernel(v, o);
  v("tokens", o.tokens, {.help = "tokens routed"});
  v("hidden", o.hidden, {.help = "model width"});
  v("ffn", o.ffn, {.help = "width of an expert"});
  v("topk", o.topk, {.help = "experts a token"});
  v("experts", o.experts, {.help = "experts in all"});
  v("tp", o.tp, {.help = "ranks that share an expert"});
  v("ep", o.ep, {.help = "ranks that share the experts"});
  v("routing", o.routing, {.help = "balanced or power_law_X"});
  v("mlp", o.mlp,
    {.help = "of each expert; swiglu and geglu are gated", .choices = choices_of<Mlp>()});
}

struct StreamOptions : OpsOptions {
  StreamOptions() { kernel = "stream"; }
};

template <class V>
void describe(V& v, StreamOptions& o) {
  describe_kernel(v, o);
  v("op", o.op,
    {.help = "copy add gelu silu_mul dropout layernorm rmsnorm add_rmsnorm softmax adamw",
     .choices = choices_of<StreamOp>()});
  v("rows", o.rows, {.help = "rows"});
  v("cols", o.cols, {.help = "columns"});
}

/// One collective on one system.
struct CollectiveOptions {
  PresetRef system = {"dgx-h100"};
  std::string collective = "all_reduce";
  std::string library;  ///< empty: the system's
  std::string bytes = "64 MiB";
  int gpus = 8;
  int gpus_per_node = 0;  ///< 0: as many as a node has
  std::string plot;
};

template <class V>
void describe(V& v, CollectiveOptions& o) {
  v("system", o.system, {.help = "system preset or file", .preset = PresetKind::system});
  v("collective", o.collective,
    {.help = "all_reduce all_gather reduce_scatter all_to_all send_recv",
     .choices = choices_of<Collective>()});
  v("library", o.library,
    {.help = "'sextant list collectives'; without, the system's",
     .preset = PresetKind::collective});
  v("gpus", o.gpus, {.help = "ranks"});
  v("gpus_per_node", o.gpus_per_node, {.help = "ranks of a node; 0: as it has"});
  v("bytes", o.bytes, {.help = "the whole buffer, un-sharded, such as \"64 MiB\""});
  v("plot", o.plot,
    {.help = "write bus bandwidth by size: out.svg or out.html",
     .placeholder = "FILE",
     .local = true});
}

}  // namespace sextant
