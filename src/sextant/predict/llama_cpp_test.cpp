// SPDX-License-Identifier: Apache-2.0
// llama.cpp against its published rates: files of 4 bits, kernels of its own.
#include <gtest/gtest.h>

#include "sextant/predict/held.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/predict/test_problem.hpp"

namespace sextant {
namespace {

// Kernels that stream weights past a few rows ask for so many bytes a core: a device with much
// bandwidth a core falls short of it (llama.cpp on A100 gives 53 tokens a second in F16, on an RTX
// 4090, with half the bandwidth, 55).
TEST(Serving, FewRowsStreamAsFastAsTheirCoresAsk) {
  const auto rate = [](const char* system) {
    Problem p = test::problem_of(system, "llama.cpp", "llama3-8b", Serving{});
    p.serving = {.batch = 1, .input = 1, .output = 512};
    return serve(p, {.precision = Precision::fp16}).tokens_per_second;
  };
  EXPECT_NEAR(rate("dgx-a100") / rate("rtx-4090-node"), 53.49 / 54.84, 0.15);
}

// Where lanes both multiply and widen, 4-bit weights give less than their bytes promise. Rates of
// llama.cpp (XiongjieDai/GPU-Benchmarks-on-LLM-Inference, May 2024).
TEST(Serving, LanesThatMultiplyAlsoWiden) {
  struct Row {
    const char* system;
    Precision type;
    double measured;
  };
  for (const Row& r :
       {Row{"m2-ultra-node", Precision::fp16, 36.90}, Row{"m2-ultra-node", Precision::int4, 78.81},
        Row{"m3-max-node", Precision::fp16, 22.04}, Row{"m3-max-node", Precision::int4, 48.97}}) {
    Problem p = test::problem_of(r.system, "llama.cpp", "llama3-8b", Serving{});
    p.serving = {.batch = 1, .input = 1, .output = 512};
    const double rate = serve(p, {.precision = r.type}).tokens_per_second;
    EXPECT_NEAR(rate / r.measured, 1, 0.12) << r.system << ", " << name_of(r.type);
  }
}

// FlashAttention was no default of 2024: long prompts wrote their scores, single tokens had kernels
// of their own (the same table, RTX 3090 and 4090).
TEST(Serving, PromptsInPiecesLeaveFewRowsTheirKernels) {
  for (const auto& [system, measured] :
       {std::pair{"rtx-3090-node", 2667.0}, std::pair{"rtx-4090-node", 4744.0}}) {
    Problem p = test::problem_of(system, "llama.cpp", "llama3-8b", Serving{});
    const Strategy s{.precision = Precision::fp16};
    const auto time = [&](double queries) { return serving_pass(p, s, {1, queries, 8192}).time; };
    EXPECT_NEAR(8192 / time(8192).value / measured, 1, 0.2) << system;
    const Seconds one = time(1);
    const Seconds prompt = time(8192);
    p.runtime.fusion.attention = true;
    EXPECT_EQ(time(1), one) << system;
    EXPECT_LT(time(8192), 0.95 * prompt) << system;
  }
}

// What products of scores take of a cache is padded: a prompt of an odd length is aligned too.
TEST(Serving, PromptsOfOddLengthsTakeNoLonger) {
  for (const char* system : {"rtx-4090-node", "p100-node"}) {
    const auto first_token = [&](int input) {
      const Serving work{.batch = 1, .input = input, .output = 1};
      return serve(test::problem_of(system, "llama.cpp", "llama3-8b", work), {}).ttft.value;
    };
    EXPECT_NEAR(first_token(2047) / first_token(2048), 1, 0.01) << system;
    EXPECT_LT(first_token(2049) / first_token(2048), 1.1) << system;
  }
}

// Sixty-three prompts fill passes of a mean in part; their scores take the kernels of whole ones.
TEST(Serving, AFewerPromptIsNoSlower) {
  const auto last = [](int batch) {
    const Serving work{.batch = batch, .input = 1000, .output = 1};
    return serve(test::problem_of("rtx-4070-ti-node", "llama.cpp", "gemma3-27b", work), {.tp = 2});
  };
  EXPECT_LE(last(63).ttft, last(64).ttft);
  EXPECT_LE(last(199).ttft, last(200).ttft);
}

// A GGUF of gpt-oss-20b has experts in MXFP4 and the rest in Q8_0: 12.1 GB.
TEST(Serving, WhatAStackStoresTheRestInIsHeldAndRead) {
  Problem p = test::problem_of("dgx-h100", "llama.cpp-2026", "gpt-oss-20b", Serving{});
  const Strategy s{.precision = Precision::fp4};
  const auto held = [&] { return serving_memory(p, s, false).weights.value; };
  const auto read = [&] { return serving_pass(p, s, {1, 1, 100}).dram.value; };
  EXPECT_NEAR(held(), 12.1e9, 0.01 * 12.1e9);
  const double before[] = {held(), read()};
  p.runtime.weights.fp4_rest_bits = 16;
  const RankParameters n = rank_parameters(p, s, 0);
  const double more = (16 - 8.5) / 8;
  EXPECT_NEAR(held() - before[0], more * (n.published + n.embedding + n.head), 1);
  EXPECT_NEAR((read() - before[1]) / (more * (n.published + n.head)), 1, 0.01);
}

// A GGUF of Qwen3 30B-A3B in Q8_0 has 30.25 GiB, scales, head and embedding included.
TEST(Serving, FilesOfEightBitsHoldTheirScales) {
  const Problem p = test::problem_of("dgx-spark", "llama.cpp-2026", "qwen3-30b-a3b", Serving{});
  const ServingMemory m = serving_memory(p, {.precision = Precision::int8}, false);
  EXPECT_NEAR(m.weights.value / (1 << 30), 30.25, 0.1);
}

// Decode rates of one user that were published in June 2026 (presets/kernels/ggml-2026.toml).
TEST(Serving, TheStackOf2026IsFasterThanThatOf2024) {
  struct Row {
    const char* system;
    const char* model;
    double measured;
  };
  for (const Row& r :
       {Row{"dgx-a100", "gpt-oss-20b", 189}, Row{"dgx-h100", "gpt-oss-20b", 286},
        Row{"h200-single", "gpt-oss-20b", 292}, Row{"dgx-b300", "gpt-oss-20b", 327},
        Row{"dgx-a100", "gemma4-31b", 43}, Row{"dgx-h100", "gemma4-31b", 68},
        Row{"rtx-4090-node", "qwen3.5-27b", 47}, Row{"dgx-h100", "qwen3.5-35b-a3b", 194}}) {
    const auto rate = [&](const char* runtime) {
      Problem p = test::problem_of(r.system, runtime, r.model, Serving{});
      p.serving = {.batch = 1, .input = 128, .output = 512};
      return serve(p, {.precision =
                           p.model.stored == Precision::fp4 ? Precision::fp4 : Precision::int4})
          .tokens_per_second;
    };
    EXPECT_NEAR(rate("llama.cpp-2026") / r.measured, 1, 0.15) << r.system << ", " << r.model;
    EXPECT_GE(rate("llama.cpp-2026"), rate("llama.cpp")) << r.system << ", " << r.model;
  }
}

// No row of DGX Spark was in any fit (benches/dgx-spark.md of ggml-org/llama.cpp, November 2025).
TEST(Serving, AChipThatNobodyFittedDecodesAsPublished) {
  struct Row {
    const char* model;
    Precision type;
    double measured;
  };
  for (const Row& r :
       {Row{"gpt-oss-20b", Precision::fp4, 84.10}, Row{"gpt-oss-120b", Precision::fp4, 59.02},
        Row{"qwen3-30b-a3b", Precision::int8, 60.92}, Row{"qwen2.5-7b", Precision::int8, 29.30},
        Row{"gemma3-4b", Precision::int4, 78.97}}) {
    Problem p = test::problem_of("dgx-spark", "llama.cpp-2026", r.model, Serving{});
    p.serving = {.batch = 1, .input = 1, .output = 32};
    EXPECT_NEAR(serve(p, {.precision = r.type}).tokens_per_second / r.measured, 1, 0.12) << r.model;
  }
}

// A token's experts on lanes were padded to tiles of 16 rows, and half as fast as published
// (pavlokhmel.com, June 2026; geerlingguy/ai-benchmarks, December 2025 and February 2026).
TEST(Serving, ExpertsOnLanesDoNoRowsThatAreNotThere) {
  for (const auto& [system, measured] :
       {std::pair{"m1-node", 21.0}, std::pair{"m5-node", 48.0}, std::pair{"m1-ultra-node", 100.4},
        std::pair{"m3-ultra-node", 115.3}}) {
    Problem p = test::problem_of(system, "llama.cpp-2026", "gpt-oss-20b", Serving{});
    p.serving = {.batch = 1, .input = 100, .output = 500};
    const Seconds token = serve(p, {.precision = Precision::fp4}).tpot;
    EXPECT_NEAR(1 / token.value / measured, 1, 0.25) << system;
  }
}

// Prompts pass in physical batches of 512, each of which reads most experts again: 1,716 tokens a
// second of a prompt of 2,048 (pull request 17906 of ggml-org/llama.cpp, December 2025).
TEST(Serving, APromptReadsExpertsOnceAPhysicalBatch) {
  Problem p = test::problem_of("dgx-spark", "llama.cpp-2026", "gpt-oss-120b", Serving{});
  p.serving = {.batch = 1, .input = 2048, .output = 1};
  const Strategy s{.precision = Precision::fp4};
  const Seconds time = serve(p, s).ttft;
  EXPECT_NEAR(2048 / time.value / 1716, 1, 0.15);
  p.runtime.pass_tokens = 0;
  EXPECT_LT(serve(p, s).ttft, 0.6 * time);
}

// Activations are made int8 with a scale for 32, whose sums threads scale: rates of 4-bit floats as
// those were multiplied before December 2025, near which their own peak promised three times as
// much (benches/dgx-spark.md of ggml-org/llama.cpp; pull requests 15631 and 20586).
TEST(Serving, PromptsAreMultipliedInBlocksOfWholeNumbers) {
  struct Row {
    const char* system;
    const char* model;
    Precision type;
    int input, pass;
    double measured;
  };
  for (const Row& r : {Row{"dgx-spark", "gpt-oss-20b", Precision::fp4, 2048, 2048, 3783},
                       Row{"dgx-spark", "qwen3-30b-a3b", Precision::int8, 2048, 2048, 3176},
                       Row{"dgx-spark", "qwen2.5-7b", Precision::int8, 2048, 2048, 2276},
                       Row{"dgx-spark", "gemma3-4b", Precision::int4, 2048, 2048, 5713},
                       Row{"rtx-3090-node", "gpt-oss-20b", Precision::fp4, 512, 512, 4703},
                       Row{"rtx-4090-node", "gpt-oss-20b", Precision::fp4, 4096, 1024, 11094}}) {
    Problem p = test::problem_of(r.system, "llama.cpp-2026", r.model, Serving{});
    p.serving = {.batch = 1, .input = r.input, .output = 1};
    p.runtime.pass_tokens = r.pass;
    p.runtime.weights.fp4_by_threads = false;
    const double rate = r.input / serve(p, {.precision = r.type}).ttft.value;
    EXPECT_NEAR(rate / r.measured, 1, 0.27) << r.system << ", " << r.model;
  }
}

// The engine's own kernels of more rows ask for no more bytes a core than those of few.
TEST(Serving, AFewerRowIsNoSlower) {
  for (const char* system : {"dgx-a100", "dgx-h100", "rtx-4090-node", "dgx-spark"}) {
    const Problem p = test::problem_of(system, "llama.cpp-2026", "llama3-8b", Serving{});
    for (const Precision type : {Precision::int4, Precision::int8}) {
      const auto time = [&](double rows) {
        return serving_pass(p, {.precision = type}, {1, rows, 100}).time;
      };
      EXPECT_LE(time(8), time(9)) << system << ", " << name_of(type);
    }
  }
}

// And 4-bit floats that threads multiply as they are gain a quarter (pull request 17906).
TEST(Serving, ThreadsMultiplyFloatsOfFourBitsAsTheyAre) {
  const auto time = [](const char* system, bool as_they_are) {
    Problem p = test::problem_of(system, "llama.cpp-2026", "gpt-oss-20b", Serving{});
    p.serving = {.batch = 1, .input = 2048, .output = 1};
    p.runtime.weights.fp4_by_threads = as_they_are;
    return serve(p, {.precision = Precision::fp4}).ttft.value;
  };
  EXPECT_NEAR(time("dgx-spark", false) / time("dgx-spark", true), 1.2, 0.1);
  for (const char* system : {"dgx-b200", "dgx-h100", "rtx-4090-node"}) {
    EXPECT_EQ(time(system, false), time(system, true)) << system;
  }
}

}  // namespace
}  // namespace sextant
