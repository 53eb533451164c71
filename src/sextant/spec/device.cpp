// SPDX-License-Identifier: Apache-2.0
// Contradictions in a device that the bounds of single fields cannot catch.
#include "sextant/spec/device.hpp"

#include "sextant/spec/problems.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

/// What one core's matrix unit may do in one clock, FLOP: 64 (a small vector unit) to 10^7 (a
/// 512 x 512 systolic array at one byte has 2 x 10^6). Outside, a unit or a zero was mistyped.
constexpr double least_per_clock = 16;
constexpr double most_per_clock = 1e7;

void check_matrix(const Device& d, Problems& p) {
  bool any = false;
  for (std::size_t i = 0; i < MatrixRates::size; ++i) {
    const double rate = d.matrix.values[i].value;
    if (rate == 0) continue;
    any = true;
    const double per_clock = rate / (d.cores * d.clock.value);
    p.require(per_clock >= least_per_clock && per_clock <= most_per_clock,
              "matrix." + std::string(names_of(Precision{})[i]),
              "with cores and clock this is " + std::to_string(per_clock) +
                  " FLOP a core and clock, which no matrix unit does",
              "check the prefix (989 TFLOP/s), cores and clock");
  }
  p.require(any, "matrix", "no precision has a rate", "give fp16 or bf16 at least");
  using enum Precision;
  const MatrixRates& m = d.matrix;
  p.require(m[fp16].value > 0 || m[bf16].value > 0 || m[fp32].value > 0, "matrix",
            "neither fp16, bf16 nor fp32 has a rate: nothing accumulates in fewer bits");
}

}  // namespace

double kernel_width(const Device& d) {
  if (d.mechanism.width > 0) return d.mechanism.width;
  const FlopsPerSecond bf16 = d.matrix[Precision::bf16];
  const FlopsPerSecond rate = bf16.value > 0 ? bf16 : d.matrix[Precision::fp16];
  return (rate / d.clock).value / d.cores;
}

std::string_view kernel_variant(const Device& d) {
  if (!d.mechanism.asynchronous) return "-sync";
  const double width = kernel_width(d);
  return width > 6000 && width < 16000 ? "-wide" : "";
}

std::vector<Diagnostic> check(const Device& d) {
  Problems p;
  check_matrix(d, p);
  p.require(d.max_clock.value == 0 || d.max_clock >= d.clock, "max_clock",
            "lower than clock, at which the peak rates hold");
  p.require(d.power.idle < d.power.limit, "power.idle",
            format(d.power.idle) + " is not lower than power.limit, " + format(d.power.limit));
  p.require(d.tier.capacity.value == 0 || d.tier.bandwidth.value > 0, "tier.bandwidth",
            "must be more than zero where there is a second memory");
  p.require(d.tier.bandwidth.value == 0 || d.tier.capacity.value > 0, "tier.capacity",
            "must be more than zero where a second memory has a bandwidth");
  p.require(d.l2.capacity < d.memory.capacity, "l2.capacity", "not smaller than the device memory");
  const double vector_per_clock = d.vector.fp32.value / (d.cores * d.clock.value);
  p.require(d.vector.fp32.value > 0 && vector_per_clock <= most_per_clock, "vector.fp32",
            d.vector.fp32.value > 0
                ? "with cores and clock this is " + std::to_string(vector_per_clock) +
                      " FLOP a core and clock, which no vector unit does"
                : "must be more than zero: norms and activations run on it");
  return p.take();
}

}  // namespace sextant
