// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/validate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/io/csv.hpp"
#include "sextant/io/errors.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/test_support.hpp"
#include "sextant/validate/calibrate.hpp"
#include "sextant/validate/known_experts.hpp"

namespace sextant {
namespace {

using testing::HasSubstr;

const std::string header = "id,kind,device,dtype,m,n,k,metric,measured,source\n";

std::vector<Case> cases_of(const std::string& text) {
  return read_cases(parse_csv(text, "folder/mine.csv"));
}

std::string error_of(const std::string& text) {
  return test::error_of([&] { cases_of(text); });
}

TEST(Cases, ReadsAKernel) {
  const std::vector<Case> c = cases_of(header + "a,gemm,h100-sxm,fp8,3,5,7,seconds,1e-5,me\n");
  ASSERT_EQ(c.size(), 1U);
  EXPECT_EQ(c[0].group, "mine");
  const auto& g = std::get<GemmCase>(c[0].kernel);
  EXPECT_EQ(g.shape.m, 3);
  EXPECT_EQ(g.shape.type, Precision::fp8);
  EXPECT_EQ(c[0].protocol.weights, Weights::cold);
}

TEST(Cases, EveryProblemIsReportedWithItsPlace) {
  const std::string error = error_of(header +
                                     "a,gemm,h100-sxm,bf17,3,5,x,seconds,1e-5,me\n"
                                     "b,gemm,h100-sxm,bf16,0,5,7,seconds,-1,me\n");
  EXPECT_THAT(error, HasSubstr("folder/mine.csv:2:"));
  EXPECT_THAT(error, HasSubstr("expected a number, got 'x'"));
  EXPECT_THAT(error, HasSubstr("folder/mine.csv:3:"));
}

TEST(Cases, RoutingHasAName) {
  struct Named {
    const char* name;
    bool known;
    std::optional<double> exponent;
  };
  const Named all[] = {
      {"balanced", true, 0},     {"power_law_1.2", true, 1.2}, {"power_law_10", true, 10},
      {"power_law_", true, {}},  {"power_law_0", true, {}},    {"power_law_10.5", true, {}},
      {"power_law_x", true, {}}, {"powerlaw_1.2", false, {}},  {"", false, {}}};
  for (const Named& n : all) {
    const NamedRouting r = routing_named(n.name);
    EXPECT_EQ(r.known, n.known) << n.name;
    EXPECT_EQ(r.exponent, n.exponent) << n.name;
  }
  const std::string columns =
      "id,kind,device,tokens,hidden,ffn,topk,experts,routing,metric,measured,source\n"
      "a,experts,h100-sxm,64,4096,1024,2,8,";
  const std::string rest = ",seconds,1e-4,me\n";
  const auto exponent = [&](const std::string& name) {
    const Case c = cases_of(columns + name + rest).at(0);
    EXPECT_TRUE(c.unsupported.empty()) << c.unsupported;
    return std::get<ExpertsCase>(c.kernel).layer.routing.exponent;
  };
  EXPECT_EQ(exponent(""), 0);
  EXPECT_EQ(exponent("balanced"), 0);
  EXPECT_EQ(exponent("power_law_1.2"), 1.2);
  EXPECT_THAT(cases_of(columns + "zipf" + rest).at(0).unsupported, HasSubstr("zipf"));
  EXPECT_THAT(error_of(columns + "power_law_11" + rest), HasSubstr("bad exponent"));
}

TEST(Cases, AMissingColumnIsNamed) {
  EXPECT_THAT(error_of("id,kind,device,dtype,m,n,k,metric,mesured,source\n"),
              HasSubstr("measured: every case file has this column; did you mean 'mesured'?"));
  EXPECT_THAT(error_of("id,kind,device,metric,measured,source\na,gemm,h100-sxm,seconds,1,me\n"),
              HasSubstr("this kind of case needs the column"));
}

TEST(Cases, WhatCannotBeExpressedIsCountedNotDropped) {
  const std::vector<Case> c = cases_of(
      "id,kind,device,op,rows,cols,dtype,metric,measured,source\n"
      "a,dance,h100-sxm,,,,,seconds,1,me\n"
      "b,stream,h100-sxm,fft,1,1,bf16,seconds,1,me\n"
      "c,stream,abacus,copy,1,1,bf16,seconds,1,me\n"
      "d,stream,h100-sxm,copy,1,1,bf16,furlongs,1,me\n"
      "e,stream,h100-sxm,copy,1024,4096,bf16,seconds,1e-5,me\n");
  Catalogue catalogue;
  const std::vector<CaseResult> r = validate(c, catalogue);
  ASSERT_EQ(r.size(), 5U);
  EXPECT_THAT(r[0].unsupported, HasSubstr("'dance'"));
  EXPECT_THAT(r[1].unsupported, HasSubstr("'fft'"));
  EXPECT_THAT(r[2].unsupported, HasSubstr("'abacus'"));
  EXPECT_THAT(r[3].unsupported, HasSubstr("'furlongs'"));
  EXPECT_EQ(r[4].unsupported, "");
  const Accuracy a = summarize("x", r);
  EXPECT_EQ(a.cases, 1);
  EXPECT_EQ(a.unsupported, 4);
}

TEST(Cases, SizesAreWhole) {
  EXPECT_THAT(error_of(header + "a,gemm,h100-sxm,bf16,1.5,5,7,seconds,1e-5,me\n"),
              HasSubstr("m: expected a whole number, got '1.5'"));
  EXPECT_EQ(error_of(header + "a,gemm,h100-sxm,bf16,2.0,5,7,seconds,1e-5,me\n"), "(no error)");
}

std::vector<CaseResult> attention_results(const std::string& rows) {
  Catalogue catalogue;
  return validate(cases_of("id,kind,metric,measured,source,device,attention,phase,backend,scope,"
                           "causal,batch,heads,kv_heads,head_dim,q_len,kv_len,prefill_tokens\n" +
                           rows),
                  catalogue);
}

// What was timed is said by the row: a library of bare kernels needs two more for a module.
TEST(Cases, TheScopeOfAttentionCounts) {
  const std::string start = "a,attention,seconds,1,me,h200-sxm,,";
  const std::string shape = ",1,4,32,8,128,";
  const auto r = attention_results(
      start + "prefill,flash,kernel" + shape + "512,512,\n" + start + "prefill,flash,module" +
      shape + "512,512,\n" + start + "prefill,flash," + shape + "512,512,\n" + start +
      "decode,trtllm,module" + shape + "1,512,\n" + start + "decode,trtllm," + shape + "1,512,\n" +
      start + "decode,trtllm,kernel" + shape + "1,512,\n");
  ASSERT_EQ(r.size(), 6U);
  EXPECT_GT(r[1].predicted, 1.02 * r[0].predicted);
  EXPECT_LT(r[1].predicted, 2 * r[0].predicted);
  EXPECT_EQ(r[2].predicted, r[0].predicted);
  EXPECT_EQ(r[3].predicted, r[4].predicted);
  EXPECT_EQ(r[5].unsupported, "attention of trtllm is known as a whole module alone");
  const auto latent = [&](const char* scope) {
    return attention_results(std::string("a,attention,seconds,1,me,h200-sxm,mla,decode,flash,") +
                             scope + ",1,8,16,,,1,1024,\n")[0]
        .predicted;
  };
  EXPECT_GT(latent("module"), latent("kernel"));
}

// Attention of prompts is known twice as well as that of tokens, and each says its own: by what
// bounds a latent cache, too.
TEST(Cases, ErrorsOfAttentionAreThoseOfItsPhase) {
  const std::string start = "a,attention,seconds,1,me,h200-sxm,";
  struct Row {
    const char* text;
    Asked asked;
  };
  for (const Row& row : {Row{",prefill,trtllm,,1,4,32,8,128,512,512,", Asked::attention},
                         Row{",decode,trtllm,,1,4,32,8,128,1,512,", Asked::attention_decode},
                         Row{"mla,prefill,trtllm,,1,8,16,,,1024,1024,", Asked::attention},
                         Row{"mla,decode,trtllm,,1,1,16,,,1,64,", Asked::attention_decode},
                         Row{"mla,decode,trtllm,,1,64,128,,,1,8192,", Asked::latent_on_chip}}) {
    const auto r = attention_results(start + row.text + "\n");
    ASSERT_EQ(r.size(), 1U);
    EXPECT_EQ(r[0].unsupported, "") << row.text;
    EXPECT_EQ(name_of(r[0].likeness.question), name_of(row.asked)) << row.text << r[0].bound;
  }
  const auto wide = [](Asked asked) {
    const Interval i = interval_of(measured_errors(), {.question = asked, .device = "h200-sxm"});
    return i.high / i.low;
  };
  EXPECT_LT(wide(Asked::attention), wide(Asked::attention_decode));
}

TEST(Cases, AttentionThatCannotBeIsSaidSo) {
  const std::string start = "a,attention,seconds,1,me,h200-sxm,";
  const auto r = attention_results(
      start + "mla,mixed,trtllm,,1,4,32,,,,,512\n" + start + "mla,prefill,trtllm,,0,4,32,,,9,9,\n" +
      start + ",mixed,flash,,0,,32,8,128,,,512\n" + start + "hash,prefill,,,1,4,32,8,128,9,9,\n" +
      start + ",prefill,,,1,4,8,32,128,9,9,\n" + start + ",prefill,,,1,4,32,8,128,9,4,\n" + start +
      ",prefill,,,0,4,32,8,128,9,4,\n" + start + "gqa,prefill,,,1,4,32,8,128,9,9,\n");
  ASSERT_EQ(r.size(), 8U);
  EXPECT_EQ(r[0].unsupported, "mixed latent attention is not modelled");
  EXPECT_EQ(r[1].unsupported, "latent attention that is not causal is not modelled");
  EXPECT_EQ(r[2].unsupported, "mixed attention that is not causal is not modelled");
  EXPECT_EQ(r[3].unsupported, "attention 'hash' is not modelled");
  EXPECT_EQ(r[4].unsupported, "more kv_heads than heads");
  EXPECT_THAT(r[5].unsupported, HasSubstr("more queries than"));
  EXPECT_EQ(r[6].unsupported, "");  // each looks at all
  EXPECT_EQ(r[7].unsupported, "");
}

// By the row, or by the habits of its source: not by code that knows sources.
TEST(Cases, ExpertsRunInTheLibraryThatIsSaid) {
  const auto c = cases_of(
      "id,kind,metric,measured,source,device,dtype,tokens,hidden,ffn,topk,experts,backend,chosen\n"
      "a,experts,seconds,1,me,h200-sxm,bf16,64,2048,768,8,128,,\n"
      "b,experts,seconds,1,me,h200-sxm,bf16,64,2048,768,8,128,pytorch,even\n"
      "c,experts,seconds,1,\"one H200, PyTorch 2.11\",h200-sxm,bf16,64,2048,768,8,128,,\n"
      "d,experts,seconds,1,me,h200-sxm,bf16,64,2048,768,200,128,,\n");
  const auto fused = [&](std::size_t i) { return !std::get<ExpertsCase>(c[i].kernel).unfused; };
  EXPECT_TRUE(fused(0));
  EXPECT_FALSE(fused(1));
  EXPECT_FALSE(fused(2));
  EXPECT_EQ(c[3].unsupported, "topk is more than all experts");
  Catalogue catalogue;
  const auto r = validate(c, catalogue);
  EXPECT_EQ(r[1].predicted, r[2].predicted);
  EXPECT_NE(r[0].predicted, r[1].predicted);
}

// Tables of expert layers give dimensions: whose they are says whether the first multiply has two
// halves. Nemotron's have one, in their width or their latent; a column says otherwise.
TEST(Cases, ExpertsAreGatedAsThoseOfTheModelWithTheirShape) {
  const auto c = cases_of(
      "id,kind,metric,measured,source,device,dtype,tokens,hidden,ffn,topk,experts,mlp\n"
      "a,experts,seconds,1,me,h200-sxm,bf16,64,2688,1856,6,128,\n"
      "b,experts,seconds,1,me,h200-sxm,bf16,64,2048,5120,22,512,\n"
      "c,experts,seconds,1,me,h200-sxm,bf16,64,2688,1856,6,128,swiglu\n"
      "d,experts,seconds,1,me,h200-sxm,bf16,64,7168,2048,8,256,\n"
      "e,experts,seconds,1,me,h200-sxm,bf16,64,1000,2000,3,7,\n");
  const std::vector<bool> expected = {false, false, true, true, true};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::get<ExpertsCase>(c[i].kernel).layer.gated, expected[i]) << c[i].id;
  }
}

