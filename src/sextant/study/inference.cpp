// SPDX-License-Identifier: Apache-2.0
// Latency of Llama 2 that NVIDIA published in 2023, predicted with the software of that time, and
// what a current engine gives. The measurements are in cases/infer-nvidia-llama2.csv.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/predict/infer.hpp"
#include "sextant/study/problems.hpp"
#include "sextant/study/study.hpp"
#include "sextant/units/format.hpp"
#include "sextant/validate/infer_results.hpp"

namespace sextant::study {
namespace {

constexpr const char* current_engine = "trtllm";

struct RequestRow {
  const Case* c = nullptr;
  Strategy strategy;
  int layers = 0;
  ServingEstimate then;  ///< with the runtime of the measurement
  ServingEstimate now;   ///< with a current one
  Seconds weights;       ///< to read a device's weights once
  double error = 0;
  const std::string& model() const { return std::get<InferCase>(c->kernel).model; }
  double steps() const { return std::get<InferCase>(c->kernel).inputs.serving.output; }
  /// What a layer takes beyond reading its weights, in seconds.
  double beyond(double latency) const { return (latency / steps() - weights.value) / layers; }
};

// The same with the current engine.
ServingEstimate with_current(const Case& c, const InferScenario& x, Catalogue& catalogue) {
  std::string reason;
  const System* system = catalogue.system(c.system, reason);
  const Runtime* runtime = catalogue.runtime(current_engine, reason);
  if (system == nullptr || runtime == nullptr) throw InputError(reason);
  const auto libraries = catalogue.libraries(*system, *runtime, reason);
  if (!libraries) throw InputError(reason);
  const Problem p = prepare(*system, *runtime, *libraries, x.problem.model, x.problem.serving);
  return serve(p, x.strategy);
}

std::vector<RequestRow> predict_requests(const std::vector<Case>& cases) {
  Catalogue catalogue;
  std::vector<RequestRow> rows;
  for (const Case& c : cases) {
    std::string reason = c.unsupported;
    const auto x = reason.empty() ? serving_of(c, catalogue, reason) : std::nullopt;
    if (!x) throw InputError(c.id + ": " + reason);
    RequestRow r{.c = &c, .strategy = x->strategy, .layers = x->problem.model.layers};
    r.then = serve(x->problem, x->strategy);
    r.now = with_current(c, *x, catalogue);
    r.weights = r.then.memory.weights / x->problem.chip.bandwidth;
    r.error = r.then.latency.value / c.measured - 1;
    rows.push_back(r);
  }
  return rows;
}

std::string microseconds(double seconds) { return fmt::format("{:.0f}", seconds * 1e6); }

Item in_milliseconds(Seconds t) { return said(t.value, fmt::format("{:.0f}", t.value * 1e3)); }
Item in_microseconds(double seconds) { return said(seconds, microseconds(seconds)); }

void describe_request(Record& r, const RequestRow& x) {
  const double measured = x.c->measured;
  r("id", x.c->id);
  r("model", x.model(), "model");
  r("system", x.c->system, "system");
  r("tp", x.strategy.tp, "TP");
  r("measured_seconds", in_milliseconds(Seconds(measured)), "measured ms");
  r("predicted_seconds", in_milliseconds(x.then.latency), "nemo-2023");
  r("error", change(x.error), "error");
  r("predicted_ttft_seconds", x.then.ttft);
  r("predicted_tpot_seconds", x.then.tpot);
  r("weights_seconds", x.weights);
  r("layer_overhead_seconds", in_microseconds(x.beyond(measured)), "µs a layer beyond weights");
  r("predicted_layer_overhead_seconds", in_microseconds(x.beyond(x.then.latency.value)),
    "predicted");
  r("current_seconds", in_milliseconds(x.now.latency), "trtllm ms");
  r("current_tpot_seconds", x.now.tpot);
  r("", fixed(measured / x.now.latency.value, 2, "x"), "faster");
}

plot::Figure figure_of(const std::vector<RequestRow>& rows) {
  plot::Figure f =
      plot::parity_figure("Llama 2, 200 tokens in, 200 out, batch 1", Seconds::dimension);
  f.bands = {0.06, 0.15};
  plot::Series now{.name = "a current engine", .mark = plot::Mark::dots};
  for (const char* system : {"dgx-a100", "dgx-h100"}) {
    plot::Series s{.name = std::string("nemo-2023 on ") + system, .mark = plot::Mark::dots};
    for (const RequestRow& r : rows) {
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
std::string overheads(const std::vector<RequestRow>& rows, const char* system) {
  double low = 1;
  double high = 0;
  for (const RequestRow& r : rows) {
    if (r.c->system != system) continue;
    low = std::min(low, r.beyond(r.c->measured));
    high = std::max(high, r.beyond(r.c->measured));
  }
  return microseconds(low) + " to " + microseconds(high);
}

std::vector<std::string> findings_of(const std::vector<RequestRow>& rows) {
  double mean = 0;
  const RequestRow* worst = &rows.front();
  double slowest = 1e9;
  double fastest = 0;
  double left = 0;  // of the overhead, with the current engine
  for (const RequestRow& r : rows) {
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
                      current_engine, format_percent(left, 0), slowest, fastest),
          "Measured: NVIDIA NeMo Framework documentation of 2023, cited by Kundu et al. (arXiv "
          "2407.14645)."};
}

}  // namespace

Study inference_validation() {
  const std::vector<Case> cases = read_cases(shipped_cases("infer-nvidia-llama2.csv"));
  const std::vector<RequestRow> rows = predict_requests(cases);
  return {
      .title = "Latency of Llama 2 on A100 and H100, 200 tokens in and out, measured and predicted",
      .rows = records_of(rows, describe_request,
                         [](const RequestRow& x) {
                           const RequestRow& before = *(&x - 1);
                           return x.model() + x.c->system != before.model() + before.c->system;
                         }),
      .figure = figure_of(rows),
      .findings = findings_of(rows)};
}

}  // namespace sextant::study
