// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/huggingface.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "sextant/graph/graph.hpp"
#include "sextant/io/files.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/write.hpp"

namespace sextant {
namespace {

using ::testing::HasSubstr;

const std::string folder = SEXTANT_SOURCE_DIR "/tests/data/huggingface/";

Model from_text(std::string text) {
  return model_from_hugging_face(parse_json(std::move(text), "config.json"));
}

/// What is wrong with a config.json, as people see it.
std::string complaint(std::string text) {
  try {
    from_text(std::move(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

struct Case {
  const char* file;
  double published;       ///< parameters of the checkpoint; 0: its preset knows none either
  bool is_preset = true;  ///< a preset of that name has the very same shape
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.file; }

/// The fields that make the shape, as text: all but names and published numbers.
std::string shape_of(Model m) {
  complete(m);
  m.name = m.family = m.notes = "";
  m.published_parameters = m.published_active = 0;
  return to_toml(write(m));
}

class HuggingFace : public ::testing::TestWithParam<Case> {};

TEST_P(HuggingFace, GivesThePublishedModel) {
  const Case& c = GetParam();
  const std::string path = folder + c.file + ".json";
  Model m = model_from_hugging_face(parse_json(read_file(path), path));
  complete(m);
  EXPECT_TRUE(check(m).empty());
  EXPECT_FALSE(m.family.empty());
  if (c.published > 0) {
    EXPECT_NEAR(count_parameters(m).total() / c.published, 1, 0.005);
  }
  if (c.is_preset) {
    // A 16-bit checkpoint does not say how the 8-bit one beside it is scaled.
    Model preset = load_model(c.file);
    if (m.stored == Precision::bf16) m.block_scales = preset.block_scales;
    EXPECT_EQ(shape_of(m), shape_of(preset));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Config, HuggingFace,
    ::testing::Values(
        Case{"bloom-7b1", 7069016064}, Case{"command-r", 34980831232, false},
        Case{"dbrx", 131596523520}, Case{"deepseek-v2-lite", 15706484224},
        Case{"deepseek-v3", 671026419200}, Case{"deepseek-v3.2", 0},
        Case{"falcon-40b", 41303293952}, Case{"falcon-7b", 6921720704},
        Case{"falcon-mamba-7b", 7272665088}, Case{"jamba-1.5-large", 398e9},
        Case{"jamba-1.5-mini", 51570323328}, Case{"mamba-2.8b", 2768345600},
        Case{"gemma-2b", 2506172416}, Case{"gemma2-9b", 9241705984}, Case{"gemma3-1b", 999885952},
        Case{"gemma3-4b", 4300079472}, Case{"gemma4-26b", 25.8e9}, Case{"glm-4-9b", 9399951360},
        Case{"glm-5", 744e9}, Case{"gpt-j-6b", 6050882784}, Case{"gpt-neox-20b", 20554567680},
        Case{"gpt-oss-20b", 20914757184}, Case{"gpt2-xl", 1557611200}, Case{"grok-1", 0},
        Case{"kimi-k2", 1026.4e9}, Case{"llama-13b", 13015864320}, Case{"llama2-7b", 6738415616},
        Case{"llama3.1-8b", 8030261248}, Case{"llama3.2-11b-vision", 10670220835},
        Case{"llama4-maverick", 401.58e9}, Case{"minimax-m2.5", 229e9},
        Case{"mistral-7b", 7241732096}, Case{"mixtral-8x7b", 46702792704},
        Case{"mpt-7b", 6649286656, false}, Case{"nemotron-3-nano", 31.6e9},
        Case{"nemotron4-15b", 15.6e9}, Case{"olmo-7b", 6888095744, false},
        Case{"olmo2-7b", 7298617344}, Case{"olmo3-7b", 7298011136}, Case{"opt-125m", 125239296},
        Case{"opt-350m", 331196416}, Case{"phi-2", 2779683840}, Case{"phi-3-mini", 3821079552},
        Case{"qwen-72b", 72287920128}, Case{"qwen1.5-moe-a2.7b", 14315784192},
        Case{"qwen2.5-7b", 7615616512}, Case{"qwen2.5-vl-7b", 8292166656},
        Case{"qwen3-30b-a3b", 30532122624}, Case{"qwen3-8b", 8190735360},
        Case{"qwen3-next-80b-a3b", 80e9}, Case{"starcoder2-7b", 7173923840, false}),
    [](const auto& test) {
      std::string name = test.param.file;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
      return name;
    });

TEST(HuggingFaceConfig, EveryTestFileIsTested) {
  const auto* suite = ::testing::UnitTest::GetInstance();
  int cases = 0;
  for (int i = 0; i < suite->total_test_suite_count(); ++i) {
    if (std::string(suite->GetTestSuite(i)->name()) == "Config/HuggingFace") {
      cases = suite->GetTestSuite(i)->total_test_count();
    }
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files += entry.path().extension() == ".json" ? 1 : 0;
  }
  EXPECT_EQ(files, cases);
}

TEST(HuggingFaceConfig, LoadsByPathAndByFolder) {
  const Model m = load_model(folder + "llama2-7b.json");
  EXPECT_EQ(m.name, "llama2-7b");
  EXPECT_EQ(m.attention.head_dim, 128);
}

TEST(HuggingFaceConfig, ReportsEverythingThatIsMissingAtOnce) {
  const std::string text = complaint(R"({"model_type": "llama", "hidden_size": 4096})");
  EXPECT_THAT(text, HasSubstr("config.json: num_hidden_layers: missing; expected a whole number"));
  EXPECT_THAT(text, HasSubstr("config.json: vocab_size: missing"));
  EXPECT_THAT(text, HasSubstr("config.json: num_attention_heads: missing"));
  EXPECT_THAT(text, HasSubstr("config.json: intermediate_size: missing"));
}

TEST(HuggingFaceConfig, PointsAtWhatIsWrong) {
  const std::string text = complaint(R"({
  "model_type": "llama",
  "hidden_size": "4096",
  "intermediate_size": 11008,
  "num_attention_heads": 32.5,
  "num_hidden_layers": -32,
  "tie_word_embeddings": "yes",
  "vocab_size": 99999999999
})");
  EXPECT_THAT(text, HasSubstr("config.json:3:18: hidden_size: expected a whole number"));
  EXPECT_THAT(text, HasSubstr("config.json:5:26: num_attention_heads: expected a whole number"));
  EXPECT_THAT(text, HasSubstr("config.json:6:24: num_hidden_layers: expected a whole number from "
                              "1 to 100000"));
  EXPECT_THAT(text, HasSubstr("config.json:7:26: tie_word_embeddings: expected true or false"));
  EXPECT_THAT(text, HasSubstr("config.json:8:17: vocab_size: expected a whole number"));
}

TEST(HuggingFaceConfig, GuessesAtMisspeltKeys) {
  EXPECT_THAT(complaint(R"({"model_type": "gpt2", "n_layers_": 12, "n_embd": 8, "n_head": 2,
                            "vocab_sise": 10, "n_positions": 4})"),
              HasSubstr("vocab_size: missing; expected a whole number, such as 32; was "
                        "'vocab_sise' meant to be it?"));
}

TEST(HuggingFaceConfig, NamesTheTypesItKnows) {
  const std::string text = complaint(R"({"model_type": "lama"})");
  EXPECT_THAT(text, HasSubstr("config.json:1:16: model_type: no model of type 'lama' is known"));
  EXPECT_THAT(text, HasSubstr("did you mean 'llama'?"));
  EXPECT_THAT(text, HasSubstr("deepseek_v32, falcon"));
  EXPECT_THAT(complaint("{}"), HasSubstr("model_type: missing; expected one of"));
  EXPECT_THAT(complaint(R"({"model_type": 3})"), HasSubstr("model_type: expected text"));
  EXPECT_THAT(complaint("[]"), HasSubstr("expected an object"));
  const std::vector<std::string> types = hugging_face_types();
  EXPECT_TRUE(std::is_sorted(types.begin(), types.end()));
}

TEST(HuggingFaceConfig, ReportsPlacesInsideTheTextConfig) {
  const std::string text = complaint(R"({"model_type": "llama4", "text_config": {
    "model_type": "llama4_text", "hidden_size": true }})");
  EXPECT_THAT(text, HasSubstr("config.json:2:49: text_config.hidden_size: expected"));
  EXPECT_THAT(text, HasSubstr("config.json:1:41: text_config.num_hidden_layers: missing"));
}

/// A small Llama whose quantization_config is given.
std::string quantised(const std::string& how) {
  return R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
             "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100,
             "quantization_config": )" +
         how + "}";
}

TEST(HuggingFaceConfig, ReadsWhatWeightsAreStoredIn) {
  struct Known {
    const char* how;
    Precision stored;
  };
  for (const Known& k :
       {Known{"null", Precision::bf16},
        Known{R"({"quant_method": "fp8", "weight_block_size": [128, 128]})", Precision::fp8},
        Known{R"({"quant_method": "mxfp4"})", Precision::fp4},
        Known{R"({"quant_method": "awq", "bits": 4, "group_size": 128})", Precision::int4},
        Known{R"({"quant_method": "gptq", "bits": 8})", Precision::int8},
        Known{R"({"quant_method": "bitsandbytes", "load_in_8bit": true})", Precision::int8},
        Known{R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})", Precision::fp4},
        Known{R"({"quant_method": "compressed-tensors", "config_groups": {"group_0":
               {"weights": {"num_bits": 8, "type": "float"}}}})",
              Precision::fp8},
        Known{R"({"quant_method": "compressed-tensors", "config_groups": {"group_0":
               {"weights": {"num_bits": 4, "type": "int"}, "input_activations": null}}})",
              Precision::int4}}) {
    EXPECT_EQ(from_text(quantised(k.how)).stored, k.stored) << k.how;
  }
  const char* rows = R"({"quant_method": "fp8", "activation_scheme": "static"})";
  EXPECT_FALSE(from_text(quantised(rows)).block_scales);
  const char* blocks = R"({"quant_method": "fp8", "weight_block_size": [128, 128]})";
  EXPECT_TRUE(from_text(quantised(blocks)).block_scales);
  EXPECT_TRUE(from_text(quantised(R"({"quant_method": "compressed-tensors", "config_groups":
      {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "block"}}}})"))
                  .block_scales);
  EXPECT_THAT(complaint(quantised(R"({"quant_method": "aqlm"})")),
              HasSubstr("no quantisation by 'aqlm' is known"));
  EXPECT_THAT(complaint(quantised(R"({"quant_method": "gptq", "bits": 3})")),
              HasSubstr("expected weights of 4 or 8 bits"));
  EXPECT_THAT(complaint(quantised("{}")), HasSubstr("quant_method"));
  EXPECT_THAT(complaint(quantised("7")), HasSubstr("a table"));
}