TEST(Cases, DenseLayersOfExpertsAreTheRowsOwn) {
  Catalogue catalogue;
  const auto r = validate(
      cases_of(
          "id,kind,metric,measured,source,system,runtime,model,gpus,ep,batch,seq,dense_layers\n"
          "a,train,step_seconds,1,me,dgx-h100,megatron-core,mixtral-8x7b,8,8,8,4096,\n"
          "b,train,step_seconds,1,me,dgx-h100,megatron-core,mixtral-8x7b,8,8,8,4096,16\n"
          "c,train,step_seconds,1,me,dgx-h100,megatron-core,llama3-8b,8,,8,4096,0\n"
          "d,train,step_seconds,1,me,dgx-h100,megatron-core,llama3-8b,8,,8,4096,4\n"),
      catalogue);
  EXPECT_LT(r[1].predicted, 0.9 * r[0].predicted);
  EXPECT_EQ(r[2].unsupported, "");
  EXPECT_THAT(r[3].unsupported, HasSubstr("dense model"));
}

TEST(Cases, ExpertsOfADensePresetAreAsWideAsItsMlp) {
  Catalogue catalogue;
  const auto r = validate(
      cases_of(
          "id,kind,metric,measured,source,system,runtime,model,gpus,batch,seq,experts,topk,ffn\n"
          "a,train,model_tflops_per_gpu,1,me,dgx-h100,megatron-core,mistral-7b,8,8,512,8,2,\n"
          "b,train,model_tflops_per_gpu,1,me,dgx-h100,megatron-core,mixtral-8x7b,8,8,512,,,\n"
          "c,train,model_tflops_per_gpu,1,me,dgx-h100,megatron-core,mistral-7b,8,8,512,8,2,7168\n"),
      catalogue);
  EXPECT_EQ(r[0].unsupported, "");
  EXPECT_DOUBLE_EQ(r[0].predicted, r[1].predicted);
  EXPECT_LT(r[2].predicted, r[1].predicted);
}

