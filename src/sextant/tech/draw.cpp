// SPDX-License-Identifier: Apache-2.0
#include "sextant/tech/draw.hpp"

#include <algorithm>
#include <cmath>

#include "sextant/cost/power.hpp"

namespace sextant::tech {
namespace {

// Of a node's gain in speed, the exponent that designs turn into clock: 1.53 GHz rated at N12
// (V100), 1.83 and 1.86 at N4 (H100, B200), 1.65 times the speed: 0.36 and 0.39. A100 lies below.
constexpr double banked_speed = 0.37;
// Energy of switching follows the node's power claim with this exponent: of a FLOP on the board 12
// to 7 nm 2.1 x of 2.7 x claimed, 7 nm to 4N 1.46 x of 1.65 x, both 0.75.
constexpr double realised_power = 0.75;
// Bytes of device memory a FLOP of a large multiply: 1.35 GB for 8192 cubed on H200.
constexpr double bytes_per_flop = 1.35e9 / 1.1e12;
// H200: 103 pJ a byte on the board, of which HBM3E takes 32; the way to the cores takes the rest,
// mostly wires, which gain little from a node: 1.55 x from 40 to 10 nm where a FLOP gains 5.7 x
// (Keckler et al., IEEE Micro 2011, recalled), an exponent of 0.25.
constexpr JoulesPerByte way_to_cores{71e-12};
constexpr double wire_exponent = 0.25;
const Meters way_on_h200{std::sqrt(814 * mm2)};
// H200 idles with 125 W at full clock. Assumed: 63 W of the clock tree and leakage of 74.6
// billion transistors (its 80 less 12 of 144 cores), rated 1.83 GHz, 36 W of memory, 7 W of links,
// 10 W of the board; 9 W are nobody's.
constexpr double watts_per_transistor = 63 / 74.6e9;
constexpr Hertz clock_of_h200{1.83e9};
constexpr double links_awake = 0.2;
constexpr Watts board{10};

// A limit below what the design clock asks for takes half of the difference out of the clock; the
// board is sold further above its limit for the rest. Rated clocks of boards with one core and two
// limits: H100 PCIe 350 W 1.62 and NVL 400 W 1.55 GHz of 1.83 at 700 W, MI350X 1000 W 2.2 of 2.4
// at 1400 W, all about a half; A100 (PCIe 300 W, SXM 400 W) and MI300X and MI325X (750 and 1000 W)
// keep all of it.
constexpr double taken_from_clock = 0.5;

/// Energy of a transistor that switches, over that at N4, where H200 was measured.
double switching(const LogicNode& n) { return std::pow(n.power / 0.6, realised_power); }

/// A long read of memory at a clock, priced as a kernel is (cost/power.hpp).
Watts stream_draw(const Chip& chip, BytesPerSecond rate, Hertz clock) {
  KernelCost c;
  c.time = Seconds(1);
  c.dram = rate * c.time;
  c.clock = clock;
  return power_demand(chip, c, Precision::bf16);
}

/// What of its memory a device reads, at most what crosses its cache.
BytesPerSecond stream_rate(const Chip& chip, Hertz clock) {
  return min(chip.mechanism.memory_efficiency * chip.bandwidth, chip.l2_per_clock * clock);
}

}  // namespace

Idle idle_of(const Plan& p, Hertz clock) {
  double die = p.awake * switching(p.t.node);
  // Dies without cores have their own, slower clocks and much empty space; assumed a quarter as
  // active.
  for (const Chiplet& c : p.t.chiplets) {
    die += 0.25 * c.count * c.area.value * transistors_per_m2_at_n7 / core_scale(c.node) *
           switching(c.node);
  }
  return {.die = Watts(watts_per_transistor * die * (clock / clock_of_h200)),
          .memory = p.stacks * p.t.memory.standby + p.b.tier_parts * p.t.tier.standby,
          .links = links_awake * p.b.links * (p.t.link.bandwidth * p.t.link.energy),
          .board = board};
}

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
  l.energy = t.core.energy * (switching(t.node) / switching(t.core_node)) *
             std::pow(faster, energy_exponent);
  const double wires = std::pow(switching(t.node), wire_exponent) * (p.way / way_on_h200);
  l.memory_energy = t.memory.energy + way_to_cores * wires;
  // Bytes from dies apart cross a bond or a bridge on their way.
  if (!t.chiplets.empty()) l.memory_energy = l.memory_energy + t.bond.energy;
  l.cores = cores;
  l.efficiency = Mechanism{}.matrix_efficiency;
  l.boost_sag = 1 / std::sqrt(t.core.boost);  // cost/chip.cpp
  return l;
}

Watts natural_limit(const Plan& p, const Load16& l) {
  return demand(p, l, l.design, l.design) / p.t.core.headroom;
}
Watts sold_draw(const Plan& p, const Load16& l, Watts limit) {
  const double short_by = std::max(1.0, natural_limit(p, l) / limit);
  return p.t.core.headroom * std::pow(short_by, taken_from_clock) * limit;
}

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

Watts streaming_demand(const Device& device) {
  const Chip chip = lower(device);
  return stream_draw(chip, stream_rate(chip, chip.light_clock), chip.light_clock);
}

void settle_streams(Blueprint& out) {
  Device& d = out.device;
  Chip chip = lower(d);
  const Watts allowed = power_control * d.power.limit;
  const auto draw = [&](Hertz f) { return stream_draw(chip, stream_rate(chip, f), f); };
  Hertz clock = chip.light_clock;
  if (draw(clock) > allowed) {
    Hertz low = least_clock * chip.light_clock;
    for (int i = 0; i < 40 && draw(low) <= allowed; ++i) {
      const Hertz middle = 0.5 * (low + clock);
      (draw(middle) <= allowed ? low : clock) = middle;
    }
    clock = low;
  }
  // At the slowest clock memory itself has to run slower: draw is linear in its rate.
  if (const Watts over = draw(clock) - chip.idle; chip.idle + over > allowed) {
    const double share = max(allowed - chip.idle, Watts(0)) / over;
    d.memory.bandwidth = share * stream_rate(chip, clock) / chip.mechanism.memory_efficiency;
    chip.bandwidth = d.memory.bandwidth;
  }
  out.streaming_clock = clock;
  out.streamed = stream_rate(chip, clock);
  out.l2_rate = chip.l2_per_clock * clock;
  out.streaming = draw(clock);
}

}  // namespace sextant::tech
