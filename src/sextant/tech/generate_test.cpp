// SPDX-License-Identifier: Apache-2.0
// Laws of the generator, and real devices from budgets like theirs.
#include "sextant/tech/generate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/io/presets.hpp"

namespace sextant {
namespace {

struct Names {
  const char* node = "n4";
  const char* memory = "hbm3";
  const char* link = "nvlink4";
  const char* core = "hopper";
};

Technology technology(const Names& n) {
  Technology t{.node = load_node(n.node),
               .memory = load_dram(n.memory),
               .link = load_link(n.link),
               .bridge = load_link("d2d"),
               .core = load_core(n.core),
               .core_node = {}};
  t.core_node = load_node(t.core.node);
  return t;
}

const std::vector<Technology>& technologies() {
  static const std::vector<Technology> all = {technology({"n12", "hbm2", "nvlink3", "volta"}),
                                              technology({"n7", "hbm2e", "nvlink3", "ampere"}),
                                              technology({}),
                                              technology({"n3", "hbm4", "nvlink5", "blackwell"}),
                                              technology({"a10", "hbm6", "nvlink6", "blackwell"}),
                                              technology({"n4", "gddr6", "nvlink4", "hopper"})};
  return all;
}

std::string problems_of(const Technology& t, const Budget& b) {
  std::string text;
  for (const Diagnostic& d : check(t, b)) text += to_text(d) + "\n";
  return text;
}

TEST(Technology, EveryPresetLoads) {
  for (const std::string& n : preset_names(PresetKind::node)) EXPECT_GT(load_node(n).logic, 0);
  for (const std::string& n : preset_names(PresetKind::dram)) EXPECT_GT(load_dram(n).edge.value, 0);
  for (const std::string& n : preset_names(PresetKind::link)) {
    EXPECT_GT(load_link(n).bandwidth.value, 0);
  }
  for (const std::string& n : preset_names(PresetKind::core)) {
    EXPECT_FALSE(load_node(load_core(n).node).name.empty());
  }
}

TEST(Technology, EachNodeIsDenserAndTakesLessPower) {
  LogicNode last = load_node("n12");
  for (const char* name : {"n10", "n7", "n5", "n4", "n3", "n2", "a16", "a14", "a10"}) {
    const LogicNode n = load_node(name);
    EXPECT_GT(n.logic, last.logic) << name;
    EXPECT_GE(n.sram, 0.98 * last.sram) << name;  // N3 keeps N5's bit cell
    EXPECT_LT(n.power, last.power) << name;
    EXPECT_GT(n.speed, last.speed) << name;
    last = n;
  }
}

TEST(Generate, PartsSumToTheDieAndTheLimit) {
  for (const Technology& t : technologies()) {
    for (const double area : {400e-6, 600e-6, 814e-6, 858e-6}) {
      for (const double power : {0.0, 400.0, 700.0}) {
        const Budget b{.area = SquareMeters(area), .power = Watts(power), .links = 8};
        const auto d = try_generate(t, b);
        if (!d) continue;
        double sum = 0;
        for (const SquareMeters& a : d->area.values) {
          EXPECT_GE(a.value, -1e-12);
          sum += a.value;
        }
        EXPECT_NEAR(sum, area, 1e-10);
        double watts = 0;
        for (const Watts& w : d->power.values) watts += w.value;
        EXPECT_NEAR(watts, d->device.power.limit.value, 1e-6);
        EXPECT_LE((watts - d->power[PowerUse::unused].value),
                  d->device.power.limit.value * (1 + 1e-9));
        EXPECT_LE(d->streaming.value, d->device.power.limit.value * (1 + 1e-9)) << t.memory.name;
        EXPECT_LE(d->device.memory.bandwidth, d->memory_offers);
        EXPECT_LT(d->area[AreaUse::unused].value,
                  1.001 * (d->core_area + t.core.crossbar * 4).value);
        EXPECT_TRUE(check(d->device).empty()) << t.node.name;
        EXPECT_GT(d->yield, 0);
        EXPECT_LE(d->yield, 1);
      }
    }
  }
}

TEST(Generate, ASecondMemoryTakesItsPlace) {
  Technology t = technology({"n4", "hbm3e", "nvlink4", "hopper"});
  const Budget alone{.power = Watts(700), .links = 8};
  const Blueprint before = generate(t, alone);
  EXPECT_EQ(before.device.tier.capacity.value, 0);
  for (const char* name : {"hbf", "lpddr5x", "cxl"}) {
    t.tier = load_dram(name);
    EXPECT_EQ(generate(t, alone).cost().value, before.cost().value) << name;
    Budget b = alone;
    b.tier_parts = 2;
    const Blueprint d = generate(t, b);
    const Tier& tier = d.device.tier;
    EXPECT_DOUBLE_EQ(tier.capacity.value, 2 * t.tier.capacity.value);
    EXPECT_DOUBLE_EQ(tier.bandwidth.value, 2 * t.tier.bandwidth.value);
    EXPECT_GT(tier.energy, t.tier.energy);  // and the way to the cores
    EXPECT_EQ(tier.read_only, std::string_view(name) == "hbf");
    EXPECT_GT(d.cost() + before.stacks * t.memory.cost, before.cost());
    EXPECT_TRUE(check(d.device).empty()) << name;
    // Stacks stand where HBM would; chips and lanes beside it.
    EXPECT_EQ(d.stacks, tier.read_only ? before.stacks - 2 : before.stacks) << name;
    EXPECT_NEAR((d.edge_used - before.edge_used).value,
                2 * t.tier.edge.value - (before.stacks - d.stacks) * t.memory.edge.value, 1e-12);
    double sum = 0;
    for (const SquareMeters& a : d.area.values) sum += a.value;
    EXPECT_NEAR(sum, alone.area.value, 1e-10);
    b.stacks = before.stacks;
    EXPECT_EQ(check(t, b).empty(), !tier.read_only) << name;
  }
}

// Chips and lanes could stand all around a die; links stand there, too.
TEST(Generate, EveryMemoryHasAUsualNumberOfParts) {
  for (const char* node : {"n7", "n4", "a14"}) {
    for (const std::string& name : preset_names(PresetKind::dram)) {
      Technology t = technology({.node = node});
      t.memory = load_dram(name);
      if (t.memory.read_only) continue;
      for (const double area : {300e-6, 814e-6}) {
        SCOPED_TRACE(name + " on " + node);
        const Blueprint d = generate(t, {.area = SquareMeters(area)});
        EXPECT_LE(d.edge_used, d.edge_usable);
        Budget more{.area = SquareMeters(area), .stacks = d.stacks + 1};
        EXPECT_NE(problems_of(t, more), "");
        more.stacks = 0;
        more.links = 0;
        EXPECT_GE(generate(t, more).stacks, d.stacks);
      }
    }
  }
}

// What no part has is refused by name, or makes a device of finite numbers.
template <class Part, class Load>
void try_extremes(const char* root, Part Technology::*part, Load load) {
  const Part usual = load({});
  for (const Slot& slot : reflect(usual).fields) {
    std::string unit;
    if (const auto* q = std::get_if<QuantityRef>(&slot.target)) unit = " " + unit_of(q->dimension);
    const bool number = !unit.empty() || std::holds_alternative<double*>(slot.target) ||
                        std::holds_alternative<int*>(slot.target);
    if (!number) continue;
    const std::string path = join_path(root, slot.name);
    for (const char* value : {"0", "-1", "1e-300", "1e-9", "1e9", "1e300"}) {
      SCOPED_TRACE(path + " = " + value);
      Technology t = technology({});
      t.tier = load_dram("lpddr5x");
      try {
        t.*part = load({{path, value + unit}});
        const Blueprint d = generate(t, {.tier_parts = 2});
        EXPECT_TRUE(check(d.device).empty());
        EXPECT_TRUE(std::isfinite(d.cost().value));
        EXPECT_TRUE(std::isfinite(d.device.power.limit.value));
      } catch (const InputError& e) {
        for (const Diagnostic& problem : e.diagnostics()) {
          // A number beside one that is out of bounds is never what the message shows.
          EXPECT_EQ(to_text(problem).find("-2147483648"), std::string::npos) << to_text(problem);
          EXPECT_FALSE(problem.field.empty());
        }
      }
    }
    EXPECT_THROW(load({{path, "-1" + unit}}), InputError) << path;
    EXPECT_THROW(load({{path, "1e300" + unit}}), InputError) << path;
  }
}

TEST(Technology, ExtremesOfEveryNumberAreRefusedOrBuilt) {
  using Settings = std::vector<Setting>;
  try_extremes("node", &Technology::node, [](const Settings& s) { return load_node("n4", s); });
  try_extremes("dram", &Technology::memory, [](const Settings& s) { return load_dram("hbm3", s); });
  try_extremes("link", &Technology::link,
               [](const Settings& s) { return load_link("nvlink4", s); });
  try_extremes("core", &Technology::core, [](const Settings& s) { return load_core("hopper", s); });
  try {
    load_dram("hbm3", {{"dram.edge", "0 mm"}});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(to_text(e.diagnostics().front()),
              "--set: dram.edge: must be more than zero, not 0 m; at least 1 um");
  }
}

TEST(Generate, MoreAreaNeverFewerCoresMorePowerNeverSlower) {
  for (const Technology& t : technologies()) {
    int cores = 0;
    for (double area = 300e-6; area <= 858e-6; area += 5e-6) {
      const Budget b{
          .area = SquareMeters(area), .stacks = 2, .links = 8, .l2 = Bytes(10.0 * (1 << 20))};
      const auto d = try_generate(t, b);
      if (!d) continue;
      EXPECT_GE(d->device.cores, cores);
      cores = d->device.cores;
    }
    double clock = 0;
    for (double power = 150; power <= 1500; power += 25) {
      const auto d = try_generate(t, {.power = Watts(power), .links = 8});
      if (!d) continue;
      EXPECT_GE(d->device.clock.value, clock);
      clock = d->device.clock.value;
      EXPECT_LE(clock, d->design_clock.value);
    }
  }
}

// Idle watts are of transistors, whatever area they stand on, but for cores that are given up;
// those that nobody counted are as dense as A100's.
TEST(Generate, TransistorsIdle) {
  Technology t = technology({.memory = "hbm3e"});
  const Blueprint d = generate(t, {.stacks = 6});
  EXPECT_NEAR(d.device.power.idle.value, 125, 8);  // measured on H200
  const double all = d.device.die.transistors;
  EXPECT_NEAR(all, 80e9, 3e9);
  const double standing = d.device.power.idle.value - d.power[PowerUse::die].value;
  t.core.transistors /= 2;
  const Blueprint half = generate(t, {.stacks = 6});
  EXPECT_NEAR(all - half.device.die.transistors, d.cores_on_die * t.core.transistors, 1);
  const double awake = all - 2 * t.core.transistors * (d.cores_on_die - d.device.cores);
  EXPECT_NEAR(half.device.power.idle.value - standing,
              d.power[PowerUse::die].value * (1 - d.device.cores * t.core.transistors / awake),
              1e-9);
  t = technology({"n7", "hbm2e", "nvlink3", "ampere"});
  const double counted = generate(t, {}).device.die.transistors;
  t.core.transistors = 0;
  EXPECT_NEAR(generate(t, {}).device.die.transistors / counted, 1, 0.15);
}

// A byte's way to the cores is as long as the dies that it crosses.
TEST(Generate, SmallerDiesHaveShorterWays) {
  const Technology t = technology({});
  const auto way = [&](double area) {
    const Blueprint d = generate(t, {.area = SquareMeters(area), .stacks = 2, .links = 4});
    return d.device.power.memory.value - t.memory.energy.value;
  };
  EXPECT_NEAR(way(814e-6), 71e-12, 1e-15);
  EXPECT_NEAR(way(814e-6 / 4) / way(814e-6), 0.5, 1e-9);
}

// Half of a limit is half taken out of the clock: H100 PCIe has 1.62 GHz of 1.83.
TEST(Generate, ALowerLimitIsExceededFurther) {
  const Technology t = technology({});
  const Blueprint free = generate(t, {});
  const Blueprint limited = generate(t, {.power = 0.5 * free.natural_power});
  EXPECT_NEAR(limited.device.clock / free.device.clock, 0.82, 0.03);
  EXPECT_NEAR(limited.asked / limited.device.power.limit, t.core.headroom * std::sqrt(2), 0.001);
  EXPECT_LT(limited.sustained_clock, limited.device.clock);
}

TEST(Generate, ALaterNodeHoldsMoreCoresAndTakesLessEnergy) {
  double cores = 0;
  double energy = 1;
  for (const char* node : {"n12", "n10", "n7", "n5", "n4", "n3", "n2", "a16", "a14", "a10"}) {
    const Blueprint d = generate(technology({node, "hbm3", "nvlink4", "hopper"}), {});
    EXPECT_GT(d.device.cores, cores) << node;
    EXPECT_LT(d.device.power.matrix_fp16.value, energy) << node;
    cores = d.device.cores;
    energy = d.device.power.matrix_fp16.value;
  }
}

void expect_close(double made, double real, const char* what) {
  EXPECT_LT(std::abs(made / real - 1), 0.15) << what << ": " << made << " against " << real;
}

// The sizes of the dies, and what stands around them, are given; the rest must come out.
TEST(Generate, BudgetsOfRealDevicesGiveThem) {
  const double mib = 1024.0 * 1024;
  struct Real {
    const char* device;
    Names names;
    Budget budget;
  };
  for (const Real& r : {
           Real{"v100",
                {"n12", "hbm2", "nvlink3", "volta"},
                {.area = SquareMeters(815e-6), .stacks = 4, .links = 6, .l2 = Bytes(6 * mib)}},
           Real{"a100-sxm-80gb",
                {"n7", "hbm2e", "nvlink3", "ampere"},
                {.area = SquareMeters(826e-6), .stacks = 5, .spare_stacks = 1, .links = 12}},
           Real{"h100-sxm",
                {"n4", "hbm3", "nvlink4", "hopper"},
                {.area = SquareMeters(814e-6), .stacks = 5, .spare_stacks = 1, .links = 18}},
           Real{"b200",
                {"n4", "hbm3e", "nvlink5", "blackwell"},
                {.area = SquareMeters(800e-6),
                .dies = 2,
                .stacks = 8,
                .links = 18,
                .l2 = Bytes(126 * mib)}},
       }) {
    SCOPED_TRACE(r.device);
    const Device real = load_device(r.device);
    const Blueprint made = generate(technology(r.names), r.budget);
    const auto peak = [](const Device& d) { return d.matrix[Precision::fp16].value; };
    expect_close(peak(made.device), peak(real), "peak");
    expect_close(made.device.cores, real.cores, "cores");
    expect_close(made.device.memory.bandwidth.value, real.memory.bandwidth.value, "bandwidth");
    expect_close(made.device.l2.capacity.value, real.l2.capacity.value, "L2");
    expect_close(made.device.power.limit.value, real.power.limit.value, "power");
    Budget limited = r.budget;
    limited.power = real.power.limit;
    expect_close(peak(generate(technology(r.names), limited).device), peak(real),
                 "peak within the limit");
  }
}

TEST(Generate, SaysWhichConstraintAndByHowMuch) {
  const Technology t = technology({});
  EXPECT_NE(problems_of(t, {.area = SquareMeters(900e-6)}).find("42 mm2 over the reticle"),
            std::string::npos);
  EXPECT_NE(problems_of(t, {.stacks = 9}).find("3 too many"), std::string::npos);
  EXPECT_NE(problems_of(t, {.stacks = 6, .links = 60}).find("more than the"), std::string::npos);
  EXPECT_NE(problems_of(t, {.l2 = Bytes(1e9)}).find("more than the silicon has"),
            std::string::npos);
  EXPECT_NE(
      problems_of(t, {.area = SquareMeters(150e-6), .stacks = 2, .links = 4, .l2 = Bytes(40e6)})
          .find("are missing"),
      std::string::npos);
  EXPECT_NE(problems_of(t, {.power = Watts(50)}).find("below what it draws idle"),
            std::string::npos);
  EXPECT_NE(problems_of(t, {.power = Watts(5000)}).find("can be cooled of"), std::string::npos);
  EXPECT_EQ(problems_of(t, {.power = Watts(700)}), "");
}

}  // namespace
}  // namespace sextant
