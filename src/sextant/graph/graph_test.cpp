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
  EXPECT_EQ(order_of("llama4-maverick").substr(0, 12), "wm we wm ae ");
  EXPECT_EQ(order_of("jamba-1.5-mini").substr(0, 27), "rm re rm re rm re rm ae rm ");
  EXPECT_EQ(order_of("falcon-mamba-7b").substr(0, 6), "r r r ");
  EXPECT_EQ(order_of("falcon-h1-7b").substr(0, 6), "am am ");
}

/// Of one layer of width 8: what it holds, and what a sequence keeps.
TEST(Graph, RecurrencesHoldWhatTheirKindSays) {
  struct Row {
    const char* name;
    Hybrid hybrid;
    double parameters, state;
  };
  const Row rows[] = {
      // q, k, v and a gate as wide, a norm of all heads, the way out; no convolution.
      {"lightning",
       {.kind = Recurrence::lightning, .heads = 2, .head_dim = 4, .state = 4, .groups = 2},
       8 * 32 + 8 + 8 * 8,
       2 * 4 * 4 * 4},
      // q, k, v and beta; two gates of rank 3; taps; A a head, steps a channel; norm; way out.
      {"of channels' gates",
       {.kind = Recurrence::gated_delta,
        .heads = 2,
        .head_dim = 4,
        .state = 4,
        .groups = 2,
        .gate_rank = 3},
       8 * (24 + 2) + 8 * 6 + 3 * 16 + 24 * 4 + (2 + 8) + 4 + 8 * 8,
       2 * 4 * 4 * 4 + 24 * 3 * 2},
      // q, k, v, a gate as wide as v, a decay as wide as k, beta; the rest as above.
      {"of channels' gates of full rank",
       {.kind = Recurrence::gated_delta,
        .heads = 2,
        .head_dim = 4,
        .state = 4,
        .groups = 2,
        .channel_gates = true},
       8 * (24 + 8 + 8 + 2) + 24 * 4 + (2 + 8) + 4 + 8 * 8,
       2 * 4 * 4 * 4 + 24 * 3 * 2},
      // Two gates and what passes them, three taps, the way out; two inputs are kept.
      {"convolution",
       {.kind = Recurrence::convolution, .conv = 3},
       8 * 24 + 8 * 3 + 8 * 8,
       8 * 2 * 2}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Model m;
    m.hidden = 8;
    m.hybrid = row.hybrid;
    m.hybrid.recurrent_layers = 1;
    complete(m);
    EXPECT_TRUE(check(m).empty());
    const Graph g = build(m);
    EXPECT_DOUBLE_EQ(count_parameters(g).recurrent, row.parameters);
    double state = 0;
    for (const Operator& op : g.branches.front().operators) state += op.cache.state;
    EXPECT_DOUBLE_EQ(state, row.state);
  }
  Model wrong;
  wrong.hybrid = {.kind = Recurrence::mamba2,
                  .recurrent_layers = 1,
                  .heads = 1,
                  .head_dim = 1,
                  .state = 1,
                  .gate_rank = 2};
  complete(wrong);
  ASSERT_EQ(check(wrong).size(), 1U);
  EXPECT_EQ(check(wrong)[0].field, "hybrid.gate_rank");
}

/// Falcon-H1: a layer with both has one norm before them and one sum after.
TEST(Graph, AttentionAndARecurrenceMayBeSideBySide) {
  const Graph g = build(load_model("falcon-h1-7b"));
  const Branch& b = g.branches.front();
  EXPECT_EQ(b.layers, 44);
  int inputs = 0, residuals = 0, attending = 0, scanning = 0;
  for (const Operator& op : b.operators) {
    inputs += op.kept.input ? 1 : 0;
    residuals += op.kind == Kind::residual ? 1 : 0;
    attending += op.kind == Kind::attention ? 1 : 0;
    scanning += op.kind == Kind::scan ? 1 : 0;
  }
  EXPECT_EQ(inputs, 1);
  EXPECT_EQ(residuals, 1);
  EXPECT_EQ(attending, 1);
  EXPECT_EQ(scanning, 1);
}

