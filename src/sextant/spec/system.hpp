// SPDX-License-Identifier: Apache-2.0
// Devices in nodes and the fabrics between them, innermost first.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/spec/device.hpp"

namespace sextant {

enum class Topology : std::uint8_t { switched, ring, mesh, torus, fat_tree };
constexpr auto names_of(Topology) {
  return std::array<std::string_view, 5>{"switched", "ring", "mesh", "torus", "fat-tree"};
}

/// One level of the network. A device reaches `reach` devices through it, itself included.
struct Fabric {
  std::string name;
  int reach = 1;
  BytesPerSecond bandwidth;  ///< a device, one direction, raw
  double efficiency = 0.8;   ///< payload share of the raw rate (NVLink 0.80, IB 0.92)
  Seconds latency{1e-6};     ///< one hop, device to device
  Topology topology = Topology::switched;
  bool reduces_in_network = false;  ///< NVLS or SHARP
  double oversubscription = 1;      ///< down-links over up-links of the switches above
};
template <class V>
void describe(V& v, Fabric& f) {
  v("name", f.name, {.help = "what it is, for people"});
  v("reach", f.reach, {.help = "devices it connects", .required = true, .min = 1, .max = 1e7});
  v("bandwidth", f.bandwidth,
    {.help = "raw rate of one device, one direction", .required = true, .min = above_zero});
  v("efficiency", f.efficiency, {.help = "payload share of the raw rate", .min = 0.01, .max = 1});
  v("latency", f.latency, {.help = "one hop, device to device", .max = 1});
  v("topology", f.topology, {.help = "shape"});
  v("reduces_in_network", f.reduces_in_network, {.help = "switches add for us (NVLS, SHARP)"});
  v("oversubscription", f.oversubscription,
    {.help = "down-links over up-links above", .min = 1, .max = 1000});
}

/// The CPU side of one node.
struct Host {
  BytesPerSecond link{32e9};  ///< device to host, one direction
  Bytes memory{1e12};         ///< host memory of one node
  double pace = 1;            ///< time that host work takes, over a server of 2023 and later
};
template <class V>
void describe(V& v, Host& h) {
  v("link", h.link, {.help = "device to host, one direction", .min = above_zero});
  v("memory", h.memory, {.help = "host memory of one node"});
  v("pace", h.pace,
    {.help = "time host work takes, over a server of 2023 and later", .min = 0.05, .max = 100});
}

struct System {
  std::string name;
  std::string notes;
  Device device;  ///< in files: a preset's name, or a table with `extends`
  int devices_per_node = 1;
  int max_devices = 1;          ///< the largest job this system is meant for
  std::vector<Fabric> fabrics;  ///< innermost first
  Host host;
  Watts node_overhead;  ///< CPU, switches, NICs, fans of one node
};
template <class V>
void describe(V& v, System& s) {
  v("name", s.name, {.help = "preset name"});
  v("notes", s.notes, {.help = "remarks"});
  v("device", s.device, {.help = "the accelerator", .required = true});
  v("devices_per_node", s.devices_per_node, {.help = "accelerators a node", .min = 1, .max = 1e5});
  v("max_devices", s.max_devices, {.help = "the largest job", .min = 1, .max = 1e7});
  v("fabrics", s.fabrics, {.help = "networks, innermost first"});
  v("host", s.host, {.help = "the CPU side"});
  v("node_overhead", s.node_overhead, {.help = "power of a node beside its accelerators"});
}

}  // namespace sextant
