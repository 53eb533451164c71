// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sextant/predict/infer.hpp"
#include "sextant/predict/test_problem.hpp"

namespace sextant {
namespace {

// With as many requests as a request has steps, one ends a step on the mean, and another prompt
// begins to join: no jump, for they come as they like.
TEST(ClosedLoop, NobodyIsServedSoonerForMoreUsers) {
  struct Row {
    const char* model;
    Strategy strategy;
    int input, output;
  };
  const Row rows[] = {
      {"deepseek-v3", {.tp = 8, .precision = Precision::fp8}, 1024, 64},
      {"deepseek-v3", {.dp = 8, .ep = 8, .precision = Precision::fp8}, 1024, 16},
      {"llama3.1-70b", {.tp = 4, .precision = Precision::bf16}, 512, 32},
      {"gpt-oss-120b", {.tp = 2, .pp = 2, .precision = Precision::bf16}, 2048, 24},
  };
  for (const Row& r : rows) {
    Problem p = test::problem_of("dgx-h200", "trtllm", r.model, Serving{});
    p.serving = {.input = r.input, .output = r.output, .batching = Batching::closed_loop};
    Seconds before(0);
    for (int users = 8; users <= 320; users += users < 160 ? 1 : 7) {
      p.serving.batch = users;
      const ServingEstimate e = serve(p, r.strategy);
      ASSERT_EQ(e.verdict, Verdict::fits) << r.model;
      EXPECT_GT(e.latency, 0.995 * before) << r.model << ", " << users << " users";
      before = e.latency;
    }
  }
}

// First tokens of SGLang as measured (Qwen3 32B on four H100, 4,096 tokens in, aiconfigurator's
// anchors, Apache-2.0): users who ask for one length ask at a time, and wait for half of the
// others' prompts. The means that were measured have the first wave in them, which is like the
// others here.
TEST(ClosedLoop, UsersOfOneLengthMoveInStep) {
  Problem p = test::problem_of("dgx-h100", "sglang", "qwen3-32b", Serving{});
  for (const auto& [users, seconds] : {std::pair{16, 1.38}, {64, 4.68}, {128, 9.2}}) {
    p.serving = {.batch = users, .input = 4096, .output = 128, .batching = Batching::closed_loop};
    const ServingEstimate e = serve(p, {.tp = 4, .precision = Precision::bf16});
    EXPECT_NEAR(e.ttft.value / seconds, 1, 0.12) << users;
  }
}

// Engines choose how long a step is by the device that they know. Whoever asks what more memory
// would change changes the memory: vLLM's steps of 16,384 tokens made an A40 of 900 GiB slower.
TEST(ClosedLoop, MemoryThatIsSetByHandLeavesAnEnginesLimits) {
  const Serving work{.batch = 16, .input = 1000, .output = 100, .batching = Batching::closed_loop};
  const auto latency = [&](const std::vector<Setting>& settings) {
    const System system = load_system("a40-node", settings);
    const Problem p =
        test::problem_of(system, load_runtime("vllm"), load_model("llama3.1-8b"), work);
    return serve(p, {.tp = 2, .precision = Precision::fp16}).latency.value;
  };
  const double known = latency({});
  EXPECT_EQ(latency({{"device.memory.capacity", "900 GiB"}}), known);
  EXPECT_NE(latency({{"system.device", "b200"}}), known);
}

// FlashAttention-2 attends to tokens and prompts in one launch, where a token costs a block of
// queries a head (attention-mixed); kernels of Hopper, and engines that keep the two apart, do not.
TEST(MixedSteps, TokensBesideAPromptCostMoreWhereOneLaunchTakesBoth) {
  struct Row {
    const char* system;
    const char* runtime;
    bool together;
  };
  for (const Row& row : {Row{"dgx-a100", "vllm", true}, Row{"l4-node", "vllm", true},
                         Row{"dgx-h100", "vllm", false}, Row{"dgx-a100", "trtllm", false}}) {
    const Problem p = test::problem_of(row.system, row.runtime, "llama3.1-8b", Serving{});
    const auto attention = [&](const PassShape& shape) {
      return serving_pass(p, {}, shape).parts[Work::attention].value;
    };
    const double beside = attention(
        {.batch = 64, .queries = 1, .context = 2000, .chunk = 2048, .chunk_context = 2048});
    const double apart = attention({.batch = 64, .queries = 1, .context = 2000}) +
                         attention({.batch = 1, .queries = 2048, .context = 2048});
    if (row.together) {
      EXPECT_GT(beside, 1.3 * apart) << row.system << ' ' << row.runtime;
    } else {
      EXPECT_NEAR(beside / apart, 1, 0.05) << row.system << ' ' << row.runtime;
    }
  }
}

// Without a step of decoding whoever is answered asks again at once, and steps stay as full as with
// two tokens; 'traffic' serves 64 prompts of 128 in 196 ms on an H100, which were 243 here.
TEST(ClosedLoop, ATokenFewerIsNoSlower) {
  for (const char* runtime : {"vllm", "sglang", "trtllm"}) {
    for (const int users : {1, 4, 16, 64, 256}) {
      for (const int input : {128, 1024, 8192}) {
        const auto answered = [&](int output) {
          Problem p = test::problem_of("dgx-h100", runtime, "llama3.1-8b", Serving{});
          p.serving = {
              .batch = users, .input = input, .output = output, .batching = Batching::closed_loop};
          return serve(p, {}).latency;
        };
        EXPECT_LE(answered(1), answered(2)) << runtime << ", " << users << ", " << input;
        if (users == 64 && input == 128 && runtime == std::string_view("vllm")) {
          EXPECT_NEAR(answered(1).value, 0.196, 0.005);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sextant
