// SPDX-License-Identifier: Apache-2.0
// A mixture-of-experts layer on one rank: route, two grouped multiplies, combine.
#pragma once

#include <array>

#include "sextant/cost/chip.hpp"
#include "sextant/cost/kernel.hpp"
#include "sextant/spec/kernels.hpp"

namespace sextant {

/// How tokens choose experts.
struct Routing {
  /// 0: every expert gets the same; else the exponent of the power law p(x) ∝ x^-exponent that
  /// popularity follows.
  double exponent = 0;
  /// Tokens choose on their own, so that few of them miss some experts.
  bool independent = false;
  /// Of those: how far popularities spread over their mean. Tokens that like the same experts reach
  /// fewer.
  double skew = 0;
};

struct ExpertLayer {
  double tokens = 1;  ///< that this rank's group of ranks routes
  double hidden = 1;
  double ffn = 1;  ///< of one expert, before tensor parallelism
  double topk = 1;
  int experts = 8;
  double tp = 1;      ///< ranks that share an expert
  int ep = 1;         ///< ranks that share the experts
  bool gated = true;  ///< the first multiply has two halves
  Precision type = Precision::bf16;
  double weight_bits = 0;   ///< stored width of a weight, its scales included; 0: as `type`
  double scale_block = 0;   ///< as of a Gemm
  double widening = 0;      ///< as of a Gemm
  double result_bytes = 0;  ///< of what lies between the kernels; 0: as `type` has it
  Routing routing;
  /// Rows of which each expert of a rank takes whole blocks, one of them without a token; 0: tiles
  /// end with its tokens.
  int block_rows = 0;
  double own = 0;  ///< of `tokens`, those this rank routes and adds up itself; 0: all
};

/// What the busiest rank has to do.
struct ExpertLoads {
  static constexpr std::array<int, 5> tile_rows{16, 32, 64, 128, 256};
  double active = 0;                                 ///< experts with work
  double tokens = 0;                                 ///< rows over all of them
  double empty = 0;                                  ///< of those, rows without a token
  std::array<double, tile_rows.size()> row_tiles{};  ///< blocks of that many rows, over all experts
};
ExpertLoads expert_loads(const ExpertLayer& layer);

/// Rows of every expert times its own n x k weights, all in one kernel.
struct GroupedShape {
  double n = 1;
  double k = 1;
  Precision type = Precision::bf16;
  double weight_bits = 0;  ///< as of a layer
  double scale_block = 0;
  double widening = 0;
  double result_bytes = 0;
};
KernelCost grouped_multiply(const Chip& chip, const ExpertKernel& kernel, const ExpertLoads& loads,
                            const GroupedShape& shape, Hertz clock);

KernelCost expert_layer(const Chip& chip, const ExpertKernel& kernel, const ExpertLayer& layer,
                        Hertz clock);

/// Its gradients by the same kernels: of inputs with what streams, and of weights, whose elements
/// are written with so many bytes.
struct ExpertGradients {
  KernelCost inputs;
  KernelCost weights;
};
ExpertGradients expert_gradients(const Chip& chip, const ExpertKernel& kernel,
                                 const ExpertLayer& layer, double weight_bytes, Hertz clock);

}  // namespace sextant
