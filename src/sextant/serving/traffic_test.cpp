// SPDX-License-Identifier: Apache-2.0
#include "sextant/serving/traffic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "sextant/io/test_support.hpp"
#include "sextant/predict/energy.hpp"
#include "sextant/serving/links.hpp"
#include "sextant/serving/test_cluster.hpp"

namespace sextant {
namespace {

using test::cluster_of;
using test::pool_of;
using test::traffic_at;

constexpr const char* engines[] = {"vllm", "sglang", "trtllm", "pytorch-engine",
                                   "fastertransformer"};

Cluster engine(const char* name) {
  // Slots of the plain engine hold its longest request.
  EngineChoices c;
  if (std::string_view(name) == "pytorch-engine")
    c = {.max_requests = 64, .cache_tokens = 64.0 * 16384};
  return cluster_of(name, c);
}

// Worked out by hand: 79.6 GiB, 8.03 GB of weights in 8 bits, 128 KiB of cache a token, nine tenths
// of what is free.
TEST(Traffic, AnEngineIsSizedForTheLengthsToCome) {
  Pool pool = pool_of("llama3.1-8b", "trtllm", {.precision = Precision::fp8});
  const auto sized = [&](double input, double output) {
    const TrafficMeans lengths{.input = input, .output = output};
    const EngineLimits l = fit_engine(pool.problem, pool.strategy, {}, lengths).limits;
    return std::array{l.max_requests, l.token_budget};
  };
  EXPECT_EQ(sized(1000, 1000), (std::array{2048, 8192}));
  pool.problem.runtime.engine.sized = true;
  EXPECT_EQ(sized(0, 0), (std::array{2048, 8192}));  // nothing is known of them
  EXPECT_EQ(sized(1000, 1000), (std::array{384, 2048}));
  EXPECT_EQ(sized(128, 128), (std::array{2304, 4608}));
  EXPECT_EQ(sized(2048, 128), (std::array{256, 4608}));
  EXPECT_EQ(sized(20000, 2000), (std::array{64, 2048}));
  const EngineChoices chosen{.token_budget = 3000};
  const EngineLimits own =
      fit_engine(pool.problem, pool.strategy, chosen, {.input = 128, .output = 128}).limits;
  EXPECT_EQ(own.token_budget, 3000);
}

TEST(Traffic, AtNoLoadIsInfer) {
  for (const char* name : {"vllm", "trtllm", "pytorch-engine"}) {
    SCOPED_TRACE(name);
    test::expect_as_infer(engine(name), 0.01);
  }
}

// One rule for both: what passes draw, links included, and for as long as they take idling and the
// node around the devices.
TEST(Traffic, DrawsWhatRequestsDraw) {
  for (const Strategy& s : {Strategy{}, Strategy{.tp = 8}, Strategy{.pp = 2}}) {
    for (const int users : {1, 16}) {
      Cluster c;
      c.pool = pool_of("llama3.1-8b", "trtllm", s);
      Engine& host = c.pool.problem.runtime.engine;
      host.schedule = host.sequence = host.prompt = Seconds(0);
      Traffic t = traffic_at(0, 64);
      t.arrivals = Arrivals::closed;
      t.concurrency = users;
      t.lengths = Lengths::fixed;
      const TrafficResult r = simulate(c, t, {});
      Problem p = c.pool.problem;
      p.serving = {
          .batch = users, .input = t.input, .output = t.output, .batching = Batching::closed_loop};
      const ServingEstimate e = serve(p, s);
      const double watts = request_energy(p, s, e).total().value * e.devices / e.latency.value;
      EXPECT_NEAR(r.joules / r.seconds / watts, 1, users == 1 ? 0.03 : 0.12)
          << s.tp << " " << s.pp << " " << users;
      const double standing = standing_energy(p, Seconds(r.seconds)).total().value * e.devices;
      EXPECT_GT(r.joules, standing);
    }
  }
}

// Engines for prompts and for tokens may have unlike numbers of devices: each draws its own.
TEST(Traffic, EveryPoolDrawsItsOwn) {
  Cluster c = cluster_of("trtllm");
  c.decode = pool_of("llama3.1-8b", "trtllm", {.tp = 8});
  c.link = BytesPerSecond(40e9);
  const Traffic t = traffic_at(1, 50);
  SpanObserver spans;
  const TrafficResult r = simulate(c, t, {}, &spans);
  double joules = 9 * standing_energy(c.pool.problem, Seconds(r.seconds)).total().value;
  for (const StepSpan& s : spans) joules += s.work;
  EXPECT_NEAR(r.joules / joules, 1, 1e-9);
  EXPECT_LT(r.joules / r.seconds,
            9 * (c.pool.problem.chip.power_limit + c.pool.problem.host_power).value);
}

TEST(Traffic, LosesNoRequestAndNoToken) {
  for (const char* name : engines) {
    const Cluster c = engine(name);
    const Traffic t = traffic_at(20);
    const TrafficResult r = simulate(c, t, {});
    EXPECT_EQ(r.sent, t.requests) << name;
    EXPECT_EQ(r.completed, t.requests) << name;
    double tokens = 0;
    RequestStream stream(t);
    for (Request q; stream.next(q);) tokens += q.output;
    EXPECT_EQ(r.output_tokens, tokens) << name;
    EXPECT_EQ(r.counts.output_tokens, tokens) << name;
    EXPECT_NEAR(r.prefill_share + r.decode_share + r.mixed_share + r.idle_share, 1, 1e-9) << name;
  }
}

TEST(Traffic, SameSeedSameBits) {
  const Cluster c = cluster_of();
  const TrafficResult a = simulate(c, traffic_at(15), {});
  const TrafficResult b = simulate(c, traffic_at(15), {});
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a.ttft.mean), std::bit_cast<std::uint64_t>(b.ttft.mean));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a.joules), std::bit_cast<std::uint64_t>(b.joules));
  Traffic other = traffic_at(15);
  other.seed = 2;
  EXPECT_NE(simulate(c, other, {}).ttft.mean, a.ttft.mean);
}

