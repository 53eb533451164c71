// SPDX-License-Identifier: Apache-2.0
// What a device is made of: logic nodes, memory parts, links and cores. Logic, SRAM and analogue
// blocks scale each on their own, relative to N7.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sextant/spec/describe.hpp"
#include "sextant/spec/problems.hpp"
#include "sextant/spec/range.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

/// How far a number of a technology can be trusted.
enum class Confidence : std::uint8_t { guess, low, medium, high };
constexpr auto names_of(Confidence) {
  return std::array<std::string_view, 4>{"guess", "low", "medium", "high"};
}

/// A logic process. All ratios are over TSMC N7.
struct LogicNode {
  std::string name;
  std::string process;
  int year = 2018;
  double logic = 1;   ///< density of standard cells as chips realise it
  double sram = 1;    ///< density of SRAM macros
  double analog = 1;  ///< density of PHYs and other analogue blocks
  double power = 1;   ///< at the same speed
  double speed = 1;   ///< at the same power
  Dollars wafer{10000};
  SquareMeters defect_area{1e-3};  ///< area with one defect on average
  Confidence confidence = Confidence::medium;
  Ranges ranges = {};  ///< of the numbers above that nobody knows exactly
};
template <class V>
void describe(V& v, LogicNode& n) {
  v("name", n.name, {.help = "preset name", .inert = "a name"});
  v("process", n.process, {.help = "for people", .inert = "for people"});
  v("year", n.year, {.help = "of the first large chips", .min = 1990, .max = 2100});
  v("logic", n.logic,
    {.help = "density of logic over N7", .required = true, .min = 0.01, .max = 100});
  v("sram", n.sram, {.help = "density of SRAM over N7", .required = true, .min = 0.01, .max = 100});
  v("analog", n.analog, {.help = "density of PHYs over N7", .min = 0.01, .max = 100});
  v("power", n.power,
    {.help = "power at the same speed over N7", .required = true, .min = 0.001, .max = 100});
  v("speed", n.speed,
    {.help = "speed at the same power over N7", .required = true, .min = 0.01, .max = 100});
  v("wafer", n.wafer, {.help = "price of a 300 mm wafer", .min = above_zero});
  v("defect_area", n.defect_area, {.help = "area with one defect on average", .min = above_zero});
  v("confidence", n.confidence, {.help = "guess, low, medium or high"});
}

/// One part of device memory: a stack of HBM, a chip or a channel of the others.
struct MemoryPart {
  std::string name;
  std::string kind;  ///< "HBM3", for people
  int year = 2020;
  BytesPerSecond bandwidth;  ///< as devices run it
  BytesPerSecond standard;   ///< as its standard or maker rates it; zero: the same
  Bytes capacity;
  JoulesPerByte energy;     ///< of the part and its PHY
  SquareMeters phy;         ///< on the device's die; does not shrink
  SquareMeters controller;  ///< at N7; shrinks as logic
  Meters edge;              ///< of the die that it takes
  double sides = 2;         ///< of a die on which parts can stand
  double efficiency = 0.86;
  Watts standby;
  Dollars cost;
  Seconds latency;         ///< of a cold read, as a second memory
  bool read_only = false;  ///< not to be written in a step: flash
  Confidence confidence = Confidence::medium;
  Ranges ranges = {};  ///< of the numbers above that nobody knows exactly
};
template <class V>
void describe(V& v, MemoryPart& m) {
  v("name", m.name, {.help = "preset name", .inert = "a name"});
  v("kind", m.kind, {.help = "for people", .inert = "for people"});
  v("year", m.year, {.help = "of the first devices with it", .min = 1990, .max = 2100});
  v("bandwidth", m.bandwidth,
    {.help = "of one part, as devices run it", .required = true, .min = above_zero});
  v("standard", m.standard, {.help = "of one part, as its standard rates it; 0: the same"});
  v("capacity", m.capacity, {.help = "of one part", .required = true, .min = above_zero});
  v("energy", m.energy, {.help = "of a byte, the PHY included", .required = true});
  v("phy", m.phy, {.help = "PHY on the die; does not shrink", .required = true});
  v("controller", m.controller, {.help = "controller at N7; shrinks as logic", .required = true});
  v("edge", m.edge, {.help = "die edge that a part takes", .required = true, .min = above_zero});
  v("sides", m.sides, {.help = "sides of a die on which parts can stand", .min = 0.5, .max = 4});
  v("efficiency", m.efficiency,
    {.help = "share of the rate that a long stream reaches", .min = 0.05, .max = 1});
  v("standby", m.standby, {.help = "draw of a part with nothing to do"});
  v("cost", m.cost, {.help = "of one part"});
  v("latency", m.latency, {.help = "of a cold read, as a second memory", .max = 1});
  v("read_only", m.read_only, {.help = "holds weights alone: flash, as a second memory"});
  v("confidence", m.confidence, {.help = "guess, low, medium or high"});
}

/// What a link joins.
enum class LinkReach : std::uint8_t { package, node, cluster };
constexpr auto names_of(LinkReach) {
  return std::array<std::string_view, 3>{"package", "node", "cluster"};
}

