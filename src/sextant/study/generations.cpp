// SPDX-License-Identifier: Apache-2.0
// GPT-3 175B on 8192 devices from A100 to B200 (Kundu et al., IISWC 2024): how much faster, and
// what share of that each change has, in every order of changes (Shapley 1953). Every system runs
// twice: with the study's strategy (DP 128 x TP 8 x PP 8), and with the best of a list.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "sextant/io/presets.hpp"
#include "sextant/predict/train.hpp"
#include "sextant/study/problems.hpp"
#include "sextant/study/shapley.hpp"
#include "sextant/study/study.hpp"
#include "sextant/units/format.hpp"

namespace sextant::study {
namespace {

enum class Factor : std::uint8_t {
  compute,
  precision,
  dram,
  nvlink,
  network,
  capacity,
  strategy,
  count
};
constexpr auto names_of(Factor) {
  return std::array<std::string_view, 7>{"compute rate", "precision", "DRAM bandwidth",
                                         "NVLink",       "network",   "batch (memory capacity)",
                                         "strategy"};
}
constexpr unsigned factors = 7;
constexpr int cluster = 8192;

/// One generation, as its parts.
struct Generation {
  std::string name;
  System system;
  Precision precision = Precision::fp16;
  int batch = 1024;
};

Generation generation(std::string name, const char* system, Precision p, bool nvlink_switch,
                      int batch) {
  Generation g{
      .name = std::move(name), .system = load_system(system), .precision = p, .batch = batch};
  if (nvlink_switch) {
    // A second level of NVLink switches joins some nodes; those beyond stay on InfiniBand.
    const bool later = std::string_view(system) == "dgx-b200";
    const LinkPart link = load_link(later ? "nvlink5-switch" : "nvlink-switch");
    Fabric f = g.system.fabrics.front();
    f.reach = link.devices;
    f.bandwidth = link.bandwidth;
    f.latency = link.latency;
    f.name = link.title;
    std::vector<Fabric>& all = g.system.fabrics;
    all.insert(all.end() - 1, f);
  }
  return g;
}

/// What was measured of each over the first (Megatron-LM on A100, NeMo in FP8 on H100 and B200; the
/// network and the batch are theirs). 0: not known.
constexpr std::array<double, 6> measured_gains = {1, 5.8, 0, 0, 10.7, 0};

/// The study does not say how large a larger batch is: 4 and 16 times the first are ours.
std::vector<Generation> generations() {
  using enum Precision;
  return {generation("A100 HDR, FP16", "dgx-a100", fp16, false, 1024),
          generation("H100 NDR, FP8", "dgx-h100", fp8, false, 1024),
          generation("H100 NVLink switch, FP8", "dgx-h100", fp8, true, 1024),
          generation("H200 NVLink switch, FP8, larger batch", "dgx-h200", fp8, true, 4096),
          generation("B200 NDR, FP4", "dgx-b200", fp4, false, 1024),
          generation("B200 NVLink switch, FP4, larger batch", "dgx-b200", fp4, true, 16384)};
}

bool in(unsigned taken, Factor f) { return (taken >> static_cast<unsigned>(f) & 1U) != 0; }

/// The first generation with those factors of the last that `taken` has; the strategy is not its.
Generation mixed(const Generation& a, const Generation& b, unsigned taken) {
  const auto has = [&](Factor f) { return in(taken, f); };
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
  const Fabric inside = has(Factor::nvlink) ? b.system.fabrics.front() : a.system.fabrics.front();
  g.system.fabrics.front() = inside;
  if (has(Factor::network)) {
    std::vector<Fabric>& all = g.system.fabrics;
    all.assign(b.system.fabrics.begin() + 1, b.system.fabrics.end());
    all.insert(all.begin(), inside);
  }
  if (has(Factor::capacity)) {
    d.memory.capacity = b.system.device.memory.capacity;
    g.batch = b.batch;
  }
  g.system.host = has(Factor::compute) ? b.system.host : a.system.host;
  return g;
}

struct Result {
  Strategy strategy;
  Estimate estimate;
  double tokens_per_second = 0;
};

/// As the study has it for every system: plain 1F1B, one sequence at a time.
Strategy published(Precision precision) {
  Strategy s;
  s.tp = 8;
  s.pp = 8;
  s.dp = cluster / (s.tp * s.pp);
  s.sp = true;
  s.recompute = Recompute::selective;
  s.zero = 1;
  s.precision = precision;
  return s;
}

/// And as it reckons: sums over the tensor-parallel ranks, no sequence parallelism.
Strategy assumed(Precision precision) {
  Strategy s = published(precision);
  s.sp = false;
  return s;
}

/// What a user would try: 216 strategies. Overlap of exchanges is the runtime's.
std::vector<Strategy> candidates(Precision precision) {
  std::vector<Strategy> list;
  for (const int tp : {2, 4, 8}) {
    for (const int pp : {4, 8, 16}) {
      for (const int microbatch : {1, 2, 4}) {
        for (const int interleave : {1, 3, 6, 12}) {
          for (const Recompute recompute : {Recompute::none, Recompute::selective}) {
            Strategy s = published(precision);
            s.tp = tp;
            s.pp = pp;
            s.dp = cluster / (tp * pp);
            s.microbatch = microbatch;
            s.interleave = interleave;
            s.recompute = recompute;
            list.push_back(s);
          }
        }
      }
    }
  }
  return list;
}

constexpr const char* stack = "megatron-core";

Problem problem_on(const Generation& g, const char* runtime = stack) {
  static const Model model = load_model("gpt3-175b");
  return problem_of(g.system, runtime, model, {.batch = g.batch, .seq = 2048});
}

/// The fastest of a list that runs and fits.
Result fastest(const Generation& g, const std::vector<Strategy>& list,
               const char* runtime = stack) {
  const Problem p = problem_on(g, runtime);
  Result best;
  Verdict last = Verdict::fits;
  for (const Strategy& s : list) {
    const Estimate e = evaluate(p, s);
    if (e.verdict != Verdict::fits) {
      last = e.verdict;
      continue;
    }
    const double rate = e.tokens / e.step.value;
    if (rate > best.tokens_per_second) {
      best = {.strategy = s, .estimate = e, .tokens_per_second = rate};
    }
  }
  if (best.tokens_per_second <= 0) throw InputError(g.name + ": " + std::string(name_of(last)));
  return best;
}

/// Shares of the logarithm of the gain, so that the product of the factors is the whole: from the
/// first system with the study's strategy to the last with its best.
std::vector<double> shares_of_gain(const Generation& a, const Generation& b) {
  return shapley(factors, [&](unsigned taken) -> std::optional<double> {
    const Generation g = mixed(a, b, taken);
    const bool tuned = in(taken, Factor::strategy);
    const std::vector<Strategy> list =
        tuned ? candidates(g.precision) : std::vector<Strategy>{published(g.precision)};
    return std::log(fastest(g, list).tokens_per_second);
  });
}

/// NeMo's published GPT-3 175B in FP8 on 512 devices, batch 2048 (NeMo performance summary 2025).
struct Nemo {
  const char* system;
  int pp = 8;
  double measured = 0;  ///< tokens/s a device
};
constexpr std::array<Nemo, 2> nemo = {{{"dgx-h100", 8, 866}, {"dgx-b200", 4, 1600}}};

constexpr int nemo_batch = 2048;

Strategy strategy_of(const Nemo& n) {
  Strategy s;
  s.tp = 4;
  s.pp = n.pp;
  s.dp = 512 / (s.tp * s.pp);
  s.interleave = 6;
  s.sp = true;
  s.zero = 1;
  s.microbatch = 2;
  s.precision = Precision::fp8;
  return s;
}

double predict(const Nemo& n) {
  const Problem p = problem_of(load_system(n.system), "megatron-core", load_model("gpt3-175b"),
                               {.batch = nemo_batch, .seq = 2048});
  const Estimate e = evaluate(p, strategy_of(n));
  return e.step.value > 0 ? e.tokens / e.step.value / e.devices : 0;
}

struct GenerationRow {
  Generation generation;
  Result assumed;  ///< the study's strategy and its assumptions
  Result published;
  Result best;
};
/// Over the first system with the study's strategy.
double gain(const std::vector<GenerationRow>& rows, const Result& r) {
  return r.tokens_per_second / rows.front().published.tokens_per_second;
}

/// The same if all is as the study assumes.
double assumed_gain(const std::vector<GenerationRow>& rows, const GenerationRow& r) {
  return r.assumed.tokens_per_second / rows.front().assumed.tokens_per_second;
}

std::string text_of(const Strategy& s) {
  return fmt::format("tp {} pp {} mb {} v {}", s.tp, s.pp, s.microbatch, s.interleave);
}

Records table(const std::vector<GenerationRow>& rows, const std::vector<double>& shares) {
  Records all = records_of(rows, [&](Record& r, const GenerationRow& x) {
    const Estimate& e = x.best.estimate;
    r("", x.generation.name, "system");
    r("", x.generation.batch, "batch");
    const double seen = measured_gains[static_cast<std::size_t>(&x - rows.data())];
    r("", fixed(assumed_gain(rows, x), 1, "x"), "study's assumptions");
    r("", only_if(seen > 0, fixed(seen, 1, "x")), "measured");
    r("", fixed(gain(rows, x.published), 1, "x"), "study's strategy");
    r("", text_of(x.best.strategy), "best strategy");
    r("", e.step, "step");
    r("", percent(e.mfu()), "MFU");
    r("", binary(e.memory.total()), "memory");
    r("", fixed(gain(rows, x.best), 1, "x"), "gain");
  });
  all.rule();
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    Record& r = all.rows.emplace_back();
    r("", "of the last: " + std::string(names_of(Factor{})[i]), "system");
    for (const char* none : {"batch", "study's assumptions", "measured", "study's strategy",
                             "best strategy", "step", "MFU"}) {
      r("", {}, none);
    }
    r("", percent(shares[i] / sum), "memory");
    r("", fixed(std::exp(shares[i]), 2, "x"), "gain");
  }
  return all;
}

Records records(const std::vector<GenerationRow>& rows, const std::vector<double>& shares) {
  Records all;
  /// What is not of a row's kind stays empty.
  const auto add = [&](const char* what, std::string_view name, Item batch, const Strategy* s,
                       Item step, Item tokens, Item mfu, Item gained) {
    Record& r = all.rows.emplace_back();
    r("what", what);
    r("name", name);
    r("batch", std::move(batch));
    r("tp", s != nullptr ? Item(s->tp) : Item());
    r("pp", s != nullptr ? Item(s->pp) : Item());
    r("microbatch", s != nullptr ? Item(s->microbatch) : Item());
    r("interleave", s != nullptr ? Item(s->interleave) : Item());
    r("step_seconds", std::move(step));
    r("tokens_per_second", std::move(tokens));
    r("mfu", std::move(mfu));
    r("gain", std::move(gained));
  };
  for (const GenerationRow& x : rows) {
    const Result& r = x.assumed;
    add("assumed", x.generation.name, x.generation.batch, &r.strategy, r.estimate.step,
        r.tokens_per_second, r.estimate.mfu(), assumed_gain(rows, x));
  }
  for (const bool tuned : {false, true}) {
    for (const GenerationRow& x : rows) {
      const Result& r = tuned ? x.best : x.published;
      add(tuned ? "system" : "published", x.generation.name, x.generation.batch, &r.strategy,
          r.estimate.step, r.tokens_per_second, r.estimate.mfu(), gain(rows, r));
    }
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    add("factor", names_of(Factor{})[i], {}, nullptr, {}, {}, {}, std::exp(shares[i]));
  }
  for (const Nemo& n : nemo) {
    const Strategy s = strategy_of(n);
    add("nemo_predicted", n.system, nemo_batch, &s, {}, predict(n) * 512, {}, {});
    add("nemo_measured", n.system, nemo_batch, &s, {}, n.measured * 512, {}, {});
  }
  return all;
}

plot::Figure figure_of(const std::vector<GenerationRow>& rows) {
  plot::Figure f;
  f.title = "GPT-3 175B on 8192 devices: tokens a second over the study's A100 system";
  f.width = 760;
  f.height = 360;
  f.bar = 0.6;
  f.y.label = "gain";
  f.y.min = 0;
  plot::Series best{.name = "best strategy", .mark = plot::Mark::bars};
  plot::Series same{.name = "study's strategy", .mark = plot::Mark::dots};
  plot::Series peak{.name = "peak FLOP/s alone", .mark = plot::Mark::dots};
  plot::Series assumed{.name = "study's assumptions", .mark = plot::Mark::line_and_dots};
  // Of the published chain the exact bars are not public; its end is.
  plot::Series published{.name = "published: 35x at the end", .mark = plot::Mark::dashed_line};
  const FlopsPerSecond first = rows.front().best.estimate.peak;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string& name = rows[i].generation.name;
    f.x.names.push_back(name.substr(0, name.find(',')));
    const auto x = static_cast<double>(i);
    const double gained = gain(rows, rows[i].best);
    best.points.push_back({x, gained, fmt::format("{}: {:.1f}x", name, gained)});
    same.points.push_back({x, gain(rows, rows[i].published), ""});
    assumed.points.push_back({x, assumed_gain(rows, rows[i]), ""});
    published.points.push_back({x, 35, ""});
    peak.points.push_back({x, rows[i].best.estimate.peak / first, ""});
  }
  f.series = {best, same, peak, assumed, published};
  return f;
}