/// Step-3.5: 96 heads where there is a window, 64 where there is none, a gate of each.
TEST(Graph, LayersWithoutAWindowMayHaveOtherHeads) {
  for (const Branch& b : build(load_model("step-3.5-flash")).branches) {
    for (const Operator& op : b.operators) {
      const double heads = b.name == "attention" ? 64 : 96;
      const std::string_view name = op.name;
      if (op.kind == Kind::attention) {
        EXPECT_EQ(op.mixer.heads, heads);
      } else if (name == "head gate") {
        EXPECT_EQ(op.weights.all(), 4096 * heads);
      } else if (name == "output") {
        EXPECT_EQ(op.in.all(), 128 * heads);
      }
    }
  }
}

// Of one layer with attention, a shared expert and routed ones.
TEST(Graph, ACheckpointOfNarrowWeightsMayLeaveSomeAsTheyWere) {
  Model m;
  m.hidden = 32;
  m.attention = {.heads = 4, .kv_heads = 2, .head_dim = 8};
  m.experts = {.count = 4, .topk = 2, .shared = 1, .ffn = 16};
  m.mlp = Mlp::swiglu;
  const double attention = 32 * (32 + 16 + 16) + 32 * 32;
  const double shared = 3 * 32 * 16;
  const double router = 32 * 4;
  struct Row {
    Narrow narrow;
    double left;
  };
  for (const Row& row :
       {Row{Narrow::layers, 0}, Row{Narrow::outputs, attention - 32 * 32},
        Row{Narrow::mlps, attention}, Row{Narrow::experts, attention + shared + router}}) {
    m.narrow = row.narrow;
    complete(m);
    const Graph g = build(m);
    double left = 0;
    for (const Branch& b : g.branches) left += b.published.all();
    EXPECT_DOUBLE_EQ(left, row.left) << name_of(row.narrow);
  }
}

