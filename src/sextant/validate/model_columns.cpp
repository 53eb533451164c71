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

}  // namespace

ModelColumns read_model_columns(RowReader& row, const std::string& name) {
  ModelColumns m;
  m.layers = row.whole_or("layers", 0, 0, 1e4);
  m.hidden = row.whole_or("hidden", 0, 0, 1e7);
  m.heads = row.whole_or("heads", 0, 0, 1e6);
  m.kv_heads = row.whole_or("kv_heads", 0, 0, 1e6);
  m.ffn = row.whole_or("ffn", 0, 0, count_limit);
  m.vocab = row.whole_or("vocab", 0, 0, count_limit);
  m.experts = row.whole_or("experts", 0, 0, 1e6);
  m.topk = row.whole_or("topk", 0, 0, 1e6);
  if (!row.text("dense_layers").empty()) m.dense_layers = row.whole("dense_layers", 0, 1e5);
  if (!row.text("mlp").empty()) m.mlp = row.choice("mlp", Mlp::gelu);
  if (!row.text("tied").empty()) m.tied = row.whole_or("tied", 0, 0, 1) != 0;
  if (name.empty() && !m.complete()) {
    row.problem("model", "a row without a model's name gives layers, hidden, heads and vocab");
  }
  return m;
}

std::vector<Setting> settings_of(const ModelColumns& given) {
  std::vector<Setting> all;
  const auto set = [&](const char* field, std::string value) {
    all.push_back({std::string("model.") + field, std::move(value)});
  };
  const auto take = [&](const char* field, int value) {
    if (value > 0) set(field, std::to_string(value));
  };
  take("layers", given.layers);
  take("hidden", given.hidden);
  take("attention.heads", given.heads);
  take("attention.kv_heads", given.kv_heads);
  take("ffn", given.ffn);
  take("vocab", given.vocab);
  take("experts.count", given.experts);
  take("experts.topk", given.topk);
  if (given.dense_layers) set("experts.dense_layers", std::to_string(*given.dense_layers));
  if (given.mlp) set("mlp", std::string(name_of(*given.mlp)));
  if (given.tied) set("tied", *given.tied ? "true" : "false");
  return all;
}

Model model_of(const ModelColumns& given, const std::string& name, int context) {
  Model m = plain_model(given, name, context);
  apply(settings_of(given), m, "model");
  if (m.experts.count > 0) m.experts.ffn = m.ffn;
  complete(m);
  return m;
}

}  // namespace sextant
