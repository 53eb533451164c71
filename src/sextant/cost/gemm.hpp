// SPDX-License-Identifier: Apache-2.0
// Matrix multiply y[m,n] = x[m,k]·Wᵀ on matrix units: tiles, waves, split-K, the feed from L2,
// shared memory, DRAM with its latency and re-reads. The kernel chosen is the fastest of those a
// library has.
#pragma once

#include <vector>

#include "sextant/cost/chip.hpp"
#include "sextant/cost/kernel.hpp"

namespace sextant {

/// Which kernels compete for a multiply.
enum class GemmLibrary : std::uint8_t {
  tuned,   ///< cuBLAS and its like: many tiles, split-K, swizzled order
  scaled,  ///< row-scaled 8-bit kernels (CUTLASS as vLLM builds it): one tile a size, no split-K
};

struct Gemm {
  double m = 1;
  double n = 1;
  double k = 1;
  double batch = 1;
  Precision type = Precision::bf16;
  double result_bytes = 2;  ///< of one element of y
  double weight_bits = 0;   ///< stored width of an element of W, its scales included; 0: as `type`
  double scale_block = 0;   ///< values of k that share a scale, where the vector units apply it
  double weight_hit = 0;    ///< share of W that is in L2 when the kernel starts
  Bytes core_bytes{1e9};  ///< of operands that a core takes in a clock, where the kernel limits it
  double core_operations = 1e9;  ///< of a clock and core, where the kernel limits it
  double issue = 0;  ///< share of the rate that the kernel issues; 0: as the device's are measured
  double widening = 0;  ///< operations to widen a packed weight, where the multiply takes the lanes
  GemmLibrary provider = GemmLibrary::tuned;
  bool whole_outputs = false;  ///< kernels of few rows compete that split no output over cores
  double activity = 1;         ///< of the operands (KernelCost)
};

/// The multiply at a given clock. No allocation; about a microsecond.
KernelCost gemm(const Chip& chip, const Gemm& shape, Hertz clock);

/// Bytes a clock into a core whose lanes multiply so many rows: few do not pass shared memory.
double lanes_feed(const Chip& chip, Precision type, double rows);

/// Multiplies of one chip that were asked for before, of those that differ in size, type and result
/// alone: a search meets the same ones over and over. The newest takes the place of an older one.
class GemmMemo {
 public:
  KernelCost operator()(const Chip& chip, const Gemm& shape, Hertz clock);

 private:
  struct Entry {
    Gemm shape;
    Hertz clock{0};
    KernelCost cost;
  };
  static constexpr std::size_t size = 8192;
  std::vector<Entry> entries_ = std::vector<Entry>(size);
};

}  // namespace sextant
