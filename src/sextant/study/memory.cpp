// SPDX-License-Identifier: Apache-2.0
// Memory of one device by what is kept and what is computed again, against Figures 1 and 7 of
// Korthikanti et al. 2022 (arXiv 2205.05198), and the same for a model of today.
#include "sextant/predict/memory.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sextant/io/presets.hpp"
#include "sextant/study/study.hpp"
#include "sextant/units/format.hpp"

namespace sextant::study {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

struct Variant {
  const char* name;
  bool sp;
  Recompute recompute;
};
constexpr std::array<Variant, 5> variants = {{{"none", false, Recompute::none},
                                              {"sp", true, Recompute::none},
                                              {"selective", false, Recompute::selective},
                                              {"sp + selective", true, Recompute::selective},
                                              {"full", false, Recompute::full}}};

/// A model as the paper ran it, and what the paper shows; zero where it shows nothing.
struct Footprint {
  const char* model;
  const char* system;
  const char* runtime;
  int vocab;  ///< 0: the preset's
  Training work;
  Strategy strategy;
  double states = 0;                                ///< GiB of weights, gradients and optimizer
  std::array<double, variants.size()> activations;  ///< GiB
  std::array<double, variants.size()> shares;       ///< of what is kept without recomputation
};

const std::vector<Footprint>& footprints() {
  const auto megatron = [](const char* model, int batch, int pp, int interleave, int microbatch,
                           double states, double none, double least, std::array<double, 5> shares) {
    return Footprint{model,
                     "dgx-a100",
                     "megatron-lm",
                     51200,
                     {.batch = batch, .seq = 2048},
                     {.tp = 8,
                      .pp = pp,
                      .microbatch = microbatch,
                      .interleave = interleave,
                      .precision = Precision::fp16},
                     states,
                     {none, 0, 0, least, 0},
                     shares};
  };
  static const std::vector<Footprint> all = {
      megatron("megatron-22b", 4, 1, 1, 4, 45.56, 59.25, 9.56, {1, .6684, .4942, .1618, .0764}),
      megatron("gpt3-175b", 64, 8, 3, 1, 45.56, 66.84, 12.35, {1, .6204, .5653, .1849, .0871}),
      megatron("mt-nlg-530b", 280, 35, 3, 1, 31.64, 114.02, 23.08, {1, .5831, .6204, .2027, .0942}),
      megatron("megatron-1t", 512, 64, 1, 1, 32.96, 131.25, 26.56, {1, .5831, .6204, .2027, .0942}),
      {"llama3.1-70b",
       "dgx-a100",
       "megatron-core",
       0,
       {.batch = 64, .seq = 8192},
       {.tp = 8, .pp = 4, .interleave = 5},
       0,
       {},
       {}},
  };
  return all;
}

struct FootprintRow {
  const Footprint* subject;
  const Variant* variant;
  double states = 0;       ///< GiB, of the layers alone
  double activations = 0;  ///< GiB, of the layers alone
  double none = 0;         ///< activations with nothing recomputed
  double whole = 0;        ///< GiB with embedding, buffers and context: what a device must hold
  double share() const { return activations / none; }
};

Problem footprint_problem(const Footprint& s) {
  const Runtime runtime = load_runtime(s.runtime);
  Model model = load_model(s.model);
  if (s.vocab > 0) model.vocab = s.vocab;
  const System system = load_system(s.system);
  return prepare(system, runtime, load_libraries(system, runtime), model, s.work);
}

std::vector<FootprintRow> footprint_rows() {
  std::vector<FootprintRow> rows;
  for (const Footprint& subject : footprints()) {
    const Problem p = footprint_problem(subject);
    double none = 0;
    for (const Variant& v : variants) {
      Strategy s = subject.strategy;
      s.sp = v.sp;
      s.recompute = v.recompute;
      FootprintRow r{.subject = &subject, .variant = &v};
      r.states = layer_states(p, s, 0).value / gib;
      r.activations = stage_activations(p, s, 0).value / gib;
      r.whole = stage_memory(p, s, 0).total().value / gib;
      if (none == 0) none = r.activations;
      r.none = none;
      rows.push_back(r);
    }
  }
  return rows;
}

std::size_t variant_index(const FootprintRow& r) {
  return static_cast<std::size_t>(r.variant - variants.data());
}

// Nothing where nothing was published.
std::string gigabytes(double value) { return value > 0 ? fmt::format("{:.2f}", value) : ""; }

/// GiB for people, bytes for programs; nothing where nothing was published.
Item in_bytes(double g) { return g > 0 ? said(g * gib, gigabytes(g)) : Item(); }
Item published_share(double share) { return share > 0 ? percent(share, 2) : Item(); }

void describe_footprint(Record& r, const FootprintRow& x) {
  const std::size_t i = variant_index(x);
  const Footprint& s = *x.subject;
  r("model", once(i == 0, s.model), "model");
  r("", i == 0 ? fmt::format("{}-{}", s.strategy.tp, s.strategy.pp) : "", "TP-PP");
  r("tp", s.strategy.tp);
  r("pp", s.strategy.pp);
  r("recompute", said(x.variant->recompute, x.variant->name), "recompute");
  r("sp", x.variant->sp ? 1 : 0);
  r("states_bytes", in_bytes(x.states), "states");
  r("published_states_bytes", in_bytes(s.states), "published");
  r("activation_bytes", in_bytes(x.activations), "activations");
  r("published_activation_bytes", in_bytes(s.activations[i]), "published");
  r("share_of_none", percent(x.share(), 2), "of none");
  r("published_share_of_none", published_share(s.shares[i]), "published");
  r("total_bytes", in_bytes(x.whole), "in all");
  r("", x.whole * gib > 80 * gib ? "too much" : "fits", "80 GB");
}

plot::Figure figure_of(const std::vector<FootprintRow>& rows) {
  plot::Figure f;
  f.title = "Memory of one device by what is recomputed";
  f.width = 720;
  f.height = 380;
  f.bar = 0.15;
  f.y.label = "memory (GiB)";
  f.y.min = 0;
  for (const Footprint& s : footprints()) f.x.names.emplace_back(s.model);
  for (const Variant& v : variants) {
    f.series.push_back({.name = std::string("activations, ") + v.name, .mark = plot::Mark::bars});
  }
  plot::Series states{.name = "weights, gradients, optimizer", .mark = plot::Mark::bars};
  for (const FootprintRow& r : rows) {
    const std::size_t variant = variant_index(r);
    const auto group = static_cast<double>(r.subject - footprints().data());
    const double x = group + (static_cast<double>(variant) - 2) * 0.17;
    f.series[variant].points.push_back(
        {x, r.states + r.activations,
         fmt::format("{}, {}: {} GiB", r.subject->model, r.variant->name,
                     gigabytes(r.states + r.activations))});
    states.points.push_back(
        {x, r.states, fmt::format("{}: {} GiB of states", r.subject->model, gigabytes(r.states))});
  }
  f.series.push_back(states);
  const double end = static_cast<double>(footprints().size()) - 0.5;
  f.series.push_back({.name = "A100 80 GB",
                      .mark = plot::Mark::dashed_line,
                      .points = {{-0.5, 80, ""}, {end, 80, ""}}});
  return f;
}

std::vector<std::string> findings_of(const std::vector<FootprintRow>& rows) {
  double worst = 0;        // of sizes, relative
  double worst_share = 0;  // of shares, absolute
  int fit = 0;
  const auto compare = [&](double ours, double theirs) {
    if (theirs > 0) worst = std::max(worst, std::abs(ours / theirs - 1));
  };
  for (const FootprintRow& r : rows) {
    const std::size_t i = variant_index(r);
    const Footprint& s = *r.subject;
    compare(r.states, s.states);
    compare(r.activations, s.activations[i]);
    if (s.shares[i] > 0) worst_share = std::max(worst_share, std::abs(r.share() - s.shares[i]));
    if (r.whole <= 80) ++fit;
  }
  const FootprintRow* modern = &rows[rows.size() - variants.size()];
  return {
      fmt::format("Sizes differ from the published ones by at most {}, shares by {:.2f} points; {} "
                  "of the {} fit 80 GiB.",
                  format_percent(worst, 2), worst_share * 100, fit, rows.size()),
      fmt::format("{} with FlashAttention keeps no scores, so selective recomputation leaves {} "
                  "of its {} GiB of activations; sequence parallelism leaves {}.",
                  modern->subject->model, format_percent(modern[2].share(), 1),
                  gigabytes(modern->activations), format_percent(modern[1].share(), 1)),
      "States and activations are of the layers of the first stage, as the paper counts them "
      "(18 bytes a parameter); in all: with embedding, buffers, working memory and context.",
      "Published: Korthikanti et al. 2022 (arXiv 2205.05198) Figures 1 and 7, in GiB."};
}

}  // namespace

Study memory_footprint() {
  const std::vector<FootprintRow> rows = footprint_rows();
  return {.title = "Memory of one device by what is recomputed, in GiB",
          .rows = records_of(rows, describe_footprint,
                             [](const FootprintRow& x) { return variant_index(x) == 0; }),
          .figure = figure_of(rows),
          .findings = findings_of(rows)};
}

}  // namespace sextant::study
