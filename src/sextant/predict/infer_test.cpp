// SPDX-License-Identifier: Apache-2.0
// Laws of serving that hold whatever its constants are.
#include "sextant/predict/infer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sextant/predict/energy.hpp"
#include "sextant/predict/held.hpp"
#include "sextant/predict/sensitivity.hpp"
#include "sextant/predict/test_problem.hpp"

namespace sextant {
namespace {

struct Scene {
  std::string system = "dgx-h100";
  std::string runtime = "trtllm";
  std::string model = "llama2-13b";
  Strategy strategy;
  Serving work{.batch = 4, .input = 500, .output = 100};
};

Problem problem_of(const Scene& s) {
  return test::problem_of(s.system, s.runtime, s.model, s.work);
}

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {},
      {.strategy = {.tp = 2}},
      {.system = "dgx-a100", .runtime = "nemo-2023", .model = "llama2-70b", .strategy = {.tp = 8}},
      {.system = "dgx-a100", .runtime = "fastertransformer", .model = "gpt3-6.7b"},
      {.runtime = "vllm", .model = "llama3.1-8b", .strategy = {.precision = Precision::fp8}},
      {.runtime = "vllm", .model = "llama3.1-8b", .strategy = {.precision = Precision::int4}},
      {.model = "llama3.1-70b", .strategy = {.tp = 4, .pp = 2}},
      {.model = "mixtral-8x7b", .strategy = {.tp = 2}},
      {.system = "dgx-h200",
       .model = "deepseek-v3",
       .strategy = {.tp = 8, .precision = Precision::fp8}},
      {.system = "dgx-h200",
       .model = "deepseek-v3",
       .strategy = {.dp = 16, .ep = 16, .precision = Precision::fp8},
       .work = {.batch = 64, .input = 500, .output = 100}},
      {.system = "dgx-b200", .model = "gpt-oss-120b", .strategy = {.tp = 2}},
      {.system = "dgx-h200", .model = "qwen3-next-80b-a3b", .strategy = {.tp = 2}},
      {.system = "dgx-h200", .model = "jamba-1.5-mini", .strategy = {.tp = 2}},
      {.system = "h200-single", .runtime = "vllm", .model = "falcon-mamba-7b"},
      {.system = "h200-single",
       .runtime = "lmdeploy",
       .model = "llama2-7b",
       .work = {.batch = 16,
                .input = 500,
                .output = 100,
                .batching = Batching::closed_loop,
                .chunk = 128}},
      {.work = {.batch = 4, .input = 500, .output = 100, .speculation = {.tokens = 3}}},
      {.runtime = "vllm",
       .model = "qwen2.5-vl-7b",
       .strategy = {.tp = 2},
       .work = {.batch = 4, .input = 500, .output = 100, .images = 2}},
      {.runtime = "vllm",
       .model = "llama3.2-11b-vision",
       .strategy = {.precision = Precision::fp8},
       .work = {.batch = 4, .input = 500, .output = 100, .images = 1}},
  };
  return all;
}

std::string name_of_scene(const Scene& s) {
  return s.model + " on " + s.system + " with " + s.runtime;
}

double communication(const PassCost& c) {
  return (c.parts[Work::tensor] + c.parts[Work::exchange] + c.parts[Work::pipeline]).value;
}

TEST(Serving, ImagesTakeTimeWhereTheyAreMadeTokens) {
  for (const char* model : {"qwen2.5-vl-7b", "gemma3-4b", "llama3.2-11b-vision"}) {
    const Scene scene{.runtime = "vllm", .model = model};
    Problem p = problem_of(scene);
    const ServingEstimate text = serve(p, {});
    EXPECT_EQ(text.prefill.parts[Work::vision].value, 0) << model;
    p.serving.images = 1;
    const ServingEstimate seen = serve(p, {});
    EXPECT_GT(seen.prefill.parts[Work::vision].value, 0) << model;
    EXPECT_EQ(seen.decode.parts[Work::vision].value, 0) << model;
    EXPECT_GT(seen.ttft, text.ttft) << model;
    EXPECT_GT(seen.tpot, text.tpot) << model;
    EXPECT_GT(seen.memory.cache, text.memory.cache) << model;
    EXPECT_EQ(seen.memory.weights, text.memory.weights) << model;
    p.serving.images = 2;
    EXPECT_GT(serve(p, {}).ttft, seen.ttft) << model;
    EXPECT_EQ(prompt_tokens(p), 500 + 2 * image_tokens(p.model.vision)) << model;
    // A tower takes no more than its multiplies at the peak would, several times over, nor less.
    const double least = graph::image_flops(p.graph) / p.peak[Precision::bf16].value;
    const double each = seen.prefill.parts[Work::vision].value / scene.work.batch;
    EXPECT_GT(each, least) << model;
    EXPECT_LT(each, 6 * least) << model;
  }
  // Models without a tower see none.
  Problem blind = problem_of({.runtime = "vllm"});
  blind.serving.images = 1;
  EXPECT_EQ(serve(blind, {}).verdict, Verdict::images_without_tower);
}

TEST(Serving, ATowerIsHeldInSixteenBits) {
  Problem p = problem_of({.runtime = "vllm", .model = "qwen2.5-vl-7b"});
  const Problem text = problem_of({.runtime = "vllm", .model = "qwen2.5-7b"});
  for (const Precision type : {Precision::bf16, Precision::fp8}) {
    const Strategy s{.precision = type};
    const Bytes more = serve(p, s).memory.weights - serve(text, s).memory.weights;
    EXPECT_NEAR(more / Bytes(2 * p.parameters.vision), 1, 1e-9);
    // Without images that is all.
    EXPECT_EQ(serve(p, s).latency, serve(text, s).latency);
  }
}

