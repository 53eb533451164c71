// SPDX-License-Identifier: Apache-2.0
// A device from technology and budgets: how many cores the area holds, what clock the power allows,
// what the die's edge lets in and out, and where each square millimetre and each watt goes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/spec/diagnostic.hpp"
#include "sextant/spec/system.hpp"
#include "sextant/spec/technology.hpp"

namespace sextant {

/// What a die beside those with cores is for: a base and an IO die carry PHYs, control and a
/// memory-side cache, a cache die nothing but cache.
enum class DieRole : std::uint8_t { base, io, cache };
constexpr auto names_of(DieRole) { return std::array<std::string_view, 3>{"base", "io", "cache"}; }
/// How dies are joined: side by side on an interposer, or face to face.
enum class Bonding : std::uint8_t { interposer, hybrid };
constexpr auto names_of(Bonding) { return std::array<std::string_view, 2>{"interposer", "hybrid"}; }
struct Chiplet {
  LogicNode node;
  DieRole role = DieRole::base;
  SquareMeters area;  ///< of one
  int count = 1;
  Bonding bond = Bonding::hybrid;  ///< to the dies with cores
};

/// What a device is made of.
struct Technology {
  LogicNode node;
  MemoryPart memory;
  LinkPart link;
  LinkPart bridge;  ///< between dies side by side; of several only
  CoreTemplate core;
  LogicNode core_node;                 ///< whose clock and energy the core gives
  LinkPart bond = {};                  ///< from a die with cores to those below; of chiplets only
  std::vector<Chiplet> chiplets = {};  ///< dies without cores
  MemoryPart tier = {};                ///< of the second memory; of Budget::tier_parts only
};

/// The largest field that a scanner exposes: 26 mm x 33 mm.
inline constexpr SquareMeters reticle{858e-6};

/// What an architect may spend. Zeros are derived.
struct Budget {
  SquareMeters area{814e-6};  ///< of one die with cores
  int dies = 1;               ///< with cores
  Watts power;                ///< board limit; 0: what a full load at the rated clock needs
  int stacks = 0;             ///< parts of memory; 0: as many as the edge holds beside the rest
  int spare_stacks = 0;       ///< places for parts that stay empty, for yield (A100, H100: 1)
  int tier_parts = 0;         ///< parts of a second memory
  int links = 18;
  Bytes l2;         ///< as sold; 0: 14.5 % of the area, as A100 and H100
  Hertz clock;      ///< not above this; 0: what the node and the power allow
  double kept = 0;  ///< share of the cores that is sold; 0: the template's
};
template <class V>
void describe(V& v, Budget& b) {
  v("area", b.area, {.help = "of one die", .min = above_zero});
  v("dies", b.dies, {.help = "of the package", .min = 1, .max = 16});
  v("power", b.power, {.help = "board limit", .min = above_zero});
  v("stacks", b.stacks, {.help = "parts of memory", .max = 1000});
  v("spare_stacks", b.spare_stacks, {.help = "places for memory left empty", .max = 1000});
  v("tier_parts", b.tier_parts, {.help = "parts of a second memory", .max = 1000});
  v("links", b.links, {.help = "between devices", .max = 10000});
  v("l2", b.l2, {.help = "last-level cache as sold", .min = above_zero});
  v("clock", b.clock, {.help = "not above this", .min = above_zero});
}

/// What keeps a device from being faster: its node's clock, the power of arithmetic, or a clock
/// that was asked for.
enum class Binding : std::uint8_t { node, power, chosen };
constexpr auto names_of(Binding) {
  return std::array<std::string_view, 3>{"node", "power", "chosen"};
}

enum class AreaUse : std::uint8_t {
  cores,
  crossbar,
  l2,
  memory,
  links,
  bridges,
  rest,
  unused,
  count
};
constexpr auto names_of(AreaUse) {
  return std::array<std::string_view, 8>{"cores", "crossbar", "l2",   "memory",
                                         "links", "bridges",  "rest", "unused"};
}
enum class PowerUse : std::uint8_t { matrix, memory, die, standby, links, board, unused, count };
constexpr auto names_of(PowerUse) {
  return std::array<std::string_view, 7>{"matrix", "memory", "die",   "standby",
                                         "links",  "board",  "unused"};
}
/// For people.
std::string_view meaning_of(AreaUse use);
std::string_view meaning_of(PowerUse use);

/// A device with its reasons.
struct Blueprint {
  Device device;
  int stacks = 0;
  int links = 0;
  int cores_on_die = 0;               ///< of all dies, before some are given up for yield
  SquareMeters core_area;             ///< of one, without its share of the crossbar
  Table<SquareMeters, AreaUse> area;  ///< sums to all dies
  Table<Watts, PowerUse> power;       ///< of a large multiply that goes on; sums to the limit
  FlopsPerSecond sustained;           ///< of that multiply, 16 bits
  Hertz sustained_clock;
  Hertz design_clock;   ///< what the node allows, power aside
  Watts natural_power;  ///< limit under which the design clock would be sold
  Binding binds = Binding::node;
  Watts asked;  ///< by a large multiply that goes on at the rated clock, whatever the limit
  // Memory read from end to end, without end.
  Watts streaming;               ///< what it draws; never above the limit
  Hertz streaming_clock;         ///< that the limit leaves it
  BytesPerSecond streamed;       ///< and the rate
  BytesPerSecond memory_offers;  ///< of all parts; the device's is less where power allows less
  BytesPerSecond l2_rate;        ///< of the cache, at the streaming clock
  Meters edge_used;
  Meters edge_usable;
  BytesPerSecond link_bandwidth;  ///< all links, one direction
  double yield = 0;               ///< of a die, some cores given up
  Dollars die_cost;               ///< all dies, tested
  Dollars memory_cost;
  Dollars package_cost;  ///< interposer or bonds, assembly, and what fails in it
  Dollars board_cost;    ///< substrate, power stages, cooling, final test
  double package_yield = 0;
  Dollars cost() const { return die_cost + memory_cost + package_cost + board_cost; }
};

/// What is odd about a device that can be built: memory faster than the cache it crosses, or than
/// the power limit feeds.
std::vector<std::string> warnings_of(const Blueprint& blueprint);

/// The same device with other cores enabled: rates follow, watts and area stay.
Blueprint with_cores(const Blueprint& blueprint, int cores);

/// Parts of memory that the sides of the dies hold at most.
int most_parts(const Technology& technology, const Budget& budget);

/// What is impossible: which constraint, and by how much. Empty where nothing is.
std::vector<Diagnostic> check(const Technology& technology, const Budget& budget);

/// Throws InputError with all of check().
Blueprint generate(const Technology& technology, const Budget& budget);

/// The same without exceptions, for searches.
std::optional<Blueprint> try_generate(const Technology& technology, const Budget& budget);

/// Devices in nodes of eight on their links, and a network between nodes.
struct Surroundings {
  LinkPart network;
  double ports = 1;  ///< of the network, a device
  int devices_per_node = 8;
  int max_devices = 32768;
};
System system_of(const Blueprint& blueprint, const Technology& technology,
                 const Surroundings& around);

}  // namespace sextant
