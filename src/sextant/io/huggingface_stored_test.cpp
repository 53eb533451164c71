// SPDX-License-Identifier: Apache-2.0
// What checkpoints say of their weights, what they are multiplied with, and their cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/io/files.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/test_huggingface.hpp"
#include "sextant/io/test_support.hpp"

namespace sextant {
namespace {

using test::complaint;
using test::from_text;
using test::small;
using ::testing::HasSubstr;

/// A small Llama whose quantization_config is given.
std::string quantised(const std::string& how) {
  return small("llama", R"("quantization_config": )" + how);
}

TEST(HuggingFaceConfig, ReadsWhatTheCacheIsMadeFor) {
  struct Known {
    const char* how;
    CheckpointCache cache;
  };
  using enum CheckpointCache;
  for (const Known& k :
       {Known{R"({"quant_method": "fp8", "weight_block_size": [128, 128]})", unsaid},
        Known{R"({"quant_method": "modelopt", "quant_algo": "FP8"})", wide},
        Known{R"({"quant_method": "mxfp4"})", wide},
        Known{R"({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": null})",
              wide},
        Known{
            R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"})",
            narrow},
        Known{R"({"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}})", narrow},
        Known{R"({"quant_method": "compressed-tensors", "kv_cache_scheme": null, "config_groups":
               {"group_0": {"weights": {"num_bits": 8, "type": "float"}}}})",
              wide},
        Known{R"({"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 8, "type":
               "float"}, "config_groups": {"group_0": {"weights": {"num_bits": 4}}}})",
              narrow}}) {
    EXPECT_EQ(from_text(quantised(k.how)).cache, k.cache) << k.how;
  }
}

TEST(HuggingFaceConfig, ReadsWhatWeightsAreMultipliedWith) {
  struct Known {
    const char* how;
    Precision stored;
    Activations activations;
  };
  for (const Known& k :
       {Known{R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {
               "weights": {"num_bits": 8, "type": "int"},
               "input_activations": {"num_bits": 8, "type": "int", "dynamic": true}}}})",
              Precision::int8, Activations::int8},
        Known{R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {
               "weights": {"num_bits": 8, "type": "float"},
               "input_activations": {"num_bits": 8, "type": "float"}}}})",
              Precision::fp8, Activations::fp8},
        Known{R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {
               "weights": {"num_bits": 8, "type": "float"}, "input_activations": null}}})",
              Precision::fp8, Activations::wide},
        Known{R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {
               "weights": {"num_bits": 4, "type": "float", "group_size": 16}}}})",
              Precision::fp4, Activations::wide},
        Known{R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {
               "weights": {"num_bits": 4, "type": "float", "group_size": 16},
               "input_activations": {"num_bits": 4, "type": "float"}}}})",
              Precision::fp4, Activations::usual},
        Known{R"({"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"})", Precision::int4,
              Activations::fp8},
        Known{R"({"quant_method": "modelopt", "quant_algo": "W4A8_MXFP4_FP8"})", Precision::fp4,
              Activations::fp8},
        Known{R"({"quant_method": "modelopt", "quant_algo": "W4A16_NVFP4"})", Precision::fp4,
              Activations::wide},
        Known{R"({"quant_method": "modelopt", "quant_algo": "INT8_SQ"})", Precision::int8,
              Activations::int8},
        Known{R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})", Precision::fp4,
              Activations::usual},
        Known{R"({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "int8"},
               "input_tensors": {"dtype": "int8"}}})",
              Precision::int8, Activations::int8},
        Known{R"({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4"},
               "input_tensors": {"dtype": "fp4"}}})",
              Precision::fp4, Activations::usual},
        Known{R"({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4"},
               "input_tensors": null}})",
              Precision::fp4, Activations::wide},
        Known{R"({"quant_method": "torchao", "quant_type": {"default":
               {"_type": "Int8DynamicActivationInt8WeightConfig"}}})",
              Precision::int8, Activations::int8},
        Known{R"({"quant_method": "torchao", "quant_type": "float8_weight_only"})", Precision::fp8,
              Activations::wide},
        Known{R"({"quant_method": "auto-round", "bits": 8, "act_bits": 8, "data_type": "int"})",
              Precision::int8, Activations::int8},
        Known{R"({"quant_method": "gptq", "bits": 8})", Precision::int8, Activations::usual}}) {
    const Model m = from_text(quantised(k.how));
    EXPECT_EQ(m.stored, k.stored) << k.how;
    EXPECT_EQ(m.activations, k.activations) << k.how;
  }
}

