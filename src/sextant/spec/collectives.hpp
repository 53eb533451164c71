// SPDX-License-Identifier: Apache-2.0
// A communication library as numbers: what its protocols cost beyond the wires. Start-up and steps
// are in latencies of a fabric, rates in shares of the fabric's payload rate, so that one library
// serves every device and every fabric.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/spec/describe.hpp"
#include "sextant/spec/device.hpp"

namespace sextant {

enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  send_recv,
  count
};
constexpr auto names_of(Collective) {
  return std::array<std::string_view, 5>{"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                         "send_recv"};
}

/// One protocol: time = start + steps + (traffic + fill / ranks) / (share · payload rate). The
/// defaults are a library that costs nothing. NCCL's start takes as many latencies on NVLink 3, 4
/// and 5, though those differ by two thirds: launched ranks meet over the fabric, and that is most
/// of it.
struct CollectiveLine {
  double start = 0;        ///< launch, synchronisation and end, in latencies of the first fabric
  double hop = 1;          ///< latencies of the fabric a step takes, inside a node
  double network_hop = 1;  ///< and between nodes
  double share = 1;        ///< of the fabric's payload rate
  double fill = 0;         ///< chunks of one rank that are not overlapped: copies, first chunk
};
template <class V>
void describe(V& v, CollectiveLine& l) {
  v("start", l.start, {.help = "launch and end, in latencies of the first fabric", .max = 1e6});
  v("hop", l.hop, {.help = "latencies of a fabric a step takes, inside a node", .max = 1e4});
  v("network_hop", l.network_hop, {.help = "and between nodes", .max = 1e4});
  v("share", l.share, {.help = "of the fabric's payload rate", .min = 1e-4, .max = 1});
  v("fill", l.fill, {.help = "chunks of one rank that are not overlapped", .max = 100});
}

/// Inside a node only.
struct PeerLine : CollectiveLine {};
template <class V>
void describe(V& v, PeerLine& l) {
  v("start", l.start, {.help = "launch and end, in latencies of the first fabric", .max = 1e6});
  v("hop", l.hop, {.help = "latencies of a fabric a step takes", .max = 1e4});
  v("share", l.share, {.help = "of the fabric's payload rate", .min = 1e-4, .max = 1});
  v("fill", l.fill, {.help = "chunks of one rank that are not overlapped", .max = 100});
}

/// Between two ranks, or from rank to rank: nothing is cut into chunks.
struct PairLine : CollectiveLine {};
template <class V>
void describe(V& v, PairLine& l) {
  v("start", l.start, {.help = "launch and end, in latencies of the first fabric", .max = 1e6});
  v("hop", l.hop, {.help = "latencies of a fabric a step takes, inside a node", .max = 1e4});
  v("network_hop", l.network_hop, {.help = "and between nodes", .max = 1e4});
  v("share", l.share, {.help = "of the fabric's payload rate", .min = 1e-4, .max = 1});
}

/// The protocols that a library chooses from: flags in every 8 bytes, in every 128, and none.
template <class Line>
struct Protocols {
  Line low_latency;
  Line ll128;
  Line simple;
};
using CollectiveLines = Protocols<CollectiveLine>;
template <class V, class Line>
void describe(V& v, Protocols<Line>& l) {
  v("low_latency", l.low_latency, {.help = "a flag in every 8 bytes"});
  v("ll128", l.ll128, {.help = "a flag in every 128 bytes"});
  v("simple", l.simple, {.help = "no flags: full rate, slow start"});
}

/// Kernels that send tokens to the ranks of their experts and back; without, an all-to-all does.
struct ExpertExchangeKernels {
  bool offered = false;
  PairLine decode;               ///< few tokens: every copy of a token goes to its rank by itself
  PairLine prompt;               ///< many tokens
  bool one_copy_a_node = false;  ///< of many tokens: one for several experts of a node, handed on
  double network_share = 1;      ///< of the network's payload rate, of many tokens; a line's share
                                 ///< is the node's
  double overlap = 1;            ///< share of the shorter of the two that the longer one hides
  double cores = 0;              ///< that they run on, beside other kernels; 0: the runtime's share
};
template <class V>
void describe(V& v, ExpertExchangeKernels& k) {
  v("offered", k.offered, {.help = "the library has kernels of its own for experts"});
  v("decode", k.decode, {.help = "of few tokens"});
  v("prompt", k.prompt, {.help = "of many tokens"});
  v("one_copy_a_node", k.one_copy_a_node,
    {.help = "of many tokens, one for several experts of a node is sent there once"});
  v("network_share", k.network_share,
    {.help = "of the network's payload rate, of many tokens", .min = 0.01, .max = 1});
  v("overlap", k.overlap,
    {.help = "share of the shorter of node and network that is hidden", .max = 1});
  v("cores", k.cores,
    {.help = "that they take from kernels beside them; 0: the runtime's share", .max = 1e6});
}

/// One library: presets/collectives.
struct CollectiveLibrary {
  std::string name;
  std::string notes;
  CollectiveLines ring;       ///< all-reduce, all-gather, reduce-scatter by rings and trees
  CollectiveLines direct;     ///< all-to-all
  Protocols<PairLine> send;   ///< send/receive of one pair
  CollectiveLine in_network;  ///< the switch adds (NVLS)
  /// Largest all-reduce that serving stacks leave to kernels of their own on fabrics of this
  /// library; 0: as the stack says.
  Bytes small_limit;
  bool peer_reads = false;    ///< small all-reduces by ranks that read each other's buffers:
  PeerLine one_shot;          ///< every rank reads all others, flags in the data
  PeerLine one_shot_barrier;  ///< the same between two barriers
  PeerLine two_shot;          ///< reduce-scatter and all-gather by direct reads
  ExpertExchangeKernels experts;
  double tree_share = 1;            ///< of the ring's rate
  double direct_network_share = 1;  ///< one stream through one adapter
  int in_network_min = 2;           ///< the smallest group that is given to the switch
  Provenance provenance;
};
template <class V>
void describe(V& v, CollectiveLibrary& k) {
  v("name", k.name, {.help = "preset name", .inert = "a name"});
  v("notes", k.notes, {.help = "remarks", .inert = "a remark"});
  v("ring", k.ring, {.help = "all-reduce, all-gather and reduce-scatter by rings and trees"});
  v("direct", k.direct, {.help = "all-to-all"});
  v("send", k.send, {.help = "send/receive of one pair"});
  v("in_network", k.in_network, {.help = "all-reduce in the switch"});
  v("small_limit", k.small_limit,
    {.help = "largest all-reduce that serving stacks' own kernels take; 0: as the stack says",
     .max = 1e12});
  v("peer_reads", k.peer_reads, {.help = "ranks of a node read each other's buffers"});
  v("one_shot", k.one_shot, {.help = "every rank reads all others, flags in the data"});
  v("one_shot_barrier", k.one_shot_barrier, {.help = "the same between two barriers"});
  v("two_shot", k.two_shot, {.help = "reduce-scatter and all-gather by direct reads"});
  v("experts", k.experts, {.help = "kernels that send tokens to their experts"});
  v("tree_share", k.tree_share, {.help = "rate of a tree over a ring's", .min = 0.01, .max = 1});
  v("direct_network_share", k.direct_network_share,
    {.help = "one stream through one adapter", .min = 0.01, .max = 1});
  v("in_network_min", k.in_network_min,
    {.help = "smallest group that the switch adds for", .min = 2, .max = 1e6});
  v("provenance", k.provenance,
    {.help = "where the constants come from", .inert = "says where constants come from"});
}

}  // namespace sextant
