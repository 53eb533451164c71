// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/collective.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// How many ranks of a group meet at each level, and how many steps of a ring cross it.
struct Placement {
  double ranks = 1;
  int levels = 0;                                    // that the group needs
  std::array<double, Network::most_levels> inner{};  // ranks below one port of the level
  std::array<double, Network::most_levels> members{};
  double local = 1;  // ranks of one node
};

Placement place(const Network& net, Group group) {
  Placement p;
  p.ranks = std::max(1, group.ranks);
  const double per_node = std::clamp<double>(group.per_node, 1, net.devices_per_node);
  double below = 1;
  for (int i = 0; i < net.count && below < p.ranks; ++i) {
    const NetworkLevel& level = net.levels[static_cast<std::size_t>(i)];
    double here = level.reach <= net.devices_per_node
                      ? std::min(level.reach, per_node)
                      : level.reach * per_node / net.devices_per_node;
    if (i + 1 == net.count) here = p.ranks;
    here = std::clamp(here, below, p.ranks);
    const auto at = static_cast<std::size_t>(i);
    p.inner[at] = below;
    p.members[at] = here;
    p.levels = i + 1;
    if (!level.network) p.local = here;
    below = here;
  }
  return p;
}

struct Way {
  CollectiveAlgorithm algorithm;
  double steps = 0;   // along the critical path
  Seconds latency;    // of their fabrics inside a node
  Seconds far;        // and between nodes
  int narrowest = 0;  // fabric
  Seconds wire;       // bytes over it at its payload rate
};

// One direction of a ring over all ranks: n / inner − n / members of its n − 1 steps cross a level.
// The whole traffic leaves every block of ranks below it: through the adapters of all its ranks
// between nodes (rails), through that of one rank inside (NCCL lays all channels the same way).
Way ring(const Network& net, const Placement& p, Bytes traffic, double rounds) {
  Way w{CollectiveAlgorithm::ring, 0, {}, {}, 0, {}};
  for (int i = 0; i < p.levels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double steps = p.ranks / p.inner[at] - p.ranks / p.members[at];
    if (steps <= 0) continue;
    const NetworkLevel& level = net.levels[at];
    w.steps += rounds * steps;
    (level.network ? w.far : w.latency) += rounds * steps * level.latency;
    const Seconds wire = traffic / ((level.network ? p.inner[at] : 1) * level.rate);
    if (wire > w.wire) {
      w.wire = wire;
      w.narrowest = i;
    }
  }
  return w;
}

// As a ring inside the node, with a double binary tree between nodes (NCCL 2.4; physics as in
// tuning.cc: 2 (local − 1) + 2 log2(nodes) steps).
Way tree(const Network& net, const Placement& p, Bytes traffic) {
  Way w = ring(net, p, traffic, 2);
  w.algorithm = CollectiveAlgorithm::tree;
  w.steps = 0;
  w.latency = Seconds(0);
  w.far = Seconds(0);
  for (int i = 0; i < p.levels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double fan = p.members[at] / p.inner[at];
    const double depth =
        net.levels[at].network ? std::ceil(std::log2(std::max(1.0, fan))) : fan - 1;
    w.steps += 2 * depth;
    (net.levels[at].network ? w.far : w.latency) += 2 * depth * net.levels[at].latency;
  }
  return w;
}

// Every rank to every other at once: the share of peers that meet at a level crosses it.
Way direct(const Network& net, const Placement& p, Bytes bytes) {
  Way w{CollectiveAlgorithm::direct, 0, {}, {}, 0, {}};
  for (int i = 0; i < p.levels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double peers = p.members[at] - p.inner[at];
    if (peers <= 0) continue;
    w.steps += peers;
    // All peers at once: the adapter's latency shows once.
    if (net.levels[at].network) {
      w.far = net.levels[at].latency;
    } else {
      w.latency += peers * net.levels[at].latency;
    }
    const Seconds wire = (peers / p.ranks) * bytes / net.levels[at].rate;
    if (wire > w.wire) {
      w.wire = wire;
      w.narrowest = i;
    }
  }
  return w;
}