TEST(Graph, ValuesMayBeNarrowerThanKeys) {
  Model m;
  m.hidden = 32;
  m.attention = {.heads = 4, .kv_heads = 2, .head_dim = 8, .value_dim = 4};
  complete(m);
  const Graph g = build(m);
  // Queries of 32, keys of 16, values of 8, outputs of 16.
  EXPECT_DOUBLE_EQ(count_parameters(g).attention, 32 * (32 + 16 + 8) + 16 * 32);
  double cached = 0;
  for (const Operator& op : g.branches.front().operators) cached += cached_bytes(op, 1, 0, 2, 1);
  EXPECT_DOUBLE_EQ(cached, (16 + 8) * 2);
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
    EXPECT_EQ(mixers, n.attention + (m.hybrid.parallel ? 0 : n.recurrent)) << name;
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

/// Of one token's mixing in all layers: what a mask leaves out, over all.
double masked_share(const char* name, const char* branch, double seq) {
  double masked = 0;
  double all = 0;
  for (const Branch& b : build(load_model(name)).branches) {
    if (b.name != branch) continue;
    for (const Operator& op : b.operators) {
      masked += masked_flops(op, seq);
      all += mixing_flops(op, seq);
    }
  }
  EXPECT_GT(all, 0) << name << ' ' << branch;
  return masked / all;
}

// Worked out by hand: the mean over a sequence of how many tokens back each one sees.
TEST(Graph, AMaskLeavesOutHalfOfAttentionAloneAndNothingOfARecurrence) {
  EXPECT_DOUBLE_EQ(masked_share("llama3.1-8b", "attention", 4096), 0.5);
  EXPECT_DOUBLE_EQ(masked_share("gpt-oss-120b", "windowed attention", 4096), 0.5 * 128 / 4096);
  EXPECT_DOUBLE_EQ(masked_share("gpt-oss-120b", "windowed attention", 64), 0.5);
  EXPECT_DOUBLE_EQ(masked_share("qwen3-next-80b-a3b", "attention", 4096), 0.5);
  for (const char* name : {"falcon-mamba-7b", "granite-4.0-h-small", "nemotron-h-8b",
                           "jamba-1.5-mini", "qwen3-next-80b-a3b"}) {
    EXPECT_EQ(masked_share(name, "recurrence", 4096), 0) << name;
  }
}

TEST(Graph, AWindowBoundsWhatIsCached) {
  Operator op;
  op.cache = {.elements = {.kv = 64, .kv_heads = 4}, .bytes = 1, .window = 100, .state = 8};
  EXPECT_EQ(cached_bytes(op, 10, 0, 2, 1), 10 * (64 * 2 + 1) + 8);
  EXPECT_EQ(cached_bytes(op, 1000, 0, 2, 1), 100 * (64 * 2 + 1) + 8);
  EXPECT_EQ(cached_bytes(op, 10, 0, 2, 8), 10 * (16 * 2 + 1) + 1);
  op.cache.image = {.kv = 1000, .kv_heads = 4};
  EXPECT_EQ(cached_bytes(op, 10, 3, 2, 1), 10 * (64 * 2 + 1) + 8 + 3 * 2000);
}

/// What a sequence of so many tokens holds in 16 bits.
double held(const char* name, double tokens) {
  double bytes = 0;
  for (const Branch& b : build(load_model(name)).branches) {
    for (const Operator& op : b.operators) bytes += b.layers * cached_bytes(op, tokens, 0, 2, 1);
  }
  return bytes;
}

// Of a Mamba layer the fp32 state and the last inputs of the convolution, however long the
// sequence; of one with attention the keys and values of 8 heads.
TEST(Graph, StatesDoNotGrowWithTheContext) {
  const double state = 8192 * (16 * 4 + 3 * 2);
  EXPECT_EQ(held("jamba-1.5-mini", 0), 28 * state);
  EXPECT_EQ(held("jamba-1.5-mini", 1000), 28 * state + 4 * 1000 * 2 * 8 * 128 * 2);
  EXPECT_EQ(held("jamba-1.5-large", 0), 63 * 2 * state);
  EXPECT_EQ(held("falcon-mamba-7b", 1), 64 * state);
  EXPECT_EQ(held("falcon-mamba-7b", 1e6), 64 * state);
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

/// As the checkpoints count.
TEST(Graph, TowersHaveThePublishedParameters) {
  const auto tower = [](const char* name) { return count_parameters(load_model(name)).vision; };
  EXPECT_NEAR(tower("gemma3-27b"), 416'866'032 + 1152 * (5376 + 1), 2e3);
  EXPECT_NEAR(tower("qwen2.5-vl-7b"), 676'550'144, 1);
  EXPECT_NEAR(tower("llama4-scout") / 0.872e9, 1, 0.01);
  EXPECT_NEAR(tower("gemma4-31b") / 0.55e9, 1, 0.06);
  EXPECT_EQ(tower("llama3.1-8b"), 0);
  const Model m = load_model("qwen2.5-vl-7b");
  EXPECT_EQ(active_parameters(m), active_parameters(load_model("qwen2.5-7b")));
}

TEST(Graph, AnImageIsPatchesAndThenTokens) {
  const auto shape = [](const char* name) { return image_shape(load_model(name).vision); };
  EXPECT_EQ(shape("gemma3-4b").patches(), 4096);
  EXPECT_EQ(shape("gemma3-4b").tokens, 256);
  EXPECT_EQ(shape("llama4-scout").sequence, 577);
  EXPECT_EQ(shape("llama4-scout").tokens, 17 * 144);
  // Cross-attention looks at the class tokens too, and none of it is in the prompt.
  EXPECT_EQ(shape("llama3.2-11b-vision").sequence, 4 * 1601);
  EXPECT_EQ(shape("llama3.2-11b-vision").tokens, 4 * 1601);
  EXPECT_EQ(image_tokens(load_model("llama3.2-11b-vision").vision), 0);
  EXPECT_EQ(shape("llama3.1-8b").patches(), 0);
  // Twice the weights that each patch and token passes, and attention.
  const Graph g = build(load_model("gemma3-4b"));
  EXPECT_GT(image_flops(g), 2 * 4096 * 411e6);
  EXPECT_LT(image_flops(g), 3.5 * 4096 * 411e6);
}

TEST(Graph, LayersThatLookAtImagesAreDealtEvenly) {
  const Graph g = build(load_model("llama3.2-11b-vision"));
  EXPECT_EQ(order_of("llama3.2-11b-vision").substr(0, 18), "am am am am cc am ");
  int crossing = 0;
  for (const Branch& b : g.branches) crossing += b.cross ? b.layers : 0;
  EXPECT_EQ(crossing, 2 * 8);
}

TEST(Graph, KeyValueHeadsAreRepeatedWhereRanksAreMore) {
  const Width w{.cut = 64, .kv = 32, .kv_heads = 4};
  EXPECT_EQ(w.on(2), 32 + 16);
  EXPECT_EQ(w.on(8), 8 + 8);
  EXPECT_EQ(w.all(), 96);
}

}  // namespace
}  // namespace sextant::graph
