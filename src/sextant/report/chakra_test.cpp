// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/chakra.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>

#include "sextant/io/node.hpp"
#include "sextant/predict/test_problem.hpp"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// -- a reader of protocol buffers, knowing only their wire format
// ----------------------------------

struct Field {
  unsigned number = 0;
  unsigned wire = 0;
  std::uint64_t value = 0;  ///< of a varint, or eight bytes
  std::string_view bytes;
};

std::uint64_t take_varint(std::string_view& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (in.empty()) throw std::runtime_error("cut short");
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) return value;
  }
  throw std::runtime_error("a varint of more than ten bytes");
}

std::string_view take_bytes(std::string_view& in, std::uint64_t size) {
  if (size > in.size()) throw std::runtime_error("cut short");
  const std::string_view bytes = in.substr(0, size);
  in.remove_prefix(size);
  return bytes;
}

std::vector<Field> fields_of(std::string_view in) {
  std::vector<Field> all;
  while (!in.empty()) {
    const std::uint64_t key = take_varint(in);
    Field f{static_cast<unsigned>(key >> 3U), static_cast<unsigned>(key & 7U), 0, {}};
    if (f.wire == 0) {
      f.value = take_varint(in);
    } else if (f.wire == 1) {
      const std::string_view eight = take_bytes(in, 8);
      for (unsigned i = 0; i < 8; ++i) {
        f.value |= std::uint64_t{static_cast<unsigned char>(eight[i])} << (8 * i);
      }
    } else if (f.wire == 2) {
      f.bytes = take_bytes(in, take_varint(in));
    } else {
      throw std::runtime_error("a wire type that et_def.proto does not need");
    }
    all.push_back(f);
  }
  return all;
}

// -- et_def.proto: numbers and wire types of what is written
// ---------------------------------------

struct Attribute {
  unsigned field = 0;
  double number = 0;
  std::string text;
};

struct ReadNode {
  std::uint64_t id = 0;
  std::string name;
  std::uint64_t type = 0;
  std::vector<std::uint64_t> waits;
  std::uint64_t micros = 0;
  std::map<std::string, Attribute> attributes;
  double nanos() const { return attributes.at("duration_nanos").number; }
};

std::pair<std::string, Attribute> attribute_of(std::string_view bytes) {
  std::string name;
  Attribute a;
  for (const Field& f : fields_of(bytes)) {
    if (f.number == 1) {
      name = f.bytes;
      continue;
    }
    a.field = f.number;
    a.text = f.bytes;
    a.number = f.wire == 1 ? std::bit_cast<double>(f.value) : static_cast<double>(f.value);
  }
  return {name, a};
}

std::vector<ReadNode> read_trace(std::string_view in) {
  const std::vector<Field> metadata = fields_of(take_bytes(in, take_varint(in)));
  EXPECT_EQ(metadata.at(0).number, 1U);
  EXPECT_EQ(metadata.at(0).bytes, "0.0.4");
  std::vector<ReadNode> nodes;
  while (!in.empty()) {
    ReadNode n;
    for (const Field& f : fields_of(take_bytes(in, take_varint(in)))) {
      if (f.number == 1) n.id = f.value;
      if (f.number == 2) n.name = f.bytes;
      if (f.number == 3) n.type = f.value;
      if (f.number == 7) n.micros = f.value;
      if (f.number == 10) n.attributes.insert(attribute_of(f.bytes));
      if (f.number != 5) continue;
      for (std::string_view packed = f.bytes; !packed.empty();) {
        n.waits.push_back(take_varint(packed));
      }
    }
    nodes.push_back(std::move(n));
  }
  return nodes;
}

// -- scenes
// ----------------------------------------------------------------------------------------

struct Scene {
  const char* model;
  const char* runtime;
  int batch;
  Strategy strategy;
};

