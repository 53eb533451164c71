// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/chakra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace sextant {
namespace {

using Kind = Instruction::Kind;

// -- the wire format of protocol buffers ----------------------------------------------------------

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<char>(value | 0x80U));
  out.push_back(static_cast<char>(value));
}

enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2 };

void put_key(std::string& out, unsigned field, Wire wire) {
  put_varint(out, (field << 3U) | static_cast<unsigned>(wire));
}
void put(std::string& out, unsigned field, std::uint64_t value) {
  put_key(out, field, Wire::varint);
  put_varint(out, value);
}
void put(std::string& out, unsigned field, double value) {
  put_key(out, field, Wire::fixed64);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned i = 0; i < 8; ++i) out.push_back(static_cast<char>(bits >> (8 * i)));
}
void put(std::string& out, unsigned field, std::string_view bytes) {
  put_key(out, field, Wire::bytes);
  put_varint(out, bytes.size());
  out += bytes;
}

// -- et_def.proto ---------------------------------------------------------------------------------

/// Fields of AttributeProto's value.
enum class Value : std::uint8_t {
  real = 3,
  int32 = 7,
  int64 = 9,
  uint64 = 13,
  boolean = 27,
  text = 29
};

/// One attribute of a Node (field 10) or of GlobalMetadata (2).
template <class T>
void put_attribute(std::string& out, unsigned field, std::string_view name, Value kind,
                   const T& value) {
  std::string a;
  put(a, 1, name);
  put(a, static_cast<unsigned>(kind), value);
  put(out, field, a);
}
void put_attribute(std::string& out, std::string_view name, Value kind, double value) {
  put_attribute(out, 10, name, kind,
                static_cast<std::uint64_t>(std::llround(std::max(0.0, value))));
}

unsigned node_type(Kind kind) {
  switch (kind) {
    case Kind::send:
      return 5;
    case Kind::receive:
      return 6;
    case Kind::collective:
      return 7;
    case Kind::compute:
    case Kind::wait:
      break;
  }
  return 4;
}

/// CollectiveCommType.
double collective_type(Collective c) {
  switch (c) {
    case Collective::all_gather:
      return 2;
    case Collective::all_to_all:
      return 6;
    case Collective::reduce_scatter:
      return 7;
    default:
      return 0;
  }
}

std::string name_of_node(const Instruction& n) {
  std::string name(name_of(n.activity));
  if (n.microbatch >= 0) name += fmt::format(" {}", n.microbatch);
  if (n.layer >= 0) name += fmt::format(", layer {}", n.layer);
  if (!n.part.empty()) name += fmt::format(", {}", n.part);
  return n.name == name ? name : fmt::format("{}: {}", name, n.name);
}

/// A message after its length.
void put_delimited(std::string& out, const std::string& message) {
  put_varint(out, message.size());
  out += message;
}

// -- the network ----------------------------------------------------------------------------------

struct Side {
  const char* topology;
  int devices;
  BytesPerSecond rate;  ///< of one link
  Seconds latency;      ///< of one link
};

/// What one level is made of. A fabric's rate is that of all links of a device together; through a
/// switch the simulator counts two links on the way.
void add_level(const NetworkLevel& level, int members, std::vector<Side>& to) {
  switch (level.topology) {
    case Topology::mesh:
      to.push_back({"FullyConnected", members, level.rate / (level.ports - 1), level.latency});
      return;
    case Topology::ring:
      to.push_back({"Ring", members, level.rate / 2, level.latency});
      return;
    case Topology::torus:
      for (const double side : torus_block(members, level.dimensions)) {
        if (side <= 1) continue;
        to.push_back(
            {"Ring", static_cast<int>(side), level.rate / (2 * level.dimensions), level.latency});
      }
      return;
    default:
      to.push_back({"Switch", members, level.rate, level.latency / 2});
  }
}

/// The largest divisor of `n` up to `most`.
int divisor_below(int n, double most) {
  int d = static_cast<int>(std::min<double>(n, std::max(1.0, most)));
  while (n % d != 0) --d;
  return d;
}

template <class Say>
std::string yaml_list(const std::vector<Side>& all, const Say& say) {
  std::string text;
  for (const Side& d : all) text += (text.empty() ? "" : ", ") + say(d);
  return text;
}

}  // namespace

Chakra::Chakra(const Problem& problem, const Strategy& strategy,
               std::vector<std::pair<std::string, std::string>> facts)
    : strategy_(strategy),
      facts_(std::move(facts)),
      step_(program_of(problem, strategy)),
      ranks_(strategy) {}

std::vector<int> Chakra::representatives() const {
  std::vector<int> all;
  for (int stage = 0; stage < strategy_.pp; ++stage) all.push_back(ranks_.first_of(stage));
  return all;
}

std::size_t Chakra::nodes(int rank) const {
  return step_.stages[static_cast<std::size_t>(ranks_.stage_of(rank))].instructions.size();
}

// Named from 1: a group "0" means all ranks.
Chakra::Named Chakra::group(Members kind, int rank) {
  const auto [at, unknown] = known_.try_emplace({kind, rank});
  if (unknown) {
    const int next = static_cast<int>(groups_.size()) + 1;
    const auto found = groups_.try_emplace(ranks_.members(kind, rank), next).first;
    at->second = {found->second, static_cast<double>(found->first.size())};
  }
  return at->second;
}

