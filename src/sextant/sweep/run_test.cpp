// SPDX-License-Identifier: Apache-2.0
#include "sextant/sweep/run.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "sextant/io/files.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/test_support.hpp"
#include "sextant/sweep/parallel.hpp"

namespace sextant::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* text = R"(kind = "train"
axis = [
  {field = "tp", values = [1, 2, 3, 4, 8]},
  {field = "pp", values = [1, 2, 4, 8]},
  {field = "device.memory.bandwidth", values = ["2 TB/s", "3 TB/s"]},
]
[base]
model = "gpt3-175b"
system = "dgx-a100"
gpus = 64
batch = 64
)";

std::string results_of(const std::string& path) {
  std::string all;
  std::vector<std::string> names;
  for (const StoreColumn& c : stored_columns(path)) names.push_back(c.name);
  for (const auto& row : stored_rows(path, names, {}, 1'000'000)) {
    for (const StoredCell& cell : row) {
      if (const auto* i = std::get_if<std::int64_t>(&cell)) all += std::to_string(*i);
      if (const auto* d = std::get_if<double>(&cell)) all += std::to_string(*d);
      if (const auto* s = std::get_if<std::string>(&cell)) all += *s;
      all += '|';
    }
    all += '\n';
  }
  return all;
}

void sweep_into(
    const Plan& plan, const Target& target, int threads,
    const std::function<bool()>& stopped = [] { return false; }) {
  Results results(plan, target);
  run(plan, results, {.threads = threads, .stopped = stopped});
}

TEST(Sweep, AnswersAsEvaluateDoes) {
  const Plan plan = read_plan(text, "plan.toml");
  Evaluator evaluator(plan, {});
  Chunk chunk;
  evaluator.answer(plan.count - 1, chunk);  // tp 8, pp 8, 3 TB/s
  const System system =
      load_system("dgx-a100", {{"device.memory.bandwidth", "3 TB/s"}}, Lookup::presets);
  const Runtime runtime = load_runtime("megatron-core");
  const Problem problem = prepare(system, runtime, load_libraries(system, runtime),
                                  load_model("gpt3-175b"), Training{.batch = 64, .seq = 2048});
  const Estimate expected =
      evaluate(problem, {.tp = 8, .pp = 8, .dp = 1, .sp = runtime.sequence_parallel});
  const auto at = [&](const char* name) {
    for (std::size_t i = 0; i < evaluator.outputs().size(); ++i) {
      if (evaluator.outputs()[i].name == name) return chunk.values[i];
    }
    return -1.0;
  };
  EXPECT_EQ(at("verdict"), code_of(expected.verdict));
  EXPECT_EQ(at("step_seconds"), expected.step.value);
  EXPECT_EQ(at("memory_bytes"), expected.memory.total().value);
  EXPECT_EQ(at("mfu"), expected.mfu());
  EXPECT_EQ(at("dp"), 1);
}

// What points share is kept; it must be shared only where it is the same.
void expect_nothing_stale(const std::string& plan_text, std::uint64_t stride) {
  const Plan plan = read_plan(plan_text, "plan.toml");
  Evaluator kept(plan, {});
  for (std::uint64_t i = 0; i < plan.count; ++i) {
    Chunk a;
    kept.answer(i, a);
    if (i % stride != 0) continue;  // a fresh one loads all presets again
    Chunk b;
    Evaluator(plan, {}).answer(i, b);
    for (std::size_t v = 0; v < a.values.size(); ++v) {
      EXPECT_TRUE(a.values[v] == b.values[v] || std::isnan(a.values[v])) << i << " " << v;
    }
  }
}

TEST(Sweep, KeepsNothingThatDiffers) {
  expect_nothing_stale(R"(kind = "train"
axis = [
  {field = "device.memory.bandwidth", values = ["2 TB/s", "3 TB/s"]},
  {field = "batch", values = [64, 128]},
  {field = "tp", values = [1, 2, 8]},
  {field = "pp", values = [1, 4]},
  {field = "recompute", values = ["none", "full"]},
  {field = "recompute_layers", values = [0, 1]},
  {field = "zero", values = [0, 1]},
  {field = "optimizer", values = ["adamw", "adamw-bf16-states"]},
  {field = "seq", values = [1024, 2048]},
]
[base]
model = "gpt3-6.7b"
system = "dgx-a100"
gpus = 64
)",
                       37);
}

