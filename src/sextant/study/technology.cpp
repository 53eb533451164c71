// SPDX-License-Identifier: Apache-2.0
// Training on devices that are generated for each logic node, memory and network, with the area and
// power of one real GPU split as the workload likes best (Kundu et al., IISWC 2024).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <future>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "sextant/io/presets.hpp"
#include "sextant/predict/rules.hpp"
#include "sextant/predict/step.hpp"
#include "sextant/study/limits.hpp"
#include "sextant/study/problems.hpp"
#include "sextant/study/study.hpp"
#include "sextant/tech/allocate.hpp"
#include "sextant/tech/usual.hpp"
#include "sextant/units/format.hpp"

namespace sextant::study {
namespace {

constexpr std::array<const char*, 8> nodes = {"n12", "n10", "n7", "n5", "n3", "n2", "a14", "a10"};
constexpr std::array<const char*, 8> titles = {"N12", "N10", "N7", "N5", "N3", "N2", "N1.4", "N1"};

struct PartsLine {
  const char* dram;
  const char* network;
  const char* title;
  const char* core = "";  ///< one for all nodes
};
constexpr std::array<PartsLine, 7> parts_lines = {
    {{"hbm2", "ib-ndr", "HBM2, NDR"},
     {"hbm2e", "ib-ndr", "HBM2E, NDR"},
     {"hbm3", "ib-ndr", "HBM3, NDR"},
     {"hbm4", "ib-ndr", "HBM4, NDR"},
     {"hbm4", "ib-xdr", "HBM4, XDR"},
     {"hbm4", "ib-gdr", "HBM4, GDR"},
     {"hbm3", "ib-ndr", "HBM3, NDR, cores of the time", "own"}}};
constexpr std::size_t memory_lines = 4;  // lines that differ in memory alone
constexpr std::size_t own_cores = parts_lines.size() - 1;
bool same_device(std::size_t a, std::size_t b) {
  return std::string_view(parts_lines.at(a).dram) == parts_lines.at(b).dram &&
         std::string_view(parts_lines.at(a).core) == parts_lines.at(b).core;
}

struct NodeRow {
  std::size_t node = 0;
  std::size_t line = 0;
  Allocation allocation;
  Estimate estimate;
  Limits limits;
  Limits multiplies;
  Strategy best;  ///< of some, on this device
  Estimate with_best;
};

/// The split is chosen for all of these, so that none of them alone decides it; the first is what
/// is reported.
const std::vector<Model>& models() {
  static const std::vector<Model> all = {load_model("gpt3-6.7b"), load_model("llama2-7b"),
                                         load_model("gpt-2.7b")};
  return all;
}

/// On hosts that keep up with devices of any node.
Problem problem_on(const Technology& t, const Blueprint& d, const LinkPart& network,
                   const Model& model) {
  return problem_of(system_of(d, t, {.network = network}), "megatron-graph", model,
                    {.batch = 512, .seq = 2048});
}

/// Seconds of a step on devices of one technology, by network: what a device computes is the same
/// with all of them, so that it is priced once.
class Steps {
 public:
  Steps(const Technology& t, std::vector<LinkPart> networks)
      : t_(t), networks_(std::move(networks)) {}

  double operator()(const Blueprint& d, std::size_t model, std::size_t network) {
    const auto [found, is_new] =
        known_.try_emplace({d.device.l2.capacity.value, d.stacks, d.links, d.device.cores, model});
    if (is_new) found->second = steps_of(d, models().at(model));
    return found->second.at(network);
  }

 private:
  std::vector<double> steps_of(const Blueprint& d, const Model& model) const {
    std::vector<double> steps(networks_.size(), std::numeric_limits<double>::infinity());
    std::optional<Block> block;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Problem p = problem_on(t_, d, networks_[i], model);
      const Strategy s = small_strategy();
      if (legal(p, s) != Verdict::fits) continue;
      if (!block) block = block_of(p, s);
      const Estimate e = evaluate(p, s, *block, mapping_of(p, s));
      if (e.verdict == Verdict::fits) steps[i] = e.step.value;
    }
    return steps;
  }

