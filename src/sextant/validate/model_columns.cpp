// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/model_columns.hpp"

namespace sextant {
namespace {

// A decoder as GPT-3 and Megatron have it, or as Llama where its MLP is gated.
Model plain_model(const ModelColumns& given, const std::string& name, int context) {
  Model m;
  m.name = name.empty() ? "columns" : name;
  m.mlp = given.mlp.value_or(Mlp::gelu);
  m.max_context = context;
  if (gated(m.mlp)) {
    m.norm = Norm::rmsnorm;
    m.position = Position::rope;
    return m;
  }
  m.norm = Norm::layernorm;
  m.norm_bias = m.mlp_bias = m.attention.qkv_bias = m.attention.output_bias = true;
  m.position = Position::learned;
  m.tied = true;
  return m;
}

// Fields that follow from others are derived again where those change.
void forget_derived(Model& m, const ModelColumns& c) {
  const bool other_width = c.hidden > 0 && c.hidden != m.hidden;
  const bool other_heads = c.heads > 0 && c.heads != m.attention.heads;
  const bool plain_heads = m.attention.head_dim * m.attention.heads == m.hidden;
  if ((other_width || other_heads) && plain_heads) m.attention.head_dim = 0;
  if (other_heads && m.attention.kv_heads == m.attention.heads) m.attention.kv_heads = 0;
  if (other_width && m.ffn == 4 * m.hidden) m.ffn = 0;
}

}  // namespace

ModelColumns read_model_columns(RowReader& row) {
  ModelColumns m;
  m.layers = row.whole_or("layers", 0, 0, 1e4);
  m.hidden = row.whole_or("hidden", 0, 0, 1e7);
  m.heads = row.whole_or("heads", 0, 0, 1e6);
  m.kv_heads = row.whole_or("kv_heads", 0, 0, 1e6);
  m.ffn = row.whole_or("ffn", 0, 0, count_limit);
  m.vocab = row.whole_or("vocab", 0, 0, count_limit);
  m.experts = row.whole_or("experts", 0, 0, 1e6);
  m.topk = row.whole_or("topk", 0, 0, 1e6);
  if (!row.text("mlp").empty()) m.mlp = row.choice("mlp", Mlp::gelu);
  if (!row.text("tied").empty()) m.tied = row.whole_or("tied", 0, 0, 1) != 0;
  return m;
}

Model model_of(const ModelColumns& given, const std::string& name, int context,
               const Model* preset) {
  Model m = preset != nullptr ? *preset : plain_model(given, name, context);
  forget_derived(m, given);
  const auto take = [](int& field, int value) {
    if (value > 0) field = value;
  };
  take(m.layers, given.layers);
  take(m.hidden, given.hidden);
  take(m.attention.heads, given.heads);
  take(m.attention.kv_heads, given.kv_heads);
  take(m.ffn, given.ffn);
  take(m.vocab, given.vocab);
  take(m.experts.count, given.experts);
  take(m.experts.topk, given.topk);
  if (preset == nullptr && m.experts.count > 0) m.experts.ffn = m.ffn;
  if (given.mlp) m.mlp = *given.mlp;
  if (given.tied) m.tied = *given.tied;
  complete(m);
  return m;
}

}  // namespace sextant