TEST(Serving, MoreThanFitWaitInAClosedLoop) {
  Problem p = problem_of(
      {.work = {.batch = 16, .input = 500, .output = 100, .batching = Batching::closed_loop}});
  const ServingEstimate few = serve(p, {});
  EXPECT_EQ(few.active, 16);
  p.serving.batch = 100000;
  const ServingEstimate many = serve(p, {});
  EXPECT_EQ(many.verdict, Verdict::fits);
  EXPECT_TRUE(many.memory.fits());
  EXPECT_LT(many.active, 100000);
  EXPECT_GE(many.active, many.memory.max_batch);
  EXPECT_GT(many.ttft, 10 * few.ttft);
}

TEST(Serving, AnswersEveryScene) {
  for (const Scene& s : scenes()) {
    const ServingEstimate e = serve(problem_of(s), s.strategy);
    EXPECT_EQ(e.verdict, Verdict::fits) << name_of_scene(s);
    for (const double x : {e.ttft.value, e.tpot.value, e.latency.value, e.tokens_per_second,
                           e.memory.weights.value, e.memory.cache.value}) {
      EXPECT_TRUE(std::isfinite(x) && x > 0) << name_of_scene(s);
    }
    EXPECT_EQ(e.latency.value, (e.ttft + (s.work.output - 1.0) * e.tpot).value);
  }
}

TEST(Serving, LatencyGrowsWithInputAndOutput) {
  for (const Scene& s : scenes()) {
    Problem p = problem_of(s);
    double before = 0;
    for (const int input : {64, 128, 500, 1000, 2500}) {
      p.serving.input = input;
      const double now = serve(p, s.strategy).latency.value;
      EXPECT_GT(now, before) << name_of_scene(s) << ", input " << input;
      before = now;
    }
    before = 0;
    for (const int output : {1, 2, 16, 100, 1000}) {
      p.serving.output = output;
      const double now = serve(p, s.strategy).latency.value;
      EXPECT_GT(now, before) << name_of_scene(s) << ", output " << output;
      before = now;
    }
  }
}

// One token beyond what a pass takes costs another pass, but not another whole pass of tokens.
TEST(Serving, APromptIsCutIntoPiecesOfItsOwnTokens) {
  struct Row {
    Batching batching;
    int chunk;
    int fits;
  };
  for (const Row& r : {Row{Batching::fixed, 0, 8192}, Row{Batching::closed_loop, 0, 8192},
                       Row{Batching::closed_loop, 2048, 4096}}) {
    Problem p = problem_of({.runtime = "vllm", .model = "llama3.1-8b"});
    p.serving.batching = r.batching;
    p.serving.chunk = r.chunk;
    p.serving.batch = 4;
    p.serving.output = 32;
    p.serving.input = r.fits;
    const ServingEstimate whole = serve(p, {});
    p.serving.input = r.fits + 1;
    const ServingEstimate more = serve(p, {});
    EXPECT_GT(more.first_token, 0.999 * whole.first_token);
    EXPECT_LT(more.first_token, 1.2 * whole.first_token) << r.chunk;
    EXPECT_LT(more.latency, 1.2 * whole.latency) << r.chunk;
  }
}

TEST(Serving, APassGrowsWithContextAndBatch) {
  for (const Scene& s : scenes()) {
    const Problem p = problem_of(s);
    double before = 0;
    for (const double context : {100.0, 500.0, 2000.0, 8000.0, 32000.0}) {
      const double now = serving_pass(p, s.strategy, {64, 1, context}).time.value;
      EXPECT_GE(now, before) << name_of_scene(s) << ", context " << context;
      before = now;
    }
    before = 0;
    for (const double batch : {1.0, 16.0, 64.0, 256.0, 1024.0}) {
      const double now = serving_pass(p, s.strategy, {batch, 1, 2000}).time.value;
      EXPECT_GE(now, before) << name_of_scene(s) << ", batch " << batch;
      before = now;
    }
  }
}

// A token needs every weight of a dense model once.
TEST(Serving, ATokenTakesNoLessThanReadingTheWeights) {
  for (const Scene& s : scenes()) {
    const Problem p = problem_of(s);
    if (p.model.experts.count > 0 || s.strategy.pp > 1) continue;
    const RankParameters n = rank_parameters(p, s.strategy, 0);
    const double head = p.model.tied ? n.embedding : n.head;
    const Bytes weights(n.dense * element_bytes(s.strategy.precision) + head * 2);
    const PassCost pass = serving_pass(p, s.strategy, {1, 1, 1});
    EXPECT_GE(pass.time, weights / p.chip.bandwidth) << name_of_scene(s);
    EXPECT_GE(pass.dram.value, 0.999 * weights.value) << name_of_scene(s);
  }
}

// gpt-oss has its routed experts in 4 bits alone: 13.76 GB of weights are published for 20B.
TEST(Serving, WhatACheckpointLeavesIsHeldAndReadSo) {
  for (const auto& [type, rest] :
       {std::pair{Precision::fp4, Precision::bf16}, std::pair{Precision::int4, Precision::bf16},
        std::pair{Precision::fp4, Precision::fp8}}) {
    const Scene scene{
        .system = "dgx-h100", .model = "gpt-oss-20b", .strategy = {.precision = type}};
    Problem p = problem_of(scene);
    p.model.rest = rest;
    Problem all = p;
    all.model.narrow = Narrow::layers;
    all.graph = graph::build(all.model);
    const RankParameters n = rank_parameters(p, scene.strategy, 0);
    EXPECT_GT(n.published, 0.5e9);
    const double more = n.published * (stored_bits(p, rest) - stored_bits(p, type)) / 8;
    const auto weights = [&](const Problem& x) {
      return serving_memory(x, scene.strategy, false).weights.value;
    };
    EXPECT_NEAR(weights(p) - weights(all), more, 1) << name_of(type);
    const auto read = [&](const Problem& x) {
      return serving_pass(x, scene.strategy, {1, 1, 100}).dram.value;
    };
    EXPECT_NEAR(read(p) - read(all), more, 0.05 * more) << name_of(type);
    if (type == Precision::fp4 && rest == Precision::bf16) {
      EXPECT_NEAR(weights(p), 13.76e9, 0.01 * 13.76e9);
    }
  }
}