  const Technology& t_;
  std::vector<LinkPart> networks_;
  /// By cache, stacks, links, cores and model.
  std::map<std::tuple<double, int, int, int, std::size_t>, std::vector<double>> known_;
};

/// Geometric mean of the step over the models and, each at its own places, over nearby core counts.
Objective objective_on(Steps& steps, std::size_t network) {
  std::vector<Objective> each;
  for (std::size_t i = 0; i < models().size(); ++i) {
    const auto step = [&steps, network, i](const Blueprint& d) { return steps(d, i, network); };
    const double shift = (static_cast<double>(i) - 1) / 3;
    each.push_back(over_core_counts(step, 2, 0.06, shift));
  }
  return [each](const Blueprint& d) {
    double product = 1;
    for (const Objective& o : each) product *= o(d);
    return std::pow(product, 1.0 / static_cast<double>(each.size()));
  };
}

/// What a user would try on 1024 devices.
std::vector<Strategy> candidates() {
  std::vector<Strategy> list;
  for (const int tp : {1, 2, 4, 8}) {
    for (const int pp : {1, 2, 4}) {
      for (const int microbatch : {1, 2, 4}) {
        Strategy s = small_strategy();
        s.tp = tp;
        s.pp = pp;
        s.dp = 1024 / (tp * pp);
        s.sp = tp > 1;
        s.microbatch = microbatch;
        list.push_back(s);
      }
    }
  }
  return list;
}

void find_best(const Problem& p, NodeRow& r) {
  r.best = small_strategy();
  r.with_best = r.estimate;
  for (const Strategy& s : candidates()) {
    const Estimate e = evaluate(p, s);
    if (e.verdict != Verdict::fits || e.step >= r.with_best.step) continue;
    r.best = s;
    r.with_best = e;
  }
}

/// Fills the rows of the lines from `line` on that differ in their network alone.
void fill_rows(std::vector<NodeRow>& rows, std::size_t node, std::size_t line,
               int least_stacks = 1) {
  const Technology t =
      load_technology({nodes[node], parts_lines[line].dram, "nvlink4", parts_lines[line].core});
  std::vector<LinkPart> networks;
  for (std::size_t i = line; i < parts_lines.size() && same_device(i, line); ++i) {
    networks.push_back(load_link(parts_lines[i].network));
  }
  Steps steps(t, networks);
  Budget budget;  // the area of H100
  budget.power = Watts(700);
  budget.links = usual_parts(t.node).links;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    NodeRow& r = rows[(line + i) * nodes.size() + node];
    r.node = node;
    r.line = line + i;
    // Waves of tiles leave about a per cent of noise in the mean over core counts; within it a node
    // would ask for more stacks than the next.
    r.allocation = allocate(t, budget, objective_on(steps, i),
                            {.as_good = 0.01, .least_stacks = least_stacks});
    const Problem p = problem_on(t, r.allocation.blueprint, networks[i], models().front());
    r.estimate = evaluate(p, small_strategy());
    r.limits = limits_of_training(p, small_strategy(), 8);
    r.multiplies = limits_of_multiplies(p, small_strategy());
    find_best(p, r);
  }
}

/// A node keeps the memory of the one before it, where that is as good.
void keep_memory(std::vector<NodeRow>& rows) {
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const NodeRow& before = rows[i - 1];
    if (rows[i].node == 0 || (rows[i].line > 0 && same_device(rows[i].line, rows[i].line - 1))) {
      continue;
    }
    const int stacks = before.allocation.blueprint.stacks;
    if (rows[i].allocation.blueprint.stacks < stacks) {
      fill_rows(rows, rows[i].node, rows[i].line, stacks);
    }
  }
}

/// Line by line, node by node; each is a search of its own, so the cores share them.
std::vector<NodeRow> compute_all() {
  std::vector<NodeRow> rows(parts_lines.size() * nodes.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < rows.size(); i = next++) {
      const std::size_t line = i / nodes.size();
      if (line == 0 || !same_device(line, line - 1)) fill_rows(rows, i % nodes.size(), line);
    }
  };
  std::vector<std::future<void>> workers;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    workers.push_back(std::async(std::launch::async, work));
  }
  for (std::future<void>& w : workers) w.get();
  keep_memory(rows);
  return rows;
}