std::vector<Scene> scenes() {
  return {
      {"megatron-22b",
       "megatron-core",
       8,
       {.tp = 8, .sp = true, .recompute = Recompute::selective}},
      {"megatron-22b", "megatron-core", 16, {.tp = 4, .pp = 4, .dp = 2, .zero = 1}},
      {"megatron-22b",
       "megatron-lm",
       16,
       {.tp = 2, .pp = 4, .interleave = 2, .recompute = Recompute::full}},
      {"megatron-22b", "megatron-core", 8, {.tp = 4, .pp = 4, .schedule = Schedule::zero_bubble}},
      {"megatron-22b",
       "megatron-core",
       8,
       {.tp = 8, .pp = 2, .recompute = Recompute::full, .recompute_layers = 3}},
      {"llama3-8b", "fsdp", 16, {.dp = 16, .zero = 3, .shard = 8}},
      {"mixtral-8x7b", "fsdp", 16, {.dp = 16, .ep = 4, .zero = 3, .shard = 8}},
      {"mixtral-8x7b", "megatron-core", 16, {.tp = 2, .dp = 8, .ep = 4, .zero = 1, .shard = 4}},
      {"mixtral-8x7b", "megatron-core", 16, {.tp = 2, .dp = 8, .ep = 8, .zero = 1, .sp = true}},
      {"llama3-8b", "megatron-core", 8, {.tp = 2, .cp = 4, .sp = true}},
      {"llama3-8b", "megatron-core", 8, {.tp = 8, .precision = Precision::fp8}},
  };
}

// Few layers do: they are alike.
Problem problem_of(const Scene& x) {
  Model model = load_model(x.model);
  model.layers = 8;
  return test::problem_of(load_system("dgx-h100"), load_runtime(x.runtime), model,
                          Training{.batch = x.batch, .seq = 4096});
}

std::string name_of_scene(const Scene& x) {
  const Strategy& s = x.strategy;
  return std::string(x.model) + ", tp " + std::to_string(s.tp) + ", pp " + std::to_string(s.pp) +
         ", dp " + std::to_string(s.dp);
}

struct Sums {
  std::map<double, double> bytes;  ///< by comm_type, brought by a rank
  double compute = 0;              ///< nanoseconds
  double operations = 0;
};

// What explain() has of the slowest stage is what the trace of one of its ranks has.
TEST(Chakra, SumsAreThoseOfTheOperators) {
  for (const Scene& x : scenes()) {
    const Problem p = problem_of(x);
    ASSERT_EQ(legal(p, x.strategy), Verdict::fits) << name_of_scene(x);
    const Explained explained = explain(p, x.strategy);
    Sums said;
    for (const Operator& o : explained.operators) {
      if (o.collective == Collective::count) {
        said.compute += o.count * o.cost.time.value * 1e9;
        said.operations += o.count * o.cost.flops.value;
        continue;
      }
      const bool part = o.collective == Collective::all_gather;
      const double type = part                                         ? 2
                          : o.collective == Collective::all_to_all     ? 6
                          : o.collective == Collective::reduce_scatter ? 7
                                                                       : 0;
      said.bytes[type] += o.count * o.message.value / (part ? o.group.ranks : 1);
    }
    Chakra chakra(p, x.strategy, {});
    const int rank = Ranks(x.strategy).first_of(explained.estimate.slowest_stage);
    Sums read;
    for (const ReadNode& n : read_trace(chakra.trace(rank))) {
      const bool step = n.name.find("optimizer") == 0;
      const bool states = n.name.find("sum gradients") != n.name.npos ||
                          n.name.find("gather parameters") != n.name.npos ||
                          n.name.find("gather what") != n.name.npos;
      if (n.type == 4 && !step && n.attributes.at("is_cpu_op").number == 0) {
        read.compute += n.nanos();
        read.operations += n.attributes.at("num_ops").number;
      }
      if (n.type == 7 && !step && !states) {
        read.bytes[n.attributes.at("comm_type").number] += n.attributes.at("comm_size").number;
      }
    }
    EXPECT_NEAR(read.compute / said.compute, 1, 1e-9) << name_of_scene(x);
    EXPECT_NEAR(read.operations / said.operations, 1, 1e-6) << name_of_scene(x);
    ASSERT_EQ(read.bytes.size(), said.bytes.size()) << name_of_scene(x);
    for (const auto& [type, bytes] : said.bytes) {
      EXPECT_NEAR(read.bytes[type] / bytes, 1, 1e-6) << name_of_scene(x) << ", type " << type;
    }
  }
}