// The switch adds and multicasts: each rank sends S and receives S (1 + 1/n: its own part once
// more), whatever the number of ranks; between nodes every rail reduces its share by a tree.
Way in_network(const Network& net, const Placement& p, Bytes bytes) {
  Way w{CollectiveAlgorithm::in_network, 0, {}, {}, 0, {}};
  const double n = p.members[0];
  w.steps = 2;
  w.latency = 2 * net.levels[0].latency;
  w.wire = ((n + 1) / n) * bytes / net.levels[0].rate;
  for (int i = 1; i < p.levels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double fan = p.members[at] / p.inner[at];
    if (fan <= 1) continue;
    const NetworkLevel& level = net.levels[at];
    const double depth = std::ceil(std::log2(fan));
    w.steps += 2 * depth;
    (level.network ? w.far : w.latency) += 2 * depth * level.latency;
    // SHARP: the switches add, so every byte goes up once instead of around.
    const double traffic = level.reduces ? (fan + 1) / fan : 2 * (fan - 1) / fan;
    const Seconds wire = traffic * bytes / (p.inner[at] * level.rate);
    if (wire > w.wire) {
      w.wire = wire;
      w.narrowest = i;
    }
  }
  return w;
}

class Choice {
 public:
  Choice(const Network& net, const Placement& p, Bytes bytes, Seconds least)
      : net_(net), placement_(p), bytes_(bytes), least_(least) {}

  void offer(const CollectiveLine& line, CollectiveProtocol protocol, const Way& way,
             double share = 1) {
    CollectiveCost c;
    c.algorithm = way.algorithm;
    c.protocol = protocol;
    c.fabric = way.narrowest;
    c.start = Seconds(line.start_cycles / net_.clock.value);
    c.latency = Seconds(line.step_cycles * way.steps / net_.clock.value) + line.hop * way.latency +
                line.network_hop * way.far;
    const auto at = static_cast<std::size_t>(way.narrowest);
    // Copies beside the wires show where the wires are as fast as the device's own copying.
    const Seconds chunk =
        net_.levels[at].network ? Seconds(0) : bytes_ / (placement_.ranks * net_.levels[at].rate);
    c.transfer = max((way.wire + line.fill * chunk) / (line.share * share), least_);
    c.time = c.start + c.latency + c.transfer;
    if (best_.algorithm == CollectiveAlgorithm::none || c.time < best_.time) best_ = c;
  }
  void offer(const CollectiveLines& lines, const Way& way, double share = 1) {
    offer(lines.low_latency, CollectiveProtocol::low_latency, way, share);
    offer(lines.ll128, CollectiveProtocol::ll128, way, share);
    offer(lines.simple, CollectiveProtocol::simple, way, share);
  }
  const CollectiveCost& best() const { return best_; }

 private:
  const Network& net_;
  const Placement& placement_;
  Bytes bytes_;
  Seconds least_;  // no protocol is faster than the raw wires
  CollectiveCost best_;
};

CollectiveCost point_to_point(const Network& net, const CollectiveKernels& k, const Placement& p,
                              Bytes bytes) {
  // The two ends meet at the outermost level that the group needs.
  const auto at = static_cast<std::size_t>(std::max(0, p.levels - 1));
  const NetworkLevel& level = net.levels[at];
  const Way way{CollectiveAlgorithm::direct,
                1,
                level.network ? Seconds(0) : level.latency,
                level.network ? level.latency : Seconds(0),
                static_cast<int>(at),
                bytes / level.rate};
  Choice choice(net, p, Bytes(0), bytes / level.peak);
  choice.offer(k.send, way, level.network ? k.direct_network_share : 1);
  return choice.best();
}

