// SPDX-License-Identifier: Apache-2.0
// The commands: each takes its options and returns what it has to say. Only main.cpp knows CLI11.
#pragma once

#include <array>
#include <cstdint>
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

struct ValidateOptions {
  std::vector<std::string> cases;  ///< files; empty: those inside the program
  std::string plot;                ///< .svg or .html
  bool by_device = false;
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
