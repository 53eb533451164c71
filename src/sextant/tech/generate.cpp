// SPDX-License-Identifier: Apache-2.0
// The generator. Block areas are those of A100 at N7 (die annotation in LLMCompass, ISCA 2024,
// artefact figure 6) with logic, SRAM and analogue parts scaled apart; H100 closes with them to
// 814 mm2.
#include "sextant/tech/generate.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/cost/power.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

constexpr double mm2 = 1e-6;

// A core by area at N7: 70 % logic, 25 % SRAM and 5 % analogue at N5, taken back to N7.
constexpr double core_logic = 0.733;
constexpr double core_sram = 0.232;
constexpr double core_analog = 0.035;
// A100: 119.3 mm2 for 48 MiB.
constexpr SquareMeters l2_per_mebibyte{2.49 * mm2};
// A100 and H100 spend 14.5 % of their die on the last-level cache.
constexpr double usual_l2_share = 0.145;
// PCIe and the like, which do not shrink; copy engines, decoders, control, which do. A100: 40 mm2.
constexpr SquareMeters fixed_rest{10 * mm2};
constexpr SquareMeters scaled_rest{30 * mm2};
// Share of a die's outline that PHYs can use; corners and power take the rest.
constexpr double usable_outline = 0.75;
// Dies that touch lose a part of the sides where memory stands: two have 8 stacks, not 12.
constexpr double sides_left_by_bridges = 0.65;
// Designs turn 60 % of a node's gain in speed into clock: V100, H100, B200 (assumed beyond).
constexpr double banked_speed = 0.6;
// Board energy of a FLOP follows the node's power claim with this exponent: 12 to 7 nm 2.1 x of
// 2.7 x claimed, 7 nm to 4N 1.46 x of 1.65 x.
constexpr double realised_power = 0.85;
// How much more than its limit a board asks for under a full load at the busy clock. By the law of
// cost/power.hpp A100 asks for 0.97, H200 1.34, GB200 1.50: they differ, and this is about their
// mean. With 1.2 GB200's peak within its limit comes out 15.2 % low.
constexpr double headroom = 1.25;
// Bytes of device memory a FLOP of a large multiply: 1.35 GB for 8192 cubed on H200.
constexpr double bytes_per_flop = 1.35e9 / 1.1e12;
// H200: 103 pJ a byte on the board, of which HBM3E takes 32; the way to the cores takes the rest,
// mostly wires, which gain little from a node.
constexpr JoulesPerByte way_to_cores{71e-12};
constexpr double wire_exponent = 0.25;
// H200 idles with 125 W at full clock: assumed 65 W of the die's clock tree and leakage, 36 W of
// memory, 14 W of links, 10 W of the board.
constexpr double die_watts_per_m2 = 0.08 / mm2;
constexpr double links_awake = 0.2;
constexpr Watts board{10};
// Below this share of the design clock the voltage is at its least, and slowing down saves no
// energy a FLOP.
constexpr double least_clock = 0.35;
// Cold plates carry off about 2 W/mm2 (air 1.0), assumed.
constexpr double coolable_watts_per_m2 = 2.0 / mm2;

double core_scale(const LogicNode& n) {
  return core_logic / n.logic + core_sram / n.sram + core_analog / n.analog;
}

/// What the budget fixes before any core is placed.
struct Plan {
  const Technology& t;
  const Budget& b;
  int stacks = 0;
  int places = 0;  ///< for stacks, empty ones included
  int most_places = 0;
  int bridges = 0;  ///< ends on all dies
  Bytes l2;
  SquareMeters whole;
  Table<SquareMeters, AreaUse> area;
  SquareMeters core;      ///< one
  SquareMeters crossbar;  ///< one core's share
  Meters edge_used;
  Meters edge_usable;
};

int most_stacks(const Technology& t, const Budget& b) {
  const double side = std::sqrt(b.area.value) * (b.dies > 1 ? sides_left_by_bridges : 1);
  return b.dies * static_cast<int>(std::floor(t.memory.sides * side / t.memory.edge.value));
}

// Two dies share one seam of two bridges; more stand in a ring.
int bridge_ends(int dies) { return dies < 2 ? 0 : 4 * (dies == 2 ? 1 : dies); }

