// SPDX-License-Identifier: Apache-2.0
// Clock and power of one H200 at its measured operating points.
#include "sextant/cost/power.hpp"

#include <gtest/gtest.h>

#include <array>

#include "sextant/cost/gemm.hpp"
#include "sextant/cost/stream.hpp"
#include "sextant/io/presets.hpp"

namespace sextant {
namespace {

/// Means over five seconds of one kernel after the other, nvidia-smi (one H200 SXM, 2026).
struct Point {
  const char* name;
  Gemm shape;
  double watts;
  double gigahertz;
};

// Operands of 2048³ (8 MiB each) stay in L2 from one run to the next.
constexpr std::array points = {
    Point{"2048 cubed", {.m = 2048, .n = 2048, .k = 2048, .weight_hit = 1}, 691.0, 1.7366},
    Point{"4096 cubed", {.m = 4096, .n = 4096, .k = 4096}, 690.7, 1.5133},
    Point{"8192 cubed", {.m = 8192, .n = 8192, .k = 8192}, 692.3, 1.4781},
    Point{"16384 cubed", {.m = 16384, .n = 16384, .k = 16384}, 691.4, 1.4371},
    Point{"8192 cubed, zeros", {.m = 8192, .n = 8192, .k = 8192, .activity = 0}, 393.9, 1.7456},
    Point{"8192 cubed, fp8",
          {.m = 8192, .n = 8192, .k = 8192, .type = Precision::fp8},
          691.0,
          1.4426},
    Point{"matrix-vector", {.m = 1, .n = 8192, .k = 28672}, 562.8, 1.98},
    Point{"64 rows", {.m = 64, .n = 8192, .k = 28672}, 694.5, 1.782}};

TEST(Power, OfMultipliesOnH200AsMeasured) {
  const Chip chip = lower(load_device("h200-sxm"));
  for (const Point& p : points) {
    const KernelCost c = at_power(chip, p.shape.type, sustained,
                                  [&](Hertz clock) { return gemm(chip, p.shape, clock); });
    EXPECT_NEAR(c.clock.value / (p.gigahertz * 1e9), 1, 0.05) << p.name;
    EXPECT_NEAR(power_demand(chip, c, p.shape.type).value / p.watts, 1, 0.05) << p.name;
  }
}

TEST(Power, OfACopyAndOfIdlingOnH200AsMeasured) {
  const Chip chip = lower(load_device("h200-sxm"));
  EXPECT_NEAR(chip.idle.value / 124.7, 1, 0.05);
  const double elements = 1 << 30;  // 2 GiB of 16 bits
  const Stream copy{.rows = 16384, .cols = elements / 16384, .bytes = Bytes(4 * elements)};
  const KernelCost c = stream(chip, load_kernels("pytorch").stream[StreamOp::copy], copy);
  EXPECT_NEAR(c.clock.value / 1.98e9, 1, 0.05);
  EXPECT_NEAR(power_demand(chip, c, Precision::bf16).value / 567.7, 1, 0.05);
}

TEST(Power, FallsWithTheSwitchingOfData) {
  const Chip chip = lower(load_device("h200-sxm"));
  Watts last{1e9};
  Hertz clock{0};
  for (const double activity : {1.0, 0.8, 0.5, 0.2, 0.0}) {
    const Gemm g{.m = 4096, .n = 4096, .k = 4096, .activity = activity};
    const Watts burst = power_demand(chip, gemm(chip, g, chip.clock), g.type);
    EXPECT_LT(burst, last);
    last = burst;
    const KernelCost c =
        at_power(chip, g.type, sustained, [&](Hertz f) { return gemm(chip, g, f); });
    EXPECT_GE(c.clock, clock);
    clock = c.clock;
  }
}

}  // namespace
}  // namespace sextant
