// SPDX-License-Identifier: Apache-2.0
// How much an answer moves when the hardware or the software is a little better: one thing at a
// time, by the model itself.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sextant/predict/problem.hpp"

namespace sextant {

/// What may be better.
enum class Knob : std::uint8_t {
  dram,          ///< bandwidth of device memory
  compute,       ///< rate of the matrix units at the same clock, energy of a FLOP unchanged
  l2,            ///< bandwidth of the last-level cache, the way into the cores included
  links,         ///< bandwidth of every fabric
  link_latency,  ///< of every fabric
  launch,        ///< start of a kernel: on the device, by the host, of a graph
  host,          ///< the host's work a step and a layer
  power,         ///< the board's limit
  count
};
constexpr auto names_of(Knob) {
  return std::array<std::string_view, 8>{"dram_bandwidth", "compute",      "l2_bandwidth",
                                         "link_bandwidth", "link_latency", "launch",
                                         "host",           "power_limit"};
}
/// "DRAM bandwidth".
std::string_view meaning_of(Knob k);

/// By how much a knob is turned: rates a tenth up, times a tenth down.
constexpr double turn_of(Knob k) {
  return k == Knob::link_latency || k == Knob::launch || k == Knob::host ? -0.1 : 0.1;
}

/// The problem with one knob turned. What was derived from a turned value when the device was
/// lowered (energy of a FLOP, say) stays.
Problem turned(const Problem& problem, Knob knob);

}  // namespace sextant