Plan plan_of(const Technology& t, const Budget& b) {
  Plan p{.t = t, .b = b};
  const LogicNode& n = t.node;
  p.whole = b.dies * b.area;
  p.most_places = most_stacks(t, b);
  p.stacks = b.stacks > 0 ? b.stacks : std::max(1, p.most_places - b.spare_stacks);
  p.places = p.stacks + b.spare_stacks;
  p.bridges = bridge_ends(b.dies);
  const double mebibyte = 1024.0 * 1024;
  const SquareMeters per_mebibyte = l2_per_mebibyte / n.sram;
  p.l2 = b.l2.value > 0
             ? b.l2
             : Bytes(std::floor(usual_l2_share * (p.whole / per_mebibyte) * t.core.l2_kept) *
                     mebibyte);
  p.area[AreaUse::l2] = p.l2.value / mebibyte / t.core.l2_kept * per_mebibyte;
  p.area[AreaUse::memory] = p.places * (t.memory.phy / n.analog + t.memory.controller / n.logic);
  p.area[AreaUse::links] = b.links * (t.link.phy / n.analog + t.link.controller / n.logic);
  p.area[AreaUse::bridges] = p.bridges * (t.bridge.phy / n.analog + t.bridge.controller / n.logic);
  p.area[AreaUse::rest] = b.dies * (fixed_rest / n.analog + scaled_rest * core_scale(n));
  p.core = t.core.area * core_scale(n);
  p.crossbar = t.core.crossbar * core_scale(n);
  p.edge_usable = Meters(usable_outline * 4 * std::sqrt(b.area.value) * b.dies);
  p.edge_used = p.places * t.memory.edge + b.links * t.link.edge + p.bridges * t.bridge.edge;
  return p;
}

SquareMeters taken(const Plan& p) {
  SquareMeters sum{0};
  for (const SquareMeters& a : p.area.values) sum += a;
  return sum;
}

std::string area_text(SquareMeters a) {
  return write_number(std::round(a.value / mm2 * 10) / 10) + " mm2";
}
std::string edge_text(Meters e) { return write_number(std::round(e.value * 1e4) / 10) + " mm"; }

/// Power of the parts that draw it whatever runs, at a clock.
struct Idle {
  Watts die;
  Watts memory;
  Watts links;
  Watts sum() const { return die + memory + links + board; }
};
Idle idle_of(const Plan& p, Hertz clock) {
  // Transistors by area, energy of each by the node; N4 at 1.83 GHz is where H200 was measured.
  constexpr double n4 = 0.895;  // 1 / core_scale x power
  const double activity = p.t.node.power / core_scale(p.t.node) / n4 * (clock.value / 1.83e9);
  return {.die = Watts(die_watts_per_m2 * p.whole.value * activity),
          .memory = p.stacks * p.t.memory.standby,
          .links = links_awake * p.b.links * (p.t.link.bandwidth * p.t.link.energy)};
}

/// A full matrix load.
struct Load16 {
  Hertz design;  ///< clock at which `energy` holds
  JoulesPerFlop energy;
  JoulesPerByte memory_energy;
  double cores = 0;
  double efficiency = 0;
  double boost_sag = 1;  ///< busy clock over the rated one
};
JoulesPerFlop energy_at(const Load16& l, Hertz rated) {
  return l.energy * std::pow(std::max(rated / l.design, least_clock), energy_exponent);
}
FlopsPerSecond rate_at(const Plan& p, const Load16& l, Hertz rated) {
  return l.efficiency * l.cores * p.t.core.matrix_per_clock * (l.boost_sag * rated);
}
Watts matrix_at(const Plan& p, const Load16& l, Hertz rated) {
  return rate_at(p, l, rated) * energy_at(l, rated);
}
Watts traffic_at(const Plan& p, const Load16& l, Hertz rated) {
  return Watts(rate_at(p, l, rated).value * bytes_per_flop * l.memory_energy.value);
}
Watts demand(const Plan& p, const Load16& l, Hertz idle_clock, Hertz rated) {
  return idle_of(p, idle_clock).sum() + matrix_at(p, l, rated) + traffic_at(p, l, rated);
}

Load16 load_of(const Plan& p, int cores) {
  const Technology& t = p.t;
  const double faster = std::pow(t.node.speed / t.core_node.speed, banked_speed);
  Load16 l;
  l.design = t.core.clock * faster;
  // The power claim holds at the same speed; the clock taken beside it costs voltage.
  l.energy = t.core.energy * std::pow(t.node.power / t.core_node.power, realised_power) *
             std::pow(faster, energy_exponent);
  const double wires = std::pow(t.node.power / 0.6, wire_exponent);  // 0.6: N4, where measured
  l.memory_energy = t.memory.energy + way_to_cores * wires;
  l.cores = cores;
  l.efficiency = Mechanism{}.matrix_efficiency;
  l.boost_sag = 1 / std::sqrt(t.core.boost);  // cost/chip.cpp
  return l;
}

