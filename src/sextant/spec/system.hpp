// SPDX-License-Identifier: Apache-2.0
// Devices in nodes and the fabrics between them, innermost first.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/spec/device.hpp"

namespace sextant {

/// How a fabric's devices are wired. Of a switch, a fat tree, rails (a switch for each position in
/// a node) and a dragonfly each device has one way in; of a full mesh a link to every other; of a
/// ring and a torus one each way along each dimension.
enum class Topology : std::uint8_t { switched, ring, mesh, torus, fat_tree, rails, dragonfly };
constexpr auto names_of(Topology) {
  return std::array<std::string_view, 7>{"switched", "ring",  "mesh",     "torus",
                                         "fat-tree", "rails", "dragonfly"};
}

/// One level of the network. A device reaches `reach` devices through it, itself included.
struct Fabric {
  std::string name;
  int reach = 1;
  BytesPerSecond bandwidth;  ///< a device, one direction, raw, all its links together
  double efficiency = 0.8;   ///< payload share of the raw rate (NVLink 0.80, IB 0.92)
  Seconds latency{1e-6};     ///< a flag written by one device until the next has seen it
  Topology topology = Topology::switched;
  int dimensions = 3;               ///< of a torus
  int wrap = 0;                     ///< sides of a group that are multiples of it close to a ring
  bool reduces_in_network = false;  ///< NVLS or SHARP
  double oversubscription = 1;      ///< down-links over up-links of the switches above
  int leaf = 0;  ///< devices (of rails: nodes) below one switch, or in a dragonfly's group
};
template <class V>
void describe(V& v, Fabric& f) {
  v("name", f.name, {.help = "what it is, for people", .inert = "for people"});
  v("reach", f.reach, {.help = "devices it connects", .required = true, .min = 1, .max = 1e7});
  v("bandwidth", f.bandwidth,
    {.help = "raw rate of one device, one direction", .required = true, .min = above_zero});
  v("efficiency", f.efficiency, {.help = "payload share of the raw rate", .min = 0.01, .max = 1});
  v("latency", f.latency, {.help = "one hop, device to device", .max = 1});
  v("topology", f.topology, {.help = "how its devices are wired"});
  v("dimensions", f.dimensions, {.help = "of a torus", .min = 1, .max = 3});
  v("wrap", f.wrap,
    {.help = "torus: a group's sides that are multiples of it close; 0: whole sides only",
     .max = 1e6});
  v("reduces_in_network", f.reduces_in_network, {.help = "switches add for us (NVLS, SHARP)"});
  v("oversubscription", f.oversubscription,
    {.help = "down-links over up-links above", .min = 1, .max = 1000});
  v("leaf", f.leaf,
    {.help = "devices (rails: nodes) below one switch, which oversubscription spares; 0: none",
     .max = 1e7});
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
  int max_devices = 1;                         ///< the largest job this system is meant for
  std::vector<Fabric> fabrics;                 ///< innermost first
  std::string collectives = "nccl";            ///< the communication library of its devices
  std::string trained_with = "megatron-core";  ///< runtimes, where none is asked for
  std::string served_with = "trtllm";
  Host host;
  Watts node_overhead;  ///< CPU, switches, NICs, fans of one node
};
template <class V>
void describe(V& v, System& s) {
  v("name", s.name, {.help = "preset name", .inert = "a name"});
  v("notes", s.notes, {.help = "remarks", .inert = "a remark"});
  v("device", s.device, {.help = "the accelerator", .required = true});
  v("devices_per_node", s.devices_per_node, {.help = "accelerators a node", .min = 1, .max = 1e5});
  v("max_devices", s.max_devices, {.help = "the largest job", .min = 1, .max = 1e7});
  v("fabrics", s.fabrics, {.help = "networks, innermost first"});
  v("collectives", s.collectives, {.help = "communication library: 'sextant list collectives'"});
  v("trained_with", s.trained_with,
    {.help = "runtime of training where none is asked for",
     .inert = "names what a scenario leaves out"});
  v("served_with", s.served_with,
    {.help = "runtime of serving where none is asked for",
     .inert = "names what a scenario leaves out"});
  v("host", s.host, {.help = "the CPU side"});
  v("node_overhead", s.node_overhead, {.help = "power of a node beside its accelerators"});
}

/// Contradictions, by field; those of its device with the rest.
std::vector<Diagnostic> check(const System& system);

}  // namespace sextant
