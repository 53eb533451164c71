// SPDX-License-Identifier: Apache-2.0
// Which constraint a budget breaks, and by how much.
#include "sextant/tech/draw.hpp"
#include "sextant/units/format.hpp"

namespace sextant::tech {
namespace {

// Cold plates carry off about 2 W/mm2 (air 1.0) of what they touch, assumed; through a die between,
// a third less.
constexpr double coolable_watts_per_m2 = 2.0 / mm2;
constexpr double through_a_die = 0.67;

void add(std::vector<Diagnostic>& problems, const char* field, std::string message,
         std::string hint = "") {
  Diagnostic d;
  d.field = field;
  d.message = std::move(message);
  d.hint = std::move(hint);
  problems.push_back(std::move(d));
}

void check_reticle(SquareMeters area, const char* field, std::vector<Diagnostic>& problems) {
  if (area <= reticle) return;
  add(problems, field,
      "a die of " + area_text(area) + " is " + area_text(area - reticle) + " over the reticle of " +
          area_text(reticle),
      "take several dies");
}

void check_outline(const Plan& p, std::vector<Diagnostic>& problems) {
  const Budget& b = p.b;
  if (b.links > 0 && p.t.link.reach != LinkReach::node) {
    add(problems, "link_gen",
        p.t.link.title + " does not join the devices of a node, but " +
            (p.t.link.reach == LinkReach::package ? "dies of a package" : "nodes"),
        "take one of 'sextant list links' that joins a node");
  }
  check_reticle(b.area, "area", problems);
  for (const Chiplet& c : p.t.chiplets) check_reticle(c.area, "chiplet", problems);
  if (p.t.memory.read_only) {
    add(problems, "dram",
        p.t.memory.kind + " is read only: what a step writes needs another memory",
        "give it beside one, such as --dram hbm4 --tier '" + p.t.memory.name + " x2'");
  }
  std::string names = std::to_string(p.places) + " of " + p.t.memory.kind;
  if (p.b.tier_parts > 0) {
    names += " and " + std::to_string(p.b.tier_parts) + " of " + p.t.tier.kind;
  }
  const int places = p.places + p.tier_places;
  if (places > p.most_places) {
    add(problems, "stacks",
        names + " need " + edge_text(places * p.t.memory.edge) +
            " of the sides where memory can stand, which hold " + std::to_string(p.most_places) +
            ": " + std::to_string(places - p.most_places) + " too many");
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
  const SquareMeters left = p.compute - taken(p);
  const bool own_cache = p.caches.value > 0;
  const SquareMeters room = own_cache ? p.caches : p.below.value > 0 ? p.below : p.compute;
  if (p.area[AreaUse::l2] > room) {
    add(problems, "l2",
        "a cache of " + format_binary_bytes(p.l2.value) + " takes " +
            area_text(p.area[AreaUse::l2]) + " where it stands: " +
            area_text(p.area[AreaUse::l2] - room) + " more than the silicon has");
  } else if (left < need) {
    add(problems, "area",
        "cache, PHYs and the rest take " + area_text(taken(p)) + " of " + area_text(p.compute) +
            "; one core needs " + area_text(need) + ": " + area_text(need - left) + " are missing");
  }
  if (p.below.value <= 0) return;
  SquareMeters carried = own_cache ? SquareMeters(0) - p.area[AreaUse::l2] : SquareMeters(0);
  for (std::size_t i = 0; i < p.area.size; ++i)
    carried += p.area.values[i] - p.on_compute.values[i];
  if (carried > p.below) {
    add(problems, "chiplet",
        "PHYs, cache and control take " + area_text(carried) + " of base and IO dies of " +
            area_text(p.below) + ": " + area_text(carried - p.below) + " are missing");
  }
}

/// What the cooler touches: the larger of what is below and what is above, hotter where stacked.
Watts coolable(const Plan& p) {
  bool stacked = false;
  for (const Chiplet& c : p.t.chiplets) stacked = stacked || c.bond == Bonding::hybrid;
  if (!stacked) return Watts(coolable_watts_per_m2 * p.whole.value);
  const SquareMeters floor = max(p.below, p.compute);
  return Watts(coolable_watts_per_m2 * through_a_die * floor.value);
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
    return;
  }
  const Watts borne = sold_draw(p, l, limit);
  if (const Watts least = demand(p, l, slowest, slowest); least > borne) {
    add(problems, "power",
        "all cores at " + format(slowest) + ", the slowest that saves energy, ask for " +
            format(least) + ": " + format(least - borne) + " more than a board of " +
            format(limit) + " can bear",
        "raise the limit, or make the die smaller");
  }
  if (limit > coolable(p)) {
    add(problems, "power",
        format(limit) + " are " + format(limit - coolable(p)) + " more than " + area_text(p.whole) +
            " of silicon can be cooled of, " + format(coolable(p)));
  }
}

}  // namespace

std::vector<Diagnostic> check_plan(const Plan& p) {
  std::vector<Diagnostic> problems;
  check_outline(p, problems);
  check_area(p, problems);
  if (problems.empty()) check_power(p, problems);
  return problems;
}

}  // namespace sextant::tech
