// SPDX-License-Identifier: Apache-2.0
// Clusters for the tests of serving.
#pragma once

#include <gtest/gtest.h>

#include "sextant/predict/test_problem.hpp"
#include "sextant/serving/traffic.hpp"

namespace sextant::test {

inline Pool pool_on(const System& system, const char* model, const char* runtime, Strategy strategy,
                    const EngineChoices& choices = {}, int replicas = 1, const Serving& work = {}) {
  const Problem p = problem_of(system, load_runtime(runtime), load_model(model), work);
  return pool_with(p, strategy, fit_engine(p, strategy, choices), replicas);
}

inline Pool pool_of(const char* model, const char* runtime, Strategy strategy,
                    const EngineChoices& choices = {}, int replicas = 1) {
  return pool_on(load_system("dgx-h100"), model, runtime, strategy, choices, replicas);
}

inline Cluster cluster_of(const char* runtime = "vllm", const EngineChoices& choices = {},
                          int replicas = 1) {
  Cluster c;
  c.pool = pool_of("llama3.1-8b", runtime, {}, choices, replicas);
  return c;
}

inline Traffic traffic_at(double rate, double requests = 2000) {
  Traffic t;
  t.rate = rate;
  t.requests = requests;
  t.input = 800;
  t.output = 120;
  t.lengths = Lengths::lognormal;
  t.spread = 0.7;
  return t;
}

/// Requests so rare that each is alone take what `infer` says of one.
inline void expect_as_infer(Cluster c, double rate) {
  // What the scheduler adds is not the model's.
  Engine& host = c.pool.problem.runtime.engine;
  host.schedule = host.sequence = host.prompt = Seconds(0);
  Traffic t;
  t.rate = rate;
  t.requests = 5;
  t.input = 1024;
  t.output = 256;
  const TrafficResult r = simulate(c, t, {});
  Problem p = c.pool.problem;
  p.residence = {};
  p.runtime.launch.graph = true;
  p.serving.batch = 1;
  p.serving.input = 1024;
  p.serving.output = 256;
  const ServingEstimate e = serve(p, c.pool.strategy);
  EXPECT_NEAR(r.tpot.p50 / e.tpot.value, 1, 0.01);
  EXPECT_NEAR(r.ttft.p50 / e.ttft.value, 1, 0.05);
}

}  // namespace sextant::test
