// SPDX-License-Identifier: Apache-2.0
// What limits training and serving as devices change: by generation of real GPUs, and by node of
// generated ones.
#include <fmt/format.h>

#include <array>

#include "sextant/io/presets.hpp"
#include "sextant/study/limits.hpp"
#include "sextant/study/problems.hpp"
#include "sextant/study/study.hpp"
#include "sextant/tech/usual.hpp"
#include "sextant/units/format.hpp"

namespace sextant::study {
namespace {

struct Contender {
  std::string name;
  System system;
  Precision narrow = Precision::fp16;  ///< what its time trains in
  std::string changed = "generation";  ///< what differs between it and its neighbours
};

struct Generated {
  const char* title;
  const char* node;
  const char* dram;
  const char* network;
};
// The memory and the network of each node's time.
constexpr std::array<Generated, 8> generated = {{{"N12", "n12", "hbm2", "ib-hdr"},
                                                 {"N7", "n7", "hbm2e", "ib-hdr"},
                                                 {"N5", "n5", "hbm3", "ib-ndr"},
                                                 {"N3", "n3", "hbm4", "ib-xdr"},
                                                 {"N2", "n2", "hbm4", "ib-xdr"},
                                                 {"A16", "a16", "hbm4e", "ib-xdr"},
                                                 {"A14", "a14", "hbm5", "ib-gdr"},
                                                 {"A10", "a10", "hbm5", "ib-gdr"}}};

Contender generated_contender(const Generated& g, const char* core) {
  const Technology t = load_technology({g.node, g.dram, "", core});
  const Blueprint d = generate(t, {.links = usual_parts(t.node).links});
  return {g.title, system_of(d, t, {.network = load_link(g.network)}),
          t.core.fp8 > 0 ? Precision::fp8 : Precision::fp16, "all together"};
}

/// N5 with HBM3 and NDR, of which one thing moves and the others stay; Hopper's core in all.
std::vector<Contender> one_at_a_time() {
  std::vector<Contender> list;
  const auto add = [&](const char* what, const Generated& g) {
    list.push_back(generated_contender(g, ""));
    list.back().changed = what;
  };
  for (const auto& [title, node] : {std::pair{"N12", "n12"},
                                    {"N7", "n7"},
                                    {"N5", "n5"},
                                    {"N3", "n3"},
                                    {"N2", "n2"},
                                    {"A14", "a14"},
                                    {"A10", "a10"}}) {
    add("logic", {title, node, "hbm3", "ib-ndr"});
  }
  for (const auto& [title, dram] : {std::pair{"HBM2", "hbm2"},
                                    {"HBM2E", "hbm2e"},
                                    {"HBM3", "hbm3"},
                                    {"HBM3E", "hbm3e"},
                                    {"HBM4", "hbm4"},
                                    {"HBM5", "hbm5"}}) {
    add("memory", {title, "n5", dram, "ib-ndr"});
  }
  for (const auto& [title, network] :
       {std::pair{"HDR", "ib-hdr"}, {"NDR", "ib-ndr"}, {"XDR", "ib-xdr"}, {"GDR", "ib-gdr"}}) {
    add("network", {title, "n5", "hbm3", network});
  }
  return list;
}

std::vector<Contender> contenders() {
  using enum Precision;
  std::vector<Contender> list = {{"A100", load_system("dgx-a100"), fp16},
                                 {"H100", load_system("dgx-h100"), fp8},
                                 {"H200", load_system("dgx-h200"), fp8},
                                 {"B200", load_system("dgx-b200"), fp8}};
  for (const Generated& g : generated) list.push_back(generated_contender(g, "own"));
  return list;
}

struct BottleneckRow {
  std::string name;
  std::string changed;
  Seconds step;
  Limits training;
  Seconds latency;
  Limits serving;
};

BottleneckRow bottlenecks_of(const Contender& x) {
  Strategy s = small_strategy();
  s.precision = x.narrow;
  const Problem p =
      problem_of(x.system, "megatron-core", load_model("gpt3-6.7b"), {.batch = 512, .seq = 2048});
  BottleneckRow r{.name = x.name,
                  .changed = x.changed,
                  .step = evaluate(p, s).step,
                  .training = limits_of_training(p, s, 8),
                  .latency = {},
                  .serving = {}};
  Problem q = problem_of(x.system, "trtllm", load_model("llama2-13b"), {});
  q.serving = {.batch = 8, .input = 200, .output = 200};
  Strategy two;
  two.tp = 2;
  r.latency = serve(q, two).latency;
  r.serving = limits_of_serving(q, two, 8);
  return r;
}

Records records(const std::vector<BottleneckRow>& rows) {
  Records all;
  for (const bool trains : {true, false}) {
    if (!trains) all.rule();
    for (const BottleneckRow& x : rows) {
      Record& r = all.rows.emplace_back();
      r("changed", x.changed, "changed");
      r("device", x.name, "device");
      r("what", trains ? "training" : "serving", "what");
      r("seconds", trains ? x.step : x.latency, "time");
      describe(r, trains ? x.training : x.serving);
    }
  }
  return all;
}

std::string sentence(const std::vector<BottleneckRow>& rows, bool trains) {
  const auto of = [&](const BottleneckRow& r) -> const Limits& {
    return trains ? r.training : r.serving;
  };
  const BottleneckRow& first = rows[4];
  const BottleneckRow& last = rows.back();
  std::string changes;
  for (std::size_t i = 0; i < Limits::size; ++i) {
    const double a = of(first).values[i];
    const double b = of(last).values[i];
    if (std::max(a, b) < 0.02) continue;
    changes += fmt::format("{}{} {} to {}", changes.empty() ? "" : ", ", names_of(Limit{})[i],
                           format_percent(a, 0), format_percent(b, 0));
  }
  return fmt::format(
      "{}: from {} to {} the time falls {:.1f}x and its shares move: {}. What limits most is {} at "
      "first and {} at the end; "
      "of A100 it is {}, of B200 {}.",
      trains ? "Training a 7B GPT on 1024 devices" : "Serving Llama 2 13B on two devices, batch 8",
      first.name, last.name, trains ? first.step / last.step : first.latency / last.latency,
      changes, largest(of(first)), largest(of(last)), largest(of(rows[0])), largest(of(rows[3])));
}

/// "logic 3.1x (N12 to A10), …": what one thing alone does to the time.
std::string alone(const std::vector<BottleneckRow>& rows, bool trains) {
  std::string text;
  for (const char* what : {"logic", "memory", "network"}) {
    const BottleneckRow* first = nullptr;
    const BottleneckRow* last = nullptr;
    for (const BottleneckRow& r : rows) {
      if (r.changed != what) continue;
      if (first == nullptr) first = &r;
      last = &r;
    }
    const double gain = trains ? first->step / last->step : first->latency / last->latency;
    const Limits& at_end = trains ? last->training : last->serving;
    text += fmt::format("{}{} from {} to {} {:.2f}x, ending on {}", text.empty() ? "" : "; ", what,
                        first->name, last->name, gain, largest(at_end));
  }
  return text;
}

/// Bars of those rows in which one thing moves.
plot::Figure bars_of(const char* title, const std::vector<BottleneckRow>& rows, bool trains,
                     bool all, const char* y) {
  std::vector<Bar> bars;
  for (const BottleneckRow& r : rows) {
    const bool generation = r.changed == "generation" || r.changed == "all together";
    if (generation != all) continue;
    bars.push_back({!all                        ? r.changed
                    : r.changed == "generation" ? "real"
                                                : "generated",
                    r.name, trains ? r.training : r.serving});
  }
  return stacked(title, bars, y);
}

}  // namespace

Study bottleneck_evolution() {
  std::vector<BottleneckRow> rows;
  for (const Contender& s : contenders()) rows.push_back(bottlenecks_of(s));
  const std::vector<BottleneckRow> together = rows;
  for (const Contender& s : one_at_a_time()) rows.push_back(bottlenecks_of(s));
  return {
      .title = "What limits training and serving, by generation and by node",
      .rows = records(rows),
      .figure =
          bars_of("What a training step of a 7B GPT waits for", rows, true, true, "time of a step"),
      .findings = {sentence(together, true), sentence(together, false),
                   "Real devices first, each in the narrowest type that training uses on it, "
                   "then generated ones of 814 mm2 with the cores, memory, links and network of "
                   "their time.",
                   "One thing at a time around N5 with HBM3 and NDR, Hopper's core in all, "
                   "training: " +
                       alone(rows, true) + ". Serving: " + alone(rows, false) + "."},
      .companions = {
          bars_of("What a request to Llama 2 13B waits for", rows, false, true, "latency"),
          bars_of("One thing at a time: training", rows, true, false, "time of a step"),
          bars_of("One thing at a time: serving", rows, false, false, "latency")}};
}

}  // namespace sextant::study