TEST(Traffic, KeepsLittlesLaw) {
  for (const char* name : engines) {
    const TrafficResult r = simulate(engine(name), traffic_at(15, 5000), {});
    EXPECT_NEAR(r.mean_present / (r.requests_per_second() * r.latency.mean), 1, 0.01) << name;
  }
}

// Also while a cache moves, when no engine has its request.
TEST(Traffic, KeepsLittlesLawBetweenEngines) {
  Cluster c = cluster_of("vllm");
  c.decode = c.pool;
  c.decode->problem.runtime.engine.hand_over = Seconds(0.4);
  connect(c);
  const TrafficResult r = simulate(c, traffic_at(10, 3000), {});
  EXPECT_NEAR(r.mean_present / (r.requests_per_second() * r.latency.mean), 1, 0.005);
}

// A trace may begin at any time.
TEST(Traffic, TheRateOfATraceIsThatBetweenItsRequests) {
  for (const double start : {0.0, 100.0}) {
    Trace trace;
    for (int i = 0; i < 300; ++i) {
      Request r;
      r.arrival = start + 0.1 * i;
      r.input = 500;
      r.output = 100;
      trace.requests.push_back(r);
    }
    trace.timed = true;
    Traffic t = traffic_at(0, 300);
    t.arrivals = Arrivals::trace;
    t.trace = &trace;
    EXPECT_NEAR(means_of(t).rate, 10, 1e-6) << start;
  }
}

TEST(Traffic, HigherRateIsNeverBetterForTheFirstToken) {
  for (const char* name : engines) {
    const Cluster c = engine(name);
    double before = 0;
    for (const double rate : {1.0, 4.0, 10.0, 20.0, 30.0, 45.0, 80.0}) {
      const double now = simulate(c, traffic_at(rate), {}).ttft.p50;
      EXPECT_GE(now, before * 0.995) << name << " at " << rate;
      before = now;
    }
  }
}

TEST(Traffic, ServesNoMoreThanItsBound) {
  for (const char* name : engines) {
    const TrafficResult r = simulate(engine(name), traffic_at(500, 5000), {});
    EXPECT_LE(r.requests_per_second(), r.capacity * 1.02) << name;
    // And not far less, when there is always something to do.
    if (std::string_view(name) != "fastertransformer") {
      EXPECT_GE(r.requests_per_second(), r.capacity * 0.7) << name;
    }
    EXPECT_GT(r.saturation(), 1) << name;
    EXPECT_GT(r.queue_growth, 1) << name;
  }
}

// Step times know nothing of requests that are thrown out for want of memory and start again.
TEST(Traffic, ServesNoMoreThanItDidWhereTheQueueGrows) {
  Cluster c;
  c.pool = pool_of("llama3.1-70b", "vllm", {.tp = 4});
  Traffic t = traffic_at(0.95, 10000);
  t.input = 2000;
  t.output = 500;
  t.lengths = Lengths::fixed;
  t.rate *= PricedCluster(c, means_of(t)).capacity(means_of(t));
  const TrafficResult r = simulate(c, t, {});
  EXPECT_GT(r.counts.preemptions, 0);
  EXPECT_GT(r.queue_growth, 0.03 * t.rate);
  EXPECT_GT(r.saturation(), 1);
  EXPECT_NEAR(r.capacity / (t.rate - r.queue_growth), 1, 1e-9);
}

// Those that are served pile up as well until the first of them end: no queue, and no bound.
TEST(Traffic, AFillingEngineIsNotAFullOne) {
  Cluster c;
  c.pool = pool_of("llama3.1-70b", "vllm", {.tp = 4});
  Traffic t = traffic_at(2, 60);
  t.input = 500;
  t.output = 2000;
  const TrafficMeans means = means_of(t);
  const double capacity = PricedCluster(c, means).capacity(means);
  const TrafficResult r = simulate(c, t, {});
  EXPECT_GT(r.latency.mean, 15);  // half of the run
  EXPECT_LT(r.queue_growth, 0.05 * t.rate);
  EXPECT_NEAR(r.capacity / capacity, 1, 1e-9);
}

