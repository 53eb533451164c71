// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/token_exchange.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

/// Of so many places, those that random choices reach: n (1 − (1 − 1/n)^k).
double reached(double places, double choices) {
  return places * (1 - std::pow(1 - 1 / places, choices));
}

// DeepEP's published tables (H800, hidden 7168, top-8, fp8 dispatch, bf16 combine): low-latency
// kernels with 128 tokens a rank take 40/72, 102/188, 144/266 and 166/306 us on 1, 2, 4 and 8
// nodes, with 8 tokens 16/14 to 36/44; normal kernels with 4096 tokens 491/973 us on one node,
// 1801/3528 on four. Shares of the links' rates and start times follow from those.
struct Kernels {
  Seconds start;
  Seconds far;   ///< more, where many nodes take part
  double links;  ///< share of the rate inside a node
  double network;
};
constexpr Kernels low_latency{Seconds(14e-6), Seconds(25e-6), 0.55, 0.93};
constexpr Kernels normal{Seconds(30e-6), Seconds(40e-6), 0.70, 0.70};

}  // namespace

int group_inside(const Network& net, Group group) {
  int reach = 1;
  for (int i = 0; i < net.count; ++i) {
    const NetworkLevel& level = net.levels[static_cast<std::size_t>(i)];
    if (level.network && i > 0) break;
    reach = static_cast<int>(level.reach * group.per_node / net.devices_per_node);
  }
  return std::clamp(reach, 1, group.ranks);
}

Seconds token_exchange(const Network& net, const TokenExchange& x) {
  if (x.group.ranks <= 1) return Seconds(0);
  const Kernels& k = x.low_latency ? low_latency : normal;
  const double inside = group_inside(net, x.group);
  const double nodes = x.group.ranks / inside;
  BytesPerSecond links(0);
  BytesPerSecond network(0);
  for (int i = 0; i < net.count; ++i) {
    const NetworkLevel& level = net.levels[static_cast<std::size_t>(i)];
    if (level.network && i > 0) {
      if (network.value == 0) network = level.peak;
    } else {
      links = level.peak;
    }
  }
  if (network.value == 0) network = links;
  const double far_nodes = x.most_nodes > 0 ? std::min(nodes, x.most_nodes) : nodes;
  // Copies that leave the node, and that travel inside one.
  const double remote =
      (x.low_latency ? x.choices : std::min(far_nodes, reached(nodes, x.choices))) *
      (1 - 1 / nodes);
  const double local =
      x.low_latency ? x.choices / nodes : reached(x.group.ranks, x.choices) * (1 - 1 / inside);
  const Bytes sent = x.tokens * x.token;
  const Seconds over_links = inside > 1 ? local * sent / (k.links * links) : Seconds(0);
  const Seconds over_network = nodes > 1 ? remote * sent / (k.network * network) : Seconds(0);
  return k.start + (1 - 1 / nodes) * k.far + max(over_links, over_network);
}

}  // namespace sextant
