// SPDX-License-Identifier: Apache-2.0
#include "sextant/cost/collective.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sextant {
namespace {

// How many ranks of a group meet at each level, and how many steps of a ring cross it.
struct Placement {
  double ranks = 1;
  int levels = 0;                                    // that the group needs
  std::array<double, Network::most_levels> inner{};  // ranks below one port of the level
  std::array<double, Network::most_levels> members{};
  double local = 1;    // ranks of one node
  double density = 1;  // ranks of a node over its devices
};

Placement place(const Network& net, Group group) {
  Placement p;
  p.ranks = std::max(1, group.ranks);
  const double per_node = std::clamp<double>(group.per_node, 1, net.devices_per_node);
  p.density = per_node / net.devices_per_node;
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
    below = here;
  }
  // Blocks of a level hold as many ranks each: nine on nodes of eight are four and a half on two.
  for (int i = p.levels - 1; i > 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    p.inner[at] = p.members[at] / std::ceil(p.members[at] / p.inner[at] - 1e-9);
    p.members[at - 1] = p.inner[at];
  }
  for (int i = 0; i < p.levels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!net.levels[at].network) p.local = p.members[at];
  }
  return p;
}

// Each dimension has two of a device's links, so a dimension's share of its rate is 1/d. A side
// that does not close is a line: a ring there and back has half of it, and half of all bytes of an
// all-to-all cross its middle instead of a quarter of a ring's either side.
Wires torus(const NetworkLevel& level, double fan) {
  Wires w{0, 0, 1, 0.5 / level.dimensions};
  double longest = 0;
  for (const double side : torus_block(fan, level.dimensions)) {
    if (side <= 1) continue;
    const bool closed = side >= level.side ||
                        (level.wrap > 0 && side >= level.wrap && std::fmod(side, level.wrap) == 0);
    w.steps += side - 1;
    w.ring += (closed ? 1 : 0.5) / level.dimensions;
    longest = std::max(longest, side / (closed ? 4 : 2));
  }
  w.exchange = std::max(1.0, level.dimensions * longest * fan / (fan - 1));
  return w;
}

struct Way {
  CollectiveAlgorithm algorithm;
  double steps = 0;   // along the critical path
  Seconds latency;    // of their fabrics inside a node
  Seconds far;        // and between nodes
  int narrowest = 0;  // fabric
  Seconds wire;       // bytes over it at its payload rate
  SentBytes sent{};

  void cross(int fabric, Seconds time) {
    if (!(time > wire)) return;
    wire = time;
    narrowest = fabric;
  }
};

void add(SentBytes& sent, const NetworkLevel& level, Bytes bytes) {
  (level.network ? sent.far : sent.near) += bytes;
}

// One direction of a ring over all ranks: n / inner − n / members of its n − 1 steps cross a level
// of switches. The whole traffic leaves every block of ranks below it: through the adapters of all
// its ranks between nodes (rails), through that of one rank inside (NCCL lays all channels the same
// way).
Way ring(const Network& net, const Placement& p, Bytes traffic, double rounds) {
  Way w{CollectiveAlgorithm::ring, 0, {}, {}, 0, {}};
  for (int i = 0; i < p.levels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (p.members[at] <= p.inner[at]) continue;
    const NetworkLevel& level = net.levels[at];
    const Wires how = wires(level, p.inner[at], p.members[at], p.density);
    // Of n ranks, n / inner send to another block, of those n / members to one of another level.
    const double above = p.members[at] < p.ranks ? 1 / p.members[at] : 0;
    add(w.sent, level, (1 / p.inner[at] - above) * traffic);
    const double steps = rounds * how.steps * p.ranks / p.members[at];
    w.steps += steps;
    (level.network ? w.far : w.latency) += steps * level.latency;
    w.cross(i, traffic / ((level.network ? p.inner[at] : 1) * how.ring * level.rate));
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
    if (fan <= 1) continue;
    const NetworkLevel& level = net.levels[at];
    const double depth = level.network ? std::ceil(std::log2(fan))
                                       : wires(level, p.inner[at], p.members[at], p.density).steps;
    w.steps += 2 * depth;
    (level.network ? w.far : w.latency) += 2 * depth * level.latency;
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
    const NetworkLevel& level = net.levels[at];
    w.steps += peers;
    // All peers at once: the adapter's latency shows once.
    if (level.network) {
      w.far = level.latency;
    } else {
      w.latency += peers * level.latency;
    }
    const double crowd = wires(level, p.inner[at], p.members[at], p.density).exchange;
    add(w.sent, level, (peers / p.ranks) * bytes);
    w.cross(i, (crowd * peers / p.ranks) * bytes / level.rate);
  }
  return w;
}