TEST(Traffic, LargeBlocksHoldFewerRequests) {
  const auto capacity = [](int block) {
    const Cluster c = cluster_of("vllm", {.block = block});
    const TrafficMeans m = means_of(traffic_at(1));
    return PricedCluster(c, m).capacity(m);
  };
  EXPECT_GT(capacity(16), 0.99 * capacity(1));
  EXPECT_LT(capacity(32768), 0.5 * capacity(16));
}

// Short prompts of a large model wait for their launches, each alone; those of a queue share one.
TEST(Traffic, AQueueFillsPassesOverPrompts) {
  for (const char* name : {"vllm", "sglang"}) {
    Cluster c;
    const Strategy s{.tp = 8, .precision = Precision::fp8};
    c.pool = test::pool_on(load_system("dgx-h200"), "deepseek-v3.2", name, s);
    Traffic t = traffic_at(50, 2000);
    t.input = 1000;
    t.output = 200;
    t.lengths = Lengths::fixed;
    const TrafficResult r = simulate(c, t, {});
    EXPECT_LE(r.requests_per_second(), r.capacity * 1.02) << name;
    EXPECT_GE(r.requests_per_second(), r.capacity * 0.7) << name;
  }
}

TEST(Traffic, MoreCacheMeansNoMorePreemptions) {
  double before = 1e30;
  // Twice the cache may let in more requests than it holds; four times does not.
  for (const double tokens : {6000.0, 24000.0, 96000.0, 400000.0}) {
    const TrafficResult r =
        simulate(cluster_of("vllm", {.cache_tokens = tokens}), traffic_at(15, 1500), {});
    EXPECT_LE(r.counts.preemptions, before) << tokens;
    EXPECT_EQ(r.completed, 1500) << tokens;
    before = r.counts.preemptions;
    if (tokens == 6000) {
      EXPECT_GT(r.counts.preemptions, 10);
    }
  }
  EXPECT_EQ(before, 0);
}

// A request of a model with recurrences holds their states beside its tokens, as `infer` counts.
TEST(Traffic, StatesTakeTheirRoomInTheCache) {
  const struct {
    const char* model;
    int tp;
  } cases[] = {{"falcon-mamba-7b", 1},
               {"granite-4.0-h-small", 1},
               {"nemotron-h-8b", 1},
               {"jamba-1.5-mini", 2},
               {"qwen3-next-80b-a3b", 4}};
  for (const char* runtime : {"vllm", "trtllm"}) {
    for (const auto& k : cases) {
      const EngineChoices choices{
          .token_budget = 8192, .max_requests = 8192, .memory_fraction = 0.93};
      const Strategy s{.tp = k.tp};
      Cluster c;
      c.pool = test::pool_of(k.model, runtime, s, choices);
      const ServingMemory m = fit_engine(c.pool.problem, s, choices).memory;
      Traffic t;
      t.arrivals = Arrivals::burst;
      t.requests = 6000;
      t.input = 400;
      t.output = 1000;
      SpanObserver spans;
      const TrafficResult r = simulate(c, t, {}, &spans);
      EXPECT_EQ(r.completed, t.requests) << k.model;
      double most = 0;
      for (const StepSpan& span : spans) most = std::max(most, span.running);
      // All of them have a prompt, and none more than the longest.
      const Bytes least = m.cache_of_any + t.input * m.cache_per_token;
      EXPECT_GT(m.cache_of_any.value, 0) << k.model;
      EXPECT_LE(most * least, m.cache) << k.model;
      EXPECT_GT(most * (least + (t.output + 32) * m.cache_per_token), 0.9 * m.cache) << k.model;
    }
  }
}

// The states go with the cache to the engine that answers, however short the prompt.
TEST(Traffic, DisaggregationMovesStates) {
  Cluster c;
  c.pool = test::pool_of("falcon-mamba-7b", "vllm", {});
  c.decode = c.pool;
  c.link = BytesPerSecond(40e9);
  const double state = 64.0 * 8192 * (16 * 4 + 3 * 2);
  Traffic t = traffic_at(1, 20);
  t.lengths = Lengths::fixed;
  EXPECT_NEAR(simulate(c, t, {}).transfer_seconds, state / 40e9, 0.05 * state / 40e9);
}

TEST(Traffic, PromptsOfAWholeBudgetDoNotWaitForOthersToEnd) {
  Traffic t;
  t.arrivals = Arrivals::closed;
  t.concurrency = 4;
  t.requests = 40;
  t.input = 8192;  // as many as the engine's budget
  t.output = 200;
  t.lengths = Lengths::uniform;
  t.length_ratio = 0.8;
  const TrafficResult r = simulate(cluster_of("trtllm"), t, {});
  EXPECT_LT(r.ttft.p50, 0.5 * 200 * r.tpot.p50);
}