TEST(HuggingFaceConfig, ReadsWhatWeightsAreStoredIn) {
  struct Known {
    const char* how;
    Precision stored;
    int fp4_block = 16;
  };
  for (const Known& k :
       {Known{"null", Precision::bf16},
        Known{R"({"quant_method": "fp8", "weight_block_size": [128, 128]})", Precision::fp8},
        Known{R"({"quant_method": "mxfp4"})", Precision::fp4, 32},
        Known{R"({"quant_method": "mxfp8"})", Precision::fp8},
        Known{R"({"quant_method": "awq", "bits": 4, "group_size": 128})", Precision::int4},
        Known{R"({"quant_method": "gptq", "bits": 8})", Precision::int8},
        Known{R"({"quant_method": "bitsandbytes", "load_in_8bit": true})", Precision::int8},
        Known{R"({"quant_method": "bitsandbytes", "load_in_4bit": true})", Precision::int4},
        Known{R"({"quant_method": "bitsandbytes", "load_in_4bit": false})", Precision::bf16},
        Known{R"({"load_in_4bit": true, "bnb_4bit_quant_type": "nf4"})", Precision::int4},
        Known{R"({"quant_method": "finegrained_fp8"})", Precision::fp8},
        Known{R"({"quant_method": "eetq"})", Precision::int8},
        Known{R"({"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 8}}})",
              Precision::int8},
        Known{R"({"quant_method": "torchao", "quant_type": "int4_weight_only"})", Precision::int4},
        Known{R"({"quant_method": "torchao", "quant_type": "float8_dynamic_activation"})",
              Precision::fp8},
        Known{R"({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4"}}})",
              Precision::fp4, 32},
        Known{R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})", Precision::fp4},
        Known{R"({"quant_method": "modelopt_fp4", "quant_algo": "W4A8_MXFP4_FP8"})", Precision::fp4,
              32},
        Known{R"({"quant_method": "compressed-tensors", "config_groups": {"group_0":
               {"weights": {"num_bits": 4, "type": "float", "group_size": 32}}}})",
              Precision::fp4, 32},
        Known{R"({"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"})", Precision::int4},
        Known{R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {
               "model.layers.0.mlp.up_proj": {"quant_algo": "NVFP4", "group_size": 16},
               "model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"}}})",
              Precision::fp4},
        Known{R"({"quantization": {"quant_algo": "MIXED_PRECISION", "quantized_layers": {
               "model.layers.0.mlp.up_proj": {"quant_algo": "W4A8_MXFP4_FP8"}}}})",
              Precision::fp4, 32},
        Known{R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "config_groups":
               {"group_0": {"weights": {"num_bits": 8, "type": "float"},
                            "targets": ["model.layers.0.mlp.up_proj"]}}})",
              Precision::fp8},
        Known{R"({"group_size": 64, "bits": 4, "mode": "affine"})", Precision::int4},
        Known{R"({"group_size": 32, "bits": 4, "mode": "mxfp4"})", Precision::fp4, 32},
        Known{R"({"group_size": 64, "bits": 8})", Precision::int8},
        Known{R"({"quant_method": "auto-round", "bits": 4, "data_type": "int"})", Precision::int4},
        Known{R"({"quant_method": "auto-round", "bits": 4, "data_type": "mx_fp"})", Precision::fp4,
              32},
        Known{R"({"quant_method": "torchao", "quant_type": {"default":
               {"_type": "Int8DynamicActivationInt4WeightConfig"}}})",
              Precision::int4},
        Known{R"({"quant_method": "modelopt", "config_groups": {"group_0":
               {"weights": {"num_bits": 4, "type": "float", "group_size": 16}}}})",
              Precision::fp4},
        Known{R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8"}})",
              Precision::fp8},
        Known{R"({"quant_method": "compressed-tensors", "config_groups": {}, "kv_cache_scheme":
               {"num_bits": 8, "type": "float"}})",
              Precision::bf16},
        Known{R"({"quant_method": "compressed-tensors", "config_groups": {"group_0":
               {"weights": {"num_bits": 8, "type": "float"}}}})",
              Precision::fp8},
        Known{R"({"quant_method": "compressed-tensors", "config_groups": {"group_0":
               {"weights": {"num_bits": 4, "type": "int"}, "input_activations": null}}})",
              Precision::int4}}) {
    const Model m = from_text(quantised(k.how));
    EXPECT_EQ(m.stored, k.stored) << k.how;
    EXPECT_EQ(m.fp4_block, k.fp4_block) << k.how;
  }
  const char* rows = R"({"quant_method": "fp8", "activation_scheme": "static"})";
  EXPECT_FALSE(from_text(quantised(rows)).block_scales);
  const char* blocks = R"({"quant_method": "fp8", "weight_block_size": [128, 128]})";
  EXPECT_TRUE(from_text(quantised(blocks)).block_scales);
  EXPECT_TRUE(from_text(quantised(R"({"quant_method": "compressed-tensors", "config_groups":
      {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "block"}}}})"))
                  .block_scales);
  EXPECT_TRUE(from_text(quantised(R"({"quant_method": "modelopt", "quant_algo": "FP8_PB_WO"})"))
                  .block_scales);
  EXPECT_THAT(complaint(quantised(R"({"quant_method": "modelopt", "quant_algo": "W3A16"})")),
              HasSubstr("quantization_config.quant_algo: expected weights of 4 or 8 bits"));
  EXPECT_THAT(
      complaint(quantised(R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"})")),
      HasSubstr("quantization_config.quantized_layers: expected weights of 4 or 8 bits"));
  EXPECT_THAT(complaint(quantised(R"({"group_size": 64, "bits": 6})")),
              HasSubstr("quantization_config.bits: expected weights of 4 or 8 bits"));
  EXPECT_THAT(complaint(quantised(R"({"quant_method": "torchao", "quant_type": {"default":
      {"_type": "IntxWeightOnlyConfig"}}})")),
              HasSubstr("quant_type: expected weights of 4 or 8 bits"));
  EXPECT_THAT(complaint(quantised(R"({"quant_method": "aqlm"})")),
              HasSubstr("no quantisation by 'aqlm' is known"));
  EXPECT_THAT(complaint(quantised(R"({"quant_method": "gptq", "bits": 3})")),
              HasSubstr("expected weights of 4 or 8 bits"));
  EXPECT_THAT(complaint(quantised("{}")), HasSubstr("quant_method"));
  EXPECT_THAT(complaint(quantised("7")), HasSubstr("a table"));
}

