// SPDX-License-Identifier: Apache-2.0
// What ranks share out is all of the work, once; what one of them lacks for it is sent.
#include <gtest/gtest.h>

#include <array>

#include "sextant/predict/mapping.hpp"
#include "sextant/predict/memory.hpp"
#include "sextant/predict/step.hpp"
#include "sextant/predict/test_problem.hpp"
#include "sextant/predict/train.hpp"

namespace sextant {
namespace {

using test::problem_of;

struct Sum {
  double flops = 0;
  double sent = 0;  ///< by tensor parallelism inside expert layers, a step
  double dispatched = 0;
  double keys = 0;
};

/// Of all ranks of one stage.
Sum sum_of(const Problem& p, const Strategy& s) {
  Sum sum;
  for (const Operator& o : explain(p, s).operators) {
    if (o.pass == Time::recompute) continue;
    sum.flops += o.count * devices_of(s) * o.cost.flops.value;
    const double bytes = o.count * o.message.value;
    if (o.part == "experts" && o.kind == Time::tensor) sum.sent += bytes;
    if (o.kind == Time::expert) sum.dispatched += bytes;
    if (o.kind == Time::context) sum.keys += bytes;
  }
  return sum;
}

TEST(Sharing, RanksOfAContextDoAllOfTheAttention) {
  for (const char* runtime : {"megatron-lm", "megatron-core"}) {
    const Problem p = problem_of("dgx-h100", runtime, "llama3.1-8b", Training{8, 8192});
    const Sum one = sum_of(p, {.tp = 2});
    for (const ContextKind how : {ContextKind::ring, ContextKind::all_to_all}) {
      const Sum four = sum_of(p, {.tp = 2, .cp = 4, .context = how});
      EXPECT_NEAR(four.flops / one.flops, 1, 1e-9) << runtime;
      EXPECT_GT(four.keys, 0) << runtime;
    }
  }
}

/// Of one microbatch of a layer with text's attention: that, and what joins a ring's steps.
double seconds_of_attention(const Problem& p, const Strategy& s) {
  double seconds = 0;
  for (const Operator& o : explain(p, s).operators) {
    const std::string_view name = o.name;
    if (name.starts_with("attention") || name.starts_with("join")) seconds += o.cost.time.value;
  }
  return seconds;
}

// Ranks of a ring look at a share of the keys at a time and join the results: a device has as many
// tokens and scores as without, in smaller kernels.
TEST(Sharing, StepsOfARingNeverMakeAttentionFaster) {
  struct Row {
    const char* system;
    const char* runtime;
    const char* model;
    double seq;
  };
  for (const Row& r : {Row{"dgx-h100", "megatron-core", "llama3.1-8b", 8192},
                       Row{"dgx-h100", "pytorch-compile", "llama3.1-8b", 32768},
                       Row{"dgx-a100", "megatron-core", "llama3.1-70b", 4096},
                       Row{"gb200-nvl72", "megatron-core", "deepseek-v2-lite", 16384}}) {
    const Problem p = problem_of(r.system, r.runtime, r.model, Training{16, int(r.seq)});
    const double alone = seconds_of_attention(p, {});
    double before = alone;
    for (const int ranks : {2, 4, 8}) {
      const double shared = seconds_of_attention(p, {.cp = ranks, .microbatch = ranks});
      EXPECT_GT(shared, before) << r.runtime << " " << r.model << " " << ranks;
      EXPECT_LT(shared, 3 * alone) << r.runtime << " " << r.model << " " << ranks;
      before = shared;
    }
  }
}

// Rings have no windows: layers with one gather all keys before they look at any.
TEST(Sharing, KeysOfAWindowAreGatheredInTheOpen) {
  for (const char* model : {"gpt-oss-20b", "gemma3-12b"}) {
    const Problem p = problem_of("dgx-h100", "megatron-core", model, Training{1, 131072});
    double windows = 0;
    for (const Operator& o : explain(p, {.tp = 2, .cp = 4}).operators) {
      if (o.kind != Time::context) continue;
      const double shown = o.exposed / o.cost.time;
      if (o.branch == "windowed attention") {
        EXPECT_DOUBLE_EQ(shown, 1) << model;
        ++windows;
      } else {
        EXPECT_LT(shown, 0.5) << model;
      }
    }
    EXPECT_EQ(windows, 2) << model;
  }
}

// Latent attention has no scores to keep: it is priced as one kernel whatever the runtime.
TEST(Sharing, ScoresAreKeptWhereTheyAreMade) {
  Problem p = problem_of("dgx-h100", "megatron-lm", "deepseek-v2-lite", Training{1, 4096});
  const Bytes kept = stage_memory(p, {}, 0).after_forward;
  p.runtime.fusion.attention = true;
  EXPECT_EQ(stage_memory(p, {}, 0).after_forward, kept);
}

// Experts that all tensor-parallel ranks share are an MLP: tokens come together, results are
// summed. Where tokens go to other ranks first, it is their copies.
TEST(Sharing, SlicesOfAnExpertSeeTheSameTokens) {
  const Problem p = problem_of("dgx-h100", "megatron-core", "mixtral-8x7b", Training{2, 4096});
  const double tokens = 32.0 * 4096 * 4096 * 2;  // of all layers
  for (const bool sp : {true, false}) {
    const auto sent = [&](int ep, int etp) {
      return sum_of(p, {.tp = 4, .dp = 2, .ep = ep, .etp = etp, .sp = sp});
    };
    // There and back, forward and backward; without sequence parallelism both ways in one sum.
    EXPECT_NEAR(sent(1, 4).sent / (tokens * (sp ? 4 : 2)), 1, 1e-9);
    EXPECT_NEAR(sent(4, 2).sent / (tokens * (sp ? 4 : 4 + 2)), 1, 1e-9);
    EXPECT_NEAR(sent(4, 1).sent / (tokens * (sp ? 0 : 2) + 1), sp ? 0 : 1, 1e-6);
    // A rank sends its part of the tokens, however it came to it.
    EXPECT_NEAR(sent(4, 1).dispatched / (tokens / 4 * 2 * 4), 1, 1e-9);
  }
}

// Ranks that hold other experts have no share of this one's matrices.
TEST(Sharing, MatricesAreSharedAsTheirStatesAre) {
  const Problem p =
      problem_of("dgx-h100", "megatron-core", "qwen3-30b-a3b", Training{8, 4096, Optimizer::muon});
  const auto time = [&](int ep, int zero) {
    return mapping_of(p, {.dp = 8, .ep = ep, .zero = zero}).optimizer.value;
  };
  EXPECT_NEAR(time(8, 1) / time(1, 1), 1, 0.01);
  EXPECT_GT(time(1, 0), 6 * time(1, 1));
}

// However many microbatches leave their gradients at once.
TEST(Sharing, TiedEmbeddingsAreSummedOnceAStep) {
  const auto gradients = [](bool tied, int zero) {
    Model m = load_model("gemma3-4b");
    m.tied = tied;
    const Problem p =
        problem_of(load_system("dgx-h100"), load_runtime("megatron-lm"), m, Training{64, 1024});
    return evaluate(p, {.pp = 2, .dp = 2, .zero = zero}).time[Time::gradients].busy;
  };
  const Seconds table = gradients(true, 1) - gradients(false, 1);
  EXPECT_GT(table.value, 0);
  EXPECT_NEAR((gradients(true, 2) - gradients(false, 2)) / table, 1, 1e-6);
}

// ZB-V's first stage has the first piece of the model and the last.
TEST(Sharing, OneStageOfAVHasBothEnds) {
  const Problem p = problem_of("dgx-h100", "megatron-core", "llama3.1-8b", Training{16, 4096});
  Strategy s{.pp = 4};
  const auto weights = [&](int stage) { return stage_memory(p, s, stage).parts[Space::weights]; };
  const Bytes head = weights(3) - weights(2);
  const Bytes first = weights(0);
  const Bytes middle = weights(1);
  s.schedule = Schedule::zero_bubble_v;
  EXPECT_NEAR(weights(0) / (first + head), 1, 1e-9);
  EXPECT_EQ(weights(3), middle);
  EXPECT_EQ(evaluate(p, s).fullest_stage, 0);
  EXPECT_EQ(explain(p, s).estimate.slowest_stage, 0);
}

// DualPipe's two copies of a stage are of one model.
TEST(Sharing, CopiesOfAStageSumTheirGradients) {
  const Problem p = problem_of("dgx-h100", "megatron-core", "llama3.1-8b", Training{16, 4096});
  const auto gradients = [&](Schedule how, int dp) {
    return evaluate(p, {.pp = 4, .dp = dp, .zero = dp > 1 ? 1 : 0, .schedule = how})
        .time[Time::gradients]
        .busy;
  };
  EXPECT_EQ(gradients(Schedule::one_f_one_b, 1).value, 0);
  for (const int dp : {1, 2}) {
    EXPECT_GT(gradients(Schedule::dual_pipe, dp), gradients(Schedule::one_f_one_b, dp));
  }
}

// One stage has no order.
TEST(Sharing, OneStageIsTheSameUnderEverySchedule) {
  const Problem p = problem_of("dgx-h100", "megatron-core", "mixtral-8x7b", Training{32, 4096});
  const Strategy plain{.dp = 8, .ep = 8};
  const Estimate one = evaluate(p, plain);
  for (const Schedule how :
       {Schedule::gpipe, Schedule::zero_bubble, Schedule::zero_bubble_v, Schedule::dual_pipe}) {
    Strategy s = plain;
    s.schedule = how;
    const Estimate e = evaluate(p, s);
    EXPECT_EQ(e.step, one.step) << name_of(how);
    EXPECT_EQ(e.memory.total(), one.memory.total()) << name_of(how);
    EXPECT_EQ(e.energy.total(), one.energy.total()) << name_of(how);
  }
}

// Without ZeRO each of them holds all states of both of its stages, and makes both steps.
TEST(Sharing, BothCopiesOfAStageAreUpdated) {
  const Problem p = problem_of("dgx-h100", "megatron-core", "llama3.1-8b", Training{16, 4096});
  for (const int zero : {0, 1}) {
    const auto updating = [&](Schedule how) {
      return evaluate(p, {.pp = 4, .dp = 2, .zero = zero, .schedule = how})
                 .time[Time::optimizer]
                 .busy -
             p.runtime.host_per_optimizer;
    };
    EXPECT_NEAR(updating(Schedule::dual_pipe) / updating(Schedule::one_f_one_b), zero == 0 ? 2 : 1,
                1e-9);
  }
}

// Where a rank has both ends of the model it has their table once.
TEST(Sharing, WhoHasBothEndsSumsNoTable) {
  struct Row {
    Schedule schedule;
    bool sums;
  };
  constexpr std::array rows = {Row{Schedule::one_f_one_b, true}, Row{Schedule::zero_bubble, true},
                               Row{Schedule::zero_bubble_v, false},
                               Row{Schedule::dual_pipe, false}};
  Problem p = problem_of("dgx-h100", "megatron-core", "llama3.2-1b", Training{16, 4096});
  for (const Row& r : rows) {
    const Strategy s{.pp = 4, .schedule = r.schedule};
    p.model.tied = true;
    const Estimate tied = evaluate(p, s);
    p.model.tied = false;
    const Estimate apart = evaluate(p, s);
    EXPECT_EQ(tied.time[Time::gradients].busy > apart.time[Time::gradients].busy, r.sums)
        << name_of(r.schedule);
    EXPECT_EQ(tied.energy.links > apart.energy.links, r.sums) << name_of(r.schedule);
  }
}

// The table goes from the first stage to the last, however near their neighbours are.
TEST(Sharing, EndsOfAPipelineMayBeFarApart) {
  struct Row {
    Strategy strategy;
    int per_node;
  };
  constexpr std::array rows = {Row{{.pp = 8}, 2},          Row{{.pp = 16}, 1},
                               Row{{.tp = 2, .pp = 4}, 2}, Row{{.tp = 2, .pp = 8}, 1},
                               Row{{.pp = 2, .dp = 4}, 2}, Row{{.pp = 2, .dp = 8}, 1}};
  const Problem p = problem_of("dgx-h100", "megatron-core", "llama3.2-1b", Training{64, 4096});
  for (const Row& r : rows) {
    EXPECT_EQ(groups_of(p, r.strategy).ends.per_node, r.per_node)
        << r.strategy.pp << " " << r.strategy.zero;
  }
}

// Of so many microbatches, those whose gradients meet others in a kernel of their own: the first
// after each sum over replicas leaves what it made.
TEST(Sharing, TheFirstMicrobatchAddsToNothing) {
  struct Row {
    int microbatches;
    Strategy strategy;
    double share;
  };
  const std::array rows = {Row{1, {.dp = 2}, 0},
                           Row{4, {.dp = 2}, 0.75},
                           Row{4, {.dp = 2, .zero = 1}, 0.75},
                           Row{4, {.dp = 2, .zero = 2}, 0},
                           Row{4, {.dp = 2, .zero = 2, .shard = 1}, 0.75},
                           Row{4, {.dp = 2, .zero = 3}, 0},
                           Row{8, {.pp = 2, .dp = 2, .interleave = 2, .zero = 2}, 0.5}};
  for (const Row& r : rows) {
    const Training work{.batch = 2 * r.microbatches, .seq = 2048};
    const Problem p = problem_of("dgx-h100", "pytorch", "llama3.2-1b", work);
    EXPECT_DOUBLE_EQ(accumulated(p, r.strategy), r.share)
        << r.strategy.pp << " " << r.strategy.zero;
    double added = 0;
    double made = 0;
    for (const Operator& o : explain(p, r.strategy).operators) {
      if (o.name == "qkv, accumulate") added += o.count;
      if (o.name == "qkv, weight gradient") made += o.count;
    }
    EXPECT_DOUBLE_EQ(added, r.share * made) << r.strategy.pp << " " << r.strategy.zero;
  }
}

// One microbatch has no other's gradients of weights to wait with. A host that is late is late for
// those as well.
TEST(Sharing, FasterMemoryIsNoSlowerWhereWeightsWait) {
  System s = load_system("l40s-pcie");
  const auto step = [&] {
    const Problem p =
        problem_of(s, load_runtime("nanotron"), load_model("glm-4.5"), Training{1, 8192});
    return evaluate(p, {.tp = 8,
                        .pp = 4,
                        .cp = 2,
                        .schedule = Schedule::zero_bubble,
                        .recompute = Recompute::full})
        .step;
  };
  const Seconds slow = step();
  s.device.memory.bandwidth *= 20;
  EXPECT_LE(step(), slow);
}

// Weights that are states themselves are not written twice, and wide ones are twice as wide.
static_assert(optimizer_traffic(Optimizer::adamw, 4, 2) == 30);
static_assert(optimizer_traffic(Optimizer::adamw, 4, 4) == 28);
static_assert(optimizer_traffic(Optimizer::adamw_bf16_states, 4, 4) == 28);

}  // namespace
}  // namespace sextant