void offer_one_shot(const Network& net, const CollectiveKernels& k, const Placement& p, Bytes bytes,
                    Choice& choice) {
  Way way = ring(net, p, (p.ranks - 1) * bytes, 1);
  way.algorithm = CollectiveAlgorithm::one_shot;
  choice.offer(k.one_shot, CollectiveProtocol::low_latency, way);
  choice.offer(k.one_shot_barrier, CollectiveProtocol::simple, way);
  way = ring(net, p, (2 * (p.ranks - 1) / p.ranks) * bytes, 1);
  way.algorithm = CollectiveAlgorithm::two_shot;
  choice.offer(k.two_shot, CollectiveProtocol::simple, way);
}

}  // namespace

Network lower(const System& system) {
  Network net;
  net.devices_per_node = std::max(1, system.devices_per_node);
  net.clock = max(system.device.max_clock, system.device.clock);
  for (const Fabric& f : system.fabrics) {
    if (net.count == Network::most_levels) break;
    NetworkLevel& level = net.levels[static_cast<std::size_t>(net.count++)];
    level.reach = f.reach;
    level.peak = f.bandwidth;
    level.rate = f.bandwidth * (f.efficiency / std::max(1.0, f.oversubscription));
    level.latency = f.latency;
    level.reduces = f.reduces_in_network;
    level.network = net.count > 1 && f.reach > net.devices_per_node;
  }
  if (net.count == 0) {
    net.levels[0] = {.reach = 1e9,
                     .peak = system.host.link,
                     .rate = 0.5 * system.host.link,  // up and down again
                     .latency = Seconds(5e-6),
                     .reduces = false,
                     .network = false};
    net.count = 1;
  }
  return net;
}

Group packed(const Network& network, int ranks) {
  return {ranks, std::min(ranks, network.devices_per_node)};
}

double bus_factor(Collective op, int ranks) {
  const double n = std::max(1, ranks);
  if (op == Collective::send_recv) return 1;
  return (op == Collective::all_reduce ? 2 : 1) * (n - 1) / n;
}

CollectiveCost collective(const Network& network, const CollectiveKernels& k, Collective op,
                          Group group, Bytes bytes, CollectiveLibrary library) {
  const Placement p = place(network, group);
  if (p.ranks <= 1 || p.levels == 0) return {};
  const Bytes traffic = bus_factor(op, group.ranks) * bytes;
  CollectiveCost cost;
  if (op == Collective::send_recv) {
    cost = point_to_point(network, k, p, bytes);
  } else if (op == Collective::all_to_all) {
    Choice choice(network, p, bytes, Seconds(0));
    choice.offer(k.direct, direct(network, p, bytes));
    cost = choice.best();
  } else if (op != Collective::all_reduce) {
    Choice choice(network, p, bytes, Seconds(0));
    choice.offer(k.shard, ring(network, p, traffic, 1));
    cost = choice.best();
  } else {
    Choice choice(network, p, bytes, Seconds(0));
    choice.offer(k.reduce, ring(network, p, traffic, 2));
    const bool several_nodes = p.local < p.ranks;
    if (several_nodes) choice.offer(k.reduce, tree(network, p, traffic), k.tree_share);
    if (network.levels[0].reduces && p.members[0] >= k.in_network_min) {
      choice.offer(k.in_network, CollectiveProtocol::simple, in_network(network, p, bytes));
    }
    if (library == CollectiveLibrary::one_shot && !several_nodes) {
      offer_one_shot(network, k, p, bytes, choice);
    }
    cost = choice.best();
    // It does all that a reduce-scatter does. Not so the one-shot kernels, which have their own
    // start, nor a tree: NCCL has no tree for reduce-scatter, so few bytes over many nodes are
    // reduced faster for all than for one.
    const bool own_way = library == CollectiveLibrary::one_shot || several_nodes;
    if (!own_way) {
      const CollectiveCost part =
          collective(network, k, Collective::reduce_scatter, group, bytes, library);
      if (part.time > cost.time) cost = part;  // with its parts, which sum to the time
    }
  }
  cost.bus = cost.time.value > 0 ? traffic / cost.time : BytesPerSecond(0);
  return cost;
}

}  // namespace sextant
