// SPDX-License-Identifier: Apache-2.0
// Training times that Megatron-LM's authors measured on A100s, predicted. The measurements, and
// what Kundu et al. (IISWC 2024) predicted for them, are in cases/train-megatron-a100.csv.
#include <fmt/format.h>

#include <cmath>

#include "cli/study.hpp"
#include "sextant/io/embedded.hpp"
#include "sextant/predict/train.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"
#include "sextant/validate/train_results.hpp"

namespace sextant::cli {
namespace {

constexpr std::string_view file = "train-megatron-a100.csv";

struct Row {
  const Case* c = nullptr;
  Strategy strategy;
  int batch = 0;
  Estimate estimate;
  double error = 0;
  std::optional<double> paper;  ///< seconds that Kundu et al. predict
  std::optional<double> mfu;    ///< as published
  std::optional<double> hfu;
};

CsvTable table_of_cases() {
  for (const EmbeddedFile& f : embedded_cases()) {
    if (f.path == file) return parse_csv(f.text(), std::string(file));
  }
  throw InputError("the program was built without " + std::string(file));
}

std::vector<Row> predict(const CsvTable& table, const std::vector<Case>& cases) {
  Catalogue catalogue;
  std::vector<Row> rows;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto cell = [&](std::string_view column) {
      const auto at = table.column(column);
      return at ? parse_number(table.row(i).cells[*at]) : std::nullopt;
    };
    std::string reason;
    const auto x = scenario_of(cases[i], catalogue, reason);
    if (!x) throw InputError(cases[i].id + ": " + reason);
    Row r{.c = &cases[i],
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

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", share * 100); }

std::string optional_percent(const std::optional<double>& share) {
  return share ? format_percent(*share) : "";
}

TextTable for_people(const std::vector<Row>& rows) {
  using enum Align;
  TextTable t;
  t.columns = {{"model"},          {"GPUs", right},     {"batch", right},
               {"DP-TP-PP"},       {"recompute"},       {"measured", right},
               {"Sextant", right}, {"error", right},    {"Kundu et al.", right},
               {"error", right},   {"MFU", right},      {"published", right},
               {"HFU", right},     {"published", right}};
  bool others = false;
  for (const Row& r : rows) {
    const Strategy& s = r.strategy;
    // The paper's eleven rows, then the rest of Narayanan's table.
    if (!r.paper && !others) t.rows.push_back({});
    others = !r.paper;
    const double measured = r.c->measured;
    t.rows.push_back(
        {std::get<TrainCase>(r.c->kernel).model, fmt::format("{}", r.estimate.devices),
         std::to_string(r.batch), fmt::format("{}-{}-{}", s.dp, s.tp, s.pp),
         std::string(name_of(s.recompute)) + (s.sp ? " + sp" : ""),
         fmt::format("{:.2f} s", measured), fmt::format("{:.2f} s", r.estimate.step.value),
         signed_percent(r.error), r.paper ? fmt::format("{:.1f} s", *r.paper) : "",
         r.paper ? signed_percent(*r.paper / measured - 1) : "", format_percent(r.estimate.mfu()),
         optional_percent(r.mfu), format_percent(r.estimate.hfu()), optional_percent(r.hfu)});
  }
  return t;
}

TextTable for_programs(const std::vector<Row>& rows) {
  TextTable t;
  t.columns = {{"id"},
               {"model"},
               {"gpus"},
               {"batch"},
               {"dp"},
               {"tp"},
               {"pp"},
               {"interleave"},
               {"recompute"},
               {"sp"},
               {"measured_seconds"},
               {"predicted_seconds"},
               {"error"},
               {"paper_seconds"},
               {"mfu"},
               {"hfu"},
               {"published_mfu"},
               {"published_hfu"}};
  const auto number = [](const std::optional<double>& n) { return n ? write_number(*n) : ""; };
  for (const Row& r : rows) {
    const Strategy& s = r.strategy;
    t.rows.push_back(
        {r.c->id, std::get<TrainCase>(r.c->kernel).model, write_number(r.estimate.devices),
         std::to_string(r.batch), std::to_string(s.dp), std::to_string(s.tp), std::to_string(s.pp),
         std::to_string(s.interleave), std::string(name_of(s.recompute)), s.sp ? "1" : "0",
         write_number(r.c->measured), write_number(r.estimate.step.value), write_number(r.error),
         number(r.paper), write_number(r.estimate.mfu()), write_number(r.estimate.hfu()),
         number(r.mfu), number(r.hfu)});
  }
  return t;
}

plot::Figure figure_of(const std::vector<Row>& rows) {
  plot::Figure f = plot::parity_figure("Training step of Megatron on A100s", Seconds::dimension);
  f.bands = {0.05, 0.1};
  plot::Series ours{.name = "Sextant", .mark = plot::Mark::dots, .points = {}};
  plot::Series theirs{.name = "Kundu et al. 2024", .mark = plot::Mark::dots, .points = {}};
  for (const Row& r : rows) {
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

std::vector<std::string> findings_of(const std::vector<Row>& rows) {
  Errors ours;
  Errors theirs;
  Errors others;
  std::string gains;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& r = rows[i];
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
  const CsvTable table = table_of_cases();
  const std::vector<Case> cases = read_cases(table);
  std::vector<Row> rows = predict(table, cases);
  std::stable_partition(rows.begin(), rows.end(), [](const Row& r) { return r.paper.has_value(); });
  return {.name = "training-validation",
          .title = "Training time of Megatron-LM on A100s, measured and predicted",
          .table = for_people(rows),
          .data = for_programs(rows),
          .figure = figure_of(rows),
          .findings = findings_of(rows)};
}

}  // namespace sextant::cli
