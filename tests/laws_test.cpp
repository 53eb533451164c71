// SPDX-License-Identifier: Apache-2.0
// Laws that hold whatever is asked: presets of every kind, strategies and workloads drawn at
// random. Each failure says the question that shows it.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

#include "sextant/io/presets.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/predict/layout.hpp"
#include "sextant/predict/sensitivity.hpp"
#include "sextant/scenario/inputs.hpp"

namespace sextant {
namespace {

/// Rounding.
constexpr double slack = 1e-9;
/// A faster part draws more power while it works, and the clock that all kernels of a pass share
/// may fall a little for it.
constexpr double clock_slack = 0.01;

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random_)];
  }
  int power_of_two(int most) { return 1 << std::uniform_int_distribution<int>(0, most)(random_); }
  bool once_in(int n) { return std::uniform_int_distribution<int>(1, n)(random_) == 1; }

 private:
  std::mt19937 random_;
};

/// Loaded once each.
struct Presets {
  std::vector<System> systems;
  std::vector<Model> models;
  std::vector<Runtime> runtimes;
};
const Presets& presets() {
  static const Presets all = [] {
    Presets p;
    for (const std::string& n : preset_names(PresetKind::system))
      p.systems.push_back(load_system(n));
    for (const std::string& n : preset_names(PresetKind::model)) p.models.push_back(load_model(n));
    for (const std::string& n : preset_names(PresetKind::runtime)) {
      p.runtimes.push_back(load_runtime(n));
    }
    return p;
  }();
  return all;
}

struct Question {
  std::string text;
  Problem problem;
  Strategy strategy;
};

Precision precision_of(Draw& draw, bool serves) {
  using enum Precision;
  std::vector<Precision> all = {bf16, bf16, fp16, fp8, fp32};
  if (serves) all.insert(all.end(), {fp4, int8, int4});
  return draw.one_of(all);
}

std::string said(const System& s, const Model& m, const Runtime& r) {
  return s.name + ", " + m.name + ", " + r.name;
}

std::optional<Question> training(unsigned seed) {
  Draw draw(seed);
  const System& system = draw.one_of(presets().systems);
  const Model& model = draw.one_of(presets().models);
  const Runtime& runtime = draw.one_of(presets().runtimes);
  Strategy s;
  s.tp = draw.power_of_two(3);
  s.pp = draw.power_of_two(3);
  s.dp = draw.power_of_two(4);
  s.cp = draw.once_in(4) ? 2 : 1;
  s.ep = model.experts.count > 0 ? draw.power_of_two(3) : 1;
  s.microbatch = draw.power_of_two(2);
  s.interleave = draw.once_in(4) ? 2 : 1;
  s.zero = draw.one_of<int>({0, 0, 1, 2, 3});
  s.sp = s.tp > 1 && draw.once_in(2);
  s.offload = draw.once_in(8);
  s.recompute = draw.one_of<Recompute>({Recompute::none, Recompute::selective, Recompute::full});
  s.schedule = draw.once_in(3)
                   ? draw.one_of<Schedule>({Schedule::gpipe, Schedule::zero_bubble,
                                            Schedule::zero_bubble_v, Schedule::dual_pipe})
                   : Schedule::one_f_one_b;
  s.precision = precision_of(draw, false);
  Training work{.batch = s.dp * s.microbatch * s.pp * draw.power_of_two(3),
                .seq = draw.one_of<int>({1, 128, 1000, 2048, 8192, 32768})};
  work.optimizer =
      draw.one_of<Optimizer>({Optimizer::adamw, Optimizer::muon, Optimizer::adafactor});
  if (draw.once_in(5)) work.tuning.rank = 16;
  Question q{said(system, model, runtime) + ", " + summary_of(s, Task::train) + ", batch " +
                 std::to_string(work.batch) + ", seq " + std::to_string(work.seq) + ", seed " +
                 std::to_string(seed),
             prepare(system, runtime, load_libraries(system, runtime), model, work), s};
  if (legal(q.problem, s) != Verdict::fits) return std::nullopt;
  return q;
}

std::optional<Question> serving(unsigned seed) {
  Draw draw(seed);
  const System& system = draw.one_of(presets().systems);
  const Model& model = draw.one_of(presets().models);
  const Runtime& runtime = draw.one_of(presets().runtimes);
  Strategy s;
  s.tp = draw.power_of_two(3);
  s.pp = draw.once_in(4) ? 2 : 1;
  s.dp = draw.once_in(4) ? 2 : 1;
  s.ep = model.experts.count > 0 && draw.once_in(2) ? s.tp * s.dp : 1;
  s.precision = precision_of(draw, true);
  Serving work{.batch = draw.power_of_two(9), .input = draw.one_of<int>({1, 100, 1024, 8000})};
  work.output = draw.one_of<int>({1, 2, 100, 1000});
  if (draw.once_in(3)) work.batching = Batching::closed_loop;
  if (draw.once_in(5)) work.speculation.tokens = 3;
  Question q{said(system, model, runtime) + ", " + summary_of(s, Task::infer) + ", batch " +
                 std::to_string(work.batch) + ", input " + std::to_string(work.input) +
                 ", output " + std::to_string(work.output) + ", seed " + std::to_string(seed),
             prepare(system, runtime, load_libraries(system, runtime), model, work), s};
  const ServingEstimate e = serve(q.problem, s);
  if (e.verdict != Verdict::fits && e.verdict != Verdict::out_of_memory) return std::nullopt;
  return q;
}

