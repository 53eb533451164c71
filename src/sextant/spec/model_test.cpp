// SPDX-License-Identifier: Apache-2.0
// Counting by hand on small shapes; whole models are counted in preset_values_test.cpp.
#include "sextant/spec/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/graph/graph.hpp"

namespace sextant {
namespace {

/// Two layers of width 8 with two heads, MLP of 16, ten words: small enough to add up on paper.
Model tiny() {
  Model m;
  m.layers = 2;
  m.hidden = 8;
  m.ffn = 16;
  m.vocab = 10;
  m.attention.heads = 2;
  return m;
}

ParameterCount count(Model m) {
  complete(m);
  EXPECT_TRUE(check(m).empty());
  return count_parameters(m);
}

std::vector<std::string> fields_with_problems(Model m) {
  complete(m);
  std::vector<std::string> fields;
  for (const Diagnostic& d : check(m)) fields.push_back(d.field);
  return fields;
}

TEST(Model, DerivesWhatIsNotGiven) {
  Model m = tiny();
  m.ffn = 0;
  m.attention.window = 4;
  complete(m);
  EXPECT_EQ(m.attention.kv_heads, 2);
  EXPECT_EQ(m.attention.head_dim, 4);
  EXPECT_EQ(m.ffn, 32);
  EXPECT_EQ(m.attention.window_layers, 2);
  EXPECT_EQ(m.hybrid.attention_layers, 2);
  EXPECT_EQ(m.hybrid.mlp_layers, 2);

  Model latent = tiny();
  latent.attention = {.kind = AttentionKind::latent,
                      .heads = 2,
                      .kv_rank = 6,
                      .nope_dim = 4,
                      .rope_dim = 2,
                      .value_dim = 3};
  complete(latent);
  EXPECT_EQ(latent.attention.head_dim, 6);
}

TEST(Model, CountsADenseLayer) {
  const ParameterCount n = count(tiny());
  EXPECT_EQ(n.embedding, 80);
  EXPECT_EQ(n.head, 80);
  EXPECT_EQ(n.attention, 2 * 4 * 64);
  EXPECT_EQ(n.mlp, 2 * 2 * 8 * 16);
  EXPECT_EQ(n.norms, (2 * 2 + 1) * 8);
  EXPECT_EQ(n.total(), 80 + 80 + 512 + 512 + 40);
}

TEST(Model, CountsBiasesNormsAndPositions) {
  Model m = tiny();
  m.mlp_bias = m.norm_bias = m.head_bias = m.embedding_norm = m.tied = true;
  m.attention.qkv_bias = m.attention.output_bias = m.attention.sinks = true;
  m.position = Position::learned;
  m.max_context = 5;
  const ParameterCount n = count(m);
  EXPECT_EQ(n.embedding, 80 + 5 * 8);
  EXPECT_EQ(n.head, 10);
  EXPECT_EQ(n.attention, 2 * (4 * 64 + 4 * 8 + 2));
  EXPECT_EQ(n.mlp, 2 * (2 * 8 * 16 + 16 + 8));
  EXPECT_EQ(n.norms, (2 * 2 + 2) * 8 * 2);
}

TEST(Model, CountsGatedMlpAndGroupedHeads) {
  Model m = tiny();
  m.mlp = Mlp::swiglu;
  m.mlp_bias = true;
  m.attention.kv_heads = 1;
  m.attention.qk_norm = true;
  const ParameterCount n = count(m);
  EXPECT_EQ(n.mlp, 2 * (3 * 8 * 16 + 2 * 16 + 8));
  EXPECT_EQ(n.attention, 2 * (64 + 2 * 8 * 4 + 64));
  EXPECT_EQ(n.norms, 5 * 8 + 2 * 2 * 4);
  m.attention.qk_norm_wide = true;
  EXPECT_EQ(count(m).norms, 5 * 8 + 2 * (8 + 4));
  m.attention.gate = true;
  EXPECT_EQ(count(m).attention, 2 * (2 * 64 + 2 * 8 * 4 + 64));
  m.attention.shared_kv = true;
  EXPECT_EQ(count(m).attention, 2 * (2 * 64 + 8 * 4 + 64));
}

TEST(Model, CountsLatentAttention) {
  Model m = tiny();
  m.attention = {.kind = AttentionKind::latent,
                 .heads = 2,
                 .q_rank = 5,
                 .kv_rank = 6,
                 .nope_dim = 4,
                 .rope_dim = 2,
                 .value_dim = 3};
  const ParameterCount n = count(m);
  // W_DQ and W_UQ, W_DKV with W_KR, W_UK with W_UV, W_O.
  EXPECT_EQ(n.attention, 2 * (8 * 5 + 5 * 2 * 6 + 8 * (6 + 2) + 6 * 2 * (4 + 3) + 2 * 3 * 8));
  EXPECT_EQ(n.norms, 5 * 8 + 2 * (5 + 6));
  m.attention.q_rank = 0;
  EXPECT_EQ(count(m).attention, 2 * (8 * 2 * 6 + 8 * (6 + 2) + 6 * 2 * (4 + 3) + 2 * 3 * 8));
  m.attention.head_gate = true;
  EXPECT_EQ(count(m).attention,
            2 * (8 * 2 * 6 + 8 * (6 + 2) + 6 * 2 * (4 + 3) + 2 * 3 * 8 + 8 * 2));
}

TEST(Model, CountsLowRankProjections) {
  Model m = tiny();
  m.attention.q_rank = 3;
  m.attention.output_rank = 2;
  m.attention.output_groups = 2;
  // Queries 8 to 3 to 8; output of each half of the heads to 2, then both to hidden.
  EXPECT_EQ(count(m).attention, 2 * (3 * (8 + 8) + 2 * 64 + 8 * 2 + 2 * 2 * 8));
}

TEST(Model, CountsGlobalLayersApart) {
  Model m = tiny();
  m.layers = 6;
  m.attention.window = 4;
  m.attention.window_layers = 5;
  m.attention.global_head_dim = 8;
  m.attention.global_kv_heads = 1;
  m.attention.global_shared_kv = true;
  EXPECT_EQ(count(m).attention, 5 * 4 * 64 + (2 * 8 * 16 + 8 * 8));
  m.attention.kv_shared_layers = 3;
  // The last three reuse: two windowed ones, and the global one.
  EXPECT_EQ(count(m).attention, 5 * 2 * 64 + 3 * 2 * 64 + 2 * 8 * 16);
}

TEST(Model, CountsHeadsOfGlobalLayersAndTheirGates) {
  Model m = tiny();
  m.layers = 6;
  m.attention.window = 4;
  m.attention.window_layers = 5;
  m.attention.global_heads = 2 * m.attention.heads;
  // Keys and values as before, queries and the way out twice as wide.
  EXPECT_EQ(count(m).attention, 5 * 4 * 64 + (2 + 2 * 2) * 64);
  m.attention.head_gate = true;
  EXPECT_EQ(count(m).attention, 5 * 4 * 64 + (2 + 2 * 2) * 64 + 8 * m.attention.heads * (5 + 2));
}

TEST(Model, CountsExperts) {
  Model m = tiny();
  m.layers = 3;
  m.experts = {.count = 4,
               .topk = 1,
               .shared = 2,
               .ffn = 6,
               .dense_layers = 1,
               .bias = true,
               .router_bias = true,
               .shared_gate = true};
  const ParameterCount n = count(m);
  const double expert = 2 * 8 * 6 + 6 + 8;
  EXPECT_EQ(n.mlp, 2 * 8 * 16);
  EXPECT_EQ(n.experts, 2 * 4 * expert);
  EXPECT_EQ(n.shared, 2 * (2 * 8 * 12 + 12 + 8 + 8));
  EXPECT_EQ(n.router, 2 * 4 * 9);
  complete(m);
  EXPECT_EQ(active_parameters(m), n.total() - 2 * 3 * expert);
  const LayerCount layers = count_layers(m);
  EXPECT_EQ(layers.dense, 1);
  EXPECT_EQ(layers.experts, 2);
}

TEST(Model, CountsExpertsOnALatent) {
  Model m = tiny();
  m.experts = {.count = 4, .topk = 2, .ffn = 6, .latent = 2};
  const ParameterCount n = count(m);
  EXPECT_EQ(n.experts, 2 * 4 * 2 * 2 * 6);
  EXPECT_EQ(n.shared, 2 * 2 * 8 * 2);
}

TEST(Model, CountsRecurrentLayers) {
  Model m = tiny();
  m.layers = 4;
  m.norms_per_layer = 1;
  m.hybrid = {.kind = Recurrence::mamba2,
              .recurrent_layers = 2,
              .attention_layers = 1,
              .mlp_layers = 1,
              .heads = 4,
              .head_dim = 4,
              .state = 3,
              .groups = 2,
              .conv = 4};
  const ParameterCount n = count(m);
  // Inner width 16, B and C of 12 together.
  EXPECT_EQ(n.recurrent, 2 * (8 * (2 * 16 + 12 + 4) + (16 + 12) * 5 + 3 * 4 + 16 + 16 * 8));
  EXPECT_EQ(n.attention, 4 * 64);
  EXPECT_EQ(n.mlp, 2 * 8 * 16);
  EXPECT_EQ(n.norms, 5 * 8);
  m.hybrid.kind = Recurrence::gated_delta;
  EXPECT_EQ(count(m).recurrent, 2 * (8 * (2 * 16 + 12 + 8) + (16 + 12) * 4 + 2 * 4 + 4 + 16 * 8));
  const LayerCount layers = count_layers(m);
  EXPECT_EQ(layers.recurrent, 2);
  EXPECT_EQ(layers.attention, 1);
  EXPECT_EQ(layers.dense, 1);
}

TEST(Model, CountsSelectiveLayers) {
  Model m = tiny();
  m.norms_per_layer = 1;
  m.mlp = Mlp::none;
  m.hybrid = {
      .kind = Recurrence::mamba1, .recurrent_layers = 2, .heads = 16, .state = 3, .dt_rank = 2};
  // In, taps and their bias, steps with B and C, steps with their bias, A and D, out.
  const double layer = 8 * 32 + 16 * 5 + 16 * (2 + 6) + 16 * (2 + 1) + 16 * (3 + 1) + 16 * 8;
  const ParameterCount n = count(m);
  EXPECT_EQ(n.recurrent, 2 * layer);
  EXPECT_EQ(n.attention + n.mlp, 0);
  EXPECT_EQ(n.norms, 3 * 8);
  m.hybrid.inner_norms = InnerNorms::bare;
  EXPECT_EQ(count(m).total(), n.total());
  m.hybrid.inner_norms = InnerNorms::weighted;
  EXPECT_EQ(count(m).total(), n.total() + 2 * (2 + 6));
  m.hybrid.dt_rank = 0;
  complete(m);
  EXPECT_EQ(m.hybrid.dt_rank, 1);  // a sixteenth of 8, and no less than one
  EXPECT_EQ(m.hybrid.head_dim, 1);
  EXPECT_TRUE(check(m).empty());
}

TEST(Model, CountsUnusualEmbeddings) {
  Model m = tiny();
  m.embedding_width = 4;
  m.tied = true;
  EXPECT_EQ(count(m).embedding, 10 * 4 + 2 * 8 * 4);
  m = tiny();
  m.per_layer_embedding = 3;
  m.wide_mlp_layers = 1;
  const ParameterCount n = count(m);
  EXPECT_EQ(n.per_layer_embedding, 10 * 2 * 3);
  EXPECT_EQ(n.mlp, 2 * 8 * 16 + 2 * 8 * 32 + 3 * (2 * 8 * 3));
  complete(m);
  EXPECT_EQ(active_parameters(m), n.total() - 60);
}

TEST(Model, CompletingTwiceChangesNothing) {
  Model m = tiny();
  m.experts = {.count = 4, .topk = 1, .shared = 2, .ffn = 6};
  m.attention.window = 3;
  complete(m);
  const double once = count_parameters(m).total();
  const int width = m.experts.shared_ffn;
  complete(m);
  EXPECT_EQ(count_parameters(m).total(), once);
  EXPECT_EQ(m.experts.shared_ffn, width);
}

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Model, ReportsContradictions) {
  struct Row {
    void (*change)(Model&);
    std::vector<std::string> fields;
  };
  const Row rows[] = {
      {[](Model&) {}, {}},
      {[](Model& m) { m.attention.heads = 3; }, {"attention.head_dim"}},
      {[](Model& m) { m.attention.heads = 4, m.attention.kv_heads = 3; }, {"attention.kv_heads"}},
      {[](Model& m) { m.attention.global_heads = 3; }, {"attention.global_heads"}},
      {[](Model& m) { m.attention.kind = AttentionKind::latent; },
       {"attention.kv_rank", "attention.nope_dim", "attention.rope_dim", "attention.value_dim"}},
      {[](Model& m) { m.attention.window_layers = 1; }, {"attention.window_layers"}},
      {[](Model& m) { m.attention.window = 1, m.attention.window_layers = 3; },
       {"attention.window_layers"}},
      {[](Model& m) { m.attention.kv_shared_layers = 2; }, {"attention.kv_shared_layers"}},
      {[](Model& m) { m.position = Position::learned; }, {"max_context"}},
      {[](Model& m) { m.wide_mlp_layers = 3; }, {"wide_mlp_layers"}},
  };
  for (const Row& row : rows) {
    Model m = tiny();
    row.change(m);
    EXPECT_EQ(fields_with_problems(m), row.fields);
  }
}

TEST(Model, ReportsContradictingExperts) {
  Model m = tiny();
  m.experts.topk = 2;
  EXPECT_THAT(fields_with_problems(m), ElementsAre("experts.count"));
  m.experts = {.count = 4, .topk = 5, .dense_layers = 3};
  EXPECT_THAT(fields_with_problems(m),
              ElementsAre("experts.topk", "experts.ffn", "experts.dense_layers"));
  // A product that would overflow stays a problem instead.
  m.experts = {.count = 4, .topk = 1, .shared = 1'000'000, .ffn = 1'000'000};
  EXPECT_THAT(fields_with_problems(m), ElementsAre("experts.shared_ffn"));
}

// Nemotron-H has 24 layers with a recurrence, 4 with attention and 24 with an MLP: 53 are not.
TEST(Model, EveryLayerIsSomething) {
  struct Case {
    int layers, recurrent, attention, mlps;
    bool whole;
  };
  for (const Case& c : {Case{52, 24, 4, 24, true}, Case{53, 24, 4, 24, false},
                        Case{104, 24, 4, 24, false}, Case{53, 24, 4, 53, true}}) {
    Model m = tiny();
    m.layers = c.layers;
    m.hybrid = {.kind = Recurrence::mamba2,
                .recurrent_layers = c.recurrent,
                .attention_layers = c.attention,
                .mlp_layers = c.mlps,
                .heads = 4,
                .head_dim = 4,
                .state = 4};
    const bool whole = fields_with_problems(m).empty();
    EXPECT_EQ(whole, c.whole) << c.layers << " layers";
    if (!c.whole) {
      EXPECT_THAT(fields_with_problems(m), ElementsAre("layers"));
    }
  }
}

TEST(Model, ReportsContradictingHybrids) {
  Model m = tiny();
  m.hybrid.recurrent_layers = 1;
  EXPECT_THAT(fields_with_problems(m), Contains("hybrid.recurrent_layers"));
  m = tiny();
  m.hybrid.kind = Recurrence::mamba2;
  m.hybrid.recurrent_layers = 3;
  EXPECT_THAT(fields_with_problems(m),
              ::testing::IsSupersetOf(
                  {"hybrid.recurrent_layers", "hybrid.heads", "hybrid.head_dim", "hybrid.state"}));
  m = tiny();
  m.hybrid = {.kind = Recurrence::mamba2,
              .recurrent_layers = 1,
              .heads = 4,
              .head_dim = 4,
              .state = 3,
              .dt_rank = 2,
              .inner_norms = InnerNorms::bare};
  EXPECT_THAT(fields_with_problems(m),
              ::testing::UnorderedElementsAre("hybrid.dt_rank", "hybrid.inner_norms"));
  m.hybrid.kind = Recurrence::mamba1;
  EXPECT_THAT(fields_with_problems(m), ::testing::ElementsAre("hybrid.head_dim"));
  m.hybrid.head_dim = 1;
  EXPECT_THAT(fields_with_problems(m), ::testing::IsEmpty());
  m.mlp = Mlp::none;
  m.hybrid.mlp_layers = 1;
  EXPECT_THAT(fields_with_problems(m), ::testing::ElementsAre("mlp"));
  m = tiny();
  m.hybrid = {.kind = Recurrence::mamba2,
              .recurrent_layers = 2,
              .parallel = true,
              .heads = 4,
              .head_dim = 4,
              .state = 3};
  EXPECT_THAT(fields_with_problems(m), IsEmpty());
  m.hybrid.recurrent_layers = 1;
  EXPECT_THAT(fields_with_problems(m), ElementsAre("hybrid.parallel"));
}

}  // namespace
}  // namespace sextant
