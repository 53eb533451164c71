// SPDX-License-Identifier: Apache-2.0
// Laws of a training step that hold whatever its constants are.
#include "sextant/predict/train.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sextant/predict/layout.hpp"
#include "sextant/predict/mapping.hpp"
#include "sextant/predict/memory.hpp"
#include "sextant/predict/sensitivity.hpp"
#include "sextant/predict/step.hpp"
#include "sextant/predict/test_problem.hpp"

namespace sextant {
namespace {

struct Scene {
  std::string system = "dgx-a100";
  std::string runtime = "megatron-core";
  std::string model = "gpt3-175b";
  Training work{.batch = 64, .seq = 2048};
};

Problem problem_of(const Scene& s) {
  return test::problem_of(s.system, s.runtime, s.model, s.work);
}

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {},
      {.system = "jean-zay", .runtime = "megatron-lm", .model = "bloom-176b"},
      {.system = "dgx-h100", .runtime = "fsdp", .model = "mpt-7b"},
      {.system = "aws-p5", .runtime = "nanotron", .model = "llama3.1-8b"},
      {.system = "dgx-h100", .model = "mixtral-8x7b", .work = {.batch = 128, .seq = 4096}},
      {.system = "gb200-nvl72", .model = "deepseek-v3", .work = {.batch = 256, .seq = 4096}},
      {.system = "dgx-b200", .model = "gpt-oss-120b", .work = {.batch = 256, .seq = 4096}},
      {.system = "h200-single", .runtime = "pytorch", .model = "llama2-7b"},
      {.system = "dgx-h100", .model = "gemma3-4b", .work = {.batch = 64, .seq = 4096, .images = 2}},
      {.system = "dgx-h100",
       .model = "llama3.2-11b-vision",
       .work = {.batch = 64, .seq = 4096, .images = 1}},
  };
  return all;
}

// Strategies of all kinds, most of them legal.
class Strategies {
 public:
  Strategy next() {
    Strategy s;
    s.tp = pick(1, 2, 4, 8);
    s.pp = pick(1, 1, 2, 4, 8);
    s.dp = pick(1, 1, 2, 4, 8);
    s.cp = pick(1, 1, 1, 2);
    s.ep = pick(1, 1, 2, 4);
    s.microbatch = pick(1, 1, 2);
    s.interleave = s.pp > 1 ? pick(1, 1, 2) : 1;
    s.zero = s.pp > 1 ? pick(0, 1) : pick(0, 1, 2, 3);
    s.sp = s.tp > 1 && pick(false, true);
    s.offload = pick(false, false, false, true);
    s.context = pick(ContextKind::ring, ContextKind::all_to_all);
    s.order = pick(Order::tp_cp_ep_dp_pp, Order::tp_cp_ep_pp_dp);
    s.schedule = pick(Schedule::one_f_one_b, Schedule::gpipe, Schedule::zero_bubble,
                      Schedule::zero_bubble_v, Schedule::dual_pipe);
    s.recompute = pick(Recompute::none, Recompute::selective, Recompute::full);
    s.recompute_layers = pick(0, 0, 3);
    s.modules.norms = pick(false, true);
    s.modules.activation = pick(false, true);
    s.modules.mlp = pick(false, false, true);
    s.modules.experts = pick(false, false, true);
    s.modules.latent = pick(false, true);
    s.modules.alternate = pick(false, false, true);
    s.precision = pick(Precision::bf16, Precision::bf16, Precision::fp8);
    return s;
  }

 private:
  template <class T, class... Rest>
  T pick(T first, Rest... rest) {
    const std::array<T, 1 + sizeof...(rest)> all{first, rest...};
    return all[random_() % all.size()];
  }
  std::mt19937 random_{7};
};

// Calls `law` with many legal strategies of every scene.
template <class Law>
void everywhere(int tries, const Law& law) {
  int legal_ones = 0;
  Strategies strategies;
  for (const Scene& scene : scenes()) {
    const Problem p = problem_of(scene);
    for (int i = 0; i < tries; ++i) {
      const Strategy s = strategies.next();
      if (legal(p, s) != Verdict::fits) continue;
      ++legal_ones;
      law(p, s);
      if (testing::Test::HasFailure()) {
        ADD_FAILURE() << scene.model << " on " << scene.system << ": tp " << s.tp << " pp " << s.pp
                      << " dp " << s.dp << " cp " << s.cp << " ep " << s.ep << " microbatch "
                      << s.microbatch << " zero " << s.zero << " " << name_of(s.recompute) << " "
                      << name_of(s.schedule);
        return;
      }
    }
  }
  EXPECT_GT(legal_ones, tries);
}