// DeepSeek's blocks of 8 bits are of all layers; those of 4 bits leave attention's ways in.
TEST(Serving, BlocksOfEightBitsAreOfAllLayers) {
  Model m;
  m.narrow = Narrow::outputs;
  m.block_scales = true;
  for (const Precision type : {Precision::bf16, Precision::fp8, Precision::fp4, Precision::int4}) {
    EXPECT_EQ(leaves_some(m, type), element_bytes(type) < 1) << name_of(type);
  }
  m.block_scales = false;
  EXPECT_TRUE(leaves_some(m, Precision::fp8));
  EXPECT_FALSE(leaves_some(m, Precision::bf16));
  m.rest = Precision::fp8;
  EXPECT_FALSE(leaves_some(m, Precision::fp8));
  EXPECT_TRUE(leaves_some(m, Precision::fp4));
}

// Weights, head, cache and all that streams are as wide as the multiplies.
TEST(Serving, EverythingIsAsWideAsTheStep) {
  Problem p = problem_of({.system = "h200-single", .runtime = "pytorch", .model = "opt-1.3b"});
  const auto pass = [&](Precision type, double queries) {
    p.serving.cache = type;
    return serving_pass(p, {.precision = type}, {8, queries, 900});
  };
  const PassCost narrow = pass(Precision::bf16, 1);
  const PassCost wide = pass(Precision::fp32, 1);
  EXPECT_NEAR(wide.dram / narrow.dram, 2, 0.05);
  EXPECT_GT(wide.parts[Work::head], 1.5 * narrow.parts[Work::head]);
  // Tiles of the vector units are smaller, too, and read more.
  EXPECT_GT(pass(Precision::fp32, 900).dram, 2 * pass(Precision::bf16, 900).dram);
  const auto streamed = [&](Precision type) {
    Bytes sum;
    for (const Operator& o : explain_pass(p, {.precision = type}, {8, 900, 900}).operators) {
      if (o.type == graph::Kind::norm || o.type == graph::Kind::activation) {
        sum += o.count * o.cost.dram;
      }
    }
    return sum;
  };
  EXPECT_NEAR(streamed(Precision::fp32) / streamed(Precision::bf16), 2, 0.2);
}

// Scores that are written and read again take time and bytes, in the mean over a request as in each
// of its steps; logits of every token take a larger multiply.
TEST(Serving, AttentionInPiecesMovesItsScores) {
  Problem p = problem_of({.system = "h200-single", .runtime = "pytorch", .model = "gpt2-large"});
  const Strategy s{.precision = Precision::fp32};
  const PassShape prompt{4, 1024, 1024};
  const PassCost fused = serving_pass(p, s, prompt);
  p.runtime.fusion.attention = false;
  const PassCost kernel = serving_pass(p, s, prompt);
  p.runtime.fusion.softmax_heads = 0;
  const PassCost pieces = serving_pass(p, s, prompt);
  const double scores = 36 * 4.0 * 20 * 1024 * 1024 * 4;  // of all layers, in fp32
  EXPECT_GT(kernel.dram.value, fused.dram.value + 3 * scores);
  EXPECT_GT(pieces.dram.value, kernel.dram.value + 2 * scores);
  EXPECT_GT(pieces.time, kernel.time);
  const double first = serving_pass(p, s, {4, 1, 601}).parts[Work::attention].value;
  const double last = serving_pass(p, s, {4, 1, 700}).parts[Work::attention].value;
  p.serving = {.batch = 4, .input = 600, .output = 101};
  EXPECT_NEAR(serve(p, s).decode.parts[Work::attention].value, (first + last) / 2, 0.02 * first);
  PassShape every = prompt;
  every.every_logit = true;
  const Flops head(2.0 * 4 * 1023 * 1280 * 50257);
  EXPECT_NEAR((serving_pass(p, s, every).flops - pieces.flops) / head, 1, 1e-9);
}

// Where every pair has a link of its own, stacks' kernels beat a ring up to megabytes: sums of
// twice the tokens do not take much more than twice as long.
TEST(Serving, SumsOnAMeshGrowWithTheirBytes) {
  const Problem p =
      problem_of({.system = "mi300x-node", .runtime = "sglang", .model = "llama3.1-70b"});
  double before = 0;
  for (const double batch : {16.0, 32.0, 64.0, 128.0}) {
    const PassCost c = serving_pass(p, {.tp = 8, .precision = Precision::fp8}, {batch, 1, 1000});
    const double now = c.parts[Work::tensor].value;
    if (before > 0) {
      EXPECT_LT(now, 1.9 * before) << batch;
    }
    before = now;
  }
}

// Nor do fewer bytes take longer where a stack's own kernels are none that the device runs.
TEST(Serving, SumsOfEnginesNeverShrinkWithTheirBytes) {
  for (const char* system : {"gaudi2-node", "gaudi3-node", "tpu-v6e-node", "trainium2-node"}) {
    const Problem p = problem_of({.system = system, .runtime = "vllm", .model = "llama3.1-70b"});
    for (const int tp : {2, 4, 8}) {
      if (tp > p.max_devices) continue;
      double before = 0;
      for (const double tokens : {64.0, 256.0, 480.0, 488.0, 496.0, 512.0, 1024.0}) {
        const PassCost c = serving_pass(p, {.tp = tp}, {1, tokens, tokens});
        const double now = c.parts[Work::tensor].value;
        EXPECT_GE(now, before) << system << ", tp " << tp << ", " << tokens;
        before = now;
      }
    }
  }
}