TEST(Traffic, EnginesThatReserveNeverPreempt) {
  for (const char* name : {"trtllm", "fastertransformer"}) {
    const TrafficResult r =
        simulate(cluster_of(name, {.cache_tokens = 12000.0}), traffic_at(15, 1000), {});
    EXPECT_EQ(r.counts.preemptions, 0) << name;
    EXPECT_EQ(r.completed, 1000) << name;
  }
}

TEST(Traffic, TwoReplicasAtTwiceTheRateAreLikeOne) {
  const TrafficResult one = simulate(cluster_of(), traffic_at(12, 4000), {});
  for (const Router router : {Router::round_robin, Router::least_requests, Router::least_tokens,
                              Router::two_choices, Router::prefix_aware}) {
    Cluster two = cluster_of("vllm", {}, 2);
    two.router = router;
    const TrafficResult r = simulate(two, traffic_at(24, 8000), {});
    EXPECT_NEAR(r.tpot.p50 / one.tpot.p50, 1, 0.12) << name_of(router);
    EXPECT_NEAR(r.ttft.p50 / one.ttft.p50, 1, 0.15) << name_of(router);
    EXPECT_NEAR(r.capacity / one.capacity, 2, 0.01);  // other requests, other means
  }
}

TEST(Traffic, ClosedLoopsKeepTheirUsersBusy) {
  Traffic t = traffic_at(1, 400);
  t.arrivals = Arrivals::closed;
  t.concurrency = 16;
  const TrafficResult r = simulate(cluster_of(), t, {});
  EXPECT_EQ(r.completed, 400);
  EXPECT_GT(r.mean_present, 14);
  EXPECT_LE(r.mean_present, 16.0001);
  Cluster two = cluster_of("vllm", {}, 2);
  two.router = Router::least_requests;
  EXPECT_EQ(simulate(two, t, {}).completed, 400);
}

/// Twenty requests of each user, so long or down to this share of it.
Traffic closed_loop(int users, double shortest) {
  Traffic t;
  t.arrivals = Arrivals::closed;
  t.lengths = Lengths::uniform;
  t.length_ratio = shortest;
  t.concurrency = users;
  t.requests = 20.0 * users;
  t.input = 512;
  t.output = 512;
  return t;
}

TEST(Traffic, RequestsWaitUntilTheEngineLooksForThem) {
  const Traffic t = closed_loop(16, 0.8);
  Cluster c = cluster_of("sglang");
  const TrafficResult at_once = simulate(c, t, {});
  c.pool.problem.runtime.engine.poll_steps = 30;
  const TrafficResult late = simulate(c, t, {});
  // Half of thirty steps, give or take those that prompts cut short.
  const double waited = (late.ttft.p50 - at_once.ttft.p50) / at_once.gap.p50;
  EXPECT_GT(waited, 8);
  EXPECT_LT(waited, 20);
  EXPECT_EQ(late.completed, at_once.completed);
}

TEST(Traffic, PromptsAreHeldBackForMoreOfThem) {
  const Traffic t = closed_loop(32, 0.5);
  struct Case {
    const char* what;
    int dp;
    double fill;
  };
  for (const Case& k : {Case{"until every rank has one", 4, 0.0},
                        Case{"until they fill a share of the budget", 1, 0.5}}) {
    SCOPED_TRACE(k.what);
    Cluster c;
    Strategy s;
    s.dp = s.ep = k.dp;
    c.pool = pool_of("qwen3-30b-a3b", "trtllm", s);
    const TrafficResult at_once = simulate(c, t, {});
    c.pool.problem.runtime.engine.hold_steps = 40;
    c.pool.problem.runtime.engine.hold_fill = k.fill;
    const TrafficResult held = simulate(c, t, {});
    EXPECT_GT(held.ttft.p50, at_once.ttft.p50 + 5 * at_once.gap.p50);
    EXPECT_LT(held.ttft.p50, at_once.ttft.p50 + 60 * at_once.gap.p50);
    EXPECT_EQ(held.completed, 640);
    // That is what it is for.
    EXPECT_LT(held.tpot.p50, at_once.tpot.p50);
  }
}

// Kernels that a fresh server compiles delay its first step, and nothing after the first wave.
TEST(Traffic, AFreshServersFirstStepTakesLonger) {
  Cluster c = cluster_of();
  Traffic t = traffic_at(0, 400);
  t.arrivals = Arrivals::closed;
  t.concurrency = 4;
  const TrafficResult warm = simulate(c, t, {});
  c.pool.problem.runtime.engine.first_use = Seconds(3);
  const TrafficResult fresh = simulate(c, t, {});
  EXPECT_NEAR(fresh.ttft.mean, warm.ttft.mean + 3.0 * 4 / 400, 0.005);
  EXPECT_NEAR(fresh.ttft.p50, warm.ttft.p50, 0.1 * warm.ttft.p50);
  EXPECT_NEAR(fresh.seconds, warm.seconds + 3, 0.05 * warm.seconds);
}

