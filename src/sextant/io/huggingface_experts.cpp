// SPDX-License-Identifier: Apache-2.0
// Families with experts, and those of latent attention.
// What a key's absence means is written where the key is read, from the configuration classes of
// Hugging Face transformers: many files leave out what their class defaults to.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "sextant/io/huggingface_families.hpp"

namespace sextant::hugging_face {

void read_bailing_experts(Config& c, Model& m) {
  read_fine_experts(c, m);
  Experts& e = m.experts;
  e.router_bias = c.flag({"moe_router_enable_expert_bias"}, false);
  // Of one shared expert; there may be several.
  const int width = c.count_or({"moe_shared_expert_intermediate_size"}, 0, most);
  if (width > 0 && e.shared > 0) {
    e.shared_ffn = static_cast<int>(std::min<std::int64_t>(most, std::int64_t{width} * e.shared));
  }
}

namespace {

/// Experts as wide as intermediate_size in every layer, by Mixtral's names.
void read_coarse_experts(Config& c, Model& m, int usual_topk) {
  m.experts.count = c.count({"num_local_experts", "num_experts"}, most_heads);
  m.experts.topk = c.count_or({"num_experts_per_tok"}, usual_topk, most_heads);
  m.experts.ffn = m.ffn;
}

void read_mixtral(Config& c, Model& m) {
  read_mistral(c, m);
  read_coarse_experts(c, m, 2);
}

void read_qwen2_moe(Config& c, Model& m) {
  read_like_llama(c, m);
  m.ffn = c.count_or({"intermediate_size"}, 5632, most);
  m.attention.qkv_bias = c.flag({"qkv_bias"}, true);
  m.attention.output_bias = false;
  read_optional_window(c, m);
  read_qwen_experts(c, m);
}

void read_qwen3_moe(Config& c, Model& m) {
  read_qwen3(c, m);
  read_qwen_experts(c, m);
}

/// DeepSeek V2, V3, V3.2, R1 and Kimi K2.
void read_deepseek(Config& c, Model& m) {
  read_llama(c, m);
  read_latent(c, m);
  read_fine_experts(c, m);
}

/// DeepSeek-V4: one key that is also the value, queries and outputs of low rank, a window in every
/// layer. All layers have experts.
void read_deepseek_v4(Config& c, Model& m) {
  read_like_llama(c, m);
  Attention& a = m.attention;
  a.shared_kv = true;
  a.sinks = true;
  a.q_rank = c.count({"q_lora_rank"}, most_heads);
  a.output_rank = c.count({"o_lora_rank"}, most_heads);
  a.output_groups = c.count({"o_groups"}, most_heads);
  a.window = c.count_or({"sliding_window"}, 128, most);
  if (a.window > 0) a.window_layers = m.layers;
  read_fine_experts(c, m);
  m.ffn = m.experts.ffn;
  for (const char* key : {"index_head_dim", "index_n_heads", "qk_nope_head_dim", "qk_rope_head_dim",
                          "num_hash_layers"}) {
    c.pass_over(key);
  }
  note(m, "compressed and sparse attention is modelled as its window of " +
              std::to_string(a.window) + " tokens");
}

/// DeepSeek LLM and DeepSeek-MoE: grouped attention.
void read_deepseek_v1(Config& c, Model& m) {
  read_llama(c, m);
  read_fine_experts(c, m);
}

void read_glm4_moe(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.output_bias = false;
  m.attention.qk_norm = c.flag({"use_qk_norm"}, false);
  read_fine_experts(c, m);
  m.experts.router_bias = m.experts.count > 0;
}

/// GLM-5: DeepSeek-V3.2's attention and indexer.
void read_glm_moe_dsa(Config& c, Model& m) {
  read_deepseek(c, m);
  m.experts.router_bias = m.experts.count > 0;
}

void read_minimax(Config& c, Model& m) {
  read_llama(c, m);
  c.pass_over("mlp_intermediate_size");  // of a dense MLP, which no layer has
  m.attention.qk_norm_wide = c.flag({"use_qk_norm"}, false);
  m.experts.count = c.count({"num_local_experts"}, most_heads);
  m.experts.topk = c.count({"num_experts_per_tok"}, most_heads);
  m.experts.ffn = m.ffn;
  m.experts.router_bias = c.flag({"use_routing_bias"}, true);
}

void read_gpt_oss(Config& c, Model& m) {
  read_llama(c, m);
  Attention& a = m.attention;
  a.qkv_bias = a.output_bias = c.flag({"attention_bias"}, true);
  a.sinks = true;
  read_window(c, m, m.layers - m.layers / 2);
  m.experts.count = c.count({"num_local_experts"}, most_heads);
  m.experts.topk = c.count({"num_experts_per_tok", "experts_per_token"}, most_heads);
  m.experts.ffn = m.ffn;
  m.experts.bias = m.experts.router_bias = true;
}

/// Experts in every interleave_moe_layer_step-th layer, beside one shared expert as wide.
void read_llama4(Config& c, Model& m) {
  read_llama(c, m);
  Attention& a = m.attention;
  a.window = c.count_or({"attention_chunk_size"}, 0, most);
  // Every fourth layer has neither positions nor chunks.
  const int chunked =
      m.layers - every(c.count_or({"no_rope_layer_interval"}, 4, most_layers), m.layers);
  if (a.window > 0)
    a.window_layers = layers_unlike(c, m, "full_attention", {"chunked_attention"}, chunked);
  const int dense = c.count_or({"intermediate_size_mlp"}, m.ffn, most);
  const int step = c.count_or({"interleave_moe_layer_step"}, 1, most_layers);
  int sparse = every(step, m.layers);
  if (const std::vector<Node>* layers = c.list("moe_layers")) {
    sparse = static_cast<int>(std::min<std::size_t>(layers->size(), std::size_t(m.layers)));
  }
  Experts& e = m.experts;
  const int topk = c.count_or({"num_experts_per_tok"}, 1, most_heads);
  e.count = c.count_or({"num_local_experts"}, 16, most_heads);
  if (e.count == 0 || sparse == 0) {  // Llama Guard 4
    e.count = 0;
    m.ffn = dense;
    return;
  }
  e.topk = topk;
  e.ffn = m.ffn;
  e.shared = 1;
  e.dense_layers = m.layers - sparse;
  e.spread = e.dense_layers > 0;
  if (e.dense_layers > 0) m.ffn = dense;
}

void read_gemma4(Config& c, Model& m) {
  read_gemma3(c, m);
  Attention& a = m.attention;
  a.global_head_dim = c.count_or({"global_head_dim"}, 512, most_heads);
  a.global_shared_kv = c.flag({"attention_k_eq_v"}, false);
  if (a.global_shared_kv) {
    a.global_kv_heads = c.count_or({"num_global_key_value_heads"}, 0, most_heads);
  }
  a.kv_shared_layers = c.count_or({"num_kv_shared_layers"}, 0, most_layers);
  m.per_layer_embedding = c.count_or({"hidden_size_per_layer_input"}, 256, most_heads);
  if (c.flag({"use_double_wide_mlp"}, false)) m.wide_mlp_layers = a.kv_shared_layers;
  if (!c.flag({"enable_moe_block"}, false)) return;
  Experts& e = m.experts;
  e.count = c.count({"num_experts"}, most_heads);
  e.topk = c.count({"top_k_experts"}, most_heads);
  e.ffn = c.count({"moe_intermediate_size"}, most);
  e.shared = 1;  // the dense MLP runs beside the experts
  e.shared_ffn = m.ffn;
  m.norms_per_layer = 7;
}

/// Gemma 3n. What keeps several streams of a token beside each other (AltUp) and what is added to
/// its residuals (LAuReL) is small.
void read_gemma3n(Config& c, Model& m) {
  read_gemma3(c, m);
  m.attention.kv_shared_layers = c.count_or({"num_kv_shared_layers"}, 15, most_layers);
  m.per_layer_embedding = c.count_or({"hidden_size_per_layer_input"}, 256, most_heads);
  c.pass_over("laurel_rank");
  note(m, "AltUp and LAuReL, less than 1 % of its weights, are not counted");
}

void read_dbrx(Config& c, Model& m) {
  read_shape(c, m);
  m.mlp = Mlp::swiglu;
  m.tied = c.flag({"tie_word_embeddings"}, false);
  m.attention.kv_heads = c.section("attn_config").count_or({"kv_n_heads"}, 1, most_heads);
  Config ffn = c.section("ffn_config");
  m.ffn = ffn.count({"ffn_hidden_size"}, most);
  m.experts.count = ffn.count({"moe_num_experts"}, most_heads);
  m.experts.topk = ffn.count({"moe_top_k"}, most_heads);
  m.experts.ffn = m.ffn;
}

void read_grok(Config& c, Model& m) {
  read_llama(c, m);
  m.mlp = Mlp::geglu;
  m.norms_per_layer = 4;
  read_coarse_experts(c, m, 2);
}

/// Phi-3.5-MoE: LayerNorm, biases around attention.
void read_phimoe(Config& c, Model& m) {
  read_mistral(c, m);
  m.norm = Norm::layernorm;
  m.norm_bias = true;
  m.head_bias = c.flag({"lm_head_bias"}, false);
  read_coarse_experts(c, m, 2);
}

void read_olmoe(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.qk_norm_wide = true;
  read_coarse_experts(c, m, 8);
}

void read_granite_moe(Config& c, Model& m) {
  read_llama(c, m);
  read_coarse_experts(c, m, 2);
  m.experts.shared_ffn = c.count_or({"shared_intermediate_size"}, 0, most);
  m.experts.shared = m.experts.shared_ffn > 0 ? 1 : 0;
}

/// A dense MLP as wide as the model runs beside the experts, with a norm of its own.
void read_arctic(Config& c, Model& m) {
  read_mistral(c, m);
  read_coarse_experts(c, m, 1);
  Experts& e = m.experts;
  const int step = c.count_or({"moe_layer_frequency"}, 2, most_layers);
  e.dense_layers = m.layers - every(step, m.layers);
  e.spread = e.dense_layers > 0;
  if (c.flag({"use_residual", "parallel_attn_mlp_res"}, false)) {
    e.shared = 1;
    e.shared_ffn = m.hidden;
    m.norms_per_layer = 3;
  }
}

void read_hunyuan_moe(Config& c, Model& m) {
  read_hunyuan_dense(c, m);
  Experts& e = m.experts;
  e.count = c.count({"num_experts"}, most_heads);
  e.ffn = c.count_or({"moe_intermediate_size"}, m.ffn, most);
  e.topk = c.count_or({"moe_topk"}, 1, most_heads);
  if (e.count <= 1) {
    e = {};
    return;
  }
  e.shared =
      c.flag({"use_mixed_mlp_moe"}, false) ? c.count_or({"num_shared_expert"}, 1, most_heads) : 0;
  e.dense_layers = c.count_or({"moe_layer_num_skipped"}, 0, most_layers);
}

void read_ernie_moe(Config& c, Model& m) {
  read_llama(c, m);
  all_biases(m, c.flag({"use_bias"}, false));
  m.tied = c.flag({"tie_word_embeddings"}, true);
  Experts& e = m.experts;
  e.count = c.count({"moe_num_experts"}, most_heads);
  e.topk = c.count({"moe_k"}, most_heads);
  e.ffn = c.count({"moe_intermediate_size"}, most);
  e.shared = c.count_or({"moe_num_shared_experts"}, 0, most_heads);
  const int first = std::min(m.layers, c.count_or({"moe_layer_start_index"}, 0, most_layers));
  const int end = c.count_or({"moe_layer_end_index"}, m.layers - 1, most_layers);
  const int step = std::max(1, c.count_or({"moe_layer_interval"}, 1, most_layers));
  int sparse = 0;
  for (int i = first; i < m.layers && i <= end; ++i) sparse += (i + 1) % step == 0 ? 1 : 0;
  e.dense_layers = m.layers - sparse;
  e.spread = step > 1;
  e.router_bias = c.flag({"moe_use_aux_free"}, true);
}

/// Ling and Ring.
void read_bailing(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.qkv_bias = c.flag({"use_qkv_bias"}, false);
  m.attention.output_bias = m.mlp_bias = c.flag({"use_bias"}, false);
  m.attention.qk_norm = c.flag({"use_qk_norm"}, false);
  read_optional_window(c, m);
  read_bailing_experts(c, m);
}

void read_dots1(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.qk_norm = true;
  read_optional_window(c, m);
  read_fine_experts(c, m);
  m.experts.router_bias = m.experts.count > 0;
}

/// Step-3 and 3.5, without their attention: experts in the layers that a text lists.
void read_step(Config& c, Model& m) {
  read_shape(c, m);
  m.ffn = c.count({"intermediate_size"}, most);
  m.mlp = Mlp::swiglu;
  m.norm = Norm::rmsnorm;
  m.tied = c.flag({"tie_word_embeddings"}, false);
  Attention& a = m.attention;
  a.kv_heads = c.count_or({"num_attention_groups"}, 1, most_heads);
  a.head_dim = c.count({"head_dim"}, most_heads);
  c.pass_over("num_key_value_heads");
  Experts& e = m.experts;
  e.count = c.count({"moe_num_experts"}, most_heads);
  e.topk = c.count({"moe_top_k"}, most_heads);
  e.ffn = c.count({"moe_intermediate_size"}, most);
  e.shared_ffn = c.count_or({"share_expert_dim"}, e.ffn, most);
  e.shared = e.shared_ffn > 0 ? 1 : 0;
  const std::string layers = c.word({"moe_layers_enum"}, "");
  const auto commas = static_cast<int>(std::count(layers.begin(), layers.end(), ','));
  const int sparse = layers.empty() ? m.layers - 1 : commas + 1;
  if (sparse > m.layers) {
    c.problem("moe_layers_enum", "more layers than " + std::to_string(m.layers));
  }
  e.dense_layers = std::max(0, m.layers - sparse);
}

/// Step-3: queries of low rank, few key-value heads.
void read_step3(Config& c, Model& m) {
  read_step(c, m);
  m.attention.q_rank = c.count({"share_q_dim"}, most_heads);
}

/// Step-3.5: windows in three of four layers, with more heads; each head has a gate. Lists go on
/// with the layers that predict further tokens.
void read_step3p5(Config& c, Model& m) {
  read_step(c, m);
  Attention& a = m.attention;
  a.qk_norm = true;
  a.head_gate = c.flag({"use_head_wise_attn_gate"}, false);
  a.sinks = c.flag({"sink"}, false);
  m.experts.router_bias = c.flag({"use_moe_router_bias"}, false);
  const std::vector<Node>* types = c.list("layer_types");
  if (types == nullptr) return;
  const auto size = static_cast<int>(types->size());
  if (size != m.layers && size != m.layers + m.prediction_layers) {
    c.problem("layer_types", "expected one entry for each of " + std::to_string(m.layers) +
                                 " layers, not " + std::to_string(size));
    return;
  }
  a.window_layers = static_cast<int>(
      std::count_if(types->begin(), types->begin() + m.layers,
                    [](const Node& type) { return type.string == "sliding_attention"; }));
  if (a.window_layers == 0) return;
  a.window = c.count({"sliding_window"}, most);
  Config other = c.section("attention_other_setting");
  a.global_heads = a.heads;
  a.global_kv_heads = a.kv_heads;
  a.global_head_dim = a.head_dim;
  a.heads = other.count_or({"num_attention_heads"}, a.heads, most_heads);
  a.kv_heads = other.count_or({"num_attention_groups"}, a.kv_heads, most_heads);
  a.head_dim = other.count_or({"head_dim"}, a.head_dim, most_heads);
}

/// LongCat-Flash (arXiv 2509.01322, section 2): a layer has attention and a dense MLP twice, and
/// experts beside the first pair; it is two layers here, one of them with its MLP as a shared
/// expert. Some experts do nothing: a token's others are fewer.
void read_longcat(Config& c, Model& m) {
  m.layers = 2 * c.count({"num_layers", "num_hidden_layers"}, most_layers / 2);
  const int layers = m.layers;
  m.norm = Norm::rmsnorm;
  m.mlp = Mlp::swiglu;
  read_shape(c, m);
  m.layers = layers;
  m.ffn = c.count({"ffn_hidden_size", "intermediate_size"}, most);
  m.attention.qkv_bias = m.attention.output_bias = c.flag({"attention_bias"}, false);
  m.tied = c.flag({"tie_word_embeddings"}, false);
  read_latent(c, m);
  for (const char* key : {"head_dim", "num_key_value_heads"}) c.pass_over(key);
  Experts& e = m.experts;
  e.count = c.count({"n_routed_experts"}, most_heads);
  const int idle = c.count_or({"zero_expert_num"}, 0, most_heads);
  const int topk = c.count({"moe_topk", "num_experts_per_tok"}, most_heads);
  e.topk = static_cast<int>(
      std::max(1.0, std::round(double(topk) * e.count / (double(e.count) + idle))));
  e.ffn = c.count({"expert_ffn_hidden_size", "moe_intermediate_size"}, most);
  e.shared = 1;
  e.shared_ffn = m.ffn;
  e.dense_layers = m.layers / 2;
  e.spread = true;
  e.router_bias = true;
}

/// MiMo-V2: windows in most layers, with more key-value heads; values narrower than keys.
void read_mimo_v2(Config& c, Model& m) {
  read_llama(c, m);
  Attention& a = m.attention;
  a.value_dim = c.count_or({"v_head_dim"}, 0, most_heads);
  a.sinks = c.flag({"add_swa_attention_sink_bias"}, false);
  const std::vector<Node>* pattern = c.list("hybrid_layer_pattern");
  const auto windowed = [](const Node& layer) { return layer.integer == 1; };
  a.window_layers =
      pattern == nullptr
          ? 0
          : static_cast<int>(std::count_if(pattern->begin(), pattern->end(), windowed));
  if (a.window_layers > 0) {
    a.window = c.count({"sliding_window", "sliding_window_size"}, most);
    a.global_kv_heads = a.kv_heads;
    a.kv_heads = c.count_or({"swa_num_key_value_heads"}, a.kv_heads, most_heads);
  }
  const std::pair<const char*, int> same[] = {{"swa_num_attention_heads", a.heads},
                                              {"swa_head_dim", a.head_dim},
                                              {"swa_v_head_dim", a.value_dim}};
  for (const auto& [key, value] : same) {
    if (c.count_or({key}, value, most_heads) != value) {
      c.problem(key, "expected " + std::to_string(value) + ", as layers without a window have");
    }
  }
  Experts& e = m.experts;
  e.count = c.count({"n_routed_experts"}, most_heads);
  e.topk = c.count({"num_experts_per_tok"}, most_heads);
  e.ffn = c.count({"moe_intermediate_size"}, most);
  e.shared = c.count_or({"n_shared_experts"}, 0, most_heads);
  e.router_bias = true;
  if (const std::vector<Node>* sparse = c.list("moe_layer_freq")) {
    e.dense_layers = static_cast<int>(std::count_if(
        sparse->begin(), sparse->end(), [](const Node& layer) { return layer.integer == 0; }));
  }
}

/// Grok 2 calls itself "git": a dense MLP beside experts of their own width.
void read_grok2(Config& c, Model& m) {
  const std::vector<Node>* made_by = c.list("architectures");
  if (made_by == nullptr || made_by->empty() || !made_by->front().string.starts_with("Grok")) {
    c.problem("model_type", "no model of type 'git' is known but Grok 2",
              "architectures would be Grok1ForCausalLM");
  }
  read_grok(c, m);
  Experts& e = m.experts;
  e.ffn = c.count_or({"moe_intermediate_size"}, m.ffn, most);
  if (!c.flag({"residual_moe"}, false)) return;
  e.shared = 1;
  e.shared_ffn = m.ffn;
}

/// MiniCPM3: DeepSeek's attention, a dense MLP.
void read_minicpm3(Config& c, Model& m) {
  read_llama(c, m);
  m.tied = c.flag({"tie_word_embeddings"}, true);
  Attention& a = m.attention;
  a = {.kind = AttentionKind::latent, .heads = a.heads};
  a.q_rank = c.count_or({"q_lora_rank"}, 0, most_heads);
  a.kv_rank = c.count({"kv_lora_rank"}, most_heads);
  a.nope_dim = c.count({"qk_nope_head_dim"}, most_heads);
  a.rope_dim = c.count({"qk_rope_head_dim"}, most_heads);
  a.value_dim = c.count_or({"v_head_dim"}, m.hidden / std::max(1, a.heads), most_heads);
}

/// Trinity: attention with a gate, windows but for every fourth layer, norms before and behind.
void read_afmoe(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.qk_norm = m.attention.gate = true;
  if (m.attention.head_dim == 0) m.attention.head_dim = 128;
  m.norms_per_layer = 4;
  const int pattern = c.count_or({"global_attn_every_n_layers"}, 4, most_layers);
  read_window(c, m, m.layers - every(pattern, m.layers), 1024);
  read_fine_experts(c, m);
  m.experts.dense_layers = c.count_or({"num_dense_layers"}, 1, most_layers);
  m.experts.router_bias = m.experts.count > 0;
}

void read_exaone_moe(Config& c, Model& m) {
  read_exaone4(c, m);
  read_fine_experts(c, m);
  m.experts.router_bias = m.experts.count > 0;
  c.pass_over("is_moe_layer");
}

/// Hunyuan 3.
void read_hy3(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.qk_norm = c.flag({"qk_norm"}, true);
  if (m.attention.head_dim == 0) m.attention.head_dim = 128;
  read_fine_experts(c, m);
  if (!c.has("first_k_dense_replace") && !c.has("mlp_layer_types")) m.experts.dense_layers = 1;
  m.experts.router_bias = m.experts.count > 0;
}

constexpr Family all_experts[] = {{"afmoe", "Trinity", read_afmoe},
                                  {"arctic", "Arctic", read_arctic},
                                  {"bailing_moe", "Ling", read_bailing},
                                  {"bailing_moe_v2", "Ling", read_bailing_v2},
                                  {"dbrx", "DBRX", read_dbrx},
                                  {"deepseek", "DeepSeek", read_deepseek_v1},
                                  {"deepseek_v2", "DeepSeek", read_deepseek},
                                  {"deepseek_v3", "DeepSeek", read_deepseek},
                                  {"deepseek_v32", "DeepSeek", read_deepseek},
                                  {"deepseek_v4", "DeepSeek", read_deepseek_v4},
                                  {"dots1", "dots.llm1", read_dots1},
                                  {"ernie4_5_moe", "ERNIE", read_ernie_moe},
                                  {"exaone_moe", "EXAONE", read_exaone_moe},
                                  {"gemma3n", "Gemma 3n", read_gemma3n},
                                  {"gemma3n_text", "Gemma 3n", read_gemma3n},
                                  {"gemma4", "Gemma 4", read_gemma4},
                                  {"gemma4_text", "Gemma 4", read_gemma4},
                                  {"git", "Grok", read_grok2},
                                  {"glm4_moe", "GLM", read_glm4_moe},
                                  {"glm4_moe_lite", "GLM", read_glm_moe_dsa},
                                  {"glm4v_moe_text", "GLM", read_glm4_moe},
                                  {"glm_moe_dsa", "GLM", read_glm_moe_dsa},
                                  {"gpt_oss", "gpt-oss", read_gpt_oss},
                                  {"granitemoe", "Granite", read_granite_moe},
                                  {"granitemoeshared", "Granite", read_granite_moe},
                                  {"grok-1", "Grok", read_grok},
                                  {"hunyuan", "Hunyuan", read_hunyuan_moe},
                                  {"hunyuan_v1_moe", "Hunyuan", read_hunyuan_moe},
                                  {"hy_v3", "Hunyuan", read_hy3},
                                  {"kimi_k2", "Kimi", read_deepseek},
                                  {"kimi_k25", "Kimi", read_deepseek},
                                  {"llama4", "Llama 4", read_llama4},
                                  {"llama4_text", "Llama 4", read_llama4},
                                  {"longcat_flash", "LongCat", read_longcat},
                                  {"mimo_v2", "MiMo", read_mimo_v2},
                                  {"mimo_v2_flash", "MiMo", read_mimo_v2},
                                  {"minicpm3", "MiniCPM", read_minicpm3},
                                  {"minimax_m2", "MiniMax", read_minimax},
                                  {"mistral4", "Mistral", read_deepseek},
                                  {"mixtral", "Mixtral", read_mixtral},
                                  {"olmoe", "OLMoE", read_olmoe},
                                  {"phimoe", "Phi", read_phimoe},
                                  {"qwen2_moe", "Qwen2", read_qwen2_moe},
                                  {"qwen3_moe", "Qwen3", read_qwen3_moe},
                                  {"qwen3_omni_moe_text", "Qwen3-Omni", read_qwen3_moe},
                                  {"qwen3_vl_moe", "Qwen3-VL", read_qwen3_moe},
                                  {"qwen3_vl_moe_text", "Qwen3-VL", read_qwen3_moe},
                                  {"solar_open", "Solar", read_glm4_moe},
                                  {"step3_text", "Step", read_step3},
                                  {"step3p5", "Step", read_step3p5}};

}  // namespace

void read_bailing_v2(Config& c, Model& m) {
  read_bailing(c, m);
  m.attention.qk_norm = c.flag({"use_qk_norm"}, true);
}

std::span<const Family> expert_families() { return all_experts; }

}  // namespace sextant::hugging_face
