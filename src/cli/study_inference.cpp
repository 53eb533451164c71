// SPDX-License-Identifier: Apache-2.0
// Latency of Llama 2 that NVIDIA published in 2023, predicted with the software of that time, and
// what a current engine gives. The measurements are in cases/infer-nvidia-llama2.csv.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/study.hpp"
#include "sextant/io/embedded.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/units/format.hpp"
#include "sextant/validate/infer_results.hpp"

namespace sextant::cli {
namespace {

constexpr std::string_view file = "infer-nvidia-llama2.csv";
constexpr const char* current = "trtllm";

struct Row {
  const Case* c = nullptr;
  Strategy strategy;
  int layers = 0;
  ServingEstimate then;  ///< with the runtime of the measurement
  ServingEstimate now;   ///< with a current one
  Seconds weights;       ///< to read a device's weights once
  double error = 0;
  const std::string& model() const { return std::get<InferCase>(c->kernel).model; }
  double steps() const { return std::get<InferCase>(c->kernel).work.output; }
  /// What a layer takes beyond reading its weights, in seconds.
  double beyond(double latency) const { return (latency / steps() - weights.value) / layers; }
};

std::vector<Case> measurements() {
  for (const EmbeddedFile& f : embedded_cases()) {
    if (f.path == file) return read_cases(parse_csv(f.text(), std::string(file)));
  }
  throw InputError("the program was built without " + std::string(file));
}

// The same with the current engine.
ServingEstimate with_current(const Case& c, const InferScenario& x, Catalogue& catalogue) {
  std::string reason;
  const System* system = catalogue.system(c.system, reason);
  const Runtime* runtime = catalogue.runtime(current, reason);
  if (system == nullptr || runtime == nullptr) throw InputError(reason);
  const auto libraries = catalogue.libraries(*system, *runtime, reason);
  if (!libraries) throw InputError(reason);
  const Problem p = prepare(*system, *runtime, *libraries, x.problem.model, x.problem.serving);
  return serve(p, x.strategy);
}

std::vector<Row> predict(const std::vector<Case>& cases) {
  Catalogue catalogue;
  std::vector<Row> rows;
  for (const Case& c : cases) {
    std::string reason = c.unsupported;
    const auto x = reason.empty() ? serving_of(c, catalogue, reason) : std::nullopt;
    if (!x) throw InputError(c.id + ": " + reason);
    Row r{.c = &c, .strategy = x->strategy, .layers = x->problem.model.layers};
    r.then = serve(x->problem, x->strategy);
    r.now = with_current(c, *x, catalogue);
    r.weights = r.then.memory.weights / x->problem.chip.bandwidth;
    r.error = r.then.latency.value / c.measured - 1;
    rows.push_back(r);
  }
  return rows;
}

std::string milliseconds(double seconds) { return fmt::format("{:.0f}", seconds * 1e3); }
std::string microseconds(double seconds) { return fmt::format("{:.0f}", seconds * 1e6); }

TextTable for_people(const std::vector<Row>& rows) {
  using enum Align;
  TextTable t;
  t.columns = {{"model"},
               {"system"},
               {"TP", right},
               {"measured ms", right},
               {"nemo-2023", right},
               {"error", right},
               {"µs a layer beyond weights", right},
               {"predicted", right},
               {"trtllm ms", right},
               {"faster", right}};
  for (const Row& r : rows) {
    if (!t.rows.empty() && r.model() + r.c->system != (&r - 1)->model() + (&r - 1)->c->system) {
      t.rows.push_back({});
    }
    const double measured = r.c->measured;
    t.rows.push_back({r.model(), r.c->system, std::to_string(r.strategy.tp), milliseconds(measured),
                      milliseconds(r.then.latency.value), fmt::format("{:+.1f} %", r.error * 100),
                      microseconds(r.beyond(measured)),
                      microseconds(r.beyond(r.then.latency.value)),
                      milliseconds(r.now.latency.value),
                      fmt::format("{:.2f}x", measured / r.now.latency.value)});
  }
  return t;
}

TextTable for_programs(const std::vector<Row>& rows) {
  TextTable t;
  t.columns = {{"id"},
               {"model"},
               {"system"},
               {"tp"},
               {"measured_seconds"},
               {"predicted_seconds"},
               {"error"},
               {"predicted_ttft_seconds"},
               {"predicted_tpot_seconds"},
               {"weights_seconds"},
               {"layer_overhead_seconds"},
               {"predicted_layer_overhead_seconds"},
               {"current_seconds"},
               {"current_tpot_seconds"}};
  for (const Row& r : rows) {
    t.rows.push_back({r.c->id, r.model(), r.c->system, std::to_string(r.strategy.tp),
                      write_number(r.c->measured), write_number(r.then.latency.value),
                      write_number(r.error), write_number(r.then.ttft.value),
                      write_number(r.then.tpot.value), write_number(r.weights.value),
                      write_number(r.beyond(r.c->measured)),
                      write_number(r.beyond(r.then.latency.value)),
                      write_number(r.now.latency.value), write_number(r.now.tpot.value)});
  }
  return t;
}

plot::Figure figure_of(const std::vector<Row>& rows) {
  plot::Figure f =
      plot::parity_figure("Llama 2, 200 tokens in, 200 out, batch 1", Seconds::dimension);
  f.bands = {0.06, 0.15};
  plot::Series now{.name = "a current engine", .mark = plot::Mark::dots, .points = {}};
  for (const char* system : {"dgx-a100", "dgx-h100"}) {
    plot::Series s{
        .name = std::string("nemo-2023 on ") + system, .mark = plot::Mark::dots, .points = {}};
    for (const Row& r : rows) {
      if (r.c->system != system) continue;
      s.points.push_back({r.c->measured, r.then.latency.value,
                          fmt::format("{}: {:+.1f} %", r.c->id, r.error * 100)});
      now.points.push_back({r.c->measured, r.now.latency.value,
                            fmt::format("{}: {:.2f} s", r.c->id, r.now.latency.value)});
    }
    f.series.push_back(std::move(s));
  }
  f.series.push_back(std::move(now));
  return f;
}

// "140 to 190" over the rows of a system.
std::string overheads(const std::vector<Row>& rows, const char* system) {
  double low = 1;
  double high = 0;
  for (const Row& r : rows) {
    if (r.c->system != system) continue;
    low = std::min(low, r.beyond(r.c->measured));
    high = std::max(high, r.beyond(r.c->measured));
  }
  return microseconds(low) + " to " + microseconds(high);
}

std::vector<std::string> findings_of(const std::vector<Row>& rows) {
  double mean = 0;
  const Row* worst = &rows.front();
  double slowest = 1e9;
  double fastest = 0;
  double left = 0;  // of the overhead, with the current engine
  for (const Row& r : rows) {
    mean += std::abs(r.error) / static_cast<double>(rows.size());
    if (std::abs(r.error) > std::abs(worst->error)) worst = &r;
    const double ratio = r.c->measured / r.now.latency.value;
    slowest = std::min(slowest, ratio);
    fastest = std::max(fastest, ratio);
    left +=
        r.beyond(r.now.latency.value) / r.beyond(r.c->measured) / static_cast<double>(rows.size());
  }
  return {fmt::format("Mean error {}, worst {} ({}).", format_percent(mean),
                      format_percent(std::abs(worst->error)), worst->c->id),
          fmt::format("Beyond reading the weights a layer took {} µs on A100 and {} µs on H100, "
                      "almost whatever the TP: the software's, not the hardware's.",
                      overheads(rows, "dgx-a100"), overheads(rows, "dgx-h100")),
          fmt::format("A current engine ({}) needs {} of that and is {:.1f} to {:.1f} times as "
                      "fast on the same devices.",
                      current, format_percent(left, 0), slowest, fastest),
          "Measured: NVIDIA NeMo Framework documentation of 2023, cited by Kundu et al. (arXiv "
          "2407.14645)."};
}

}  // namespace

Study inference_validation() {
  const std::vector<Case> cases = measurements();
  const std::vector<Row> rows = predict(cases);
  return {.name = "inference-validation",
          .title =
              "Latency of Llama 2 on A100 and H100, 200 tokens in and out, measured and "
              "predicted",
          .table = for_people(rows),
          .data = for_programs(rows),
          .figure = figure_of(rows),
          .findings = findings_of(rows)};
}

}  // namespace sextant::cli