TEST(Step, PartsSumToTheWhole) {
  everywhere(300, [](const Problem& p, const Strategy& s) {
    const Estimate e = evaluate(p, s);
    Seconds sum;
    for (const Span& t : e.time.values) {
      EXPECT_TRUE(std::isfinite(t.exposed.value) && t.exposed.value >= 0);
      EXPECT_GE(t.busy.value, 0);
      sum += t.exposed;
    }
    EXPECT_NEAR(sum / e.step, 1, 1e-12);
    EXPECT_GT(e.step.value, 0);
    EXPECT_GE(e.forward_backward(), Seconds(0));
  });
}

TEST(Step, OneDeviceDoesNotCommunicate) {
  for (const Scene& scene : scenes()) {
    Problem p = problem_of(scene);
    const Estimate e = evaluate(p, {});
    for (const Time t : {Time::tensor, Time::context, Time::expert, Time::pipeline, Time::bubble,
                         Time::gradients, Time::parameters, Time::spread}) {
      EXPECT_EQ(e.time[t].busy, Seconds(0)) << scene.model << " " << name_of(t);
      EXPECT_EQ(e.time[t].exposed, Seconds(0)) << scene.model << " " << name_of(t);
    }
  }
}

// Weights alone: no attention, whose masked half need not be computed, and no recomputation.
TEST(Step, IsNotFasterThanItsMultiplies) {
  everywhere(200, [](const Problem& p, const Strategy& s) {
    const ParameterCount& n = p.parameters;
    const Experts& x = p.model.experts;
    double weights = n.attention + n.mlp + static_cast<double>(p.model.hidden) * p.model.vocab;
    if (x.count > 0) weights += n.experts * x.topk / x.count;
    const Estimate e = evaluate(p, s);
    const Flops work(6 * weights * e.tokens);
    const FlopsPerSecond each = p.chip.per_clock[s.precision] * p.chip.cores * p.chip.clock;
    EXPECT_GE(e.step, work / (e.devices * each));
  });
}

// Every microbatch reads the weights of its rank forward and backward; Adam reads and writes 16
// bytes a parameter and more.
TEST(Step, IsNotFasterThanItsBytes) {
  everywhere(200, [](const Problem& p, const Strategy& s) {
    const Estimate e = evaluate(p, s);
    const double size = std::min(2.0, element_bytes(s.precision));
    const double dense = rank_parameters(p, s, s.pp / 2).dense;
    const double shards = s.zero > 0 ? groups_of(p, s).shard.ranks : 1;
    const bool small = p.work.optimizer == Optimizer::adamw_bf16_states;
    const Bytes passes(2 * microbatches_of(p, s) * size * dense);
    const Bytes adam(s.offload ? 0 : dense / shards * (small ? 8 : 16));
    EXPECT_GE(e.step, passes / p.chip.bandwidth);
    EXPECT_GE(e.time[Time::optimizer].exposed, adam / p.chip.bandwidth);
  });
}

/// Measures every quantity of a described struct by a clock that runs half as fast.
struct HalfTime {
  template <class T>
  void operator()(std::string_view, T& field, Field = {}) {
    if constexpr (is_quantity<T>) {
      field.value *= std::pow(0.5, T::dimension.time);
    } else if constexpr (requires { field.begin(); } && !std::is_same_v<T, std::string>) {
      for (auto& item : field) (*this)("", item);
    } else if constexpr (Described<T>) {
      describe(*this, field);
    }
  }
};

TEST(Step, TwiceTheSpeedOfEverythingIsHalfTheTime) {
  Strategies strategies;
  int legal_ones = 0;
  for (const Scene& scene : scenes()) {
    System system = load_system(scene.system);
    Runtime runtime = load_runtime(scene.runtime);
    Libraries libraries = load_libraries(system, runtime);
    const Model model = load_model(scene.model);
    const Problem slow = prepare(system, runtime, libraries, model, scene.work);
    HalfTime half;
    half("", system);
    half("", runtime);
    half("", libraries.kernels);
    half("", libraries.collectives);
    const Problem fast = prepare(system, runtime, libraries, model, scene.work);
    for (int i = 0; i < 100; ++i) {
      const Strategy s = strategies.next();
      if (legal(slow, s) != Verdict::fits) continue;
      ++legal_ones;
      ASSERT_NEAR(evaluate(fast, s).step / evaluate(slow, s).step, 0.5, 1e-9)
          << scene.model << " on " << scene.system;
    }
  }
  EXPECT_GT(legal_ones, 100);
}

