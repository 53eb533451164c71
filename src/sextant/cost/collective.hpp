// SPDX-License-Identifier: Apache-2.0
// Collective communication: a pure function of the network, a group of ranks and the bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sextant/spec/collectives.hpp"
#include "sextant/spec/system.hpp"

namespace sextant {

/// One fabric, lowered.
struct NetworkLevel {
  double reach = 1;
  BytesPerSecond peak;  ///< raw rate of a device
  BytesPerSecond rate;  ///< payload, after oversubscription
  Seconds latency;
  bool reduces = false;
  bool network = false;  ///< between nodes, behind adapters
};

/// A system's fabrics, lowered: trivially copyable, nothing to look up.
struct Network {
  static constexpr int most_levels = 6;
  std::array<NetworkLevel, most_levels> levels{};
  int count = 0;
  int devices_per_node = 1;
  Hertz clock{1e9};
};
/// Fabrics beyond the sixth are left out. A system without any communicates through its host.
Network lower(const System& system);

/// Ranks placed evenly on nodes, next to each other inside a node.
struct Group {
  int ranks = 1;
  int per_node = 1;
};
/// The densest placement of so many ranks.
Group packed(const Network& network, int ranks);

enum class CollectiveAlgorithm : std::uint8_t {
  none,
  ring,
  tree,
  in_network,
  direct,
  one_shot,
  two_shot
};
constexpr auto names_of(CollectiveAlgorithm) {
  return std::array<std::string_view, 7>{"none",   "ring",     "tree",    "in-network",
                                         "direct", "one-shot", "two-shot"};
}
enum class CollectiveProtocol : std::uint8_t { none, low_latency, ll128, simple };
constexpr auto names_of(CollectiveProtocol) {
  return std::array<std::string_view, 4>{"none", "LL", "LL128", "simple"};
}

struct CollectiveCost {
  Seconds time;
  Seconds start;     ///< launch and synchronisation
  Seconds latency;   ///< steps over the fabrics
  Seconds transfer;  ///< bytes over the narrowest fabric
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::none;
  CollectiveProtocol protocol = CollectiveProtocol::none;
  int fabric = 0;      ///< the narrowest, as an index into System::fabrics
  BytesPerSecond bus;  ///< as nccl-tests count it: traffic of a rank in a ring, over time
};

/// Traffic of one rank in a ring over the bytes: 2 (n − 1) / n for an all-reduce, (n − 1) / n for
/// all-gather, reduce-scatter and all-to-all, 1 for send/receive (nccl-tests, PERFORMANCE.md).
double bus_factor(Collective op, int ranks);

/// The fastest way the library has. `bytes` is the whole, un-sharded buffer: what an all-gather
/// ends with, a reduce-scatter starts with, and each rank of an all-to-all sends, its own part
/// included. Of a send/receive, what one rank sends. Zero for one rank.
CollectiveCost collective(const Network& network, const CollectiveKernels& kernels, Collective op,
                          Group group, Bytes bytes,
                          CollectiveLibrary library = CollectiveLibrary::nccl);

}  // namespace sextant
