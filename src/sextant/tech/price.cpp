// SPDX-License-Identifier: Apache-2.0
// What a package costs to make. Closed on two estimates of the trade press: H100 about 3.3 k$
// (memory 1.4, package 0.7, die 0.3), B200 about 6.4 k$ (memory 2.9, package with what fails in it
// 2.1, dies 0.6 to 0.9).
#include <algorithm>
#include <cmath>

#include "sextant/tech/plan.hpp"

namespace sextant::tech {
namespace {

// CoWoS-S under H100 and its six places of 110 mm2: about 430 $ (12 k$ a wafer of 28, trade press).
constexpr double interposer_per_mm2 = 430.0 / (814 + 660);
// Bridges in place of whole silicon under several dies (CoWoS-L): 1.5 to 2 times as much.
constexpr double bridged = 1.5;
constexpr double stack_mm2 = 110;
// Wafer probe, burn-in and sorting of known-good dies; assembly of a package. Assumed.
constexpr double test_per_die = 30;
constexpr double assembly = 100;
// Bonding a die face to face on another wafer, assumed.
constexpr double bond_per_die = 15;
// Of every die and stack that is placed, and of every one that is bonded face to face; nothing that
// fails can be taken apart. CoWoS of seven parts yields about 90 %, of ten 86 % (trade press).
constexpr double placed_well = 0.985;
constexpr double bonded_well = 0.99;
// Substrate, board and final test, and power stages by the watt. Assumed; closes both estimates.
constexpr double board_base = 500;
constexpr double board_per_watt = 0.5;
constexpr double clustering = 3;  // of defects

double dies_of_wafer(double area_mm2) {
  const double d = 300;  // mm
  const double n = M_PI * d * d / (4 * area_mm2) - M_PI * d / std::sqrt(2 * area_mm2);
  return std::max(n, 1.0);
}

/// Half of what is not a core can be repaired or does not matter: rows of SRAM, wires, empty space.
double rest_yield(double defects) { return std::pow(1 + 0.5 * defects / clustering, -clustering); }

/// Cores may be bad up to those given up (negative binomial in the rest).
double compute_yield(const Plan& p, const Blueprint& out) {
  const double share = out.area[AreaUse::cores] / p.compute;
  const double defects = p.b.area / p.t.node.defect_area;
  const int spare = (out.cores_on_die - out.device.cores) / p.b.dies;
  double tolerated = 0;
  double term = std::exp(-share * defects);
  for (int i = 0; i <= spare; ++i) {
    tolerated += term;
    term *= share * defects / (i + 1);
  }
  return tolerated * rest_yield((1 - share) * defects);
}

double good_die(const LogicNode& node, SquareMeters area, double yield) {
  return node.wafer.value / (dies_of_wafer(area.value / mm2) * yield) + test_per_die;
}

}  // namespace

void price(const Plan& p, Blueprint& out) {
  out.yield = compute_yield(p, out);
  double dies = p.b.dies * good_die(p.t.node, p.b.area, out.yield);
  int placed = p.places + p.tier_places;
  int bonded = 0;
  double footprint = p.below.value > 0 ? p.below.value : p.compute.value;
  bool apart = p.t.chiplets.empty();
  for (const Chiplet& c : p.t.chiplets) {
    dies += c.count * good_die(c.node, c.area, rest_yield(c.area / c.node.defect_area));
    const bool hybrid = c.bond == Bonding::hybrid;
    (hybrid ? bonded : placed) += c.count;
    apart = apart || !hybrid;
    if (!hybrid && p.below.value > 0) footprint = (p.below + p.compute).value;
  }
  (apart ? placed : bonded) += p.b.dies;
  out.package_yield = std::pow(placed_well, placed) * std::pow(bonded_well, bonded);
  const bool several = p.b.dies > 1 || !p.t.chiplets.empty();
  const double interposer = interposer_per_mm2 *
                            (footprint / mm2 + stack_mm2 * (p.places + p.tier_places)) *
                            (several ? bridged : 1);
  out.die_cost = Dollars(dies);
  out.memory_cost = p.stacks * p.t.memory.cost + p.b.tier_parts * p.t.tier.cost;
  const double joined = interposer + assembly + bond_per_die * bonded;
  const double lost = (dies + out.memory_cost.value + joined) * (1 / out.package_yield - 1);
  out.package_cost = Dollars(joined + lost);
  out.board_cost = Dollars(board_base + board_per_watt * out.device.power.limit.value);
}

}  // namespace sextant::tech
