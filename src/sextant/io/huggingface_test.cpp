// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/huggingface.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sextant/graph/graph.hpp"
#include "sextant/io/files.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/test_huggingface.hpp"
#include "sextant/io/test_support.hpp"
#include "sextant/io/write.hpp"

namespace sextant {
namespace {

using test::complaint;
using test::from_text;
using test::small;
using ::testing::HasSubstr;

const std::string folder = SEXTANT_SOURCE_DIR "/tests/data/huggingface/";

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
        Case{"deepseek-v4-flash", 284e9}, Case{"falcon-40b", 41303293952},
        Case{"falcon-7b", 6921720704}, Case{"falcon-mamba-7b", 7272665088},
        Case{"jamba-1.5-large", 398e9}, Case{"jamba-1.5-mini", 51570323328},
        Case{"mamba-2.8b", 2768345600}, Case{"gemma-2b", 2506172416}, Case{"gemma2-9b", 9241705984},
        Case{"gemma3-1b", 999885952}, Case{"gemma3-4b", 4300079472}, Case{"gemma4-26b", 25.8e9},
        Case{"glm-4-9b", 9399951360}, Case{"glm-5", 744e9}, Case{"gpt-j-6b", 6050882784},
        Case{"gpt-neox-20b", 20554567680}, Case{"gpt-oss-20b", 20914757184},
        Case{"gpt2-xl", 1557611200}, Case{"grok-1", 0}, Case{"kimi-k2", 1026.4e9},
        Case{"llama-13b", 13015864320}, Case{"llama2-7b", 6738415616},
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
        Case{"qwen3-next-80b-a3b", 80e9}, Case{"starcoder2-7b", 7173923840, false},
        Case{"phi-3.5-moe", 41873153344}, Case{"qwen3.5-27b", 27.36e9},
        Case{"qwen3.5-35b-a3b", 35.1e9}, Case{"granite-4.0-h-small", 32207337600},
        Case{"granite-4.0-h-micro", 3191396096}, Case{"granite-4.0-micro", 3402836480},
        Case{"olmoe-1b-7b", 6919161856}, Case{"seed-oss-36b", 36151104512},
        Case{"smollm3-3b", 3075098624}, Case{"stablelm2-1.6b", 1644515328},
        Case{"internlm3-8b", 8804241408}, Case{"glm-4.7-flash", 29.94e9},
        Case{"glm-4.1v-9b", 10.29e9, false}, Case{"kimi-vl-a3b", 16407657776, false},
        Case{"starcoder", 15517456384, false}, Case{"stablelm-2-12b", 12143185920, false},
        Case{"kimi-linear-48b", 49122681728, false}, Case{"minimax-m1", 456089655296, false},
        Case{"command-r7b", 8027834368, false}, Case{"arctic", 479e9, false},
        Case{"hunyuan-a13b", 80393183232, false}, Case{"ernie-4.5-21b-a3b", 21.83e9, false},
        Case{"exaone-4.0-32b", 32.0e9, false}, Case{"longcat-flash", 561.86e9, false},
        Case{"ling-mini-2.0", 16255643392, false}, Case{"dots.llm1", 142774381696, false},
        Case{"step-3", 316e9, false}, Case{"mimo-v2-flash", 309e9, false},
        Case{"apertus-8b", 8053338176, false}, Case{"lfm2-1.2b", 1170340608, false},
        Case{"lfm2-8b-a1b", 8339929856, false}, Case{"codestral-mamba", 7285403648, false},
        Case{"bamba-9b", 9.78e9, false}, Case{"mistral-small-3.1", 24011361280, false},
        Case{"qwen2-vl-7b", 8291375616, false}, Case{"llava-1.5-7b", 7063427072, false},
        Case{"pixtral-12b", 12682746880, false}, Case{"minicpm3-4b", 4073684480, false},
        Case{"grok-2", 269.5e9, false}, Case{"gpt-neo-2.7b", 2651307520, false},
        Case{"persimmon-8b", 9402552320, false}, Case{"granite-3.1-3b-a800m", 3299183616, false},
        Case{"qwen2-57b-a14b", 57409011712}, Case{"jamba-v0.1", 51570323328, false},
        Case{"falcon-h1-7b", 7585654016}, Case{"falcon-h1-34b", 33.6e9},
        Case{"step-3.5-flash", 196.81e9}, Case{"ring-mini-linear-2.0", 16.4e9},
        Case{"ring-flash-linear-2.0", 104.2e9}, Case{"trinity-mini", 26.1e9},
        Case{"k-exaone-236b", 236e9}, Case{"nemotron-3-super", 120.6e9, false},
        Case{"nemotron-nano-9b-v2", 8888227328, false}, Case{"minimax-m2", 229e9, false},
        Case{"lfm2-2.6b", 2569272320, false}, Case{"glm-4.5-air", 106.85e9},
        Case{"gpt-oss-120b", 116.83e9}, Case{"mistral-small-4", 119e9, false},
        Case{"hy3", 295e9, false}, Case{"olmo-hybrid-7b", 7.43e9, false}),
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
  EXPECT_THAT(text, HasSubstr("deepseek_v32, deepseek_v4"));
  EXPECT_THAT(complaint("{}"), HasSubstr("model_type: missing; expected one of"));
  EXPECT_THAT(complaint(R"({"model_type": 3})"), HasSubstr("model_type: expected text"));
  EXPECT_THAT(complaint(R"({"model_type": ""})"), HasSubstr("no model of type '' is known"));
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

/// Of a token, in every layer, in 16 bits; and of a sequence, whatever its length.
struct Cache {
  double token = 0;
  double state = 0;
};

Cache cache_of(const std::string& file) {
  Model m = load_model(folder + file + ".json");
  Cache cache;
  for (const graph::Branch& b : graph::build(m, {}).branches) {
    for (const graph::Operator& op : b.operators) {
      const double state = graph::cached_bytes(op, 0, 0, 2, 1);
      cache.state += b.layers * state;
      cache.token += b.layers * (graph::cached_bytes(op, 1, 0, 2, 1) - state);
    }
  }
  return cache;
}

TEST(HuggingFaceConfig, CachesWhatTheArchitectureSays) {
  struct Row {
    const char* file;
    double token;
    bool state = false;
  };
  for (const Row& row :
       {Row{"starcoder", 40 * 2 * 128 * 2}, Row{"command-r7b", 32 * 2 * 8 * 128 * 2},
        Row{"glm-4.7-flash", 47 * 576 * 2}, Row{"longcat-flash", 56 * 576 * 2},
        Row{"minicpm3-4b", 62 * 288 * 2}, Row{"step-3", 61 * 2 * 256 * 2},
        Row{"mimo-v2-flash", (9 * 4 + 39 * 8) * (192 + 128) * 2},
        Row{"kimi-linear-48b", 7 * 576 * 2, true}, Row{"minimax-m1", 10 * 2 * 8 * 128 * 2, true},
        Row{"lfm2-1.2b", 6 * 2 * 8 * 64 * 2, true}, Row{"bamba-9b", 3 * 2 * 8 * 128 * 2, true},
        Row{"qwen3.5-27b", 16 * 2 * 4 * 256 * 2, true}, Row{"codestral-mamba", 0, true},
        Row{"granite-4.0-h-small", 4 * 2 * 8 * 128 * 2, true},
        Row{"falcon-h1-7b", 44 * 2 * 2 * 128 * 2, true},
        Row{"step-3.5-flash", 45 * 2 * 8 * 128 * 2}, Row{"trinity-mini", 32 * 2 * 4 * 128 * 2},
        Row{"ring-mini-linear-2.0", 4 * 2 * 4 * 128 * 2, true},
        Row{"nemotron-3-super", 8 * 2 * 2 * 128 * 2, true}}) {
    SCOPED_TRACE(row.file);
    const Cache cache = cache_of(row.file);
    EXPECT_DOUBLE_EQ(cache.token, row.token);
    EXPECT_EQ(cache.state > 0, row.state);
  }
  // A key by a value for each of 64 heads in 70 layers, in fp32.
  EXPECT_DOUBLE_EQ(cache_of("minimax-m1").state, 70.0 * 64 * 128 * 128 * 4);
  // Of every layer 24 heads of 128 by 256 in fp32, and the last three inputs of the convolution.
  EXPECT_DOUBLE_EQ(cache_of("falcon-h1-7b").state,
                   44.0 * (24 * 128 * 256 * 4 + (24 * 128 + 2 * 256) * 3 * 2));
  // The last two inputs of 2048 channels in 10 layers.
  EXPECT_DOUBLE_EQ(cache_of("lfm2-1.2b").state, 10.0 * 2048 * 2 * 2);
}

TEST(HuggingFaceConfig, SharesKeysAndValuesBetweenLayers) {
  const Model m = from_text(small("hunyuan_v1_dense", R"("use_cla": true, "cla_share_factor": 2)"));
  EXPECT_EQ(m.attention.kv_shared_layers, 2);
}

TEST(HuggingFaceConfig, NamesWhatItWouldPassOver) {
  const std::pair<std::string, const char*> wrong[] = {
      {small("llama", R"("num_local_experts": 8)"),
       "num_local_experts: no Llama with this field is known: it may change the shape; remove it "
       "where it does not"},
      {small("llama", R"("sliding_window": 4096)"), "sliding_window: no Llama with this field"},
      {small("llama", R"("layer_types": ["full_attention", "conv"])"), "layer_types: no Llama"},
      {small("cohere", R"("kv_lora_rank": 512)"), "kv_lora_rank: no Command R with this field"},
      {small("llama", R"("block_configs": [{}])"), "block_configs: no Llama with this field"},
      {small("llama", R"("intermediate_size_mlp": [128, 64])"), "intermediate_size_mlp: no Llama"},
      {small("mistral", R"("sliding_window": 16, "layer_types": ["sliding_attention"])"),
       "layer_types: expected one entry for each of 4 layers, not 1"},
      {small("mistral", R"("sliding_window": 16, "layer_types": ["full_attention", "odd",
                           "full_attention", "full_attention"])"),
       "layer_types: no layer of type 'odd' is known in this family"},
      {small("gpt_oss", R"("num_local_experts": [4, 4, 4, 8], "num_experts_per_tok": 2)"),
       "num_local_experts: expected a whole number from 1 to 1000000, the same for every layer"},
      {small("deepseek", R"("n_routed_experts": 8, "num_experts_per_tok": 2,
                            "moe_intermediate_size": 32, "moe_layer_freq": 2)"),
       "moe_layer_freq: expected 1"},
      {small("lfm2", R"("conv_dim": 32)"), "conv_dim: expected 64, the width of the model"},
      {small("mimo_v2_flash", R"("head_dim": 16, "swa_head_dim": 32, "n_routed_experts": 8,
                                 "num_experts_per_tok": 2, "moe_intermediate_size": 32)"),
       "swa_head_dim: expected 16, as layers without a window have"},
      {small("kimi_linear", R"("kv_lora_rank": 8, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8,
                               "v_head_dim": 8, "linear_attn_config": {"kda_layers": [1],
                               "num_heads": 4, "head_dim": 16, "use_full_rank_gate": true})"),
       "linear_attn_config.use_full_rank_gate: no Kimi whose gates are of full rank"},
      {small("nemotron-nas", R"("block_configs": [{"attention": {"replace_with_linear": true},
                                "ffn": {"ffn_mult": -1}}])"),
       "block_configs[0].ffn.ffn_mult: expected a number above 0"},
      {small("git", R"("num_local_experts": 8)"), "no model of type 'git' is known but Grok 2"},
      {small("falcon_h1", R"("mamba_n_heads": 8, "mamba_d_head": 16, "mamba_d_ssm": 64)"),
       "mamba_d_ssm: expected 128, mamba_n_heads times mamba_d_head"},
      {small("falcon_h1", R"("mamba_n_heads": 8, "mamba_d_ssm": 64, "projectors_bias": true)"),
       "projectors_bias: no recurrence with biases in its projections is known"},
      {small("falcon_h1", R"("mamba_n_heads": 8, "mamba_d_ssm": 64, "attn_layer_indices": [1])"),
       "attn_layer_indices: no Falcon-H1 with attention in some layers alone"},
      {small("step3p5", R"("head_dim": 16, "moe_num_experts": 8, "moe_top_k": 2,
                           "moe_intermediate_size": 32, "layer_types": ["sliding_attention"])"),
       "layer_types: expected one entry for each of 4 layers, not 1"},
      {small("bailing_hybrid", R"("kv_lora_rank": 8, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8,
                                  "v_head_dim": 8, "gated_attention_proj_granularity_type": "all")"),
       "gated_attention_proj_granularity_type: no Ling with gates but of heads is known"},
      {small("llama", R"("attention_output_gate": true)"), "attention_output_gate: no Llama with"},
      {small("qwen3", R"("sparse_attention_config": {"sparse_index_dim": 8})"),
       "sparse_attention_config: no Qwen3 with this field is known"},
      {small("nemotron_h", R"("layers_block_type": ["mamba", "wormhole"], "mamba_num_heads": 4,
                              "mamba_head_dim": 8, "ssm_state_size": 8)"),
       "layers_block_type: no layer of type 'wormhole' is known in this family"},
  };
  for (const auto& [text, words] : wrong) EXPECT_THAT(complaint(text), HasSubstr(words)) << text;
}

