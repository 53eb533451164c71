// SPDX-License-Identifier: Apache-2.0
// What families share.
// What a key's absence means is written where the key is read, from the configuration classes of
// Hugging Face transformers: many files leave out what their class defaults to.
#include <algorithm>

#include "sextant/io/huggingface_families.hpp"
#include "sextant/io/text.hpp"

namespace sextant::hugging_face {

void read_activation(Config& c, Keys keys, std::string_view otherwise, Gate gate, Model& m) {
  const std::string name = c.word(keys, std::string(otherwise));
  const bool gelu = name.find("gelu") != std::string::npos;
  if (gate == Gate::gated && (name == "silu" || name == "swish" || name == "swiglu")) {
    m.mlp = Mlp::swiglu;
  } else if (gate == Gate::gated && gelu) {
    m.mlp = Mlp::geglu;
  } else if (gate == Gate::plain && (gelu || name == "xielu")) {
    m.mlp = Mlp::gelu;
  } else if (gate == Gate::plain && name == "relu") {
    m.mlp = Mlp::relu;
  } else if (gate == Gate::plain && name == "relu2") {
    m.mlp = Mlp::squared_relu;
  } else {
    c.problem(*keys.begin(), "no MLP with activation " + in_quotes(name) + " is known",
              gate == Gate::gated ? "silu and gelu are" : "gelu, xielu, relu and relu2 are");
  }
}

void all_biases(Model& m, bool present) {
  m.attention.qkv_bias = m.attention.output_bias = m.mlp_bias = present;
}

void read_shape(Config& c, Model& m, int layers) {
  const Keys names = {"num_hidden_layers", "n_layer", "n_layers", "num_layers"};
  m.layers = layers > 0 ? c.count_or(names, layers, most_layers) : c.count(names, most_layers);
  m.hidden = c.count({"hidden_size", "n_embd", "n_embed", "d_model"}, most_width);
  m.prediction_layers = c.count_or({"num_nextn_predict_layers", "mtp_num_hidden_layers"}, 0, 16);
  m.vocab = c.count({"vocab_size", "padded_vocab_size"}, most);
  m.max_context = c.count_or({"max_position_embeddings", "n_positions", "seq_length", "max_seq_len",
                              "n_ctx", "model_max_length"},
                             0, most);
  m.attention.heads =
      c.count({"num_attention_heads", "n_head", "n_heads", "num_heads"}, most_heads);
}

void read_like_llama(Config& c, Model& m, Gate gate, std::string_view activation) {
  read_shape(c, m);
  m.norm = Norm::rmsnorm;
  m.attention.kv_heads = c.count_or({"num_key_value_heads"}, 0, most_heads);
  m.attention.head_dim = c.count_or({"head_dim", "attention_head_dim"}, 0, most_heads);
  m.attention.qkv_bias = m.attention.output_bias = c.flag({"attention_bias", "bias"}, false);
  m.mlp_bias = c.flag({"mlp_bias"}, false);
  m.tied = c.flag({"tie_word_embeddings"}, false);
  read_activation(c, {"hidden_act", "hidden_activation", "activation_function"}, activation, gate,
                  m);
}

void read_llama(Config& c, Model& m) { read_llama(c, m, Gate::gated, "silu"); }

void read_llama(Config& c, Model& m, Gate gate, std::string_view activation) {
  read_like_llama(c, m, gate, activation);
  m.ffn = c.count({"intermediate_size"}, most);
}

int layers_unlike(Config& c, const Model& m, std::string_view full, Keys others, int otherwise,
                  std::string_view key) {
  const std::vector<Node>* types = c.list(key);
  if (types == nullptr) return otherwise;
  if (types->size() != static_cast<std::size_t>(m.layers)) {
    c.problem(key, "expected one entry for each of " + std::to_string(m.layers) + " layers, not " +
                       std::to_string(types->size()));
  }
  // As transformers has called them since its version 5.
  const auto is = [](std::string_view type, std::string_view name) {
    return type == name || (name == "mamba" && type == "linear_attention") ||
           (name == "attention" && type == "full_attention");
  };
  int unlike = 0;
  for (const Node& type : *types) {
    if (is(type.string, full)) continue;
    ++unlike;
    const auto names_it = [&](std::string_view name) { return is(type.string, name); };
    if (std::any_of(others.begin(), others.end(), names_it)) continue;
    c.problem(key, "no layer of type " + in_quotes(type.string) + " is known in this family");
    break;
  }
  return unlike;
}

void read_window(Config& c, Model& m, int window_layers, int otherwise) {
  m.attention.window = c.count_or({"sliding_window"}, otherwise, most);
  const int windowed = layers_unlike(c, m, "full_attention",
                                     {"sliding_attention", "chunked_attention"}, window_layers);
  if (m.attention.window == 0) return;
  m.attention.window_layers = windowed;
  if (m.attention.window_layers == 0) m.attention.window = 0;
}

void read_optional_window(Config& c, Model& m) {
  const int first = c.count_or({"max_window_layers"}, 28, most_layers);
  c.pass_over("sliding_window");
  if (!c.flag({"use_sliding_window"}, false)) return;
  read_window(c, m, std::max(0, m.layers - first), 4096);
}

void read_latent(Config& c, Model& m) {
  Attention& a = m.attention;
  a = {.kind = AttentionKind::latent,
       .heads = a.heads,
       .qkv_bias = a.qkv_bias,
       .output_bias = a.output_bias};
  a.q_rank = c.count_or({"q_lora_rank"}, 0, most_heads);
  a.index_heads = c.count_or({"index_n_heads"}, 0, most_heads);
  a.index_dim = c.count_or({"index_head_dim"}, 0, most_heads);
  a.index_top = c.count_or({"index_topk"}, 0, most_heads);
  const std::vector<Node>* indexers = c.list("indexer_types");
  if (a.index_heads > 0 && indexers != nullptr &&
      std::any_of(indexers->begin(), indexers->end(),
                  [](const Node& kind) { return kind.string == "shared"; })) {
    note(m, "layers that share an indexer's choice are counted with one each");
  }
  if (a.index_heads > 0) {
    layers_unlike(c, m, "indexed_attention", {"deepseek_sparse_attention"}, m.layers);
  }
  a.kv_rank = c.count({"kv_lora_rank"}, most_heads);
  a.nope_dim = c.count({"qk_nope_head_dim"}, most_heads);
  a.rope_dim = c.count({"qk_rope_head_dim"}, most_heads);
  a.value_dim = c.count({"v_head_dim"}, most_heads);
}

void read_fine_experts(Config& c, Model& m) {
  Experts& e = m.experts;
  e.count = c.count_or({"n_routed_experts", "num_experts", "num_local_experts"}, 0, most_heads);
  if (e.count == 0) return;
  e.topk = c.count({"num_experts_per_tok", "num_experts_per_token", "moe_topk"}, most_heads);
  e.ffn = c.count({"moe_intermediate_size", "expert_hidden_dim"}, most);
  e.shared = c.count_or({"n_shared_experts", "num_shared_experts"}, 0, most_heads);
  e.dense_layers = c.count_or({"first_k_dense_replace"}, 0, most_layers);
  e.dense_layers = m.layers - layers_unlike(c, m, "dense", {"sparse"}, m.layers - e.dense_layers,
                                            "mlp_layer_types");
  e.router_bias = c.word({"topk_method"}, "") == "noaux_tc";
  if (c.count_or({"moe_layer_freq"}, 1, most_layers) != 1) {
    c.problem("moe_layer_freq", "expected 1: experts in every layer behind the dense ones");
  }
  // Groups of experts are nodes; a token goes to the best few of them.
  const int groups = c.count_or({"n_group"}, 1, most_heads);
  const int chosen = c.count_or({"topk_group"}, 1, most_heads);
  if (groups > 1 && chosen < groups) e.most_nodes = chosen;
}

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

void note(Model& m, std::string_view what) {
  if (!m.notes.empty()) m.notes += "; ";
  m.notes += what;
}

}  // namespace sextant::hugging_face