TEST(HuggingFaceConfig, ReadsWhatWeightsAreStoredInWithoutTheTable) {
  EXPECT_EQ(from_text(small("llama", R"("quantization": {"group_size": 64, "bits": 4})")).stored,
            Precision::int4);
  EXPECT_EQ(from_text(small("llama", R"("compression_config": {"config_groups": {"group_0":
      {"weights": {"num_bits": 8, "type": "int"}}}})"))
                .stored,
            Precision::int8);
  EXPECT_EQ(
      from_text(small("llama", R"("quantization": {"group_size": 16, "bits": 4, "mode": "nvfp4"},
      "quantization_config": {"group_size": 16, "bits": 4, "mode": "nvfp4"})"))
          .stored,
      Precision::fp4);
  EXPECT_EQ(from_text(small("llama", R"("torch_dtype": "float8_e4m3fn")")).stored, Precision::fp8);
  EXPECT_EQ(from_text(small("llama", R"("torch_dtype": "float32")")).stored, Precision::bf16);
}

TEST(HuggingFaceConfig, ReadsWhatStaysWide) {
  struct Row {
    const char* how;
    Narrow dense, experts, shared;  ///< of a dense model, of experts, of experts with a shared one
  };
  const std::string dense = small("llama", "");
  const std::string experts = small("qwen3_moe", R"("num_experts": 8, "num_experts_per_tok": 2,
      "moe_intermediate_size": 32)");
  const std::string shared = small("qwen2_moe", R"("num_experts": 8, "num_experts_per_tok": 2,
      "moe_intermediate_size": 32, "shared_expert_intermediate_size": 64)");
  constexpr Narrow mlps = Narrow::mlps, layers = Narrow::layers, routed = Narrow::experts;
  for (
      const Row& row :
      {Row{R"({"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn",
               "lm_head"]})",
           mlps, routed, mlps},
       Row{R"({"quant_method": "compressed-tensors", "ignore": ["re:.*self_attn.*",
               "re:.*shared_experts.*"],
               "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int"}}}})",
           mlps, routed, routed},
       Row{R"({"quant_method": "modelopt", "quantization": {"quant_algo": "NVFP4",
               "exclude_modules": ["model.layers.0.self_attn*", "model.layers.1.self_attn*",
                                   "model.layers.2.self_attn*", "model.layers.3.self_attn*"]}})",
           mlps, routed, mlps},
       Row{R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]})", layers,
           layers, layers},
       Row{R"({"quant_method": "fp8", "ignored_layers": ["model.layers.0.self_attn.q_proj"]})",
           layers, layers, layers},
       // Parts of names stand for all layers.
       Row{R"({"quant_method": "awq", "modules_to_not_convert": ["self_attn", "shared_expert"]})",
           mlps, routed, routed},
       Row{R"({"quant_method": "quark", "exclude": ["lm_head", "*self_attn*"],
               "global_quant_config": {"weight": {"dtype": "fp4"}}})",
           mlps, routed, mlps},
       Row{R"({"quant_method": "gptq", "bits": 4, "dynamic": {"-:.*attn.*": {}, "+:.*down.*": {}}})",
           mlps, routed, mlps},
       // Modules with a type each: that of most weights counts.
       Row{R"({"quant_method": "compressed-tensors", "config_groups": {
               "group_0": {"weights": {"num_bits": 8, "type": "float"}, "targets": ["Linear"]},
               "group_1": {"weights": {"num_bits": 4, "type": "float"},
                           "targets": ["re:.*mlp.experts.*"]}}})",
           mlps, routed, routed},
       Row{R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {
               "model.layers.0.mlp.experts": {"quant_algo": "NVFP4"},
               "model.layers.0.mlp.shared_expert.up_proj": {"quant_algo": "NVFP4"},
               "model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"}}})",
           mlps, mlps, mlps},
       Row{R"({"quant_method": "mxfp4", "modules_to_not_convert": null})", layers, layers,
           layers}}) {
    const auto read = [&](std::string text) {
      text.insert(text.size() - 1, std::string(R"(, "quantization_config": )") + row.how);
      return from_text(text).narrow;
    };
    EXPECT_EQ(read(dense), row.dense) << row.how;
    EXPECT_EQ(read(experts), row.experts) << row.how;
    EXPECT_EQ(read(shared), row.shared) << row.how;
  }
}