TEST(Serving, CacheIsCountedExactly) {
  Problem p = problem_of({.system = "dgx-h200", .model = "deepseek-v3"});
  EXPECT_EQ(cache_bytes_per_token(p).value, 70272);  // (512 + 64) x 2 B x 61 layers
  p.serving.cache = Precision::fp8;
  EXPECT_EQ(cache_bytes_per_token(p).value, 35136);
  EXPECT_EQ(cache_bytes_per_token(problem_of({.model = "llama3-8b"})).value, 131072);
  EXPECT_EQ(cache_bytes_per_token(problem_of({.model = "llama2-70b"})).value, 327680);
  for (const Scene& s : scenes()) {
    const Problem q = problem_of(s);
    if (q.layers.windowed > 0 || s.strategy.pp > 1) continue;
    const ServingEstimate e = serve(q, s.strategy);
    const double requests = std::ceil(static_cast<double>(s.work.batch) / s.strategy.dp);
    const Bytes sequence =
        (prompt_tokens(q) + s.work.output) * e.memory.cache_per_token + e.memory.cache_of_any;
    EXPECT_DOUBLE_EQ(e.memory.cache.value, (requests * sequence).value) << name_of_scene(s);
  }
}

TEST(Serving, DeepSeekUses37BillionParametersAToken) {
  EXPECT_NEAR(active_parameters(load_model("deepseek-v3")), 37e9, 1e9);
}

TEST(Serving, OneDeviceDoesNotCommunicate) {
  for (const Scene& s : scenes()) {
    const Problem p = problem_of(s);
    const Strategy one{.precision = s.strategy.precision};
    const ServingEstimate e = serve(p, one);
    EXPECT_EQ(communication(e.prefill) + communication(e.decode), 0) << name_of_scene(s);
  }
}

TEST(Serving, ARankAloneIsItsComputeWithoutCommunication) {
  for (const Scene& s : scenes()) {
    Problem p = problem_of(s);
    p.communicates = false;
    EXPECT_EQ(communication(serving_pass(p, s.strategy, {4, 1, 500})), 0) << name_of_scene(s);
  }
}

TEST(Serving, PartsSum) {
  for (const Scene& s : scenes()) {
    const ServingEstimate e = serve(problem_of(s), s.strategy);
    for (const PassCost* c : {&e.prefill, &e.decode}) {
      double sum = 0;
      for (const Seconds part : c->parts.values) {
        EXPECT_GE(part.value, 0) << name_of_scene(s);
        sum += part.value;
      }
      EXPECT_NEAR(sum / c->time.value, 1, 1e-12) << name_of_scene(s);
    }
  }
}

TEST(Serving, ExplainedIsTheSameToTheLastBit) {
  for (const Scene& s : scenes()) {
    const Problem p = problem_of(s);
    for (const PassShape shape : {PassShape{4, 500, 500}, PassShape{4, 1, 700}}) {
      const PassCost plain = serving_pass(p, s.strategy, shape);
      const ExplainedPass x = explain_pass(p, s.strategy, shape);
      EXPECT_EQ(plain.time, x.cost.time) << name_of_scene(s);
      EXPECT_EQ(plain.clock, x.cost.clock);
      EXPECT_EQ(plain.power, x.cost.power);
      EXPECT_EQ(plain.flops, x.cost.flops);
      EXPECT_EQ(plain.dram, x.cost.dram);
      double sum = x.cost.parts[Work::host].value;
      double flops = 0;
      for (std::size_t i = 0; i < plain.parts.size; ++i) {
        EXPECT_EQ(plain.parts.values[i], x.cost.parts.values[i]);
      }
      for (const Operator& o : x.operators) {
        sum += o.count * o.exposed.value;
        flops += o.count * o.cost.flops.value;
      }
      EXPECT_NEAR(sum / plain.time.value, 1, 1e-9) << name_of_scene(s);
      EXPECT_NEAR(flops / plain.flops.value, 1, 1e-9) << name_of_scene(s);
    }
  }
}

TEST(Serving, TheLargestBatchFitsAndOneMoreDoesNot) {
  for (const Scene& s : scenes()) {
    Problem p = problem_of(s);
    // In a closed loop those that do not fit wait for their turn.
    p.serving.batching = Batching::fixed;
    p.serving.chunk = 0;
    const double most = serve(p, s.strategy).memory.max_batch;
    ASSERT_GE(most, s.work.batch) << name_of_scene(s);
    p.serving.batch = static_cast<int>(most);
    EXPECT_EQ(serve(p, s.strategy).verdict, Verdict::fits) << name_of_scene(s);
    ++p.serving.batch;
    EXPECT_EQ(serve(p, s.strategy).verdict, Verdict::out_of_memory) << name_of_scene(s);
  }
}

TEST(Serving, GuessesPayWhereTheyAreRight) {
  Problem p = problem_of({.work = {.batch = 1, .input = 500, .output = 100}});
  const Strategy s;
  const Seconds plain = serve(p, s).tpot;
  p.serving.speculation = {.tokens = 3, .acceptance = 0.9, .draft_cost = 0.05};
  EXPECT_LT(serve(p, s).tpot, 0.6 * plain);
  p.serving.speculation = {.tokens = 3, .acceptance = 0, .draft_cost = 0.05};
  EXPECT_GT(serve(p, s).tpot, plain);
}