TEST(Step, MoreRecomputationIsMoreWorkInLessMemory) {
  everywhere(200, [](const Problem& p, Strategy s) {
    s.recompute_layers = 0;
    s.modules = {};
    Flops before(0);
    Bytes held(1e30);
    for (const Recompute r : {Recompute::none, Recompute::selective, Recompute::full}) {
      s.recompute = r;
      const Estimate e = evaluate(p, s);
      EXPECT_GE(e.hardware_flops, before) << name_of(r);
      EXPECT_GE(e.hardware_flops, e.model_flops);
      // Of one stage: which is the fullest may change.
      const Bytes kept = stage_memory(p, s, 0).after_forward;
      EXPECT_LE(kept, held) << name_of(r);
      before = e.hardware_flops;
      held = kept;
    }
  });
}

TEST(Step, HigherZeroStagesHoldLess) {
  everywhere(200, [](const Problem& p, Strategy s) {
    Bytes held(1e30);
    for (s.zero = 0; s.zero <= (s.pp > 1 ? 1 : 3); ++s.zero) {
      const Table<Bytes, Space> m = stage_memory(p, s, 0).parts;
      const Bytes states = m[Space::weights] + m[Space::gradients] + m[Space::optimizer];
      EXPECT_LE(states.value, held.value * (1 + 1e-12)) << "zero " << s.zero;
      held = states;
    }
  });
}

TEST(Step, ZeroStagesAreAllAlikeWhereNobodySharesStates) {
  const std::vector<Scene> alone = {
      {.system = "jetson-orin-node", .runtime = "pytorch", .model = "llama3.2-1b"},
      {.system = "h200-single", .runtime = "pytorch", .model = "llama2-7b"},
      {.system = "dgx-h200", .model = "llama3.1-8b"},
  };
  for (const Scene& scene : alone) {
    const Problem p = problem_of(scene);
    for (const Precision precision : {Precision::bf16, Precision::fp8}) {
      const Strategy none{.microbatch = 4, .precision = precision};
      const Estimate e = evaluate(p, none);
      for (int zero = 1; zero <= 3; ++zero) {
        Strategy s = none;
        s.zero = zero;
        const Estimate other = evaluate(p, s);
        EXPECT_EQ(other.step, e.step) << scene.model << " zero " << zero;
        EXPECT_EQ(stage_memory(p, s, 0).total(), stage_memory(p, none, 0).total())
            << scene.model << " zero " << zero << " " << name_of(precision);
      }
    }
  }
}

bool same(const Estimate& a, const Estimate& b) {
  bool equal = a.verdict == b.verdict && a.step == b.step && a.fullest_stage == b.fullest_stage &&
               a.slowest_stage == b.slowest_stage && a.devices == b.devices &&
               a.tokens == b.tokens && a.model_flops == b.model_flops &&
               a.hardware_flops == b.hardware_flops && a.peak == b.peak && a.clock == b.clock &&
               a.power == b.power && a.memory.after_forward == b.memory.after_forward &&
               a.memory.peak_forward_backward == b.memory.peak_forward_backward;
  for (std::size_t i = 0; i < a.time.size; ++i) {
    equal = equal && a.time.values[i].busy == b.time.values[i].busy &&
            a.time.values[i].exposed == b.time.values[i].exposed;
  }
  for (std::size_t i = 0; i < a.memory.parts.size; ++i) {
    equal = equal && a.memory.parts.values[i] == b.memory.parts.values[i];
  }
  return equal;
}

TEST(Step, ExplainedIsEvaluatedBitForBit) {
  everywhere(300, [](const Problem& p, const Strategy& s) {
    const Explained x = explain(p, s);
    EXPECT_TRUE(same(x.estimate, evaluate(p, s)));
    EXPECT_FALSE(x.operators.empty());
  });
}

TEST(Step, WhatHasNothingToActOnChangesNothing) {
  int idle = 0;
  everywhere(300, [&](const Problem& p, Strategy s) {
    for (const int shard : {0, 1, s.dp}) {
      s.shard = shard;
      const Strategy does = acting(p, s);
      idle += alike(s, does, Scope::both) ? 0 : 1;
      EXPECT_TRUE(same(evaluate(p, does), evaluate(p, s))) << "shard " << shard;
    }
  });
  EXPECT_GT(idle, 1000);
}

// Exchange beside another microbatch's compute hides all but the cores it takes.
TEST(Step, ExpertExchangeHidesBesideAnotherMicrobatch) {
  Problem p = problem_of({.system = "h800-node",
                          .model = "deepseek-v3",
                          .work = {.batch = 15360, .seq = 4096, .predict_ahead = 0}});
  Strategy s{.pp = 16, .dp = 128, .ep = 64, .zero = 1, .precision = Precision::fp8};
  const Estimate open = evaluate(p, s);
  p.runtime.overlap.experts = true;
  const Estimate beside = evaluate(p, s);
  EXPECT_LT(beside.time[Time::expert].exposed, 0.4 * open.time[Time::expert].exposed);
  EXPECT_LT(beside.time[Time::expert].exposed, 0.5 * beside.time[Time::expert].busy);
  s.schedule = Schedule::dual_pipe;
  const Estimate dual = evaluate(p, s);
  EXPECT_LT(dual.time[Time::bubble].exposed, 0.7 * beside.time[Time::bubble].exposed);
  EXPECT_GT(dual.memory.parts[Space::weights], 1.9 * beside.memory.parts[Space::weights]);
  s.schedule = Schedule::zero_bubble_v;
  EXPECT_LT(evaluate(p, s).time[Time::bubble].exposed, beside.time[Time::bubble].exposed);
}

