// SPDX-License-Identifier: Apache-2.0
// How far off predictions were where someone measured, by what makes questions alike. Written by
// tools/intervals.py from left-out log-ratios (presets/errors/measured.toml); read when an answer
// says how sure it is.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/spec/describe.hpp"
#include "sextant/spec/device.hpp"

namespace sextant {

/// `traffic`: tokens under load, and their rate; `first_token`: the wait for the first of them.
enum class Asked : std::uint8_t {
  gemm,              ///< kernels, each by its kind
  gemm_fp32,         ///< on vector lanes
  attention,         ///< of prompts, and its gradients
  attention_decode,  ///< of tokens
  latent_on_chip,  ///< of tokens and latent caches, which share so much that DRAM does not bound it
  attention_mixed,  ///< of prompts and tokens together
  experts,
  stream,
  collective,
  train,
  infer,
  traffic,
  first_token,
};
constexpr auto names_of(Asked) {
  return std::array<std::string_view, 13>{"gemm",
                                          "gemm-fp32",
                                          "attention",
                                          "attention-decode",
                                          "latent-decode-on-chip",
                                          "attention-mixed",
                                          "experts",
                                          "stream",
                                          "collective",
                                          "train",
                                          "infer",
                                          "traffic",
                                          "first-token"};
}
/// Of a product. What runs on vector lanes is less well known than what matrix units do.
constexpr Asked product_in(Precision type) {
  return type == Precision::fp32 ? Asked::gemm_fp32 : Asked::gemm;
}

/// Cases that are alike, and where 90 % of the logarithms of measured over predicted lie among
/// them.
struct ErrorGroup {
  Asked question = Asked::train;
  bool experts = false;          ///< mixtures of experts
  bool narrow = false;           ///< weights or multiplies in 8 bits or fewer
  bool many_nodes = false;       ///< communication leaves the node
  bool device_measured = true;   ///< kernels of this device were measured
  bool runtime_measured = true;  ///< steps of this runtime were measured
  double low = -0.3;
  double high = 0.3;
  int cases = 0;
  int sets = 0;  ///< files they come from
};
template <class V>
void describe(V& v, ErrorGroup& g) {
  v("question", g.question, {.help = "what was asked", .required = true});
  v("experts", g.experts, {.help = "mixtures of experts"});
  v("narrow", g.narrow, {.help = "weights or multiplies in 8 bits or fewer"});
  v("many_nodes", g.many_nodes, {.help = "communication leaves the node"});
  v("device_measured", g.device_measured, {.help = "kernels of the device were measured"});
  v("runtime_measured", g.runtime_measured, {.help = "steps of the runtime were measured"});
  v("low", g.low, {.help = "5th percentile of ln(measured / predicted)", .min = -5, .max = 5});
  v("high", g.high, {.help = "95th percentile of it", .min = -5, .max = 5});
  v("cases", g.cases, {.help = "cases it rests on", .max = 1e9});
  v("sets", g.sets, {.help = "sources they come from", .max = 1e6});
}

/// Of the variance of such a logarithm, what two questions with the same device and runtime have in
/// common, so that it cancels between them.
struct SharedError {
  Asked question = Asked::train;
  bool model = false;  ///< the model is the same, too
  double share = 0;
};
template <class V>
void describe(V& v, SharedError& s) {
  v("question", s.question, {.help = "what was asked", .required = true});
  v("model", s.model, {.help = "device, runtime and model are the same; else the first two"});
  v("share", s.share, {.help = "of the variance, that both have in common", .max = 1});
}

/// The values of one choice among everything measured.
struct MeasuredChoices {
  Asked question = Asked::train;  ///< or infer, for all of serving
  std::string axis = {};
  std::vector<double> numbers = {};
  std::vector<std::string> names = {};
};
template <class V>
void describe(V& v, MeasuredChoices& m) {
  v("question", m.question, {.help = "train, or infer for all of serving", .required = true});
  v("axis", m.axis, {.help = "of a strategy, or what several decide together", .required = true});
  v("numbers", m.numbers, {.help = "that were measured"});
  v("names", m.names, {.help = "that were measured, of a choice that is no number"});
}

struct Errors {
  std::vector<std::string> devices;   ///< whose kernels were measured
  std::vector<std::string> runtimes;  ///< whose steps were measured
  std::vector<ErrorGroup> groups;
  std::vector<SharedError> shared;
  std::vector<MeasuredChoices> reach;
  double wider_outside = 1.5;  ///< an interval, a doubling outside of the reach
};
template <class V>
void describe(V& v, Errors& e) {
  v("devices", e.devices, {.help = "devices whose kernels were measured"});
  v("runtimes", e.runtimes, {.help = "runtimes whose steps were measured"});
  v("group", e.groups, {.help = "cases that are alike"});
  v("shared", e.shared, {.help = "what alike questions have in common"});
  v("reach", e.reach, {.help = "values of each choice among everything measured"});
  v("wider_outside", e.wider_outside,
    {.help = "times as wide, a doubling outside of that", .min = 1, .max = 10});
}

}  // namespace sextant
