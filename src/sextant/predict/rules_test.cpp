// SPDX-License-Identifier: Apache-2.0
#include "sextant/predict/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "sextant/io/reflect.hpp"
#include "sextant/predict/test_problem.hpp"

namespace sextant {
namespace {

using testing::HasSubstr;

Problem problem_of(const std::string& model, int batch, int seq) {
  return test::problem_of("dgx-a100", "megatron-core", model, Training{.batch = batch, .seq = seq});
}

// All problems of a strategy as one text, "field: message; hint".
std::string said(const Problem& p, const Strategy& s) {
  std::string all;
  for (const Diagnostic& d : check(p, s)) all += d.field + ": " + d.message + "; " + d.hint + "\n";
  return all;
}

TEST(Check, ALegalStrategyHasNoProblems) {
  const Problem p = problem_of("gpt3-175b", 64, 2048);
  EXPECT_EQ(said(p, {.tp = 8, .pp = 8, .interleave = 3, .sp = true}), "");
}

TEST(Check, NamesTheRuleAndTheNearestValues) {
  const Problem p = problem_of("gpt3-175b", 64, 2048);
  EXPECT_THAT(said(p, {.tp = 10}), HasSubstr("tp: tp 10 does not divide the 96 heads; 8 or 12"));
  // Of layers with 96 heads and with 64.
  EXPECT_THAT(said(problem_of("step-3.5-flash", 64, 2048), {.tp = 64}),
              HasSubstr("tp: tp 64 does not divide the 32 heads"));
  EXPECT_THAT(said(p, {.dp = 3}), HasSubstr("batch: batch 64 is not dp 3 x microbatch 1 x a whole "
                                            "number; 63 or 66 are the nearest for the batch"));
  EXPECT_THAT(said(p, {.dp = 3}), HasSubstr("2 or 4 are the nearest for dp"));
  EXPECT_THAT(said(p, {.interleave = 2}), HasSubstr("interleave: interleave 2 deals"));
  EXPECT_THAT(said(p, {.pp = 97}), HasSubstr("pp 97 is more stages than the model has layers, 96; "
                                             "pp 96 is the most"));
  EXPECT_THAT(said(p, {.sp = true}), HasSubstr("sp: sequence parallelism"));
  EXPECT_THAT(said(p, {.ep = 2}), HasSubstr("ep: ep 2, and the model has no experts"));
  EXPECT_THAT(said(p, {.pp = 2, .zero = 3}), HasSubstr("zero: zero 3 shards weights"));
  EXPECT_THAT(said(p, {.dp = 64, .shard = 5}), HasSubstr("shard: groups of 5 replicas do not "
                                                         "divide dp 64; 4 or 8 are the nearest"));
  EXPECT_THAT(said(p, {.pp = 3, .schedule = Schedule::dual_pipe}),
              HasSubstr("pp: dualpipe gives each rank a stage from either end"));
  Problem small = p;
  small.max_devices = 1024;
  EXPECT_THAT(said(small, {.tp = 8, .pp = 64, .dp = 64}),
              HasSubstr("is 32768 devices, the system has 1024; at most dp 2"));
  EXPECT_THAT(said(problem_of("gpt3-175b", 64, 2050), {.tp = 8, .cp = 2, .sp = true}),
              HasSubstr("seq 2050 is not a multiple of 2 x cp 2 x tp 8 = 32; 2048 or 2080"));
  EXPECT_THAT(said(problem_of("mixtral-8x7b", 64, 2048), {.dp = 8, .ep = 3}),
              HasSubstr("ep: ep 3 does not divide the 8 experts; 2 or 4 are the nearest"));
}

TEST(Check, EveryProblemIsSaidAtOnce) {
  const Problem p = problem_of("gpt3-175b", 64, 2048);
  EXPECT_EQ(check(p, {.tp = 5, .dp = 3, .ep = 2, .interleave = 2}).size(), 5U);
}

/// Draws a value for every axis that describe() names, so that a new one is never left out.
class AnyStrategy {
 public:
  template <class T>
  auto pick(const T& values) {
    return values[random_() % values.size()];
  }
  Strategy operator()() {
    Strategy s;
    draw(reflect(s));
    return s;
  }

 private:
  void draw(const StructRef& fields) {
    for (const Slot& slot : fields.fields) {
      least_ = static_cast<int>(slot.field.min);
      most_ = slot.field.max;
      std::visit(*this, slot.target);
    }
  }

 public:
  void operator()(bool* v) { *v = random_() % 3 == 0; }
  void operator()(int* v) {
    constexpr std::array values = {1, 1, 1, 1, 2, 2, 3, 5, 8, 30, 64};
    *v = random_() % 2 == 0 ? least_ : static_cast<int>(std::min<double>(pick(values), most_));
  }
  void operator()(const EnumRef& e) { e.set(e.value, random_() % e.names.size()); }
  void operator()(const StructRef& fields) { draw(fields); }
  template <class T>
  void operator()(const T&) {
    FAIL() << "a strategy has no such field";
  }

 private:
  std::mt19937 random_{3};
  int least_ = 0;
  double most_ = 0;
};

TEST(Check, AgreesWithLegalOverEveryAxis) {
  AnyStrategy draw;
  std::array<int, 2> fine{};
  Table<int, Verdict> seen;
  for (const char* model :
       {"gpt3-175b", "mixtral-8x7b", "llama3.1-8b", "deepseek-v3", "qwen2.5-vl-7b"}) {
    Problem p = problem_of(model, 64, 2048);
    for (int i = 0; i < 4000; ++i) {
      p.runtime.trains = draw.pick(std::array{true, true, true, false});
      p.runtime.serves = draw.pick(std::array{true, true, true, false});
      p.serving.chunk = draw.pick(std::array{0, 0, 0, 256});
      p.work.images = p.serving.images = draw.pick(std::array{0, 0, 0, 2});
      p.serving.placement = draw.pick(std::array{Placement::overflow, Placement::overflow,
                                                 Placement::overflow, Placement::weights});
      p.work.batch = draw.pick(std::array{1, 12, 64, 96});
      p.work.seq = draw.pick(std::array{2048, 4096, 3000});
      const Strategy s = draw();
      const auto agree = [&](Verdict verdict, const std::vector<Diagnostic>& problems, int& count) {
        ASSERT_EQ(problems.empty(), verdict == Verdict::fits) << said(p, s) << name_of(verdict);
        for (const Diagnostic& d : problems) ASSERT_FALSE(d.field.empty()) << d.message;
        ++seen[verdict];
        count += problems.empty() ? 1 : 0;
      };
      agree(legal(p, s), check(p, s), fine[0]);
      agree(legal_serving(p, s), check_serving(p, s), fine[1]);
    }
  }
  EXPECT_GT(fine[0], 100);
  EXPECT_GT(fine[1], 500);
  for (std::size_t i = 0; i < seen.size; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    EXPECT_TRUE(seen[verdict] > 0 || verdict == Verdict::out_of_memory) << name_of(verdict);
  }
}

}  // namespace
}  // namespace sextant