/// Where a step's time goes, by how its parts follow the peak.
enum class Piece : std::uint8_t { multiplies, attention, casts, others, exchange, waiting, count };
constexpr auto names_of(Piece) {
  return std::array<std::string_view, 6>{
      "multiplies of weights",    "attention",
      "casts to narrow types",    "norms and activations",
      "exchange between devices", "bubble, optimizer and spread"};
}

/// Device-seconds a token.
Table<double, Piece> pieces(const Generation& g, const Result& r) {
  Table<double, Piece> t;
  const Explained x = explain(problem_on(g), r.strategy);
  for (const Operator& o : x.operators) {
    if (o.message.value > 0) continue;
    const Piece piece = o.cost.tiling.m > 0           ? Piece::multiplies
                        : o.cost.flops.value > 0      ? Piece::attention
                        : o.type == graph::Kind::cast ? Piece::casts
                                                      : Piece::others;
    t[piece] += o.count * o.cost.time.value;
  }
  for (const Time e : {Time::tensor, Time::pipeline, Time::gradients, Time::parameters}) {
    t[Piece::exchange] += x.estimate.time[e].exposed.value;
  }
  double sum = 0;
  for (const double seconds : t.values) sum += seconds;
  t[Piece::waiting] = std::max(0.0, x.estimate.step.value - sum);
  for (double& seconds : t.values) seconds *= cluster / x.estimate.tokens;
  return t;
}

