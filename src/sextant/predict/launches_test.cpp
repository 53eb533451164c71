// SPDX-License-Identifier: Apache-2.0
// What the host launches in a step of serving, and which kernels are one.
#include <gtest/gtest.h>

#include "sextant/predict/infer.hpp"
#include "sextant/predict/test_problem.hpp"

namespace sextant {
namespace {

Problem served(const char* system, const char* runtime, const char* model) {
  return test::problem_of(system, runtime, model, Serving{});
}

// Hosts of attention's ranks launch at their own pace and meet to exchange tokens: those that have
// some, and where the dispatch asks every host all of them, but none where tokens are gathered.
TEST(Launches, RanksOfAttentionMeetInEveryLayer) {
  struct Case {
    const char *runtime, *model;
    bool gathers;
    double working, others;
  };
  for (const Case& k :
       {Case{"sglang", "qwen3-30b-a3b", false, 4, 3}, Case{"sglang", "qwen3-30b-a3b", false, 1, 3},
        Case{"sglang", "qwen3-30b-a3b", true, 4, 0}, Case{"trtllm", "qwen3-30b-a3b", true, 4, 3},
        Case{"trtllm", "qwen3-30b-a3b", true, 2, 1}, Case{"trtllm", "qwen3-30b-a3b", true, 64, 3},
        Case{"trtllm", "llama3.1-8b", true, 4, 0}, Case{"sglang", "llama3.1-8b", false, 4, 0}}) {
    Problem p = served("dgx-h100", k.runtime, k.model);
    p.runtime.communication.gathers_tokens = k.gathers;
    const int ep = p.model.experts.count > 0 ? 4 : 1;
    const Seconds more = prompt_launch(p, {.dp = 4, .ep = ep}, k.working) - prompt_launch(p, {}, 1);
    EXPECT_NEAR(more.value,
                p.model.layers * std::log(k.others + 1) * p.runtime.engine.meeting.value, 1e-9)
        << k.runtime << " " << k.model << " " << k.working;
  }
}

// SGLang brings tokens of prompts together by a sum over the rows of all ranks, 16 bits a number,
// and those of single tokens by gathering them.
TEST(Launches, TokensOfPromptsAreSummed) {
  const Strategy s{.dp = 8, .ep = 8, .precision = Precision::fp8};
  for (const bool prompts : {false, true}) {
    const PassShape shape{8, prompts ? 1024.0 : 1.0, 1024};
    Problem p = served("dgx-h200", "sglang", "deepseek-v3");
    const Seconds summed = serving_pass(p, s, shape).parts[Work::exchange];
    p.runtime.communication.sums_tokens = false;
    const Seconds gathered = serving_pass(p, s, shape).parts[Work::exchange];
    if (prompts) {
      EXPECT_GT(summed, 1.5 * gathered);
    } else {
      EXPECT_EQ(summed, gathered);
    }
  }
}

// Graphs between attention kernels leave the host a launch a layer; latent attention is launched
// with all its projections.
TEST(Launches, PiecesLeaveTheHostWhatMixesTokens) {
  struct Case {
    const char* model;
    double least, most;  ///< of what launching one by one takes
  };
  for (const Case& k : {Case{"llama3.1-70b", 0.01, 0.1}, Case{"deepseek-r1", 0.2, 0.6}}) {
    Problem p = served("dgx-b200", "trtllm", k.model);
    const Strategy s{.tp = 8, .precision = Precision::fp8};
    const Seconds eager = prompt_launch(p, s, 1);
    p.runtime.engine.mixed_launch = MixedLaunch::piecewise;
    const double share = prompt_launch(p, s, 1) / eager;
    EXPECT_GT(share, k.least) << k.model;
    EXPECT_LT(share, k.most) << k.model;
    p.runtime.engine.mixed_launch = MixedLaunch::graph;
    EXPECT_EQ(prompt_launch(p, s, 1), Seconds(0)) << k.model;
  }
}

// The kernels that add ranks' results and normalise them at once are the stack's own, which large
// messages do not fit: a norm is a kernel again.
TEST(Launches, NormsAreFusedWithSumsThatTheStacksKernelsTake) {
  const Problem p = served("dgx-b200", "trtllm", "llama3.1-70b");
  const auto norms = [&](double tokens) {
    double kernels = 0;
    for (const Operator& o : explain_pass(p, {.tp = 8}, {1, tokens, tokens}).operators) {
      if (std::string_view(o.name) == "norm") kernels += o.count;
    }
    return kernels;
  };
  EXPECT_EQ(norms(480), 0);    // 7.9 MB
  EXPECT_EQ(norms(512), 160);  // 8.4 MB
  // A sum of 1 MB is theirs, too: not many times one of half a MB.
  const auto sum = [&](double batch) {
    for (const Operator& o : explain_pass(p, {.tp = 8}, {batch, 1, 1024}).operators) {
      if (std::string_view(o.name) == "sum") return o.cost.time;
    }
    return Seconds(0);
  };
  EXPECT_LT(sum(64), 2 * sum(32));
}

// A prompt a little longer than half of what a pass takes leaves room that the next one's first
// tokens fill, where the engine cuts prompts.
TEST(Serving, PromptsThatAreCutFillTheirPasses) {
  const auto passes = [](const char* runtime, int input) {
    const Serving work{.batch = 64, .input = input, .output = 2};
    return serve(test::problem_of("dgx-h100", runtime, "llama3.1-8b", work), {}).prompt_passes;
  };
  for (const char* cuts : {"vllm", "sglang"}) {
    EXPECT_EQ(passes(cuts, 4096), 32) << cuts;
    EXPECT_EQ(passes(cuts, 4097), 33) << cuts;
    EXPECT_EQ(passes(cuts, 8193), 65) << cuts;
  }
  EXPECT_EQ(passes("trtllm", 4097), 64);
}

// Six prompts come in three pairs, on four stages as well: no fourth wave is empty.
TEST(Serving, WavesOfPromptsHavePrompts) {
  const auto rate = [](int pp, int batch) {
    const Serving work{.batch = batch, .input = 2048, .output = 1};
    const Problem p = test::problem_of("tpu-v7-node", "vllm", "llama3.1-8b", work);
    return serve(p, {.pp = pp}).tokens_per_second;
  };
  for (const int pp : {2, 3, 4}) {
    for (int batch = pp - 1; batch <= 4 * pp; ++batch) {
      EXPECT_GE(rate(pp, 2 * batch) / rate(pp, batch), 0.999) << "pp " << pp << ", " << batch;
    }
  }
}

// The passes that are explained are those that an answer is made of: as many prompts, or as much of
// one, as a pass takes, and the requests of one of the waves that fill a pipeline.
TEST(Serving, APassThatIsExplainedIsOneOfTheAnswers) {
  struct Case {
    int pp, dp, batch, input;
  };
  for (const Case& c : {Case{1, 1, 1, 100}, Case{1, 1, 16, 1000}, Case{2, 1, 16, 1000},
                        Case{1, 2, 1, 1000}, Case{2, 2, 16, 20000}}) {
    const Serving work{.batch = c.batch, .input = c.input, .output = 2};
    const Strategy s{.pp = c.pp, .dp = c.dp};
    const Problem p = test::problem_of("dgx-h100", "vllm", "llama3.1-8b", work);
    const ServingEstimate e = serve(p, s);
    const auto explained = [&](const PassShape& shape, const PassCost& answered) {
      return explain_pass(p, s, shape, answered).cost.time / answered.time;
    };
    EXPECT_NEAR(explained(prompt_pass(p, s, e), e.prefill), 1, 1e-6) << c.batch << ", " << c.input;
    EXPECT_NEAR(explained(decode_pass(p, e.decoding), e.decode), 1, 1e-6) << c.pp;
  }
}

}  // namespace
}  // namespace sextant
