// SPDX-License-Identifier: Apache-2.0
// Families with recurrences beside attention, or instead of it, and pruned ones.
// What a key's absence means is written where the key is read, from the configuration classes of
// Hugging Face transformers: many files leave out what their class defaults to.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sextant/io/huggingface_families.hpp"
#include "sextant/io/text.hpp"

namespace sextant::hugging_face {

namespace {

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

void check_biases(Config& c) {
  for (const char* key : {"mamba_proj_bias", "projectors_bias", "use_bias"}) {
    if (c.flag({key}, false))
      c.problem(key, "no recurrence with biases in its projections is known");
  }
  for (const char* key : {"mamba_conv_bias", "use_conv_bias"}) {
    if (!c.flag({key}, true)) c.problem(key, "no convolution of Mamba without a bias is known");
  }
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
  check_biases(c);
}

int channels_of(Config& c, const Model& m) {
  const int expand = c.count_or({"mamba_expand", "expand"}, 2, 1000);
  return static_cast<int>(std::min<std::int64_t>(most_heads, std::int64_t{expand} * m.hidden));
}

/// Gated DeltaNet in all but every fourth layer. Without experts, too (Qwen3.5).
void read_qwen_hybrid(Config& c, Model& m) {
  Hybrid& h = m.hybrid;
  h.kind = Recurrence::gated_delta;
  const int interval = c.count_or({"full_attention_interval"}, 4, most_layers);
  h.recurrent_layers = layers_unlike(c, m, "full_attention", {"linear_attention"},
                                     m.layers - every(interval, m.layers));
  if (h.recurrent_layers == 0) h.kind = Recurrence::none;
  h.heads = c.count_or({"linear_num_value_heads"}, 32, most_heads);
  h.head_dim = c.count_or({"linear_value_head_dim"}, 128, most_heads);
  h.state = c.count_or({"linear_key_head_dim"}, 128, most_heads);
  h.groups = c.count_or({"linear_num_key_heads"}, 16, most_heads);
  h.conv = c.count_or({"linear_conv_kernel_dim"}, 4, 1000);
}

void read_qwen3_next(Config& c, Model& m) {
  read_qwen3(c, m);
  read_qwen_experts(c, m);
  m.attention.gate = c.flag({"attn_output_gate"}, true);
  read_qwen_hybrid(c, m);
}

/// OLMo Hybrid: its deltas have as many heads as its attention, values twice as wide as keys.
void read_olmo_hybrid(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.qk_norm_wide = true;
  read_qwen_hybrid(c, m);
  Hybrid& h = m.hybrid;
  h.groups = c.count_or({"linear_num_key_heads"}, m.attention.heads, most_heads);
  h.heads = c.count_or({"linear_num_value_heads"}, m.attention.heads, most_heads);
  const int key = static_cast<int>(0.75 * m.hidden / std::max(1, h.groups));
  h.state = c.count_or({"linear_key_head_dim"}, key, most_heads);
  h.head_dim = c.count_or({"linear_value_head_dim"}, 2 * h.state, most_heads);
}

void read_qwen3_5(Config& c, Model& m) {
  read_like_llama(c, m);
  m.attention.qk_norm = true;
  m.attention.gate = c.flag({"attn_output_gate"}, true);
  if (m.attention.head_dim == 0) m.attention.head_dim = 256;
  read_qwen_hybrid(c, m);
}

void read_qwen3_5_dense(Config& c, Model& m) {
  read_qwen3_5(c, m);
  m.ffn = c.count({"intermediate_size"}, most);
}

/// No layer has a dense MLP, so files give no width of one.
void read_qwen3_5_moe(Config& c, Model& m) {
  read_qwen3_5(c, m);
  read_qwen_experts(c, m);
  m.ffn = c.count_or({"intermediate_size"}, m.experts.ffn, most);
}

/// One letter a layer: M Mamba-2, * attention, - MLP, E experts. Newer files have a list of words
/// instead, and no number of layers beside it.
std::string read_pattern(Config& c) {
  constexpr std::pair<std::string_view, char> words[] = {
      {"mamba", 'M'},     {"linear_attention", 'M'},
      {"attention", '*'}, {"full_attention", '*'},
      {"mlp", '-'},       {"moe", 'E'}};
  for (const char* key : {"layers_block_type", "layer_types"}) {
    const std::vector<Node>* types = c.list(key);
    if (types == nullptr) continue;
    std::string pattern;
    for (const Node& type : *types) {
      const auto* const at = std::find_if(std::begin(words), std::end(words),
                                          [&](const auto& w) { return w.first == type.string; });
      if (at == std::end(words)) {
        c.problem(key, "no layer of type " + in_quotes(type.string) + " is known in this family");
        break;
      }
      pattern += at->second;
    }
    return pattern;
  }
  std::string pattern = c.word("hybrid_override_pattern");
  std::erase(pattern, '|');  // where Megatron cuts stages
  return pattern;
}

void read_nemotron_h(Config& c, Model& m) {
  const std::string pattern = read_pattern(c);
  const auto listed = static_cast<int>(std::min<std::size_t>(most_layers, pattern.size()));
  read_shape(c, m, listed);
  m.norm = Norm::rmsnorm;
  m.norms_per_layer = 1;
  m.position = Position::none;
  m.tied = c.flag({"tie_word_embeddings"}, false);
  read_activation(c, {"mlp_hidden_act"}, "relu2", Gate::plain, m);
  m.ffn = c.count_or({"intermediate_size"}, 0, most);
  m.attention.kv_heads = c.count_or({"num_key_value_heads"}, 8, most_heads);
  m.attention.head_dim = c.count_or({"head_dim", "attention_head_dim"}, 128, most_heads);
  m.attention.qkv_bias = m.attention.output_bias = c.flag({"attention_bias"}, false);
  c.pass_over("mtp_layers_block_type");
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
  h.groups = c.count_or({"n_groups", "mamba_n_groups"}, 8, most_heads);
  h.conv = c.count_or({"conv_kernel", "mamba_d_conv"}, 4, 1000);
  check_biases(c);
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
  const int topk = c.count_or({"num_experts_per_tok"}, 2, most_heads);
  if (e.count <= 1 || sparse == 0) {
    e.count = 0;
    return;
  }
  e.topk = topk;
  e.ffn = m.ffn;
  e.dense_layers = m.layers - sparse;
  e.spread = e.dense_layers > 0;
}

/// Around layers that are nothing but recurrences.
void read_recurrent(Config& c, Model& m, bool tied) {
  m.layers = c.count({"num_hidden_layers", "n_layer"}, most_layers);
  m.hidden = c.count({"hidden_size", "d_model"}, most_width);
  m.vocab = c.count({"vocab_size"}, most);
  m.norm = Norm::rmsnorm;
  m.norms_per_layer = 1;
  m.position = Position::none;
  m.mlp = Mlp::none;
  m.tied = c.flag({"tie_word_embeddings"}, tied);
  m.hybrid.recurrent_layers = m.layers;
}

/// Nothing but Mamba layers. Files give the channels beside a factor that does not always lead to
/// them (Falcon Mamba: 16 times 4096, and 8192).
void read_mamba(Config& c, Model& m) {
  read_recurrent(c, m, true);
  read_selective(c, m, c.count_or({"intermediate_size"}, channels_of(c, m), most_heads));
}

void read_falcon_mamba(Config& c, Model& m) {
  read_mamba(c, m);
  m.hybrid.inner_norms = InnerNorms::bare;
}

/// The least multiple that is no smaller.
int rounded_up(double value, int multiple) {
  return static_cast<int>(std::min<double>(most, std::ceil(value / multiple) * multiple));
}

/// Mamba-2's heads by the names of Bamba and Granite 4.
void read_mamba2_layers(Config& c, Model& m) {
  Hybrid& h = m.hybrid;
  h.kind = Recurrence::mamba2;
  const int channels = channels_of(c, m);
  h.heads = c.count_or({"mamba_n_heads", "num_heads"}, 128, most_heads);
  // Beside attention, head_dim is that of its heads.
  h.head_dim = c.has("mamba_n_heads") ? c.count_or_auto({"mamba_d_head"}, most_heads)
                                      : c.count_or_auto({"mamba_d_head", "head_dim"}, most_heads);
  if (h.head_dim == 0) h.head_dim = channels / std::max(1, h.heads);
  h.state = c.count_or({"mamba_d_state", "state_size"}, 128, most_heads);
  h.groups = c.count_or({"mamba_n_groups", "n_groups"}, 1, most_heads);
  h.conv = c.count_or({"mamba_d_conv", "conv_kernel"}, 4, 1000);
  check_biases(c);
}

/// Nothing but Mamba-2 layers.
void read_mamba2(Config& c, Model& m) {
  read_recurrent(c, m, false);
  read_mamba2_layers(c, m);
  c.pass_over("intermediate_size");  // the channels of all heads
}

void read_bamba(Config& c, Model& m) {
  read_llama(c, m);
  read_mamba2_layers(c, m);
  const std::vector<Node>* attention = c.list("attn_layer_indices");
  const int usual = attention == nullptr ? 0 : static_cast<int>(attention->size());
  const int listed = layers_unlike(c, m, "attention", {"mamba"}, m.layers - usual);
  m.hybrid.recurrent_layers =
      layers_unlike(c, m, "attention", {"mamba"}, listed, "layers_block_type");
  m.hybrid.attention_layers = m.layers - m.hybrid.recurrent_layers;
}

/// Falcon-H1: attention and Mamba-2 side by side in every layer.
void read_falcon_h1(Config& c, Model& m) {
  read_llama(c, m);
  m.attention.kv_heads = c.count_or({"num_key_value_heads"}, 8, most_heads);
  read_mamba2_layers(c, m);
  Hybrid& h = m.hybrid;
  h.parallel = true;
  h.recurrent_layers = h.attention_layers = m.layers;
  h.state = c.count_or({"mamba_d_state"}, 256, most_heads);
  const int channels = c.count_or({"mamba_d_ssm"}, channels_of(c, m), most_heads);
  if (c.count_or_auto({"mamba_d_head"}, most_heads) == 0) {
    h.head_dim = channels / std::max(1, h.heads);
  }
  if (std::int64_t{h.heads} * h.head_dim != channels) {
    c.problem("mamba_d_ssm", "expected " + std::to_string(std::int64_t{h.heads} * h.head_dim) +
                                 ", mamba_n_heads times mamba_d_head");
  }
  if (c.has("attn_layer_indices")) {
    c.problem("attn_layer_indices", "no Falcon-H1 with attention in some layers alone is known");
  }
}

/// Granite 4: Mamba-2 in most layers or in none, experts or a dense MLP.
void read_granite_hybrid(Config& c, Model& m) {
  read_llama(c, m);
  const std::string position = c.word({"position_embedding_type"}, "rope");
  m.position = position == "rope" ? Position::rope : Position::none;
  Experts& e = m.experts;
  const int shared = c.count_or({"shared_intermediate_size"}, 1024, most);
  e.count = c.count_or({"num_local_experts"}, 8, most_heads);
  if (e.count > 0) {
    e.topk = c.count_or({"num_experts_per_tok"}, 2, most_heads);
    e.ffn = m.ffn;
    e.shared_ffn = shared;
    e.shared = shared > 0 ? 1 : 0;
  } else {
    m.ffn = shared;
  }
  read_mamba2_layers(c, m);
  m.hybrid.recurrent_layers = layers_unlike(c, m, "attention", {"mamba"}, m.layers);
  m.hybrid.recurrent_layers =
      layers_unlike(c, m, "attention", {"mamba"}, m.hybrid.recurrent_layers, "layers_block_type");
  m.hybrid.attention_layers = m.layers - m.hybrid.recurrent_layers;
  if (m.hybrid.recurrent_layers == 0) m.hybrid = {};
}

/// Kimi Linear (arXiv 2510.26692): latent attention without positions in every fourth layer, delta
/// attention whose channels have gates of their own in the others.
void read_kimi_linear(Config& c, Model& m) {
  read_llama(c, m);
  read_latent(c, m);
  if (c.flag({"mla_use_nope"}, false)) m.position = Position::none;
  read_fine_experts(c, m);
  m.experts.router_bias = m.experts.count > 0;
  Config linear = c.section("linear_attn_config");
  const std::vector<Node>* layers = linear.list("kda_layers");
  if (layers == nullptr) linear.missing("kda_layers", "a list of layers");
  Hybrid& h = m.hybrid;
  h.kind = Recurrence::gated_delta;
  h.recurrent_layers = layers == nullptr ? 1 : static_cast<int>(layers->size());
  h.heads = h.groups = linear.count({"num_heads"}, most_heads);
  h.head_dim = h.state = h.gate_rank = linear.count({"head_dim"}, most_heads);
  h.conv = linear.count_or({"short_conv_kernel_size"}, 4, 1000);
  if (linear.flag({"use_full_rank_gate"}, false)) {
    linear.problem("use_full_rank_gate", "no Kimi whose gates are of full rank is known");
  }
}

/// MiniMax-01 and M1 (arXiv 2501.08313): lightning attention but for every eighth layer.
void read_minimax_01(Config& c, Model& m) {
  read_llama(c, m);
  m.experts.count = c.count({"num_local_experts"}, most_heads);
  m.experts.topk = c.count_or({"num_experts_per_tok"}, 2, most_heads);
  m.experts.ffn = m.ffn;
  m.experts.shared_ffn = c.count_or({"shared_intermediate_size"}, 0, most);
  m.experts.shared = m.experts.shared_ffn > 0 ? 1 : 0;
  Hybrid& h = m.hybrid;
  const int usual = m.layers - every(8, m.layers);
  h.recurrent_layers = layers_unlike(c, m, "full_attention", {"linear_attention"}, usual);
  if (const std::vector<Node>* types = c.list("attn_type_list")) {
    h.recurrent_layers = static_cast<int>(std::count_if(
        types->begin(), types->end(), [](const Node& type) { return type.integer == 0; }));
  }
  h.kind = h.recurrent_layers > 0 ? Recurrence::lightning : Recurrence::none;
  h.heads = h.groups = m.attention.heads;
  h.head_dim = h.state =
      m.attention.head_dim > 0 ? m.attention.head_dim : m.hidden / std::max(1, m.attention.heads);
}

/// Ling and Ring: lightning attention but for the last layer of every group, and what is behind the
/// last whole one.
void read_bailing_lightning(Config& c, Model& m) {
  const int group = std::max(1, c.count_or({"layer_group_size"}, 1, most_layers));
  Hybrid& h = m.hybrid;
  h.recurrent_layers = m.layers / group * (group - 1);
  if (h.recurrent_layers == 0) return;
  h.kind = Recurrence::lightning;
  h.heads = h.groups = m.attention.heads;
  h.head_dim = h.state = c.count_or({"head_dim"}, m.hidden / std::max(1, h.heads), most_heads);
}

void read_bailing_linear(Config& c, Model& m) {
  read_bailing_v2(c, m);
  read_bailing_lightning(c, m);
}

/// Ling 3: delta attention as Kimi's, with gates of full rank, where 2.5 has lightning attention.
void read_bailing_delta(Config& c, Model& m) {
  Hybrid& h = m.hybrid;
  h.conv = c.count_or({"short_conv_kernel_size"}, 4, 1000);
  h.channel_gates = c.flag({"no_kda_lora"}, false);
  if (h.recurrent_layers == 0) return;
  h.kind = Recurrence::gated_delta;
  if (!h.channel_gates) h.gate_rank = h.head_dim;
}

/// Ling 2.5 and 3: latent attention in the layers without a recurrence.
void read_bailing_hybrid(Config& c, Model& m) {
  read_llama(c, m);
  c.pass_over("num_key_value_heads");
  read_latent(c, m);
  const bool delta = c.has("short_conv_kernel_size");
  m.attention.qk_norm = c.flag({"use_qk_norm"}, !delta);
  read_bailing_experts(c, m);
  read_bailing_lightning(c, m);
  if (delta) read_bailing_delta(c, m);
  constexpr std::string_view gates = "gated_attention_proj_granularity_type";
  if (!c.has(gates)) return;
  m.attention.head_gate = c.word(gates) == "head_wise";
  if (!m.attention.head_gate) c.problem(gates, "no Ling with gates but of heads is known");
}

/// LFM2: short convolutions between gates in most layers.
void read_lfm2_layers(Config& c, Model& m) {
  m.norm = Norm::rmsnorm;
  m.mlp = Mlp::swiglu;
  m.attention.kv_heads = c.count_or({"num_key_value_heads"}, 8, most_heads);
  m.attention.qk_norm = true;
  m.tied = c.flag({"tie_word_embeddings", "tie_embedding"}, true);
  Hybrid& h = m.hybrid;
  h.kind = Recurrence::convolution;
  h.conv = c.count_or({"conv_L_cache"}, 3, 1000);
  if (c.flag({"conv_bias"}, false)) c.problem("conv_bias", "no LFM2 with such biases is known");
  for (const char* key : {"block_dim", "conv_dim", "conv_dim_out"}) {
    if (c.count_or({key}, m.hidden, most_width) != m.hidden) {
      c.problem(key, "expected " + std::to_string(m.hidden) + ", the width of the model");
    }
  }
  const std::vector<Node>* full = c.list("full_attn_idxs");
  const int usual = m.layers - (full == nullptr ? m.layers : static_cast<int>(full->size()));
  h.recurrent_layers = layers_unlike(c, m, "full_attention", {"conv"}, usual);
  if (h.recurrent_layers == 0) m.hybrid = {};
}

void read_lfm2(Config& c, Model& m) {
  read_shape(c, m);
  read_lfm2_layers(c, m);
  m.ffn = c.count({"block_ff_dim", "intermediate_size"}, most);
  const double share = c.positive("block_ffn_dim_multiplier", 1);
  const int multiple = std::max(1, c.count_or({"block_multiple_of"}, 256, most));
  if (!c.flag({"block_auto_adjust_ff_dim"}, true)) return;
  // As Llama 1 came to its widths: two thirds, up to a multiple.
  m.ffn = rounded_up(std::floor(share * std::floor(2.0 * m.ffn / 3)), multiple);
}

void read_lfm2_moe(Config& c, Model& m) {
  read_shape(c, m);
  read_lfm2_layers(c, m);
  m.ffn = c.count({"intermediate_size"}, most);
  Experts& e = m.experts;
  e.count = c.count({"num_experts"}, most_heads);
  e.topk = c.count({"num_experts_per_tok"}, most_heads);
  e.ffn = c.count({"moe_intermediate_size"}, most);
  e.dense_layers = c.count_or({"num_dense_layers"}, 2, most_layers);
  e.router_bias = c.flag({"use_expert_bias"}, true);
}

/// Llama-Nemotron, pruned layer by layer: some have no attention, MLPs are of many widths.
void read_nemotron_nas(Config& c, Model& m) {
  read_like_llama(c, m);
  const std::vector<Node>* blocks = c.list("block_configs");
  if (blocks == nullptr) return c.missing("block_configs", "a list of layers");
  double width = 0;
  int grouped = 0;
  int& attention = m.hybrid.attention_layers;
  int& mlps = m.hybrid.mlp_layers;
  for (Config block : c.sections("block_configs")) {
    Config mixer = block.section("attention");
    Config mlp = block.section("ffn");
    for (Config* part : {&mixer, &mlp}) {
      if (part->flag({"replace_with_linear"}, false)) {
        part->problem("replace_with_linear", "no layer with a linear map instead is known");
      }
    }
    if (!mixer.flag({"no_op"}, false)) {
      ++attention;
      const int group = mixer.count({"n_heads_in_group"}, most_heads);
      if (grouped > 0 && group != grouped) {
        mixer.problem("n_heads_in_group",
                      "expected " + std::to_string(grouped) + ", as layers before have");
      }
      grouped = group;
    }
    if (!mlp.flag({"no_op"}, false)) {
      ++mlps;
      const double share = mlp.positive("ffn_mult", 1);
      width += rounded_up(std::floor(2 * share * m.hidden / 3), 256);
    }
  }
  m.attention.kv_heads = m.attention.heads / std::max(1, grouped);
  c.pass_over("intermediate_size");  // of the model before it was pruned
  // To a multiple as theirs are: kernels for other widths are slower.
  m.ffn = 256 * static_cast<int>(std::round(width / std::max(1, mlps) / 256));
  note(m, "pruned layer by layer; ffn is the mean over layers");
}

constexpr Family all_hybrids[] = {{"bailing_hybrid", "Ling", read_bailing_hybrid},
                                  {"bailing_moe_linear", "Ling", read_bailing_linear},
                                  {"bamba", "Bamba", read_bamba},
                                  {"deci", "Llama-Nemotron", read_nemotron_nas},
                                  {"falcon_h1", "Falcon-H1", read_falcon_h1},
                                  {"falcon_mamba", "Falcon Mamba", read_falcon_mamba},
                                  {"granitemoehybrid", "Granite", read_granite_hybrid},
                                  {"jamba", "Jamba", read_jamba},
                                  {"kimi_linear", "Kimi", read_kimi_linear},
                                  {"lfm2", "LFM2", read_lfm2},
                                  {"lfm2_moe", "LFM2", read_lfm2_moe},
                                  {"mamba", "Mamba", read_mamba},
                                  {"mamba2", "Mamba", read_mamba2},
                                  {"minimax", "MiniMax", read_minimax_01},
                                  {"minimax_m1", "MiniMax", read_minimax_01},
                                  {"minimax_text_01", "MiniMax", read_minimax_01},
                                  {"nemotron-nas", "Llama-Nemotron", read_nemotron_nas},
                                  {"nemotron_h", "Nemotron-H", read_nemotron_h},
                                  {"olmo_hybrid", "OLMo Hybrid", read_olmo_hybrid},
                                  {"qwen3_5", "Qwen3.5", read_qwen3_5_dense},
                                  {"qwen3_5_moe", "Qwen3.5", read_qwen3_5_moe},
                                  {"qwen3_5_moe_text", "Qwen3.5", read_qwen3_5_moe},
                                  {"qwen3_5_text", "Qwen3.5", read_qwen3_5_dense},
                                  {"qwen3_next", "Qwen3", read_qwen3_next}};

}  // namespace

std::span<const Family> hybrid_families() { return all_hybrids; }

}  // namespace sextant::hugging_face