Traffic one_user() {
  Traffic t;
  t.arrivals = Arrivals::closed;
  t.concurrency = 1;
  t.requests = 10;
  t.input = 512;
  t.output = 256;
  return t;
}

TEST(Traffic, DraftsAreThoseOfInfer) {
  Cluster c = cluster_of();
  const Traffic t = one_user();
  Problem& p = c.pool.problem;
  p.serving.batch = 1;
  p.serving.input = t.input;
  p.serving.output = t.output;
  const TrafficResult without = simulate(c, t, {});
  const double plain = without.tpot.p50;
  for (const double acceptance : {0.5, 0.8}) {
    p.serving.speculation = {.tokens = 3, .acceptance = acceptance, .draft_cost = 0.1};
    const double drafted = simulate(c, t, {}).tpot.p50;
    EXPECT_NEAR(drafted / serve(p, {}).tpot.value, 1, 0.03) << acceptance;
    EXPECT_LT(drafted, plain);
  }
  p.draft = draft_of(p, load_model("llama3.2-1b"));
  const TrafficResult with = simulate(c, t, {});
  EXPECT_NEAR(with.tpot.p50 / serve(p, {}).tpot.value, 1, 0.03);
  // It reads the prompt as well.
  EXPECT_GT(with.ttft.p50, 1.05 * without.ttft.p50);
  EXPECT_NEAR(with.ttft.p50 / serve(p, {}).ttft.value, 1, 0.05);
}

// What the host takes for a step is taken once, however many tokens of drafts the step keeps.
TEST(Traffic, TheHostPreparesAStepOfDraftsOnce) {
  Cluster c = cluster_of();
  const Traffic t = one_user();
  Problem& p = c.pool.problem;
  p.runtime.engine.asynchronous = false;
  p.serving.speculation = {.tokens = 3, .acceptance = 0.8, .draft_cost = 0.1};
  const double quick = simulate(c, t, {}).tpot.p50;
  p.runtime.engine.schedule += Seconds(0.02);
  EXPECT_NEAR(simulate(c, t, {}).tpot.p50 - quick, 0.02 / tokens_a_step(p.serving.speculation),
              2e-4);
}

// SGLang's limits are of an engine: its ranks of attention have a part each, replicas of a dense
// model all of them, and what is asked for is taken as it is.
TEST(Traffic, LimitsOfAnEngineAreDividedOverItsRanks) {
  struct Row {
    const char *model, *runtime;
    int ranks;
    EngineChoices choices;
    int budget;
  };
  const EngineChoices own{.token_budget = 4096};
  for (const Row& r : std::vector<Row>{{"qwen3-30b-a3b", "sglang", 1, {}, 8192},
                                       {"qwen3-30b-a3b", "sglang", 4, {}, 2048},
                                       {"qwen3-30b-a3b", "sglang", 4, own, 4096},
                                       {"qwen3-30b-a3b", "trtllm", 4, {}, 8192},
                                       {"llama3.1-8b", "sglang", 4, {}, 8192}}) {
    const bool experts = std::string_view(r.model).starts_with("qwen");
    const Strategy s{.tp = 1, .dp = r.ranks, .ep = experts ? r.ranks : 1};
    EXPECT_EQ(test::pool_of(r.model, r.runtime, s, r.choices).limits.token_budget, r.budget)
        << r.model << " " << r.runtime << " " << r.ranks;
  }
}

// vLLM takes an A100 for a small device, however much memory it has; others go by memory.
TEST(Traffic, LimitsAreOfTheDeviceAsEnginesKnowIt) {
  struct Row {
    const char *system, *runtime;
    int budget;
  };
  for (const Row& r : {Row{"dgx-a100", "vllm", 2048}, Row{"dgx-h100", "vllm", 8192},
                       Row{"l40s-pcie", "vllm", 2048}, Row{"dgx-b200", "vllm", 16384},
                       Row{"dgx-a100", "sglang", 8192}}) {
    const Pool pool = test::pool_on(load_system(r.system), "llama3.1-8b", r.runtime, {});
    EXPECT_EQ(pool.limits.token_budget, r.budget) << r.system << " " << r.runtime;
    EXPECT_EQ(pool.limits.max_requests == 256, r.budget == 2048) << r.system << " " << r.runtime;
  }
}

TEST(Traffic, AttentionRanksShareAnEngine) {
  Cluster c;
  c.pool = test::pool_of("qwen3-30b-a3b", "vllm", {.tp = 1, .dp = 4, .ep = 4});
  const TrafficResult r = simulate(c, traffic_at(20), {});
  EXPECT_EQ(r.completed, 2000);
  EXPECT_LE(r.requests_per_second(), r.capacity * 1.02);
}