// A draft is a model as any: it takes its time, its memory and a place on the devices.
TEST(Serving, DraftsAreModels) {
  Problem p = problem_of({.system = "dgx-h100",
                          .model = "llama3.1-70b",
                          .work = {.batch = 8, .input = 1000, .output = 200}});
  const Strategy s{.tp = 8};
  p.serving.speculation = {.tokens = 3, .acceptance = 0.8, .draft_cost = 0};
  const ServingEstimate free = serve(p, s);
  const auto with = [&](const char* small) {
    p.draft = draft_of(p, load_model(small));
    return serve(p, s);
  };
  const ServingEstimate one = with("llama3.2-1b");
  const ServingEstimate three = with("llama3.2-3b");
  EXPECT_GT(one.tpot, 1.02 * free.tpot);
  EXPECT_GT(three.tpot, one.tpot);
  const double bytes = count_parameters(load_model("llama3.2-1b")).total() * 2 / 8;
  EXPECT_NEAR((one.memory.weights - free.memory.weights).value, bytes, 0.3 * bytes);
  EXPECT_GT(one.memory.cache, free.memory.cache);
  // Fourteen heads over eight devices: every device runs it whole.
  EXPECT_EQ(draft_strategy(*draft_of(p, load_model("qwen2.5-0.5b")), s).tp, 1);
}

// Whatever proposes tokens has read the prompt: the first token is never sooner, and not for free.
TEST(Serving, DraftsReadThePrompt) {
  for (const Batching batching : {Batching::fixed, Batching::closed_loop}) {
    for (const int chunk : {0, 256}) {
      if (chunk > 0 && batching == Batching::fixed) continue;  // nobody decodes beside
      Problem p = problem_of({.system = "dgx-h100",
                              .model = "llama3.1-70b",
                              .work = {.batch = 8, .input = 4000, .output = 200}});
      p.serving.batching = batching;
      p.serving.chunk = chunk;
      const Strategy s{.tp = 8};
      const ServingEstimate plain = serve(p, s);
      p.serving.speculation = {.tokens = 3, .acceptance = 0.8, .draft_cost = 0.02};
      const ServingEstimate share = serve(p, s);
      p.draft = draft_of(p, load_model("llama3.2-1b"));
      const ServingEstimate model = serve(p, s);
      EXPECT_NEAR((share.first_token - plain.first_token) / plain.first_token, 0.02, 0.002);
      // A parameter in 70 reads as many tokens.
      EXPECT_GT(model.first_token, (1 + 1.0 / 70) * plain.first_token);
      EXPECT_GT(model.ttft, plain.ttft);
      EXPECT_GT(share.ttft, plain.ttft);
      // Energy too: of drafts that cost no time to propose, what reading takes is left.
      ServingEstimate read = model;
      read.draft_prefill.work = {};
      EXPECT_LT(request_energy(p, s, read).device(), request_energy(p, s, model).device());
    }
  }
}

/// Closed loops whose best number at a time lies inside of what memory holds: just before a tile of
/// the multiplies, or where prompts begin to set the pace.
struct Loop {
  const char* system;
  const char* model;
  Precision precision;
  Serving work;
  const char* name;
};

TEST(Serving, MoreMemoryNeverSlowsAClosedLoop) {
  const Loop loops[] = {
      {"dgx-h200",
       "llama2-13b",
       Precision::int4,
       {.batch = 830, .input = 2313, .output = 40},
       "turns"},
      {"dgx-h200",
       "gpt-oss-20b",
       Precision::fp8,
       {.batch = 2002, .input = 3786, .output = 438},
       "tile"},
      {"dgx-h100",
       "llama2-13b",
       Precision::fp8,
       {.batch = 3823, .input = 151, .output = 7, .chunk = 4096},
       "edges"},
      {"dgx-h100",
       "mixtral-8x7b",
       Precision::bf16,
       {.batch = 5,
        .input = 6596,
        .output = 11,
        .chunk = 64,
        .speculation = {.tokens = 4, .acceptance = 0.8}},
       "alone"},
  };
  for (const Loop& l : loops) {
    Problem p = problem_of({.system = l.system, .model = l.model, .work = l.work});
    p.serving.batching = Batching::closed_loop;
    double best = 0;
    for (double gibibytes = 60; gibibytes < 700; gibibytes *= 1.04) {
      p.capacity = Bytes(gibibytes * 1024 * 1024 * 1024);
      const ServingEstimate e = serve(p, {.precision = l.precision});
      if (e.verdict != Verdict::fits) continue;
      // Numbers at a time are tried where tiles end; what lies between may be better by so much.
      EXPECT_GT(e.tokens_per_second, best * (1 - 1e-2)) << l.name << " " << gibibytes;
      best = std::max(best, e.tokens_per_second);
    }
    EXPECT_GT(best, 0) << l.name;
  }
}

// Drafts take what they take: a device that checks them faster does not draft slower.
TEST(Serving, MorePowerNeverSlowsDrafts) {
  Problem p = problem_of({.system = "dgx-b200",
                          .model = "llama2-13b",
                          .work = {.batch = 71, .input = 1817, .output = 6}});
  p.serving.batching = Batching::closed_loop;
  p.serving.chunk = 64;
  p.serving.speculation = {.tokens = 4, .acceptance = 0.5, .draft_cost = 0.1};
  double best = 0;
  for (double watts = 400; watts < 1600; watts += 100) {
    p.chip.power_limit = Watts(watts);
    const double rate = serve(p, {}).tokens_per_second;
    EXPECT_GT(rate, best * (1 - 1e-4)) << watts;
    best = std::max(best, rate);
  }
}

