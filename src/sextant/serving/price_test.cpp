// SPDX-License-Identifier: Apache-2.0
#include "sextant/serving/price.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sextant/serving/random.hpp"
#include "sextant/serving/test_cluster.hpp"

namespace sextant {
namespace {

/// What a step is predicted to take, asked directly.
double asked(const Problem& p, const Strategy& s, PassShape shape) {
  return serving_pass(p, s, shape).time.value;
}

TEST(StepPrice, IsNearWhatAPassTakes) {
  for (const char* model : {"llama3.1-8b", "llama3.1-70b"}) {
    Pool pool = test::pool_of(model, "vllm", {.tp = 4});
    pool.problem.runtime.engine.schedule = pool.problem.runtime.engine.sequence = Seconds(0);
    pool.problem.runtime.engine.layer = Seconds(0);
    StepPrice price(pool.problem, pool.strategy, 1000);
    Random random(1);
    std::vector<double> decode;
    std::vector<double> mixed;
    for (int i = 0; i < 60; ++i) {
      const int n = graph_batch(1 + static_cast<int>(random.bits() % 256), 512);
      const double context = 50 + 6000 * random.uniform();
      const double tokens = std::floor(32 + 4000 * random.uniform());
      const double before = std::floor(3000 * random.uniform());
      const StepShape d{.decoding = double(n), .contexts = n * context};
      const PassShape pd{.batch = double(n), .queries = 1, .context = context};
      decode.push_back(
          std::abs(price.step(d).seconds / asked(pool.problem, pool.strategy, pd) - 1));
      const StepShape m{.decoding = double(n),
                        .contexts = n * context,
                        .prompt_tokens = tokens,
                        .reach = tokens * (before + tokens / 2),
                        .prompts = 1};
      PassShape pm = pd;
      pm.chunk = tokens;
      pm.chunk_context = before + tokens;
      mixed.push_back(std::abs(price.step(m).seconds / asked(pool.problem, pool.strategy, pm) - 1));
    }
    for (std::vector<double>* errors : {&decode, &mixed}) {
      std::sort(errors->begin(), errors->end());
    }
    EXPECT_LT(decode[30], 0.005) << model;
    EXPECT_LT(decode.back(), 0.03) << model;
    EXPECT_LT(mixed[30], 0.015) << model;
    EXPECT_LT(mixed[54], 0.04) << model;
    EXPECT_LT(mixed.back(), 0.08) << model;
  }
}

TEST(StepPrice, AsksFewPassesForManySteps) {
  const Pool pool = test::pool_of("llama3.1-8b", "vllm", {});
  StepPrice price(pool.problem, pool.strategy, 1000);
  Random random(2);
  for (int i = 0; i < 20000; ++i) {
    const double n = 1 + static_cast<double>(random.bits() % 200);
    const double tokens = 1 + static_cast<double>(random.bits() % 8000);
    price.step(
        {.decoding = n, .contexts = n * 1000, .prompt_tokens = tokens, .reach = tokens * 500});
  }
  EXPECT_LT(price.passes(), 1500U);
}

TEST(StepPrice, ShortPromptsCostLessThanALongOne) {
  const Pool pool = test::pool_of("llama3.1-8b", "vllm", {});
  StepPrice price(pool.problem, pool.strategy, 1000);
  const StepShape many{.prompt_tokens = 8192, .reach = 8192.0 * 128, .prompts = 32};
  const StepShape one{.prompt_tokens = 8192, .reach = 8192.0 * 4096, .prompts = 1};
  const StepShape end{.prompt_tokens = 8192, .reach = 8192.0 * 60000, .prompts = 1};
  EXPECT_LT(price.step(many).seconds, price.step(one).seconds * 0.97);
  EXPECT_GT(price.step(end).seconds, price.step(one).seconds * 1.5);
}

// A short prompt on one of four ranks is launched sooner than one on each, where idle ones need not
// be waited for.
TEST(StepPrice, RanksWithoutTokensAreNotWaitedFor) {
  for (const char* runtime : {"trtllm", "sglang"}) {
    Pool pool = test::pool_of("qwen3-30b-a3b", runtime, {.tp = 1, .dp = 4, .ep = 4});
    pool.problem.runtime.communication.gathers_tokens = false;
    StepPrice price(pool.problem, pool.strategy, 1000);
    const auto seconds = [&](double idle) {
      return price
          .step({.prompt_tokens = 256,
                 .reach = 256 * 128,
                 .prompts = 1,
                 .mean_prompt_tokens = 64,
                 .idle_ranks = idle})
          .seconds;
    };
    if (pool.problem.runtime.engine.dispatch_meets) {
      EXPECT_EQ(seconds(3), seconds(0)) << runtime;
    } else {
      EXPECT_LT(seconds(3), 0.9 * seconds(0)) << runtime;
    }
  }
}

// Attention that chooses its tokens takes as long after any context, but for the index: neither a
// step of several prompts nor one piece of a long one is a straight line from no context at all.
TEST(StepPrice, ChosenTokensTakeTheirKernelWhateverThePieces) {
  Pool pool = test::pool_of("deepseek-v3.2", "vllm", {.tp = 8, .precision = Precision::fp8});
  pool.problem.runtime.engine.schedule = pool.problem.runtime.engine.sequence = Seconds(0);
  pool.problem.runtime.engine.layer = Seconds(0);
  StepPrice price(pool.problem, pool.strategy, 1000);
  struct Case {
    double prompts, tokens, before;
  };
  for (const Case& k : {Case{2, 4096, 0},
                        {1, 8192, 0},
                        {1, 8192, 24000},
                        {4, 2000, 0},
                        {1, 1024, 12000},
                        {8, 1000, 0}}) {
    const StepShape s{.prompt_tokens = k.prompts * k.tokens,
                      .reach = k.prompts * k.tokens * (k.before + k.tokens / 2)};
    const PassShape whole{.batch = k.prompts, .queries = k.tokens, .context = k.before + k.tokens};
    EXPECT_NEAR(price.step(s).seconds / asked(pool.problem, pool.strategy, whole), 1, 0.06)
        << k.prompts << " x " << k.tokens << " after " << k.before;
  }
}

TEST(StepPrice, LinesAreSteps) {
  const Pool pool = test::pool_of("llama3.1-8b", "vllm", {});
  StepPrice price(pool.problem, pool.strategy, 1000);
  const StepShape s{.decoding = 40, .contexts = 40 * 900.0};
  const StepPrice::Line line = price.decode_line(s);
  ASSERT_GT(line.steps, 10);
  double sum = 0;
  for (int k = 0; k < 10; ++k) {
    StepShape later = s;
    later.contexts += k * s.decoding;
    sum += price.step(later).seconds;
  }
  EXPECT_NEAR(10 * line.first.seconds + line.growth * 45, sum, 1e-6 * sum);
}

}  // namespace
}  // namespace sextant