TEST(Traffic, DisaggregationMovesEveryCache) {
  Cluster c = cluster_of("vllm", {}, 2);
  c.decode = c.pool;
  c.link = BytesPerSecond(40e9);
  const TrafficResult r = simulate(c, traffic_at(10), {});
  EXPECT_EQ(r.completed, 2000);
  const double bytes = cache_bytes_per_token(c.pool.problem).value * 800;
  EXPECT_GT(r.transfer_seconds, 0.5 * bytes / 40e9);
  EXPECT_LT(r.transfer_seconds, 5 * bytes / 40e9);
  EXPECT_EQ(r.mixed_share, 0);  // that is what it is for
}

// Where caches move slowly, that is all that the cluster serves.
TEST(Traffic, LinksBoundWhatTwoPoolsServe) {
  Cluster c = cluster_of("vllm", {}, 2);
  c.decode = c.pool;
  c.link = 4 * (800.0 * cache_bytes_per_token(c.pool.problem)) / Seconds(1);
  Traffic t = traffic_at(40, 400);
  t.lengths = Lengths::fixed;
  const TrafficResult r = simulate(c, t, {});
  EXPECT_NEAR(r.capacity, 8, 1e-6);
  EXPECT_NEAR(r.requests_per_second() / r.capacity, 1, 0.05);
  EXPECT_GT(r.saturation(), 1);
}

// Prompts that end in one step go to different engines: with a slot for every user none waits for
// one.
TEST(Traffic, PromptsThatEndTogetherAreSpreadOverEngines) {
  Traffic t = traffic_at(0, 256);
  t.arrivals = Arrivals::closed;
  t.concurrency = 32;
  t.input = 200;  // many of one step
  t.lengths = Lengths::fixed;
  const auto first = [&](int slots) {
    Cluster c = cluster_of("vllm");
    c.decode = pool_of("llama3.1-8b", "vllm", {}, {.max_requests = slots}, 4);
    connect(c);
    return simulate(c, t, {}).ttft.mean;
  };
  EXPECT_NEAR(first(8) / first(32), 1, 0.05);
  EXPECT_GT(first(4), 1.5 * first(32));
}

// By turns a request goes to a full engine while another has room; whoever looks sends it there.
TEST(Traffic, EnginesThatGenerateAreChosenByTheRouter) {
  Traffic t = traffic_at(0, 320);
  t.arrivals = Arrivals::closed;
  t.concurrency = 32;
  t.input = 100;
  t.output = 1000;
  t.lengths = Lengths::uniform;
  t.length_ratio = 0.5;
  const auto first = [&](Router router, int slots) {
    Cluster c = cluster_of("vllm");
    c.decode = pool_of("llama3.1-8b", "vllm", {}, {.max_requests = slots}, 8);
    c.router = router;
    connect(c);
    return simulate(c, t, {}).ttft.mean;
  };
  for (const Router router : {Router::least_requests, Router::least_tokens, Router::prefix_aware}) {
    EXPECT_NEAR(first(router, 4) / first(router, 32), 1, 0.02);
  }
  for (const Router router : {Router::round_robin, Router::two_choices}) {
    EXPECT_GT(first(router, 4), 1.5 * first(Router::least_requests, 4));
  }
}

/// When the next two transfers end.
std::vector<double> two_ends(Links& links) {
  std::vector<double> ends;
  while (ends.size() < 2) {
    if (links.next()) ends.push_back(links.now());
  }
  return ends;
}

// Engines tell of a transfer when the step that ends before it begins: of one that starts early,
// maybe after one that starts late.
TEST(Links, ATransferToldOfLaterMayStartEarlier) {
  Links links(2, 2, 100);
  links.begin({.from = 0, .to = 0, .left = 100, .start = 10});
  links.begin({.from = 1, .to = 1, .left = 100, .start = 1});
  EXPECT_THAT(two_ends(links), ::testing::ElementsAre(2.0, 11.0));
}

// Two that share a receiver take twice as long together, and whoever is done leaves the rest to the
// other.
TEST(Links, AreSharedFairly) {
  Links links(2, 1, 100);
  links.begin({.from = 0, .to = 0, .left = 100, .start = 0});
  links.begin({.from = 1, .to = 0, .left = 50, .start = 0});
  EXPECT_THAT(two_ends(links), ::testing::ElementsAre(1.0, 1.5));
}

// An engine that has room for one prompt reads the next when the cache of the first has moved,
// whether slots or blocks are short: on a slow way one comes after the other. With room for all the
// prompts are read long before, and their caches wait for the way.
TEST(Traffic, CachesStayUntilTheyHaveMoved) {
  Traffic t;
  t.arrivals = Arrivals::burst;
  t.requests = 4;
  t.input = 1600;
  t.output = 20;
  struct Row {
    EngineChoices choices;
    Wait why;
  };
  for (const Row& r : {Row{{.max_requests = 1}, Wait::slots},
                       Row{{.cache_tokens = 2400.0}, Wait::cache}, Row{{}, Wait::none}}) {
    SCOPED_TRACE(name_of(r.why));
    Cluster c = cluster_of("vllm", r.choices);
    c.decode = pool_of("llama3.1-8b", "vllm", {});
    c.link = cache_bytes_per_token(c.pool.problem) * 1600.0 / Seconds(0.5);
    const TrafficResult x = simulate(c, t, {});
    EXPECT_EQ(x.completed, 4);
    const SlowRequest& last = x.slowest.front();
    if (r.why == Wait::none) {
      EXPECT_LT(last.queued, 0.4);
      EXPECT_GT(last.moved, 1.5);
    } else {
      EXPECT_EQ(last.answer.wait, r.why);
      EXPECT_GT(last.queued, 1.5);
      EXPECT_NEAR(last.moved, 0.5 + c.decode->problem.runtime.engine.hand_over.value, 0.05);
    }
  }
}