// DeepSeek-V3's own layer: one of 61, an output head, a projection.
TEST(Serving, PredictionLayersDraft) {
  Problem p = problem_of({.system = "dgx-h200",
                          .runtime = "sglang",
                          .model = "deepseek-v3",
                          .work = {.batch = 16, .input = 1000, .output = 200}});
  const Strategy s{.tp = 8, .precision = Precision::fp8};
  const Seconds plain = serve(p, s).tpot;
  p.serving.speculation = {.tokens = 1, .acceptance = 0.85, .draft_cost = 0};
  const Seconds free = serve(p, s).tpot;
  p.draft = own_draft_of(p);
  const Seconds drafted = serve(p, s).tpot;
  const double cost = (drafted - free) * 1.85 / plain;
  EXPECT_GT(cost, 1.0 / 61);
  EXPECT_LT(cost, 4.0 / 61);
  EXPECT_LT(drafted, plain);
}

/// A model with one thing changed, served and trained: something must move.
struct Change {
  const char* model;
  const char* what;
  void (*make)(Model&);
};

TEST(Serving, EveryFieldOfAModelMovesSomething) {
  const Change changes[] = {
      {"gemma4-2b", "kv_shared_layers", [](Model& m) { m.attention.kv_shared_layers = 0; }},
      {"gemma4-2b", "wide_mlp_layers", [](Model& m) { m.wide_mlp_layers = 0; }},
      {"gemma4-2b", "per_layer_embedding", [](Model& m) { m.per_layer_embedding = 0; }},
      {"gemma4-31b", "global_head_dim", [](Model& m) { m.attention.global_head_dim = 128; }},
      {"gemma4-31b", "global_kv_heads", [](Model& m) { m.attention.global_kv_heads = 1; }},
      {"llama2-13b", "norms_per_layer", [](Model& m) { m.norms_per_layer = 4; }},
      {"llama2-13b", "parallel_block", [](Model& m) { m.parallel_block = true; }},
      {"llama2-13b", "embedding_width", [](Model& m) { m.embedding_width = 1024; }},
      {"llama2-13b", "output_rank", [](Model& m) { m.attention.output_rank = 512; }},
      {"qwen3-next-80b-a3b", "hybrid.kind", [](Model& m) { m.hybrid.kind = Recurrence::mamba2; }},
      {"jamba-1.5-mini", "dt_rank", [](Model& m) { m.hybrid.dt_rank = 1024; }},
      {"jamba-1.5-mini", "inner_norms", [](Model& m) { m.hybrid.inner_norms = InnerNorms::none; }},
      {"deepseek-v3.2", "index_top", [](Model& m) { m.attention.index_top = 512; }},
  };
  Runtime runtime = load_runtime("trtllm");
  runtime.trains = true;  // both tasks, one stack
  const System system = load_system("dgx-h200");
  const Libraries libraries = load_libraries(system, runtime);
  const Strategy s{.tp = 2};
  for (const Change& c : changes) {
    SCOPED_TRACE(c.what);
    Model changed = load_model(c.model);
    c.make(changed);
    Problem p[2] = {prepare(system, runtime, libraries, load_model(c.model), Serving{}),
                    prepare(system, runtime, libraries, changed, Serving{})};
    const PassShape prompt{4, 8192, 8192};
    EXPECT_NE(serving_pass(p[0], s, prompt).time, serving_pass(p[1], s, prompt).time);
    for (Problem& one : p) one.work = {.batch = 4, .seq = 4096};
    EXPECT_NE(evaluate(p[0], s).step, evaluate(p[1], s).step);
  }
  const auto cache = [](const char* model) {
    return cache_bytes_per_token(problem_of({.model = model})).value;
  };
  Model whole = load_model("gemma4-2b");
  whole.attention.kv_shared_layers = 0;
  EXPECT_LT(
      cache("gemma4-2b"),
      0.5 * cache_bytes_per_token(prepare(system, runtime, libraries, whole, Serving{})).value);
  EXPECT_EQ(cache("deepseek-v3.2"), cache("deepseek-v3") + 61 * 132);  // 8-bit index keys, a scale
}

TEST(Serving, ScansAndLatentExpertsAreServed) {
  const auto has = [](const char* model, graph::Kind kind, std::string_view name) {
    const Problem p = problem_of({.system = "dgx-h200", .model = model});
    for (const Operator& o : explain_pass(p, {.tp = 8}, {1, 2048, 2048}).operators) {
      if (o.type == kind && o.name == name) return o.cost.flops.value > 0;
    }
    return false;
  };
  EXPECT_TRUE(has("qwen3-next-80b-a3b", graph::Kind::scan, "scan"));
  EXPECT_TRUE(has("nemotron-3-super", graph::Kind::linear, "to latent"));
  EXPECT_TRUE(has("deepseek-v3.2", graph::Kind::indexer, "indexer"));
}

// Long prompts of a sparse model cost less, short ones a little more.
TEST(Serving, AnIndexerPaysWhereContextsAreLong) {
  const auto time = [](const char* model, double tokens) {
    const Problem p = problem_of({.system = "dgx-h200", .model = model});
    return serving_pass(p, {.dp = 8, .ep = 8}, {8, tokens, tokens}).time;
  };
  EXPECT_GT(time("deepseek-v3.2", 1024), time("deepseek-v3", 1024));
  EXPECT_LT(time("deepseek-v3.2", 131072), 0.7 * time("deepseek-v3", 131072));
}

