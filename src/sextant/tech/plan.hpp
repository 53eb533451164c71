// SPDX-License-Identifier: Apache-2.0
// What a budget fixes before any core is placed: which block stands on which die and what it takes
// there. Block areas are those of A100 at N7 (die annotation in LLMCompass, ISCA 2024, artefact
// figure 6) with logic, SRAM and analogue parts scaled apart; H100 closes with them to 814 mm2.
#pragma once

#include <string>
#include <vector>

#include "sextant/tech/generate.hpp"

namespace sextant::tech {

inline constexpr double mm2 = 1e-6;

/// Area of a core, or of other logic with the usual SRAM in it, over that at N7.
double core_scale(const LogicNode& node);
/// Of blocks that are not cores: A100's 54.2 billion on 826 mm2.
inline constexpr double transistors_per_m2_at_n7 = 65.6e6 / mm2;

struct Plan {
  const Technology& t;
  const Budget& b;
  int stacks = 0;
  int places = 0;       ///< for stacks, empty ones included
  int tier_places = 0;  ///< of the places for stacks, what a second memory takes
  int most_places = 0;
  int bridges = 0;  ///< ends on all compute dies
  int bonds = 0;    ///< of compute dies onto what is below them
  Bytes l2;
  SquareMeters compute;               ///< dies with cores
  SquareMeters whole;                 ///< all dies
  SquareMeters below;                 ///< dies that carry what the compute dies do not; 0: none
  SquareMeters caches;                ///< dies with nothing but cache
  Table<SquareMeters, AreaUse> area;  ///< all dies, cores aside
  Table<SquareMeters, AreaUse> on_compute;  ///< of that, on the dies with cores
  SquareMeters core;                        ///< one
  SquareMeters crossbar;                    ///< one core's share
  double transistors = 0;                   ///< of the dies with cores
  double awake = 0;                         ///< of those: cores given up are cut off from power
  double transistors_below = 0;             ///< of the others
  Meters way;  ///< from memory to a core: across the dies with PHYs and, above them, with cores
  Meters edge_used;
  Meters edge_usable;
};

Plan plan_of(const Technology& technology, const Budget& budget);

/// All but cores and their crossbar, on the dies that hold cores.
SquareMeters taken(const Plan& plan);
/// How many cores the rest holds, and how many of those are sold.
int cores_of(const Plan& plan);
int sold_cores(const Plan& plan, int on_die);

std::string area_text(SquareMeters area);
std::string edge_text(Meters edge);

std::vector<Diagnostic> check_plan(const Plan& plan);

/// Yield, and dollars of dies, memory, package and board.
void price(const Plan& plan, Blueprint& out);

}  // namespace sextant::tech