TEST(Cases, OverlapOfNoneIsNone) {
  const std::string columns =
      "id,kind,metric,measured,source,system,runtime,model,gpus,zero,batch,seq,overlap\n";
  const std::string row =
      "a,train,step_seconds,1,me,dgx-h100,megatron-core,llama3-8b,32,1,32,4096,";
  Catalogue catalogue;
  const auto r = validate(cases_of(columns + row + "\n" + row + "none\n"), catalogue);
  EXPECT_GT(r[1].predicted, 1.05 * r[0].predicted);
  EXPECT_THAT(validate(cases_of(columns + row + "some\n"), catalogue).at(0).unsupported,
              HasSubstr("overlap: unknown value 'some'"));
}

TEST(Accuracy, IsWhatItsNamesSay) {
  std::vector<CaseResult> r;
  for (const double e : {-0.1, 0.2, 0.3, -0.4, 1.0}) r.push_back({.group = "g", .error = e});
  const Accuracy a = summarize("g", r);
  EXPECT_DOUBLE_EQ(a.mape, 0.4);
  EXPECT_DOUBLE_EQ(a.median_ape, 0.3);
  EXPECT_DOUBLE_EQ(a.bias, 0.2);
  EXPECT_GE(a.p90_ape, a.median_ape);
}

TEST(Accuracy, MedianOfTwoLiesBetweenThem) {
  EXPECT_DOUBLE_EQ(
      summarize("g", {{.group = "g", .error = 0.1}, {.group = "g", .error = -0.3}}).median_ape,
      0.2);
}