/// A small Qwen whose vision_config is given.
std::string seeing(const std::string& tower) {
  return R"({"model_type": "qwen2_5_vl", "hidden_size": 64, "intermediate_size": 128,
             "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100,
             "vision_config": )" +
         tower + "}";
}

TEST(HuggingFaceConfig, ReadsTowersForImages) {
  const Model m = from_text(seeing(R"({"depth": 8, "hidden_size": 32, "intermediate_size": 96,
    "num_heads": 2, "patch_size": 14, "window_size": 112, "fullatt_block_indexes": [3, 7]})"));
  EXPECT_EQ(m.vision.layers, 8);
  EXPECT_EQ(m.vision.window, 64);
  EXPECT_EQ(m.vision.window_layers, 6);
  EXPECT_EQ(m.vision.mlp, Mlp::swiglu);
  // 1024 pixels are 37 merged patches of 28.
  EXPECT_EQ(image_tokens(m.vision), 37 * 37);
  EXPECT_EQ(from_text(seeing("null")).vision.layers, 0);
}

TEST(HuggingFaceConfig, NamesWhatItDoesNotKnowOfATower) {
  EXPECT_THAT(complaint(seeing(R"({"model_type": "intern_vit_6b"})")),
              HasSubstr("vision_config.model_type: no tower of type 'intern_vit_6b' is known"));
  EXPECT_THAT(complaint(seeing(R"({"depth": 8, "num_heads": 2, "hidden_size": 32})")),
              HasSubstr("vision_config.intermediate_size: missing"));
  const std::string more = complaint(seeing(
      R"({"depth": 8, "hidden_size": 32, "intermediate_size": 96, "num_heads": 2,
          "num_adapter_layers": 3, "initializer_range": 0.02, "in_chans": 4})"));
  EXPECT_THAT(more, HasSubstr("vision_config.num_adapter_layers: no tower with this field"));
  EXPECT_THAT(more, HasSubstr("vision_config.in_chans: expected 3: red, green and blue"));
  EXPECT_THAT(more, ::testing::Not(HasSubstr("vision_config.initializer_range")));
}

