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
  BytesPerSecond rate;  ///< payload; after oversubscription where nothing says whom it spares
  Seconds latency;
  Topology topology = Topology::switched;
  int dimensions = 1;   ///< of a torus
  double side = 1;      ///< of the whole torus
  double wrap = 0;      ///< as Fabric::wrap
  double ports = 1;     ///< blocks of the level below that meet here
  double leaf = 0;      ///< devices that oversubscription spares; 0: none
  double crowding = 1;  ///< oversubscription beyond a leaf
  bool reduces = false;
  bool network = false;  ///< between nodes, behind adapters
};

/// A system's fabrics, lowered: trivially copyable, nothing to look up.
struct Network {
  static constexpr int most_levels = 6;
  std::array<NetworkLevel, most_levels> levels{};
  int count = 0;
  int devices_per_node = 1;
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

/// What a rank sends, all ranks alike: mean of those that send more and less.
struct SentBytes {
  Bytes near;  ///< inside its node
  Bytes far;   ///< between nodes
};

struct CollectiveCost {
  Seconds time;
  Seconds start;     ///< launch and synchronisation
  Seconds latency;   ///< steps over the fabrics
  Seconds transfer;  ///< bytes over the narrowest fabric
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::none;
  CollectiveProtocol protocol = CollectiveProtocol::none;
  int fabric = 0;      ///< the narrowest, as an index into System::fabrics
  BytesPerSecond bus;  ///< as nccl-tests count it: traffic of a rank in a ring, over time
  SentBytes sent;
};

/// What the wires of one level let `members` ranks do, `inner` of them below each port.
struct Wires {
  double steps = 0;     ///< from rank to rank until all were passed
  double ring = 1;      ///< share of a rank's rate that rings through all of them get
  double exchange = 1;  ///< time of an all-to-all over that through one switch
  double pair = 1;      ///< share of a rank's rate between two of them
};
Wires wires(const NetworkLevel& level, double inner, double members, double density);

/// The sides of a block of so many ranks in a torus, as equal as their factors allow.
std::array<double, 3> torus_block(double ranks, int dimensions);

/// Traffic of one rank in a ring over the bytes: 2 (n − 1) / n for an all-reduce, (n − 1) / n for
/// all-gather, reduce-scatter and all-to-all, 1 for send/receive (nccl-tests, PERFORMANCE.md).
double bus_factor(Collective op, int ranks);

/// The fastest way the library has. `bytes` is the whole, un-sharded buffer: what an all-gather
/// ends with, a reduce-scatter starts with, and each rank of an all-to-all sends, its own part
/// included. Of a send/receive, what one rank sends. Zero for one rank.
CollectiveCost collective(const Network& network, const CollectiveLibrary& library, Collective op,
                          Group group, Bytes bytes);

/// Tokens of a layer on their way to the ranks of their experts, or back.
struct ExpertTokens {
  double tokens = 0;         ///< of one rank
  double topk = 1;           ///< experts that each of them goes to
  double hidden = 0;         ///< elements of a token
  double element_bytes = 2;  ///< 1 where an 8-bit dispatch is meant
  double most_nodes = 0;     ///< that a token reaches; 0: any
  double busiest = 1;        ///< tokens that the busiest rank takes over the mean
  bool kernels = true;       ///< the library's own for experts, where it has them
  bool decode = false;       ///< few tokens: those of low latency
};
/// One way: call it for the dispatch and again for the combine. A library without kernels of its
/// own for experts (CollectiveLibrary::experts) does an all-to-all of all copies; one with sends
/// each token as often as it must: to every rank that has one of its experts while decoding, once
/// to each node, which hands it on, where many tokens make that worth while. `group` are the ranks
/// that share the experts, evenly chosen by the router.
CollectiveCost expert_exchange(const Network& network, const CollectiveLibrary& library,
                               Group group, const ExpertTokens& tokens);

}  // namespace sextant