TEST(Sweep, KeepsNothingOfOtherWork) {
  expect_nothing_stale(R"(kind = "train"
axis = [
  {field = "images", values = [0, 2]},
  {field = "predict_ahead", values = [0, 1]},
  {field = "lora_rank", values = [0, 16]},
]
[base]
model = "qwen2.5-vl-7b"
system = "dgx-h100"
gpus = 8
batch = 32
seq = 4096
)",
                       1);
  expect_nothing_stale(R"(kind = "infer"
axis = [
  {field = "speculate", values = [0, 2]},
  {field = "draft", values = ["llama3.2-1b", "llama3.2-3b"]},
]
[base]
model = "llama3.1-70b"
system = "dgx-h100"
tp = 8
)",
                       1);
}

TEST(Sweep, GivesTheSameTableHoweverItIsRun) {
  const test::Folder folder;
  const Plan plan = read_plan(text, "plan.toml");
  sweep_into(plan, {folder.path("one.db"), StoreFormat::sqlite, false, "1"}, 1);
  const std::string expected = results_of(folder.path("one.db"));
  EXPECT_EQ(std::count(expected.begin(), expected.end(), '\n'), 40);
  EXPECT_THAT(expected, HasSubstr("gpus not divisible"));
  sweep_into(plan, {folder.path("three.db"), StoreFormat::sqlite, false, "1"}, 3);
  EXPECT_EQ(results_of(folder.path("three.db")), expected);
  // Stopped again and again.
  const Target target{folder.path("parts.db"), StoreFormat::sqlite, true, "1"};
  for (int part = 0; part < 40; ++part) {
    int asked = 0;
    sweep_into(plan, target, 1, [&] { return asked++ > 0; });
  }
  EXPECT_EQ(results_of(folder.path("parts.db")), expected);
}

TEST(Sweep, GoesOnWithTextThatWasCutAnywhere) {
  const test::Folder folder;
  const Plan plan = read_plan(text, "plan.toml");
  for (const char* name : {"whole.csv", "whole.jsonl"}) {
    const std::string path = folder.path(name);
    const StoreFormat format = store_format_of(path);
    sweep_into(plan, {path, format, false, "1"}, 1);
    const std::string expected = read_file(path);
    for (std::size_t length = 0; length <= expected.size(); length += 211) {
      std::ofstream(path, std::ios::binary | std::ios::trunc) << expected.substr(0, length);
      sweep_into(plan, {path, format, true, "1"}, 2);
      ASSERT_EQ(read_file(path), expected) << name << " cut to " << length;
    }
  }
}

TEST(Sweep, RefusesResultsOfAnotherPlanOrVersion) {
  const test::Folder folder;
  const Plan plan = read_plan(text, "plan.toml");
  const std::string path = folder.path("out.db");
  sweep_into(plan, {path, StoreFormat::sqlite, false, "1"}, 1);
  const auto message = [&](const std::string& plan_text, bool resume, const char* version) {
    return test::error_of([&] {
      const Plan other = read_plan(plan_text, "plan.toml");
      Results results(other, {path, StoreFormat::sqlite, resume, version});
    });
  };
  EXPECT_THAT(message(text, false, "1"), HasSubstr("--resume"));
  EXPECT_EQ(message(text, true, "1"), "(no error)");
  EXPECT_THAT(message(text, true, "2"), HasSubstr("version: is 2, was 1"));
  std::string other(text);
  other.replace(other.find("gpus = 64"), 9, "gpus = 24");
  EXPECT_THAT(message(other, true, "1"), HasSubstr("base.gpus: is 24, was 64"));
}