// DualPipe's cores are dedicated, whether tokens travel or not: on a faster network no fewer.
TEST(Step, DualPipeLeavesItsCoresToTheExchange) {
  Problem p = problem_of({.system = "h800-node",
                          .model = "deepseek-v3",
                          .work = {.batch = 15360, .seq = 4096, .predict_ahead = 0}});
  for (NetworkLevel& level : p.network.levels) level.rate = 3 * level.rate;
  Strategy s{.pp = 16, .dp = 128, .ep = 64, .zero = 1, .precision = Precision::fp8};
  p.runtime.overlap.experts = true;
  const auto share = [&] {
    const Estimate e = evaluate(p, s);
    return e.time[Time::expert].exposed /
           (e.time[Time::forward].exposed + e.time[Time::backward].exposed);
  };
  const double taken = exchange_cores(p);
  EXPECT_DOUBLE_EQ(taken, 20.0 / 132);
  EXPECT_LT(share(), 0.7 * taken);
  s.schedule = Schedule::dual_pipe;
  EXPECT_GT(share(), 0.8 * taken);
}

// 126 layers with their embedding and loss as 128 chunks (arXiv 2407.21783, section 3.3.2).
TEST(Step, EmbeddingAndLossMayBeChunks) {
  const Problem p = problem_of(
      {.system = "dgx-h100", .model = "llama3.1-405b", .work = {.batch = 2048, .seq = 8192}});
  Strategy s{.tp = 8, .pp = 16, .dp = 64, .interleave = 8, .zero = 2, .sp = true};
  EXPECT_EQ(legal(p, s), Verdict::fits);
  EXPECT_EQ(stage_of(p, s, 0).layers, 7);
  EXPECT_EQ(stage_of(p, s, 1).layers, 8);
  EXPECT_EQ(stage_of(p, s, 15).layers, 7);
  s.zero = 1;
  const Estimate whole = evaluate(p, s);
  s.zero = 2;
  const Estimate shared = evaluate(p, s);
  EXPECT_LT(shared.memory.total(), whole.memory.total());
  EXPECT_GT(shared.time[Time::gradients].busy, whole.time[Time::gradients].busy);
}

// Table 4 of arXiv 2407.21783, without recomputation but of SwiGLU's product (study/long_runs.cpp).
TEST(Step, Llama3FitsAsItWasTrained) {
  Problem p = problem_of({.system = "dgx-h100",
                          .runtime = "pytorch-compile",
                          .model = "llama3.1-405b",
                          .work = {.batch = 2048, .seq = 8192}});
  p.runtime.gradients = p.runtime.reduction = Precision::fp32;
  struct Row {
    int replicas;
    double tflops;
  };
  for (const Row& row : {Row{64, 430}, Row{128, 400}}) {
    Strategy s{.tp = 8, .pp = 16, .dp = row.replicas, .interleave = 8, .zero = 2, .sp = true};
    s.modules.activation = true;
    const Estimate e = evaluate(p, s);
    EXPECT_EQ(e.verdict, Verdict::fits) << row.replicas;
    const double tflops = e.model_flops.value / e.step.value / devices_of(s) / 1e12;
    EXPECT_NEAR(tflops / row.tflops, 1, 0.06) << row.replicas;
  }
}

TEST(Step, AnIllegalStrategyHasAVerdictAndNoNumbers) {
  const Problem p = problem_of({});
  const Estimate e = evaluate(p, {.tp = 7});
  EXPECT_EQ(e.verdict, Verdict::heads_not_divisible);
  EXPECT_EQ(e.step, Seconds(0));
  EXPECT_EQ(e.mfu(), 0);
  EXPECT_TRUE(explain(p, {.tp = 7}).operators.empty());
}

TEST(Step, ATimeHasAMeaning) {
  for (std::size_t i = 0; i < Table<Span, Time>::size; ++i) {
    EXPECT_FALSE(meaning_of(static_cast<Time>(i)).empty());
  }
}