/// One link between dies, devices or nodes; rates in one direction.
struct LinkPart {
  std::string name;
  std::string title;  ///< for people
  LinkReach reach = LinkReach::node;
  int year = 2020;
  BytesPerSecond bandwidth;
  SquareMeters phy;
  SquareMeters controller;  ///< at N7; shrinks as logic
  Meters edge;
  JoulesPerByte energy;  ///< end to end
  Seconds latency{1e-6};
  double efficiency = 0.8;
  bool reduces_in_network = false;
  int devices = 0;  ///< that it can join; 0: any number
  Confidence confidence = Confidence::medium;
  Ranges ranges = {};  ///< of the numbers above that nobody knows exactly
};
template <class V>
void describe(V& v, LinkPart& l) {
  v("name", l.name, {.help = "preset name", .inert = "a name"});
  v("title", l.title, {.help = "for people", .inert = "for people"});
  v("reach", l.reach, {.help = "package, node or cluster"});
  v("year", l.year, {.help = "of the first devices with it", .min = 1990, .max = 2100});
  v("bandwidth", l.bandwidth,
    {.help = "of one link, one direction", .required = true, .min = above_zero});
  v("phy", l.phy, {.help = "PHY on the die; does not shrink"});
  v("controller", l.controller, {.help = "controller at N7; shrinks as logic"});
  v("edge", l.edge, {.help = "die edge that a link takes"});
  v("energy", l.energy, {.help = "of a byte, end to end"});
  v("latency", l.latency, {.help = "one hop, device to device", .max = 1});
  v("efficiency", l.efficiency, {.help = "payload share of the rate", .min = 0.01, .max = 1});
  v("reduces_in_network", l.reduces_in_network, {.help = "switches add for us"});
  v("devices", l.devices, {.help = "that it can join; 0: any number", .max = 1e7});
  v("confidence", l.confidence, {.help = "guess, low, medium or high"});
}

/// A core (SM) as a template: what one does a clock, and what it takes at N7.
struct CoreTemplate {
  std::string name;
  std::string node;               ///< preset of the node whose clock and energy are given
  Flops matrix_per_clock;         ///< 16-bit
  Flops vector_per_clock;         ///< fp32
  double special_per_clock = 16;  ///< exponentials
  double fp8 = 0;                 ///< 8-bit rate over the 16-bit one; 0: none
  double fp4 = 0;                 ///< 4-bit rate over the 16-bit one; 0: none
  bool asynchronous = true;
  SquareMeters area;       ///< at N7
  SquareMeters crossbar;   ///< at N7, the core's share
  double transistors = 0;  ///< of both; 0: as dense as A100's
  Bytes l2_per_clock;      ///< of the core
  double l2_kept = 1;      ///< share of the cache on the die that is sold
  double kept = 1;         ///< share of the cores on the die that is sold
  Hertz clock;             ///< rated, at `node`
  double boost = 1;        ///< highest clock over the rated one
  JoulesPerFlop energy;    ///< of a 16-bit FLOP at `clock` and `node`
  double headroom = 1.25;  ///< what a full load at the rated clock asks for, over the limit
  Bytes shared_capacity{228 * 1024.0};
  Bytes shared_per_clock{128};
  Confidence confidence = Confidence::medium;
  Ranges ranges = {};  ///< of the numbers above that nobody knows exactly
};
template <class V>
void describe(V& v, CoreTemplate& c) {
  v("name", c.name, {.help = "preset name", .inert = "a name"});
  v("node", c.node, {.help = "node of clock and energy", .required = true});
  v("matrix_per_clock", c.matrix_per_clock,
    {.help = "16-bit FLOPs a clock", .required = true, .min = 1, .max = 1e6});
  v("vector_per_clock", c.vector_per_clock,
    {.help = "fp32 FLOPs a clock", .required = true, .min = 1, .max = 1e6});
  v("special_per_clock", c.special_per_clock,
    {.help = "exponentials a clock", .min = 0.01, .max = 1e5});
  v("fp8", c.fp8, {.help = "8-bit rate over the 16-bit one; 0: none", .max = 64});
  v("fp4", c.fp4, {.help = "4-bit rate over the 16-bit one; 0: none", .max = 64});
  v("asynchronous", c.asynchronous, {.help = "matrix units run beside the threads"});
  v("area", c.area, {.help = "at N7", .required = true, .min = above_zero});
  v("crossbar", c.crossbar, {.help = "its share of the crossbar, at N7"});
  v("transistors", c.transistors,
    {.help = "of a core with its share of the crossbar; 0: as dense as A100's", .max = 1e12});
  v("l2_per_clock", c.l2_per_clock,
    {.help = "bytes a clock from the cache", .required = true, .min = 1, .max = 1e6});
  v("l2_kept", c.l2_kept, {.help = "share of the cache that is sold", .min = 0.1, .max = 1});
  v("kept", c.kept, {.help = "share of the cores that is sold", .min = 0.1, .max = 1});
  v("clock", c.clock, {.help = "rated, at its node", .required = true, .min = 1e6, .max = 1e12});
  v("boost", c.boost, {.help = "highest clock over the rated one", .min = 1, .max = 10});
  v("energy", c.energy,
    {.help = "of a 16-bit FLOP at clock and node", .required = true, .min = above_zero});
  v("headroom", c.headroom,
    {.help = "draw of a full matrix load at the rated clock over the limit it is sold with",
     .min = 0.1,
     .max = 10});
  v("shared_capacity", c.shared_capacity, {.help = "shared memory", .min = 1024, .max = 1e12});
  v("shared_per_clock", c.shared_per_clock, {.help = "its bytes a clock", .min = 1, .max = 1e9});
  v("confidence", c.confidence, {.help = "guess, low, medium or high"});
}

/// Contradictions, by field.
inline std::vector<Diagnostic> check(const CoreTemplate& c) {
  Problems p;
  for (const auto& [field, rate] : {std::pair{"fp8", c.fp8}, std::pair{"fp4", c.fp4}}) {
    p.require(rate == 0 || rate >= 0.1, field, "must be 0, for none, or at least 0.1");
  }
  return p.take();
}

}  // namespace sextant
