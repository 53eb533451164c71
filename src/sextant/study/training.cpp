// SPDX-License-Identifier: Apache-2.0
// Training times that Megatron-LM's authors measured on A100s, predicted. The measurements, and
// what Kundu et al. (IISWC 2024) predicted for them, are in cases/train-megatron-a100.csv.
#include <fmt/format.h>

#include <cmath>

#include "sextant/predict/train.hpp"
#include "sextant/study/problems.hpp"
#include "sextant/study/study.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"
#include "sextant/validate/train_results.hpp"

namespace sextant::study {
namespace {

struct StepRow {
  const Case* c = nullptr;
  Strategy strategy;
  int batch = 0;
  Estimate estimate;
  double error = 0;
  std::optional<double> paper;  ///< seconds that Kundu et al. predict
  std::optional<double> mfu;    ///< as published
  std::optional<double> hfu;
};

std::vector<StepRow> predict_steps(const CsvTable& table, const std::vector<Case>& cases) {
  Catalogue catalogue;
  std::vector<StepRow> rows;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto cell = [&](std::string_view column) {
      const auto at = table.column(column);
      return at ? parse_number(table.row(i).cells[*at]) : std::nullopt;
    };
    std::string reason;
    const auto x = scenario_of(cases[i], catalogue, reason);
    if (!x) throw InputError(cases[i].id + ": " + reason);
    StepRow r{.c = &cases[i],
              .strategy = x->strategy,
              .batch = x->problem.work.batch,
              .estimate = evaluate(x->problem, x->strategy),
              .error = 0,
              .paper = cell("paper_seconds"),
              .mfu = cell("published_mfu"),
              .hfu = cell("published_hfu")};
    r.error = r.estimate.step.value / r.c->measured - 1;
    rows.push_back(r);
  }
  return rows;
}

std::string signed_percent(double share) { return for_people(change(share)); }

Item optional_percent(const std::optional<double>& share) {
  return share ? percent(*share) : Item();
}

void describe_step(Record& r, const StepRow& x) {
  const Strategy& s = x.strategy;
  const double measured = x.c->measured;
  r("id", x.c->id);
  r("model", std::get<TrainCase>(x.c->kernel).model, "model");
  r("gpus", x.estimate.devices, "GPUs");
  r("batch", x.batch, "batch");
  r("", fmt::format("{}-{}-{}", s.dp, s.tp, s.pp), "DP-TP-PP");
  r("dp", s.dp);
  r("tp", s.tp);
  r("pp", s.pp);
  r("interleave", s.interleave);
  r("recompute", said(s.recompute, std::string(name_of(s.recompute)) + (s.sp ? " + sp" : "")),
    "recompute");
  r("sp", s.sp ? 1 : 0);
  r("measured_seconds", fixed(measured, 2, " s"), "measured");
  r("predicted_seconds", fixed(x.estimate.step.value, 2, " s"), "Sextant");
  r("error", change(x.error), "error");
  r("paper_seconds", x.paper ? fixed(*x.paper, 1, " s") : Item(), "Kundu et al.");
  r("", x.paper ? change(*x.paper / measured - 1) : Item(), "error");
  r("mfu", percent(x.estimate.mfu()), "MFU");
  r("published_mfu", optional_percent(x.mfu), "published");
  r("hfu", percent(x.estimate.hfu()), "HFU");
  r("published_hfu", optional_percent(x.hfu), "published");
}

plot::Figure figure_of(const std::vector<StepRow>& rows) {
  plot::Figure f = plot::parity_figure("Training step of Megatron on A100s", Seconds::dimension);
  f.bands = {0.05, 0.1};
  plot::Series ours{.name = "Sextant", .mark = plot::Mark::dots};
  plot::Series theirs{.name = "Kundu et al. 2024", .mark = plot::Mark::dots};
  for (const StepRow& r : rows) {
    const double measured = r.c->measured;
    ours.points.push_back(
        {measured, r.estimate.step.value, fmt::format("{}: {}", r.c->id, signed_percent(r.error))});
    if (!r.paper) continue;
    theirs.points.push_back(
        {measured, *r.paper,
         fmt::format("{}: {}", r.c->id, signed_percent(*r.paper / measured - 1))});
  }
  f.series = {ours, theirs};
  return f;
}

/// Mean and largest of absolute errors.
struct Errors {
  double sum = 0;
  double worst = 0;
  int count = 0;
  void add(double e) {
    sum += std::abs(e);
    worst = std::max(worst, std::abs(e));
    ++count;
  }
  double mean() const { return count > 0 ? sum / count : 0; }
};

std::vector<std::string> findings_of(const std::vector<StepRow>& rows) {
  Errors ours;
  Errors theirs;
  Errors others;
  std::string gains;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const StepRow& r = rows[i];
    (r.paper ? ours : others).add(r.error);
    if (r.paper) theirs.add(*r.paper / r.c->measured - 1);
    // A row with selective recomputation follows the same run with full.
    if (r.strategy.recompute != Recompute::selective || i == 0) continue;
    gains += fmt::format("{}{:.0f} % ({:.0f} % measured)", gains.empty() ? "" : ", ",
                         (rows[i - 1].estimate.step / r.estimate.step - 1) * 100,
                         (rows[i - 1].c->measured / r.c->measured - 1) * 100);
  }
  return {fmt::format("The paper's eleven rows: mean error {}, worst {}; Kundu et al. {} and {}.",
                      format_percent(ours.mean()), format_percent(ours.worst),
                      format_percent(theirs.mean()), format_percent(theirs.worst)),
          fmt::format("The other {} rows of Narayanan et al.: mean error {}, worst {}.",
                      others.count, format_percent(others.mean()), format_percent(others.worst)),
          "Selective recomputation with sequence parallelism is faster than full by " + gains + ".",
          "Measured: Korthikanti et al. 2022 (arXiv 2205.05198) Table 5, Narayanan et al. 2021 "
          "(arXiv 2104.04473) Table 1."};
}

}  // namespace

Study training_validation() {
  const CsvTable table = shipped_cases("train-megatron-a100.csv");
  const std::vector<Case> cases = read_cases(table);
  std::vector<StepRow> rows = predict_steps(table, cases);
  std::stable_partition(rows.begin(), rows.end(),
                        [](const StepRow& r) { return r.paper.has_value(); });
  return {.title = "Training time of Megatron-LM on A100s, measured and predicted",
          // The paper's eleven rows, then the rest of Narayanan's table.
          .rows = records_of(rows, describe_step,
                             [](const StepRow& x) { return !x.paper && (&x - 1)->paper; }),
          .figure = figure_of(rows),
          .findings = findings_of(rows)};
}

}  // namespace sextant::study
