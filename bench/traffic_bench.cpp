// SPDX-License-Identifier: Apache-2.0
// Requests simulated a second: a 70B model on four H100 near its knee, lengths as in the Azure
// conversation trace of 2023 (1,155 tokens in, 211 out, on average), or the trace that the variable
// SEXTANT_TRACE names.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "sextant/io/traces.hpp"
#include "sextant/predict/test_problem.hpp"
#include "sextant/serving/traffic.hpp"

namespace sextant {
namespace {

Cluster cluster() {
  const Problem p = test::problem_of("dgx-h100", "vllm", "llama3.1-70b", Serving{});
  const Strategy s{.tp = 4};
  Cluster c;
  c.pool = {p, s, fit_engine(p, s, {}).limits, 1};
  return c;
}

void simulate_traffic(benchmark::State& state) {
  Traffic t;
  t.requests = 20000;
  t.input = 1155;
  t.output = 211;
  t.lengths = Lengths::lognormal;
  Trace trace;
  if (const char* path = std::getenv("SEXTANT_TRACE")) {
    trace = read_trace(path);
    t.arrivals = Arrivals::trace;
    t.lengths = Lengths::trace;
    t.trace = &trace;
    t.requests = static_cast<double>(trace.requests.size());
  }
  PricedCluster c(cluster(), means_of(t));
  t.rate = 0.9 * c.capacity(means_of(t));
  double requests = 0;
  for (auto _ : state) requests += simulate(c, t, {}).completed;
  state.counters["requests/s"] = benchmark::Counter(requests, benchmark::Counter::kIsRate);
}
BENCHMARK(simulate_traffic)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sextant
