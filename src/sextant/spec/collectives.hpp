// SPDX-License-Identifier: Apache-2.0
// A communication library as numbers: what its protocols cost beyond the wires. Start-up is in
// cycles of the device, steps in latencies of the fabric and rates in shares of the fabric's
// payload rate, so that one library serves every device and every fabric.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sextant/spec/describe.hpp"

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

enum class CollectiveLibrary : std::uint8_t { nccl, one_shot };
constexpr auto names_of(CollectiveLibrary) {
  return std::array<std::string_view, 2>{"nccl", "one-shot"};
}

/// One protocol: time = start + steps + (traffic + fill / ranks) / (share · payload rate).
struct CollectiveLine {
  double start_cycles = 10000;  ///< launch, synchronisation and end
  double step_cycles = 1000;    ///< a step's work on the device
  double hop = 1;               ///< latencies of the fabric a step takes, inside a node
  double network_hop = 3.5;     ///< and between nodes
  double share = 0.9;           ///< of the fabric's payload rate
  double fill = 0;              ///< chunks of one rank that are not overlapped: copies, first chunk
};
template <class V>
void describe(V& v, CollectiveLine& l) {
  v("start_cycles", l.start_cycles, {.help = "launch, synchronisation and end", .max = 1e8});
  v("step_cycles", l.step_cycles, {.help = "a step's work on the device", .max = 1e7});
  v("hop", l.hop, {.help = "latencies of a fabric a step takes, inside a node", .max = 1e4});
  v("network_hop", l.network_hop, {.help = "and between nodes", .max = 1e4});
  v("share", l.share, {.help = "of the fabric's payload rate", .min = 1e-4, .max = 1});
  v("fill", l.fill, {.help = "chunks of one rank that are not overlapped", .max = 100});
}

/// The protocols that NCCL chooses from: flags in every 8 bytes, in every 128, and none.
struct CollectiveLines {
  CollectiveLine low_latency;
  CollectiveLine ll128;
  CollectiveLine simple;
};
template <class V>
void describe(V& v, CollectiveLines& l) {
  v("low_latency", l.low_latency, {.help = "a flag in every 8 bytes"});
  v("ll128", l.ll128, {.help = "a flag in every 128 bytes"});
  v("simple", l.simple, {.help = "no flags: full rate, slow start"});
}

/// All constants of the libraries, each line in the order of CollectiveLine: start_cycles,
/// step_cycles, hop, network_hop, share, fill. The defaults are one joint fit, mean |log error|, to
/// 1590 of the 1724 rows of collective-a100-h100-h200.csv (A100, H100 and H200 on NVLink, L40S on
/// PCIe; NCCL 2.27 and 2.29 and the one-shot kernels of TensorRT-LLM from the aiconfigurator
/// database, Vidur's profiles, published nccl-tests); the rest is of a network that nobody stated.
/// network_hop is not fitted: in NCCL's tuning.cc a step of a tree between nodes takes 5, 8.5 and
/// 14 us, and our fabrics have a latency of 4; a send/receive takes 12 (Vidur, H100).
struct CollectiveKernels {
  /// All-reduce by ring or tree.
  CollectiveLines reduce{{9540, 1500, 0, 1.25, 0.0686, 2.24},
                         {9880, 495, 0.677, 2.1, 0.651, 1.53},
                         {17100, 0, 5.27, 3.5, 1, 0.498}};
  /// All-gather and reduce-scatter.
  CollectiveLines shard{{9090, 979, 0.328, 1.25, 0.0867, 6.1},
                        {10300, 0, 0.899, 2.1, 0.699, 1.4},
                        {33000, 0, 2.65, 3.5, 1, 0.464}};
  /// All-to-all.
  CollectiveLines direct{{12500, 0, 0.203, 1.25, 0.157, 8},
                         {23400, 0, 0.113, 2.1, 0.775, 0.498},
                         {39900, 0, 2.41, 3.5, 0.856, 0.0835}};
  /// Send/receive of one pair.
  CollectiveLines send{{4550, 8.34, 1.44, 3, 0.00452, 0.0919},
                       {13500, 832, 0, 3, 1, 1.13},
                       {51700, 96.1, 0.122, 3, 0.665, 0}};
  /// NVLS: the switch adds.
  CollectiveLine in_network{115000, 461, 0.57, 3.5, 0.813, 0};
  /// Every rank reads all others, flags in the data.
  CollectiveLine one_shot{5380, 0, 0.0843, 3.5, 0.763, 1.36};
  /// The same between two barriers.
  CollectiveLine one_shot_barrier{3160, 0, 1.14, 3.5, 0.756, 0.291};
  /// Reduce-scatter and all-gather by direct reads.
  CollectiveLine two_shot{7490, 74.8, 2.92, 3.5, 0.84, 1.81};
  double tree_share = 0.92;             ///< of the ring's rate (NCCL tuning.cc)
  double direct_network_share = 0.754;  ///< one stream through one adapter
  /// The smallest group that NCCL gives to the switch (nccl#1455: rings up to 4).
  int in_network_min = 5;
};
template <class V>
void describe(V& v, CollectiveKernels& k) {
  v("reduce", k.reduce, {.help = "all-reduce by ring or tree"});
  v("shard", k.shard, {.help = "all-gather and reduce-scatter"});
  v("direct", k.direct, {.help = "all-to-all"});
  v("send", k.send, {.help = "send/receive of one pair"});
  v("in_network", k.in_network, {.help = "all-reduce in the switch"});
  v("one_shot", k.one_shot, {.help = "every rank reads all others, flags in the data"});
  v("one_shot_barrier", k.one_shot_barrier, {.help = "the same between two barriers"});
  v("two_shot", k.two_shot, {.help = "reduce-scatter and all-gather by direct reads"});
  v("tree_share", k.tree_share, {.help = "rate of a tree over a ring's", .min = 0.01, .max = 1});
  v("direct_network_share", k.direct_network_share,
    {.help = "one stream through one adapter", .min = 0.01, .max = 1});
  v("in_network_min", k.in_network_min,
    {.help = "smallest group that the switch adds for", .min = 2, .max = 1e6});
}

}  // namespace sextant