// The switch adds and multicasts for the ranks of one level. Each rank's part has buffers of its
// own, which fill in turn before all wires are busy (NCCL's NVLS: a chunk a rank and channel),
// unless the bytes are too few for that.
Way in_switch(const Network& net, const Placement& p, double steps, Bytes traffic, Bytes sent) {
  Way w{CollectiveAlgorithm::in_network, steps, {}, {}, 0, traffic / net.levels[0].rate};
  w.latency = min(p.members[0] * net.levels[0].latency, w.wire);
  add(w.sent, net.levels[0], sent);
  return w;
}

// Each rank sends S and receives S (1 + 1/n: its own part once more), whatever the number of ranks;
// between nodes every rail reduces its share by a tree.
Way in_network(const Network& net, const Placement& p, Bytes bytes) {
  const double n = p.members[0];
  Way w = in_switch(net, p, 2, ((n + 1) / n) * bytes, bytes);
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
    const double share = wires(level, p.inner[at], p.members[at], p.density).ring;
    add(w.sent, level, traffic / p.inner[at] * bytes);
    w.cross(i, traffic * bytes / (p.inner[at] * share * level.rate));
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
    c.sent = way.sent;
    c.start = line.start * net_.levels[0].latency;
    c.latency = line.hop * way.latency + line.network_hop * way.far;
    const auto at = static_cast<std::size_t>(way.narrowest);
    // Copies beside the wires show where the wires are as fast as the device's own copying.
    const Seconds chunk =
        net_.levels[at].network ? Seconds(0) : bytes_ / (placement_.ranks * net_.levels[at].rate);
    c.transfer = max((way.wire + line.fill * chunk) / (line.share * share), least_);
    c.time = c.start + c.latency + c.transfer;
    if (best_.algorithm == CollectiveAlgorithm::none || c.time < best_.time) best_ = c;
  }
  template <class Line>
  void offer(const Protocols<Line>& lines, const Way& way, double share = 1) {
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

CollectiveCost point_to_point(const Network& net, const CollectiveLibrary& k, const Placement& p,
                              Bytes bytes) {
  // The two ends meet at the outermost level that the group needs.
  const auto at = static_cast<std::size_t>(std::max(0, p.levels - 1));
  const NetworkLevel& level = net.levels[at];
  Way way{CollectiveAlgorithm::direct,
          1,
          level.network ? Seconds(0) : level.latency,
          level.network ? level.latency : Seconds(0),
          static_cast<int>(at),
          bytes / (wires(level, p.inner[at], p.members[at], p.density).pair * level.rate)};
  add(way.sent, level, bytes);
  Choice choice(net, p, Bytes(0), bytes / level.peak);
  choice.offer(k.send, way, level.network ? k.direct_network_share : 1);
  return choice.best();
}

void offer_peer_reads(const Network& net, const CollectiveLibrary& k, const Placement& p,
                      Bytes bytes, Choice& choice) {
  Way way = ring(net, p, (p.ranks - 1) * bytes, 1);
  way.algorithm = CollectiveAlgorithm::one_shot;
  choice.offer(k.one_shot, CollectiveProtocol::low_latency, way);
  choice.offer(k.one_shot_barrier, CollectiveProtocol::simple, way);
  way = ring(net, p, (2 * (p.ranks - 1) / p.ranks) * bytes, 1);
  way.algorithm = CollectiveAlgorithm::two_shot;
  choice.offer(k.two_shot, CollectiveProtocol::simple, way);
}

}  // namespace

