// SPDX-License-Identifier: Apache-2.0
// Laws that every collective obeys, whatever the network, the group and the bytes.
#include "sextant/cost/collective.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sextant/io/presets.hpp"

namespace sextant {
namespace {

const CollectiveKernels kernels;

std::vector<System> systems() {
  std::vector<System> all;
  for (const char* name : {"dgx-a100", "dgx-h100", "l40s-pcie", "gb200-nvl72", "a10-node"}) {
    all.push_back(load_system(name));
  }
  System bare = all.front();
  bare.name = "bare";
  bare.fabrics.clear();
  all.push_back(bare);
  return all;
}

constexpr std::array<Collective, 5> operations = {Collective::all_reduce, Collective::all_gather,
                                                  Collective::reduce_scatter,
                                                  Collective::all_to_all, Collective::send_recv};
constexpr std::array<CollectiveLibrary, 2> libraries = {CollectiveLibrary::nccl,
                                                        CollectiveLibrary::one_shot};

// Calls f(system, op, group, library) for a lattice of them.
template <class F>
void for_all(const F& f) {
  for (const System& s : systems()) {
    for (const Collective op : operations) {
      for (const CollectiveLibrary library : libraries) {
        for (const Group g : {Group{2, 2}, Group{2, 1}, Group{3, 3}, Group{8, 8}, Group{8, 4},
                              Group{16, 8}, Group{72, 8}, Group{512, 8}, Group{64, 1}}) {
          SCOPED_TRACE(s.name + " " + std::string(name_of(op)) + " " + std::to_string(g.ranks) +
                       "/" + std::to_string(g.per_node));
          f(s, op, g, library);
        }
      }
    }
  }
}

constexpr std::array<double, 8> sizes = {0, 8, 4096, 1e5, 1e6, 1e7, 1e9, 1e12};

TEST(Collective, OneRankHasNothingToDo) {
  for (const System& s : systems()) {
    for (const Collective op : operations) {
      const CollectiveCost c = collective(lower(s), kernels, op, {1, 1}, Bytes(1e9));
      EXPECT_EQ(c.time, Seconds(0));
      EXPECT_EQ(c.algorithm, CollectiveAlgorithm::none);
    }
  }
}

TEST(Collective, IsFiniteAndGrowsWithBytes) {
  for_all([](const System& s, Collective op, Group g, CollectiveLibrary library) {
    const Network net = lower(s);
    Seconds last(0);
    for (const double bytes : sizes) {
      const CollectiveCost c = collective(net, kernels, op, g, Bytes(bytes), library);
      EXPECT_TRUE(std::isfinite(c.time.value));
      EXPECT_GT(c.time, Seconds(0));
      EXPECT_GE(c.time, last);
      EXPECT_DOUBLE_EQ((c.start + c.latency + c.transfer).value, c.time.value);
      EXPECT_GE(c.fabric, 0);
      EXPECT_LT(c.fabric, net.count);
      last = c.time;
    }
  });
}

TEST(Collective, FasterFabricsAreNeverSlower) {
  for_all([](const System& s, Collective op, Group g, CollectiveLibrary library) {
    System wide = s;
    System quick = s;
    System crowded = s;
    for (Fabric& f : wide.fabrics) f.bandwidth *= 1.5;
    for (Fabric& f : quick.fabrics) f.latency *= 0.5;
    for (Fabric& f : crowded.fabrics) f.oversubscription *= 2;
    for (const double bytes : sizes) {
      const auto time = [&](const System& x) {
        return collective(lower(x), kernels, op, g, Bytes(bytes), library).time;
      };
      EXPECT_LE(time(wide), time(s));
      EXPECT_LE(time(quick), time(s));
      EXPECT_GE(time(crowded), time(s));
    }
  });
}

// With switches that add, a rank sends its buffer once instead of around a ring.
TEST(Collective, NeverBeatsTheWires) {
  for_all([](const System& s, Collective op, Group g, CollectiveLibrary library) {
    const Network net = lower(s);
    for (const double bytes : sizes) {
      const CollectiveCost c = collective(net, kernels, op, g, Bytes(bytes), library);
      const double n = g.ranks;
      const double least = c.algorithm == CollectiveAlgorithm::in_network
                               ? (n + 1) / n / 2
                               : bus_factor(op, g.ranks) * (op == Collective::all_to_all ? 0.5 : 1);
      // The widest fabric bounds all of them; all-to-all may use two at once.
      EXPECT_GE(c.time, least * Bytes(bytes) / net.levels[0].peak);
    }
  });
}

// Between nodes only of many bytes: NCCL all-reduces few by a tree, and reduce-scatters by ring.
TEST(Collective, AnAllReduceHoldsAReduceScatter) {
  for_all([](const System& s, Collective, Group g, CollectiveLibrary) {
    const Network net = lower(s);
    for (const double bytes : sizes) {
      const auto cost = [&](Collective op) {
        return collective(net, kernels, op, g, Bytes(bytes));
      };
      if (g.ranks > g.per_node && bytes < 1e12) continue;
      EXPECT_GE(cost(Collective::all_reduce).time, cost(Collective::reduce_scatter).time) << bytes;
    }
  });
}

TEST(Collective, OneShotIsOfferedNotForced) {
  const Network net = lower(load_system("dgx-h100"));
  for (const double bytes : sizes) {
    const auto cost = [&](CollectiveLibrary library) {
      return collective(net, kernels, Collective::all_reduce, {8, 8}, Bytes(bytes), library);
    };
    EXPECT_LE(cost(CollectiveLibrary::one_shot).time, cost(CollectiveLibrary::nccl).time);
  }
  const auto small = collective(net, kernels, Collective::all_reduce, {8, 8}, Bytes(8192),
                                CollectiveLibrary::one_shot);
  EXPECT_EQ(small.algorithm, CollectiveAlgorithm::one_shot);
}

TEST(Collective, NcclChoosesWhatItIsKnownToChoose) {
  const Network h100 = lower(load_system("dgx-h100"));
  const auto reduce = [&](Group g, double bytes) {
    return collective(h100, kernels, Collective::all_reduce, g, Bytes(bytes));
  };
  EXPECT_EQ(reduce({8, 8}, 1e9).algorithm, CollectiveAlgorithm::in_network);
  EXPECT_NEAR(reduce({8, 8}, 1e10).bus.value, 475e9, 25e9);  // nccl-tests#212: 480 GB/s
  EXPECT_EQ(reduce({4, 4}, 1e9).algorithm, CollectiveAlgorithm::ring);
  EXPECT_EQ(reduce({4, 4}, 1e9).protocol, CollectiveProtocol::simple);
  EXPECT_NE(reduce({8, 8}, 1024).protocol, CollectiveProtocol::simple);
  EXPECT_EQ(reduce({512, 8}, 1024).algorithm, CollectiveAlgorithm::tree);
  // Over many nodes the adapters and NVLink carry about as much: 8 x 46 and 360 GB/s.
  const CollectiveCost far = reduce({512, 8}, 1e11);
  EXPECT_LT(far.bus, BytesPerSecond(400e9));
  EXPECT_GT(far.bus, BytesPerSecond(300e9));
}

// The adapters of all ranks of a node work side by side; those of a group with one rank a node do
// not help each other.
TEST(Collective, RailsShareTheTraffic) {
  const Network a100 = lower(load_system("dgx-a100"));
  const auto gather = [&](Group g) {
    return collective(a100, kernels, Collective::all_gather, g, Bytes(1e11));
  };
  EXPECT_EQ(gather({64, 8}).fabric, 1);
  EXPECT_EQ(gather({64, 1}).fabric, 1);
  EXPECT_NEAR(gather({64, 1}).time / gather({64, 8}).time, 8, 0.1);
}

TEST(Collective, RanksAreLaidDensely) {
  const Network net = lower(load_system("dgx-h100"));
  EXPECT_EQ(packed(net, 4).per_node, 4);
  EXPECT_EQ(packed(net, 32).per_node, 8);
}

}  // namespace
}  // namespace sextant
