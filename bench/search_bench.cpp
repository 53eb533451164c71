// SPDX-License-Identifier: Apache-2.0
// How many strategies a search passes a second: GPT-3 175B on 512 A100, batch 512, the whole space.
// Only strategies whose time and memory are computed count.
#include <benchmark/benchmark.h>

#include "sextant/io/presets.hpp"
#include "sextant/search/search.hpp"

namespace {

using namespace sextant;

void BM_search(benchmark::State& state) {
  const Runtime runtime = load_runtime("megatron-core");
  const Problem p =
      prepare(load_system("dgx-a100"), runtime, load_libraries(load_system("dgx-a100"), runtime),
              load_model("gpt3-175b"), Training{.batch = 512, .seq = 2048});
  const SearchSpace space{.devices = {512}};
  SearchAim aim;
  aim.threads = static_cast<int>(state.range(0));
  double evaluated = 0;
  for (auto _ : state) {
    SearchProgress progress;
    const SearchPlan plan = lay_out(p, space);
    const SearchResult r = search(p, space, plan, aim, progress);
    evaluated += static_cast<double>(r.evaluated);
    state.counters["points"] = plan.points;
    state.counters["evaluated"] = static_cast<double>(r.evaluated);
    state.counters["feasible"] = static_cast<double>(r.feasible);
  }
  state.counters["evaluated/s"] = benchmark::Counter(evaluated, benchmark::Counter::kIsRate);
}
BENCHMARK(BM_search)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
