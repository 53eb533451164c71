// SPDX-License-Identifier: Apache-2.0
// GPT-3 175B on 8192 devices from A100 to B200 (Kundu et al., IISWC 2024): how much faster, and
// what share of that each change has, in every order of changes (Shapley 1953).
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "cli/limits.hpp"
#include "cli/study.hpp"
#include "cli/tech.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/predict/train.hpp"
#include "sextant/units/format.hpp"

namespace sextant::cli {
namespace {

enum class Factor : std::uint8_t { compute, precision, dram, nvlink, network, capacity, count };
constexpr auto names_of(Factor) {
  return std::array<std::string_view, 6>{"compute rate", "precision", "DRAM bandwidth",
                                         "NVLink",       "network",   "batch (memory capacity)"};
}
constexpr int factors = 6;

/// One generation, as its parts.
struct Generation {
  std::string name;
  System system;
  Precision precision = Precision::fp16;
  int batch = 1024;
  int microbatch = 1;
};

Generation generation(std::string name, const char* system, Precision p, bool nvlink_switch,
                      int batch, int microbatch) {
  Generation g{.name = std::move(name),
               .system = load_system(system),
               .precision = p,
               .batch = batch,
               .microbatch = microbatch};
  if (nvlink_switch) {
    // A second level of NVLink switches gives every device its whole NVLink rate to all others.
    Fabric& f = g.system.fabrics.back();
    const int reach = f.reach;
    f = g.system.fabrics.front();
    f.reach = reach;
    f.name += " switch";
    f.latency = load_link("nvlink-switch").latency;
  }
  return g;
}

std::vector<Generation> generations() {
  using enum Precision;
  return {generation("A100 HDR, FP16", "dgx-a100", fp16, false, 1024, 1),
          generation("H100 NDR, FP8", "dgx-h100", fp8, false, 1024, 1),
          generation("H100 NVLink switch, FP8", "dgx-h100", fp8, true, 1024, 1),
          generation("H200 NVLink switch, FP8, larger batch", "dgx-h200", fp8, true, 4096, 2),
          generation("B200 NDR, FP4", "dgx-b200", fp4, false, 4096, 2),
          generation("B200 NVLink switch, FP4, larger batch", "dgx-b200", fp4, true, 16384, 4)};
}

/// The first generation with those factors of the last that `taken` has.
Generation mixed(const Generation& a, const Generation& b, unsigned taken) {
  const auto has = [&](Factor f) { return (taken >> static_cast<unsigned>(f) & 1U) != 0; };
  Generation g = a;
  Device& d = g.system.device;
  const Memory memory = d.memory;
  if (has(Factor::compute)) d = b.system.device;
  d.memory = memory;
  // What narrow types gain over 16 bits comes with the precision, not with the rate.
  const FlopsPerSecond rate = max(d.matrix[Precision::fp16], d.matrix[Precision::bf16]);
  const Device& precise = has(Factor::precision) ? b.system.device : a.system.device;
  const FlopsPerSecond wide = max(precise.matrix[Precision::fp16], precise.matrix[Precision::bf16]);
  for (const Precision p : {Precision::fp8, Precision::int8, Precision::fp6, Precision::fp4}) {
    d.matrix[p] = rate * (precise.matrix[p] / wide);
  }
  if (has(Factor::precision)) g.precision = b.precision;
  if (has(Factor::dram)) d.memory.bandwidth = b.system.device.memory.bandwidth;
  if (has(Factor::nvlink)) g.system.fabrics.front() = b.system.fabrics.front();
  if (has(Factor::network)) g.system.fabrics.back() = b.system.fabrics.back();
  if (has(Factor::capacity)) {
    d.memory.capacity = b.system.device.memory.capacity;
    g.batch = b.batch;
    g.microbatch = b.microbatch;
  }
  g.system.host = has(Factor::compute) ? b.system.host : a.system.host;
  return g;
}

struct Result {
  Estimate estimate;
  double tokens_per_second = 0;
};

Strategy strategy_of(const Generation& g) {
  Strategy s;
  s.tp = 8;
  s.pp = 8;
  s.dp = 128;
  s.interleave = 3;
  s.sp = true;
  s.recompute = Recompute::selective;
  s.zero = 1;
  s.microbatch = g.microbatch;
  s.precision = g.precision;
  return s;
}

Problem problem_on(const Generation& g) {
  static const Model model = load_model("gpt3-175b");
  return problem_of(g.system, "megatron-core", model, {.batch = g.batch, .seq = 2048});
}

Result run(const Generation& g) {
  Result r{.estimate = evaluate(problem_on(g), strategy_of(g))};
  if (r.estimate.step.value <= 0) {
    throw InputError(g.name + ": " + std::string(name_of(r.estimate.verdict)));
  }
  r.tokens_per_second = r.estimate.tokens / r.estimate.step.value;
  return r;
}

/// Shares of the logarithm of the gain, so that the product of the factors is the whole.
Table<double, Factor> shapley(const Generation& a, const Generation& b) {
  std::array<double, 1U << factors> value{};
  for (unsigned set = 0; set < value.size(); ++set) {
    value[set] = std::log(run(mixed(a, b, set)).tokens_per_second);
  }
  std::array<double, factors + 1> factorial{1};
  for (std::size_t i = 1; i < factorial.size(); ++i)
    factorial[i] = factorial[i - 1] * static_cast<double>(i);
  Table<double, Factor> shares;
  for (unsigned set = 0; set < value.size(); ++set) {
    const auto size = static_cast<std::size_t>(__builtin_popcount(set));
    for (unsigned f = 0; f < factors; ++f) {
      if ((set >> f & 1U) != 0) continue;
      // Orders in which f comes right after `set`.
      const double weight = factorial[size] * factorial[factors - 1 - size] / factorial[factors];
      shares.values[f] += weight * (value[set | 1U << f] - value[set]);
    }
  }
  return shares;
}

/// NeMo's published GPT-3 175B in FP8 on 512 devices, batch 2048 (NeMo performance summary 2025).
struct Nemo {
  const char* system;
  int pp = 8;
  double measured = 0;  ///< tokens/s a device
};
constexpr std::array<Nemo, 2> nemo = {{{"dgx-h100", 8, 866}, {"dgx-b200", 4, 1600}}};

double predict(const Nemo& n) {
  Strategy s;
  s.tp = 4;
  s.pp = n.pp;
  s.dp = 512 / (s.tp * s.pp);
  s.interleave = 6;
  s.sp = true;
  s.zero = 1;
  s.microbatch = 2;
  s.precision = Precision::fp8;
  const Estimate e = evaluate(problem_of(load_system(n.system), "megatron-core",
                                         load_model("gpt3-175b"), {.batch = 2048, .seq = 2048}),
                              s);
  return e.step.value > 0 ? e.tokens / e.step.value / e.devices : 0;
}

struct Row {
  Generation generation;
  Result result;
  double gain = 1;
};

TextTable for_people(const std::vector<Row>& rows, const Table<double, Factor>& shares) {
  using enum Align;
  TextTable t;
  t.columns = {{"system"},     {"batch", right},  {"step", right}, {"tokens/s", right},
               {"MFU", right}, {"memory", right}, {"gain", right}};
  for (const Row& r : rows) {
    t.rows.push_back({r.generation.name, std::to_string(r.generation.batch),
                      format(r.result.estimate.step),
                      fmt::format("{:.2f} M", r.result.tokens_per_second / 1e6),
                      format_percent(r.result.estimate.mfu()),
                      format_binary_bytes(r.result.estimate.memory.total().value),
                      fmt::format("{:.1f}x", r.gain)});
  }
  t.rows.push_back({});
  double sum = 0;
  for (const double s : shares.values) sum += s;
  for (std::size_t i = 0; i < shares.size; ++i) {
    t.rows.push_back({"of the last: " + std::string(names_of(Factor{})[i]), "", "", "", "",
                      format_percent(shares.values[i] / sum),
                      fmt::format("{:.2f}x", std::exp(shares.values[i]))});
  }
  return t;
}

TextTable for_programs(const std::vector<Row>& rows, const Table<double, Factor>& shares) {
  TextTable t;
  t.columns = {{"what"}, {"name"}, {"batch"}, {"step_seconds"}, {"tokens_per_second"},
               {"mfu"},  {"gain"}};
  for (const Row& r : rows) {
    t.rows.push_back({"system", r.generation.name, std::to_string(r.generation.batch),
                      write_number(r.result.estimate.step.value),
                      write_number(r.result.tokens_per_second),
                      write_number(r.result.estimate.mfu()), write_number(r.gain)});
  }
  for (std::size_t i = 0; i < shares.size; ++i) {
    t.rows.push_back({"factor", std::string(names_of(Factor{})[i]), "", "", "", "",
                      write_number(std::exp(shares.values[i]))});
  }
  for (const Nemo& n : nemo) {
    t.rows.push_back(
        {"nemo_predicted", n.system, "2048", "", write_number(predict(n) * 512), "", ""});
    t.rows.push_back(
        {"nemo_measured", n.system, "2048", "", write_number(n.measured * 512), "", ""});
  }
  return t;
}

plot::Figure figure_of(const std::vector<Row>& rows) {
  plot::Figure f;
  f.title = "GPT-3 175B on 8192 devices: tokens a second over A100";
  f.width = 760;
  f.height = 360;
  f.bar = 0.6;
  f.y.label = "gain over A100 HDR";
  f.y.min = 0;
  plot::Series gain{.name = "predicted", .mark = plot::Mark::bars, .points = {}};
  plot::Series peak{.name = "peak FLOP/s alone", .mark = plot::Mark::dots, .points = {}};
  const FlopsPerSecond first = rows.front().result.estimate.peak;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string& name = rows[i].generation.name;
    f.x.names.push_back(name.substr(0, name.find(',')));
    const auto x = static_cast<double>(i);
    gain.points.push_back({x, rows[i].gain, fmt::format("{}: {:.1f}x", name, rows[i].gain)});
    peak.points.push_back({x, rows[i].result.estimate.peak / first, ""});
  }
  f.series = {gain, peak};
  return f;
}

/// Share of the kernels' time that multiplies of weights take.
double multiplies(const Generation& g) {
  double part = 0;
  double whole = 0;
  for (const Operator& o : explain(problem_on(g), strategy_of(g)).operators) {
    if (o.message.value > 0) continue;
    const double seconds = o.count * o.cost.time.value;
    whole += seconds;
    if (o.cost.tiling.m > 0) part += seconds;
  }
  return whole > 0 ? part / whole : 0;
}

/// "compute 60 %, bubble 20 %": what takes more than a thirtieth.
std::string waits(const Generation& g) {
  const Limits l = limits_of_training(problem_on(g), strategy_of(g), g.system.devices_per_node);
  std::string text;
  for (std::size_t i = 0; i < l.size; ++i) {
    if (l.values[i] < 0.03) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", names_of(Limit{})[i],
                        format_percent(l.values[i], 0));
  }
  return text;
}

