// SPDX-License-Identifier: Apache-2.0
// One reader a family, chosen by model_type. What a key's absence means is written where the key is
// read, from the configuration classes of Hugging Face transformers: many files leave out what
// their class defaults to.
#include "sextant/io/huggingface.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "sextant/io/huggingface_config.hpp"
#include "sextant/io/text.hpp"

namespace sextant {
namespace {

using namespace hugging_face;

// ---- what families share

enum class Gate : std::uint8_t { gated, plain };

void read_activation(Config& c, Keys keys, std::string_view otherwise, Gate gate, Model& m) {
  const std::string name = c.word(keys, std::string(otherwise));
  const bool gelu = name.find("gelu") != std::string::npos;
  if (gate == Gate::gated && (name == "silu" || name == "swish" || name == "swiglu")) {
    m.mlp = Mlp::swiglu;
  } else if (gate == Gate::gated && gelu) {
    m.mlp = Mlp::geglu;
  } else if (gate == Gate::plain && gelu) {
    m.mlp = Mlp::gelu;
  } else if (gate == Gate::plain && name == "relu") {
    m.mlp = Mlp::relu;
  } else if (gate == Gate::plain && name == "relu2") {
    m.mlp = Mlp::squared_relu;
  } else {
    c.problem(*keys.begin(), "no MLP with activation " + in_quotes(name) + " is known",
              gate == Gate::gated ? "silu and gelu are" : "gelu, relu and relu2 are");
  }
}

void all_biases(Model& m, bool present) {
  m.attention.qkv_bias = m.attention.output_bias = m.mlp_bias = present;
}

/// Embeddings, widths and heads by the names that most families use.
void read_shape(Config& c, Model& m) {
  m.layers = c.count({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, most_layers);
  m.hidden = c.count({"hidden_size", "n_embd", "n_embed", "d_model"}, most_width);
  m.prediction_layers = c.count_or({"num_nextn_predict_layers", "mtp_num_hidden_layers"}, 0, 16);
  m.vocab = c.count({"vocab_size", "padded_vocab_size"}, most);
  m.max_context = c.count_or(
      {"max_position_embeddings", "n_positions", "seq_length", "max_seq_len", "n_ctx"}, 0, most);
  m.attention.heads = c.count({"num_attention_heads", "n_head", "n_heads"}, most_heads);
}

/// RMSNorm, rotary positions, gated MLP, grouped attention: what followed Llama.
void read_llama(Config& c, Model& m) {
  read_shape(c, m);
  m.ffn = c.count({"intermediate_size"}, most);
  m.norm = Norm::rmsnorm;
  m.attention.kv_heads = c.count_or({"num_key_value_heads"}, 0, most_heads);
  m.attention.head_dim = c.count_or({"head_dim"}, 0, most_heads);
  m.attention.qkv_bias = m.attention.output_bias = c.flag({"attention_bias", "bias"}, false);
  m.mlp_bias = c.flag({"mlp_bias"}, false);
  m.tied = c.flag({"tie_word_embeddings"}, false);
  read_activation(c, {"hidden_act", "hidden_activation"}, "silu", Gate::gated, m);
}

/// Layers whose entry in layer_types is none of `full`; `otherwise` where there is no such list.
int layers_unlike(Config& c, std::string_view full, int otherwise) {
  const std::vector<Node>* types = c.list("layer_types");
  if (types == nullptr) return otherwise;
  return static_cast<int>(std::count_if(types->begin(), types->end(),
                                        [&](const Node& type) { return type.string != full; }));
}

void read_window(Config& c, Model& m, int window_layers, int otherwise = 0) {
  m.attention.window = c.count_or({"sliding_window"}, otherwise, most);
  if (m.attention.window == 0) return;
  m.attention.window_layers = layers_unlike(c, "full_attention", window_layers);
  if (m.attention.window_layers == 0) m.attention.window = 0;
}

/// Layers among `layers` for which (i + 1) % step is zero.
int every(int step, int layers) { return step > 0 ? layers / step : 0; }

/// Layers among `layers` whose number leaves the remainder that the second key gives when divided
/// by what the first gives.
int layers_at(Config& c, std::string_view period, int usual, std::string_view offset, int first,
              int layers) {
  const int every_so_many = std::max(1, c.count_or({period}, usual, most_layers));
  const int from = c.count_or({offset}, first, most_layers);
  if (from >= every_so_many) {
    c.problem(offset, "expected less than " + std::string(period) + ", which is " +
                          std::to_string(every_so_many));
    return 0;
  }
  return from >= layers ? 0 : (layers - from - 1) / every_so_many + 1;
}

/// Mamba's own layers, of so many channels.
void read_selective(Config& c, Model& m, int channels) {
  Hybrid& h = m.hybrid;
  h.kind = Recurrence::mamba1;
  h.heads = channels;
  h.head_dim = 1;
  h.state = c.count_or({"mamba_d_state", "state_size"}, 16, most_heads);
  h.conv = c.count_or({"mamba_d_conv", "conv_kernel"}, 4, 1000);
  h.dt_rank = c.count_or_auto({"mamba_dt_rank", "time_step_rank"}, most_heads);
  for (const char* key : {"mamba_proj_bias", "use_bias"}) {
    if (c.flag({key}, false))
      c.problem(key, "no recurrence with biases in its projections is known");
  }
  for (const char* key : {"mamba_conv_bias", "use_conv_bias"}) {
    if (!c.flag({key}, true)) c.problem(key, "no convolution of Mamba without a bias is known");
  }
}

int channels_of(Config& c, const Model& m) {
  const int expand = c.count_or({"mamba_expand", "expand"}, 2, 1000);
  return static_cast<int>(std::min<std::int64_t>(most_heads, std::int64_t{expand} * m.hidden));
}

/// Hundreds of experts, a few of them shared: DeepSeek and who followed.
void read_fine_experts(Config& c, Model& m) {
  Experts& e = m.experts;
  e.count = c.count_or({"n_routed_experts", "num_experts"}, 0, most_heads);
  if (e.count == 0) return;
  e.topk = c.count({"num_experts_per_tok"}, most_heads);
  e.ffn = c.count({"moe_intermediate_size"}, most);
  e.shared = c.count_or({"n_shared_experts"}, 0, most_heads);
  e.dense_layers = c.count_or({"first_k_dense_replace"}, 0, most_layers);
  e.router_bias = c.word({"topk_method"}, "") == "noaux_tc";
  // Groups of experts are nodes; a token goes to the best few of them.
  const int groups = c.count_or({"n_group"}, 1, most_heads);
  const int chosen = c.count_or({"topk_group"}, 1, most_heads);
  if (groups > 1 && chosen < groups) e.most_nodes = chosen;
}

// ---- families

void read_mistral(Config& c, Model& m) {
  read_llama(c, m);
  read_window(c, m, m.layers);
}

void read_mixtral(Config& c, Model& m) {
  read_mistral(c, m);
  m.experts.count = c.count({"num_local_experts"}, most_heads);
  m.experts.topk = c.count_or({"num_experts_per_tok"}, 2, most_heads);
  m.experts.ffn = m.ffn;
}

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
  if (c.flag({"use_sliding_window"}, false)) {
    const int first = c.count_or({"max_window_layers"}, 28, most_layers);
    read_window(c, m, std::max(0, m.layers - first), 4096);
  }
}

/// Experts of Qwen 2 and 3: in every decoder_sparse_step-th layer, less the exceptions.
void read_qwen_experts(Config& c, Model& m) {
  Experts& e = m.experts;
  e.count = c.count({"num_experts"}, most_heads);
  e.topk = c.count({"num_experts_per_tok"}, most_heads);
  e.ffn = c.count({"moe_intermediate_size"}, most);
  e.shared_ffn = c.count_or({"shared_expert_intermediate_size"}, 0, most);
  if (e.shared_ffn > 0) {
    e.shared = std::max(1, e.shared_ffn / e.ffn);
    e.shared_gate = true;
  }
  const int step = c.count_or({"decoder_sparse_step"}, 1, most_layers);
  const std::vector<Node>* exceptions = c.list("mlp_only_layers");
  e.dense_layers = m.layers - every(step, m.layers);
  e.spread = step > 1;
  if (exceptions != nullptr) {
    e.dense_layers += static_cast<int>(
        std::count_if(exceptions->begin(), exceptions->end(), [&](const Node& layer) {
          return step > 0 && layer.integer >= 0 && layer.integer < m.layers &&
                 (layer.integer + 1) % step == 0;
        }));
  }
}

void read_qwen2_moe(Config& c, Model& m) {
  read_qwen2(c, m);
  read_qwen_experts(c, m);
}

void read_qwen3(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.qk_norm = true;
  if (m.attention.head_dim == 0) m.attention.head_dim = 128;
}

void read_qwen3_moe(Config& c, Model& m) {
  read_qwen3(c, m);
  read_qwen_experts(c, m);
}

void read_qwen3_next(Config& c, Model& m) {
  read_qwen3(c, m);
  read_qwen_experts(c, m);
  m.attention.gate = true;
  Hybrid& h = m.hybrid;
  h.kind = Recurrence::gated_delta;
  const int interval = c.count_or({"full_attention_interval"}, 4, most_layers);
  h.recurrent_layers = layers_unlike(c, "full_attention", m.layers - every(interval, m.layers));
  h.heads = c.count_or({"linear_num_value_heads"}, 32, most_heads);
  h.head_dim = c.count_or({"linear_value_head_dim"}, 128, most_heads);
  h.state = c.count_or({"linear_key_head_dim"}, 128, most_heads);
  h.groups = c.count_or({"linear_num_key_heads"}, 16, most_heads);
  h.conv = c.count_or({"linear_conv_kernel_dim"}, 4, 1000);
}

/// DeepSeek V2, V3, V3.2, R1 and Kimi K2.
void read_deepseek(Config& c, Model& m) {
  read_llama(c, m);
  Attention& a = m.attention;
  a = {.kind = AttentionKind::latent,
       .heads = a.heads,
       .qkv_bias = a.qkv_bias,
       .output_bias = a.output_bias};
  a.q_rank = c.count_or({"q_lora_rank"}, 0, most_heads);
  a.index_heads = c.count_or({"index_n_heads"}, 0, most_heads);
  a.index_dim = c.count_or({"index_head_dim"}, 0, most_heads);
  a.index_top = c.count_or({"index_topk"}, 0, most_heads);
  a.kv_rank = c.count({"kv_lora_rank"}, most_heads);
  a.nope_dim = c.count({"qk_nope_head_dim"}, most_heads);
  a.rope_dim = c.count({"qk_rope_head_dim"}, most_heads);
  a.value_dim = c.count({"v_head_dim"}, most_heads);
  read_fine_experts(c, m);
}

/// DeepSeek LLM and DeepSeek-MoE: grouped attention.
void read_deepseek_v1(Config& c, Model& m) {
  read_llama(c, m);
  read_fine_experts(c, m);
}

void read_glm(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.output_bias = false;
}

void read_glm4(Config& c, Model& m) {
  read_glm(c, m);
  m.norms_per_layer = 4;
}

void read_glm4_moe(Config& c, Model& m) {
  read_glm(c, m);
  m.attention.qk_norm = c.flag({"use_qk_norm"}, false);
  read_fine_experts(c, m);
  m.experts.router_bias = m.experts.count > 0;
}

/// GLM-5: DeepSeek-V3.2's attention and indexer.
void read_glm_moe_dsa(Config& c, Model& m) {
  read_deepseek(c, m);
  m.experts.router_bias = m.experts.count > 0;
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

void read_minimax(Config& c, Model& m) {
  read_llama(c, m);
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
  if (a.window > 0) a.window_layers = layers_unlike(c, "full_attention", chunked);
  Experts& e = m.experts;
  e.count = c.count({"num_local_experts"}, most_heads);
  e.topk = c.count_or({"num_experts_per_tok"}, 1, most_heads);
  e.ffn = m.ffn;
  e.shared = 1;
  const int step = c.count_or({"interleave_moe_layer_step"}, 1, most_layers);
  e.dense_layers = m.layers - every(step, m.layers);
  e.spread = step > 1;
  if (e.dense_layers > 0) m.ffn = c.count_or({"intermediate_size_mlp"}, m.ffn, most);
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

/// Files leave out what is as in the 4B model.
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

void read_gpt2(Config& c, Model& m) {
  read_shape(c, m);
  m.ffn = c.count_or({"n_inner"}, 0, most);
  read_activation(c, {"activation_function"}, "gelu_new", Gate::plain, m);
  all_biases(m, true);
  m.norm_bias = true;
  m.position = Position::learned;
  m.tied = c.flag({"tie_word_embeddings"}, true);
}

void read_gpt_neox(Config& c, Model& m) {
  read_shape(c, m);
  m.ffn = c.count({"intermediate_size"}, most);
  read_activation(c, {"hidden_act"}, "gelu", Gate::plain, m);
  all_biases(m, true);
  m.attention.qkv_bias = m.attention.output_bias = c.flag({"attention_bias"}, true);
  m.norm_bias = true;
  m.parallel_block = c.flag({"use_parallel_residual"}, true);
  m.tied = c.flag({"tie_word_embeddings"}, false);
}

void read_gptj(Config& c, Model& m) {
  read_shape(c, m);
  m.ffn = c.count_or({"n_inner"}, 0, most);
  read_activation(c, {"activation_function"}, "gelu_new", Gate::plain, m);
  m.mlp_bias = m.norm_bias = m.head_bias = m.parallel_block = true;
  m.norms_per_layer = 1;
  m.tied = c.flag({"tie_word_embeddings"}, false);
}

void read_phi(Config& c, Model& m) {
  read_shape(c, m);
  m.ffn = c.count({"intermediate_size"}, most);
  m.attention.kv_heads = c.count_or({"num_key_value_heads"}, 0, most_heads);
  read_activation(c, {"hidden_act"}, "gelu_new", Gate::plain, m);
  all_biases(m, true);
  m.norm_bias = m.head_bias = m.parallel_block = true;
  m.norms_per_layer = 1;
  m.tied = c.flag({"tie_word_embeddings"}, false);
}

void read_opt(Config& c, Model& m) {
  read_shape(c, m);
  m.ffn = c.count({"ffn_dim"}, most);
  read_activation(c, {"activation_function"}, "relu", Gate::plain, m);
  all_biases(m, c.flag({"enable_bias"}, true));
  m.norm_bias = true;
  m.position = Position::learned;
  m.tied = c.flag({"tie_word_embeddings"}, true);
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
  read_shape(c, m);
  if (m.max_context == 0) m.max_context = 2048;
  m.ffn = c.count_or({"ffn_hidden_size"}, 0, most);
  read_activation(c, {"activation"}, "gelu", Gate::plain, m);
  all_biases(m, c.flag({"bias"}, false));
  m.norm_bias = true;
  m.tied = c.flag({"tie_word_embeddings"}, true);
  m.position = c.flag({"alibi"}, false) ? Position::alibi : Position::rope;
  const bool recent = c.flag({"new_decoder_architecture"}, false);
  m.parallel_block = c.flag({"parallel_attn"}, true) || recent;
  if (recent) {
    m.attention.kv_heads = c.count_or({"num_kv_heads", "n_head_kv"}, 0, most_heads);
    m.norms_per_layer = c.count_or({"num_ln_in_parallel_attn"}, 2, 8);
  } else {
    m.attention.kv_heads = c.flag({"multi_query"}, true) ? 1 : 0;
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
  m.experts.count = c.count({"num_experts", "num_local_experts"}, most_heads);
  m.experts.topk = c.count_or({"num_experts_per_tok"}, 2, most_heads);
  m.experts.ffn = m.ffn;
}

/// Nemotron 3 and 4, Minitron: LayerNorm with an offset of one, squared ReLU.
void read_nemotron(Config& c, Model& m) {
  read_shape(c, m);
  m.ffn = c.count({"intermediate_size"}, most);
  read_activation(c, {"hidden_act"}, "relu2", Gate::plain, m);
  m.norm_bias = true;
  m.attention.kv_heads = c.count_or({"num_key_value_heads"}, 0, most_heads);
  m.attention.head_dim = c.count_or({"head_dim"}, 0, most_heads);
  m.attention.qkv_bias = m.attention.output_bias = c.flag({"attention_bias"}, false);
  m.mlp_bias = c.flag({"mlp_bias"}, false);
  m.tied = c.flag({"tie_word_embeddings"}, false);
}

/// One letter a layer: M Mamba-2, * attention, - MLP, E experts.
void read_nemotron_h(Config& c, Model& m) {
  read_shape(c, m);
  m.norm = Norm::rmsnorm;
  m.norms_per_layer = 1;
  m.position = Position::none;
  m.tied = c.flag({"tie_word_embeddings"}, false);
  read_activation(c, {"mlp_hidden_act"}, "relu2", Gate::plain, m);
  m.ffn = c.count_or({"intermediate_size"}, 0, most);
  m.attention.kv_heads = c.count_or({"num_key_value_heads"}, 8, most_heads);
  m.attention.head_dim = c.count_or({"head_dim", "attention_head_dim"}, 128, most_heads);
  m.attention.qkv_bias = m.attention.output_bias = c.flag({"attention_bias"}, false);
  const std::string pattern = c.word("hybrid_override_pattern");
  const auto letters = [&](char letter) {
    return static_cast<int>(std::count(pattern.begin(), pattern.end(), letter));
  };
  if (letters('M') + letters('*') + letters('-') + letters('E') != m.layers) {
    c.problem("hybrid_override_pattern",
              "expected one of M, *, - and E for each of " + std::to_string(m.layers) + " layers");
  }
  Hybrid& h = m.hybrid;
  h.kind = Recurrence::mamba2;
  h.recurrent_layers = letters('M');
  h.attention_layers = letters('*');
  h.mlp_layers = letters('-') + letters('E');
  h.heads = c.count({"mamba_num_heads"}, most_heads);
  h.head_dim = c.count({"mamba_head_dim"}, most_heads);
  h.state = c.count({"ssm_state_size"}, most_heads);
  h.groups = c.count_or({"n_groups"}, 8, most_heads);
  h.conv = c.count_or({"conv_kernel"}, 4, 1000);
  if (letters('E') == 0) return;
  read_fine_experts(c, m);
  m.experts.shared_ffn = c.count_or({"moe_shared_expert_intermediate_size"}, 0, most);
  m.experts.latent = c.count_or({"moe_latent_size"}, 0, most_width);
  m.experts.dense_layers = letters('-');
  m.experts.router_bias = true;
}

/// Mamba layers, some of attention without positions, an MLP behind each and experts in some.
void read_jamba(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.kv_heads = c.count_or({"num_key_value_heads"}, 8, most_heads);
  m.position = Position::none;
  read_selective(c, m, channels_of(c, m));
  Hybrid& h = m.hybrid;
  h.inner_norms = InnerNorms::weighted;
  h.attention_layers = layers_at(c, "attn_layer_period", 8, "attn_layer_offset", 4, m.layers);
  h.recurrent_layers = m.layers - h.attention_layers;
  read_window(c, m, h.attention_layers);
  Experts& e = m.experts;
  e.count = c.count_or({"num_experts"}, 16, most_heads);
  const int sparse = layers_at(c, "expert_layer_period", 2, "expert_layer_offset", 1, m.layers);
  if (e.count <= 1 || sparse == 0) {
    e.count = 0;
    return;
  }
  e.topk = c.count_or({"num_experts_per_tok"}, 2, most_heads);
  e.ffn = m.ffn;
  e.dense_layers = m.layers - sparse;
  e.spread = e.dense_layers > 0;
}

/// Nothing but Mamba layers. Files give the channels beside a factor that does not always lead to
/// them (Falcon Mamba: 16 times 4096, and 8192).
void read_mamba(Config& c, Model& m) {
  m.layers = c.count({"num_hidden_layers", "n_layer"}, most_layers);
  m.hidden = c.count({"hidden_size", "d_model"}, most_width);
  m.vocab = c.count({"vocab_size"}, most);
  m.norm = Norm::rmsnorm;
  m.norms_per_layer = 1;
  m.position = Position::none;
  m.mlp = Mlp::none;
  m.tied = c.flag({"tie_word_embeddings"}, true);
  read_selective(c, m, c.count_or({"intermediate_size"}, channels_of(c, m), most_heads));
  m.hybrid.recurrent_layers = m.layers;
}

void read_falcon_mamba(Config& c, Model& m) {
  read_mamba(c, m);
  m.hybrid.inner_norms = InnerNorms::bare;
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

void read_starcoder2(Config& c, Model& m) {
  read_shape(c, m);
  m.ffn = c.count({"intermediate_size"}, most);
  read_activation(c, {"hidden_act"}, "gelu_pytorch_tanh", Gate::plain, m);
  m.attention.kv_heads = c.count_or({"num_key_value_heads"}, 2, most_heads);
  all_biases(m, c.flag({"use_bias"}, true));
  m.norm_bias = true;
  m.tied = c.flag({"tie_word_embeddings"}, true);
  read_window(c, m, m.layers);
}

/// Llama 3.2 Vision: some layers look at images alone; the class has eight of forty.
void read_mllama(Config& c, Model& m) {
  read_llama(c, m);
  const std::vector<Node>* layers = c.list("cross_attention_layers");
  m.vision.cross_layers = layers == nullptr ? 8 : static_cast<int>(layers->size());
}

struct Family {
  std::string_view type;  ///< value of model_type
  std::string_view name;  ///< for people
  void (*read)(Config&, Model&);
};

// Sorted, so that the list in a message is.
constexpr Family families[] = {
    {"RefinedWeb", "Falcon", read_falcon},
    {"RefinedWebModel", "Falcon", read_falcon},
    {"baichuan", "Baichuan", read_llama},
    {"bloom", "BLOOM", read_bloom},
    {"chatglm", "GLM", read_chatglm},
    {"cohere", "Command R", read_cohere},
    {"dbrx", "DBRX", read_dbrx},
    {"deepseek", "DeepSeek", read_deepseek_v1},
    {"deepseek_v2", "DeepSeek", read_deepseek},
    {"deepseek_v3", "DeepSeek", read_deepseek},
    {"deepseek_v32", "DeepSeek", read_deepseek},
    {"falcon", "Falcon", read_falcon},
    {"falcon_mamba", "Falcon Mamba", read_falcon_mamba},
    {"gemma", "Gemma", read_gemma},
    {"gemma2", "Gemma 2", read_gemma2},
    {"gemma3", "Gemma 3", read_gemma3},
    {"gemma3_text", "Gemma 3", read_gemma3},
    {"gemma4", "Gemma 4", read_gemma4},
    {"gemma4_text", "Gemma 4", read_gemma4},
    {"glm", "GLM", read_glm},
    {"glm4", "GLM", read_glm4},
    {"glm4_moe", "GLM", read_glm4_moe},
    {"glm_moe_dsa", "GLM", read_glm_moe_dsa},
    {"gpt2", "GPT-2", read_gpt2},
    {"gpt_neox", "GPT-NeoX", read_gpt_neox},
    {"gpt_oss", "gpt-oss", read_gpt_oss},
    {"gptj", "GPT-J", read_gptj},
    {"granite", "Granite", read_llama},
    {"grok-1", "Grok", read_grok},
    {"internlm", "InternLM", read_llama},
    {"internlm2", "InternLM", read_llama},
    {"jamba", "Jamba", read_jamba},
    {"kimi_k2", "Kimi", read_deepseek},
    {"kimi_k25", "Kimi", read_deepseek},
    {"llama", "Llama", read_llama},
    {"llama4", "Llama 4", read_llama4},
    {"llama4_text", "Llama 4", read_llama4},
    {"mamba", "Mamba", read_mamba},
    {"minimax_m2", "MiniMax", read_minimax},
    {"mistral", "Mistral", read_mistral},
    {"mixtral", "Mixtral", read_mixtral},
    {"mllama", "Llama 3.2", read_mllama},
    {"mllama_text_model", "Llama 3.2", read_mllama},
    {"mpt", "MPT", read_mpt},
    {"nemotron", "Nemotron", read_nemotron},
    {"nemotron_h", "Nemotron-H", read_nemotron_h},
    {"olmo", "OLMo", read_olmo},
    {"olmo2", "OLMo 2", read_olmo2},
    {"olmo3", "OLMo 3", read_olmo3},
    {"opt", "OPT", read_opt},
    {"phi", "Phi", read_phi},
    {"phi3", "Phi", read_mistral},
    {"qwen", "Qwen", read_qwen},
    {"qwen2", "Qwen2", read_qwen2},
    {"qwen2_5_vl", "Qwen2.5-VL", read_qwen2},
    {"qwen2_5_vl_text", "Qwen2.5-VL", read_qwen2},
    {"qwen2_moe", "Qwen2", read_qwen2_moe},
    {"qwen3", "Qwen3", read_qwen3},
    {"qwen3_moe", "Qwen3", read_qwen3_moe},
    {"qwen3_next", "Qwen3", read_qwen3_next},
    {"qwen3_vl", "Qwen3-VL", read_qwen3},
    {"qwen3_vl_moe", "Qwen3-VL", read_qwen3_moe},
    {"qwen3_vl_moe_text", "Qwen3-VL", read_qwen3_moe},
    {"qwen3_vl_text", "Qwen3-VL", read_qwen3},
    {"starcoder2", "StarCoder2", read_starcoder2},
};

const Family* family_of(std::string_view type) {
  for (const Family& family : families) {
    if (family.type == type) return &family;
  }
  return nullptr;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// What the checkpoint's weights are stored in, as its quantization_config says, and whether blocks
/// of them have scales. One that cannot be read is a problem: left out in silence it would make the
/// model four times as large.
Precision read_stored(Config& config, bool& blocks) {
  constexpr std::string_view key = "quantization_config";
  if (!config.has(key)) return Precision::bf16;
  Config q = config.section(key);
  const std::string method = q.word("quant_method");
  const auto of_bits = [](int bits, bool whole) -> std::optional<Precision> {
    if (bits == 4) return whole ? Precision::int4 : Precision::fp4;
    if (bits == 8) return whole ? Precision::int8 : Precision::fp8;
    return std::nullopt;
  };
  std::optional<Precision> stored;
  std::string bits = "bits";
  if (method == "fp8" || method == "fbgemm_fp8") {
    stored = Precision::fp8;
    blocks = q.has("weight_block_size");
  } else if (method == "mxfp4") {
    stored = Precision::fp4;
  } else if (method == "awq" || method == "gptq" || method == "auto-round" ||
             method == "auto_round") {
    stored = of_bits(q.count_or({"bits", "w_bit"}, 4, 16), true);
  } else if (method == "bitsandbytes") {
    stored = q.flag({"load_in_8bit"}, false) ? Precision::int8 : Precision::int4;
  } else if (method == "modelopt") {
    const std::string kind = q.word({"quant_algo"}, "");
    if (kind == "FP8" || kind == "MIXED_PRECISION") stored = Precision::fp8;
    if (kind == "NVFP4" || kind == "W4A16_NVFP4") stored = Precision::fp4;
    if (kind == "W4A16_AWQ" || kind == "W4A8_AWQ") stored = Precision::int4;
    bits = "quant_algo";
  } else if (method == "compressed-tensors") {
    Config groups = q.section("config_groups");
    for (const std::string& group : groups.names()) {
      Config weights = groups.section(group).section("weights");
      const bool whole = weights.word({"type"}, "int") != "float";
      const std::optional<Precision> p = of_bits(weights.count_or({"num_bits"}, 16, 16), whole);
      if (p && (!stored || element_bytes(*p) < element_bytes(*stored))) stored = p;
      blocks = blocks || weights.word({"strategy"}, "") == "block";
    }
    bits = "config_groups";
  } else if (!method.empty()) {
    q.problem("quant_method", "no quantisation by " + in_quotes(method) + " is known",
              "known are auto-round, awq, bitsandbytes, compressed-tensors, fbgemm_fp8, fp8, gptq, "
              "modelopt, mxfp4; leave the table out for 16-bit weights");
    return Precision::bf16;
  }
  if (!stored && !method.empty()) {
    q.problem(bits, "expected weights of 4 or 8 bits",
              "leave quantization_config out for 16-bit weights");
  }
  return stored.value_or(Precision::bf16);
}

/// The reader for this file; where there is none, the reason is added to the problems.
const Family* find_family(Config& config) {
  const std::vector<std::string> known = hugging_face_types();
  if (!config.has("model_type")) {
    config.missing("model_type", "one of " + joined(known));
    return nullptr;
  }
  const std::string type = config.word("model_type");
  const Family* family = family_of(type);
  if (family == nullptr && !type.empty()) {
    std::string hint = did_you_mean(type, known);
    hint += (hint.empty() ? "" : " ") + ("known are " + joined(known));
    config.problem("model_type", "no model of type " + in_quotes(type) + " is known",
                   std::move(hint));
  }
  return family;
}

}  // namespace

std::vector<std::string> hugging_face_types() {
  std::vector<std::string> types;
  for (const Family& family : families) types.emplace_back(family.type);
  return types;
}

Model model_from_hugging_face(const Document& document) {
  std::vector<Diagnostic> problems;
  const Node& root = document.root;
  // Multimodal models keep their language model in a table of its own.
  const Node* text = root.find("text_config");
  const bool nested = text != nullptr && text->kind == Node::Kind::table;
  Config config(document, nested ? *text : root, problems, nested ? "text_config." : "",
                nested ? &root : nullptr);
  Model model;
  if (root.kind != Node::Kind::table) {
    problems.push_back(problem_at(document, root.place, "", "expected an object, { … }"));
  } else if (const Family* family = find_family(config)) {
    model.family = family->name;
    family->read(config, model);
    model.stored = read_stored(config, model.block_scales);
    // Trained in the blocks they are published in; others were made narrow afterwards.
    model.block_training = model.block_scales && model.family == "DeepSeek";
    Config whole(document, root, problems);
    read_vision(whole, model);
  }
  throw_if_any(std::move(problems));
  return model;
}

}  // namespace sextant