/// "multiplies of weights 20x faster (80 to 45 % of the step)".
std::string by_piece(const GenerationRow& first, const GenerationRow& last) {
  const Table<double, Piece> a = pieces(first.generation, first.best);
  const Table<double, Piece> b = pieces(last.generation, last.best);
  double all_a = 0;
  double all_b = 0;
  for (std::size_t i = 0; i < a.size; ++i) {
    all_a += a.values[i];
    all_b += b.values[i];
  }
  std::string text;
  for (std::size_t i = 0; i < a.size; ++i) {
    const std::string shares =
        fmt::format("{} of the step on A100, {} at the end", format_percent(a.values[i] / all_a, 0),
                    format_percent(b.values[i] / all_b, 0));
    const std::string faster =
        a.values[i] > 0 ? fmt::format("{:.1f}x", a.values[i] / b.values[i]) : "new";
    text +=
        fmt::format("{}{} {} ({})", text.empty() ? "" : "; ", names_of(Piece{})[i], faster, shares);
  }
  return text;
}

std::vector<std::string> findings_of(const std::vector<GenerationRow>& rows,
                                     const std::vector<double>& shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::string list;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    list += fmt::format("{}{} {:.2f}x ({})", list.empty() ? "" : ", ", names_of(Factor{})[i],
                        std::exp(shares[i]), format_percent(shares[i] / sum, 0));
  }
  const GenerationRow& first = rows.front();
  const GenerationRow& last = rows.back();
  const double peak = last.best.estimate.peak / first.best.estimate.peak;
  // The first system with the last one's batch: what fewer bubbles alone are worth.
  Generation large = first.generation;
  large.batch = last.generation.batch;
  const double bubbles = gain(rows, fastest(large, {published(large.precision)}));
  const auto over_best = [&](const GenerationRow& r) {
    return r.best.tokens_per_second / first.best.tokens_per_second;
  };
  std::vector<std::string> text = {
      fmt::format("B200 with NVLink switches, FP4, the larger batch and its best strategy trains "
                  "{:.1f}x as fast as the A100 system of the study (DP 128 x TP 8 x PP 8, plain "
                  "1F1B, batch 1024); with that strategy on both {:.1f}x, with the best on both "
                  "{:.1f}x. Peak FLOP/s alone would give {:.1f}x.",
                  gain(rows, last.best), gain(rows, last.published), over_best(last), peak),
      fmt::format("H100 with NDR and FP8 gains {:.1f}x with the study's strategy on both, {:.1f}x "
                  "with the best on both; with NVLink switches {:.1f}x and {:.1f}x.",
                  gain(rows, rows[1].published), over_best(rows[1]), gain(rows, rows[2].published),
                  over_best(rows[2])),
      fmt::format(
          "Of the {:.1f}x, in the mean over every order of changes: {}; their product is {:.1f}x.",
          gain(rows, last.best), list, std::exp(sum)),
      fmt::format(
          "With the study's assumptions (--assumptions published: 75 % of peak at any "
          "precision, exchange in 16 bits at the links' rate that nothing hides, no casts "
          "or norms, no power limit) the last gains {:.1f}x, as published (35x; NVIDIA's "
          "claims multiply to 36x): {:.1f}x of peak and {:.2f}x of fewer bubbles (A100 with "
          "the last batch), less what the links take. It would draw {} a device, of {}.",
          assumed_gain(rows, last), peak, bubbles, format(last.assumed.estimate.power),
          format(last.generation.system.device.power.limit)),
      fmt::format("Part by part, best strategy on both: {}.", by_piece(first, last)),
      fmt::format("MFU falls from {} to {}.", format_percent(first.best.estimate.mfu()),
                  format_percent(last.best.estimate.mfu()))};
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
  std::vector<GenerationRow> rows;
  for (Generation& g : generations()) {
    GenerationRow r;
    r.assumed = fastest(g, {assumed(g.precision)}, "published");
    r.published = fastest(g, {published(g.precision)});
    r.best = fastest(g, candidates(g.precision));
    r.generation = std::move(g);
    rows.push_back(std::move(r));
  }
  const std::vector<double> shares =
      shares_of_gain(rows.front().generation, rows.back().generation);
  return {.title = "GPT-3 175B on 8192 devices, from A100 to B200",
          .rows = records(rows, shares),
          .figure = figure_of(rows),
          .findings = findings_of(rows, shares),
          .table = table(rows, shares)};
}

}  // namespace sextant::study