TEST(HuggingFaceConfig, PassesOverWhatSaysNothing) {
  for (const char* fields :
       {"", R"("layer_types": ["full_attention", "full_attention"])", R"("num_local_experts": 0)",
        R"("sliding_window": null)", R"("block_configs": [])", R"("head_dim": null)",
        R"("num_key_value_heads": null)", R"("intermediate_size_mlp": null)",
        R"("attention_output_gate": false)",
        R"("no_rope_layers": [1, 1, 1, 0], "original_max_position_embeddings": 8192)"}) {
    EXPECT_EQ(complaint(small("llama", fields)), "") << fields;
  }
  // What files of a family have beside what is read.
  const std::pair<const char*, const char*> beside[] = {
      {"jamba", R"("num_experts": 1, "num_experts_per_tok": 1)"},
      {"hunyuan", R"("num_experts": 1, "moe_intermediate_size": 128, "moe_topk": 1)"},
      {"bailing_moe", R"("use_sliding_window": false, "sliding_window": 4096)"},
      {"llama4_text", R"("num_local_experts": 0, "moe_layers": [], "num_experts_per_tok": 0)"},
      {"qwen3", R"("use_sliding_window": false, "sliding_window": 16, "max_window_layers": 4)"},
      {"gemma2", R"("sliding_window_size": 4096)"},
  };
  for (const auto& [type, fields] : beside) EXPECT_EQ(complaint(small(type, fields)), "") << type;
  EXPECT_EQ(complaint(R"({"model_type": "falcon", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "vocab_size": 100, "num_kv_heads": 4})"),
            "");
  EXPECT_EQ(complaint(R"({"model_type": "mamba2", "hidden_size": 64, "num_hidden_layers": 2,
    "num_heads": 8, "head_dim": 16, "vocab_size": 100, "intermediate_size": 128})"),
            "");
  // One number for every layer.
  EXPECT_EQ(complaint(small("llama", R"("head_dim": [16, 16, 16, 16])")), "");
}