// More engines for the same prompts: none waits longer for its cache.
TEST(Traffic, MoreEnginesForPromptsMoveCachesNoSlower) {
  double before = 0;
  for (const int workers : {1, 2, 4}) {
    Cluster c = cluster_of("trtllm", {}, workers);
    c.decode = c.pool;
    c.decode->replicas = 1;
    c.link = BytesPerSecond(400e9);
    Traffic t = traffic_at(2);
    t.arrivals = Arrivals::closed;
    t.concurrency = 64;
    t.requests = 640;
    const double moved = simulate(c, t, {}).transfer_seconds;
    if (workers > 1) {
      EXPECT_LT(moved, 1.5 * before) << workers;
    }
    before = moved;
  }
}

Traffic traffic_of(const Trace& trace) {
  Traffic t;
  t.arrivals = Arrivals::trace;
  t.lengths = Lengths::trace;
  t.trace = &trace;
  t.rate = 0;
  return t;
}

// Three prompts, two from the start: the first fills a step, and the next is put together while it
// runs, so that the third, which comes meanwhile, waits for the one after. An engine that looks
// when a step has ended takes both at once.
TEST(Traffic, AnEngineOfPromptsPlansAheadToo) {
  Trace trace;
  for (std::uint32_t i = 0; i < 3; ++i) {
    Request r;
    r.arrival = i == 2 ? 0.01 : 0;
    r.input = i == 0 ? 8000 : 3000;
    r.output = 4;
    r.number = i;
    trace.requests.push_back(r);
  }
  const Traffic t = traffic_of(trace);
  for (const bool ahead : {false, true}) {
    Cluster c = cluster_of("sglang", {.token_budget = 8000});
    c.pool.problem.runtime.engine.asynchronous = ahead;
    c.pool.problem.runtime.engine.request = c.pool.problem.runtime.engine.tokenizing = Seconds(0);
    c.decode = c.pool;
    c.link = BytesPerSecond(1e15);
    std::array<double, 3> read{};  // when its prompt was in a step
    for (const SlowRequest& s : simulate(c, t, {}).slowest) {
      read.at(s.answer.request.number) = s.queued + s.answer.request.arrival;
    }
    if (ahead) {
      EXPECT_GT(read[2], read[1] + 0.01);
    } else {
      EXPECT_NEAR(read[2], read[1], 1e-9);
    }
  }
}

TEST(Traffic, HandingARequestOverDelaysItsFirstToken) {
  Traffic t = traffic_at(0.5, 40);
  const auto first = [&](Seconds hand_over) {
    Cluster c = cluster_of("vllm");
    c.decode = c.pool;
    c.decode->problem.runtime.engine.hand_over = hand_over;
    connect(c);
    return simulate(c, t, {}).ttft.mean;
  };
  EXPECT_NEAR(first(Seconds(0.25)) - first(Seconds(0)), 0.25, 0.01);
}

// While a front end reads a long text the requests behind it end too, and then wait for its prompt:
// users in step see more than the reading itself.
TEST(Traffic, ReadingTextDelaysFirstTokens) {
  const auto first = [&](Seconds tokenizing, double users) {
    Traffic t;
    t.arrivals = Arrivals::closed;
    t.concurrency = static_cast<int>(users);
    t.requests = 10 * users;
    t.input = 4096;
    t.output = 128;
    Cluster c = cluster_of("vllm", {.token_budget = 4224});
    c.pool.problem.runtime.engine.asynchronous = false;
    c.pool.problem.runtime.engine.tokenizing = tokenizing;
    return simulate(c, t, {}).ttft.mean;
  };
  const Seconds reading(5e-6);
  const double alone = first(reading, 1) - first(Seconds(0), 1);
  EXPECT_NEAR(alone, 4096 * reading.value, 1e-6);
  EXPECT_GT(first(reading, 16) - first(Seconds(0), 16), 2 * alone);
}