/// The highest clock not above `most` at which demand is no more than `allowed`.
Hertz clock_within(const Plan& p, const Load16& l, Watts allowed, Hertz most, bool idle_follows) {
  const auto fits = [&](Hertz f) { return demand(p, l, idle_follows ? f : most, f) <= allowed; };
  if (fits(most)) return most;
  Hertz low{0};
  Hertz high = most;
  for (int i = 0; i < 60; ++i) {
    const Hertz middle = 0.5 * (low + high);
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

int cores_of(const Plan& p) {
  const double room = (p.whole - taken(p)) / (p.core + p.crossbar);
  return room > 0 ? static_cast<int>(std::floor(room + 1e-9)) : 0;
}
int sold_cores(const Plan& p, int on_die) {
  return std::max(1, static_cast<int>(std::lround(p.t.core.kept * on_die)));
}

void add(std::vector<Diagnostic>& problems, const char* field, std::string message,
         std::string hint = "") {
  Diagnostic d;
  d.field = field;
  d.message = std::move(message);
  d.hint = std::move(hint);
  problems.push_back(std::move(d));
}

void check_outline(const Plan& p, std::vector<Diagnostic>& problems) {
  const Budget& b = p.b;
  if (b.area > reticle) {
    add(problems, "area",
        "a die of " + area_text(b.area) + " is " + area_text(b.area - reticle) +
            " over the reticle of " + area_text(reticle),
        "take several dies");
  }
  const std::string names = std::to_string(p.places) + " of " + p.t.memory.kind;
  if (p.places > p.most_places) {
    add(problems, "stacks",
        names + " need " + edge_text(p.places * p.t.memory.edge) +
            " of the sides where memory can stand, which hold " + std::to_string(p.most_places) +
            ": " + std::to_string(p.places - p.most_places) + " too many");
  }
  if (p.edge_used > p.edge_usable) {
    add(problems, "edge",
        names + ", " + std::to_string(b.links) + " links" +
            (p.bridges > 0 ? " and the bridges between dies" : "") + " need " +
            edge_text(p.edge_used) + " of edge: " + edge_text(p.edge_used - p.edge_usable) +
            " more than the " + edge_text(p.edge_usable) + " that can be used");
  }
}

void check_area(const Plan& p, std::vector<Diagnostic>& problems) {
  const SquareMeters need = p.core + p.crossbar;
  const SquareMeters left = p.whole - taken(p);
  if (p.area[AreaUse::l2] > p.whole) {
    add(problems, "l2",
        "a cache of " + format_binary_bytes(p.l2.value) + " takes " +
            area_text(p.area[AreaUse::l2]) + " in " + p.t.node.name + ": " +
            area_text(p.area[AreaUse::l2] - p.whole) + " more than the silicon has");
  } else if (left < need) {
    add(problems, "area",
        "cache, PHYs and the rest take " + area_text(taken(p)) + " of " + area_text(p.whole) +
            "; one core needs " + area_text(need) + ": " + area_text(need - left) + " are missing");
  }
}

void check_power(const Plan& p, std::vector<Diagnostic>& problems) {
  const Watts limit = p.b.power;
  if (limit.value <= 0) return;
  const Load16 l = load_of(p, sold_cores(p, cores_of(p)));
  const Hertz slowest = least_clock * l.design;
  const Watts idle = idle_of(p, slowest).sum();
  if (limit <= idle) {
    add(problems, "power",
        "a limit of " + format(limit) + " is " + format(idle - limit) +
            " below what it draws idle, " + format(idle));
  } else if (const Watts least = demand(p, l, slowest, slowest); least > headroom * limit) {
    add(problems, "power",
        "all cores at " + format(slowest) + ", the slowest that saves energy, ask for " +
            format(least) + ": " + format(least - headroom * limit) + " more than a board of " +
            format(limit) + " can bear",
        "raise the limit, or make the die smaller");
  }
  const Watts coolable(coolable_watts_per_m2 * p.whole.value);
  if (limit > coolable) {
    add(problems, "power",
        format(limit) + " are " + format(limit - coolable) + " more than " + area_text(p.whole) +
            " of silicon can be cooled of, " + format(coolable));
  }
}

/// Dies a wafer gives and what each costs (negative binomial yield; cores may be bad up to those
/// given up).
void price(const Plan& p, Blueprint& out) {
  const double a = p.b.area.value / mm2;
  const double d = 300;  // mm
  const double per_wafer = M_PI * d * d / (4 * a) - M_PI * d / std::sqrt(2 * a);
  const double share = (out.area[AreaUse::cores] / p.whole);
  const double in_cores = share * (p.b.area / p.t.node.defect_area);
  // Half of the rest can be repaired or does not matter: rows of SRAM, wires, empty space.
  const double in_rest = 0.5 * (1 - share) * (p.b.area / p.t.node.defect_area);
  const int spare = (out.cores_on_die - out.device.cores) / p.b.dies;
  double tolerated = 0;
  double term = std::exp(-in_cores);
  for (int i = 0; i <= spare; ++i) {
    tolerated += term;
    term *= in_cores / (i + 1);
  }
  constexpr double clustering = 3;
  out.yield = tolerated * std::pow(1 + in_rest / clustering, -clustering);
  out.die_cost = p.b.dies * p.t.node.wafer / (std::max(per_wafer, 1.0) * out.yield);
  out.memory_cost = p.stacks * p.t.memory.cost;
  // An interposer for H100 and its six stacks of 110 mm2 costs about 430 $ (trade press).
  const double interposer = p.whole.value / mm2 + 110 * p.places;
  out.package_cost = Dollars(430 * interposer / (814 + 660));
}

void fill_device(const Plan& p, const Load16& l, Hertz rated, Blueprint& out) {
  const Technology& t = p.t;
  Device& d = out.device;
  d.name = t.node.name + "-" + t.memory.name + "-" + t.core.name;
  d.architecture = "generated";
  d.notes = "generated by sextant tech";
  d.clock = rated;
  d.max_clock = rated * t.core.boost;
  const FlopsPerSecond peak = d.cores * t.core.matrix_per_clock * rated;
  d.vector.fp32 = d.cores * t.core.vector_per_clock * rated;
  using enum Precision;
  d.matrix[fp32] = d.vector.fp32;
  d.matrix[fp16] = d.matrix[bf16] = peak;
  d.matrix[tf32] = 0.5 * peak;
  d.matrix[fp8] = d.matrix[int8] = t.core.fp8 * peak;
  d.matrix[fp4] = t.core.fp4 * peak;
  d.matrix[fp6] = t.core.fp4 > 0 ? d.matrix[fp8] : FlopsPerSecond(0);
  d.shared = {.capacity = t.core.shared_capacity, .per_clock = t.core.shared_per_clock};
  d.l2 = {.capacity = p.l2, .per_clock = d.cores * t.core.l2_per_clock};
  d.memory = {.kind = t.memory.kind,
              .capacity = p.stacks * t.memory.capacity,
              .bandwidth = p.stacks * t.memory.bandwidth};
  d.power = {.limit = out.device.power.limit,
             .idle = idle_of(p, rated).sum(),
             .matrix_fp16 = energy_at(l, rated),
             .memory = l.memory_energy};
  // Transistors as dense as A100's, by the area that each block would take at N7.
  const double scale = core_scale(t.node);
  const SquareMeters at_n7 = (out.area[AreaUse::cores] + out.area[AreaUse::crossbar]) / scale +
                             t.node.sram * out.area[AreaUse::l2] + p.places * t.memory.phy +
                             p.b.links * t.link.phy;
  d.die = {
      .process = t.node.process + (p.b.dies > 1 ? ", " + std::to_string(p.b.dies) + " dies" : ""),
      .area = p.whole,
      .transistors = 65.6e6 * at_n7.value / mm2};
  d.mechanism.asynchronous = t.core.asynchronous;
  d.mechanism.memory_efficiency = t.memory.efficiency;
}

void fill_power(const Plan& p, const Load16& l, Hertz rated, Blueprint& out) {
  const Watts limit = out.device.power.limit;
  out.sustained_clock = clock_within(p, l, power_control * limit, rated, false);
  const Idle idle = idle_of(p, rated);
  out.power[PowerUse::matrix] = matrix_at(p, l, out.sustained_clock);
  out.power[PowerUse::memory] = traffic_at(p, l, out.sustained_clock);
  out.power[PowerUse::die] = idle.die;
  out.power[PowerUse::standby] = idle.memory;
  out.power[PowerUse::links] = idle.links;
  out.power[PowerUse::board] = board;
  Watts sum{0};
  for (const Watts& w : out.power.values) sum += w;
  out.power[PowerUse::unused] = max(limit - sum, Watts(0));
  out.sustained = rate_at(p, l, out.sustained_clock);
}

Blueprint build(const Plan& p) {
  Blueprint out;
  out.cores_on_die = cores_of(p);
  out.device.cores = sold_cores(p, out.cores_on_die);
  out.area = p.area;
  out.area[AreaUse::cores] = out.cores_on_die * p.core;
  out.area[AreaUse::crossbar] = out.cores_on_die * p.crossbar;
  out.area[AreaUse::unused] = p.whole - taken(p) - out.cores_on_die * (p.core + p.crossbar);
  out.core_area = p.core;
  out.stacks = p.stacks;
  out.links = p.b.links;
  out.edge_used = p.edge_used;
  out.edge_usable = p.edge_usable;
  out.link_bandwidth = p.b.links * p.t.link.bandwidth;
  const Load16 l = load_of(p, out.device.cores);
  out.design_clock = l.design;
  out.natural_power = demand(p, l, l.design, l.design) / headroom;
  out.device.power.limit = p.b.power.value > 0 ? p.b.power : out.natural_power;
  const Hertz most = p.b.clock.value > 0 ? min(p.b.clock, l.design) : l.design;
  const Hertz rated =
      clock_within(p, l, headroom * (1 + 1e-9) * out.device.power.limit, most, true);
  fill_device(p, l, rated, out);
  fill_power(p, l, rated, out);
  price(p, out);
  return out;
}

std::vector<Diagnostic> check_plan(const Plan& p) {
  std::vector<Diagnostic> problems;
  check_outline(p, problems);
  check_area(p, problems);
  if (problems.empty()) check_power(p, problems);
  return problems;
}

}  // namespace

std::string_view meaning_of(AreaUse use) {
  constexpr std::array<std::string_view, 8> text = {"cores, those given up for yield included",
                                                    "crossbar between cores and cache",
                                                    "last-level cache",
                                                    "memory PHYs and controllers",
                                                    "link PHYs and controllers",
                                                    "bridges between dies",
                                                    "PCIe, copy engines, control",
                                                    "left over: less than a core"};
  return text[static_cast<std::size_t>(use)];
}

std::string_view meaning_of(PowerUse use) {
  constexpr std::array<std::string_view, 7> text = {
      "arithmetic of the matrix units, operands included",
      "traffic of device memory",
      "clock tree and leakage of the die",
      "memory standing by",
      "links standing by",
      "board",
      "left over: the clock limits"};
  return text[static_cast<std::size_t>(use)];
}

std::vector<Diagnostic> check(const Technology& technology, const Budget& budget) {
  return check_plan(plan_of(technology, budget));
}

Blueprint generate(const Technology& technology, const Budget& budget) {
  const Plan p = plan_of(technology, budget);
  throw_if_any(check_plan(p));
  return build(p);
}

std::optional<Blueprint> try_generate(const Technology& technology, const Budget& budget) {
  const Plan p = plan_of(technology, budget);
  if (!check_plan(p).empty()) return std::nullopt;
  return build(p);
}

System system_of(const Blueprint& blueprint, const Technology& technology,
                 const Surroundings& around) {
  System s;
  s.name = blueprint.device.name + "-system";
  s.device = blueprint.device;
  s.devices_per_node = around.devices_per_node;
  s.max_devices = around.max_devices;
  const auto fabric = [](const LinkPart& l, double count, int reach) {
    Fabric f;
    f.name = l.title;
    f.reach = reach;
    f.bandwidth = count * l.bandwidth;
    f.efficiency = l.efficiency;
    f.latency = l.latency;
    f.reduces_in_network = l.reduces_in_network;
    return f;
  };
  if (around.devices_per_node > 1) {
    s.fabrics.push_back(fabric(technology.link, blueprint.links, around.devices_per_node));
  }
  s.fabrics.push_back(fabric(around.network, around.ports, around.max_devices));
  s.fabrics.back().topology = Topology::fat_tree;
  // Beside the accelerators a node draws 0.25 to 0.30 of their limits: CPUs, switches, fans.
  s.node_overhead = 0.28 * around.devices_per_node * blueprint.device.power.limit;
  return s;
}

}  // namespace sextant