// What a row says of how it was taken wins over the habits of its source.
TEST(Protocol, ColumnsWinOverHabits) {
  const std::string columns =
      "id,kind,device,dtype,m,n,k,weights,copies,runs,busy,data,statistic,metric,measured,source\n";
  const std::vector<Case> c =
      cases_of(columns +
               "a,gemm,h100-sxm,fp8,3,5,7,hot,2,50,0.1 s,zeros,min,seconds,1e-5,me\n"
               "b,gemm,h100-sxm,fp8,3,5,7,cold,,,,,,seconds,1e-5,aiconfigurator\n"
               "c,gemm,h100-sxm,fp8,3,5,7,,,,,,,seconds,1e-5,aiconfigurator\n");
  ASSERT_EQ(c.size(), 3U);
  EXPECT_EQ(c[0].protocol.weights, Weights::hot);
  EXPECT_EQ(c[0].protocol.copies, 2);
  EXPECT_EQ(c[0].protocol.runs, 50);
  EXPECT_EQ(c[0].protocol.busy, Seconds(0.1));
  EXPECT_EQ(c[0].protocol.data, Operands::zeros);
  EXPECT_EQ(c[0].protocol.statistic, Statistic::min);
  EXPECT_EQ(c[1].protocol.weights, Weights::cold);
  EXPECT_EQ(c[1].protocol.copies, 6);
  EXPECT_EQ(c[2].protocol.weights, Weights::hot);
  EXPECT_THAT(error_of(columns + "a,gemm,h100-sxm,fp8,3,5,7,warm,,,,,,seconds,1e-5,me\n"),
              HasSubstr("weights"));
}