TEST(Sweep, AsksTheInnerSearchAtEachPoint) {
  const Plan plan = read_plan(R"(kind = "train"
best = true
[base]
model = "gpt3-175b"
system = "dgx-a100"
batch = 64
[[axis]]
field = "gpus"
values = [64, 128]
)",
                              "plan.toml");
  const InnerSearch search = [](const InnerQuestion& q) -> std::optional<InnerAnswer> {
    EXPECT_EQ(q.problem.work.batch, 64);
    if (q.inputs.gpus == 128) return std::nullopt;
    return InnerAnswer{{.tp = 8, .pp = 8, .recompute = Recompute::full}, {}};
  };
  Evaluator evaluator(plan, search);
  Chunk chunk;
  evaluator.answer(0, chunk);
  const std::vector<Output>& outputs = evaluator.outputs();
  const auto found = [&](const char* name) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].name == name) return i;
    }
    return outputs.size();
  };
  EXPECT_EQ(chunk.values.at(found("best_pp")), 8);
  EXPECT_EQ(chunk.values.at(found("best_recompute")), 2);
  EXPECT_EQ(outputs.at(found("best_recompute")).names[2], "full");
  evaluator.answer(1, chunk);
  EXPECT_EQ(chunk.values[outputs.size()], code_of(Refusal::nothing_fits));
}

TEST(Sweep, MakesAnImpossibleDeviceAnAnswer) {
  const Plan plan = read_plan(R"(kind = "infer"
energy = true
axis = [
  {field = "technology.node", values = ["n7", "n3"]},
  {field = "technology.area", values = ["100 mm2", "800 mm2"]},
  {field = "technology.stacks", values = [4]},
]
[base]
model = "llama2-13b"
technology.dram = "hbm4"
)",
                              "plan.toml");
  Evaluator evaluator(plan, {});
  Chunk chunk;
  for (std::uint64_t i = 0; i < plan.count; ++i) evaluator.answer(i, chunk);
  const std::size_t width = evaluator.outputs().size();
  ASSERT_FALSE(chunk.texts.empty());
  EXPECT_GE(chunk.values[0], static_cast<double>(first_text_code));
  EXPECT_EQ(chunk.values[3 * width], code_of(Verdict::fits));
  // Joules, and what the device takes to make: cores, watts, area, cost, yield.
  for (std::size_t i = width - 6; i < width; ++i) EXPECT_GT(chunk.values[3 * width + i], 0);
  EXPECT_EQ(evaluator.outputs()[width - 3].name, "device_area_m2");
  EXPECT_DOUBLE_EQ(chunk.values[3 * width + width - 3], 800e-6);
}

// Its size alone is a contradiction, which the rate on an axis ends.
TEST(Sweep, TakesASecondMemoryOfAPresetPartByPart) {
  const Plan plan = read_plan(R"(kind = "infer"
[base]
model = "llama2-70b"
system = "h200-single"
batch = 16
input = 2000
device.tier.capacity = "512 GB"
[[axis]]
field = "device.tier.bandwidth"
values = ["0.5 TB/s", "2 TB/s"]
)",
                              "plan.toml");
  Evaluator evaluator(plan, {});
  Chunk chunk;
  for (std::uint64_t i = 0; i < plan.count; ++i) evaluator.answer(i, chunk);
  const std::size_t width = evaluator.outputs().size();
  EXPECT_EQ(chunk.values[0], code_of(Verdict::fits));
  EXPECT_EQ(chunk.values[width], code_of(Verdict::fits));
}