bool is_amount(double x) { return std::isfinite(x) && x >= 0; }

void expect_sane(const Question& q, const Estimate& e) {
  EXPECT_TRUE(is_amount(e.step.value) && e.step.value > 0) << q.text;
  double sum = 0;
  for (const Span& t : e.time.values) {
    EXPECT_TRUE(is_amount(t.busy.value) && is_amount(t.exposed.value)) << q.text;
    sum += t.exposed.value;
  }
  EXPECT_NEAR(sum / e.step.value, 1, 1e-9) << q.text;
  for (const Bytes b : e.memory.parts.values) EXPECT_TRUE(is_amount(b.value)) << q.text;
  for (const Joules j : {e.energy.compute, e.energy.memory, e.energy.links, e.energy.idle}) {
    EXPECT_TRUE(is_amount(j.value)) << q.text;
  }
  EXPECT_TRUE(is_amount(e.model_flops.value) && is_amount(e.hardware_flops.value)) << q.text;
  EXPECT_LE(e.model_flops.value, e.hardware_flops.value * (1 + slack)) << q.text;
  EXPECT_LE(e.hfu(), 1 + slack) << q.text;
}

void expect_sane(const Question& q, const ServingEstimate& e) {
  for (const Seconds t : {e.ttft, e.tpot, e.latency, e.prefill.time}) {
    EXPECT_TRUE(is_amount(t.value)) << q.text;
  }
  EXPECT_TRUE(is_amount(e.tokens_per_second)) << q.text;
  for (const Seconds t : e.decode.parts.values) EXPECT_TRUE(is_amount(t.value)) << q.text;
  for (const Bytes b : {e.memory.weights, e.memory.cache, e.memory.activations, e.memory.other}) {
    EXPECT_TRUE(is_amount(b.value)) << q.text;
  }
}

constexpr unsigned questions = 3000;

/// Asks what is drawn from so many seeds; how many questions there were.
template <class Draw, class Ask>
int ask(unsigned seeds, const Draw& draw, const Ask& ask_one) {
  int asked = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    std::optional<Question> q = draw(seed);
    if (!q) continue;
    ++asked;
    ask_one(*q);
  }
  return asked;
}

/// No resource made better makes it slower.
template <class TimeOf>
void expect_no_slower(const Question& q, const TimeOf& time_of) {
  const Seconds before = time_of(q.problem);
  for (std::size_t k = 0; k < static_cast<std::size_t>(Knob::count); ++k) {
    const auto knob = static_cast<Knob>(k);
    const Seconds after = time_of(turned(q.problem, knob));
    EXPECT_LE(after.value, before.value * (1 + clock_slack)) << name_of(knob) << ": " << q.text;
  }
}

TEST(Laws, TrainingIsFiniteAndBelowItsPeaks) {
  const int asked = ask(questions, training,
                        [](const Question& q) { expect_sane(q, evaluate(q.problem, q.strategy)); });
  EXPECT_GT(asked, 300);
}

TEST(Laws, ServingIsFinite) {
  const int asked = ask(questions, serving,
                        [](const Question& q) { expect_sane(q, serve(q.problem, q.strategy)); });
  EXPECT_GT(asked, 500);
}

// Every number that explain() lists sums to what evaluate() says of the same kind.
TEST(Laws, OperatorsSumToTheStep) {
  ask(questions / 3, training, [](const Question& q) {
    const Explained x = explain(q.problem, q.strategy);
    for (const Time t : {Time::forward, Time::backward, Time::recompute}) {
      double sum = 0;
      for (const Operator& o : x.operators) {
        if (o.kind == t) sum += o.count * o.exposed.value;
      }
      const double said_of_it = x.estimate.time[t].exposed.value;
      EXPECT_NEAR(sum, said_of_it, 1e-9 * x.estimate.step.value) << q.text;
    }
  });
}

TEST(Laws, NothingBetterMakesAStepSlower) {
  ask(questions, training, [](const Question& q) {
    expect_no_slower(q, [&](const Problem& p) { return evaluate(p, q.strategy).step; });
  });
}

TEST(Laws, NothingBetterMakesARequestSlower) {
  ask(questions / 3, serving, [](const Question& q) {
    expect_no_slower(q, [&](const Problem& p) { return serve(p, q.strategy).latency; });
  });
}

TEST(Laws, ALargerBatchIsNeverSoonerDone) {
  ask(questions, training, [](Question& q) {
    const Estimate one = evaluate(q.problem, q.strategy);
    q.problem.work.batch *= 2;
    if (legal(q.problem, q.strategy) != Verdict::fits) return;
    const Estimate two = evaluate(q.problem, q.strategy);
    EXPECT_GE(two.step.value, one.step.value * (1 - slack)) << q.text;
  });
}

TEST(Laws, MoreReplicasNeverTakeMoreMemoryEach) {
  ask(questions, training, [](Question& q) {
    // One replica, of an expert too, needs no room for what replicas send.
    const Groups groups = groups_of(q.problem, q.strategy);
    if (groups.data.ranks == 1 || groups.expert_data.ranks == 1) return;
    const Estimate one = evaluate(q.problem, q.strategy);
    q.problem.work.batch *= 2;
    q.strategy.dp *= 2;
    if (legal(q.problem, q.strategy) != Verdict::fits) return;
    const Estimate two = evaluate(q.problem, q.strategy);
    EXPECT_LE(two.memory.total().value, one.memory.total().value * (1 + slack)) << q.text;
  });
}

}  // namespace
}  // namespace sextant