TEST(HuggingFaceConfig, ReportsActivationsItCannotModel) {
  EXPECT_THAT(complaint(R"({"model_type": "gpt2", "n_layer": 12, "n_embd": 8, "n_head": 2,
    "vocab_size": 10, "n_positions": 4, "activation_function": "tanh"})"),
              HasSubstr("config.json:2:64: activation_function: no MLP with activation 'tanh'"));
}

TEST(HuggingFaceConfig, ReportsPatternsThatDoNotFit) {
  std::string text = read_file(folder + "nemotron-3-nano.json");
  text.replace(text.find("MEMEM*"), 6, "MEXEM*");
  EXPECT_THAT(complaint(text), HasSubstr("hybrid_override_pattern: expected one of M, *, - and E "
                                         "for each of 52 layers"));
}

TEST(HuggingFaceConfig, ReadsLayersAtTheirOffsets) {
  const auto jamba = [](const std::string& rest) {
    return from_text(R"({"model_type": "jamba", "num_hidden_layers": 10, "hidden_size": 72,
      "intermediate_size": 128, "num_attention_heads": 8, "vocab_size": 100)" +
                     rest + "}");
  };
  struct Row {
    const char* rest;
    int attention, dense, experts;
  };
  // What the class defaults to: attention in layers 4, 12, …, experts in every second.
  for (const Row& row : {Row{"", 1, 5, 16}, Row{R"(, "attn_layer_offset": 1)", 2, 5, 16},
                         Row{R"(, "attn_layer_period": 3, "attn_layer_offset": 0)", 4, 5, 16},
                         Row{R"(, "expert_layer_period": 1, "expert_layer_offset": 0)", 1, 0, 16},
                         Row{R"(, "num_experts": 1)", 1, 0, 0}}) {
    SCOPED_TRACE(row.rest);
    Model m = jamba(row.rest);
    EXPECT_EQ(m.hybrid.attention_layers, row.attention);
    EXPECT_EQ(m.hybrid.recurrent_layers, 10 - row.attention);
    EXPECT_EQ(m.experts.count, row.experts);
    EXPECT_EQ(m.experts.dense_layers, row.dense);
    EXPECT_EQ(m.experts.spread, row.dense > 0);
    complete(m);
    EXPECT_TRUE(check(m).empty());
    EXPECT_EQ(m.hybrid.heads, 144);
    EXPECT_EQ(m.hybrid.dt_rank, 5);  // a sixteenth of 72, rounded up
  }
  EXPECT_EQ(jamba(R"(, "mamba_dt_rank": "auto")").hybrid.dt_rank, 0);
  EXPECT_EQ(jamba(R"(, "mamba_dt_rank": 7, "mamba_expand": 3)").hybrid.heads, 3 * 72);
}

