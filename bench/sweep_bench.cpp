// SPDX-License-Identifier: Apache-2.0
// What a sweep costs beside its predictions: finding a point's inputs, making the problem of a new
// device, and writing rows.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <filesystem>

#include "sextant/sweep/run.hpp"

namespace {

using namespace sextant;
using namespace sextant::sweep;

// Degrees that hardly ever multiply to the devices there are: all but the prediction is done.
constexpr const char* strategies = R"(
kind = "train"
axis = [
  {field = "microbatch", from = 1, to = 1000, step = 1},
  {field = "tp", values = [1, 7, 11, 13, 17, 19, 23, 29, 31, 37]},
  {field = "interleave", from = 1, to = 100, step = 1},
]
[base]
model = "gpt3-175b"
system = "dgx-a100"
gpus = 1000003
batch = 512
)";

// More devices than there are: a new problem at each point, and no prediction.
constexpr const char* devices = R"(
kind = "train"
axis = [
  {field = "device.memory.bandwidth", from = "1 TB/s", to = "8 TB/s", points = 1000},
  {field = "device.memory.capacity", from = "40 GB", to = "400 GB", points = 1000},
]
[base]
model = "gpt3-175b"
system = "dgx-a100"
gpus = 1000003
)";

void answer_points(benchmark::State& state, const char* text) {
  Plan plan = read_plan(text, "bench.toml");
  Evaluator evaluator(plan, {});
  Chunk chunk;
  std::uint64_t point = plan.count / 2;
  for (auto _ : state) {
    chunk.values.clear();
    evaluator.answer(point++, chunk);
    benchmark::DoNotOptimize(chunk.values.data());
  }
  state.SetItemsProcessed(state.iterations());
}

void BM_InputsOfAPoint(benchmark::State& state) { answer_points(state, strategies); }
BENCHMARK(BM_InputsOfAPoint);
void BM_ProblemOfADevice(benchmark::State& state) { answer_points(state, devices); }
BENCHMARK(BM_ProblemOfADevice);

void write_rows(benchmark::State& state, StoreFormat format) {
  const Plan plan = read_plan(strategies, "bench.toml");
  const std::string path = std::filesystem::temp_directory_path() / "sextant-sweep-bench.results";
  const auto clean = [&] {
    for (const char* end : {"", "-journal", ".sweep"}) std::filesystem::remove(path + end);
  };
  clean();
  {
    Results results(plan, {path, format, false, "bench"});
    const Worklist all({{0, plan.count}}, 1000);
    Chunk chunk;
    const std::size_t width = outputs_of(plan).size();
    for (std::size_t i = 0; i < 1000 * width; ++i) {
      chunk.values.push_back(i % width == 0 ? 0 : 1.0 / static_cast<double>(i + 3));
    }
    for (auto _ : state) {
      results.take(all, chunk);
      ++chunk.number;
    }
    results.commit();
    state.SetItemsProcessed(static_cast<std::int64_t>(results.written()));
  }
  clean();
}
void BM_RowsIntoSqlite(benchmark::State& state) { write_rows(state, StoreFormat::sqlite); }
BENCHMARK(BM_RowsIntoSqlite)->Iterations(500)->UseRealTime();
void BM_RowsIntoCsv(benchmark::State& state) { write_rows(state, StoreFormat::csv); }
BENCHMARK(BM_RowsIntoCsv)->Iterations(500)->UseRealTime();

// The whole of it: a million points of training into SQLite, and the memory at its fullest.
constexpr const char* million = R"(
kind = "train"
axis = [
  {field = "batch", from = 512, to = 267264, step = 512},
  {field = "tp", values = [1, 2, 4, 8]},
  {field = "pp", values = [1, 2, 4, 8, 16]},
  {field = "microbatch", values = [1, 2, 4, 8]},
  {field = "recompute", values = ["none", "selective", "full"]},
  {field = "zero", values = [0, 1, 2, 3]},
  {field = "schedule", values = ["1f1b", "gpipe"]},
]
[base]
model = "gpt3-175b"
system = "dgx-a100"
gpus = 512
)";

void BM_MillionPoints(benchmark::State& state) {
  const Plan plan = read_plan(million, "bench.toml");
  const std::string path = std::filesystem::temp_directory_path() / "sextant-sweep-bench.db";
  for (auto _ : state) {
    std::filesystem::remove(path);
    Results results(plan, {path, StoreFormat::sqlite, false, "bench"});
    run(plan, results, {.threads = static_cast<int>(state.range(0))});
  }
  std::filesystem::remove(path);
  state.SetItemsProcessed(static_cast<std::int64_t>(plan.count) * state.iterations());
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(BM_MillionPoints)
    ->Arg(1)
    ->Arg(2)
    ->Iterations(1)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
