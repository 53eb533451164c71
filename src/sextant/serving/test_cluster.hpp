// SPDX-License-Identifier: Apache-2.0
// Clusters for the tests of serving.
#pragma once

#include "sextant/io/presets.hpp"
#include "sextant/serving/traffic.hpp"

namespace sextant::test {

inline Pool pool_on(const System& system, const char* model, const char* runtime, Strategy strategy,
                    const EngineChoices& choices = {}, int replicas = 1, const Serving& work = {}) {
  const Runtime r = load_runtime(runtime);
  const Problem p = prepare(system, r, load_libraries(system, r), load_model(model), work);
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

}  // namespace sextant::test
