// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/serving_results.hpp"

#include "sextant/io/traces.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/predict/rules.hpp"
#include "sextant/scenario/derive.hpp"
#include "sextant/validate/parts.hpp"

namespace sextant {
namespace {

double value_of(const ServingCase& c, const TrafficResult& r) {
  switch (c.metric) {
    case ServingMetric::ttft_p50_seconds:
      return c.mean ? r.ttft.mean : r.ttft.p50;
    case ServingMetric::ttft_p90_seconds:
      return r.ttft.p90;
    case ServingMetric::ttft_p99_seconds:
      return r.ttft.p99;
    case ServingMetric::tpot_p50_seconds:
      return c.mean ? r.tpot.mean : r.tpot.p50;
    case ServingMetric::tpot_p99_seconds:
      return r.tpot.p99;
    case ServingMetric::latency_p50_seconds:
      return r.latency.p50;
    case ServingMetric::latency_mean_seconds:
      return r.latency.mean;
    case ServingMetric::output_tokens_per_second:
      break;
  }
  return r.output_tokens_per_second();
}

bool is_first_token(ServingMetric metric) {
  return metric == ServingMetric::ttft_p50_seconds || metric == ServingMetric::ttft_p90_seconds ||
         metric == ServingMetric::ttft_p99_seconds;
}

/// What engines spent most of their time on.
std::string_view busiest(const TrafficResult& r) {
  if (r.prefill_share > std::max(r.decode_share, r.mixed_share)) return "prefill";
  return r.mixed_share > r.decode_share ? "mixed" : "decode";
}

/// A pool on so many devices, or the reason there is none.
std::optional<Pool> pool_of(const Problem& problem, const Strategy& s, int workers,
                            const EngineChoices& choices, const TrafficMeans& lengths,
                            std::string& reason) {
  if (legal_serving(problem, s) != Verdict::fits) {
    reason = "cannot run: " + joined(check_serving(problem, s));
    return std::nullopt;
  }
  const EngineFit fit = fit_engine(problem, s, choices, lengths);
  if (!fit.fits) {
    reason = "no room for a cache";
    return std::nullopt;
  }
  return pool_with(problem, s, fit, workers);
}

}  // namespace

const Trace& ServingRuns::trace(const std::string& path) {
  const auto found = traces_.find(path);
  return found != traces_.end() ? found->second
                                : traces_.emplace(path, read_trace(path)).first->second;
}

ServingRuns::Run ServingRuns::run(const Case& c, const Runtime* runtime) {
  Run made;
  std::string& reason = made.reason;
  const auto& t = std::get<ServingCase>(c.kernel);
  const int context = t.traffic.input + t.traffic.output;
  const auto parts =
      find_parts({c.system, t.runtime, t.model, t.columns, context}, catalogue_, reason);
  if (!parts) return made;
  Runtime engine = runtime != nullptr ? *runtime : parts->runtime;
  Serving serving;
  apply(t.settings, engine, "runtime");
  apply(t.settings, serving, "serving");
  serving.cache = t.cache.value_or(usual_cache(parts->model, engine, t.strategy.precision));
  const Problem problem = prepare(*parts->system, engine, parts->libraries, parts->model, serving);
  const Strategy& tokens = t.decode_workers > 0 ? t.decode : t.strategy;
  made.likeness = likeness_of(Asked::traffic, parts->system->device.name, problem, tokens);
  Traffic traffic = t.traffic;
  if (!t.trace.empty()) traffic.trace = &trace(t.trace);
  const TrafficMeans lengths = sizing_lengths(engine.engine, traffic);
  Cluster cluster;
  const auto pool = pool_of(problem, t.strategy, t.workers, t.choices, lengths, reason);
  if (!pool) return made;
  cluster.pool = *pool;
  if (t.decode_workers > 0) {
    EngineChoices choices = t.choices;
    if (t.held) choices.max_requests = t.held;
    cluster.decode = pool_of(problem, t.decode, t.decode_workers, choices, lengths, reason);
    if (!cluster.decode) return made;
  }
  connect(cluster);
  try {
    made.result = simulate(cluster, traffic, {});
  } catch (const InputError& e) {
    reason = joined(e.diagnostics());
  }
  return made;
}

CaseResult ServingRuns::predict(const Case& c, const Runtime* runtime) {
  if (!c.unsupported.empty()) return unpredicted(c, c.unsupported);
  const auto& t = std::get<ServingCase>(c.kernel);
  if (t.run != last_) {
    latest_ = run(c, runtime);
    last_ = t.run;
  }
  if (!latest_.result) return unpredicted(c, latest_.reason);
  CaseResult r = unpredicted(c, "");
  r.predicted = value_of(t, *latest_.result);
  r.error = r.predicted / r.measured - 1;
  r.bound = busiest(*latest_.result);
  r.likeness = latest_.likeness;
  r.time = t.metric != ServingMetric::output_tokens_per_second;
  if (is_first_token(t.metric)) r.likeness.question = Asked::first_token;
  return r;
}

}  // namespace sextant