/// Experts that have half the bits of the rest, as files of DeepSeek-V4 and MiMo-V2.6 say it.
TEST(HuggingFaceConfig, ReadsNarrowerExperts) {
  struct Row {
    const char* beside;  ///< in the table of the rest
    const char* outside;
    Precision stored;
    int fp4_block;
  };
  for (const Row& row :
       {Row{"", R"("expert_dtype": "fp4")", Precision::fp4, 32},
        Row{R"(, "store_dtype": "mxfp4")", "", Precision::fp4, 32},
        Row{R"(, "moe_quant_algo": "NVFP4")", "", Precision::fp4, 16},
        Row{"", R"("expert_dtype": "fp4", "moe_quant_algo": "MXFP4")", Precision::fp4, 32},
        Row{"", R"("expert_dtype": "fp8")", Precision::fp8, 16}}) {
    SCOPED_TRACE(std::string(row.beside) + row.outside);
    const std::string outside = row.outside;
    const Model m = from_text(small(
        "qwen3_moe", R"("num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
        "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128])" +
                         std::string(row.beside) + "}" + (outside.empty() ? "" : ", " + outside)));
    const bool apart = row.stored == Precision::fp4;
    EXPECT_EQ(m.stored, row.stored);
    EXPECT_EQ(m.fp4_block, row.fp4_block);
    EXPECT_EQ(m.narrow, apart ? Narrow::experts : Narrow::layers);
    EXPECT_EQ(m.rest, apart ? Precision::fp8 : Precision::bf16);
  }
}

/// Where a checkpoint's folder says it in a file of its own.
TEST(HuggingFaceConfig, ReadsWhatWeightsAreStoredInFromTheFileBeside) {
  struct Row {
    const char* file;
    const char* text;
    Precision stored;
  };
  for (const Row& row :
       {Row{"hf_quant_config.json",
            R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4"}})",
            Precision::fp4},
        Row{"quant_config.json", R"({"zero_point": true, "q_group_size": 128, "w_bit": 4})",
            Precision::int4},
        Row{"quantize_config.json", R"({"bits": 8, "group_size": 128, "desc_act": false})",
            Precision::int8},
        Row{"other.json", R"({"bits": 8})", Precision::bf16}}) {
    SCOPED_TRACE(row.file);
    const test::Folder checkpoint;
    checkpoint.write("config.json", small("llama", ""));
    checkpoint.write(row.file, row.text);
    EXPECT_EQ(load_model(checkpoint.path()).stored, row.stored);
    EXPECT_EQ(load_model(checkpoint.path("config.json")).stored, row.stored);
    checkpoint.write("config.json", quantised(R"({"quant_method": "fp8"})"));
    EXPECT_EQ(load_model(checkpoint.path()).stored, Precision::fp8);
    checkpoint.write("mine.json", small("llama", ""));
    EXPECT_EQ(load_model(checkpoint.path("mine.json")).stored, Precision::bf16);
  }
  const test::Folder checkpoint;
  checkpoint.write("config.json", small("llama", ""));
  checkpoint.write("hf_quant_config.json", R"({"quantization": {"quant_algo": "W3"}})");
  EXPECT_THAT(test::error_of([&] { load_model(checkpoint.path()); }),
              HasSubstr("hf_quant_config.json: quant_algo: expected weights of 4 or 8 bits"));
}

}  // namespace
}  // namespace sextant