TEST(Sweep, KnowsSecondMemories) {
  const auto times = [](const std::string& tier) {
    const Plan plan = read_plan(R"(kind = "infer"
[base]
model = "llama2-70b"
technology.node = "n4"
technology.dram = "hbm3e"
technology.stacks = 3
)" + tier,
                                "plan.toml");
    Evaluator evaluator(plan, {});
    Chunk chunk;
    for (std::uint64_t i = 0; i < plan.count; ++i) evaluator.answer(i, chunk);
    const std::size_t width = evaluator.outputs().size();
    std::size_t tpot = 0;
    while (evaluator.outputs().at(tpot).name != "tpot_seconds") ++tpot;
    std::vector<double> all;
    for (std::size_t i = 0; i < plan.count; ++i) {
      const bool fits = chunk.values[i * width] == code_of(Verdict::fits);
      all.push_back(fits ? chunk.values[i * width + tpot] : 0);
    }
    return all;
  };
  const std::vector<double> named =
      times("[[axis]]\nfield = 'technology.tier'\nvalues = ['none', 'hbf x1', 'hbf x2']\n");
  EXPECT_EQ(named.at(0), 0);  // does not fit
  EXPECT_GT(named.at(1), named.at(2));
  EXPECT_GT(named.at(2), 0);
  EXPECT_EQ(times("technology.tier = 'hbf'\n[[axis]]\nfield = 'technology.tier_parts'\n"
                  "values = [0, 1, 2]\n"),
            named);
  const std::vector<double> faster = times(
      "technology.tier = 'hbf'\n[[axis]]\nfield = 'tier.bandwidth'\n"
      "values = ['1.6 TB/s', '3.2 TB/s']\n");
  EXPECT_EQ(faster.at(0), named.at(1));
  EXPECT_LT(faster.at(1), faster.at(0));
  // The first memory's fields are its own.
  EXPECT_EQ(times("technology.tier = 'hbf'\n[[axis]]\nfield = 'dram.cost'\nvalues = ['1 $']\n"),
            std::vector{named.at(1)});
}

TEST(Worklist, CutsWhatIsMissingIntoChunks) {
  const Worklist list({{2, 5}, {7, 8}, {10, 14}}, 3);
  EXPECT_EQ(list.points(), 8U);
  EXPECT_EQ(list.chunks(), 3U);
  std::vector<std::vector<std::uint64_t>> chunks(3);
  for (std::uint64_t c = 0; c < 3; ++c) {
    list.each(c, [&](std::uint64_t p) { chunks[c].push_back(p); });
  }
  EXPECT_THAT(chunks[0], ElementsAre(2, 3, 4));
  EXPECT_THAT(chunks[1], ElementsAre(7, 10, 11));
  EXPECT_THAT(chunks[2], ElementsAre(12, 13));
}

TEST(OrderedWork, TakesResultsInOrder) {
  for (const int threads : {1, 2, 5}) {
    OrderedWork<std::uint64_t> work;
    std::uint64_t next = 0;
    work.make_work = [] { return [](std::uint64_t chunk) { return chunk * chunk; }; };
    work.take = [&](std::uint64_t result) {
      EXPECT_EQ(result, next * next);
      ++next;
    };
    work.run(1000, threads);
    EXPECT_EQ(next, 1000U);
  }
}

TEST(OrderedWork, TakesAllThatWasBegunBeforeAStop) {
  for (const int threads : {1, 3}) {
    std::atomic<int> begun = 0;
    int taken = 0;
    OrderedWork<int> work;
    work.make_work = [&] {
      return [&](std::uint64_t) {
        ++begun;
        return 0;
      };
    };
    work.take = [&](int) { ++taken; };
    work.stopped = [&] { return begun > 20; };
    work.run(100'000, threads);
    EXPECT_EQ(taken, begun.load());
    EXPECT_LT(taken, 100);
  }
}

TEST(OrderedWork, ThrowsOnWhatAWorkerOrTheTakerThrows) {
  for (const int threads : {1, 3}) {
    OrderedWork<int> work;
    work.make_work = [] {
      return [](std::uint64_t chunk) {
        if (chunk == 7) throw std::runtime_error("seven");
        return 0;
      };
    };
    work.take = [](int) {};
    EXPECT_THROW(work.run(1000, threads), std::runtime_error);
    OrderedWork<int> full;
    full.make_work = [] { return [](std::uint64_t) { return 0; }; };
    full.take = [](int) { throw std::runtime_error("full"); };
    EXPECT_THROW(full.run(1000, threads), std::runtime_error);
  }
}

}  // namespace
}  // namespace sextant::sweep