TEST(HuggingFaceConfig, NamesWhatOfMambaItDoesNotKnow) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"("attn_layer_period": 4, "attn_layer_offset": 4)",
       "attn_layer_offset: expected less than attn_layer_period, which is 4"},
      {R"("mamba_proj_bias": true)", "mamba_proj_bias: no recurrence with biases"},
      {R"("mamba_conv_bias": false)", "mamba_conv_bias: no convolution of Mamba without a bias"},
      {R"("mamba_dt_rank": "some")", "mamba_dt_rank: expected a whole number"},
      {R"("mamba_dt_rank": 0)", "mamba_dt_rank: expected a whole number from 1"},
  };
  for (const auto& [fields, words] : wrong) {
    EXPECT_THAT(complaint(std::string(R"({"model_type": "jamba", "num_hidden_layers": 8,
      "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "vocab_size": 100,
      )") + fields + "}"),
                HasSubstr(words));
  }
}

TEST(HuggingFaceConfig, ReadsWindowsOfSomeLayers) {
  const char* base = R"({"model_type": "qwen2", "num_hidden_layers": 28, "hidden_size": 64,
    "intermediate_size": 128, "num_attention_heads": 4, "vocab_size": 100, "sliding_window": 16,
    "max_window_layers": 21, "use_sliding_window": )";
  EXPECT_EQ(from_text(std::string(base) + "false}").attention.window, 0);
  const Model m = from_text(std::string(base) + "true}");
  EXPECT_EQ(m.attention.window, 16);
  EXPECT_EQ(m.attention.window_layers, 7);
}

TEST(HuggingFaceConfig, CountsDenseLayersAmongExperts) {
  const Model m = from_text(R"({"model_type": "qwen2_moe", "num_hidden_layers": 6,
    "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "vocab_size": 100,
    "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
    "decoder_sparse_step": 2, "mlp_only_layers": [0, 3]})");
  // Layers 1, 3 and 5 would have experts; 3 is an exception, 0 has none anyway.
  EXPECT_EQ(m.experts.dense_layers, 4);
  EXPECT_EQ(m.experts.shared, 0);
}

}  // namespace
}  // namespace sextant