// 16-bit weights of that source are whatever memory held, narrower ones a constant or random.
TEST(Protocol, HabitsMayBeOfOneType) {
  const auto activity = [](std::string_view dtype, double weights) {
    return activity_of(measurement_of("gemm", "aiconfigurator", dtype).protocol, Bytes(weights));
  };
  EXPECT_EQ(activity("bf16", 1e6), 1);
  EXPECT_NEAR(activity("bf16", 1e9), 0.134, 1e-3);
  EXPECT_LT(activity("fp8", 1e6), 0.1);
  EXPECT_EQ(activity("fp8", 1e9), activity("fp8", 1e6));
  EXPECT_EQ(activity("fp4", 1e9), 1);
  EXPECT_EQ(measurement_of("gemm", "aiconfigurator", "bf16").protocol.copies, 6);
  // Layers of experts get no weights at all.
  EXPECT_EQ(activity_of(measurement_of("experts", "aiconfigurator", "bf16").protocol, Bytes(1e9)),
            0);
  EXPECT_EQ(activity_of({.data = Operands::leftover}, Bytes(0)), 1);
}

TEST(Protocol, CopiesThatFitStayInL2) {
  const Protocol six =
      measurement_of("gemm", "SGLang kernel timings, aiconfigurator database").protocol;
  const Bytes l2(50e6);
  EXPECT_DOUBLE_EQ(weight_residency(six, Bytes(1e6), Bytes(0), l2), 1);
  EXPECT_DOUBLE_EQ(weight_residency(six, Bytes(50e6), Bytes(0), l2), 0);
  EXPECT_DOUBLE_EQ(
      weight_residency(measurement_of("gemm", "someone").protocol, Bytes(1), Bytes(0), l2), 0);
}

TEST(Protocol, NetworksAreReadWhereTheyAreStated) {
  // Runs of two pools have recipes of their own, whoever else is named.
  for (const std::string model : {"dsr1", "kimik2_5"}) {
    EXPECT_EQ(
        measurement_of("serving", "silicon anchors: " + model + "_gb200_vllm_fp4_disagg_c4").name,
        "inferencemax-" + (model == "dsr1" ? model : "kimi"));
  }
  const Measurement& unknown = measurement_of("collective", "someone");
  const Measurement& vidur = measurement_of("collective", "microsoft/vidur profiling data");
  const Adapters efa = adapters_of(unknown, "4x100Gb/s EFA (AWS p4d)", "dgx-a100-40gb");
  EXPECT_EQ(efa.count, 4);
  EXPECT_EQ(efa.rate, BytesPerSecond(12.5e9));
  EXPECT_EQ(adapters_of(unknown, "RDMA, 8x100Gb/s", "dgx-a100").count, 8);
  EXPECT_EQ(adapters_of(unknown, "8x50GB/s EFA v4 per node", "dgx-b200").rate,
            BytesPerSecond(50e9));
  EXPECT_EQ(adapters_of(vidur, "inter-node (see Vidur)", "dgx-a100").count, 4);
  for (const char* text : {"", "not stated", "1x HDR IB per GPU", "x", "xGb/s", "Gb/s x"}) {
    EXPECT_EQ(adapters_of(unknown, text, "dgx-h100").count, 0) << text;
  }
}