// Whole microseconds sum to the whole time; every file is one that can be run from its first node.
TEST(Chakra, NodesWaitForEarlierOnesAndMicrosecondsAddUp) {
  for (const Scene& x : scenes()) {
    Chakra chakra(problem_of(x), x.strategy, {{"model", x.model}});
    for (const int rank : chakra.representatives()) {
      double nanos = 0;
      double micros = 0;
      std::uint64_t next = 0;
      for (const ReadNode& n : read_trace(chakra.trace(rank))) {
        EXPECT_EQ(n.id, next++);
        for (const std::uint64_t w : n.waits) EXPECT_LT(w, n.id);
        if (n.id > 0) {
          EXPECT_FALSE(n.waits.empty() && n.type == 4) << n.name;
        }
        nanos += n.nanos();
        micros += static_cast<double>(n.micros);
      }
      EXPECT_NEAR(micros * 1e3, nanos, 1e3) << name_of_scene(x);
      EXPECT_EQ(next, chakra.nodes(rank));
    }
  }
}

// All ranks run together: every message that is sent is received, each collective is entered by all
// of its group in one order, and no one waits for ever.
TEST(Chakra, AllRanksTogetherComeToTheirEnds) {
  for (const Scene& x : scenes()) {
    Chakra chakra(problem_of(x), x.strategy, {});
    std::vector<std::vector<ReadNode>> traces;
    for (int rank = 0; rank < chakra.ranks(); ++rank) {
      traces.push_back(read_trace(chakra.trace(rank)));
    }
    const Node groups = parse_json(chakra.groups(), "groups.json").root;
    std::map<std::string, std::vector<std::string>> entered;
    std::map<std::string, std::size_t> sizes;
    std::set<std::tuple<double, double, double>> sent;
    std::set<std::tuple<double, double, double>> received;
    for (std::size_t rank = 0; rank < traces.size(); ++rank) {
      std::map<std::string, std::string> order;
      for (const ReadNode& n : traces[rank]) {
        if (n.type == 5 || n.type == 6) {
          const std::tuple message{n.attributes.at("comm_src").number,
                                   n.attributes.at("comm_dst").number,
                                   n.attributes.at("comm_tag").number};
          EXPECT_TRUE((n.type == 5 ? sent : received).insert(message).second);
          EXPECT_EQ(n.type == 5 ? std::get<0>(message) : std::get<1>(message),
                    static_cast<double>(rank));
        }
        if (n.type == 7) {
          order[n.attributes.at("pg_name").text] +=
              std::to_string(n.attributes.at("comm_size").number) + ' ';
        }
      }
      for (auto& [group, sizes_in_order] : order) entered[group].push_back(sizes_in_order);
    }
    EXPECT_EQ(sent, received) << name_of_scene(x);
    EXPECT_EQ(sent.empty(), x.strategy.pp == 1);
    for (const auto& [group, orders] : entered) {
      const Node* members = groups.find(group);
      ASSERT_NE(members, nullptr) << group;
      EXPECT_EQ(orders.size(), members->items.size()) << name_of_scene(x) << ", group " << group;
      for (const std::string& one : orders) EXPECT_EQ(one, orders.front()) << name_of_scene(x);
    }
    // Each pass runs what it can: a transfer needs its sender, the rest its own order.
    std::vector<std::size_t> at(traces.size(), 0);
    std::set<std::tuple<double, double, double>> arrived;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < traces.size(); ++rank) {
        for (; at[rank] < traces[rank].size(); ++at[rank], moved = true) {
          const ReadNode& n = traces[rank][at[rank]];
          if (n.type != 5 && n.type != 6) continue;
          const std::tuple message{n.attributes.at("comm_src").number,
                                   n.attributes.at("comm_dst").number,
                                   n.attributes.at("comm_tag").number};
          if (n.type == 5) arrived.insert(message);
          if (n.type == 6 && !arrived.contains(message)) break;
        }
      }
    }
    for (std::size_t rank = 0; rank < traces.size(); ++rank) {
      EXPECT_EQ(at[rank], traces[rank].size()) << name_of_scene(x) << ", rank " << rank;
    }
  }
}

