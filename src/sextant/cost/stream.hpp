// SPDX-License-Identifier: Apache-2.0
// Operators that only stream: element-wise, norms, softmax, optimizer; and quantising on the fly.
#pragma once

#include "sextant/cost/chip.hpp"
#include "sextant/cost/kernel.hpp"
#include "sextant/spec/kernels.hpp"

namespace sextant {

struct Stream {
  double rows = 1;
  double cols = 1;
  Bytes bytes;           ///< read and written, each once
  bool follows = false;  ///< reads what the kernel before it wrote
};

/// Bytes a streaming operator moves, each tensor once; adamw keeps all states in fp32.
Bytes stream_bytes(StreamOp op, double rows, double cols, Precision type);

/// An operator of a kind that moves so many bytes for each of rows x cols elements of 16 bits, of
/// wider ones as many times more. Work follows the bytes: a gradient that moves twice as much also
/// computes twice as much.
inline Stream moving(StreamOp op, double rows, double cols, double bytes, double element = 2) {
  bytes *= element / 2;
  const double usual = stream_bytes(op, 1, 1, Precision::bf16).value;
  return {rows * bytes / usual, cols, Bytes(rows * cols * bytes)};
}

/// The same inside a step, right after what makes its input.
inline Stream following(Stream s) {
  s.follows = true;
  return s;
}

/// A streaming operator: DRAM, or instruction issue and the one row that ends last.
KernelCost stream(const Chip& chip, const StreamKernel& kernel, const Stream& shape, Hertz clock);
/// The same alone on a device, which then runs at its highest clock.
inline KernelCost stream(const Chip& chip, const StreamKernel& kernel, const Stream& shape) {
  return stream(chip, kernel, shape, chip.light_clock);
}

/// Quantising a matrix of 16-bit values for multiplies of a narrow type: 8 bits with a scale a row,
/// or 4 with one a block.
KernelCost quantize_rows(const Chip& chip, const Kernels& kernels, Precision type, double rows,
                         double cols);

}  // namespace sextant
