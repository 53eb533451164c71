// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/stream.hpp"

#include <algorithm>

#include "sextant/cost/crossing.hpp"
#include "sextant/cost/roofline.hpp"

namespace sextant {
namespace {

// Of each element of rows × cols, at two bytes an element.
double bytes_per_element(StreamOp op) {
  switch (op) {
    case StreamOp::copy:
      return 4;
    case StreamOp::add:
      return 6;
    case StreamOp::gelu:
      return 4;
    case StreamOp::silu_mul:
      return 3;  // of both halves: 4 read, 2 written an output
    case StreamOp::dropout:
      return 5;  // with a byte of mask
    case StreamOp::layernorm:
      return 4;
    case StreamOp::rmsnorm:
      return 4;
    case StreamOp::add_rmsnorm:
      return 8;
    case StreamOp::softmax:
      return 4;
    case StreamOp::adamw:
      return 28;  // parameter, gradient and two states in, three out
    case StreamOp::count:
      break;
  }
  return 4;
}

double elements_of(const StreamKernel& k, double cols) {
  if (k.narrow_cols <= 0 || cols <= k.narrow_cols) return k.elements;
  if (cols >= k.wide_cols) return k.wide_elements;
  const double wide = (cols - k.narrow_cols) / (k.wide_cols - k.narrow_cols);
  return k.elements + wide * (k.wide_elements - k.elements);
}

/// Of what an operator moves, the bytes that it finds in the cache: one operand of three, as far as
/// it stays there while all three pass. Sums of 2 to 256 MB on an H200 (50 MB of cache, November
/// 2026) save 78 % of the operand's time while they fill half of the cache, 73 % at three quarters,
/// 48 % when they fill it, 17 % at one and a half, nothing at two.
double still_cached(const Chip& chip, const Stream& s) {
  const double capacity = chip.l2_shared.value;
  if (!s.follows || capacity <= 0) return 0;
  const double stays = 0.78 * std::clamp((1.6 - s.bytes.value / capacity) / 0.9, 0.0, 1.0);
  return stays * s.bytes.value / 3;
}

}  // namespace

Bytes stream_bytes(StreamOp op, double rows, double cols, Precision type) {
  const double scale = op == StreamOp::adamw ? 1 : element_bytes(type) / 2;
  return Bytes(rows * cols * bytes_per_element(op) * scale);
}

KernelCost stream(const Chip& chip, const StreamKernel& kernel, const Stream& s, Hertz clock) {
  if (chip.roofline > 0) return on_roofline(chip);
  const double hz = clock.value;
  const Crossing crossing = crossing_of(chip, kernel.memory_efficiency, hz);
  const double fetched = s.bytes.value - still_cached(chip, s);
  const double memory = std::max(fetched / crossing.memory, s.bytes.value / crossing.l2);
  const double issue = s.rows * s.cols / (elements_of(kernel, s.cols) * chip.cores * hz);
  const double row = s.cols * kernel.row_cycles / hz;
  KernelCost c;
  c.busy[Bound::launch] = Seconds(kernel.start_cycles / hz);
  cross(c, fetched, s.bytes.value, crossing);
  c.busy[Bound::compute] = Seconds(issue);
  c.busy[Bound::special] = Seconds(kernel.arithmetic * issue);
  c.busy[Bound::latency] = Seconds(row);
  // Rows spread over the cores, and the last one ends alone (list scheduling: sum/cores + longest).
  c.time = Seconds(kernel.start_cycles / hz + smooth_max(memory, issue + row));
  c.dram = Bytes(fetched);
  c.l2 = s.bytes;
  c.clock = clock;
  find_bound(c);
  return c;
}

KernelCost quantize_rows(const Chip& chip, const Kernels& kernels, Precision type, double rows,
                         double cols) {
  if (chip.roofline > 0) return on_roofline(chip);
  const bool four_bits = element_bytes(type) < 1;
  const QuantizeKernel& kernel = four_bits ? kernels.quantize_4bit : kernels.quantize;
  const double hz = chip.clock.value;
  // 16 bits in; 8 out, or 4 and an 8-bit scale for each 16 values (NVFP4).
  const Bytes bytes(rows * cols * (four_bits ? 2.5625 : 3));
  const double memory = bytes.value / (chip.mechanism.memory_efficiency * chip.bandwidth.value);
  // One block a row, two passes over it: find the largest value, then scale. vLLM's 8-bit kernel
  // has 256 threads that take 16 B each: on H100, H200 and B200 rows of 512 to 2048 values cost the
  // same.
  const double values = kernel.step * std::ceil(cols / kernel.step);
  const double issue = std::ceil(rows / (chip.cores * kernel.blocks)) *
                       (kernel.row_cycles + values / kernel.elements) / hz;
  KernelCost c;
  c.busy[Bound::launch] = kernel.start;
  c.busy[Bound::dram] = Seconds(memory);
  c.busy[Bound::compute] = Seconds(issue);
  c.time = kernel.start + Seconds(smooth_max(memory, issue));
  c.dram = bytes;
  c.l2 = bytes;
  c.clock = chip.clock;
  find_bound(c);
  return c;
}

}  // namespace sextant