// What --explain lists is the whole step.
TEST(Step, OperatorsAddUpToTheirPasses) {
  everywhere(100, [](const Problem& p, const Strategy& s) {
    const Explained x = explain(p, s);
    Table<Seconds, Time> sums;
    for (const Operator& o : x.operators) sums[o.kind] += o.count * o.exposed;
    for (const Time t : {Time::forward, Time::backward, Time::recompute, Time::tensor,
                         Time::context, Time::expert}) {
      EXPECT_NEAR(sums[t].value, x.estimate.time[t].exposed.value, 1e-6 * x.estimate.step.value)
          << name_of(t);
    }
  });
}

// What streams and what is sent is as wide as the multiplies.
TEST(Step, EverythingIsAsWideAsTheStep) {
  const Problem p = problem_of({.system = "dgx-h100", .work = {.batch = 16, .seq = 2048}});
  const auto sums = [&](Precision type) {
    Bytes streamed;
    Bytes sent;
    for (const Operator& o :
         explain(p, {.tp = 8, .pp = 2, .sp = true, .precision = type}).operators) {
      if (o.type == graph::Kind::norm || o.type == graph::Kind::residual) {
        streamed += o.count * o.cost.dram;
      }
      sent += o.message;
    }
    return std::pair(streamed, sent);
  };
  const auto [narrow_streamed, narrow_sent] = sums(Precision::bf16);
  const auto [wide_streamed, wide_sent] = sums(Precision::fp32);
  // A third of what a small kernel reads is in the cache.
  EXPECT_NEAR(wide_streamed / narrow_streamed, 2, 0.2);
  EXPECT_NEAR(wide_sent / narrow_sent, 2, 0.01);
}

// Frozen weights need no gradient: of the multiplies with weights, 86 % of all at this length, two
// thirds are left; attention's stay, and adapters add what they multiply and stream. QLoRA unpacks
// weights in every pass, DoRA measures their rows.
TEST(Train, AdaptersCostLessThanAllWeights) {
  const auto step = [](const Tuning& tuning, Optimizer optimizer = Optimizer::adamw) {
    const Problem p = test::problem_of("h200-single", "pytorch", "llama2-7b",
                                       Training{4, 4096, optimizer, tuning});
    const Explained x = explain(p, {.microbatch = 4});
    EXPECT_EQ(x.estimate.step, evaluate(p, {.microbatch = 4}).step);
    return x.estimate;
  };
  const Estimate all = step({});
  const Estimate lora = step({.rank = 16});
  EXPECT_LT(lora.forward_backward(), 0.88 * all.forward_backward());
  EXPECT_GT(lora.forward_backward(), 0.60 * all.forward_backward());
  EXPECT_NEAR(lora.model_flops / all.model_flops, 1 - 0.86 / 3, 0.01);
  EXPECT_LT(lora.time[Time::optimizer].exposed, 0.2 * all.time[Time::optimizer].exposed);
  EXPECT_GT(step({.rank = 128}).forward_backward(), lora.forward_backward());
  EXPECT_LT(step({.rank = 16, .targets = {.qkv = true}}).forward_backward(),
            lora.forward_backward());
  EXPECT_GT(step({.rank = 16, .adapter = Adapter::qlora}).forward_backward(),
            lora.forward_backward());
  EXPECT_GT(step({.rank = 16, .adapter = Adapter::dora}).forward_backward(),
            lora.forward_backward());
  const Estimate part = step({.frozen = {.attention = true, .mlp = true}});
  EXPECT_LT(part.forward_backward(), all.forward_backward());
  EXPECT_LT(part.model_flops, all.model_flops);
}