/// What transformers has called layers since its version 5, and lists that newer files have.
TEST(HuggingFaceConfig, ReadsLayersByTheirNewNames) {
  for (const char* types :
       {R"("layer_types": ["mamba", "attention", "mamba", "mamba"])",
        R"("layer_types": ["linear_attention", "full_attention", "linear_attention",
                           "linear_attention"])",
        R"("layers_block_type": ["mamba", "attention", "mamba", "mamba"])"}) {
    for (const char* family : {"granitemoehybrid", "bamba"}) {
      const Model m = from_text(small(family, std::string(R"("mamba_n_heads": 8, )") + types));
      EXPECT_EQ(m.hybrid.recurrent_layers, 3) << family << types;
      EXPECT_EQ(m.hybrid.attention_layers, 1) << family << types;
    }
  }
  // Without a number of layers, which the list tells; "|" is where Megatron cuts stages.
  for (const char* types :
       {R"("layers_block_type": ["mamba", "attention", "mlp", "linear_attention"])",
        R"("layer_types": ["mamba", "full_attention", "mlp", "mamba"])",
        R"("hybrid_override_pattern": "M*|-M")"}) {
    const Model m = from_text(std::string(R"({"model_type": "nemotron_h", "hidden_size": 64,
      "num_attention_heads": 4, "vocab_size": 100, "intermediate_size": 128, "mamba_num_heads": 4,
      "mamba_head_dim": 8, "ssm_state_size": 8, )") +
                              types + "}");
    EXPECT_EQ(m.layers, 4) << types;
    EXPECT_EQ(m.hybrid.recurrent_layers, 2) << types;
    EXPECT_EQ(m.hybrid.attention_layers, 1) << types;
    EXPECT_EQ(m.hybrid.mlp_layers, 1) << types;
  }
  for (const char* pattern : {R"("LLLG")", "4"}) {
    const Model m = from_text(small("exaone4", std::string(R"("sliding_window": 16,
        "sliding_window_pattern": )") + pattern));
    EXPECT_EQ(m.attention.window_layers, 3) << pattern;
  }
  const Model m = from_text(small("deepseek", R"("n_routed_experts": 8, "num_experts_per_tok": 2,
      "moe_intermediate_size": 32, "mlp_layer_types": ["dense", "dense", "sparse", "sparse"])"));
  EXPECT_EQ(m.experts.dense_layers, 2);
}

/// Beside attention, head_dim is that of its heads.
TEST(HuggingFaceConfig, TellsHeadsOfStatesFromThoseOfAttention) {
  const char* fields = R"("mamba_n_heads": 8, "mamba_d_ssm": 96, "head_dim": 32)";
  const Model m = from_text(small("falcon_h1", fields));
  EXPECT_EQ(m.attention.head_dim, 32);
  EXPECT_EQ(m.hybrid.head_dim, 12);
  EXPECT_TRUE(m.hybrid.parallel);
}

/// Lightning attention but for the last layer of a group; latent attention there since 2.5.
TEST(HuggingFaceConfig, ReadsGroupsOfLinearAttention) {
  const char* latent = R"("head_dim": 16, "layer_group_size": 2, "kv_lora_rank": 8,
      "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8, "num_key_value_heads": 4)";
  Model m = from_text(small("bailing_hybrid", latent));
  complete(m);
  EXPECT_TRUE(check(m).empty());
  EXPECT_EQ(m.attention.kind, AttentionKind::latent);
  EXPECT_EQ(m.hybrid.kind, Recurrence::lightning);
  EXPECT_EQ(m.hybrid.recurrent_layers, 2);
  // Delta attention since 3.0, with gates of every channel, and of every head of the latent.
  m = from_text(small("bailing_hybrid", std::string(latent) + R"(, "short_conv_kernel_size": 4,
      "no_kda_lora": true, "gated_attention_proj_granularity_type": "head_wise")"));
  complete(m);
  EXPECT_TRUE(check(m).empty());
  EXPECT_EQ(m.hybrid.kind, Recurrence::gated_delta);
  EXPECT_TRUE(m.hybrid.channel_gates);
  EXPECT_TRUE(m.attention.head_gate);
  // Behind the last whole group there is none.
  EXPECT_EQ(
      from_text(small("bailing_moe_linear", R"("layer_group_size": 3)")).hybrid.recurrent_layers,
      2);
  EXPECT_EQ(from_text(small("bailing_moe_linear", "")).hybrid.kind, Recurrence::none);
}

TEST(HuggingFaceConfig, TakesLayersWithExpertsFromTheirList) {
  const Model m = from_text(small("llama4_text", R"("num_local_experts": 8, "moe_layers": [1, 3],
      "interleave_moe_layer_step": 1, "intermediate_size_mlp": 256)"));
  EXPECT_EQ(m.experts.dense_layers, 2);
  EXPECT_TRUE(m.experts.spread);
  EXPECT_EQ(m.experts.ffn, 128);
  EXPECT_EQ(m.ffn, 256);
}

TEST(HuggingFaceConfig, SaysWhyItHasNoReader) {
  const std::pair<const char*, const char*> types[] = {
      {"bert", "model_type: 'bert' is an encoder, which makes no token after another"},
      {"rwkv7", "'rwkv7' has a recurrence that is not modelled"},
      {"phi4flash", "'phi4flash' has attention to what an earlier layer kept"},
      {"longcat_flash_ngram", "'longcat_flash_ngram' has embeddings of several tokens together"},
      {"recurrent_gemma", "'recurrent_gemma' has a recurrence that is not modelled"},
      {"minimax_m3", "'minimax_m3' has attention that chooses blocks"},
      {"zamba2", "'zamba2' has layers that share their weights"},
      {"openelm", "'openelm' has layers of different widths"},
      {"superllama",
       "if its layers are those of a family that is known, give that family's "
       "model_type; known are"},
  };
  for (const auto& [type, words] : types) {
    EXPECT_THAT(complaint(small(type, "")), HasSubstr(words));
  }
  EXPECT_THAT(complaint(small("t5", R"("is_encoder_decoder": true)")),
              HasSubstr("'t5' has an encoder and a decoder"));
}

TEST(HuggingFaceConfig, FindsTheLanguageModel) {
  const std::string text = small("qwen2", "");
  for (const char* key : {"text_config", "llm_config", "language_config"}) {
    EXPECT_EQ(
        from_text(R"({"model_type": "other", ")" + std::string(key) + R"(": )" + text + "}").hidden,
        64)
        << key;
  }
  const Model spoken = from_text(R"({"model_type": "qwen2_5_omni", "thinker_config":
    {"audio_config": {}, "text_config": )" +
                                 text + "}}");
  EXPECT_EQ(spoken.hidden, 64);
  EXPECT_THAT(spoken.notes, HasSubstr("its tower for sound is not counted"));
  EXPECT_THAT(spoken.notes, HasSubstr("what makes speech is not counted"));
  // Only inside a multimodal model does absence mean the default of the class.
  EXPECT_EQ(from_text(R"({"text_config": {"model_type": "mistral"}})").attention.kv_heads, 8);
  EXPECT_THAT(complaint(R"({"model_type": "mistral"})"), HasSubstr("hidden_size: missing"));
}

/// Layers pruned one by one: some without attention, MLPs of many widths.
TEST(HuggingFaceConfig, ReadsPrunedLayers) {
  const Model m = from_text(R"({"model_type": "nemotron-nas", "hidden_size": 8192,
    "intermediate_size": null, "num_hidden_layers": 3, "num_attention_heads": 64,
    "num_key_value_heads": null, "vocab_size": 100, "block_configs": [
      {"attention": {"n_heads_in_group": 8}, "ffn": {"ffn_mult": 5.25}},
      {"attention": {"no_op": true, "n_heads_in_group": null}, "ffn": {"ffn_mult": 2.625}},
      {"attention": {"n_heads_in_group": 8}, "ffn": {"no_op": true, "ffn_mult": null}}]})");
  EXPECT_EQ(m.hybrid.attention_layers, 2);
  EXPECT_EQ(m.hybrid.mlp_layers, 2);
  EXPECT_EQ(m.attention.kv_heads, 8);
  EXPECT_EQ(m.ffn, 21504);  // of 28672 and 14336
}

/// A small Qwen whose vision_config is given.
std::string seeing(const std::string& tower) {
  return small("qwen2_5_vl", R"("vision_config": )" + tower);
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
  for (const auto& [type, projectors] : {std::pair{"qwen3_vl", 4}, std::pair{"qwen3_5", 1}}) {
    EXPECT_EQ(from_text(seeing(R"({"model_type": ")" + std::string(type) + R"(", "depth": 8,
      "hidden_size": 32, "intermediate_size": 96, "num_heads": 2})"))
                  .vision.projectors,
              projectors);
  }
}

TEST(HuggingFaceConfig, NamesWhatItDoesNotKnowOfATower) {
  const Model convolved = from_text(seeing(R"({"model_type": "gemma3n_vision"})"));
  EXPECT_EQ(convolved.vision.layers, 0);
  EXPECT_THAT(convolved.notes, HasSubstr("its tower for images, MobileNet-V5, is not counted"));
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