void describe_node(Record& r, const NodeRow& x) {
  const NodeRow& first = *(&x - x.node);  // of its line
  const Blueprint& d = x.allocation.blueprint;
  const PartsLine& l = parts_lines[x.line];
  r("", x.node == 0 ? l.title : "", "memory, network");
  r("dram", l.dram);
  r("core", *l.core != 0 ? l.core : usual_core);
  r("network", l.network);
  r("node", titles[x.node], "node");
  r("cores", d.device.cores, "cores");
  r("peak", d.device.matrix[Precision::bf16], "16-bit peak");
  r("l2_bytes", binary(d.device.l2.capacity), "L2");
  r("bytes_per_second", d.device.memory.bandwidth, "bandwidth");
  r("links", d.links, "links");
  r("asked_watts", d.asked, "asks for");
  r("streaming_watts", d.streaming);
  r("limit_watts", d.device.power.limit);
  r("binds", name_of(d.binds), "clock by");
  r("step_seconds", x.estimate.step, "step");
  r("", fixed(first.estimate.step / x.estimate.step, 2, "x"), "over N12");
  r("best_step_seconds", x.with_best.step, "best strategy");
  r("best_strategy", fmt::format("tp {} pp {} mb {}", x.best.tp, x.best.pp, x.best.microbatch),
    "which");
  r("", largest(x.limits), "limited by");
  r("starts", x.allocation.starts);
  r("agreeing", x.allocation.agreeing);
  r("spread", percent(x.allocation.spread, 1), "starts differ");
  r("", percent(x.limits[Limit::dram], 0), "DRAM");
  r("", percent(x.limits[Limit::network], 0), "network");
  describe(r, x.limits, false);
  r("multiplies_compute", x.multiplies[Limit::compute]);
  r("multiplies_l2", x.multiplies[Limit::l2]);
  r("multiplies_dram", x.multiplies[Limit::dram]);
}

/// One of three small figures on the same scales: what a memory, a network or a strategy changes.
struct Curve {
  std::size_t line;
  const char* title;
  bool best = false;  ///< strategy on each device
};
plot::Figure figure_of(const std::vector<NodeRow>& rows, const char* title,
                       const std::vector<Curve>& curves) {
  plot::Figure f;
  f.title = title;
  f.width = 400;
  f.height = 340;
  f.x.label = "logic node";
  f.x.names.assign(titles.begin(), titles.end());
  f.y.label = "step of a 7B GPT on 1024 generated devices";
  f.y.dimension = Dimension{.time = 1};
  f.y.log = true;
  double least = 1e9;
  double most = 0;
  for (const NodeRow& r : rows) {
    least = std::min({least, r.estimate.step.value, r.with_best.step.value});
    most = std::max({most, r.estimate.step.value, r.with_best.step.value});
  }
  f.y.min = 0.9 * least;
  f.y.max = 1.1 * most;
  for (const Curve& c : curves) {
    plot::Series s{.name = c.title, .mark = plot::Mark::line_and_dots};
    for (const NodeRow& r : rows) {
      if (r.line != c.line) continue;
      const Seconds step = (c.best ? r.with_best : r.estimate).step;
      s.points.push_back({static_cast<double>(r.node), step.value,
                          fmt::format("{}, {}: {}", titles[r.node], c.title, format(step))});
    }
    f.series.push_back(std::move(s));
  }
  return f;
}

const NodeRow& at(const std::vector<NodeRow>& rows, std::size_t node, std::size_t line) {
  return rows[line * nodes.size() + node];
}

/// Gain a node brings on average from `from` to `to`.
double gain(const std::vector<NodeRow>& rows, std::size_t from, std::size_t to, std::size_t line) {
  return at(rows, from, line).estimate.step / at(rows, to, line).estimate.step;
}