// Nor may it cost more to look at a few tokens than at all of them when many requests decode.
TEST(Serving, AnIndexerReadsOneKeyATokenForAllItsHeads) {
  const Problem sparse = problem_of({.system = "dgx-h200", .model = "deepseek-v3.2"});
  const Problem dense = problem_of({.system = "dgx-h200", .model = "deepseek-v3"});
  const auto indexer = [&](const PassShape& shape) {
    for (const Operator& o : explain_pass(sparse, {.tp = 8}, shape).operators) {
      if (o.name == "indexer") return o.cost;
    }
    return KernelCost{};
  };
  const PassShape decode{64, 1, 100000};
  EXPECT_LT(serving_pass(sparse, {.tp = 8}, decode).time,
            0.7 * serving_pass(dense, {.tp = 8}, decode).time);
  // Keys of 128 bytes with a scale; scores written, read and chosen.
  EXPECT_NEAR(indexer(decode).dram.value / (64 * 100000 * (132 + 4 + 8)), 1, 0.1);
  // DeepGEMM's times of the scores alone on H200; the best are chosen from them.
  for (const auto& [context, measured] : {std::pair(4096.0, 103e-6), std::pair(8192.0, 222e-6),
                                          std::pair(16384.0, 458e-6), std::pair(32768.0, 931e-6)}) {
    const double predicted = indexer({1, 2048, context}).time.value;
    EXPECT_GT(predicted, 0.95 * measured) << context;
    EXPECT_LT(predicted, 1.55 * measured) << context;
  }
}

// A piece of a prompt looks at no more tokens than a longer one does.
TEST(Serving, APieceOfAPromptLooksAtTheChosenTokens) {
  const Problem p = problem_of({.system = "dgx-h200", .model = "deepseek-v3.2"});
  const auto each = [&](double tokens) {
    return serving_pass(p, {.tp = 8}, {1, tokens, 100000}).time.value / tokens;
  };
  EXPECT_NEAR(each(2048) / each(2049), 1, 0.01);
  EXPECT_LT(each(4096), each(2048));
  EXPECT_LT(each(2048), each(1024));
}

// Replicas take prompts at the same time, and short prompts share a pass: a closed loop gives
// nearly what a static batch does, counted over its prompts too.
TEST(Serving, AClosedLoopKeepsReplicasBusy) {
  Problem p = problem_of({.system = "dgx-h200", .model = "qwen3-235b-a22b"});
  p.serving = {.batch = 256, .input = 1000, .output = 1000};
  const Strategy s{.dp = 8, .ep = 8, .precision = Precision::fp8};
  const double fixed = serve(p, s).tokens_per_second;
  p.serving.batching = Batching::closed_loop;
  EXPECT_GT(serve(p, s).tokens_per_second, 0.7 * fixed);
  Problem dense = problem_of(
      {.work = {.batch = 512, .input = 128, .output = 128, .batching = Batching::closed_loop}});
  const double together = serve(dense, {}).tokens_per_second;
  dense.serving.chunk = 128;  // one prompt at a time
  EXPECT_GT(together, serve(dense, {}).tokens_per_second);
}

// More memory lets more requests decode at a time. Where prompts fill the steps that helps nobody,
// but it must not hurt: Falcon 40B on two L4 lost 0.8 % at the edge between the two.
TEST(Serving, MoreMemoryIsNeverSlowerInAClosedLoop) {
  struct Row {
    const char* system;
    const char* runtime;
    const char* model;
    int output, chunk;
    Strategy strategy;
    double first, last, by;  // GiB
  };
  const Strategy pair{.tp = 2, .precision = Precision::fp8};
  const Strategy narrow{.precision = Precision::int8};
  for (const Row& r : {Row{"l4-node", "vllm", "falcon-40b", 100, 0, pair, 23, 40, 0.25},
                       {"l4-node", "vllm", "falcon-40b", 100, 128, pair, 23, 40, 0.25},
                       {"l4-node", "vllm", "falcon-40b", 100, 256, pair, 23, 40, 0.25},
                       {"l4-node", "vllm", "falcon-40b", 100, 512, pair, 23, 40, 0.25},
                       // Few tokens after long prompts: fewer at a time were 0.7 % faster.
                       {"tpu-v4-node", "maxtext", "gemma3-12b", 8, 0, narrow, 24, 900, 8},
                       {"tpu-v4-node", "maxtext", "gemma3-12b", 2, 0, narrow, 24, 900, 8}}) {
    Problem p = problem_of({.system = r.system,
                            .runtime = r.runtime,
                            .model = r.model,
                            .work = {.batch = 128,
                                     .input = 1000,
                                     .output = r.output,
                                     .batching = Batching::closed_loop,
                                     .chunk = r.chunk}});
    double before = 1e9;
    for (double gib = r.first; gib < r.last; gib += r.by) {
      p.capacity = Bytes(gib * 1024 * 1024 * 1024);
      const ServingEstimate e = serve(p, r.strategy);
      if (e.verdict != Verdict::fits) continue;
      EXPECT_LE(e.latency.value, 1.002 * before) << r.model << ' ' << r.chunk << ", " << gib;
      before = std::min(before, e.latency.value);
    }
    EXPECT_LT(before, 1e9);
  }
}

// A rank of many works on its share of the tokens; what it sends crosses nodes once where kernels
// are made for it.
TEST(Serving, ExpertRanksShareTokens) {
  Problem p = problem_of({.system = "dgx-h200", .model = "deepseek-v3"});
  const auto part = [&](int ranks, Work work) {
    const Strategy s{.dp = ranks, .ep = ranks, .precision = Precision::fp8};
    return serving_pass(p, s, {ranks * 4.0, 2048, 2048}).parts[work].value;
  };
  EXPECT_LT(part(64, Work::experts), 1.1 * part(8, Work::experts));
  const double plain = part(64, Work::exchange);
  p.runtime.communication.expert_kernels = true;
  EXPECT_LT(part(64, Work::exchange), plain);
  p.model.experts.imbalance = 1.3;
  p.graph = graph::build(p.model);
  EXPECT_GT(part(64, Work::experts), 1.1 * part(8, Work::experts) / 1.3);
}

