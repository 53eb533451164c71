// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/infer_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/io/test_support.hpp"
#include "sextant/validate/calibrate.hpp"

namespace sextant {
namespace {

using testing::HasSubstr;

const std::string header =
    "id,kind,system,runtime,model,gpus,tp,pp,batch,batching,input,output,precision,kv_precision,"
    "phase,context,shard,metric,measured,source\n";

std::vector<Case> cases_of(const std::string& rows) {
  return read_cases(parse_csv(header + rows, "folder/serving.csv"));
}

std::vector<CaseResult> results_of(const std::string& rows) {
  Catalogue catalogue;
  return validate(cases_of(rows), catalogue);
}

TEST(InferCases, EmptyCellsAreDefaults) {
  const auto cases =
      cases_of("a,infer,dgx-a100,trtllm,llama2-7b,,,,4,,200,100,,,,,,latency_seconds,1,me\n");
  const auto& c = std::get<InferCase>(cases.at(0).kernel);
  EXPECT_EQ(c.inputs.strategy.tp, 1);
  EXPECT_EQ(c.inputs.strategy.precision, Precision::bf16);
  EXPECT_EQ(c.inputs.serving.batching, Batching::fixed);
  EXPECT_EQ(c.inputs.serving.cache, Precision::bf16);
  EXPECT_EQ(c.inputs.serving.output, 100);
  EXPECT_FALSE(c.shard);
}

TEST(InferCases, SixteenBitsAreSixteenBits) {
  const auto r = results_of(
      "a,infer,dgx-a100,trtllm,llama2-7b,,,,4,,200,100,fp16,fp16,,,,tpot_seconds,1,me\n"
      "b,infer,dgx-a100,trtllm,llama2-7b,,,,4,static,200,100,bf16,bf16,,,,tpot_seconds,1,me\n");
  EXPECT_EQ(r.at(0).unsupported, "");
  EXPECT_GT(r[0].predicted, 0);
  EXPECT_EQ(r[0].predicted, r.at(1).predicted);
}

// Attention by another kernel than the runtime's own, or by none of its own.
TEST(InferCases, ABackendActs) {
  const std::string columns =
      "id,kind,system,runtime,model,precision,backend,batch,phase,input,metric,measured,source\n";
  const auto predicted = [&](const std::string& kind, const std::string& backend) {
    Catalogue catalogue;
    const std::string row = "a," + kind + ",h200-single,pytorch,gpt2-large,fp32," + backend +
                            ",4,prefill,1024,phase_seconds,1,me\n";
    return validate(read_cases(parse_csv(columns + row, "f.csv")), catalogue).at(0);
  };
  EXPECT_EQ(predicted("infer", "flash").predicted, predicted("infer", "").predicted);
  EXPECT_NE(predicted("infer", "cudnn").predicted, predicted("infer", "").predicted);
  EXPECT_GT(predicted("infer", "eager").predicted, 1.1 * predicted("infer", "").predicted);
  EXPECT_EQ(predicted("infer", "warp").unsupported, "attention by 'warp' is not modelled");
}

TEST(InferCases, EveryMetricIsPredicted) {
  std::string rows;
  for (const char* metric :
       {"latency_seconds", "ttft_seconds", "tpot_seconds", "output_tokens_per_second"}) {
    rows += std::string("a,infer,dgx-h100,trtllm,llama2-7b,2,2,1,8,,200,100,fp8,fp8,,,,") + metric +
            ",1,me\n";
  }
  const auto r = results_of(rows);
  ASSERT_EQ(r.size(), 4U);
  for (const CaseResult& x : r) EXPECT_GT(x.predicted, 0) << x.metric << " " << x.unsupported;
  EXPECT_NEAR(r[0].predicted, r[1].predicted + 99 * r[2].predicted, 1e-12);
  EXPECT_NEAR(r[3].predicted, 8 * 100 / r[0].predicted, 1e-6);
}

TEST(InferCases, OnePass) {
  const std::string row = "a,infer,h200-single,pytorch-graph,llama2-70b,,,,4,,";
  const auto r = results_of(row + "512,,bf16,,prefill,512,8,phase_seconds,1,me\n" + row +
                            "1,,bf16,,decode,512,8,phase_seconds,1,me\n" + row +
                            "1,,bf16,,decode,512,1,phase_seconds,1,me\n");
  ASSERT_EQ(r.size(), 3U);
  EXPECT_EQ(r[0].unsupported, "");
  EXPECT_GT(r[0].predicted, r[1].predicted);
  EXPECT_GT(r[2].predicted, 4 * r[1].predicted);  // all of the model, not an eighth
}

// Eight tokens of a trained router meet in its popular experts; those of one that was never trained
// reach more.
TEST(InferCases, AnUntrainedRouterReachesMoreExperts) {
  const auto seconds = [](const char* source) {
    const auto cases = read_cases(
        parse_csv("id,kind,system,runtime,model,batch,phase,context,metric,measured,source\n"
                  "a,infer,h200-single,pytorch-graph,qwen3-30b-a3b,8,decode,300,phase_seconds,1," +
                      std::string(source) + "\n",
                  "mine.csv"));
    Catalogue catalogue;
    return validate(cases, catalogue).at(0).predicted;
  };
  EXPECT_GT(seconds("random weights and routing"), 1.02 * seconds("me"));
}

TEST(InferCases, WhatCannotRunSaysWhy) {
  const auto reason = [](const std::string& row) { return results_of(row).at(0).unsupported; };
  const std::string rest = ",1,,200,200,fp16,,,,,latency_seconds,1,me\n";
  EXPECT_THAT(reason("a,infer,dgx-a100,trtllm,llama2-7b,3,3,1" + rest),
              HasSubstr("tp 3 does not divide the 32 heads"));
  EXPECT_THAT(reason("a,infer,dgx-a100,trtllm,llama2-7b,3,2,1" + rest),
              HasSubstr("gpus is not tp 2 x pp 1 x dp 1: 3"));
  EXPECT_THAT(reason("a,infer,dgx-a100,snail,llama2-7b,1,1,1" + rest),
              HasSubstr("no runtime is named 'snail'"));
  EXPECT_THAT(reason("a,infer,abacus,trtllm,llama2-7b,1,1,1" + rest),
              HasSubstr("no system is named"));
  EXPECT_THAT(reason("a,infer,dgx-a100,trtllm,no-such,1,1,1" + rest),
              HasSubstr("no model is named 'no-such'"));
  EXPECT_THAT(reason("a,infer,dgx-a100,trtllm,llama2-7b,1,1,1,1,,2,2,,,,,,furlongs,1,me\n"),
              HasSubstr("'furlongs'"));
}

TEST(InferCases, MalformedCellsAreNamed) {
  const std::string error = test::error_of([] {
    cases_of("a,infer,dgx-a100,trtllm,,1,1.5,1,x,often,200,,fp17,,,,,latency_seconds,0,me\n");
  });
  for (const char* said :
       {"layers, hidden, heads and vocab", "tp: expected a whole number, got '1.5'",
        "batch: expected a number, got 'x'", "output: expected a number, the cell is empty",
        "measured: expected a positive number"}) {
    EXPECT_THAT(error, HasSubstr(said));
  }
}

// Other rows of the file are predicted all the same.
TEST(InferCases, AWordNobodyKnowsRefusesItsRowAlone) {
  const auto r = results_of(
      "a,infer,dgx-a100,trtllm,llama2-7b,,,,4,often,200,100,fp17,,,,,tpot_seconds,1,me\n"
      "b,infer,dgx-a100,trtllm,llama2-7b,,,,4,static,200,100,fp16,,,,,tpot_seconds,1,me\n");
  EXPECT_THAT(r.at(0).unsupported, HasSubstr("precision: unknown value 'fp17'; did you mean"));
  EXPECT_THAT(r[0].unsupported, HasSubstr("batching: unknown value 'often'"));
  EXPECT_EQ(r[0].predicted, 0);
  EXPECT_GT(r.at(1).predicted, 0);
}

TEST(InferCases, ASingleOneIsNotRefitted) {
  const auto cases =
      cases_of("a,infer,dgx-a100,trtllm,llama2-7b,,,,4,,200,100,,,,,,latency_seconds,1,me\n");
  Catalogue catalogue;
  const auto r = leave_families_out(cases, catalogue, {.folds = 2, .evaluations = 10});
  ASSERT_EQ(r.size(), 1U);
  EXPECT_EQ(r[0].unsupported,
            "too few cases of its kernel or of its runtime, or no preset of its device");
}

}  // namespace
}  // namespace sextant