std::vector<std::string> findings_of(const std::vector<Row>& rows,
                                     const Table<double, Factor>& shares) {
  double sum = 0;
  double product = 1;
  std::string list;
  for (std::size_t i = 0; i < shares.size; ++i) {
    sum += shares.values[i];
    product *= std::exp(shares.values[i]);
  }
  for (std::size_t i = 0; i < shares.size; ++i) {
    list += fmt::format("{}{} {:.2f}x ({})", list.empty() ? "" : ", ", names_of(Factor{})[i],
                        std::exp(shares.values[i]), format_percent(shares.values[i] / sum, 0));
  }
  const Row& last = rows.back();
  const double peak = last.result.estimate.peak / rows.front().result.estimate.peak;
  std::vector<std::string> text = {
      fmt::format("H100 with NDR and FP8 trains {:.1f}x as fast as A100 with HDR, H100 with NVLink "
                  "switches {:.1f}x, "
                  "B200 with NVLink switches, FP4 and the larger batch {:.1f}x; peak FLOP/s alone "
                  "would give {:.1f}x.",
                  rows[1].gain, rows[2].gain, last.gain, peak),
      fmt::format(
          "Of the {:.1f}x, in the mean over every order of changes: {}; their product is {:.1f}x.",
          last.gain, list, product),
      fmt::format(
          "MFU falls from {} to {}. A step on A100 waits for {}; on the last system for {}.",
          format_percent(rows.front().result.estimate.mfu()),
          format_percent(last.result.estimate.mfu()), waits(rows.front().generation),
          waits(last.generation)),
      fmt::format(
          "Multiplies of weights are {} of the kernels' time on A100 and {} on the last "
          "system; the rest (attention, casts to narrow types, norms, activations) does not "
          "follow the peak. Kundu et al. have about 35x, NVIDIA's claims (9x and 4x) "
          "multiply to 36x: that needs every part of a step to follow it.",
          format_percent(multiplies(rows.front().generation), 0),
          format_percent(multiplies(last.generation), 0))};
  for (const Nemo& n : nemo) {
    const double p = predict(n);
    text.push_back(fmt::format(
        "NeMo, GPT-3 175B in FP8 on 512 of {}: {:.0f} tokens/s a device predicted, {:.0f} "
        "measured ({:+.1f} %).",
        n.system, p, n.measured, 100 * (p / n.measured - 1)));
  }
  return text;
}

}  // namespace

Study gpu_generations() {
  std::vector<Row> rows;
  for (Generation& g : generations()) {
    const Result r = run(g);
    const double gain =
        rows.empty() ? 1 : r.tokens_per_second / rows.front().result.tokens_per_second;
    rows.push_back({.generation = std::move(g), .result = r, .gain = gain});
  }
  const Table<double, Factor> shares = shapley(rows.front().generation, rows.back().generation);
  return {.name = "gpu-generations",
          .title = "GPT-3 175B on 8192 devices, from A100 to B200",
          .table = for_people(rows, shares),
          .data = for_programs(rows, shares),
          .figure = figure_of(rows),
          .findings = findings_of(rows, shares)};
}

}  // namespace sextant::cli