void Chakra::node(std::string& out, const Program& program, std::size_t index, int rank,
                  std::uint64_t micros) {
  const Instruction& n = program.instructions[index];
  std::string m;
  put(m, 1, std::uint64_t{index});
  put(m, 2, name_of_node(n));
  put(m, 3, std::uint64_t{node_type(n.kind)});
  std::string waits;
  for (std::uint32_t i = 0; i < n.waits; ++i) put_varint(waits, program.waits[n.first_wait + i]);
  if (!waits.empty()) put(m, 5, waits);  // packed, as proto3 has repeated numbers
  put(m, 6, static_cast<std::uint64_t>(std::llround(n.start.value * 1e6)));
  put(m, 7, micros);
  // Only what the host does is replayed as it is by whoever has a roofline of its own.
  put_attribute(m, "is_cpu_op", Value::boolean, n.kind == Kind::wait ? 1 : 0);
  put_attribute(m, 10, "duration_nanos", Value::real, n.length.value * 1e9);
  switch (n.kind) {
    case Kind::compute:
      // A kernel without arithmetic takes no time on ASTRA-sim's roofline, one operation does.
      put_attribute(m, "num_ops", Value::int64, std::max(1.0, n.flops.value));
      put_attribute(m, "tensor_size", Value::uint64, n.memory.value);
      break;
    case Kind::wait:
      break;
    case Kind::collective: {
      // The schema's sizes are what a rank brings: of an all-gather its own part.
      const Named named = group(n.members, rank);
      const bool part = n.collective == Collective::all_gather;
      put_attribute(m, "comm_type", Value::int64, collective_type(n.collective));
      put_attribute(m, "comm_size", Value::int64, n.message.value / (part ? named.ranks : 1));
      put_attribute(m, 10, "pg_name", Value::text, std::string_view(std::to_string(named.name)));
      break;
    }
    case Kind::send:
    case Kind::receive: {
      const int peer = ranks_.peer(rank, n.peer);
      const bool sends = n.kind == Kind::send;
      put_attribute(m, "comm_size", Value::int64, n.message.value);
      put_attribute(m, "comm_src", Value::int32, sends ? rank : peer);
      put_attribute(m, "comm_dst", Value::int32, sends ? peer : rank);
      put_attribute(m, "comm_tag", Value::int32, n.tag);
      break;
    }
  }
  put_delimited(out, m);
}

std::string Chakra::trace(int rank) {
  const Program& program = step_.stages[static_cast<std::size_t>(ranks_.stage_of(rank))];
  std::string metadata;
  put(metadata, 1, std::string_view("0.0.4"));
  for (const auto& [name, value] : facts_) {
    put_attribute(metadata, 2, name, Value::text, std::string_view(value));
  }
  put_attribute(metadata, 2, "rank", Value::int64, static_cast<std::uint64_t>(rank));
  std::string out;
  put_delimited(out, metadata);
  // Whole microseconds are dealt so that their sum is right, however short each kernel is.
  double sum = 0;
  double dealt = 0;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    sum += program.instructions[i].length.value * 1e6;
    const double micros = std::max(0.0, std::round(sum) - dealt);
    dealt += micros;
    node(out, program, i, rank, static_cast<std::uint64_t>(micros));
  }
  return out;
}

std::string Chakra::groups() const {
  std::vector<const std::vector<int>*> by_name(groups_.size());
  for (const auto& [members, name] : groups_)
    by_name[static_cast<std::size_t>(name - 1)] = &members;
  std::string text = "{";
  for (std::size_t i = 0; i < by_name.size(); ++i) {
    text +=
        fmt::format("{}\n  \"{}\": [{}]", i > 0 ? "," : "", i + 1, fmt::join(*by_name[i], ", "));
  }
  return text + "\n}\n";
}

std::string astra_network(const Network& network, int devices) {
  std::vector<Side> all;
  int below = 1;
  for (int i = 0; i < network.count && below < devices; ++i) {
    const NetworkLevel& level = network.levels[static_cast<std::size_t>(i)];
    const bool last = i + 1 == network.count;
    const int members =
        last ? devices / below : divisor_below(devices / below, level.reach / below);
    if (members > 1) add_level(level, members, all);
    below *= members;
  }
  if (all.empty()) return "";
  // Its GB are 2^30 bytes (astra-network-analytical, NetworkFunction.cpp: bw_GBps_to_Bpns).
  const auto rate = [](const Side& d) {
    return fmt::format("{:.6g}", d.rate.value / 1073741824.0);
  };
  return fmt::format(
      "# Innermost first; bandwidth of a link in GiB/s (payload), latency in ns.\n"
      "topology: [ {} ]\nnpus_count: [ {} ]\nbandwidth: [ {} ]\nlatency: [ {} ]\n",
      yaml_list(all, [](const Side& d) { return std::string(d.topology); }),
      yaml_list(all, [](const Side& d) { return std::to_string(d.devices); }), yaml_list(all, rate),
      yaml_list(all, [](const Side& d) { return fmt::format("{:.6g}", d.latency.value * 1e9); }));
}

}  // namespace sextant