// Experts of which every rank has a piece read the tokens of all ranks, and each rank adds its part
// to all of them: no less goes over the wires than where whole experts are apart.
TEST(Serving, ExpertsCutOverRanksReadTheTokensOfAll) {
  struct Row {
    int tp, dp, ep;
  };
  for (const char* model : {"deepseek-v3", "mixtral-8x7b"}) {
    const Problem p = problem_of({.system = "dgx-h200", .runtime = "trtllm", .model = model});
    const auto exchange = [&](const Row& r, double queries) {
      const Strategy s{.tp = r.tp, .dp = r.dp, .ep = r.ep, .precision = Precision::fp8};
      return serving_pass(p, s, {8, queries, 2048}).parts[Work::exchange].value;
    };
    for (const double queries : {1.0, 2048.0}) {
      const double apart = exchange({1, 8, 8}, queries);
      EXPECT_NEAR(exchange({1, 8, 1}, queries) / apart, 1, 1e-9) << model;
      EXPECT_NEAR(exchange({1, 8, 4}, queries) / apart, 1, 1e-9) << model;
      EXPECT_GT(exchange({2, 4, 1}, queries), 0) << model;
      EXPECT_EQ(exchange({8, 1, 1}, queries), 0) << model;
    }
  }
}

// Unequal experts: the busiest rank sets the pace, no worse in a wide group than in a node.
TEST(Serving, TheBusiestRankOfExpertsSetsThePace) {
  Problem p = problem_of({.system = "dgx-h200", .model = "deepseek-v3"});
  const auto experts = [&](int ranks, double skew) {
    p.model.experts.skew = skew;
    p.graph = graph::build(p.model);
    const Strategy s{.dp = ranks, .ep = ranks, .precision = Precision::fp8};
    return serving_pass(p, s, {ranks * 4.0, 2048, 2048}).parts[Work::experts].value;
  };
  EXPECT_GT(experts(8, 0.7), 1.15 * experts(8, 0));
  EXPECT_NEAR(experts(64, 0.7) / experts(64, 0), experts(8, 0.7) / experts(8, 0), 0.05);
}

TEST(Serving, RoutersStayWide) {
  for (const Precision precision : {Precision::bf16, Precision::fp8}) {
    Problem p = problem_of({.system = "dgx-h100", .model = "qwen3-30b-a3b"});
    for (const Operator& o : explain_pass(p, {.precision = precision}, {64, 1, 1024}).operators) {
      // 2048 x 128 weights of two bytes.
      if (std::string_view(o.name) != "router") continue;
      EXPECT_GT(o.cost.dram.value, 2048 * 128 * 2.0);
    }
  }
}

// Beside the routed experts a shared one takes what it moves; its latencies are hidden.
TEST(Serving, SharedExpertsRunBesideRoutedOnes) {
  Problem p = problem_of({.system = "dgx-h200", .runtime = "sglang", .model = "deepseek-v3"});
  const auto step = [&](double requests, int limit) {
    p.runtime.overlap.shared_tokens = limit;
    const Strategy s{.tp = 8, .precision = Precision::fp8};
    return serving_pass(p, s, {requests, 1, 1024}).time.value;
  };
  EXPECT_LT(step(8, 1024), 0.97 * step(8, 0));
  EXPECT_GT(step(8, 1024), 0.85 * step(8, 0));
  EXPECT_EQ(step(1025, 1024), step(1025, 0));
}

// Training and serving call the same kernels: experts of a prompt cost what they cost forward.
// Where their tiles are not just full: there tokens that choose begin some experts' next ones.
TEST(Serving, ExpertsCostTheSameWhoeverAsks) {
  Problem p = problem_of({.system = "dgx-h100", .runtime = "ideal", .model = "mixtral-8x7b"});
  p.work = {.batch = 1, .seq = 600};
  const auto experts = [](const std::vector<Operator>& operators) {
    for (const Operator& o : operators) {
      if (o.type == graph::Kind::experts) return o.cost.time.value * o.cost.clock.value;
    }
    return 0.0;
  };
  const double trained = experts(explain(p, {}).operators);
  const double served = experts(explain_pass(p, {}, {1, 600, 600}).operators);
  EXPECT_NEAR(trained / served, 1, 0.02);
}

// A better resource never hurts, and a tenth more saves no more than a tenth. The clock that power
// allows is found to a part in five hundred.
TEST(Sensitivity, ATenthMoreSavesATenthAtMost) {
  constexpr double slack = 0.003;
  for (const Scene& s : scenes()) {
    const Problem p = problem_of(s);
    const ServingEstimate before = serve(p, s.strategy);
    for (std::size_t i = 0; i < static_cast<std::size_t>(Knob::count); ++i) {
      const auto knob = static_cast<Knob>(i);
      const ServingEstimate after = serve(turned(p, knob), s.strategy);
      for (const double share : {after.tpot / before.tpot, after.ttft / before.ttft}) {
        EXPECT_LE(share, 1 + slack) << name_of_scene(s) << ", " << name_of(knob);
        EXPECT_GE(share, 0.9 - slack) << name_of_scene(s) << ", " << name_of(knob);
      }
    }
  }
}

TEST(Sensitivity, OneDeviceIsDeafToLinks) {
  const Problem p = problem_of({});
  const ServingEstimate before = serve(p, {});
  for (const Knob k : {Knob::links, Knob::link_latency}) {
    EXPECT_EQ(serve(turned(p, k), {}).latency, before.latency);
  }
  EXPECT_LT(serve(turned(p, Knob::dram), {}).tpot, 0.95 * before.tpot);
}

}  // namespace
}  // namespace sextant
