// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/train_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/io/presets.hpp"
#include "sextant/io/test_support.hpp"
#include "sextant/validate/calibrate.hpp"

namespace sextant {
namespace {

using testing::HasSubstr;

const std::string header =
    "id,kind,system,runtime,model,layers,hidden,heads,kv_heads,ffn,mlp,vocab,tied,gpus,tp,pp,"
    "interleave,dp,zero,sp,microbatch,batch,seq,recompute,precision,optimizer,metric,measured,"
    "allocated_gb,source\n";
// A row of it, from the model's columns on.
const std::string gpt = "a,train,dgx-a100,megatron-lm,";
const std::string dense = "24,2048,16,16,8192,,51200,,";

std::vector<Case> cases_of(const std::string& rows) {
  return read_cases(parse_csv(header + rows, "folder/steps.csv"));
}

std::vector<CaseResult> results_of(const std::string& rows) {
  Catalogue catalogue;
  return validate(cases_of(rows), catalogue);
}

TEST(TrainCases, EmptyCellsAreDefaults) {
  const auto cases = cases_of(gpt + "," + dense + "16,2,2,,,,,,64,2048,,,,step_seconds,1,,me\n");
  const auto& c = std::get<TrainCase>(cases.at(0).kernel);
  EXPECT_EQ(cases[0].system, "dgx-a100");
  EXPECT_EQ(c.inputs.gpus, 16);
  EXPECT_EQ(c.inputs.strategy.dp, 0);  // derived
  EXPECT_EQ(c.inputs.strategy.interleave, 1);
  EXPECT_EQ(c.inputs.strategy.microbatch, 1);
  EXPECT_EQ(c.inputs.strategy.zero, 0);
  EXPECT_EQ(c.inputs.strategy.recompute, Recompute::none);
  EXPECT_EQ(c.inputs.strategy.precision, Precision::bf16);
  EXPECT_EQ(c.inputs.training.optimizer, Optimizer::adamw);
  EXPECT_FALSE(c.inputs.said.sp);
}

TEST(TrainCases, AModelIsBuiltFromItsColumns) {
  ModelColumns c{.layers = 24, .hidden = 2048, .heads = 16, .vocab = 51200, .mlp = {}, .tied = {}};
  const Model gelu = model_of(c, "", 2048);
  EXPECT_EQ(gelu.ffn, 8192);
  EXPECT_EQ(gelu.norm, Norm::layernorm);
  EXPECT_TRUE(gelu.mlp_bias && gelu.attention.qkv_bias);
  EXPECT_TRUE(gelu.tied);
  c.mlp = Mlp::swiglu;
  const Model swiglu = model_of(c, "", 2048);
  EXPECT_EQ(swiglu.norm, Norm::rmsnorm);
  EXPECT_EQ(swiglu.position, Position::rope);
  EXPECT_FALSE(swiglu.mlp_bias || swiglu.tied);
}

TEST(TrainCases, ColumnsWinOverThePreset) {
  const Model preset = load_model("llama2-7b");
  EXPECT_EQ(preset.attention.head_dim, 128);
  const ModelColumns c{.layers = 16, .hidden = 2048, .vocab = 49152, .mlp = {}, .tied = {}};
  const Model m = load_model("llama2-7b", settings_of(c));
  EXPECT_EQ(m.layers, 16);
  EXPECT_EQ(m.vocab, 49152);
  EXPECT_EQ(m.attention.heads, preset.attention.heads);
  EXPECT_EQ(m.attention.head_dim, 2048 / preset.attention.heads);
  EXPECT_EQ(m.mlp, Mlp::swiglu);
}

// Counts that follow from the layers follow the column, of plain models and of experts.
TEST(TrainCases, FewerLayersThanThePreset) {
  for (const char* model : {"llama2-7b", "mixtral-8x7b", "deepseek-v3"}) {
    const auto r = results_of("a,train,dgx-h100,megatron-core," + std::string(model) +
                              ",8,,,,,,,,8,1,1,,,,,,64,2048,,,,step_seconds,1,,me\n");
    EXPECT_EQ(r.at(0).unsupported, "") << model;
  }
}

TEST(TrainCases, SettingsAct) {
  const auto cases = cases_of(gpt + "," + dense + "8,8,1,,,,1,,8,2048,,,,step_seconds,1,,me\n");
  Catalogue plain;
  Catalogue slow(std::vector<Setting>{{"device.memory.bandwidth", "100 GB/s"}});
  EXPECT_GT(validate(cases, slow).at(0).predicted, 1.5 * validate(cases, plain).at(0).predicted);
}

TEST(TrainCases, EveryMetricIsPredicted) {
  std::string rows;
  for (const std::string_view metric : names_of(TrainMetric{})) {
    rows += gpt + "," + dense + "8,8,1,,,,1,,8,2048,full,fp16,," + std::string(metric) + ",1,,me\n";
  }
  for (const CaseResult& r : results_of(rows)) {
    EXPECT_EQ(r.unsupported, "") << r.metric;
    EXPECT_GE(r.predicted, 0) << r.metric;
  }
}

TEST(TrainCases, ABackendActs) {
  const auto predicted = [&](const std::string& backend) {
    Catalogue catalogue;
    const std::string rows =
        "id,kind,system,runtime,model,backend,batch,seq,metric,measured,source\n"
        "a,train,h200-single,pytorch,gpt2-large," +
        backend + ",1,1024,forward_backward_seconds,1,me\n";
    return validate(read_cases(parse_csv(rows, "f.csv")), catalogue).at(0);
  };
  EXPECT_EQ(predicted("flash").predicted, predicted("").predicted);
  EXPECT_NE(predicted("cudnn").predicted, predicted("").predicted);
  EXPECT_GT(predicted("eager").predicted, 1.1 * predicted("").predicted);
  EXPECT_EQ(predicted("warp").unsupported, "attention by 'warp' is not modelled");
}

// Recipes of a source say what its rows leave out; a row's own word wins.
TEST(TrainCases, ASourceIsKnownForWhatItsRowsLeaveOut) {
  const std::string row =
      "a,train,dgx-h100,megatron-core,llama3-70b,,,,,,,,,128,1,1,,128,3,,2,256,8192,";
  const std::string recipe =
      ",bf16,,step_seconds,1,,NVIDIA/dgxc-benchmarking maxtext/README_70b.md\n";
  const auto recompute = [&](const std::string& rows) {
    return std::get<TrainCase>(cases_of(rows).at(0).kernel).inputs.strategy.recompute;
  };
  EXPECT_EQ(recompute(row + recipe), Recompute::full);
  EXPECT_EQ(recompute(row + "none" + recipe), Recompute::none);
  EXPECT_EQ(recompute(row + ",bf16,,step_seconds,1,,me\n"), Recompute::none);
  // Its tokens are all alike, so wires switch less and the clock is higher.
  const auto step = [&](const std::string& rows) { return results_of(rows).at(0).predicted; };
  const double random = step(row + "full,bf16,,step_seconds,1,,me\n");
  EXPECT_LT(step(row + recipe), 0.95 * random);
  EXPECT_GT(step(row + recipe), 0.7 * random);
}

// Where recipes contradict the rows, they are right: who trains, how states are shared, dropout.
TEST(TrainCases, ARecipeIsRightWhereItContradictsItsRows) {
  const std::string row =
      "a,train,dgx-h100,megatron-core,gpt3-175b,,,,,,,,,128,4,8,12,4,0,1,1,256,2048,,bf16,,"
      "step_seconds,1,,NVIDIA/dgxc-benchmarking ";
  const auto of = [&](const std::string& recipe) {
    return std::get<TrainCase>(cases_of(row + recipe + "\n").at(0).kernel);
  };
  const auto step = [&](const std::string& recipe) {
    return results_of(row + recipe + "\n").at(0).predicted;
  };
  const TrainCase plain = of("llama3.1/README_405b.md");
  EXPECT_EQ(plain.runtime, "nemo");
  EXPECT_EQ(plain.inputs.strategy.zero, 1);
  EXPECT_THAT(plain.settings, testing::IsEmpty());
  EXPECT_EQ(of("nemo_megatron/README_175b.md").settings.size(), 2U);
  EXPECT_GT(step("nemo_megatron/README_175b.md"), 1.02 * step("llama3.1/README_405b.md"));
  EXPECT_EQ(of("nemotron/README_340b.md").inputs.strategy.recompute, Recompute::selective);
}

TEST(TrainCases, FitsIsRightOrWrong) {
  const std::string giant = "96,12288,96,96,49152,,51200,,";
  const std::vector<CaseResult> r =
      results_of("a,memory,dgx-a100,megatron-lm,," + giant +
                 "1,1,1,,,,,,1,2048,,,,fits,0,,me\nb,memory,dgx-a100,megatron-lm,," + giant +
                 "1,1,1,,,,,,1,2048,,,,fits,1,3.5,me\n");
  ASSERT_EQ(r.size(), 3U);
  EXPECT_EQ(r[0].predicted, 0);
  EXPECT_EQ(r[0].error, 0);
  EXPECT_EQ(r[1].error, 1);
  // Memory that was measured beside it is judged as well.
  EXPECT_EQ(r[2].id, "b/allocated");
  EXPECT_EQ(r[2].group, "steps (allocated)");
  EXPECT_EQ(r[2].measured, 3.5 * 1024 * 1024 * 1024);
}

TEST(TrainCases, AllocatedMemoryMayBeTheMetric) {
  const std::string row = gpt + "," + dense + "1,1,1,,,,,,1,2048,,,,";
  const auto beside = results_of(row + "step_seconds,1,20,me\n");
  const auto alone = results_of(row + "allocated_gb,20,,me\n");
  ASSERT_EQ(beside.size(), 2U);
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone[0].unsupported, "");
  EXPECT_GT(alone[0].predicted, 1);
  EXPECT_NEAR(alone[0].error, beside[1].error, 1e-12);
  EXPECT_THAT(results_of(row + "reserved_gb,20,,me\n").at(0).unsupported,
              HasSubstr("'allocated_gb' is"));
}

// Some sources write sp beside tp 1; it means nothing there.
TEST(TrainCases, SequenceParallelismNeedsNoTensorParallelismToBeWritten) {
  const auto r = results_of(gpt + "," + dense + "1,1,1,,,,1,,1,2048,,,,step_seconds,1,,me\n");
  EXPECT_EQ(r.at(0).unsupported, "");
}

TEST(TrainCases, WhatCannotRunSaysWhy) {
  const auto reason = [](const std::string& row) { return results_of(row).at(0).unsupported; };
  EXPECT_THAT(reason(gpt + "," + dense + "3,3,1,,,,,,1,2048,,,,step_seconds,1,,me\n"),
              HasSubstr("tp 3 does not divide the 16 heads"));
  EXPECT_THAT(reason(gpt + "," + dense + "8,2,1,,2,,,,8,2048,,,,step_seconds,1,,me\n"),
              HasSubstr("gpus is not tp 2 x pp 1 x cp 1 x dp 2: 8"));
}

TEST(TrainCases, UnknownNamesAreCountedWithTheReason) {
  const auto reason = [](const std::string& row) { return results_of(row).at(0).unsupported; };
  const std::string rest = dense + "1,1,1,,,,,,1,2048,,,,step_seconds,1,,me\n";
  EXPECT_THAT(reason("a,train,abacus,megatron-lm,," + rest), HasSubstr("no system is named"));
  EXPECT_THAT(reason("a,train,dgx-a100,snail,," + rest), HasSubstr("no runtime is named 'snail'"));
  EXPECT_THAT(reason(gpt + "no-such-model,,,,,,,,,1,1,1,,,,,,1,2048,,,,step_seconds,1,,me\n"),
              HasSubstr("no model is named 'no-such-model'"));
  // Its dimensions are enough.
  EXPECT_EQ(reason(gpt + "no-such-model," + rest), "");
  EXPECT_THAT(reason(gpt + "," + dense + "1,1,1,,,,,,1,2048,,,,furlongs,1,,me\n"),
              HasSubstr("'furlongs'"));
  EXPECT_THAT(reason(gpt + "," + dense + "1,1,1,,,,,,1,2048,,,lion,step_seconds,1,,me\n"),
              HasSubstr("optimizer 'lion'"));
}

TEST(TrainCases, MalformedCellsAreNamed) {
  const std::string error = test::error_of(
      [] { cases_of(gpt + ",24,,,,,,,,8,2.5,1,,,,,,x,2048,sometimes,,,step_seconds,0,,me\n"); });
  for (const char* said :
       {"layers, hidden, heads and vocab", "tp: expected a whole number, got '2.5'",
        "batch: expected a number, got 'x'", "measured: expected a positive number"}) {
    EXPECT_THAT(error, HasSubstr(said));
  }
}

// Steps of three models on one and eight nodes, as a stack would run them.
std::string steps_of(const Runtime& runtime) {
  Catalogue catalogue;
  catalogue.put(runtime);
  std::string rows;
  for (const char* model : {"gpt3-1.3b", "gpt3-6.7b", "llama2-7b"}) {
    for (const char* gpus : {"8", "64"}) {
      for (const char* batch : {"64", "128", "512"}) {
        const std::string id = std::string(model) + gpus + "x" + batch;
        const std::string row = id + ",train,dgx-h100," + runtime.name + "," + model + ",,,,,,,,," +
                                gpus + ",4,,,,1,,1," + batch + ",2048,,,,step_seconds,";
        const auto r = validate(cases_of(row + "1,,me\n"), catalogue);
        rows += row + std::to_string(r.at(0).predicted) + ",,me\n";
      }
    }
  }
  return rows;
}

TEST(TrainCases, ARuntimeIsFoundAgainInItsSteps) {
  Runtime truth = load_runtime("megatron-core");
  truth.host_per_step = Seconds(0.12);
  const auto cases = cases_of(steps_of(truth));
  Runtime found = load_runtime("megatron-core");
  Catalogue catalogue;
  const Calibration c = calibrate_runtime(cases, found, catalogue, {.folds = 3});
  EXPECT_EQ(c.fit.cases, 18);
  EXPECT_LT(c.fit.mape, 0.01);
  EXPECT_LT(c.left_out.mape, 0.02);
  EXPECT_NEAR(found.host_per_step.value + found.host_per_optimizer.value, 0.12, 0.015);
  EXPECT_NEAR(found.spread, truth.spread, 0.01);
  EXPECT_EQ(found.fusion.routing_launches, truth.fusion.routing_launches);  // no experts, no word
  EXPECT_EQ(c.provenance.data, "steps");
  // Whoever predicts next has the preset again.
  std::string reason;
  EXPECT_EQ(catalogue.runtime("megatron-core", reason)->spread,
            load_runtime("megatron-core").spread);
}

TEST(TrainCases, ARuntimeWithoutCasesIsNotFitted) {
  const auto cases = cases_of(gpt + "," + dense + "1,1,1,,,,,,1,2048,,,,step_seconds,1,,me\n");
  Runtime fsdp = load_runtime("fsdp");
  Runtime lm = load_runtime("megatron-lm");
  Catalogue catalogue;
  EXPECT_THROW(calibrate_runtime(cases, fsdp, catalogue), InputError);  // others' alone
  EXPECT_THROW(calibrate_runtime(cases, lm, catalogue), InputError);    // too few
}

TEST(TrainCases, ASingleOneIsNotRefitted) {
  const auto cases = cases_of(gpt + "," + dense + "1,1,1,,,,,,1,2048,,,,step_seconds,1,,me\n");
  Catalogue catalogue;
  const auto r = leave_families_out(cases, catalogue, {.folds = 2, .evaluations = 10});
  ASSERT_EQ(r.size(), 1U);
  EXPECT_EQ(r[0].unsupported,
            "too few cases of its kernel or of its runtime, or no preset of its device");
}

// How far off whole steps are says nothing of an optimizer alone, or of bytes.
TEST(TrainCases, OnlyStepsHaveTheIntervalOfSteps) {
  std::string rows = "id,kind,metric,measured,source,system,runtime,model,gpus,batch,seq\n";
  for (const char* metric : {"step_seconds", "forward_backward_seconds", "optimizer_seconds",
                             "peak_bytes_forward_backward"}) {
    rows += std::string(metric) + ",train," + metric +
            ",1,me,h200-single,pytorch,llama3.2-1b,1,1,1024\n";
  }
  Catalogue catalogue;
  const auto r = validate(read_cases(parse_csv(rows, "f.csv")), catalogue);
  ASSERT_EQ(r.size(), 4U);
  for (std::size_t i = 0; i < r.size(); ++i) {
    EXPECT_EQ(r[i].unsupported, "");
    EXPECT_EQ(r[i].likeness.device.empty(), i >= 2) << r[i].id;
  }
}

}  // namespace
}  // namespace sextant
