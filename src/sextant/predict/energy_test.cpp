// SPDX-License-Identifier: Apache-2.0
// Energy: no more than the limit allows, and what one H200 drew.
#include "sextant/predict/energy.hpp"

#include <gtest/gtest.h>

#include <array>

#include "sextant/predict/mapping.hpp"
#include "sextant/predict/test_problem.hpp"

namespace sextant {
namespace {

using test::problem_of;

Energy energy_of(const Problem& p, const PassCost& pass) {
  return pass.work + standing_energy(p, pass.time);
}

// The parts are those of the power that a pass is given.
TEST(Energy, SumsToThePowerOfAPass) {
  const Problem p = problem_of("h200-single", "pytorch-graph", "llama2-7b", Serving{});
  for (const PassShape& shape : {PassShape{1, 1, 1024}, PassShape{16, 1, 1024},
                                 PassShape{128, 1, 300}, PassShape{1, 2048, 2048}}) {
    const PassCost pass = serving_pass(p, {}, shape);
    const Joules drawn = pass.power * pass.time;
    EXPECT_NEAR(energy_of(p, pass).device() / drawn, 1, 0.01) << shape.batch;
  }
}

/// Means over seconds of one step after the other, nvidia-smi (one H200 SXM, 2026).
struct Measured {
  const char* name;
  double seconds;
  double watts;
  double gigahertz;
};

void expect_as_measured(const Measured& m, Watts power, Hertz clock, Joules energy) {
  EXPECT_NEAR(power.value / m.watts, 1, 0.06) << m.name;
  EXPECT_NEAR(clock.value / (m.gigahertz * 1e9), 1, 0.06) << m.name;
  EXPECT_NEAR(energy.value / (m.watts * m.seconds), 1, 0.08) << m.name;
}

TEST(Energy, OfServingOnH200AsMeasured) {
  struct Row {
    PassShape shape;
    Measured measured;
  };
  constexpr std::array rows = {
      Row{{1, 1, 1024}, {"decode 1", 4.50852e-3, 450.7, 1.98}},
      Row{{16, 1, 1024}, {"decode 16", 7.99016e-3, 626.8, 1.98}},
      Row{{64, 1, 1024}, {"decode 64", 1.90343e-2, 693.0, 1.788}},
      Row{{128, 1, 300}, {"decode 128", 1.49811e-2, 692.8, 1.7908}},
      Row{{1, 2048, 2048}, {"prefill 1", 5.58640e-2, 689.6, 1.7221}},
      Row{{8, 2048, 2048}, {"prefill 8", 4.36345e-1, 698.5, 1.6669}},
  };
  const Problem p = problem_of("h200-single", "pytorch-graph", "llama2-7b", Serving{});
  for (const Row& r : rows) {
    const PassCost pass = serving_pass(p, {}, r.shape);
    expect_as_measured(r.measured, pass.power, pass.clock, energy_of(p, pass).device());
  }
}

// Sharing states never spares replicas bytes: ZeRO 2 sends gradients for every microbatch, which 0
// and 1 send once, and 3 parameters as well.
TEST(Energy, OfLinksGrowsWithSharing) {
  const Problem p =
      problem_of("dgx-h100", "megatron-core", "llama3.1-8b", Training{.batch = 256, .seq = 4096});
  const auto links = [&](int zero) {
    return evaluate(p, {.dp = 64, .microbatch = 1, .zero = zero}).energy.links;
  };
  const double microbatches = 4;
  EXPECT_GT(links(0).value, 0);
  EXPECT_LE(links(1), links(0));
  EXPECT_GT(links(2) / links(1), microbatches / 2);  // parameters once, gradients every time
  EXPECT_GT(links(3), 1.2 * links(2));
}

// Who frees parameters after each pass gathers them for the next; who holds them, once a step.
TEST(Energy, OfLinksIsMoreWhereParametersAreFreed) {
  const Strategy s{.dp = 64, .microbatch = 1, .zero = 2};
  for (const char* runtime : {"megatron-core", "deepspeed", "nemo", "fsdp", "pytorch"}) {
    Problem p = problem_of("dgx-h100", runtime, "llama3.1-8b", Training{.batch = 512, .seq = 4096});
    const bool own = p.runtime.communication.frees_parameters;
    EXPECT_EQ(own, runtime == std::string("fsdp") || runtime == std::string("pytorch"));
    p.runtime.communication.frees_parameters = true;
    const Estimate freed = evaluate(p, s);
    p.runtime.communication.frees_parameters = false;
    const Estimate held = evaluate(p, s);
    EXPECT_GT(freed.energy.links, 1.2 * held.energy.links) << runtime;
    EXPECT_GT(freed.step, held.step) << runtime;
  }
}

// A device that waits for states in the host's memory moves no more bytes of its own.
TEST(Energy, OfMemoryIsTheSameWithStatesAtTheHost) {
  const Problem p =
      problem_of("dgx-h100", "megatron-core", "llama3.1-8b", Training{.batch = 64, .seq = 4096});
  const Estimate here = evaluate(p, {.tp = 2, .dp = 8});
  const Estimate there = evaluate(p, {.tp = 2, .dp = 8, .offload = true});
  EXPECT_GT(there.step, here.step + Seconds(1));
  EXPECT_NEAR(there.energy.memory / here.energy.memory, 1, 1e-6);
}

// Replicas that share states among themselves gather and scatter as if there were no others; the
// others' sums cross once a step, of an expert's parameters too.
TEST(Energy, GroupsThatShareStatesGatherAlone) {
  const Problem p =
      problem_of("dgx-h100", "fsdp", "mixtral-8x7b", Training{.batch = 128, .seq = 4096});
  for (const int zero : {1, 2, 3}) {
    for (const int ep : {1, 2, 8}) {
      const Strategy all{.dp = 64, .ep = ep, .zero = zero};
      Strategy groups = all;
      groups.shard = 8;
      Strategy few = all;
      few.dp = 8;
      const Mapping m = mapping_of(p, groups);
      EXPECT_EQ(m.gather.time, mapping_of(p, few).gather.time) << zero << " " << ep;
      EXPECT_EQ(m.reduce.time, mapping_of(p, few).reduce.time) << zero << " " << ep;
      EXPECT_LT(m.gather.time, mapping_of(p, all).gather.time) << zero << " " << ep;
      EXPECT_GT(m.across.time.value, 0) << zero << " " << ep;
      // An eighth of all but experts, and of these what 8 replicas hold a share of.
      const RankParameters n = rank_parameters(p, groups, 0);
      const double bytes = reduced_bytes(p.runtime, groups.precision);
      const StateExchange x = state_exchange(p, groups, m.groups);
      EXPECT_NEAR((x.dense_share(n) + x.expert_share(n)).value,
                  bytes * ((n.total() - n.experts) / 8 + n.experts / std::max(1, 8 / ep)), 1)
          << zero << " " << ep;
    }
  }
}

// States that nobody shares are summed as without ZeRO.
TEST(Energy, AGroupOfOneSharesNothing) {
  const Problem p =
      problem_of("dgx-h100", "megatron-core", "mixtral-8x7b", Training{.batch = 64, .seq = 2048});
  const Strategy none{.dp = 32, .ep = 8};
  const Estimate all = evaluate(p, none);
  for (const int zero : {1, 2}) {
    Strategy alone = none;
    alone.zero = zero;
    alone.shard = 1;
    const Estimate e = evaluate(p, alone);
    EXPECT_NEAR(e.step / all.step, 1, 1e-6) << zero;
    EXPECT_NEAR(e.memory.total() / all.memory.total(), 1, 1e-6) << zero;
    EXPECT_NEAR(e.energy.links / all.energy.links, 1, 1e-6) << zero;
  }
}

// An optimizer reads all the states that its rank holds, those of experts too.
TEST(Energy, AnOptimizerMovesWhatItHolds) {
  const Problem p =
      problem_of("dgx-h100", "megatron-core", "mixtral-8x7b", Training{.batch = 128, .seq = 4096});
  for (const int shard : {0, 16, 8, 4, 2}) {
    const Strategy s{.tp = 2, .dp = 32, .ep = 2, .zero = 1, .shard = shard};
    const Bytes held = evaluate(p, s).memory.parts[Space::optimizer];
    const Bytes moved = mapping_of(p, s).update.moved;
    EXPECT_GT(moved, 2 * held) << shard;
    EXPECT_LT(moved, 4 * held) << shard;
  }
}

// Experts that no other rank holds have nobody to send their gradients to.
TEST(Energy, OfLinksIsOfWhatReplicasShare) {
  const Problem p =
      problem_of("dgx-h100", "megatron-core", "mixtral-8x7b", Training{.batch = 64, .seq = 4096});
  const auto gradients = [&](int ep) {
    const Strategy s{.dp = 8, .ep = ep};
    return mapping_of(p, s).reduce.links;
  };
  EXPECT_LT(gradients(8), 0.2 * gradients(4));
}

// Each stage sends activations on and gradients back, but the last and the first; the turn of ZB-V
// stays on its rank.
TEST(Energy, OfLinksIsOfWhatStagesSend) {
  struct Row {
    int pp;
    int interleave;
    Schedule schedule;
    double boundaries;
  };
  constexpr std::array rows = {Row{2, 1, Schedule::one_f_one_b, 1}, Row{4, 1, Schedule::gpipe, 3},
                               Row{4, 2, Schedule::one_f_one_b, 7},
                               Row{4, 1, Schedule::zero_bubble, 3},
                               Row{4, 1, Schedule::zero_bubble_v, 6}};
  const Problem p =
      problem_of("dgx-h100", "megatron-core", "llama3.1-8b", Training{.batch = 16, .seq = 4096});
  const Joules each = link_energy * Bytes(4096.0 * p.model.hidden * 2);
  for (const Row& r : rows) {
    const Strategy s{.pp = r.pp, .interleave = r.interleave, .schedule = r.schedule};
    EXPECT_NEAR(evaluate(p, s).energy.links / each, 2 * 16 * r.boundaries / r.pp, 1e-6)
        << r.boundaries;
  }
}

// An all-reduce sends what a reduce-scatter and an all-gather send: of a layer eight halves, and
// with sequence parallelism ten, since inputs are gathered once more for their weights' gradients.
TEST(Energy, OfLinksCountsBothHalvesOfASum) {
  const Problem p =
      problem_of("dgx-h100", "megatron-core", "llama3.1-8b", Training{.batch = 8, .seq = 4096});
  const Joules sums = evaluate(p, {.tp = 2}).energy.links;
  EXPECT_NEAR(evaluate(p, {.tp = 2, .sp = true}).energy.links / sums, 10.0 / 8, 0.02);
  const double layers = p.model.layers;
  const Bytes half(0.5 * 8 * 4096.0 * p.model.hidden * 2);
  EXPECT_NEAR(sums / (link_energy * (8 * layers * half)), 1, 0.05);
}

// Newton-Schulz is multiplies: at no more than the board's power, and less of its memory.
TEST(Energy, OfMuonIsOfItsMultiplies) {
  for (const char* model : {"llama3.1-8b", "qwen3-30b-a3b"}) {
    const auto with = [&](Optimizer optimizer) {
      const Training work{.batch = 16, .seq = 4096, .optimizer = optimizer};
      return evaluate(problem_of("dgx-h100", "megatron-core", model, work), {.dp = 8, .zero = 1});
    };
    const Estimate adam = with(Optimizer::adamw);
    const Estimate muon = with(Optimizer::muon);
    const Joules compute = muon.energy.compute - adam.energy.compute;
    EXPECT_GT(compute, 2 * (muon.energy.memory - adam.energy.memory)) << model;
    const Seconds longer = muon.time[Time::optimizer].busy - adam.time[Time::optimizer].busy;
    EXPECT_GT(compute / longer, Watts(200)) << model;
    EXPECT_LT(compute / longer, Watts(1000)) << model;
  }
}

TEST(Energy, OfTrainingOnH200AsMeasured) {
  const Problem p =
      problem_of("h200-single", "pytorch", "gpt-2.7b", Training{.batch = 8, .seq = 2048});
  const Strategy s{.microbatch = 8};
  const Estimate e = evaluate(p, s);
  expect_as_measured({"train", 0.586946, 690.0, 1.6773}, e.power, e.clock, e.energy.device());
}

TEST(Energy, StaysWithinTheLimit) {
  for (const int tp : {1, 8}) {
    const Problem p =
        problem_of("dgx-h100", "megatron-core", "llama3.1-8b", Training{.batch = 64, .seq = 4096});
    Strategy s;
    s.tp = tp;
    s.dp = 64 / tp;
    s.zero = 1;
    const Estimate estimate = evaluate(p, s);
    const Energy e = estimate.energy;
    EXPECT_LT(e.device() / estimate.step, 1.05 * p.chip.power_limit);
    EXPECT_GT(e.device() / estimate.step, 0.4 * p.chip.power_limit);
    EXPECT_GT(e.compute.value, 0);
    EXPECT_GT(e.memory.value, 0);
    EXPECT_GT(e.idle.value, 0);
  }
}

// The CPU, the switches and the fans of a DGX draw 2880 W for its eight devices.
TEST(Energy, ANodeDrawsBesideItsDevices) {
  const Problem p = problem_of("dgx-h100", "trtllm", "llama2-13b", Serving{});
  const PassShape shape{1, 1, 1024};
  const Energy e = energy_of(p, serving_pass(p, {}, shape));
  EXPECT_NEAR(e.host / serving_pass(p, {}, shape).time / Watts(2880.0 / 8), 1, 1e-9);
  EXPECT_NEAR((e.total() - e.device()) / e.host, 1, 1e-9);
}

// Fewer steps take less; nothing draws more than its limit because it is faster.
TEST(Energy, OfSpeculationFollowsItsTime) {
  Serving w{.batch = 1, .input = 500, .output = 100};
  const Problem plain = problem_of("dgx-h100", "trtllm", "llama3.1-8b", w);
  w.speculation = {.tokens = 4, .acceptance = 1};
  const Problem drafted = problem_of("dgx-h100", "trtllm", "llama3.1-8b", w);
  const Joules e = request_energy(drafted, {}).device();
  EXPECT_LT(e, 0.6 * request_energy(plain, {}).device());
  EXPECT_LT(e / serve(drafted, {}).latency, drafted.chip.power_limit);
  Problem small = drafted;
  small.draft = draft_of(small, load_model("llama3.2-1b"));
  Problem large = drafted;
  large.draft = draft_of(large, load_model("llama3.2-3b"));
  EXPECT_LT(request_energy(small, {}).device(), request_energy(large, {}).device());
}

// Stages share the work: no device of a pipeline draws more than its limit, and a lone request,
// which leaves all stages but one waiting, takes what it takes on one device beside that waiting.
TEST(Energy, OfAPipelineIsSharedByItsStages) {
  for (const int batch : {1, 64}) {
    const Serving w{.batch = batch, .input = 500, .output = 100};
    const Problem p = problem_of("dgx-h100", "trtllm", "llama3.1-8b", w);
    const Energy one = request_energy(p, {});
    const Strategy four{.pp = 4};
    const Energy each = request_energy(p, four);
    EXPECT_LT(each.device() / serve(p, four).latency, p.chip.power_limit);
    if (batch > 1) continue;  // every share of a batch reads the weights again
    EXPECT_NEAR(4 * (each.compute + each.memory) / (one.compute + one.memory), 1, 0.02);
    EXPECT_NEAR(each.idle / one.idle, 1, 0.02);
  }
}

// A device idles while requests wait: for prompts of others, for room, for the host.
TEST(Energy, OfWaitingIsCounted) {
  for (const Batching batching : {Batching::fixed, Batching::closed_loop}) {
    for (const int batch : {1, 64, 5000}) {  // more than memory holds at a time
      const Serving w{.batch = batch, .input = 2000, .output = 100, .batching = batching};
      const Problem p = problem_of("dgx-h100", "trtllm", "llama3.1-8b", w);
      const ServingEstimate served = serve(p, {});
      const Seconds latency = served.latency;
      const Energy e = request_energy(p, {}, served);
      EXPECT_NEAR(e.idle / (p.chip.idle * latency), 1, 1e-12) << batch;
      EXPECT_NEAR(e.host / (p.host_power * latency), 1, 1e-12) << batch;
      if (served.verdict == Verdict::fits) {
        EXPECT_LT(e.device() / latency, p.chip.power_limit) << batch;
      }
    }
  }
}

TEST(Energy, OfARequestGrowsWithItsTokens) {
  Joules last{0};
  for (const int output : {1, 2, 100, 200}) {
    const Problem p = problem_of("dgx-h100", "trtllm", "llama2-13b",
                                 Serving{.batch = 4, .input = 500, .output = output});
    const Joules e = request_energy(p, {.tp = 2}).total();
    EXPECT_GT(e, last);
    last = e;
  }
}

}  // namespace
}  // namespace sextant