std::array<double, 3> torus_block(double ranks, int dimensions) {
  std::array<double, 3> sides{1, 1, 1};
  auto left = static_cast<std::int64_t>(ranks);
  std::array<std::int64_t, 64> factors{};
  std::size_t count = 0;
  for (std::int64_t f = 2; f * f <= left; ++f) {
    for (; left % f == 0; left /= f) factors[count++] = f;
  }
  if (left > 1) factors[count++] = left;
  while (count > 0) {  // the largest first
    const auto end = sides.begin() + dimensions;
    *std::min_element(sides.begin(), end) *= static_cast<double>(factors[--count]);
  }
  return sides;
}

Wires wires(const NetworkLevel& level, double inner, double members, double density) {
  const double fan = members / inner;
  Wires w{fan - 1, 1, 1, 1};
  if (fan <= 1) return w;
  switch (level.topology) {
    case Topology::ring:
    case Topology::torus:
      return torus(level, fan);
    case Topology::mesh:
      // K_n has n - 1 rings that share no link; of a smaller group some links lead elsewhere.
      w.pair = 1 / std::max(1.0, level.ports - 1);
      w.ring = std::min(1.0, (fan - 1) * w.pair);
      w.exchange = 1 / w.ring;
      return w;
    case Topology::switched:
    case Topology::fat_tree:
    case Topology::rails:
    case Topology::dragonfly:
      break;
  }
  const double below = level.leaf * density;  // ranks that no crowded link parts
  if (level.leaf <= 0 || members <= below) return w;
  // Rings leave a leaf once, with the adapters of one node. Between two groups of a dragonfly there
  // are few links, so half of the traffic takes a detour (Valiant).
  const double detour = level.topology == Topology::dragonfly ? 2 : 1;
  w.ring = std::min(1.0, below / (inner * level.crowding * detour));
  w.exchange = std::max(1.0, level.crowding * (members - below) / (members - inner));
  return w;
}

