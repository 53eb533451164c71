// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/serving_cases.hpp"

#include <gtest/gtest.h>

#include "sextant/io/presets.hpp"
#include "sextant/io/settings.hpp"
#include "sextant/io/test_support.hpp"
#include "sextant/validate/validate.hpp"

namespace sextant {
namespace {

constexpr const char* header =
    "id,kind,system,runtime,model,precision,tp,arrivals,concurrency,input,output,trace,until,"
    "decode_workers,decode_tp,prefill_workers,prefill_tp,metric,measured,source\n";

std::vector<CaseResult> results_of(const std::string& rows, const std::string& file = "mine.csv") {
  Catalogue catalogue;
  return validate(read_cases(parse_csv(header + rows, file)), catalogue);
}

TEST(ServingCases, MetricsOfARunComeFromOneSimulation) {
  const std::string scenario = ",serving,dgx-h100,vllm,llama3.1-8b,fp8,2,closed,8,512,64,,,,,,,";
  const auto r =
      results_of("a" + scenario + "ttft_p50_seconds,0.02,me\n" + "b" + scenario +
                 "tpot_p50_seconds,0.005,me\n" + "c" + scenario +
                 "output_tokens_per_second,1000,me\n" + "d" + scenario + "jitter_seconds,1,me\n");
  ASSERT_EQ(r.size(), 4U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(r[static_cast<std::size_t>(i)].unsupported, "");
    EXPECT_GT(r[static_cast<std::size_t>(i)].predicted, 0);
  }
  // Eight users, a token each per step.
  EXPECT_LT(r[2].predicted, 8 / r[1].predicted);
  EXPECT_GT(r[2].predicted, 0.5 * 8 / r[1].predicted);
  EXPECT_EQ(r[3].unsupported, "metric 'jitter_seconds' is not modelled");
}

// A run is shared by rows that differ in nothing but what was measured.
TEST(ServingCases, RowsOfOtherModelsAreOtherRuns) {
  Catalogue catalogue;
  const auto r = validate(
      read_cases(parse_csv(
          "id,kind,metric,measured,source,system,runtime,model,arrivals,concurrency,input,output,"
          "ffn\n"
          "a,serving,tpot_p50_seconds,1,me,dgx-h100,vllm,llama3-8b,closed,8,512,64,14336\n"
          "b,serving,tpot_p50_seconds,1,me,dgx-h100,vllm,llama3-8b,closed,8,512,64,7168\n",
          "mine.csv")),
      catalogue);
  EXPECT_LT(r[1].predicted, 0.9 * r[0].predicted);
}

// Of other parts of a scenario nothing would be done.
TEST(ServingCases, HabitsOfEveryPresetAreOfARuntimeOrOfServing) {
  for (const std::string& name : preset_names(PresetKind::measurement)) {
    SCOPED_TRACE(name);
    for (const MeasuredEngine& e : load_measurement(name, {}, Lookup::presets).engines) {
      for (const std::string& text : e.set) {
        const Setting setting = parse_setting(text);
        EXPECT_TRUE(setting.path.starts_with("runtime.") || setting.path.starts_with("serving."))
            << text;
        Runtime runtime;
        Serving serving;
        EXPECT_NO_THROW(apply({setting}, runtime, "runtime")) << text;
        EXPECT_NO_THROW(apply({setting}, serving, "serving")) << text;
      }
    }
  }
}

TEST(ServingCases, TwoPoolsAreSaidWhole) {
  const std::string start = "a,serving,dgx-h100,vllm,llama3.1-8b,fp8,";
  const std::string traffic = ",closed,8,512,64,,,";
  const std::string end = ",tpot_p50_seconds,0.005,me\n";
  const auto r = results_of(start + "2" + traffic + ",,2," + end +   // no decode_workers
                            start + "2" + traffic + ",,,2" + end +   // nor here
                            start + traffic + "1,2,1,2" + end +      // each its own degrees
                            start + "2" + traffic + "1,,1," + end +  // or both that of all
                            start + "1" + traffic + "1,2,1,2" + end);
  ASSERT_EQ(r.size(), 5U);
  EXPECT_EQ(r[0].unsupported,
            "prefill_workers is of two pools of engines, and there are no decode_workers");
  EXPECT_EQ(r[1].unsupported,
            "prefill_tp is of two pools of engines, and there are no decode_workers");
  EXPECT_EQ(r[2].unsupported, "");
  EXPECT_EQ(r[3].predicted, r[2].predicted);
  EXPECT_EQ(r[4].predicted, r[2].predicted);
}

TEST(ServingCases, TracesStandBesideTheCases) {
  const test::Folder folder;
  write_file_atomically(folder.path("t.csv"), "arrival,input,output\n0,100,10\n0.5,100,10\n");
  const std::string row =
      "a,serving,dgx-h100,vllm,llama3.1-8b,bf16,1,trace,,,,t.csv,10,,,,,output_tokens_per_second,2,"
      "me\n";
  const auto r = results_of(row, folder.path("cases.csv"));
  ASSERT_EQ(r.front().unsupported, "");
  EXPECT_DOUBLE_EQ(r.front().predicted, 2);  // twenty tokens in ten seconds
}

TEST(ServingCases, EnginesAreStartedAsTheSourceDid) {
  const auto row = [](const char* users, const char* source) {
    return std::string("a,serving,dgx-b200,sglang,deepseek-r1,fp8,8,closed,") + users +
           ",1024,1024,,,,,,,ttft_p50_seconds,0.3," + source + "\n";
  };
  const auto settings = [&](const char* users, const char* source) {
    const auto cases = read_cases(parse_csv(header + row(users, source), "mine.csv"));
    std::string all;
    for (const Setting& s : std::get<ServingCase>(cases.front().kernel).settings) {
      all += s.path + "=" + s.value + " ";
    }
    return all;
  };
  EXPECT_EQ(settings("8", "me"), "");
  EXPECT_NE(settings("8", "InferenceX DeepSeek-R1").find("poll_steps=10 "), std::string::npos);
  EXPECT_NE(settings("16", "InferenceX DeepSeek-R1").find("poll_steps=30 "), std::string::npos);
  // A source that is named more closely goes before one of fewer words.
  const auto ratio = [&](const char* source) {
    const auto cases = read_cases(parse_csv(header + row("8", source), "mine.csv"));
    return std::get<ServingCase>(cases.front().kernel).traffic.length_ratio;
  };
  EXPECT_EQ(ratio("InferenceMAX silicon anchors: 2026_03"), 0.8);
  EXPECT_EQ(ratio("InferenceMAX silicon anchors: 2026_03_x_vllm_"), 0.8);
  EXPECT_EQ(ratio("silicon anchors: qwen_sglang"), 1);
}

// Scripts that chose by the load how experts and attention are spread, and what a step may hold:
// the rows say neither.
TEST(ServingCases, EnginesAreSpreadAsTheSourceDid) {
  struct Row {
    const char* version;
    const char* precision;
    const char* users;
    const char* source;
    const char* spread;  ///< tp, dp, ep
    std::optional<int> budget;
    const char* set;
  };
  const char* mirror = "InferenceMAX silicon anchors: 2026_04";
  const std::vector<Row> rows = {
      {"", "fp4", "8", mirror, "8 1 1", 1152, ""},
      {"", "fp4", "16", mirror, "8 1 8", 1152, ""},
      {"", "fp4", "256", mirror, "1 8 8", 1152, "hold_steps=60"},
      {"", "fp8", "64", mirror, "8 1 1", 1152, ""},
      {"1.2.0rc6.post3", "fp8", "64", mirror, "8 1 1", 1344, "mixed_launch=piecewise"},
      {"1.2.0rc6.post3", "fp8", "4", mirror, "8 1 1", 1152, "speculate=3"},
      {"1.2.0rc6.post2", "fp8", "64", mirror, "8 1 1", std::nullopt, "hold_fill=0.8"},
      {"", "fp8", "64", "\"InferenceX, 2026-01-29\"", "8 1 1", std::nullopt, "hold_fill=0.8"},
      {"", "fp8", "64", "\"InferenceX, 2025-12-15\"", "8 1 1", 1152, ""},
      {"1.0.0rc3", "fp8", "64", "silicon anchors: x_trtllm_agg_y", "8 1 1", 3072,
       "asynchronous=false"},
      {"1.3.0rc1", "fp8", "64", "silicon anchors: x_trtllm_agg_y", "8 1 1", 3072,
       "tokenizing=4 us"},
      {"", "fp4", "256", "mine", "8 1 1", std::nullopt, ""},
  };
  for (const Row& row : rows) {
    const auto cases = read_cases(
        parse_csv("id,kind,system,runtime,version,model,precision,tp,arrivals,concurrency,input,"
                  "output,metric,measured,source\na,serving,dgx-b200,trtllm," +
                      std::string(row.version) + ",deepseek-r1," + row.precision + ",8,closed," +
                      row.users + ",1024,1024,ttft_p50_seconds,0.3," + row.source + "\n",
                  "mine.csv"));
    const auto& c = std::get<ServingCase>(cases.front().kernel);
    const Strategy& s = c.strategy;
    const std::string spread =
        std::to_string(s.tp) + " " + std::to_string(s.dp) + " " + std::to_string(s.ep);
    EXPECT_EQ(spread, row.spread) << row.version << " " << row.users << " " << row.source;
    EXPECT_EQ(c.choices.token_budget, row.budget) << row.version << " " << row.users;
    std::string all;
    for (const Setting& setting : c.settings) all += setting.path + "=" + setting.value + " ";
    EXPECT_NE(all.find(row.set), std::string::npos) << all;
  }
}

// What rows call ranks of attention, recipes cut it over, or spread experts over; engines for
// prompts and those that generate each by their own, and by no script for one engine.
TEST(ServingCases, PoolsAreStartedAsTheirRecipesSay) {
  struct Row {
    const char *system, *runtime, *version, *precision, *users, *input;
    const char *given, *prompts, *tokens;  ///< tp dp ep
    const char *set, *never;
    const char *model = "deepseek-v3", *source = "dsr1_x_disagg_y";
  };
  const std::vector<Row> rows = {
      {"gb200-nvl72", "vllm", "0.18.0", "fp4", "256", "1024", "16,1,16", "1 16 16", "1 16 16",
       "narrow_cache=true", "asynchronous=false", "kimi-k2", "kimik2_5_gb200_vllm_fp4_disagg_y"},
      {"gb200-nvl72", "vllm", "0.18.0", "fp4", "32", "8192", "4,1,4", "1 4 4", "4 1 4",
       "gathers_tokens=false", "asynchronous=false", "kimi-k2", "kimik2_5_gb200_vllm_fp4_disagg_y"},
      {"gb200-nvl72", "sglang", "0.5.5.post2", "fp8", "64", "1024", "1,4,1", "4 1 1", "4 1 1",
       "block_operations=1600", "speculate"},
      {"gb200-nvl72", "sglang", "0.5.5.post2", "fp4", "2048", "8192", "1,8,1", "1 8 8", "1 8 8",
       "token_budget.huge=131072", "block_operations"},
      {"gb200-nvl72", "sglang", "0.5.8", "fp8", "2048", "8192", "1,8,8", "1 8 8", "1 8 8",
       "narrow_cache=true", "block_operations"},
      {"dgx-b200", "sglang", "0.5.8", "fp8", "512", "8192", "1,8,1", "1 8 1", "1 8 1",
       "block_operations=1600", "speculate"},
      {"dgx-h200", "trtllm", "0.8.1", "fp8", "128", "8192", "1,8,8", "8 1 8", "1 8 8",
       "token_budget.large=16640", "speculate"},
      {"dgx-h200", "trtllm", "0.8.1", "fp8", "128", "1024", "8,1,8", "1 8 8", "8 1 8", "", "16640"},
  };
  for (const Row& row : rows) {
    const std::string engine = row.given;
    const auto cases = read_cases(parse_csv(
        "id,kind,system,runtime,version,model,precision,arrivals,concurrency,input,output,"
        "prefill_workers,prefill_tp,prefill_dp,prefill_ep,decode_workers,decode_tp,"
        "decode_dp,decode_ep,metric,measured,source\na,serving," +
            std::string(row.system) + "," + row.runtime + "," + row.version + "," + row.model +
            "," + row.precision + ",closed," + row.users + "," + row.input + ",1024,1," + engine +
            ",1," + engine + ",ttft_p50_seconds,0.3,silicon anchors: " + row.source + "\n",
        "mine.csv"));
    const auto& c = std::get<ServingCase>(cases.front().kernel);
    const auto degrees = [](const Strategy& s) {
      return std::to_string(s.tp) + " " + std::to_string(s.dp) + " " + std::to_string(s.ep);
    };
    const std::string what = std::string(row.system) + " " + row.users;
    EXPECT_EQ(degrees(c.strategy), row.prompts) << what;
    EXPECT_EQ(degrees(c.decode), row.tokens) << what;
    std::string all;
    for (const Setting& setting : c.settings) all += setting.path + "=" + setting.value + " ";
    EXPECT_NE(all.find(row.set), std::string::npos) << what << ": " << all;
    EXPECT_EQ(all.find(row.never), std::string::npos) << what << ": " << all;
  }
}

// One recipe for several numbers of users, another for more of them; others' rows and engines are
// not meant.
TEST(ServingCases, EnginesThatGenerateHoldWhatTheRecipeSays) {
  const auto held = [](const char* runtime, const char* users, const char* workers,
                       const char* source) {
    const auto cases = read_cases(parse_csv(
        "id,kind,system,runtime,model,precision,arrivals,concurrency,input,output,prefill_workers,"
        "prefill_dp,prefill_ep,decode_workers,decode_tp,decode_ep,metric,measured,source\n"
        "a,serving,dgx-b200," +
            std::string(runtime) + ",deepseek-r1,fp4,closed," + users + ",8192,1024,1,4,4," +
            workers + ",8,8,ttft_p50_seconds,0.3," + source + "\n",
        "mine.csv"));
    return std::get<ServingCase>(cases.front().kernel).held;
  };
  const char* theirs = "silicon anchors: dsr1_b200_disagg_";
  EXPECT_EQ(held("trtllm", "6", "5", theirs), 1);
  EXPECT_EQ(held("trtllm", "15", "5", theirs), 8);
  EXPECT_EQ(held("trtllm", "370", "5", theirs), 64);
  EXPECT_EQ(held("trtllm", "371", "5", theirs), std::nullopt);
  EXPECT_EQ(held("trtllm", "15", "4", theirs), std::nullopt);
  EXPECT_EQ(held("sglang", "15", "5", theirs), std::nullopt);  // theirs are in 8 bits
  EXPECT_EQ(held("trtllm", "15", "5", "me"), std::nullopt);
}

TEST(ServingCases, PoolsOfTheirOwn) {
  const auto r = results_of(
      "a,serving,dgx-h100,vllm,llama3.1-8b,fp8,,closed,4,512,64,,,1,2,1,1,tpot_p50_seconds,0.01,"
      "me\n");
  ASSERT_EQ(r.front().unsupported, "");
  EXPECT_GT(r.front().predicted, 0);
}

}  // namespace
}  // namespace sextant
