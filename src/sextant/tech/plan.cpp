// SPDX-License-Identifier: Apache-2.0
#include "sextant/tech/plan.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/units/format.hpp"

namespace sextant::tech {
namespace {

// A core by area at N7: 70 % logic, 25 % SRAM and 5 % analogue at N5, taken back to N7.
constexpr double core_logic = 0.733;
constexpr double core_sram = 0.232;
constexpr double core_analog = 0.035;
// A100: 119.3 mm2 for 48 MiB, between two halves of a crossbar.
constexpr SquareMeters l2_per_mebibyte{2.49 * mm2};
// A memory-side cache beside its channels: the die of Navi 31 that holds 16 MiB and two channels
// has 37.5 mm2 in N6, of which about 22 are the cache.
constexpr SquareMeters side_cache_per_mebibyte{1.5 * mm2};
// A die of nothing but cache under or on others: 64 MiB in 41 mm2 of N7 (AMD 3D V-Cache, ISSCC
// 2022).
constexpr SquareMeters stacked_per_mebibyte{0.64 * mm2};
// Six a bit, and one for tags, error correction and decoders; assumed.
constexpr double transistors_per_byte = 8 * 7;
// A100 and H100 spend 14.5 % of their die on the last-level cache.
constexpr double usual_l2_share = 0.145;
// PCIe and the like, which do not shrink; copy engines, decoders, control, which do. A100: 40 mm2.
constexpr SquareMeters fixed_rest{10 * mm2};
constexpr SquareMeters scaled_rest{30 * mm2};
// Share of a die's outline that PHYs can use; corners and power take the rest.
constexpr double usable_outline = 0.75;
// Dies that touch lose a part of the sides where memory stands: two have 8 stacks, not 12.
constexpr double sides_left_by_bridges = 0.65;

// Of a small die on others, for schedulers and test.
constexpr double control = 0.1;

bool carries_io(const Chiplet& c) { return c.role == DieRole::base || c.role == DieRole::io; }

struct Carrier {
  const LogicNode* node;
  SquareMeters die;  ///< of one
  int dies = 1;
};
/// Where PHYs stand: on the base or IO dies, else beside the cores.
Carrier io_of(const Technology& t, const Budget& b) {
  for (const Chiplet& c : t.chiplets) {
    if (carries_io(c)) return {&c.node, c.area, c.count};
  }
  return {&t.node, b.area, b.dies};
}

int most_stacks(const MemoryPart& m, const Carrier& io) {
  const double side = std::sqrt(io.die.value) * (io.dies > 1 ? sides_left_by_bridges : 1);
  // Stacks on a side are whole; an edge has a least, so that their number fits an int.
  const double on_a_side = std::floor(side / m.edge.value + 1e-9);
  return io.dies * static_cast<int>(std::floor(m.sides * on_a_side));
}

/// Stacks of a second memory stand where the first's do; chips and lanes go elsewhere.
int tier_places(const Technology& t, const Budget& b) {
  if (b.tier_parts == 0 || t.tier.sides > t.memory.sides) return 0;
  return static_cast<int>(std::ceil(b.tier_parts * (t.tier.edge / t.memory.edge) - 1e-9));
}

/// As many as the sides hold, and as the edge has room for beside all others: chips on three sides
/// and lanes on four leave links none where they fill them.
int usual_stacks(const Plan& p, Meters others) {
  const double beside = std::floor((p.edge_usable - others) / p.t.memory.edge + 1e-9);
  const double places = std::min<double>(p.most_places - p.tier_places, beside);
  return std::max(1, static_cast<int>(places) - p.b.spare_stacks);
}

// Two dies share one seam of two bridges; more stand in a ring.
int bridge_ends(int dies) { return dies < 2 ? 0 : 4 * (dies == 2 ? 1 : dies); }

/// The cache, where it stands and what a mebibyte takes there.
struct CachePlace {
  const LogicNode* node;
  SquareMeters per_mebibyte;
  SquareMeters room;  ///< what a design gives to it where nothing else is said
  bool on_compute;
  double kept;
};
CachePlace cache_of(const Plan& p) {
  const Technology& t = p.t;
  for (const Chiplet& c : t.chiplets) {
    if (c.role == DieRole::cache) {
      return {&c.node, stacked_per_mebibyte / c.node.sram, c.count * c.area, false, 1};
    }
  }
  for (const Chiplet& c : t.chiplets) {
    if (carries_io(c)) {
      return {&c.node, side_cache_per_mebibyte / c.node.sram, 0.25 * c.count * c.area, false, 1};
    }
  }
  return {&t.node, l2_per_mebibyte / t.node.sram, usual_l2_share * p.compute, true, t.core.l2_kept};
}

/// Of all but the cores: bits of the cache, the others by the area that they would take at N7.
void add_transistors(Plan& p, const CachePlace& cache, int io_dies) {
  const Technology& t = p.t;
  const auto at_n7 = [](const auto& part) { return part.phy + part.controller; };
  const SquareMeters io = p.places * at_n7(t.memory) + p.b.tier_parts * at_n7(t.tier) +
                          p.b.links * at_n7(t.link) + p.bridges * at_n7(t.bridge) +
                          io_dies * (fixed_rest + scaled_rest);
  const bool apart = p.below.value > 0;
  (cache.on_compute ? p.transistors : p.transistors_below) +=
      transistors_per_byte * p.l2.value / cache.kept;
  (apart ? p.transistors_below : p.transistors) += transistors_per_m2_at_n7 * io.value;
  const SquareMeters own = p.bonds * at_n7(t.bond) +
                           (apart ? control / core_scale(t.node) * p.compute : SquareMeters(0));
  p.transistors += transistors_per_m2_at_n7 * own.value;
}

void add_areas(Plan& p, const Carrier& io) {
  const Technology& t = p.t;
  const LogicNode& n = *io.node;
  const bool apart = p.below.value > 0;
  const CachePlace cache = cache_of(p);
  constexpr double mebibyte = 1024.0 * 1024;
  p.l2 = p.b.l2.value > 0
             ? p.b.l2
             : Bytes(std::floor(cache.room / cache.per_mebibyte * cache.kept + 1e-9) * mebibyte);
  p.area[AreaUse::l2] = p.l2.value / mebibyte / cache.kept * cache.per_mebibyte;
  const auto interface = [&](const MemoryPart& m) {
    return m.phy / n.analog + m.controller / n.logic;
  };
  p.area[AreaUse::memory] = p.places * interface(t.memory) + p.b.tier_parts * interface(t.tier);
  p.area[AreaUse::links] = p.b.links * (t.link.phy / n.analog + t.link.controller / n.logic);
  const auto joined = [](const LinkPart& l, const LogicNode& node) {
    return l.phy / node.analog + l.controller / node.logic;
  };
  p.area[AreaUse::bridges] = p.bridges * joined(t.bridge, n) + p.bonds * joined(t.bond, t.node);
  // Stacked dies keep their control and leave PCIe and copy engines to those below.
  const auto rest = [](const LogicNode& node) {
    return fixed_rest / node.analog + scaled_rest * core_scale(node);
  };
  const SquareMeters own = apart ? control * p.compute : p.b.dies * rest(t.node);
  p.area[AreaUse::rest] = own + (apart ? io.dies * rest(n) : SquareMeters(0));
  p.on_compute[AreaUse::rest] = own;
  p.on_compute[AreaUse::bridges] =
      apart ? p.bonds * joined(t.bond, t.node) : p.area[AreaUse::bridges];
  if (cache.on_compute) p.on_compute[AreaUse::l2] = p.area[AreaUse::l2];
  add_transistors(p, cache, io.dies);
  if (apart) return;
  p.on_compute[AreaUse::memory] = p.area[AreaUse::memory];
  p.on_compute[AreaUse::links] = p.area[AreaUse::links];
}

}  // namespace

double core_scale(const LogicNode& n) {
  return core_logic / n.logic + core_sram / n.sram + core_analog / n.analog;
}

Plan plan_of(const Technology& t, const Budget& b) {
  Plan p{.t = t, .b = b};
  const Carrier io = io_of(t, b);
  p.compute = b.dies * b.area;
  p.whole = p.compute;
  bool stacked = false;
  for (const Chiplet& c : t.chiplets) {
    p.whole += c.count * c.area;
    stacked = stacked || c.bond == Bonding::hybrid;
    (c.role == DieRole::cache ? p.caches : p.below) += c.count * c.area;
  }
  p.most_places = most_stacks(t.memory, io);
  p.tier_places = tier_places(t, b);
  p.bridges = bridge_ends(io.dies);
  p.bonds = t.chiplets.empty() ? 0 : b.dies;
  p.edge_usable = Meters(usable_outline * 4 * std::sqrt(io.die.value) * io.dies);
  // Dies that stand beside the base reach it over its edge; those on it over their face.
  const int beside = stacked ? 0 : p.bonds;
  const Meters others = b.tier_parts * t.tier.edge + b.links * t.link.edge +
                        p.bridges * t.bridge.edge + beside * t.bond.edge;
  p.stacks = b.stacks > 0 ? b.stacks : usual_stacks(p, others);
  p.places = p.stacks + b.spare_stacks;
  p.edge_used = p.places * t.memory.edge + others;
  p.way = Meters(std::sqrt(io.die.value) + (p.below.value > 0 ? std::sqrt(b.area.value) : 0));
  add_areas(p, io);
  p.core = t.core.area * core_scale(t.node);
  p.crossbar = t.core.crossbar * core_scale(t.node);
  const double dense = transistors_per_m2_at_n7 * (t.core.area + t.core.crossbar).value;
  const double one = t.core.transistors > 0 ? t.core.transistors : dense;
  const int cores = cores_of(p);
  p.awake = p.transistors + sold_cores(p, cores) * one;
  p.transistors += cores * one;
  return p;
}

SquareMeters taken(const Plan& p) {
  SquareMeters sum{0};
  for (const SquareMeters& a : p.on_compute.values) sum += a;
  return sum;
}

int cores_of(const Plan& p) {
  const double room = (p.compute - taken(p)) / (p.core + p.crossbar);
  return room > 0 ? static_cast<int>(std::floor(room + 1e-9)) : 0;
}

int sold_cores(const Plan& p, int on_die) {
  const double kept = p.b.kept > 0 ? p.b.kept : p.t.core.kept;
  return std::max(1, static_cast<int>(std::lround(kept * on_die)));
}

std::string area_text(SquareMeters a) {
  return write_number(std::round(a.value / mm2 * 10) / 10) + " mm2";
}
std::string edge_text(Meters e) { return write_number(std::round(e.value * 1e4) / 10) + " mm"; }

}  // namespace sextant::tech