TEST(Train, ImagesPassTheirTower) {
  const auto step = [](int images, const Tuning& tuning, const Strategy& s) {
    const Problem p =
        problem_of({.system = "dgx-h100",
                    .model = "qwen2.5-vl-7b",
                    .work = {.batch = 16, .seq = 4096, .tuning = tuning, .images = images}});
    const Explained x = explain(p, s);
    EXPECT_EQ(x.estimate.step, evaluate(p, s).step);
    return x.estimate;
  };
  const Strategy s{.tp = 2, .dp = 4, .zero = 1, .sp = true};
  const Estimate text = step(0, {}, s);
  const Estimate one = step(1, {}, s);
  const Estimate two = step(2, {}, s);
  const auto time = [](const Estimate& e) { return e.forward_backward(); };
  EXPECT_GT(time(one), time(text));
  // The first brings the tower's gradients with it.
  EXPECT_NEAR((time(two) - time(one)) / (time(one) - time(text)), 0.85, 0.2);
  EXPECT_GT(one.model_flops, text.model_flops);
  EXPECT_NEAR((two.model_flops - one.model_flops) / (one.model_flops - text.model_flops), 1, 1e-9);
  // Without images the tower is held, and neither trained nor passed.
  const auto part = [](const Estimate& e, Space space) { return e.memory.parts[space]; };
  EXPECT_EQ(part(one, Space::weights), part(text, Space::weights));
  EXPECT_GT(part(one, Space::optimizer), part(text, Space::optimizer));
  EXPECT_GT(part(one, Space::activations), part(text, Space::activations));
  // A frozen one goes forward alone.
  const Estimate frozen = step(1, {.frozen = {.vision = true}}, s);
  EXPECT_LT(time(frozen), time(one));
  EXPECT_GT(time(frozen), time(text));
  EXPECT_EQ(part(frozen, Space::optimizer), part(text, Space::optimizer));
  EXPECT_NEAR((frozen.model_flops - text.model_flops) / (one.model_flops - text.model_flops),
              1.0 / 3, 1e-9);
  const Estimate again = step(1, {}, {.tp = 2, .dp = 4, .zero = 1, .recompute = Recompute::full});
  EXPECT_GT(again.time[Time::recompute].exposed.value, 0);
  const Problem p = problem_of({.system = "dgx-h100",
                                .model = "qwen2.5-vl-7b",
                                .work = {.batch = 16, .seq = 1024, .images = 1}});
  EXPECT_EQ(evaluate(p, s).verdict, Verdict::images_too_many);
}

// DeepSeek-V3's recipe, where sums lie in registers: Hopper's multiplies take longer for it, those
// of Blackwell and TPUs have scales of their own.
TEST(Train, BlocksOfScalesAreOfChipsWithSumsInRegisters) {
  for (const auto& [system, blocks] :
       {std::pair{"h800-node", true}, {"dgx-b200", false}, {"tpu-v7-node", false}}) {
    Problem p = problem_of({.system = system, .model = "deepseek-v3", .work = {1024, 4096}});
    const Strategy s{.pp = 16, .dp = 16, .ep = 16, .precision = Precision::fp8};
    const Seconds with = evaluate(p, s).step;
    p.model.block_training = false;
    if (blocks) {
      EXPECT_GT(with, 1.03 * evaluate(p, s).step) << system;
    } else {
      EXPECT_EQ(with, evaluate(p, s).step) << system;
    }
  }
}

// An adapter for each expert: as many parameters as PEFT counts for Mixtral (w1 and w3 as one), of
// which a token passes those of its experts.
TEST(Train, AdaptersOnRoutedExperts) {
  const auto problem = [](const Tuning& tuning) {
    return problem_of({.system = "dgx-h100",
                       .model = "mixtral-8x7b",
                       .work = {.batch = 16, .seq = 4096, .tuning = tuning}});
  };
  const Projections plain{.qkv = true, .output = true, .up = true, .down = true};
  Projections routed = plain;
  routed.experts = true;
  const Problem without = problem({.rank = 16, .targets = plain});
  const Problem with = problem({.rank = 16, .targets = routed});
  const StageKind whole = stage_of(with, {}, 0);
  const double each = 16 * (4096 + 2 * 14336 + 14336 + 4096);
  const RankParameters all = trained_parameters(with, {}, whole);
  EXPECT_NEAR(all.experts, 32 * 8 * each, 1);
  EXPECT_EQ(all.dense, trained_parameters(without, {}, whole).dense);
  EXPECT_EQ(trained_parameters(without, {}, whole).experts, 0);
  // Ranks share the experts, and so their adapters.
  EXPECT_NEAR(trained_parameters(with, {.dp = 8, .ep = 8}, whole).experts, 32 * each, 1);
  const Strategy s{.dp = 8, .ep = 8, .zero = 1};
  const Explained x = explain(with, s);
  const Estimate e = evaluate(with, s);
  EXPECT_EQ(x.estimate.step, e.step);
  const Estimate less = evaluate(without, s);
  EXPECT_GT(e.forward_backward(), less.forward_backward());
  EXPECT_GT(e.time[Time::optimizer].exposed, less.time[Time::optimizer].exposed);
  for (const Space space : {Space::weights, Space::gradients, Space::optimizer}) {
    EXPECT_GT(e.memory.parts[space], less.memory.parts[space]);
  }
  EXPECT_GT(e.memory.after_forward, less.memory.after_forward);
  const double tokens = 16.0 * 4096;
  EXPECT_NEAR((e.model_flops - less.model_flops).value / (6 * tokens * 32 * 2 * each), 1, 1e-9);
}

