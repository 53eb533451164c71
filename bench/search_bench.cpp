// SPDX-License-Identifier: Apache-2.0
// How long a search takes that proves its answer, and how long one that evaluates every point: the
// whole space, front included. Counters compare the two: ratios hold on any machine.
#include <benchmark/benchmark.h>

#include "sextant/predict/test_problem.hpp"
#include "sextant/search/search.hpp"

namespace {

using namespace sextant;

struct Question {
  const char* model;
  const char* system;
  int devices;
  Training work;
};
const Question gpt3{"gpt3-175b", "dgx-a100", 512, {.batch = 512, .seq = 2048}};
const Question llama{"llama3.1-405b", "dgx-h100", 16384, {.batch = 2048, .seq = 8192}};
const Question deepseek{"deepseek-v3", "h800-node", 2048, {.batch = 15360, .seq = 4096}};

Problem problem_of(const Question& q) {
  return test::problem_of(q.system, "megatron-core", q.model, q.work);
}

/// Points that are legal, each of which an exhaustive search evaluates.
double legal_points(const Problem& p, const SearchSpace& space, const SearchPlan& plan) {
  double count = 0;
  std::vector<Strategy> mappings;
  for (std::uint64_t i = 0; i < plan.units; ++i) {
    const SearchUnit unit = unit_of(space, plan, i);
    mappings_of(p, space, plan.cuts[unit.cut], mappings);
    for (const Strategy& m : mappings) {
      Strategy s = with_mapping(unit.strategy, m);
      const auto layers = static_cast<double>(layer_counts(p, space, s).size());
      for (const Schedule schedule : space.schedule) {
        s.schedule = schedule;
        if (takes_schedule(s, schedule) && legal(p, s) == Verdict::fits) count += layers;
      }
    }
  }
  return count;
}

void BM_search(benchmark::State& state, const Question& q, bool exhaustive) {
  const Problem p = problem_of(q);
  const SearchSpace space{.devices = {q.devices}};
  SearchAim aim;
  aim.threads = static_cast<int>(state.range(0));
  aim.exhaustive = exhaustive;
  const SearchPlan plan = lay_out(p, space);
  double evaluated = 0;
  for (auto _ : state) {
    SearchProgress progress;
    const SearchResult r = search(p, space, lay_out(p, space), aim, progress);
    evaluated = static_cast<double>(r.evaluated);
    state.counters["gap"] = r.gap();
  }
  const double all = exhaustive ? evaluated : legal_points(p, space, plan);
  state.counters["points"] = plan.points;
  state.counters["evaluated"] = evaluated;
  state.counters["fewer"] = all / evaluated;
  state.counters["legal/s"] =
      benchmark::Counter(all, benchmark::Counter::kIsIterationInvariantRate);
}
void in_milliseconds(benchmark::internal::Benchmark* b) {
  b->Arg(1)->UseRealTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(BM_search, gpt3_exhaustive, gpt3, true)->Apply(in_milliseconds)->Arg(2);
BENCHMARK_CAPTURE(BM_search, gpt3, gpt3, false)->Apply(in_milliseconds)->Arg(2);
BENCHMARK_CAPTURE(BM_search, llama_405b, llama, false)->Apply(in_milliseconds);
BENCHMARK_CAPTURE(BM_search, deepseek_v3, deepseek, false)->Apply(in_milliseconds);

}  // namespace
