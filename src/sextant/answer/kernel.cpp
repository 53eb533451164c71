// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sextant/answer/parts.hpp"
#include "sextant/io/errors.hpp"
#include "sextant/units/format.hpp"
#include "sextant/validate/evaluate.hpp"

namespace sextant {
namespace {

std::string meaning_of(Bound b) {
  constexpr std::array<const char*, static_cast<std::size_t>(Bound::count)> meanings = {
      "matrix or vector units at their issue rate",
      "shared memory of the cores",
      "L2 to the cores",
      "device memory",
      "exponentials on the special-function units",
      "start and end of tiles, first bytes, second passes",
      "launch and drain of the kernel",
      "the fabric between devices"};
  return meanings[static_cast<std::size_t>(b)];
}

struct Busy {
  Bound bound{};
  Seconds time;
};

/// Resources by how long each alone would need, longest first.
Records busy_table(const KernelCost& c) {
  std::vector<Busy> all;
  for (std::size_t i = 0; i < c.busy.size; ++i) {
    if (c.busy.values[i].value > 0) all.push_back({static_cast<Bound>(i), c.busy.values[i]});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Busy& a, const Busy& b) { return a.time > b.time; });
  return records_of(all, [&](Record& r, const Busy& b) {
    r("", b.bound, "resource");
    r("", b.time, "busy");
    r("", percent(b.time / c.time, 0), "of the time");
    r("", meaning_of(b.bound), "what it is");
  });
}

std::vector<std::vector<std::string>> facts_of(const KernelResult& x) {
  const KernelCost& c = x.cost;
  std::vector<std::vector<std::string>> facts;
  const FlopsPerSecond peak = x.chip.per_clock[x.type] * x.chip.cores * x.device.clock;
  const FlopsPerByte ridge = peak / x.chip.bandwidth;
  if (c.flops.value > 0) {
    facts.push_back({"rate", format(c.flops / c.time),
                     fmt::format("{} of the {} peak, {}", format_percent(c.flops / c.time / peak),
                                 name_of(runs_as(x.device, x.type)), format(peak))});
    facts.push_back({"intensity", format(c.flops / c.dram),
                     fmt::format("ridge {}: {} by DRAM alone", format(ridge),
                                 c.flops / c.dram > ridge ? "not bound" : "bound")});
  }
  facts.push_back({"DRAM", format(c.dram),
                   fmt::format("{}, {} of peak", format(c.dram / c.time),
                               format_percent(c.dram / c.time / x.chip.bandwidth))});
  if (c.tiling.m > 0) {
    facts.push_back(
        {"tile", fmt::format("{} x {}", c.tiling.m, c.tiling.n),
         fmt::format("{:.0f} wave{}{}", c.tiling.waves, c.tiling.waves > 1 ? "s" : "",
                     c.tiling.split > 1 ? fmt::format(", k split in {}", c.tiling.split) : "")});
  }
  facts.push_back({"clock", format(c.clock, 4),
                   fmt::format("{} asked back to back, limit {}", format(x.power),
                               format(x.chip.power_limit))});
  facts.push_back({"bound", std::string(name_of(c.bound)), meaning_of(c.bound)});
  return facts;
}

std::string fabric_of(const CollectiveResult& x) {
  const auto i = static_cast<std::size_t>(x.cost.fabric);
  return i < x.system.fabrics.size() ? x.system.fabrics[i].name : "the host's link";
}

std::string bound_of(const CollectiveResult& x) {
  const CollectiveCost& c = x.cost;
  if (c.algorithm == CollectiveAlgorithm::none) return "nothing";
  if (c.transfer >= c.start && c.transfer >= c.latency) return fabric_of(x);
  return c.latency > c.start ? "latency" : "launch";
}

std::vector<std::vector<std::string>> facts_of(const CollectiveResult& x) {
  const CollectiveCost& c = x.cost;
  std::string of_peak = "as nccl-tests count it";
  if (const auto at = static_cast<std::size_t>(c.fabric); at < x.system.fabrics.size()) {
    of_peak += fmt::format("; a device's raw {} on {}", format(x.system.fabrics[at].bandwidth),
                           x.system.fabrics[at].name);
  }
  const auto share = [&](Seconds s) { return format_percent(s / c.time, 0) + " of the time: "; };
  return {{"algorithm", std::string(name_of(c.algorithm)),
           "protocol " + std::string(name_of(c.protocol))},
          {"bus bandwidth", format(c.bus), of_peak},
          {"start", format(c.start), share(c.start) + "launch and synchronisation"},
          {"steps", format(c.latency), share(c.latency) + "from rank to rank"},
          {"transfer", format(c.transfer), share(c.transfer) + "over " + fabric_of(x)},
          {"bound", bound_of(x)}};
}

/// Bus bandwidth by size, of the library's best way and of what the wires alone would allow.
plot::Figure figure_of(const CollectiveResult& x) {
  plot::Figure f;
  f.title = fmt::format("{} over {} devices of {}", name_of(x.what.op), x.what.group.ranks,
                        x.system.name);
  f.x = {.label = "buffer", .dimension = Bytes::dimension, .log = true};
  f.y = {.label = "bus bandwidth", .dimension = BytesPerSecond::dimension, .log = true};
  const Network network = lower(x.system);
  plot::Series with{.name = x.library.name, .mark = plot::Mark::line_and_dots};
  plot::Series wires{.name = "the wires alone", .mark = plot::Mark::dashed_line};
  CollectiveCase what = x.what;
  for (double bytes = 1024; bytes <= 8.6e9; bytes *= 2) {
    what.bytes = Bytes(bytes);
    const CollectiveCost c = evaluate_collective(what, network, x.library);
    const CollectiveCost bound = evaluate_collective(what, network, CollectiveLibrary{});
    with.points.push_back(
        {bytes, c.bus.value,
         fmt::format("{}, {}, {}", format(what.bytes), name_of(c.algorithm), format(c.time))});
    wires.points.push_back({bytes, bound.bus.value, ""});
  }
  f.series = {std::move(with), std::move(wires)};
  return f;
}

}  // namespace