// Muon's iterations are multiplies: many times what streaming its states takes. Fewer bytes stream
// faster.
TEST(Train, OptimizersTakeWhatTheyMove) {
  const auto time = [](Optimizer o) {
    const Problem p = test::problem_of("h200-single", "pytorch", "llama2-7b", Training{4, 4096, o});
    return evaluate(p, {.microbatch = 4}).time[Time::optimizer].exposed;
  };
  EXPECT_LT(time(Optimizer::adamw_8bit), time(Optimizer::adamw_bf16_states) * 1.2);
  EXPECT_LT(time(Optimizer::sgd), time(Optimizer::adamw));
  EXPECT_LT(time(Optimizer::adafactor), time(Optimizer::adamw));
  EXPECT_GT(time(Optimizer::muon), 3 * time(Optimizer::sgd));
}

// Multiplies that write into other ranks' memory end where their fabric does: at the node of a DGX,
// not at that of a rack.
TEST(Train, OverlapOfTensorRanksEndsAtTheirFabric) {
  const auto saved = [](const char* system, int tp) {
    Problem p = test::problem_of(system, "megatron-core", "llama3.1-405b", Training{32, 4096});
    const Strategy s{.tp = tp, .pp = 2, .sp = true};
    p.runtime.overlap.tensor = false;
    const Seconds without = evaluate(p, s).step;
    p.runtime.overlap.tensor = true;
    return 1 - evaluate(p, s).step / without;
  };
  EXPECT_GT(saved("dgx-h100", 8), 0.02);
  EXPECT_EQ(saved("dgx-h100", 16), 0);
  EXPECT_GT(saved("gb200-nvl72", 16), 0.02);
}

// A matrix is whole on one rank: beyond as many ranks as there are matrices no step of it is
// shorter.
TEST(Train, MuonTakesAsLongAsItsLargestMatrix) {
  const auto time = [](int dp) {
    const Problem p = test::problem_of("dgx-h200", "megatron-core", "llama3.1-8b",
                                       Training{1024, 4096, Optimizer::muon});
    return evaluate(p, {.dp = dp, .zero = 1}).time[Time::optimizer].exposed;
  };
  EXPECT_GT(time(256), 0.9 * time(1024));
  EXPECT_LT(time(256), 1.2 * time(1024));
  EXPECT_GT(time(1024).value, 4e-3);  // five times three multiplies over 4096 x 14336
  EXPECT_LT(time(64), 0.2 * time(8));
}

// Where layers mix tokens or have an MLP, never both, a prediction layer is two of them.
TEST(Training, APredictionLayerIsTwoWhereLayersHaveOneBranchEach) {
  const auto count = [](int ahead) {
    Training work{.batch = 64, .seq = 4096};
    work.predict_ahead = ahead;
    const Problem p =
        problem_of({.system = "gb200-nvl72", .model = "nemotron-3-super", .work = work});
    EXPECT_TRUE(one_branch_each(p.model));
    return p.parameters;
  };
  const ParameterCount none = count(0);
  const ParameterCount one = count(1);
  EXPECT_EQ(one.attention, none.attention * 9 / 8);
  EXPECT_EQ(one.experts, none.experts * 41 / 40);
  // Norms of two layers, of the state and of the token, and one more before the logits.
  EXPECT_EQ(one.norms - none.norms, 5 * 4096);
}

// Prediction layers are trained unless somebody says otherwise, and take a layer and a head each.
TEST(Training, PredictionLayersAreTrained) {
  const auto parameters = [](int ahead) {
    Training work{.batch = 64, .seq = 4096};
    work.predict_ahead = ahead;
    return problem_of({.system = "gb200-nvl72", .model = "deepseek-v3", .work = work})
        .parameters.total();
  };
  // 14 B are published of DeepSeek-V3's module, copies of both tables (0.93 B each) included.
  EXPECT_NEAR(parameters(1) - parameters(0), 14e9 - 2 * 0.93e9, 0.6e9);
  const auto step = [](int ahead, int rank = 0) {
    Training work{.batch = 64, .seq = 4096};
    work.predict_ahead = ahead;
    work.tuning.rank = rank;
    const Problem p = problem_of({.system = "gb200-nvl72", .model = "deepseek-v3", .work = work});
    EXPECT_EQ(p.graph.layers, p.model.layers);
    return evaluate(p, {.dp = 64, .ep = 64, .zero = 3}).step;
  };
  const Seconds none = step(0);
  EXPECT_EQ(step(-1), step(1));
  EXPECT_EQ(step(-1, 16), step(0, 16));
  // A layer is 1.6 % of them, the head's 0.93 B another 2.5 % of 37 B.
  EXPECT_GT(step(1), 1.015 * none);
  EXPECT_LT(step(1), 1.07 * none);
}

}  // namespace
// Weights that are kept in 8 bits are gathered so, embedding and head in 16.
TEST(Step, NarrowWeightsAreGatheredSo) {
  Problem p = problem_of({.system = "dgx-h100", .model = "llama2-7b"});
  const Strategy s{.dp = 64, .zero = 1, .precision = Precision::fp8};
  const BytesEach wide = state_exchange(p, s, groups_of(p, s)).gathered;
  p.runtime.footprint.narrow_weights = true;
  const BytesEach narrow = state_exchange(p, s, groups_of(p, s)).gathered;
  EXPECT_EQ(wide.layers, 2);
  EXPECT_EQ(narrow.layers, 1);
  EXPECT_EQ(narrow.ends, 2);
}