TEST(Cases, ReadsACollective) {
  const std::vector<Case> c = cases_of(
      "id,kind,system,library,collective,gpus,gpus_per_node,nodes,bytes,network,metric,measured,"
      "source\n"
      "a,collective,dgx-h100,nccl,all_gather,16,8,2,1048576,4x400Gb/s RoCE,seconds,1e-4,me\n");
  ASSERT_EQ(c.size(), 1U);
  const auto& k = std::get<CollectiveCase>(c[0].kernel);
  EXPECT_EQ(k.op, Collective::all_gather);
  EXPECT_EQ(k.group.ranks, 16);
  EXPECT_EQ(k.group.per_node, 8);
  EXPECT_EQ(c[0].system, "dgx-h100");
  EXPECT_EQ(c[0].family, "dgx-h100/all_gather/16");
  // Half the adapters of the preset: slower.
  const Network network = lower(load_system("dgx-h100"));
  const CollectiveLibrary kernels = load_collectives("nccl");
  EXPECT_GT(evaluate_collective(k, network, kernels, c[0].adapters).time,
            evaluate_collective(k, network, kernels).time);
}

// Cases that the model itself made, of a device with other constants: a fit must find them again.
std::vector<Case> synthetic_cases(const Device& device) {
  std::string text = header;
  int id = 0;
  const Chip chip = lower(device);
  for (const double n : {512.0, 2048.0, 5120.0, 8192.0, 14336.0, 28672.0}) {
    for (const double k : {1024.0, 4096.0, 8192.0}) {
      for (const double m : {1.0, 64.0, 300.0, 4096.0}) {
        const GemmCase g{.shape = {.m = m, .n = n, .k = k}};
        const KernelCost c = evaluate_kernel(g, chip, Kernels{}, {.repeats = 20});
        text += "s" + std::to_string(id++) + ",gemm,h100-sxm,bf16," + std::to_string(m) + "," +
                std::to_string(n) + "," + std::to_string(k) + ",seconds," +
                std::to_string(c.time.value * 1e6) + "e-6,made\n";
      }
    }
  }
  return cases_of(text);
}

TEST(Calibrate, FindsTheConstantsThatMadeTheCases) {
  Device truth = load_device("h100-sxm");
  truth.mechanism.memory_efficiency = 0.7;
  truth.mechanism.start_cycles = 6000;
  truth.mechanism.matrix_efficiency = 0.75;
  const std::vector<Case> cases = synthetic_cases(truth);
  Device fitted = load_device("h100-sxm");
  Catalogue catalogue;
  const Calibration c =
      calibrate_device(cases, fitted, catalogue, {.folds = 2, .evaluations = 2000});
  EXPECT_LT(c.fit.mape, 0.02);
  EXPECT_LT(c.left_out.mape, 0.06);
  EXPECT_NEAR(fitted.mechanism.memory_efficiency, 0.7, 0.03);
  EXPECT_NEAR(fitted.mechanism.matrix_efficiency, 0.75, 0.05);
  EXPECT_EQ(fitted.provenance.cases, static_cast<int>(cases.size()));
}

TEST(Calibrate, EveryCaseIsLeftOutOnceOrCountedWithAReason) {
  std::vector<Case> cases = synthetic_cases(load_device("h100-sxm"));
  const std::size_t predictable = cases.size();
  const std::vector<Case> odd = cases_of(header + "odd,dance,h100-sxm,,,,,seconds,1,me\n");
  cases.insert(cases.end(), odd.begin(), odd.end());
  Catalogue catalogue;
  const std::vector<CaseResult> r =
      leave_families_out(cases, catalogue, {.folds = 3, .evaluations = 20});
  EXPECT_EQ(r.size(), cases.size());
  const Accuracy a = summarize("all", r);
  EXPECT_EQ(a.cases, static_cast<int>(predictable));
  EXPECT_EQ(a.unsupported, 1);
}