Answer answer_of(const KernelResult& x) {
  const KernelCost& c = x.cost;
  Answer a;
  a("device", x.device.name);
  a("seconds", c.time);
  a("flops", c.flops);
  a("tflops", (c.flops / c.time).value / 1e12);
  Record bytes;
  bytes("dram", c.dram);
  bytes("l2", c.l2);
  bytes("shared", c.shared);
  a.object("bytes", "KernelBytes", std::move(bytes));
  a("bound", c.bound);
  a.node("busy_seconds", "number", to_node(c.busy));
  a("clock_hz", c.clock);
  a("power_watts", x.power);
  if (c.tiling.m > 0) {
    Record tile;
    tile("m", c.tiling.m);
    tile("n", c.tiling.n);
    tile("split", c.tiling.split);
    tile("waves", c.tiling.waves);
    a.object("tile", "Tile", std::move(tile));
  }
  a.say(fmt::format("{} on {}: {}", x.kernel, x.device.name, format(c.time, 4)));
  add(a, {.question = x.asked, .device = known_as(x.device)}, {c.time.value});
  a.gap();
  a.facts(facts_of(x), 2);
  a.say("\nhow long each resource alone would need:");
  a.show(busy_table(c), {.indent = 2});
  a.assume(x.assumptions);
  return a;
}

Answer answer_of(const CollectiveResult& x) {
  const CollectiveCost& c = x.cost;
  Answer a;
  a("system", x.system.name);
  a("collective", x.what.op);
  a("library", x.library.name);
  a("gpus", x.what.group.ranks);
  a("gpus_per_node", x.what.group.per_node);
  a("bytes", x.what.bytes);
  a("seconds", c.time);
  a("start_seconds", c.start);
  a("latency_seconds", c.latency);
  a("transfer_seconds", c.transfer);
  a("algorithm", c.algorithm);
  a("protocol", c.protocol);
  a("bus_bytes_per_second", c.bus);
  a("bound", bound_of(x));
  a.say(fmt::format("{} of {} over {} devices of {}: {}\n", name_of(x.what.op),
                    format(x.what.bytes), x.what.group.ranks, x.system.name, format(c.time, 4)));
  if (c.algorithm == CollectiveAlgorithm::none) {
    a.say("  one rank has nothing to do");
  } else {
    add(a,
        {.question = Asked::collective,
         .device = known_as(x.system),
         .many_nodes = x.what.group.ranks > x.what.group.per_node},
        {c.time.value});
    a.facts(facts_of(x), 2);
  }
  a.figure(figure_of(x));
  return a;
}

}  // namespace sextant
