// SPDX-License-Identifier: Apache-2.0
// Whole training runs whose length was published, from what was published of them: model, machine,
// strategy, tokens; beside the predicted length what is published.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "sextant/scenario/run_plan.hpp"
#include "sextant/scenario/scenario.hpp"
#include "sextant/study/study.hpp"
#include "sextant/units/format.hpp"

namespace sextant::study {
namespace {

struct Published {
  const char* name;
  const char* scenario;  ///< as a request of `train` has it
  std::vector<Setting> settings;
  const char* terms;  ///< fields of RunTerms that were published; the others are defaults
  double tokens;
  double device_hours;
  bool with_failures;          ///< the hours hold what was lost, or they are of computing alone
  std::optional<double> step;  ///< seconds
  std::optional<double> goodput;
  const char* source;
};

// Of a step: Llama 3 ran 400 TFLOP/s a device (Table 4), here over 6 FLOPs a parameter and token;
// OPT 147 TFLOP/s counts recomputation, 8 FLOPs; BLOOM's log shows 105 s.
const std::vector<Published>& runs() {
  static const std::vector<Published> all = {
      {"Llama 3 405B",
       // PyTorch with its own sharding, of which torchtitan is the public part: no Megatron.
       R"({"model": "llama3.1-405b", "system": "dgx-h100", "runtime": "pytorch-compile",
           "gpus": 16384, "tp": 8, "pp": 16, "interleave": 8, "zero": 2, "sp": true,
           "recompute_modules": ["activation"], "batch": 2048, "seq": 8192})",
       // Gradients are kept and summed in 32 bits (3.3.2). No layer is recomputed; but that group's
       // own SwiGLU (xFormers, ops/swiglu_op.py) keeps gate and up, and makes their product again.
       {{"runtime.gradients", "fp32"}, {"runtime.reduction", "fp32"}},
       "{}",
       15.6e12,
       30.84e6,
       true,
       6.24,
       0.90,
       "arXiv 2407.21783, sections 3.3.2 to 3.3.4 (goodput above 90 % over 54 days); hours of the "
       "model card, long contexts and annealing included"},
      {"DeepSeek-V3",
       R"({"model": "deepseek-v3", "system": "h800-node", "gpus": 2048, "pp": 16, "ep": 64,
           "zero": 1, "schedule": "dualpipe", "recompute_modules": ["norms", "latent", "activation"],
           "batch": 15360, "seq": 4096, "precision": "fp8"})",
       {{"runtime.gradients", "fp32"}},  // 3.3.2
       "{}",
       14.8e12,
       2.664e6,
       true,
       std::nullopt,
       std::nullopt,
       "arXiv 2412.19437, Table 1 and sections 3.2 and 3.3.2"},
      {"OPT-175B",
       R"({"model": "opt-175b", "system": "dgx-a100", "runtime": "fsdp", "gpus": 992, "tp": 8,
           "zero": 3, "microbatch": 8, "recompute": "full", "batch": 992, "seq": 2048,
           "precision": "fp16"})",
       {},
       // "~2 machines go down every day" of 124.
       R"({"device_between_failures": "2.7e5 h", "node_between_failures": "1488 h"})",
       300e9,
       33.0 * 24 * 1024,
       false,
       19.5,
       std::nullopt,
       "arXiv 2205.01068, section 2; 33 days of continuous training on 1,024 (facebookresearch/"
       "metaseq, chronicles, 7 January 2022)"},
      {"BLOOM-176B",
       R"({"model": "bloom-176b", "system": "jean-zay", "runtime": "megatron-lm", "gpus": 384,
           "tp": 4, "pp": 12, "zero": 1, "microbatch": 2, "recompute": "full", "batch": 2048,
           "seq": 2048})",
       {},
       // "1 to 2 GPU failures a week"; a checkpoint every three hours.
       R"({"device_between_failures": "43008 h", "node_between_failures": "2.7e5 h",
           "checkpoint_interval": "3 h"})",
       366e9,
       1'082'990,
       true,
       105,
       std::nullopt,
       "arXiv 2211.05100, section 3; hours of arXiv 2211.02001, Table 1"},
  };
  return all;
}

struct RunRow {
  const Published* published = nullptr;
  Estimate estimate;
  WholeRun run;
  std::optional<WholeRun> told;  ///< with the published step in place of the predicted
  double hours = 0;              ///< as the published hours are counted
  double told_hours = 0;
  double error() const { return hours / published->device_hours - 1; }
};

double hours_of(const Published& p, const WholeRun& r, double devices) {
  return p.with_failures ? r.device_hours : devices * r.computing.value / 3600;
}

