// SPDX-License-Identifier: Apache-2.0
// Models whose layers are recurrences, all or most of them: served and trained.
#include <gtest/gtest.h>

#include <array>

#include "sextant/predict/infer.hpp"
#include "sextant/predict/test_problem.hpp"
#include "sextant/predict/train.hpp"

namespace sextant {
namespace {

Problem served(const Model& model, const Serving& work = {}) {
  return test::problem_of(load_system("dgx-h200"), load_runtime("vllm"), model, work);
}

Problem trained(const Model& model, const Training& work) {
  return test::problem_of(load_system("dgx-h200"), load_runtime("megatron-core"), model, work);
}

TEST(Recurrent, ADecodedTokenHardlySeesItsContext) {
  const auto growth = [](const Model& model) {
    const Problem p = served(model);
    const auto time = [&](double context) {
      return serving_pass(p, {.tp = 2}, {16, 1, context}).time;
    };
    return (time(65536) - time(1024)).value;
  };
  const Model jamba = load_model("jamba-1.5-mini");
  Model attention = jamba;
  attention.hybrid = {};
  EXPECT_GT(growth(jamba), 0);
  EXPECT_NEAR(growth(jamba) / growth(attention), 4.0 / 32, 0.02);
  EXPECT_EQ(growth(load_model("falcon-mamba-7b")), 0);
}

TEST(Recurrent, OnlyAttentionCachesTokens) {
  const auto cache = [](const char* name) {
    return cache_bytes_per_token(served(load_model(name))).value;
  };
  EXPECT_EQ(cache("jamba-1.5-mini"), 4 * 2 * 8 * 128 * 2);
  EXPECT_EQ(cache("jamba-1.5-large"), 9 * 2 * 8 * 128 * 2);
  EXPECT_EQ(cache("falcon-mamba-7b"), 0);
  EXPECT_EQ(cache("falcon-h1-7b"), 44 * 2 * 2 * 128 * 2);
}

// Each context-parallel rank scans a share of the heads over the whole sequence, of groups fewer
// than ranks a copy each: it sends values, gates, B and C there, and results (Mamba-2: their gate
// too) back.
TEST(Recurrent, ContextParallelRanksShareHeads) {
  struct Row {
    const char* model;
    int tp;
    int cp;
    double ahead;  ///< numbers a token
    double after;
  };
  constexpr double inner = 64 * 64;
  constexpr std::array rows = {Row{"nemotron-3-nano", 1, 2, 2 * inner + 2 * 8 * 128, 2 * inner},
                               Row{"nemotron-3-nano", 2, 8, inner + 2 * 8 * 128, inner},
                               Row{"qwen3-next-80b-a3b", 1, 4, 2 * inner + 2 * 16 * 128, inner},
                               Row{"qwen3-next-80b-a3b", 1, 32, 2 * inner + 2 * 32 * 128, inner}};
  const double seq = 65536;
  for (const Row& r : rows) {
    const Problem p = trained(load_model(r.model), {.batch = 1, .seq = int(seq)});
    const Strategy s{.tp = r.tp, .cp = r.cp};
    ASSERT_EQ(legal(p, s), Verdict::fits) << r.model;
    double ahead = 0;
    double after = 0;
    for (const Operator& o : explain(p, s).operators) {
      if (o.branch != "recurrence" || o.kind != Time::context || o.pass != Time::forward) continue;
      (o.name == "gather sequences" ? ahead : after) += o.message / Bytes(2 * seq / r.cp);
    }
    EXPECT_DOUBLE_EQ(ahead, r.ahead) << r.model;
    EXPECT_DOUBLE_EQ(after, r.after) << r.model;
  }
  const Problem p = trained(load_model("nemotron-3-nano"), {.batch = 1, .seq = int(seq)});
  EXPECT_EQ(legal(p, {.cp = 64}), Verdict::fits);
  EXPECT_EQ(legal(p, {.tp = 2, .cp = 64}), Verdict::heads_not_divisible);
}

// Side by side in a layer they weigh and take what each would alone, but for one norm and one sum.
TEST(Recurrent, MixersSideBySideAddUp) {
  const Model both = load_model("falcon-h1-7b");
  Model attention = both;
  attention.hybrid = {};
  complete(attention);
  Model recurrence = both;
  recurrence.hybrid.parallel = false;
  recurrence.hybrid.attention_layers = 0;
  complete(recurrence);
  const ParameterCount n = count_parameters(both);
  EXPECT_EQ(n.attention, count_parameters(attention).attention);
  EXPECT_EQ(n.recurrent, count_parameters(recurrence).recurrent);
  EXPECT_EQ(n.norms, count_parameters(attention).norms);
  Model neither = both;
  neither.hybrid = {.attention_layers = 1, .mlp_layers = 44};
  const auto time = [](const Model& m, double queries) {
    return serving_pass(served(m), {.tp = 2}, {16, queries, 4096}).time.value;
  };
  for (const double queries : {1.0, 4096.0}) {
    const double parts = time(attention, queries) + time(recurrence, queries);
    EXPECT_NEAR(time(both, queries) / (parts - time(neither, queries)), 1, 0.05) << queries;
  }
}

// A sequence holds its states, so that no more of them decode at a time than fit.
TEST(Recurrent, StatesLimitHowManyDecode) {
  Serving work{.batch = 4096, .input = 100, .output = 100, .batching = Batching::closed_loop};
  const Problem p = served(load_model("falcon-mamba-7b"), work);
  const ServingEstimate e = serve(p, {});
  const double state = 64 * 8192 * (16 * 4 + 3 * 2);
  EXPECT_EQ(e.memory.cache_of_any.value, state);
  EXPECT_EQ(e.memory.cache_per_token.value, 0);
  EXPECT_LT(e.active * state, p.capacity.value - e.memory.weights.value);
  EXPECT_GT(e.active, 1000);
}

// Channels are cut, and the time steps, B and C of each token are summed over the ranks.
TEST(Recurrent, TensorParallelismSharesTheScanAndAddsASum) {
  const Problem p = served(load_model("falcon-mamba-7b"));
  const auto parts = [&](int tp) {
    double scan = 0;
    int sums = 0;
    for (const Operator& o : explain_pass(p, {.tp = tp}, {1, 8192, 8192}).operators) {
      if (o.type == graph::Kind::scan) scan += o.cost.time.value;
      if (o.type == graph::Kind::exchange) ++sums;
    }
    return std::pair(scan, sums);
  };
  EXPECT_NEAR(parts(8).first / parts(1).first, 0.125, 0.02);
  EXPECT_EQ(parts(1).second, 0);
  EXPECT_GE(parts(8).second, 2);
  EXPECT_LT(serving_pass(p, {.tp = 8}, {1, 8192, 8192}).time,
            0.5 * serving_pass(p, {}, {1, 8192, 8192}).time);
}

// Six FLOPs of each weight that a token is multiplied with, the scan's own beside them.
TEST(Recurrent, TrainingFlopsFollowTheActiveParameters) {
  struct Row {
    const char* model;
    double tables;  ///< that are looked up, not multiplied with
    double attention_layers;
  };
  constexpr int seq = 4096;
  for (const Row& row : {Row{"jamba-1.5-mini", 65536 * 4096, 4},
                         {"jamba-1.5-large", 65536 * 8192, 9},
                         {"falcon-mamba-7b", 65024 * 4096, 0}}) {
    const Model m = load_model(row.model);
    const Estimate e = evaluate(trained(m, {.batch = 64, .seq = seq}), {.tp = 8});
    const double multiplied = active_parameters(m) - row.tables;
    const double looked = 12 * row.attention_layers * m.hidden * seq;
    const double expected = 64 * seq * (6 * multiplied + looked);
    EXPECT_NEAR(e.model_flops.value / expected, 1, 0.01) << row.model;
  }
}

// `model` counts by operators, `train` by parameters: they agree but for convolutions and biases.
TEST(Recurrent, TrainingFlopsAreThoseOfTheOperators) {
  for (const char* name :
       {"falcon-mamba-7b", "granite-4.0-h-small", "nemotron-h-8b", "jamba-1.5-mini",
        "qwen3-next-80b-a3b", "falcon-h1-7b", "ring-flash-linear-2.0"}) {
    const Problem p = trained(load_model(name), {.batch = 64, .seq = 4096, .predict_ahead = 0});
    double once = 0;
    for (const graph::Branch& b : p.graph.branches) {
      for (const graph::Operator& op : b.operators) {
        once += b.layers * (2 * graph::multiplied(op) + graph::mixing_flops(op, 4096));
      }
    }
    EXPECT_NEAR(evaluate(p, {.tp = 2}).model_flops.value / (3 * once * 64 * 4096), 1, 0.005)
        << name;
  }
}

TEST(Recurrent, PartsOfAStepAddUp) {
  const Problem p = trained(load_model("falcon-mamba-7b"), {.batch = 8, .seq = 4096});
  const Strategy s{.dp = 8, .zero = 1};
  const Explained all = explain(p, s);
  EXPECT_EQ(all.estimate.step, evaluate(p, s).step);
  double ahead = 0;
  double back = 0;
  for (const Operator& o : all.operators) {
    if (o.type != graph::Kind::scan) continue;
    (o.pass == Time::forward ? ahead : back) += o.cost.time.value;
  }
  EXPECT_GT(ahead, 0);
  EXPECT_GT(back, 1.5 * ahead);
  EXPECT_LT(back, 5 * ahead);
}

TEST(Recurrent, ABetterDeviceIsNeverSlower) {
  for (const char* name : {"jamba-1.5-mini", "falcon-mamba-7b"}) {
    const Model m = load_model(name);
    const Problem p = served(m);
    const auto time = [&](const Problem& q, double queries) {
      return serving_pass(q, {.tp = 2}, {4, queries, 4096}).time;
    };
    for (const double queries : {1.0, 4096.0}) {
      Problem wide = p;
      wide.chip.bandwidth *= 2.0;
      EXPECT_LE(time(wide, queries), time(p, queries)) << name;
      Problem special = p;
      special.chip.special_per_clock *= 2;
      EXPECT_LE(time(special, queries), time(p, queries)) << name;
    }
  }
}

}  // namespace
}  // namespace sextant
