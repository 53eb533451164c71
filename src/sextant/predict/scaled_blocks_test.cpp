// SPDX-License-Identifier: Apache-2.0
// Multiplies of narrow checkpoints: with a scale for every block, and with what else they say.
#include <gtest/gtest.h>

#include "sextant/io/presets.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/predict/test_problem.hpp"

namespace sextant {
namespace {

Problem problem_of(const char* system, const char* model, const char* runtime = "trtllm") {
  return test::problem_of(system, runtime, model, Serving{});
}

/// Kernels that make inputs narrow, of a decode step of 16 requests.
int quantised(const Problem& p, Precision precision, int tp = 8) {
  int kernels = 0;
  for (const Operator& o :
       explain_pass(p, {.tp = tp, .precision = precision}, {16, 1, 1024}).operators) {
    if (std::string_view(o.name) == "quantise") ++kernels;
  }
  return kernels;
}

// One scale a tensor is known before; those of blocks are not, so a kernel of its own finds them.
TEST(Serving, ScalesOfBlocksTakeAKernelOfTheirOwn) {
  const Problem blocks = problem_of("dgx-h100", "qwen3-32b");
  EXPECT_EQ(quantised(blocks, Precision::fp8), 4);  // of qkv, output, up, down
  EXPECT_EQ(quantised(blocks, Precision::bf16), 0);
  Problem tensors = blocks;
  tensors.model.block_scales = false;
  EXPECT_EQ(quantised(tensors, Precision::fp8), 0);
  // Launched one by one they count like any other operator.
  EXPECT_GT(prompt_launch(blocks, {.precision = Precision::fp8}, 1), prompt_launch(blocks, {}, 1));
}

// Of 4 bits and their scales, what sums ranks' parts and attention write; norms alone and
// activations do not.
TEST(Serving, InputsOf4BitsAreMadeByKernelsOfTheirOwnBehindNormsAndActivations) {
  const Problem trtllm = problem_of("dgx-b200", "llama3.1-70b");
  EXPECT_EQ(quantised(trtllm, Precision::fp4, 1), 3);  // of qkv, up, down
  EXPECT_EQ(quantised(trtllm, Precision::fp4, 8), 1);  // of down
  EXPECT_EQ(quantised(trtllm, Precision::fp8, 1), 0);
  EXPECT_EQ(quantised(problem_of("dgx-b200", "llama3.1-70b", "sglang"), Precision::fp4, 8), 3);
  // A chip without 4 bits multiplies in 16: nothing is made narrow.
  EXPECT_EQ(quantised(problem_of("dgx-h200", "llama3.1-70b"), Precision::fp4, 1), 0);
}

// Llama 3.1 70B in NVFP4 on a B200 of TensorRT-LLM and vLLM, 4 users of 1,024 and 8,192 tokens:
// 12.1 and 13.5 ms a token (InferenceMAX). Weights of 4 bits come at 0.69 of the bandwidth, those
// of 8 at 0.83.
TEST(Serving, WeightsOf4BitsComeSlowerThanThoseOf8) {
  const auto token = [](Precision precision) {
    Seconds sum;
    for (const Operator& o : explain_pass(problem_of("dgx-b200", "llama3.1-70b"),
                                          {.precision = precision}, {4, 1, 1536})
                                 .operators) {
      sum += o.count * o.cost.time;
    }
    return sum.value;
  };
  EXPECT_NEAR(token(Precision::fp4), 0.0121, 0.0012);
  EXPECT_GT(token(Precision::fp4), 0.6 * token(Precision::fp8));
  EXPECT_LT(token(Precision::fp4), 0.9 * token(Precision::fp8));
}

// The sums of every 128 values are scaled on the vector units, which the matrix units wait for.
TEST(Serving, ScalesOfBlocksSlowPromptsDown) {
  for (const char* model : {"qwen3-32b", "qwen3-30b-a3b"}) {
    const Problem blocks = problem_of("dgx-h100", model);
    Problem tensors = blocks;
    tensors.model.block_scales = false;
    const auto busy = [](const Problem& p, Precision precision) {
      Seconds sum;
      for (const Operator& o :
           explain_pass(p, {.precision = precision}, {1, 4096, 4096}).operators) {
        if (o.cost.tiling.m > 0) sum += o.count * o.cost.busy[Bound::compute];
      }
      return sum;
    };
    EXPECT_GT(busy(blocks, Precision::fp8), 1.1 * busy(tensors, Precision::fp8)) << model;
    EXPECT_EQ(busy(blocks, Precision::bf16), busy(tensors, Precision::bf16)) << model;
  }
}

// Kernels made for prompts go through a block of rows for every expert, however few tokens there
// are.
TEST(Serving, BlocksOfRowsCostFewTokensOfExpertsMuch) {
  Problem p = problem_of("dgx-h200", "qwen3-235b-a22b", "vllm");
  const auto experts = [&](double sequences, Precision precision) {
    return explain_pass(p, {.tp = 2, .precision = precision}, {sequences, 1, 2000})
        .cost.parts[Work::experts];
  };
  const Seconds few = experts(8, Precision::fp8);
  const Seconds many = experts(4096, Precision::fp8);
  const Seconds wide = experts(8, Precision::bf16);
  p.runtime.weights.block_rows = 128;
  EXPECT_GT(experts(8, Precision::fp8), 2 * few);
  EXPECT_LT(experts(8, Precision::fp8), 1.1 * experts(64, Precision::fp8));
  EXPECT_LT(experts(4096, Precision::fp8), 1.6 * many);
  EXPECT_EQ(experts(8, Precision::bf16), wide) << "they have no such scales";
}

// W8A8, W4A8 and W8A16: what a checkpoint multiplies its weights with sets the pace of prompts, not
// that of single tokens; where the chip lacks it, or numbers of another kind ask, nothing changes.
TEST(Serving, NarrowWeightsMeetWhatTheirCheckpointSays) {
  struct Row {
    const char* system;
    Precision weights;
    Activations activations;
    double least, most;  // of a prompt's time with the usual
  };
  for (const Row& r : {Row{"dgx-a100", Precision::int8, Activations::int8, 0.40, 0.60},
                       Row{"dgx-a100", Precision::int4, Activations::int8, 0.50, 0.85},
                       Row{"dgx-h100", Precision::int4, Activations::fp8, 0.45, 0.75},
                       Row{"dgx-h100", Precision::fp8, Activations::wide, 1.35, 2.0},
                       Row{"dgx-b200", Precision::fp4, Activations::fp8, 1.03, 1.6},
                       Row{"dgx-h100", Precision::fp8, Activations::int8, 1, 1},
                       Row{"dgx-a100", Precision::int4, Activations::fp8, 1, 1},
                       Row{"dgx-h100", Precision::bf16, Activations::int8, 1, 1}}) {
    SCOPED_TRACE(std::string(r.system) + " " + std::string(name_of(r.weights)) + " " +
                 std::string(name_of(r.activations)));
    Problem p = problem_of(r.system, "llama3.1-70b", "vllm");
    const Strategy s{.tp = 4, .precision = r.weights};
    const auto time = [&](Activations activations, const PassShape& shape) {
      p.model.activations = activations;
      return serving_pass(p, s, shape).time.value;
    };
    const PassShape prompt{1, 8192, 8192};
    const PassShape token{1, 1, 1024};
    const double share = time(r.activations, prompt) / time(Activations::usual, prompt);
    EXPECT_GE(share, r.least);
    EXPECT_LE(share, r.most);
    EXPECT_NEAR(time(r.activations, token) / time(Activations::usual, token), 1, 0.15);
  }
}

// Experts in MXFP4 are widened on the way on Hopper, by kernels that reach a quarter of it (vLLM's
// and TensorRT-LLM's gpt-oss: cases/serving-gpustack.csv); few tokens wait for their weights,
// and Blackwell multiplies in 4 bits.
TEST(Serving, ExpertsThatAreWidenedReachAQuarterOfHopper) {
  struct Row {
    const char* system;
    const char* runtime;
    double tokens;
    double least, most;  // of the time without that limit
  };
  for (const Row& r :
       {Row{"dgx-h100", "vllm", 8192, 1.8, 2.6}, Row{"dgx-h200", "trtllm", 8192, 1.8, 2.8},
        Row{"dgx-h100", "vllm", 4, 1, 1.2}, Row{"dgx-b200", "vllm", 8192, 1, 1},
        Row{"tpu-v6e-node", "vllm", 8192, 1, 1}}) {
    SCOPED_TRACE(r.system);
    Problem p = problem_of(r.system, "gpt-oss-120b", r.runtime);
    const auto experts = [&] {
      const PassShape shape{1, r.tokens, r.tokens};
      return serving_pass(p, {.tp = 2, .precision = Precision::fp4}, shape).parts[Work::experts];
    };
    const Seconds limited = experts();
    p.kernels.issue_packed_experts = 1;
    EXPECT_GE(limited / experts(), r.least);
    EXPECT_LE(limited / experts(), r.most);
  }
}

// A kernel made for few rows costs tokens nothing and prompts much; one scale a tensor needs none
// of it.
TEST(Serving, AKernelForScaledBlocksMayFallShortOfTheDevice) {
  struct Row {
    const char* model;
    double sequences, queries;
    bool slower;
  };
  const Row rows[] = {{"deepseek-r1", 1, 4096, true},
                      {"deepseek-r1", 8, 1, false},
                      {"llama3.1-70b", 1, 4096, false}};
  for (const Row& r : rows) {
    Problem p = problem_of("dgx-b200", r.model, "sglang");
    const auto multiplies = [&] {
      const PassShape shape{r.sequences, r.queries, 4096};
      return explain_pass(p, {.tp = 8, .precision = Precision::fp8}, shape)
          .cost.parts[Work::multiply];
    };
    const Seconds plain = multiplies();
    p.runtime.weights.block_operations = 1600;
    EXPECT_EQ(multiplies() > 1.5 * plain, r.slower) << r.model;
    EXPECT_LT(multiplies(), (r.slower ? 20 : 1.01) * plain) << r.model;
  }
}

// Marlin takes 64 rows at a time: weights of 4 bits pay for few tokens, and cost many. What a chip
// multiplies as it is stored is not widened.
TEST(Serving, WeightsWidenedOnTheWayCostManyTokens) {
  struct Row {
    const char* system;
    Precision weights;
    double few, many;  ///< multiplies over those of 16 bits
  };
  const Row rows[] = {{"dgx-a100", Precision::int4, 0.35, 1.65},
                      {"dgx-a100", Precision::fp8, 0.65, 1.65},
                      {"dgx-h100", Precision::fp8, 0.65, 0.7}};
  for (const Row& r : rows) {
    const Problem p = problem_of(r.system, "llama3.1-8b", "vllm");
    const auto ratio = [&](double sequences) {
      const auto multiplies = [&](Precision precision) {
        const PassShape shape{sequences, 1, 300};
        return explain_pass(p, {.precision = precision}, shape).cost.parts[Work::multiply];
      };
      return multiplies(r.weights) / multiplies(Precision::bf16);
    };
    EXPECT_NEAR(ratio(1), r.few, 0.12) << r.system << " " << name_of(r.weights);
    EXPECT_NEAR(ratio(2048), r.many, 0.2) << r.system << " " << name_of(r.weights);
  }
}

// FlashAttention 3 on Hopper, 2 before it, generated kernels on Blackwell; PyTorch's own is 2.
TEST(Serving, EnginesReadPromptsWithTheKernelsOfTheirDevice) {
  for (const auto& [system, faster] :
       {std::pair{"dgx-a100", 1.0}, std::pair{"dgx-h100", 1.7}, std::pair{"dgx-b200", 1.7}}) {
    const auto attention = [where = system](const char* runtime) {
      const Problem p = problem_of(where, "llama3.1-8b", runtime);
      return explain_pass(p, {}, {1, 16384, 16384}).cost.parts[Work::attention];
    };
    EXPECT_NEAR(attention("pytorch-engine") / attention("vllm"), faster, 0.2) << system;
  }
}

// Those generated kernels are written down twice, for a preset takes all of another or nothing: a
// fit of the one must reach the other.
TEST(Serving, GeneratedKernelsAreTheSameWhoeverTakesThem) {
  const Kernels engines = load_kernels("fused-wide");
  const Kernels own = load_kernels("trtllm-wide");
  for (const auto kernel : {&Kernels::prefill, &Kernels::prefill_8bit}) {
    const PrefillKernel& a = engines.*kernel;
    const PrefillKernel& b = own.*kernel;
    EXPECT_EQ(a.efficiency, b.efficiency);
    EXPECT_EQ(a.softmax, b.softmax);
    EXPECT_EQ(a.tile_cycles, b.tile_cycles);
    EXPECT_EQ(a.imbalance, b.imbalance);
  }
}

// gpt-oss says nothing of activations: on Blackwell TensorRT-LLM and SGLang make them MXFP8, vLLM
// leaves them at 16 bits; nobody multiplied its experts at the peak of 4-bit floats. NVFP4 is.
TEST(Serving, EnginesMultiplyMxfp4WithWhatTheyMake) {
  struct Row {
    const char* system;
    const char* runtime;
    int block;
    Activations as;
    const char* model = "gpt-oss-120b";
  };
  for (const Row& r : {Row{"dgx-b200", "trtllm", 32, Activations::fp8},
                       Row{"dgx-b200", "vllm", 32, Activations::fp8, "deepseek-v4-flash"},
                       Row{"dgx-b200", "sglang", 32, Activations::fp8},
                       Row{"dgx-b200", "vllm", 32, Activations::wide},
                       Row{"rtx-pro-6000-node", "vllm", 32, Activations::wide},
                       Row{"dgx-h100", "trtllm", 32, Activations::wide},
                       Row{"dgx-b200", "trtllm", 16, Activations::usual}}) {
    Problem p = test::problem_of(r.system, r.runtime, r.model, Serving{});
    const Strategy s{.precision = Precision::fp4};
    p.model.fp4_block = r.block;
    const auto type = [&] { return multiplied_in(p, s, Precision::fp4); };
    const Precision engine = type();
    p.runtime.weights.mxfp4_activations = Activations::usual;
    p.model.activations = r.as;
    EXPECT_EQ(engine, type()) << r.system << ", " << r.runtime;
  }
}

}  // namespace
}  // namespace sextant
