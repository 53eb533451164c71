// SPDX-License-Identifier: Apache-2.0
// Energy of a step or a pass on one device, by what draws it.
#pragma once

#include "sextant/cost/collective.hpp"

namespace sextant {

struct Energy {
  Joules compute;  ///< matrix and vector units
  Joules memory;   ///< traffic of device memory, the way to the cores included
  Joules links;    ///< bytes sent to other devices, switches included
  Joules idle;     ///< what it draws whatever runs
  Joules host;     ///< its share of the node around it: CPU, switches, adapters, fans
  Joules device() const { return compute + memory + links + idle; }
  Joules total() const { return device() + host; }
};
constexpr Energy operator+(const Energy& a, const Energy& b) {
  return {a.compute + b.compute, a.memory + b.memory, a.links + b.links, a.idle + b.idle,
          a.host + b.host};
}
constexpr Energy operator*(double times, const Energy& e) {
  return {times * e.compute, times * e.memory, times * e.links, times * e.idle, times * e.host};
}

// SerDes 4 to 6 pJ a bit and the switch about 5; two adapters, a switch and optics of a network.
inline constexpr JoulesPerByte link_energy{80e-12};
inline constexpr JoulesPerByte network_energy{400e-12};
constexpr Joules energy_of(const SentBytes& sent) {
  return link_energy * sent.near + network_energy * sent.far;
}

/// A collective or a transfer, as one rank sees it.
struct Sending {
  Seconds time;
  Joules links;
};
constexpr Sending operator+(const Sending& a, const Sending& b) {
  return {a.time + b.time, a.links + b.links};
}
constexpr Sending operator*(double times, const Sending& s) {
  return {times * s.time, times * s.links};
}

}  // namespace sextant
