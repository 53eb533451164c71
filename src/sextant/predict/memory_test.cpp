// SPDX-License-Identifier: Apache-2.0
// Memory of a training step: published numbers, what stacks are known to keep, and laws.
#include "sextant/predict/memory.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sextant/io/presets.hpp"
#include "sextant/predict/train.hpp"

namespace sextant {
namespace {

using namespace literals;

Problem problem_of(const std::string& runtime, const std::string& model, const Training& work) {
  return prepare(load_system("dgx-h100"), load_runtime(runtime), {}, load_model(model), work);
}

/// What one layer (the model's average layer) keeps for one microbatch.
Bytes layer_activations(const Problem& p, Strategy s) {
  s.pp = s.interleave = 1;
  return stage_activations(p, s, 0) / p.model.layers;
}

// Korthikanti et al. (arXiv 2205.05198), Figures 1 and 7, in GiB and in percent of "none".
struct Published {
  const char* model;
  Strategy strategy;
  Training work;
  double states, none, least;
  double sp, selective, both, full;
};
using Row = Published;
const Published published[] = {
    Row{"megatron-22b", Strategy{.tp = 8, .microbatch = 4}, Training{4, 2048}, 45.56, 59.25, 9.56,
        66.84, 49.42, 16.18, 7.64},
    Row{"gpt3-175b", Strategy{.tp = 8, .pp = 8, .interleave = 3}, Training{64, 2048}, 45.56, 66.84,
        12.35, 62.04, 56.53, 18.49, 8.71},
    Row{"mt-nlg-530b", Strategy{.tp = 8, .pp = 35, .interleave = 3}, Training{280, 2048}, 31.64,
        114.02, 23.08, 58.31, 62.04, 20.27, 9.42},
    Row{"megatron-1t", Strategy{.tp = 8, .pp = 64}, Training{512, 2048}, 32.96, 131.25, 26.56,
        58.31, 62.04, 20.27, 9.42},
};

TEST(Memory, MatchesKorthikanti) {
  for (const Published& k : published) {
    SCOPED_TRACE(k.model);
    Problem p = problem_of("megatron-lm", k.model, k.work);
    p.runtime.dropout = true;
    const auto activations = [&](bool sp, Recompute r) {
      Strategy s = k.strategy;
      s.sp = sp;
      s.recompute = r;
      return stage_activations(p, s, 0) / 1_GiB;
    };
    const double none = activations(false, Recompute::none);
    EXPECT_NEAR(layer_states(p, k.strategy, 0) / 1_GiB, k.states, 0.001 * k.states);
    EXPECT_NEAR(none, k.none, 0.001 * k.none);
    EXPECT_NEAR(activations(true, Recompute::selective), k.least, 0.001 * k.least);
    // Read off a figure.
    EXPECT_NEAR(activations(true, Recompute::none) / none * 100, k.sp, 0.2);
    EXPECT_NEAR(activations(false, Recompute::selective) / none * 100, k.selective, 0.2);
    EXPECT_NEAR(activations(true, Recompute::selective) / none * 100, k.both, 0.2);
    EXPECT_NEAR(activations(false, Recompute::full) / none * 100, k.full, 0.2);
  }
}

// What PyTorch keeps of one token in one layer, op by op.
TEST(Memory, EagerLayersKeepWhatAutogradNeeds) {
  const Training one{1, 2048, Optimizer::adamw_bf16_states};
  const double h = 4096;
  // Two norms (input, fp32 1/σ, output), q, k, v, attention output and log-sum, gate, activated
  // gate, up and product.
  const Problem llama = problem_of("pytorch", "llama2-7b", one);
  EXPECT_DOUBLE_EQ(layer_activations(llama, {}).value,
                   2048 * (2 * (2 * h + 4 + 2 * h) + 8 * h + 4 * 32 + 8 * 11008));
  EXPECT_DOUBLE_EQ(layer_activations(llama, {.recompute = Recompute::full}).value, 2048 * 2 * h);
  const StageMemory m = stage_memory(llama, {}, 0);
  EXPECT_DOUBLE_EQ(m.after_forward.value, 32 * layer_activations(llama, {}).value +
                                              2048 * (2 * h + 4 + 2 * h + 4 * 32000));
  // Gradients of one microbatch replace activations: with this few tokens the end is fullest.
  EXPECT_DOUBLE_EQ(m.parts[Space::gradients].value, 2 * llama.parameters.total());
  EXPECT_EQ(m.parts[Space::activations].value, 0);
  // With many, the beginning of the backward pass, before the first gradient.
  const Problem many = problem_of("pytorch", "llama2-7b", {8, 2048, Optimizer::adamw_bf16_states});
  const StageMemory full = stage_memory(many, {.microbatch = 8}, 0);
  EXPECT_EQ(full.parts[Space::gradients].value, 0);
  EXPECT_DOUBLE_EQ(full.parts[Space::working].value, 8 * 2048 * 8.0 * 32000 + 70e6);
  // Later microbatches find gradients of earlier ones.
  const Problem again =
      problem_of("pytorch", "llama2-7b", {16, 2048, Optimizer::adamw_bf16_states});
  EXPECT_GT(stage_memory(again, {.microbatch = 8}, 0).total(), full.total());
}

// Adapters keep every projection's input, as training all weights does, and their inside; the
// head's input and the embedding's output, which no gradient needs, are not kept.
TEST(Memory, AdaptersKeepInputsAndTheirInside) {
  const double tokens = 2048;
  const double h = 4096;
  const Training all{1, 2048, Optimizer::adamw_bf16_states};
  const auto kept = [&](const Tuning& tuning) {
    Training work = all;
    work.tuning = tuning;
    return stage_memory(problem_of("pytorch", "llama2-7b", work), {}, 0).after_forward.value;
  };
  const double everything = kept({});
  EXPECT_DOUBLE_EQ(kept({.rank = 16}), everything - 2 * 2 * tokens * h + 32 * 4 * 16 * 2 * tokens);
  // Without adapters on the MLP neither its input nor that of its way out is kept.
  EXPECT_DOUBLE_EQ(kept({.rank = 16, .targets = {.qkv = true, .output = true}}),
                   kept({.rank = 16}) - 32 * tokens * 2 * (h + 11008 + 2 * 16));
  // A norm keeps its input for its own gradient, whatever else is frozen.
  EXPECT_DOUBLE_EQ(kept({.frozen = {.head = true}}), everything - 2 * tokens * h);
  EXPECT_LT(kept({.frozen = {.attention = true}}), everything);
}

TEST(Memory, StatesAreOfWhatIsTrained) {
  const auto parts = [](Training work) {
    return stage_memory(problem_of("pytorch", "llama2-7b", work), {}, 0).parts;
  };
  const Training lora{8, 2048, Optimizer::adamw, {.rank = 64}};
  const double n = problem_of("pytorch", "llama2-7b", lora).parameters.total();
  const double adapters = 32.0 * 64 * (4 * 4096 + 2 * 4096 + 4096 + 2 * 11008 + 11008 + 4096);
  EXPECT_DOUBLE_EQ(parts(lora)[Space::weights].value, 2 * (n + adapters));
  EXPECT_DOUBLE_EQ(parts(lora)[Space::optimizer].value, 12 * adapters);
  Training packed = lora;
  packed.tuning.adapter = Adapter::qlora;
  EXPECT_LT(parts(packed)[Space::weights].value, 0.35 * parts(lora)[Space::weights].value);
  Training dora = lora;
  dora.tuning.adapter = Adapter::dora;
  EXPECT_GT(parts(dora)[Space::optimizer].value, parts(lora)[Space::optimizer].value);
  // By optimizer, of all weights: master weights and moments in bytes.
  for (const auto& [optimizer, bytes] :
       {std::pair{Optimizer::adamw, 12.0}, std::pair{Optimizer::adamw_bf16_states, 4.0},
        std::pair{Optimizer::adamw_8bit, 2.03125}, std::pair{Optimizer::muon, 8.0},
        std::pair{Optimizer::sgd, 8.0}}) {
    EXPECT_DOUBLE_EQ(parts({8, 2048, optimizer})[Space::optimizer].value, bytes * n);
  }
  EXPECT_LT(parts({8, 2048, Optimizer::adafactor})[Space::optimizer].value, 0.01 * n);
}

// nanotron/optim/gradient_accumulator.py and zero.py: bf16 weights and DDP buckets, fp32
// accumulators, masters and moments; ZeRO-1 gathers updated weights through a copy.
TEST(Memory, NanotronBytesAParameter) {
  const Problem p = problem_of("nanotron", "llama2-7b", {256, 4096});
  const double n = p.parameters.total();
  const auto bytes = [&](const Strategy& s) {
    return (stage_memory(p, s, 0).optimizer_step - p.runtime.footprint.workspace).value / n;
  };
  EXPECT_DOUBLE_EQ(bytes({.dp = 1}), 18);
  EXPECT_DOUBLE_EQ(bytes({.dp = 8}), 20);
  EXPECT_DOUBLE_EQ(bytes({.dp = 8, .zero = 1}), 10 + 14.0 / 8);
}

// ZeRO (arXiv 1910.02054, Figure 1) with fp32 gradients.
TEST(Memory, ZeroSharesStates) {
  Problem p = problem_of("megatron-core", "llama2-7b", {64, 2048});
  p.runtime.gradients = Precision::fp32;
  const double n = p.parameters.total();
  const auto bytes = [&](int zero) {
    const auto parts = stage_memory(p, {.dp = 64, .zero = zero}, 0).parts;
    const Bytes states = parts[Space::weights] + parts[Space::gradients] + parts[Space::optimizer];
    return states.value / n;
  };
  EXPECT_DOUBLE_EQ(bytes(0), 18);
  EXPECT_DOUBLE_EQ(bytes(1), 6 + 12.0 / 64);
  EXPECT_DOUBLE_EQ(bytes(2), 2 + 16.0 / 64);
  EXPECT_DOUBLE_EQ(bytes(3), 18.0 / 64);
  const StageMemory away = stage_memory(p, {.dp = 64, .offload = true}, 0);
  EXPECT_EQ(away.parts[Space::optimizer].value, 0);
  EXPECT_DOUBLE_EQ(away.offloaded.value, 12 * n);
}

// In 8 bits: the 16-bit weights and two copies, or the copies alone; under ZeRO-3 copies are made
// of two layers at a time (Megatron's fp8_param_gather; torchtitan trains 405B on 128 H100 so).
TEST(Memory, NarrowWeightsMayBeAllThereIs) {
  Problem p = problem_of("megatron-core", "llama2-7b", {64, 2048});
  const double ends = p.parameters.embedding + p.parameters.head;
  const double layers = p.parameters.total() - ends;
  const auto weights = [&](int zero, Precision type) {
    const Strategy s{.dp = 64, .zero = zero, .precision = type};
    return stage_memory(p, s, 0).parts[Space::weights].value;
  };
  EXPECT_NEAR(weights(1, Precision::fp8), 4 * layers + 2 * ends, 1);
  EXPECT_NEAR(weights(3, Precision::fp8), (2 * layers + 2 * ends) / 64, 1);
  p.runtime.footprint.narrow_weights = true;
  EXPECT_NEAR(weights(1, Precision::fp8), 2 * layers + 2 * ends, 1);
  EXPECT_NEAR(weights(3, Precision::fp8), (layers + 2 * ends) / 64, 1);
  EXPECT_NEAR(weights(1, Precision::bf16), 2 * layers + 2 * ends, 1);
}

// States that the device does not hold must find room in the host.
TEST(Memory, AHostHoldsNoMoreThanItHas) {
  Problem p = problem_of("megatron-core", "llama2-7b", {64, 2048});
  const Strategy s{.tp = 8, .offload = true};
  EXPECT_EQ(evaluate(p, s).verdict, Verdict::fits);
  p.host_memory = Bytes(1e9);
  EXPECT_EQ(evaluate(p, s).verdict, Verdict::out_of_memory);
}

TEST(Memory, MicrobatchesInFlight) {
  const Problem p = problem_of("megatron-core", "gpt3-175b", {64, 2048});
  EXPECT_EQ(in_flight(p, {.pp = 8}, 0), 8);
  EXPECT_EQ(in_flight(p, {.pp = 8}, 7), 1);
  EXPECT_EQ(in_flight(p, {.pp = 8, .dp = 16}, 0), 4);  // there are no more
  EXPECT_EQ(in_flight(p, {.pp = 8, .schedule = Schedule::gpipe}, 7), 64);
  EXPECT_EQ(in_flight(p, {.pp = 8, .schedule = Schedule::zero_bubble}, 3), 5);
  EXPECT_DOUBLE_EQ(in_flight(p, {.pp = 8, .interleave = 3}, 0), 8 * (1 + 7.0 / (8 * 3)));
}

// DeepSeek-V3's logits are 2 GiB a microbatch: 17 of them under way on every stage of DualPipe kept
// 17 times that on the last.
TEST(Memory, TheLossIsKeptForOneMicrobatch) {
  const Problem p =
      problem_of("megatron-core", "deepseek-v3", {.batch = 15360, .seq = 4096, .predict_ahead = 0});
  for (const Schedule schedule :
       {Schedule::one_f_one_b, Schedule::zero_bubble_v, Schedule::dual_pipe}) {
    const Strategy s{.pp = 16, .dp = 128, .ep = 64, .zero = 1, .schedule = schedule};
    const int at = schedule == Schedule::zero_bubble_v ? 0 : 15;  // of the loss
    const Bytes last = stage_memory(p, s, at).parts[Space::activations];
    const Bytes logits(4.0 * 4096 * p.model.vocab);
    EXPECT_LT(last - stage_activations(p, s, at), 2 * logits) << name_of(schedule);
    EXPECT_GT(last - stage_activations(p, s, at), logits) << name_of(schedule);
  }
}

TEST(Memory, RecomputingSomeLayersKeepsTheOthers) {
  const Problem p = problem_of("megatron-core", "gpt3-175b", {64, 2048});
  const auto kept = [&](int layers) {
    return stage_activations(p, {.tp = 8, .recompute = Recompute::full, .recompute_layers = layers},
                             0);
  };
  const Bytes all = stage_activations(p, {.tp = 8, .recompute = Recompute::full}, 0);
  const Bytes none = stage_activations(p, {.tp = 8}, 0);
  EXPECT_DOUBLE_EQ(kept(96).value, all.value);
  EXPECT_DOUBLE_EQ(kept(24).value, (0.25 * all + 0.75 * none).value);
}

TEST(Memory, ModulesAreLeftOut) {
  const Problem p = problem_of("megatron-core", "deepseek-v3", {1024, 4096});
  const Strategy s{.pp = 16, .dp = 64, .ep = 64};
  const auto with = [&](const RecomputeModules& modules) {
    Strategy t = s;
    t.modules = modules;
    return layer_activations(p, t);
  };
  const Bytes none = with({});
  EXPECT_LT(with({.norms = true}), none);
  EXPECT_LT(with({.activation = true}), none);
  EXPECT_LT(with({.mlp = true}), none);
  EXPECT_LT(with({.experts = true}), with({.activation = true}));
  EXPECT_LT(with({.latent = true}), none);
}

// What a stage computes again it has had to keep: layers of other stages are not its own.
TEST(Memory, RecomputingMoreHoldsNoMore) {
  struct Placed {
    const char* model;
    Strategy strategy;
  };
  const std::vector<Placed> all = {
      {"deepseek-v3", {.pp = 8, .dp = 32, .ep = 32, .zero = 1}},
      {"qwen3-30b-a3b", {.dp = 8, .ep = 8, .zero = 1}},
      {"mixtral-8x7b", {.tp = 2, .pp = 2, .dp = 16, .ep = 8, .sp = true}},
      {"llama3.1-70b", {.tp = 8, .pp = 4, .interleave = 2, .sp = true}},
  };
  for (const auto& [model, strategy] : all) {
    const Problem p = problem_of("megatron-core", model, {1024, 4096});
    for (int stage = 0; stage < strategy.pp; ++stage) {
      const double none = stage_memory(p, strategy, stage).total().value;
      for (const RecomputeModules& more :
           {RecomputeModules{.norms = true}, RecomputeModules{.activation = true},
            RecomputeModules{.mlp = true}, RecomputeModules{.experts = true},
            RecomputeModules{.latent = true}, RecomputeModules{.alternate = true}}) {
        Strategy s = strategy;
        s.modules = more;
        EXPECT_LE(stage_memory(p, s, stage).total().value, none * (1 + 1e-12)) << model << stage;
      }
    }
  }
}

// torchtitan keeps of a Llama layer its input, q, v, what attention gives, the gate and the way
// out: 1 + 1 + 1/4 + 1 + 7/2 + 1 times the hidden state, a logarithm a head and the norm's
// statistic.
TEST(Memory, EverySecondMultiplyIsLeftOut) {
  const Problem p = problem_of("pytorch-compile", "llama3.1-8b", {16, 8192});
  Strategy s{.dp = 8, .microbatch = 2, .zero = 3};
  s.modules.alternate = true;
  const double tokens = 2.0 * 8192;
  EXPECT_DOUBLE_EQ(layer_activations(p, s).value, tokens * (7.75 * 4096 * 2 + 4 * 32 + 4));
  // What ranks have summed up is kept; each has an eighth of everything.
  s.tp = 8;
  s.dp = 1;
  s.sp = true;
  EXPECT_DOUBLE_EQ(layer_activations(p, s).value, tokens / 8 * (8.75 * 4096 * 2 + 4 * 32 + 8));
}

// Two halves of 2,048 values for each of eight experts and the shared one.
TEST(Memory, WhatActivationsTakeInMayBeKeptNarrow) {
  Problem p = problem_of("megatron-core", "deepseek-v3", {1024, 4096});
  for (const Precision type : {Precision::bf16, Precision::fp8}) {
    const Strategy s{.pp = 16, .dp = 64, .ep = 64, .precision = type};
    p.runtime.footprint.narrow_gate = p.model.block_training = false;
    const double wide = stage_activations(p, s, 8).value;
    p.runtime.footprint.narrow_gate = true;
    const double layers = in_flight(p, s, 8) * stage_of(p, s, 8).layers;
    const double saved = type == Precision::fp8 ? 4096 * 9 * 2 * 2048 : 0;
    EXPECT_NEAR(wide - stage_activations(p, s, 8).value, layers * saved, 1) << name_of(type);
    const double narrow = stage_activations(p, s, 8).value;
    p.runtime.footprint.narrow_gate = false;
    p.model.block_training = true;  // DeepSeek-V3's recipe keeps attention's result once, too
    const double result = type == Precision::fp8 ? 4096 * 128 * 128 : 0;
    EXPECT_NEAR(stage_activations(p, s, 8).value, narrow - layers * result, 1) << name_of(type);
  }
}

// Published runs of MaxText on 256 chips of 16 GiB (its README): XLA gathers matrix by matrix.
TEST(Memory, WhatMaxTextRanFits) {
  for (const auto& [model, each] : {std::pair{"maxtext-16b", 6}, std::pair{"maxtext-32b", 4}}) {
    const Training work{.batch = 256 * each, .seq = 2048};
    const Problem p =
        prepare(load_system("tpu-v5e-node"), load_runtime("maxtext"), {}, load_model(model), work);
    const Strategy s{.dp = 256, .microbatch = each, .zero = 3, .recompute = Recompute::full};
    EXPECT_EQ(evaluate(p, s).verdict, Verdict::fits) << model;
  }
}

// As published: 16 stages of DualPipe, experts over 64 ranks, norms, activations and projections
// out of the latent computed again (arXiv 2412.19437, sections 3.2 and 3.3).
TEST(Memory, DeepSeekFitsAsItWasTrained) {
  const Problem p = prepare(load_system("h800-node"), load_runtime("megatron-core"), {},
                            load_model("deepseek-v3"), Training{15360, 4096});
  Strategy s{.pp = 16, .dp = 128, .ep = 64, .zero = 1, .precision = Precision::fp8};
  s.schedule = Schedule::dual_pipe;
  s.modules = {.norms = true, .activation = true, .latent = true};
  for (int stage = 0; stage < 16; ++stage) {
    EXPECT_LT(stage_memory(p, s, stage).total(), p.capacity) << stage;
  }
}

class MemoryLaws : public testing::TestWithParam<const char*> {
 protected:
  int pick(std::initializer_list<int> of) {
    const auto i = std::uniform_int_distribution<std::size_t>(0, of.size() - 1)(engine_);
    return *(of.begin() + static_cast<std::ptrdiff_t>(i));
  }
  Strategy strategy() {
    Strategy s;
    s.tp = pick({1, 2, 4, 8});
    s.pp = pick({1, 2, 4});
    s.dp = pick({1, 2, 8, 64});
    s.cp = pick({1, 2});
    s.ep = pick({1, 2, 8});
    s.microbatch = pick({1, 2});
    s.zero = pick({0, 1});
    s.sp = s.tp > 1 && pick({0, 1}) == 1;
    s.interleave = pick({1, 2});
    s.schedule = Schedule(pick({0, 1, 2}));
    s.recompute = Recompute(pick({0, 1, 2}));
    s.precision = pick({0, 1}) == 0 ? Precision::bf16 : Precision::fp8;
    return s;
  }
  std::mt19937 engine_{7};
};

TEST_P(MemoryLaws, Hold) {
  for (const char* runtime : {"megatron-lm", "megatron-core", "nanotron", "pytorch", "fsdp"}) {
    Problem p = problem_of(runtime, GetParam(), {1024, 4096});
    p.max_devices = 1 << 20;
    int tried = 0;
    for (int trial = 0; trial < 300; ++trial) {
      Strategy s = strategy();
      if (legal(p, s) != Verdict::fits) continue;
      ++tried;
      for (int stage = 0; stage < s.pp; ++stage) {
        const StageMemory m = stage_memory(p, s, stage);
        Bytes sum;
        for (const Bytes part : m.parts.values) {
          EXPECT_GE(part.value, 0);
          sum += part;
        }
        EXPECT_EQ(sum, m.total());
        EXPECT_LE(m.peak_forward_backward, m.total());
        EXPECT_LE(m.optimizer_step, m.total());
        EXPECT_GT(m.after_forward.value, 0);
      }
      Bytes before{1e300};
      for (const Recompute r : {Recompute::none, Recompute::selective, Recompute::full}) {
        Strategy t = s;
        t.recompute = r;
        EXPECT_LE(stage_activations(p, t, 0), before);
        before = stage_activations(p, t, 0);
      }
      Bytes states{1e300};
      Bytes total{1e300};
      for (const int zero : {0, 1, 2, 3}) {
        Strategy t = s;
        t.zero = zero;
        if (legal(p, t) != Verdict::fits) continue;
        EXPECT_LE(layer_states(p, t, 0), states);
        EXPECT_LE(stage_memory(p, t, 0).total().value, total.value * (1 + 1e-12))
            << runtime << zero;
        states = layer_states(p, t, 0);
        total = stage_memory(p, t, 0).total();
      }
    }
    EXPECT_GT(tried, 20);
  }
}

TEST_P(MemoryLaws, MoreDevicesHoldNoMoreWeightsEach) {
  Problem p = problem_of("megatron-core", GetParam(), {1024, 4096});
  p.max_devices = 1 << 20;
  int tried = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Strategy s = strategy();
    s.zero = 3 * pick({0, 1});
    if (s.zero == 3) s.pp = s.interleave = 1;
    const auto weights = [&](const Strategy& t) {
      return stage_memory(p, t, 0).parts[Space::weights].value * (1 - 1e-12);
    };
    for (int Strategy::*degree : {&Strategy::tp, &Strategy::pp, &Strategy::cp, &Strategy::dp}) {
      Strategy t = s;
      t.*degree *= 2;
      if (legal(p, s) != Verdict::fits || legal(p, t) != Verdict::fits) continue;
      ++tried;
      // Stages do not divide evenly: the first of more stages may hold as much, never more.
      EXPECT_LE(weights(t), stage_memory(p, s, 0).parts[Space::weights].value);
    }
  }
  EXPECT_GT(tried, 20);
}

INSTANTIATE_TEST_SUITE_P(Models, MemoryLaws,
                         testing::Values("gpt3-175b", "llama3.1-70b", "mixtral-8x7b",
                                         "deepseek-v3"));

}  // namespace
}  // namespace sextant