RunRow row_of(const Published& p) {
  Question q;
  const Document request = parse_json(p.scenario, p.name);
  for (const Node::Member& m : request.root.members) {
    PresetRef* name = m.key == "model"     ? &q.model
                      : m.key == "system"  ? &q.system
                      : m.key == "runtime" ? &q.runtime
                                           : nullptr;
    if (name != nullptr) {
      name->name = m.value.string;
    } else {
      q.given.set(m.key, m.value);
    }
  }
  q.settings = p.settings;
  const Scenario x = read_scenario(q);
  std::vector<Diagnostic> problems;
  RunQuestion asked{.tokens = write_number(p.tokens), .price = "", .given = {}};
  asked.given = parse_json(p.terms, p.name).root;
  const RunPlan plan = read_run(asked, problems);
  throw_if_any(std::move(problems));
  RunRow r{.published = &p, .estimate = evaluate(x.problem, x.strategy), .run = {}, .told = {}};
  RunWork work = work_of(x.problem, r.estimate, p.tokens);
  r.run = whole_run(work, plan.terms);
  r.hours = hours_of(p, r.run, work.devices);
  if (p.step) {
    work.step = Seconds(*p.step);
    r.told = whole_run(work, plan.terms);
    r.told_hours = hours_of(p, *r.told, work.devices);
  }
  return r;
}

void describe_run(Record& r, const RunRow& x) {
  const Published& p = *x.published;
  const auto millions = [](double n) { return said(n, fmt::format("{:.3g} M", n / 1e6)); };
  r("run", p.name, "run");
  r("gpus", x.estimate.devices, "GPUs");
  r("tokens", said(p.tokens, fmt::format("{:.3g} T", p.tokens / 1e12)), "tokens");
  r("published_step_seconds", p.step ? fixed(*p.step, 2, " s") : Item(), "step, published");
  r("step_seconds", fixed(x.estimate.step.value, 2, " s"), "predicted");
  r("days", fixed(x.run.time.value / 86400, 1), "days");
  r("published_gpu_hours", millions(p.device_hours), "GPU-hours, published");
  r("gpu_hours", millions(x.hours), "predicted");
  r("error", change(x.error()), "error");
  r("gpu_hours_of_published_step", x.told ? millions(x.told_hours) : Item(), "of published step");
  r("error_of_published_step", x.told ? change(x.told_hours / p.device_hours - 1) : Item(),
    "error");
  r("goodput", percent(x.run.goodput), "goodput");
  r("published_goodput",
    p.goodput ? said(*p.goodput, "> " + format_percent(*p.goodput, 0)) : Item(), "published");
  r("interruptions", fixed(x.run.interruptions, 0), "interruptions");
  r("megawatt_hours", fixed(x.run.energy.value / 3.6e9, 0), "MWh");
}

plot::Figure figure_of(const std::vector<RunRow>& rows) {
  plot::Figure f = plot::parity_figure("Device-hours of whole runs", Seconds::dimension);
  f.bands = {0.1, 0.2};
  plot::Series predicted{.name = "predicted step", .mark = plot::Mark::dots};
  plot::Series told{.name = "published step", .mark = plot::Mark::dots};
  for (const RunRow& r : rows) {
    const double published = r.published->device_hours * 3600;
    predicted.points.push_back({published, r.hours * 3600, r.published->name});
    if (r.told) told.points.push_back({published, r.told_hours * 3600, r.published->name});
  }
  f.series = {predicted, told};
  return f;
}

std::vector<std::string> findings_of(const std::vector<RunRow>& rows) {
  std::string within;
  std::string beyond;
  std::string told;
  for (const RunRow& r : rows) {
    std::string& list = std::abs(r.error()) <= 0.1 ? within : beyond;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", r.published->name,
                        for_people(change(r.error())));
    if (!r.told) continue;
    told += fmt::format("{}{} {}", told.empty() ? "" : ", ", r.published->name,
                        for_people(change(r.told_hours / r.published->device_hours - 1)));
  }
  std::vector<std::string> findings;
  if (!within.empty()) findings.push_back("Device-hours within 10 % of published: " + within + ".");
  if (!beyond.empty()) findings.push_back("Further off: " + beyond + ".");
  findings.push_back("With the published step in place of the predicted: " + told + ".");
  const RunRow& llama = rows.front();
  findings.push_back(fmt::format(
      "{}: goodput {} (published: above {}), an interruption every {:.1f} h (published: 3.1 h).",
      llama.published->name, format_percent(llama.run.goodput),
      format_percent(*llama.published->goodput, 0), llama.run.between_failures.value / 3600));
  for (const RunRow& r : rows) {
    findings.push_back(fmt::format("{}: {}.", r.published->name, r.published->source));
  }
  return findings;
}

}  // namespace

Study long_runs() {
  std::vector<RunRow> rows;
  for (const Published& p : runs()) rows.push_back(row_of(p));
  return {.title = "Whole training runs, published and predicted",
          .rows = records_of(rows, describe_run),
          .figure = figure_of(rows),
          .findings = findings_of(rows)};
}

}  // namespace sextant::study