TEST(Chakra, GroupsHaveTheSizesOfTheStrategy) {
  const Strategy s{.tp = 2, .pp = 2, .dp = 8, .cp = 2, .ep = 8, .zero = 3, .shard = 4};
  const Ranks ranks(s);
  EXPECT_EQ(ranks.count(), 64);
  EXPECT_THAT(ranks.members(Members::tensor, 5), ElementsAre(4, 5));
  EXPECT_THAT(ranks.members(Members::context, 5), ElementsAre(5, 7));
  EXPECT_THAT(ranks.members(Members::expert, 5), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(ranks.members(Members::expert_data, 5), ElementsAre(5, 13, 21, 29));
  EXPECT_THAT(ranks.members(Members::data, 40).size(), 16);
  EXPECT_THAT(ranks.members(Members::shard, 5), ElementsAre(1, 3, 5, 7, 9, 11, 13, 15));
  EXPECT_THAT(ranks.members(Members::across, 5), ElementsAre(5, 21));
  EXPECT_THAT(ranks.members(Members::expert_shard, 5), ElementsAre(5, 13));
  EXPECT_THAT(ranks.members(Members::expert_across, 5), ElementsAre(5, 21));
  EXPECT_THAT(ranks.members(Members::ends, 5), ElementsAre(5, 37));
  Strategy inside = s;
  inside.order = Order::tp_cp_ep_pp_dp;
  const Ranks other(inside);
  EXPECT_EQ(other.peer(1, 1), 5);
  EXPECT_THAT(other.members(Members::ends, 9), ElementsAre(9, 13));
  for (int rank = 0; rank < 64; ++rank) {
    EXPECT_EQ(other.peer(rank, other.stage_of(rank)), rank);
    EXPECT_EQ(ranks.peer(rank, ranks.stage_of(rank)), rank);
  }
}

// Eight devices of a node through a switch, 16 nodes above; a mesh's links one by one; a torus'
// sides as rings.
TEST(Chakra, NetworksAreThoseOfTheSystem) {
  const std::string dgx = astra_network(lower(load_system("dgx-h100")), 128);
  EXPECT_THAT(dgx, HasSubstr("topology: [ Switch, Switch ]\nnpus_count: [ 8, 16 ]\n"));
  // 450 GB/s of NVLink 4 and 50 GB/s of NDR, times their efficiencies, in GiB.
  EXPECT_THAT(dgx, HasSubstr("bandwidth: [ "));
  EXPECT_THAT(astra_network(lower(load_system("dgx-h100")), 12),
              HasSubstr("npus_count: [ 6, 2 ]\n"));
  EXPECT_THAT(astra_network(lower(load_system("mi300x-node")), 8),
              HasSubstr("topology: [ FullyConnected ]\nnpus_count: [ 8 ]\n"));
  EXPECT_THAT(astra_network(lower(load_system("tpu-v5p-node")), 64),
              HasSubstr("topology: [ Ring, Ring, Ring ]\nnpus_count: [ 4, 4, 4 ]\n"));
  EXPECT_EQ(astra_network(lower(load_system("dgx-h100")), 1), "");
}

}  // namespace
}  // namespace sextant