Network lower(const System& system) {
  Network net;
  net.devices_per_node = std::max(1, system.devices_per_node);
  double below = 1;
  for (const Fabric& f : system.fabrics) {
    if (net.count == Network::most_levels) break;
    NetworkLevel& level = net.levels[static_cast<std::size_t>(net.count++)];
    level.reach = f.reach;
    level.peak = f.bandwidth;
    const double crowding = std::max(1.0, f.oversubscription);
    level.rate = f.bandwidth * (f.efficiency / (f.leaf > 0 ? 1 : crowding));
    level.latency = f.latency;
    level.topology = f.topology;
    level.dimensions = f.topology == Topology::torus ? f.dimensions : 1;
    level.ports = std::max(1.0, f.reach / below);
    level.side = std::round(std::pow(level.ports, 1.0 / level.dimensions));
    level.wrap = f.wrap;
    level.leaf = f.topology == Topology::rails ? 1.0 * f.leaf * net.devices_per_node : f.leaf;
    level.crowding = crowding;
    level.reduces = f.reduces_in_network;
    level.network = net.count > 1 && f.reach > net.devices_per_node;
    below = std::max<double>(below, f.reach);
  }
  if (net.count == 0) {
    net.levels[0].reach = 1e9;
    net.levels[0].peak = system.host.link;
    net.levels[0].rate = 0.5 * system.host.link;  // up and down again
    net.levels[0].latency = Seconds(5e-6);
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

CollectiveCost collective(const Network& network, const CollectiveLibrary& k, Collective op,
                          Group group, Bytes bytes) {
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
    choice.offer(k.ring, ring(network, p, traffic, 1));
    if (network.levels[0].reduces && p.levels == 1 && p.ranks >= k.in_network_min) {
      choice.offer(k.in_network, CollectiveProtocol::simple,
                   in_switch(network, p, 1, traffic, traffic));
    }
    cost = choice.best();
  } else {
    Choice choice(network, p, bytes, Seconds(0));
    choice.offer(k.ring, ring(network, p, traffic, 2));
    const bool several_nodes = p.local < p.ranks;
    if (several_nodes) choice.offer(k.ring, tree(network, p, traffic), k.tree_share);
    if (network.levels[0].reduces && p.members[0] >= k.in_network_min) {
      choice.offer(k.in_network, CollectiveProtocol::simple, in_network(network, p, bytes));
    }
    if (k.peer_reads && !several_nodes) offer_peer_reads(network, k, p, bytes, choice);
    cost = choice.best();
    // It does all that a reduce-scatter does. Not so the one-shot kernels, which have their own
    // start, nor a tree: NCCL has no tree for reduce-scatter, so few bytes over many nodes are
    // reduced faster for all than for one.
    const bool own_way = k.peer_reads || several_nodes;
    const auto at_least = [&](CollectiveCost part) {
      part.sent = cost.sent;
      if (part.time > cost.time) cost = part;  // with its parts, which sum to the time
    };
    if (!own_way) at_least(collective(network, k, Collective::reduce_scatter, group, bytes));
    // And every node at least sums its own.
    const int local = static_cast<int>(p.local);
    if (several_nodes) at_least(collective(network, k, op, {local, local}, bytes));
  }
  cost.bus = cost.time.value > 0 ? traffic / cost.time : BytesPerSecond(0);
  return cost;
}

CollectiveCost expert_exchange(const Network& network, const CollectiveLibrary& library,
                               Group group, const ExpertTokens& t) {
  const ExpertExchangeKernels& k = library.experts;
  const double row = t.hidden * t.element_bytes;
  if (!k.offered || !t.kernels) {
    CollectiveCost c = collective(network, library, Collective::all_to_all, group,
                                  Bytes(t.busiest * t.tokens * t.topk * row));
    c.sent = {c.sent.near / t.busiest, c.sent.far / t.busiest};  // a mean rank's
    return c;
  }
  const Placement p = place(network, group);
  if (p.ranks <= 1 || p.levels == 0) return {};
  const CollectiveLine& line = t.decode ? k.decode : k.prompt;
  CollectiveCost c;
  c.algorithm = CollectiveAlgorithm::direct;
  c.start = line.start * network.levels[0].latency;
  // Of so many blocks, k even choices reach n (1 - (1 - 1/n)^k).
  const auto reached = [&](double n) { return n * (1 - std::pow(1 - 1 / n, t.topk)); };
  const bool handed_on = k.one_copy_a_node && !t.decode && p.local < p.ranks;
  const double copies = t.decode ? t.topk : reached(p.ranks);
  Seconds longer;
  Seconds shorter;
  for (int i = 0; i < p.levels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const NetworkLevel& level = network.levels[at];
    const double peers = p.members[at] - p.inner[at];
    if (peers <= 0) continue;
    double sent = copies * peers / p.ranks;
    if (handed_on) {
      const double nodes = p.ranks / p.local;
      // Routers that limit nodes take those with the best experts, so that nearly all of them are
      // reached (drawn evenly, top 8 of 4 in 8 groups: 3.97).
      const double most = t.most_nodes > 0 ? t.most_nodes : nodes;
      sent = level.network ? std::min(most, reached(nodes)) * peers / p.ranks
                           : copies * peers / p.members[at];
    }
    // Of many tokens between nodes, waiting for the busiest rank is in the share of a run.
    const bool waited = level.network && !t.decode;
    const double rate = waited ? k.network_share : (level.network ? 1 : line.share) / t.busiest;
    const double crowd = wires(level, p.inner[at], p.members[at], p.density).exchange;
    add(c.sent, level, Bytes(t.tokens * row * sent));
    const Seconds wire = Bytes(t.tokens * row * sent * crowd) / (rate * level.rate);
    c.latency += ((level.network ? line.network_hop : line.hop) * peers / p.ranks) * level.latency;
    shorter = max(shorter, min(longer, wire));
    if (wire > longer) {
      longer = wire;
      c.fabric = i;
    }
  }
  c.transfer = longer + (1 - k.overlap) * shorter;
  c.time = c.start + c.latency + c.transfer;
  c.bus = c.time.value > 0 ? Bytes(t.tokens * t.topk * row) / c.time : BytesPerSecond(0);
  return c;
}

}  // namespace sextant