// What the host does for a microbatch shows in each of them, and in the pipeline's bubble.
// An odd number of tokens leaves the rows of both operands of a weight's gradient where they were.
TEST(Train, OneTokenMoreTakesHardlyLonger) {
  struct Case {
    const char *system, *runtime, *model;
    int rank = 0;
  };
  for (const Case& c :
       {Case{"dgx-a100", "megatron-core", "llama3.1-8b"}, Case{"dgx-h200", "fsdp", "llama3.1-8b"},
        Case{"tpu-v5p-node", "maxtext", "qwen2.5-7b"}, Case{"dgx-h100", "pytorch", "phi-4", 16},
        Case{"mi300x-node", "megatron-rocm", "mixtral-8x7b"}}) {
    const auto step = [&](int seq) {
      Training work{.batch = 4, .seq = seq};
      work.tuning.rank = c.rank;
      return evaluate(test::problem_of(c.system, c.runtime, c.model, work), {.dp = 2}).step;
    };
    const Seconds before = step(4096);
    for (const int more : {1, 2, 3, 7}) {
      EXPECT_LT(step(4096 + more) / before, 1.015) << c.system << ", " << c.model << ", " << more;
    }
  }
}

// What a device cannot multiply is not cast to it either: the step is that of what runs.
TEST(Train, TypesThatADeviceLacksCostNothing) {
  using enum Precision;
  struct Case {
    const char* system;
    Precision asked, same;
  };
  for (const Case& c :
       {Case{"dgx-a100", fp8, bf16}, Case{"dgx-a100", fp4, bf16}, Case{"tpu-v5p-node", fp8, bf16},
        Case{"v100-node", fp8, bf16}, Case{"p4-node", fp8, bf16}, Case{"dgx-h100", fp4, fp8}}) {
    for (const char* model : {"llama3.1-8b", "deepseek-v2-lite"}) {
      const Problem p =
          test::problem_of(c.system, "megatron-core", model, Training{.batch = 4, .seq = 1024});
      const Strategy zero{.dp = 4, .zero = 2};
      const auto of = [&](Precision type) {
        Strategy s = zero;
        s.precision = type;
        return evaluate(p, s);
      };
      const Estimate asked = of(c.asked);
      const Estimate same = of(c.same);
      EXPECT_EQ(asked.step, same.step) << c.system << ", " << model;
      EXPECT_EQ(asked.memory.total(), same.memory.total()) << c.system << ", " << model;
      EXPECT_EQ(asked.energy.total(), same.energy.total()) << c.system << ", " << model;
    }
  }
}

// Where multiplies take the lanes of ordinary units, a tenth more of their rate leaves them there.
TEST(Sensitivity, NothingBetterMakesAStepSlower) {
  for (const char* system : {"m2-max-node", "p100-node", "grace-node", "v100-node", "dgx-a100"}) {
    for (const int seq : {1, 512}) {
      for (const Precision type : {Precision::bf16, Precision::fp32}) {
        const Problem p =
            test::problem_of(system, "pytorch", "phi-4", Training{.batch = 2, .seq = seq});
        const Strategy s{.precision = type};
        const Seconds before = evaluate(p, s).step;
        for (std::size_t i = 0; i < static_cast<std::size_t>(Knob::count); ++i) {
          const auto knob = static_cast<Knob>(i);
          EXPECT_LE(evaluate(turned(p, knob), s).step / before, 1.003)
              << system << ", seq " << seq << ", " << name_of(type) << ", " << name_of(knob);
        }
      }
    }
  }
}

TEST(Step, MicrobatchesHaveAHostOfTheirOwn) {
  Problem p = problem_of({.system = "dgx-h100", .runtime = "ideal", .model = "llama2-7b"});
  for (const Strategy& s : {Strategy{.dp = 8}, Strategy{.pp = 8, .microbatch = 2}}) {
    p.runtime.host_per_microbatch = Seconds(0);
    const Seconds before = evaluate(p, s).step;
    p.runtime.host_per_microbatch = Seconds(0.01);
    const double times = microbatches_of(p, s) + s.pp - 1;
    EXPECT_NEAR((evaluate(p, s).step - before).value, 0.01 * times, 1e-9);
  }
}

}  // namespace sextant
