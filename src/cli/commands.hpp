// SPDX-License-Identifier: Apache-2.0
// The commands: each takes its options and returns what it has to say. Only main.cpp knows CLI11.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/validate/cases.hpp"

namespace sextant::cli {

enum class Format : std::uint8_t { text, json, csv, html };
constexpr auto names_of(Format) {
  return std::array<std::string_view, 4>{"text", "json", "csv", "html"};
}

/// Common to all commands.
struct Common {
  Format format = Format::text;
  std::string output;            ///< -o; empty: standard output
  std::vector<std::string> set;  ///< --set path=value
};

struct ListOptions {
  std::string kind;  ///< "devices", …; empty: all
};
std::string run_list(const ListOptions& options, const Common& common);

struct ShowOptions {
  std::string name;
  std::string kind;  ///< where a name is of several kinds
  bool toml = false;
  bool json = false;
  bool fields = false;  ///< what may be set, instead of what is
};
std::string run_show(const ShowOptions& options, const Common& common);

/// One kernel on one device. Sizes that a kernel does not have are ignored.
struct OpsOptions {
  std::string kernel;  ///< gemm, attention, experts, stream
  std::string device = "h100-sxm";
  std::string dtype = "bf16";
  std::string kv_dtype;  ///< empty: as dtype
  std::string backend = "flash";
  std::string phase = "prefill";
  std::string op = "rmsnorm";
  std::string routing = "balanced";
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
std::string run_ops(const OpsOptions& options, const Common& common);

/// One collective on one system.
struct CollectiveOptions {
  std::string system = "dgx-h100";
  std::string collective = "all_reduce";
  std::string provider = "nccl";
  std::string bytes = "64 MiB";
  int gpus = 8;
  int gpus_per_node = 0;  ///< 0: as many as a node has
};
std::string run_collective(const CollectiveOptions& options, const Common& common);

/// One training step. What is not given is derived or defaulted, and listed as an assumption.
struct TrainOptions {
  std::string model;
  std::string system;
  std::string runtime;  ///< empty: megatron-core
  std::optional<int> gpus, tp, pp, dp, cp, ep, etp;
  std::optional<int> interleave, microbatch, batch, seq, zero, shard, recompute_layers;
  std::optional<bool> sp;
  std::string recompute;
  std::vector<std::string> recompute_modules;
  std::string schedule;
  std::string context;
  std::string order;
  std::string precision;
  std::string optimizer;
  bool offload = false;
  bool explain = false;
  bool sensitivity = false;
  std::string trace;  ///< file for a Chrome trace of the pipeline
};
std::string run_train(const TrainOptions& options, const Common& common);
/// The same step by its operators, with a roofline.
std::string run_ops_train(const TrainOptions& options, const std::string& plot,
                          const Common& common);

/// Requests served. What is not given is defaulted, and listed as an assumption.
struct InferOptions {
  std::string model;
  std::string system;
  std::string runtime;  ///< empty: trtllm
  std::optional<int> tp, pp, dp, ep;
  std::optional<int> batch, input, output, chunk, speculate;
  std::optional<double> acceptance, draft_cost;
  std::string batching;
  std::string precision;
  std::string kv_precision;
  bool allow_long = false;  ///< go on with a context beyond the model's
  bool curve = false;       ///< all batch sizes that fit
  bool sensitivity = false;
  bool explain = false;
  std::string plot;  ///< figure of the curve, or the roofline: .svg or .html
  // Of one pass (`ops infer`).
  std::string phase = "decode";
  std::optional<int> context;  ///< without, the mean over the output
};
std::string run_infer(const InferOptions& options, const Common& common);
/// One pass by its operators, with a roofline.
std::string run_ops_infer(const InferOptions& options, const Common& common);

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
  bool system = false;  ///< -o out.toml is a system of eight, not the device alone
  std::string plot;
  // The workload that area and power are split for.
  std::string optimise;  ///< train or infer; empty: the usual split
  std::string objective = "time";
  std::string model;
  std::string precision;
  std::optional<int> gpus, tp, pp, batch, seq, input, output_tokens;
};
std::string run_tech(const TechOptions& options, const Common& common);

/// A published analysis, reproduced.
struct StudyOptions {
  std::string name;
  std::string folder;  ///< for its files; empty: none are written
};
std::string run_study(const StudyOptions& options, const Common& common);

struct ValidateOptions {
  std::vector<std::string> cases;  ///< files; empty: those inside the program
  std::string plot;                ///< .svg or .html
  bool by_device = false;
  bool by_metric = false;
  bool leave_families_out = false;
  bool leave_devices_out = false;
};
std::string run_validate(const ValidateOptions& options, const Common& common);

struct CalibrateOptions {
  std::vector<std::string> cases;
  std::string device;  ///< one of these three
  std::string kernels;
  bool defaults = false;
  int folds = 5;
  int evaluations = 2000;
};
std::string run_calibrate(const CalibrateOptions& options, const Common& common);

/// All cases of the files, or those inside the program.
std::vector<Case> load_cases(const std::vector<std::string>& files);

}  // namespace sextant::cli
