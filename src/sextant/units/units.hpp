// SPDX-License-Identifier: Apache-2.0
// The quantities the model speaks of, and literals for them. Rates are derived, never declared
// twice.
#pragma once

#include "sextant/units/quantity.hpp"

namespace sextant {

using Seconds = Quantity<Dimension{.time = 1}>;
using Bytes = Quantity<Dimension{.data = 1}>;
using Flops = Quantity<Dimension{.work = 1}>;
using Joules = Quantity<Dimension{.energy = 1}>;
using Dollars = Quantity<Dimension{.money = 1}>;
using Meters = Quantity<Dimension{.length = 1}>;

using Hertz = decltype(1.0 / Seconds{1});
using BytesPerSecond = decltype(Bytes{1} / Seconds{1});
using FlopsPerSecond = decltype(Flops{1} / Seconds{1});
using FlopsPerByte = decltype(Flops{1} / Bytes{1});
using Watts = decltype(Joules{1} / Seconds{1});
using JoulesPerFlop = decltype(Joules{1} / Flops{1});
using JoulesPerByte = decltype(Joules{1} / Bytes{1});
using SquareMeters = decltype(Meters{1} * Meters{1});
using DollarsPerSecond = decltype(Dollars{1} / Seconds{1});

namespace literals {
#define SEXTANT_LITERAL(suffix, type, scale)                 \
  consteval type operator""_##suffix(long double v) {        \
    return type(static_cast<double>(v) * (scale));           \
  }                                                          \
  consteval type operator""_##suffix(unsigned long long v) { \
    return type(static_cast<double>(v) * (scale));           \
  }
SEXTANT_LITERAL(s, Seconds, 1)
SEXTANT_LITERAL(ms, Seconds, 1e-3)
SEXTANT_LITERAL(us, Seconds, 1e-6)
SEXTANT_LITERAL(ns, Seconds, 1e-9)
SEXTANT_LITERAL(B, Bytes, 1)
SEXTANT_LITERAL(MB, Bytes, 1e6)
SEXTANT_LITERAL(GB, Bytes, 1e9)
SEXTANT_LITERAL(KiB, Bytes, 1024)
SEXTANT_LITERAL(MiB, Bytes, 1024.0 * 1024)
SEXTANT_LITERAL(GiB, Bytes, 1024.0 * 1024 * 1024)
SEXTANT_LITERAL(GBps, BytesPerSecond, 1e9)
SEXTANT_LITERAL(TBps, BytesPerSecond, 1e12)
SEXTANT_LITERAL(TFLOPs, FlopsPerSecond, 1e12)
SEXTANT_LITERAL(GHz, Hertz, 1e9)
SEXTANT_LITERAL(MHz, Hertz, 1e6)
SEXTANT_LITERAL(W, Watts, 1)
SEXTANT_LITERAL(pJ_per_FLOP, JoulesPerFlop, 1e-12)
SEXTANT_LITERAL(pJ_per_B, JoulesPerByte, 1e-12)
#undef SEXTANT_LITERAL
}  // namespace literals

}  // namespace sextant
