// SPDX-License-Identifier: Apache-2.0
// What a device could do with an operator of a recording: which kernel of cost/ it is, and with
// what shape.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "sextant/cost/attention.hpp"
#include "sextant/cost/experts.hpp"
#include "sextant/cost/gemm.hpp"
#include "sextant/cost/stream.hpp"
#include "sextant/profile/shape.hpp"

namespace sextant::profile {

enum class Kind : std::uint8_t {
  multiply,
  grouped_multiply,
  attention,
  attention_backward,
  norm,
  softmax,
  optimizer,
  streaming,
  copy,
  communication,
  unknown
};
constexpr auto names_of(Kind) {
  return std::array<std::string_view, 11>{
      "multiply",  "grouped multiply", "attention", "attention backward", "norm",   "softmax",
      "optimizer", "streaming",        "copy",      "communication",      "unknown"};
}

/// Multiplies of several matrices at once, each expert's rows by its own weights; or over each
/// expert's rows, as gradients of weights are.
struct GroupedMultiply {
  ExpertLoads loads;
  double n = 1;
  double k = 1;
  Precision type = Precision::bf16;
};

struct AttentionWork {
  AttentionShape shape;
  bool backward = false;
  bool masked = false;  ///< a mask was given as a tensor, so that no score is left out
};

/// Bytes through memory by kernels that only stream.
struct StreamWork {
  StreamOp op = StreamOp::copy;
  Stream shape;
  double launches = 1;
};

/// One call of an operator, as the model knows it.
struct Job {
  Kind kind = Kind::unknown;
  std::variant<std::monostate, Gemm, GroupedMultiply, AttentionWork, StreamWork> work = {};
  Precision type = Precision::bf16;  ///< the matrix units run in
};

/// What is known of a call beside its operator: its kernels.
struct Launched {
  std::string_view kernel;  ///< the longest of them
  double kernels = 1;       ///< a call
  double blocks = 0;        ///< a call, over all its kernels
  Launch launch;            ///< of the longest
};

/// The operator as a job; Kind::unknown without work where the model has nothing to say.
Job job_of(std::string_view name, const Shape& shape, const Launched& launched);

/// Whether an operator multiplies matrices, by its name; and a kernel.
bool is_multiply(std::string_view name);
bool is_multiply_kernel(std::string_view kernel);
bool is_attention(std::string_view name);

/// The chip, and the libraries of kernels that it could run: the fastest of them counts.
struct Attainable {
  Chip chip;
  std::vector<Kernels> libraries;  ///< what streams is the first one's
  ExpertKernel grouped;            ///< multiplies of many experts at once
};
KernelCost cost_of(const Attainable& device, const Job& job, Hertz clock);

}  // namespace sextant::profile
