// SPDX-License-Identifier: Apache-2.0
// Families whose layers are attention and one MLP.
// What a key's absence means is written where the key is read, from the configuration classes of
// Hugging Face transformers: many files leave out what their class defaults to.
#include <algorithm>
#include <cstdint>

#include "sextant/io/huggingface_families.hpp"

namespace sextant::hugging_face {

void read_mistral(Config& c, Model& m) {
  read_llama(c, m);
  read_window(c, m, m.layers);
}

void read_qwen3(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.qk_norm = true;
  if (m.attention.head_dim == 0) m.attention.head_dim = 128;
  read_optional_window(c, m);
}

void read_gemma3(Config& c, Model& m) {
  m.layers = c.count({"num_hidden_layers"}, most_layers);
  m.hidden = c.count({"hidden_size"}, most_width);
  m.ffn = c.count({"intermediate_size"}, most);
  m.vocab = c.count_or({"vocab_size"}, 262208, most);
  m.max_context = c.count_or({"max_position_embeddings"}, 131072, most);
  m.mlp = Mlp::geglu;
  m.norm = Norm::rmsnorm;
  m.norms_per_layer = 4;
  m.tied = c.flag({"tie_word_embeddings"}, true);
  Attention& a = m.attention;
  a.heads = c.count_or({"num_attention_heads"}, 8, most_heads);
  a.kv_heads = c.count_or({"num_key_value_heads"}, 4, most_heads);
  a.head_dim = c.count_or({"head_dim"}, 256, most_heads);
  a.qkv_bias = a.output_bias = c.flag({"attention_bias"}, false);
  a.qk_norm = true;
  const int pattern = c.count_or({"sliding_window_pattern"}, 6, most_layers);
  read_window(c, m, m.layers - every(pattern, m.layers), 4096);
}

void read_hunyuan_dense(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.qk_norm = c.flag({"use_qk_norm"}, false);
  if (c.flag({"use_cla"}, false)) {
    // Layers share keys and values with the one before, in groups of so many.
    const int share = std::max(1, c.count_or({"cla_share_factor"}, 1, most_layers));
    m.attention.kv_shared_layers = m.layers - (m.layers + share - 1) / share;
  }
  if (c.flag({"use_mla"}, false)) c.problem("use_mla", "no Hunyuan with latent attention is known");
}

void read_exaone4(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.qk_norm = true;
  // "LLLG", local but for every fourth; or a number, that fourth.
  int windowed = m.layers;
  if (c.has_word("sliding_window_pattern")) {
    const std::string pattern = c.word("sliding_window_pattern");
    const auto size = static_cast<int>(pattern.size());
    const int global = static_cast<int>(std::count(pattern.begin(), pattern.end(), 'G'));
    if (size > 0) windowed -= m.layers / size * global;
  } else {
    windowed -= every(c.count_or({"sliding_window_pattern"}, 0, most_layers), m.layers);
  }
  read_window(c, m, windowed);
}

namespace {

/// Qwen 1: intermediate_size counts gate and up together.
void read_qwen(Config& c, Model& m) {
  read_llama(c, m);
  m.ffn /= 2;
  m.attention.qkv_bias = true;
}

void read_qwen2(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.qkv_bias = true;
  m.attention.output_bias = false;
  read_optional_window(c, m);
}

void read_glm(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.output_bias = false;
}

void read_glm4(Config& c, Model& m) {
  read_glm(c, m);
  m.norms_per_layer = 4;
}

void read_chatglm(Config& c, Model& m) {
  read_shape(c, m);
  m.ffn = c.count({"ffn_hidden_size"}, most);
  m.mlp = Mlp::swiglu;
  m.norm = Norm::rmsnorm;
  m.attention.kv_heads =
      c.flag({"multi_query_attention"}, false) ? c.count({"multi_query_group_num"}, most_heads) : 0;
  m.attention.head_dim = c.count_or({"kv_channels"}, 0, most_heads);
  m.attention.qkv_bias = c.flag({"add_qkv_bias"}, false);
  m.tied = c.flag({"tie_word_embeddings"}, false);
}

void read_gemma(Config& c, Model& m) {
  read_llama(c, m);
  m.mlp = Mlp::geglu;  // Gemma 1 files say "gelu" or nothing; its class knows one kind only
  m.tied = c.flag({"tie_word_embeddings"}, true);
  if (m.attention.head_dim == 0) m.attention.head_dim = 256;
}

void read_gemma2(Config& c, Model& m) {
  read_gemma(c, m);
  m.norms_per_layer = 4;
  read_window(c, m, m.layers - m.layers / 2, 4096);
}

/// GPT's kind: norms with biases, and an MLP without a gate.
void read_plain(Config& c, Model& m, std::string_view key, std::string_view activation, bool tied) {
  read_shape(c, m);
  read_activation(c, {key}, activation, Gate::plain, m);
  m.norm_bias = true;
  m.tied = c.flag({"tie_word_embeddings"}, tied);
}

void read_gpt2(Config& c, Model& m) {
  read_plain(c, m, "activation_function", "gelu_new", true);
  m.ffn = c.count_or({"n_inner"}, 0, most);
  all_biases(m, true);
  m.position = Position::learned;
}

void read_gpt_neox(Config& c, Model& m) {
  read_plain(c, m, "hidden_act", "gelu", false);
  m.ffn = c.count({"intermediate_size"}, most);
  all_biases(m, true);
  m.attention.qkv_bias = m.attention.output_bias = c.flag({"attention_bias"}, true);
  m.parallel_block = c.flag({"use_parallel_residual"}, true);
}

void read_gptj(Config& c, Model& m) {
  read_plain(c, m, "activation_function", "gelu_new", false);
  m.ffn = c.count_or({"n_inner"}, 0, most);
  m.mlp_bias = m.head_bias = m.parallel_block = true;
  m.norms_per_layer = 1;
}

void read_phi(Config& c, Model& m) {
  read_plain(c, m, "hidden_act", "gelu_new", false);
  m.ffn = c.count({"intermediate_size"}, most);
  m.attention.kv_heads = c.count_or({"num_key_value_heads"}, 0, most_heads);
  all_biases(m, true);
  m.head_bias = m.parallel_block = true;
  m.norms_per_layer = 1;
}

void read_opt(Config& c, Model& m) {
  read_plain(c, m, "activation_function", "relu", true);
  m.ffn = c.count({"ffn_dim"}, most);
  all_biases(m, c.flag({"enable_bias"}, true));
  m.position = Position::learned;
  const int width = c.count_or({"word_embed_proj_dim"}, m.hidden, most_width);
  if (width != m.hidden) m.embedding_width = width;
}

void read_bloom(Config& c, Model& m) {
  read_shape(c, m);
  m.mlp = Mlp::gelu;
  all_biases(m, true);
  m.norm_bias = m.embedding_norm = true;
  m.position = Position::alibi;
  if (m.max_context == 0) m.max_context = 2048;
  m.tied = c.flag({"tie_word_embeddings"}, true);
}

/// Falcon 7B has one key-value head and one norm, 40B and 180B ("new decoder") several and two.
void read_falcon(Config& c, Model& m) {
  read_plain(c, m, "activation", "gelu", true);
  if (m.max_context == 0) m.max_context = 2048;
  m.ffn = c.count_or({"ffn_hidden_size"}, 0, most);
  all_biases(m, c.flag({"bias"}, false));
  m.position = c.flag({"alibi"}, false) ? Position::alibi : Position::rope;
  const bool recent = c.flag({"new_decoder_architecture"}, false);
  m.parallel_block = c.flag({"parallel_attn"}, true) || recent;
  if (recent) {
    m.attention.kv_heads = c.count_or({"num_kv_heads", "n_head_kv"}, 0, most_heads);
    m.norms_per_layer = c.count_or({"num_ln_in_parallel_attn"}, 2, 8);
  } else {
    m.attention.kv_heads = c.flag({"multi_query"}, true) ? 1 : 0;
    for (const char* key : {"num_kv_heads", "n_head_kv"}) c.pass_over(key);
    m.norms_per_layer = m.parallel_block ? 1 : 2;
  }
}

void read_mpt(Config& c, Model& m) {
  read_shape(c, m);
  const int ratio = c.count_or({"expansion_ratio"}, 4, 1000);
  m.ffn = static_cast<int>(std::min<std::int64_t>(most, std::int64_t{ratio} * m.hidden));
  m.mlp = Mlp::gelu;
  const bool biases = !c.flag({"no_bias"}, true);
  all_biases(m, biases);
  m.norm_bias = biases;
  m.tied = c.flag({"tie_word_embeddings"}, true);
  Config attention = c.section("attn_config");
  if (attention.flag({"alibi"}, false)) {
    m.position = Position::alibi;
  } else {
    m.position = c.flag({"learned_pos_emb"}, true) ? Position::learned : Position::none;
  }
  const std::string kind = attention.word({"attn_type"}, "multihead_attention");
  if (kind == "multiquery_attention") m.attention.kv_heads = 1;
  if (kind == "grouped_query_attention") {
    m.attention.kv_heads = attention.count({"kv_n_heads"}, most_heads);
  }
}

/// Nemotron 3 and 4, Minitron: LayerNorm with an offset of one, squared ReLU.
void read_nemotron(Config& c, Model& m) {
  read_plain(c, m, "hidden_act", "relu2", false);
  m.ffn = c.count({"intermediate_size"}, most);
  m.attention.kv_heads = c.count_or({"num_key_value_heads"}, 0, most_heads);
  m.attention.head_dim = c.count_or({"head_dim"}, 0, most_heads);
  m.attention.qkv_bias = m.attention.output_bias = c.flag({"attention_bias"}, false);
  m.mlp_bias = c.flag({"mlp_bias"}, false);
}

/// OLMo 1 norms have no weights.
void read_olmo(Config& c, Model& m) {
  read_llama(c, m);
  m.norm = Norm::layernorm;
  m.norms_per_layer = 0;
}

void read_olmo2(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.qk_norm_wide = true;
}

void read_olmo3(Config& c, Model& m) {
  read_olmo2(c, m);
  read_window(c, m, m.layers - every(4, m.layers));
}

void read_cohere(Config& c, Model& m) {
  read_llama(c, m);
  m.norm = Norm::layernorm;
  m.norms_per_layer = 1;
  m.parallel_block = true;
  m.tied = c.flag({"tie_word_embeddings"}, true);
  m.attention.qk_norm_wide = c.flag({"use_qk_norm"}, false);
}

/// Every fourth layer sees everything, without positions.
void read_cohere2(Config& c, Model& m) {
  read_cohere(c, m);
  const int pattern = c.count_or({"sliding_window_pattern", "layer_switch"}, 4, most_layers);
  read_window(c, m, m.layers - every(pattern, m.layers), 4096);
}

void read_starcoder2(Config& c, Model& m) {
  read_plain(c, m, "hidden_act", "gelu_pytorch_tanh", true);
  m.ffn = c.count({"intermediate_size"}, most);
  m.attention.kv_heads = c.count_or({"num_key_value_heads"}, 2, most_heads);
  all_biases(m, c.flag({"use_bias"}, true));
  read_window(c, m, m.layers);
}

/// Llama 3.2 Vision: some layers look at images alone; the class has eight of forty.
void read_mllama(Config& c, Model& m) {
  read_llama(c, m);
  const std::vector<Node>* layers = c.list("cross_attention_layers");
  m.vision.cross_layers = layers == nullptr ? 8 : static_cast<int>(layers->size());
}

/// StarCoder: GPT-2 with one key-value head.
void read_gpt_bigcode(Config& c, Model& m) {
  read_gpt2(c, m);
  m.attention.kv_heads = c.flag({"multi_query"}, true) ? 1 : 0;
}

/// Queries, keys and values without biases, and every other layer with a window.
void read_gpt_neo(Config& c, Model& m) {
  read_plain(c, m, "activation_function", "gelu_new", true);
  m.ffn = c.count_or({"intermediate_size"}, 0, most);
  m.mlp_bias = m.attention.output_bias = true;
  m.position = Position::learned;
  const int window = c.count_or({"window_size"}, 256, most);
  int local = m.layers / 2;
  if (const std::vector<Node>* layers = c.list("attention_layers")) {
    local = static_cast<int>(std::count_if(layers->begin(), layers->end(),
                                           [](const Node& n) { return n.string == "local"; }));
  }
  if (local == 0) return;
  m.attention.window = window;
  m.attention.window_layers = local;
}

void read_stablelm(Config& c, Model& m) {
  read_llama(c, m);
  m.norm = Norm::layernorm;
  m.norm_bias = true;
  m.attention.qkv_bias = c.flag({"use_qkv_bias"}, false);
  m.attention.qk_norm_wide = c.flag({"qk_layernorm"}, false);
  m.parallel_block = c.flag({"use_parallel_residual"}, false);
  if (m.parallel_block) m.norms_per_layer = 1;
}

void read_internlm3(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.output_bias = m.mlp_bias = c.flag({"bias"}, false);
  m.attention.qkv_bias = c.flag({"qkv_bias"}, false);
}

/// Llama where files that say nothing have one table of tokens.
void read_tied_llama(Config& c, Model& m) {
  read_llama(c, m);
  m.tied = c.flag({"tie_word_embeddings"}, true);
  read_optional_window(c, m);
}

void read_ernie(Config& c, Model& m) {
  read_tied_llama(c, m);
  all_biases(m, c.flag({"use_bias"}, false));
}

void read_seed_oss(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.qkv_bias = c.flag({"attention_bias"}, true);
  m.attention.output_bias = c.flag({"attention_out_bias"}, false);
}

/// Of the Llama kind but for an MLP without a gate.
void read_arcee(Config& c, Model& m) { read_llama(c, m, Gate::plain, "relu2"); }

void read_apertus(Config& c, Model& m) {
  read_llama(c, m, Gate::plain, "xielu");
  m.attention.qk_norm = c.flag({"qk_norm"}, true);
}

void read_mimo(Config& c, Model& m) {
  read_qwen2(c, m);
  m.attention.qkv_bias = c.flag({"attention_bias"}, true);
}

void read_persimmon(Config& c, Model& m) {
  read_plain(c, m, "hidden_act", "relu2", false);
  m.ffn = c.count({"intermediate_size"}, most);
  all_biases(m, true);
  m.attention.qk_norm = c.flag({"qk_layernorm"}, true);
}

void read_orion(Config& c, Model& m) {
  read_llama(c, m);
  m.norm = Norm::layernorm;
  m.norm_bias = true;
}

constexpr Family all_dense[] = {{"RefinedWeb", "Falcon", read_falcon},
                                {"RefinedWebModel", "Falcon", read_falcon},
                                {"Yi", "Yi", read_llama},
                                {"apertus", "Apertus", read_apertus},
                                {"aquila", "Aquila", read_llama},
                                {"arcee", "Arcee", read_arcee},
                                {"baichuan", "Baichuan", read_llama},
                                {"bloom", "BLOOM", read_bloom},
                                {"chatglm", "GLM", read_chatglm},
                                {"codegen", "CodeGen", read_gptj},
                                {"cohere", "Command R", read_cohere},
                                {"cohere2", "Command R", read_cohere2},
                                {"ernie4_5", "ERNIE", read_ernie},
                                {"exaone", "EXAONE", read_tied_llama},
                                {"exaone4", "EXAONE", read_exaone4},
                                {"falcon", "Falcon", read_falcon},
                                {"gemma", "Gemma", read_gemma},
                                {"gemma2", "Gemma 2", read_gemma2},
                                {"gemma3", "Gemma 3", read_gemma3},
                                {"gemma3_text", "Gemma 3", read_gemma3},
                                {"glm", "GLM", read_glm},
                                {"glm4", "GLM", read_glm4},
                                {"glm4v_text", "GLM", read_glm4},
                                {"gpt2", "GPT-2", read_gpt2},
                                {"gpt_bigcode", "StarCoder", read_gpt_bigcode},
                                {"gpt_neo", "GPT-Neo", read_gpt_neo},
                                {"gpt_neox", "GPT-NeoX", read_gpt_neox},
                                {"gptj", "GPT-J", read_gptj},
                                {"granite", "Granite", read_llama},
                                {"helium", "Helium", read_llama},
                                {"hunyuan_v1_dense", "Hunyuan", read_hunyuan_dense},
                                {"internlm", "InternLM", read_llama},
                                {"internlm2", "InternLM", read_llama},
                                {"internlm3", "InternLM", read_internlm3},
                                {"llama", "Llama", read_llama},
                                {"mimo", "MiMo", read_mimo},
                                {"minicpm", "MiniCPM", read_tied_llama},
                                {"ministral", "Mistral", read_mistral},
                                {"ministral3", "Mistral", read_mistral},
                                {"mistral", "Mistral", read_mistral},
                                {"mllama", "Llama 3.2", read_mllama},
                                {"mllama_text_model", "Llama 3.2", read_mllama},
                                {"mpt", "MPT", read_mpt},
                                {"nemotron", "Nemotron", read_nemotron},
                                {"olmo", "OLMo", read_olmo},
                                {"olmo2", "OLMo 2", read_olmo2},
                                {"olmo3", "OLMo 3", read_olmo3},
                                {"opt", "OPT", read_opt},
                                {"orion", "Orion", read_orion},
                                {"persimmon", "Persimmon", read_persimmon},
                                {"phi", "Phi", read_phi},
                                {"phi3", "Phi", read_mistral},
                                {"qwen", "Qwen", read_qwen},
                                {"qwen2", "Qwen2", read_qwen2},
                                {"qwen2_5_omni_text", "Qwen2.5-Omni", read_qwen2},
                                {"qwen2_5_vl", "Qwen2.5-VL", read_qwen2},
                                {"qwen2_5_vl_text", "Qwen2.5-VL", read_qwen2},
                                {"qwen2_vl", "Qwen2-VL", read_qwen2},
                                {"qwen2_vl_text", "Qwen2-VL", read_qwen2},
                                {"qwen3", "Qwen3", read_qwen3},
                                {"qwen3_vl", "Qwen3-VL", read_qwen3},
                                {"qwen3_vl_text", "Qwen3-VL", read_qwen3},
                                {"seed_oss", "Seed-OSS", read_seed_oss},
                                {"smollm3", "SmolLM", read_tied_llama},
                                {"stablelm", "StableLM", read_stablelm},
                                {"starcoder2", "StarCoder2", read_starcoder2},
                                {"xverse", "XVERSE", read_llama}};

}  // namespace

std::span<const Family> dense_families() { return all_dense; }

}  // namespace sextant::hugging_face