TEST(Calibrate, RefusesWhatCannotDetermineTheConstants) {
  Device d = load_device("h100-sxm");
  Catalogue catalogue;
  const auto refusal = [&](const std::string& rows) {
    return test::error_of([&] { calibrate_device(cases_of(header + rows), d, catalogue); });
  };
  EXPECT_THAT(refusal("a,gemm,h100-sxm,bf16,3,5,7,seconds,1e-5,me\n"), HasSubstr("1 cases cannot"));
  EXPECT_THAT(refusal("a,gemm,a100-sxm-80gb,bf16,3,5,7,seconds,1e-5,me\n"),
              HasSubstr("no GEMM case is of device 'h100-sxm'"));
  std::string alike;
  std::string one_family;
  for (int i = 0; i < 60; ++i) {
    const std::string n = std::to_string(512 + 8 * i);
    alike += "a" + n + ",gemm,h100-sxm,bf16,1," + n + ",512,seconds,1e-5,me\n";
    one_family += "b" + n + ",gemm,h100-sxm,bf16," + n + ",512,512,seconds,1e-5,me\n";
  }
  EXPECT_THAT(refusal(alike), HasSubstr("start-up cannot be told from throughput"));
  EXPECT_THAT(refusal(one_family), HasSubstr("one family"));
  EXPECT_THAT(refusal("a,gemm,h100-sxm,bf16,3,5,7,milliseconds,1,me\n"),
              HasSubstr("no GEMM case of device 'h100-sxm' can be predicted"));
  // A thousand times too long or too short is no property of a device.
  for (const double unit : {1e3, 1e-3}) {
    std::vector<Case> cases = synthetic_cases(d);
    for (Case& c : cases) c.measured *= unit;
    EXPECT_THAT(test::error_of([&] { calibrate_device(cases, d, catalogue); }),
                HasSubstr("is it in milliseconds?"));
  }
}

TEST(Calibrate, NamesTheLibraryThatTheCasesUse) {
  Kernels kernels = load_kernels("trtllm");
  Catalogue catalogue;
  const std::vector<Case> cases = cases_of(
      "id,kind,device,dtype,phase,batch,heads,kv_heads,head_dim,q_len,kv_len,backend,metric,"
      "measured,source\n"
      "a,attention,b200,bf16,decode,8,32,8,128,1,1000,trtllm,seconds,1e-5,me\n");
  EXPECT_THAT(test::error_of([&] { calibrate_kernels(cases, kernels, catalogue); }),
              HasSubstr("they use those of trtllm-wide"));
}

TEST(Calibrate, SaysWhatTheConstantsThatWereThereGive) {
  Device truth = load_device("h100-sxm");
  std::vector<Case> cases = synthetic_cases(truth);
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].measured *= i % 2 == 0 ? 0.5 : 2;
  Catalogue catalogue;
  const Calibration c = calibrate_device(cases, truth, catalogue, {.folds = 2, .evaluations = 20});
  EXPECT_NEAR(c.before.mape, 0.75, 0.01);  // twice and half as long
}

// What the issue of power comes down to, on the device it was measured on.
TEST(Silicon, H200SustainsWhatItDoes) {
  const Chip chip = lower(load_device("h200-sxm"));
  const GemmCase g{.shape = {.m = 8192, .n = 8192, .k = 8192}};
  const auto rate = [](const KernelCost& c) { return (c.flops / c.time).value / 1e12; };
  const KernelCost forever = evaluate_kernel(g, chip, Kernels{}, sustained);
  EXPECT_GE(rate(forever), 660);
  EXPECT_LE(rate(forever), 680);
  EXPECT_NEAR(forever.clock.value, 1.48e9, 0.05e9);
  const KernelCost burst = evaluate_kernel(g, chip, Kernels{}, {.seconds = Seconds(5e-3)});
  EXPECT_GE(rate(burst), 780);
  EXPECT_LE(rate(burst), 810);
}

// Kernels measured on one H200 with tools/measure.py; nothing was fitted to them.
TEST(Silicon, MeasurementsThatShipAreMet) {
  struct Bar {
    const char* file;
    double mape;
  };
  for (const Bar& bar : {Bar{"h200-sxm-gemm", 0.08}, Bar{"h200-sxm-gemm-rows", 0.06}}) {
    const std::string path = std::string(SEXTANT_SOURCE_DIR) + "/cases/" + bar.file + ".csv";
    std::FILE* f = std::fopen(path.c_str(), "rb");
    ASSERT_NE(f, nullptr);
    std::string text(1 << 20, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), f));
    std::fclose(f);
    Catalogue catalogue;
    const Accuracy a = summarize(bar.file, validate(read_cases(parse_csv(text, path)), catalogue));
    EXPECT_EQ(a.unsupported, 0);
    EXPECT_LE(a.mape, bar.mape) << bar.file;
  }
}

}  // namespace
}  // namespace sextant