TEST(Traffic, PrefixesAreComputedOnce) {
  Trace trace;
  for (std::uint32_t i = 0; i < 400; ++i) {
    // Forty conversations whose first three blocks are theirs.
    for (std::uint32_t b = 0; b < 3; ++b) trace.blocks.push_back(i % 40 * 10 + b);
    trace.blocks.push_back(100000 + i);
    Request r;
    r.arrival = i * 0.1;
    r.input = 2048;
    r.output = 40;
    r.prefix = 4 * i;
    r.prefix_blocks = 4;
    r.number = i;
    trace.requests.push_back(r);
  }
  const Traffic t = traffic_of(trace);
  const TrafficResult with = simulate(cluster_of(), t, {});
  const TrafficResult without = simulate(cluster_of("vllm", {.prefix_cache = false}), t, {});
  // 360 of 400 find three of their four blocks.
  EXPECT_NEAR(with.counts.hit_tokens / with.counts.prompt_tokens, 0.9 * 0.75, 0.01);
  EXPECT_EQ(without.counts.hit_tokens, 0);
  EXPECT_LT(with.ttft.p50, 0.7 * without.ttft.p50);
  // A cache for less than the conversations keeps fewer.
  const TrafficResult little = simulate(cluster_of("vllm", {.cache_tokens = 20000.0}), t, {});
  EXPECT_LT(little.counts.hit_tokens, 0.5 * with.counts.hit_tokens);
  EXPECT_EQ(little.completed, 400);
}

TEST(Traffic, NamesARequestThatIsTooLong) {
  Traffic t = traffic_at(5, 10);
  t.lengths = Lengths::fixed;
  test::expect_contains(
      test::error_of([&] { simulate(cluster_of("vllm", {.cache_tokens = 900.0}), t, {}); }),
      "request 1 has 800 tokens in and 120 out: more than the 896 that the cache holds");
}

TEST(Traffic, SaysWhyTheSlowestWaited) {
  const TrafficResult r =
      simulate(cluster_of("vllm", {.max_requests = 4}), traffic_at(15, 1000), {});
  ASSERT_EQ(r.slowest.size(), 10U);
  for (const SlowRequest& s : r.slowest) {
    EXPECT_EQ(s.answer.wait, Wait::slots);
    EXPECT_NEAR(s.queued + s.prompt + s.decode, s.latency, 1e-9);
  }
  for (std::size_t i = 1; i < r.slowest.size(); ++i) {
    EXPECT_GE(r.slowest[i - 1].latency, r.slowest[i].latency);
  }
}

TEST(Traffic, WhoeverQueuedWaitedForSomething) {
  // Requests that come to one step wait for it, all of them; one that finds nobody waits for none.
  for (const double rate : {0.1, 40.0}) {
    for (const SlowRequest& s :
         simulate(cluster_of("vllm", {}), traffic_at(rate, 400), {}).slowest) {
      EXPECT_EQ(s.answer.wait, rate < 1 ? Wait::none : Wait::step);
    }
  }
}

TEST(Traffic, PartsOfARequestAreThoseOfBothEngines) {
  Cluster c = cluster_of("vllm", {});
  c.decode = c.pool;
  c.pool.limits.max_requests = 1;
  c.decode->problem.runtime.engine.hand_over = Seconds(0.25);
  connect(c);
  for (const SlowRequest& s : simulate(c, traffic_at(100, 400), {}).slowest) {
    EXPECT_EQ(s.answer.wait, Wait::slots);
    EXPECT_GT(s.queued, s.prompt);
    EXPECT_LT(s.prompt, 0.1);
    EXPECT_NEAR(s.moved, 0.25, 0.05);
    EXPECT_NEAR(s.queued + s.prompt + s.moved + s.decode, s.latency, 1e-9);
  }
}

TEST(Quantiles, OfManyAreThoseOfFew) {
  Quantiles many;
  std::vector<double> all;
  Random random(3);
  for (int i = 0; i < 50000; ++i) {
    all.push_back(0.01 * random.exponential());
    many.add(all.back());
  }
  std::sort(all.begin(), all.end());
  for (const double share : {0.1, 0.5, 0.9, 0.99}) {
    EXPECT_NEAR(many.at(share) / all[static_cast<std::size_t>(share * 50000)], 1, 0.003);
  }
}

TEST(Requests, ComeAtTheirRateWithTheirLengths) {
  for (const Arrivals kind : {Arrivals::poisson, Arrivals::gamma, Arrivals::uniform}) {
    Traffic t = traffic_at(7, 40000);
    t.arrivals = kind;
    t.burstiness = 2;
    RequestStream stream(t);
    double last = 0, square = 0, input = 0;
    for (Request r; stream.next(r);) {
      square += (r.arrival - last) * (r.arrival - last);
      last = r.arrival;
      input += r.input;
    }
    EXPECT_NEAR(last, 40000 / 7.0, 150) << name_of(kind);
    const double mean = last / 40000;
    const double variation = std::sqrt(square / 40000 / (mean * mean) - 1 + 1e-12);
    const double expected = kind == Arrivals::poisson ? 1 : kind == Arrivals::gamma ? 2 : 0;
    EXPECT_NEAR(variation, expected, 0.06) << name_of(kind);
    EXPECT_NEAR(input / 40000, 800, 10) << name_of(kind);
  }
}

}  // namespace
}  // namespace sextant
