// SPDX-License-Identifier: Apache-2.0
// The closed formula of a closed loop against the simulation of the same one: whoever asks both
// gets one answer.
#include <algorithm>
#include <cmath>

#include "sextant/serving/test_cluster.hpp"

namespace sextant {
namespace {

struct Row {
  const char *system, *runtime, *model;
  Strategy strategy;
  int input, output, users;
};

/// Formula over simulation, of users who ask for one length: they move in step.
struct Ratios {
  double tokens = 1, tpot = 1, ttft = 1;
  double held = 1;         // of the users, those whose requests are taken at a time
  double preemptions = 0;  // of the simulation
};
Ratios ratios_of(const Row& row) {
  const Serving work{.batch = row.users,
                     .input = row.input,
                     .output = row.output,
                     .batching = Batching::closed_loop};
  Cluster c;
  c.pool =
      test::pool_on(load_system(row.system), row.model, row.runtime, row.strategy, {}, 1, work);
  Traffic t;
  t.arrivals = Arrivals::closed;
  t.concurrency = row.users;
  t.requests = 10.0 * row.users;
  t.input = row.input;
  t.output = row.output;
  const TrafficResult r = simulate(c, t, {});
  Problem p = c.pool.problem;
  p.residence = {};
  const ServingEstimate e = serve(p, row.strategy);
  return {e.tokens_per_second / r.output_tokens_per_second(), e.tpot.value / r.tpot.mean,
          e.ttft.value / r.ttft.p50, e.active / row.users, r.counts.preemptions};
}

double median_error(std::vector<double> ratios) {
  for (double& r : ratios) r = std::abs(r - 1);
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

// Of 563 loops drawn at random (seven models, three systems, four engines, degrees, lengths, 1 to
// 512 users) half are within 0.4, 0.5 and 5.4 %. Before users moved in step in the formula too it
// was 2.3, 10 and 64 %, and one first token in twenty was said 20 times too short.
TEST(Agreement, AClosedLoopIsTheSameInFormulaAndSimulation) {
  constexpr Precision fp8 = Precision::fp8;
  const Row rows[] = {
      {"dgx-h100", "vllm", "llama3.1-8b", {}, 1000, 200, 1},
      {"dgx-h100", "vllm", "llama3.1-8b", {}, 1000, 200, 64},
      {"dgx-h200", "vllm", "qwen3-30b-a3b", {.tp = 8}, 512, 1024, 200},
      {"dgx-h100", "vllm", "llama3.1-8b", {.tp = 2, .precision = fp8}, 20000, 1024, 4},
      {"dgx-b200", "vllm", "qwen3-32b", {.tp = 4}, 4096, 512, 100},
      {"dgx-h100", "vllm", "llama3.1-70b", {.tp = 8}, 2048, 128, 32},
      {"dgx-h200", "vllm", "deepseek-v3", {.dp = 8, .ep = 8, .precision = fp8}, 2048, 512, 256},
      {"dgx-h100", "vllm", "llama3.1-70b", {.tp = 2, .pp = 2, .precision = fp8}, 1024, 256, 32},
      {"dgx-h100", "sglang", "qwen3-32b", {.tp = 4}, 4096, 128, 16},
      {"dgx-h100", "sglang", "qwen3-32b", {.tp = 4}, 4096, 128, 64},
      {"dgx-h200", "sglang", "llama3.1-8b", {}, 512, 1024, 128},
      {"dgx-h200", "sglang", "deepseek-v3", {.dp = 8, .ep = 8, .precision = fp8}, 2048, 128, 64},
      {"dgx-b200", "sglang", "llama3.1-70b", {.tp = 4}, 20000, 256, 8},
      {"dgx-h200", "trtllm", "deepseek-v3", {.tp = 8, .precision = fp8}, 1024, 64, 64},
      {"dgx-h100", "trtllm", "llama3.1-8b", {}, 1024, 2048, 100},
      {"dgx-b200", "trtllm", "llama3.1-8b", {}, 128, 1024, 512},
      {"dgx-h200", "trtllm", "qwen3-235b-a22b", {.dp = 8, .ep = 8, .precision = fp8}, 4096, 512, 4},
      {"dgx-h200", "pytorch-engine", "llama3.1-8b", {.tp = 2}, 1024, 256, 32},
      {"dgx-h200", "pytorch-engine", "qwen3-32b", {.tp = 2}, 512, 512, 100},
      {"dgx-a100", "fastertransformer", "llama3.1-8b", {}, 512, 256, 16},
  };
  std::vector<double> tokens;
  std::vector<double> tpot;
  std::vector<double> ttft;
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.runtime) + " " + row.model + ", " + std::to_string(row.users));
    const Ratios r = ratios_of(row);
    EXPECT_EQ(r.held, 1);
    EXPECT_EQ(r.preemptions, 0);
    EXPECT_NEAR(r.tokens, 1, 0.05);
    EXPECT_NEAR(r.tpot, 1, 0.08);
    EXPECT_NEAR(r.ttft, 1, 0.3);
    tokens.push_back(r.tokens);
    tpot.push_back(r.tpot);
    ttft.push_back(r.ttft);
  }
  EXPECT_LT(median_error(tokens), 0.01);
  EXPECT_LT(median_error(tpot), 0.02);
  EXPECT_LT(median_error(ttft), 0.1);
}

// Short prompts of long answers that fill the cache: in step all grow to their longest together,
// and engines that let in as many as there are prompts to hold preempt the others. As if half of
// the answers were there, the formula gave 1.7 times the tokens.
TEST(Agreement, ACacheThatRunsOutHoldsTheLongest) {
  for (const char* runtime : {"vllm", "sglang"}) {
    const Ratios r = ratios_of({"dgx-h100", runtime, "qwen3-32b", {}, 100, 1000, 128});
    EXPECT_LT(r.held, 0.6) << runtime;
    EXPECT_GT(r.preemptions, 0) << runtime;
    EXPECT_NEAR(r.tokens, 1, 0.2) << runtime;
  }
}

}  // namespace
}  // namespace sextant
