// SPDX-License-Identifier: Apache-2.0
// Models as graphs: which layer holds what, and what fields of a model change.
#include "sextant/graph/graph.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sextant/io/presets.hpp"

namespace sextant::graph {
namespace {

/// The layers of a model by the names of their branches, one letter each.
std::string order_of(const std::string& name) {
  const Graph g = build(load_model(name));
  std::string order;
  for (int i = 0; i < g.layers; ++i) {
    TypeCount one{};
    g.count(i, i + 1, one);
    for (int t = 0; t < g.type_count; ++t) {
      const auto at = static_cast<std::size_t>(t);
      if (one[at] == 0) continue;
      const LayerType& type = g.types[at];
      for (const int branch : {type.mixer, type.mlp}) {
        if (branch >= 0) order += g.branches[static_cast<std::size_t>(branch)].name[0];
      }
      order += ' ';
    }
  }
  return order;
}

TEST(Graph, LayersAreInTheModelsOrder) {
  EXPECT_EQ(order_of("deepseek-v3").substr(0, 15), "am am am ae ae ");
  EXPECT_EQ(order_of("gpt-oss-120b").substr(0, 12), "we ae we ae ");
  EXPECT_EQ(order_of("qwen3-next-80b-a3b").substr(0, 15), "re re re ae re ");
}

TEST(Graph, EveryPresetHasAsManyLayersAsItSays) {
  for (const std::string& name : preset_names(PresetKind::model)) {
    const Model m = load_model(name);
    const Graph g = build(m);
    const LayerCount n = count_layers(m);
    int layers = 0;
    for (const int count : g.all()) layers += count;
    EXPECT_EQ(layers, m.layers) << name;
    int mixers = 0;
    int mlps = 0;
    for (int i = 0; i < g.branch_count(); ++i) {
      const Branch& b = g.branches[static_cast<std::size_t>(i)];
      const bool mlp = b.module == Module::mlp || b.module == Module::experts;
      (mlp ? mlps : mixers) += b.layers;
    }
    EXPECT_EQ(mixers, n.attention + n.recurrent) << name;
    EXPECT_EQ(mlps, n.dense + n.experts) << name;
  }
}

TEST(Graph, ATokenIsMultipliedWithTheWeightsItUses) {
  for (const std::string& name : preset_names(PresetKind::model)) {
    const Model m = load_model(name);
    const Graph g = build(m);
    const ParameterCount n = count_parameters(g);
    double used = n.attention + n.recurrent + n.mlp + n.shared + n.router;
    if (m.experts.count > 0) used += n.experts * m.experts.topk / m.experts.count;
    double multiplied_with = 0;
    for (int i = 0; i < g.branch_count(); ++i) {
      const Branch& b = g.branches[static_cast<std::size_t>(i)];
      for (const Operator& op : b.operators) multiplied_with += b.layers * multiplied(op);
    }
    // But for biases, and what is neither a matrix nor a norm (a recurrence's decay).
    EXPECT_NEAR(multiplied_with / used, 1, 0.01) << name;
  }
}

TEST(Graph, AWindowBoundsWhatIsCached) {
  Operator op;
  op.cache = {.elements = {.kv = 64, .kv_heads = 4}, .bytes = 1, .window = 100, .state = 8};
  EXPECT_EQ(cached_bytes(op, 10, 2, 1), 10 * (64 * 2 + 1) + 8);
  EXPECT_EQ(cached_bytes(op, 1000, 2, 1), 100 * (64 * 2 + 1) + 8);
  EXPECT_EQ(cached_bytes(op, 10, 2, 8), 10 * (16 * 2 + 1) + 1);
}

TEST(Graph, SharedKeysAreNeitherProjectedNorCached) {
  const Graph g = build(load_model("gemma4-2b"));
  int caching = 0;
  int reusing = 0;
  for (const Branch& b : g.branches) {
    for (const Operator& op : b.operators) {
      if (op.kind != Kind::attention) continue;
      (op.cache.elements.all() > 0 ? caching : reusing) += b.layers;
    }
  }
  EXPECT_EQ(caching, 15);
  EXPECT_EQ(reusing, 20);
}

TEST(Graph, KeyValueHeadsAreRepeatedWhereRanksAreMore) {
  const Width w{.cut = 64, .kv = 32, .kv_heads = 4};
  EXPECT_EQ(w.on(2), 32 + 16);
  EXPECT_EQ(w.on(8), 8 + 8);
  EXPECT_EQ(w.all(), 96);
}

}  // namespace
}  // namespace sextant::graph