std::vector<std::string> findings_of(const std::vector<NodeRow>& rows) {
  constexpr std::size_t n5 = 3;
  constexpr std::size_t last = nodes.size() - 1;
  std::string saturation;
  for (std::size_t l = 0; l < memory_lines; ++l) {
    saturation += fmt::format("{}{} {:.1f}x and {:.2f}x", saturation.empty() ? "" : "; ",
                              parts_lines[l].title, gain(rows, 0, n5, l), gain(rows, n5, last, l));
  }
  const auto best_gain = [&](std::size_t from, std::size_t to, std::size_t line) {
    return at(rows, from, line).with_best.step / at(rows, to, line).with_best.step;
  };
  const auto share = [&](std::size_t node, std::size_t line, Limit l) {
    return format_percent(at(rows, node, line).limits[l], 0);
  };
  const auto multiplies = [&](std::size_t node, std::size_t line) {
    return format_percent(1 - at(rows, node, line).multiplies[Limit::compute], 0);
  };
  int agreed = 0;
  int by_power = 0;
  double spread = 0;
  Watts least{1e9};
  for (const NodeRow& r : rows) {
    agreed += r.allocation.agreeing == r.allocation.starts ? 1 : 0;
    spread = std::max(spread, r.allocation.spread);
    by_power += r.allocation.blueprint.binds == Binding::power ? 1 : 0;
    least = min(least, r.allocation.blueprint.asked);
  }
  return {
      fmt::format("From N12 to N5 and from N5 to N1: {}.", saturation),
      fmt::format("At N1, faster memory is worth {:.2f}x (HBM2 to HBM4); at N12 {:.2f}x. "
                  "Multiplies that do not wait "
                  "for arithmetic take {} of the multiplies' time at N12 with HBM2, {} at N1; "
                  "with HBM4 {} at N1.",
                  at(rows, last, 0).estimate.step / at(rows, last, 3).estimate.step,
                  at(rows, 0, 0).estimate.step / at(rows, 0, 3).estimate.step, multiplies(0, 0),
                  multiplies(last, 0), multiplies(last, 3)),
      fmt::format("The network takes {} of a step at N12 and {} at N1 with HBM4 and NDR. GDR "
                  "in place of NDR gives {:.2f}x "
                  "at N12 and {:.2f}x at N1.",
                  share(0, 3, Limit::network), share(last, 3, Limit::network),
                  at(rows, 0, 3).estimate.step / at(rows, 0, 5).estimate.step,
                  at(rows, last, 3).estimate.step / at(rows, last, 5).estimate.step),
      fmt::format("With the best of {} strategies on each device, N5 to N1 gives {:.2f}x with "
                  "HBM3 and {:.2f}x with HBM4; with the same on all {:.2f}x and {:.2f}x.",
                  candidates().size(), best_gain(n5, last, 2), best_gain(n5, last, 3),
                  gain(rows, n5, last, 2), gain(rows, n5, last, 3)),
      fmt::format("Hopper's core throughout, so that gains are technology: N12 to N5 {:.1f}x. "
                  "With the cores of each time (Volta's to N10, Ampere's at N7, Hopper's at "
                  "N5, Blackwell's from N3 on) {:.1f}x, and N5 to N1 {:.2f}x.",
                  gain(rows, 0, n5, 2), gain(rows, 0, n5, own_cores),
                  gain(rows, n5, last, own_cores)),
      fmt::format("Splits are the best in the mean over three models and six core counts within "
                  "6 %. Of {} devices {} agree from all five starts within 0.5 %; the worst "
                  "start of any ends {} above its best.",
                  rows.size(), agreed, format_percent(spread)),
      fmt::format("Every device has 814 mm2, NVLink 4 and a limit of 700 W. Power holds down the "
                  "clock of {} of {}; of the others the node does, and the least asks for {}.",
                  by_power, rows.size(), format(least))};
}

}  // namespace

Study node_scaling() {
  const std::vector<NodeRow> rows = compute_all();
  std::vector<Bar> bars;
  for (const std::size_t line : {std::size_t{1}, std::size_t{3}}) {
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      bars.push_back({line == 1 ? "HBM2E" : "HBM4", titles[n], at(rows, n, line).multiplies});
    }
  }
  return {
      .title = "Training a 7B GPT on 1024 devices, by logic node, memory and network",
      .rows = records_of(rows, describe_node, [](const NodeRow& x) { return x.node == 0; }),
      .figure = figure_of(rows, "Memory, with NDR",
                          {{0, "HBM2"}, {1, "HBM2E"}, {2, "HBM3"}, {3, "HBM4"}}),
      .findings = findings_of(rows),
      .companions = {figure_of(rows, "Network, with HBM4", {{3, "NDR"}, {4, "XDR"}, {5, "GDR"}}),
                     figure_of(rows, "Strategy and cores, with HBM3 and NDR",
                               {{2, "one strategy"},
                                {2, "the best on each", true},
                                {own_cores, "cores of the time"}}),
                     stacked("What the multiplies wait for", bars, "time of the multiplies")}};
}

}  // namespace sextant::study
