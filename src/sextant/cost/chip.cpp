// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/chip.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sextant/cost/power.hpp"

namespace sextant {

Precision runs_as(const Device& device, Precision p) {
  using enum Precision;
  // What a library falls back to when the matrix units lack a type: weights are widened on the way.
  // The two types of 16 bits stand in for each other: TPUs multiply fp16 as bf16, V100 the reverse.
  auto wider = [&](Precision q) {
    switch (q) {
      case int4:
        return int8;
      case fp4:
        return fp6;
      case fp6:
        return fp8;
      case int8:
        return fp8;
      case fp8:
        return bf16;
      case bf16:
        return fp16;
      case fp16:
        return device.matrix[bf16].value > 0 ? bf16 : tf32;
      default:
        return fp32;
    }
  };
  Precision q = p;
  while (q != fp32 && device.matrix[q].value <= 0) q = wider(q);
  return q;
}

Precision multiplied_in(Precision weights, Activations activations, const Chip& chip) noexcept {
  using enum Precision;
  const auto has = [&](Precision p) { return chip.runs[p] == p; };
  if (!narrow(weights)) return weights;
  const bool whole = whole_numbers(weights);
  // Values of 4-bit floats are halves, whole numbers once doubled.
  if (activations == Activations::int8 && (whole || weights == fp4) && has(int8)) return int8;
  if (activations == Activations::fp8 && weights != int8 && has(fp8)) return fp8;
  const bool lacking = element_bytes(weights) < 1 && !has(weights);
  return whole || lacking || activations == Activations::wide ? bf16 : weights;
}

FlopsPerSecond peak_of(const Device& device, Precision p) {
  // fp32 runs where it runs faster: without a matrix path on the vector units.
  return p == Precision::fp32 ? max(device.matrix[p], device.vector.fp32) : device.matrix[p];
}

Chip lower(const Device& d) {
  Chip c;
  // A core wider than 8192 FLOP a clock (a systolic array, say) works on several tiles at a time,
  // and counts as that many cores.
  const double made_for = kernel_width(d);
  const double lanes = d.mechanism.asynchronous ? std::max(1.0, std::round(made_for / 8192)) : 1.0;
  c.cores = d.cores * lanes;
  c.copied_in = lanes > 1;
  // A board that boosts above its rated clock sags below it, half as far, when all matrix units
  // work: H200 holds 1.75 GHz, rated 1.83, boosting to 1.98 (zeros, so not for power).
  c.clock = d.matrix_clock.value > 0 ? d.matrix_clock : d.sag * d.clock;
  c.light_clock = max(d.max_clock, c.clock);
  for (std::size_t i = 0; i < c.per_clock.size; ++i) {
    const auto p = static_cast<Precision>(i);
    c.runs[p] = runs_as(d, p);
    const FlopsPerSecond peak = max(peak_of(d, c.runs[p]), FlopsPerSecond(1));
    c.per_clock[p] = peak / d.clock / c.cores;
  }
  const bool bf16 = peak_of(d, Precision::bf16).value > 0;
  const Flops rate = c.per_clock[bf16 ? Precision::bf16 : Precision::fp16];
  c.width = d.mechanism.width > 0 ? Flops(made_for / lanes) : rate;
  c.vector_per_clock = d.vector.fp32 / d.clock / c.cores;
  const bool matrix_units =
      std::any_of(c.per_clock.values.begin(), c.per_clock.values.end(),
                  [&](Flops each) { return each > 1.01 * c.vector_per_clock; });
  for (std::size_t i = 0; i < c.per_clock.size; ++i) {
    const double of_lanes = c.per_clock.values[i] / c.vector_per_clock;
    const bool may = !matrix_units || static_cast<Precision>(i) == Precision::fp32;
    c.takes_lanes.values[i] = may && of_lanes > 0.99 && of_lanes < 1.01;
  }
  for (std::size_t i = 0; i < c.per_clock.size; ++i) {
    // Where nothing says what kernels are made for, they are made for this device; fp32 is of lanes
    // or in several passes.
    const bool own = d.mechanism.width == 0 || c.runs.values[i] == Precision::fp32 ||
                     c.on_vector(c.runs.values[i]);
    c.matrix_share.values[i] =
        own ? 1 : as_16_bit(c.per_clock.values[i], c.runs.values[i]) / c.width;
  }
  // One instruction takes 64 rows at 4096 FLOP a clock (wgmma), 128 at 8192 (tcgen05).
  c.matrix_rows = !d.mechanism.asynchronous ? 16 : made_for > 6000 ? 128 : 64;
  c.special_per_clock = d.vector.special_per_clock / lanes;
  // A matrix unit is built with the shared memory that feeds its largest tile: 128 B a clock for
  // 4096 FLOP a clock on Hopper; Blackwell's pairs of cores halve the traffic for the same effect.
  const Bytes least_shared(c.width.value / 32);
  c.shared_per_clock = max(d.shared.per_clock / lanes, lanes > 1 ? least_shared : Bytes(0));
  c.shared_capacity = d.shared.capacity;
  c.l2_per_clock = d.l2.per_clock.value > 0 ? d.l2.per_clock : Bytes(64 * c.cores);
  c.l2_whole = d.l2.capacity;
  c.l2_shared = d.l2.capacity / d.l2.dies;
  c.between = d.l2.between;
  c.bandwidth = d.memory.bandwidth;
  c.mechanism = d.mechanism;
  // Cores wider than Hopper's hold the results of two tiles (tensor memory, accumulators of
  // systolic arrays), so that starting and draining hide behind the next tile; assumed in
  // proportion.
  const double hidden = std::min(1.0, 4096 / c.width.value);
  c.mechanism.tile_cycles *= hidden;
  c.mechanism.drain_cycles *= hidden;
  c.power_limit = d.power.limit;
  derive_power(d, c);
  return c;
}

double rate_of_blocks(const Chip& chip, double per_clock, double block) {
  // Engines, whose vector units are few, get one scale a row made of the blocks' as weights are
  // loaded (vLLM on Gaudi: VLLM_HPU_FORCE_CHANNEL_FP8, on where nothing is said).
  if (block <= 0 || chip.copied_in) return per_clock;
  return 1 / (1 / per_clock + chip.mechanism.promotion / (block * chip.vector_per_clock.value));
}

Chip lower_to_roofline(const Device& device, double share) {
  Chip c = lower(device);
  c.roofline = share;
  c.clock = device.clock;
  c.light_clock = device.clock;
  c.power_limit = Watts(std::numeric_limits<double>::max());
  return c;
}

}  // namespace sextant
