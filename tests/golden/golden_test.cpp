// SPDX-License-Identifier: Apache-2.0
// Predictions for every device, system and model and for steps of every kind, kept to twelve
// digits: a change shows as a table of what moved, and belongs into the commit that means it.
// SEXTANT_UPDATE_GOLDEN=1 rewrites the files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "sextant/cost/collective.hpp"
#include "sextant/io/files.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/report/table.hpp"
#include "sextant/validate/validate.hpp"

namespace sextant {
namespace {

struct Prediction {
  std::string scenario;
  double value;  ///< in base units
};

std::string digits(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}

// A few shapes that between them meet every mechanism: waves, split-K, re-reads, odd rows, power,
// softmax, splitting of a cache, routing.
void predict_device(const std::string& name, std::vector<Prediction>& out) {
  Catalogue catalogue;
  std::string reason;
  const Device device = load_device(name);
  const Chip chip = lower(device);
  const Kernels& trtllm = *catalogue.kernels("trtllm", device, reason);
  const Kernels& pytorch = *catalogue.kernels("pytorch", device, reason);
  const auto add = [&](const std::string& what, const KernelCost& cost) {
    out.push_back({name + " " + what, cost.time.value});
  };
  const auto multiply = [&](double m, double n, double k, Precision type, Load load) {
    const GemmCase g{.shape = {.m = m, .n = n, .k = k, .type = type}};
    return evaluate_kernel(g, chip, pytorch, load);
  };
  add("gemm 1x8192x8192 bf16", multiply(1, 8192, 8192, Precision::bf16, {}));
  add("gemm 300x1280x16384 bf16", multiply(300, 1280, 16384, Precision::bf16, {}));
  add("gemm 4096x50257x2048 bf16", multiply(4096, 50257, 2048, Precision::bf16, {}));
  add("gemm 8192x8192x8192 fp8 sustained", multiply(8192, 8192, 8192, Precision::fp8, sustained));
  const AttentionCase prompt{
      .shape = {.batch = 2, .heads = 32, .kv_heads = 8, .queries = 3000, .context = 3000}};
  add("attention prefill", evaluate_kernel(prompt, chip, pytorch, {}));
  const AttentionCase token{
      .shape = {.batch = 16, .heads = 64, .kv_heads = 8, .queries = 1, .context = 5000},
      .phase = Phase::decode};
  add("attention decode", evaluate_kernel(token, chip, trtllm, {}));
  const LatentCase latent{.shape = {.batch = 32, .heads = 16, .context = 4096},
                          .phase = Phase::decode};
  add("latent decode", evaluate_kernel(latent, chip, trtllm, {}));
  const ExpertsCase experts{.layer = {.tokens = 700,
                                      .hidden = 4096,
                                      .ffn = 1536,
                                      .topk = 8,
                                      .experts = 128,
                                      .ep = 4,
                                      .routing = {.exponent = 1.2}}};
  add("experts", evaluate_kernel(experts, chip, trtllm, {}));
  const StreamCase norm{.op = StreamOp::rmsnorm,
                        .shape = {.rows = 2000, .cols = 5120, .bytes = Bytes(2000.0 * 5120 * 4)}};
  add("rmsnorm", evaluate_kernel(norm, chip, pytorch, {}));
}

void predict_system(const std::string& name, std::vector<Prediction>& out) {
  const System system = load_system(name);
  const Network network = lower(system);
  const CollectiveLibrary library = load_collectives(system.collectives);
  const int node = system.devices_per_node;
  const int most = std::min(system.max_devices, 4 * node);
  for (const int ranks : {node, most}) {
    for (const Collective op : {Collective::all_reduce, Collective::all_to_all}) {
      const CollectiveCost c =
          collective(network, library, op, {ranks, std::min(ranks, node)}, Bytes(32e6));
      out.push_back(
          {name + " " + std::string(name_of(op)) + " over " + std::to_string(ranks), c.time.value});
    }
    if (most == node) break;
  }
}

std::map<std::string, std::string> read_golden(const std::string& path) {
  std::map<std::string, std::string> golden;
  const std::string text = read_file(path);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t tab = line.find('\t');
    if (tab != std::string::npos) golden[line.substr(0, tab)] = line.substr(tab + 1);
    at = end + 1;
  }
  return golden;
}

/// From the names of a step or a server, and its work.
template <class Named>
Problem problem_of(const Named& s, Catalogue& catalogue) {
  std::string reason;
  const System& system = *catalogue.system(s.system, reason);
  const Runtime& runtime = *catalogue.runtime(s.runtime, reason);
  return prepare(system, runtime, *catalogue.libraries(system, runtime, reason),
                 *catalogue.model(s.model, reason), s.work);
}

// Training steps: every runtime for training, every kind of model, every axis of a strategy.
void predict_steps(std::vector<Prediction>& out) {
  struct Step {
    const char* system;
    const char* runtime;
    const char* model;
    Training work;
    Strategy strategy;
  };
  const Training small{.batch = 8, .seq = 2048};
  const Training usual{.batch = 64, .seq = 4096};
  const Training large{.batch = 512, .seq = 4096};
  const auto full = Recompute::full;
  const auto selective = Recompute::selective;
  const std::vector<Step> steps = {
      Step{"dgx-a100", "megatron-lm", "megatron-22b", small, Strategy{.tp = 8, .recompute = full}},
      Step{"dgx-a100", "megatron-lm", "gpt3-175b", usual,
           Strategy{.tp = 8, .pp = 8, .recompute = full}},
      Step{"dgx-a100", "megatron-lm", "gpt3-175b", usual,
           Strategy{.tp = 8, .pp = 8, .interleave = 3, .sp = true, .recompute = selective}},
      Step{"jean-zay", "megatron-lm", "bloom-176b", large,
           Strategy{.tp = 4, .pp = 12, .dp = 8, .microbatch = 2, .zero = 1, .recompute = full}},
      Step{"a100-4hdr", "megatron-deepspeed", "megatron-2021-1.7b", small,
           Strategy{.tp = 2, .pp = 2, .dp = 2, .recompute = full}},
      Step{"dgx-h100", "megatron-core", "llama3.1-8b", usual, Strategy{.dp = 8, .zero = 1}},
      Step{
          "dgx-h100", "megatron-core", "llama3.1-70b", large,
          Strategy{
              .tp = 4, .pp = 4, .dp = 4, .interleave = 5, .sp = true, .precision = Precision::fp8}},
      Step{"dgx-h100", "megatron-core", "llama3.1-8b", Training{.batch = 16, .seq = 65536},
           Strategy{.tp = 2, .dp = 2, .cp = 4, .sp = true}},
      Step{"dgx-h100", "megatron-core", "llama3.1-8b", Training{.batch = 16, .seq = 65536},
           Strategy{.tp = 2, .dp = 2, .cp = 4, .sp = true, .context = ContextKind::all_to_all}},
      Step{"dgx-h100", "megatron-core", "gpt3-175b", large,
           Strategy{.tp = 8, .pp = 8, .schedule = Schedule::zero_bubble}},
      Step{"dgx-h100", "megatron-core", "gpt3-175b", large,
           Strategy{.tp = 8, .pp = 8, .order = Order::tp_cp_ep_pp_dp, .schedule = Schedule::gpipe}},
      Step{"dgx-h100", "megatron-core", "mixtral-8x7b", usual,
           Strategy{.dp = 8, .ep = 8, .zero = 1}},
      Step{"dgx-h100", "megatron-core", "mixtral-8x7b", usual,
           Strategy{.tp = 2, .dp = 8, .ep = 4, .etp = 2, .sp = true, .modules = {.experts = true}}},
      Step{"gb200-nvl72", "megatron-core", "deepseek-v3", large,
           Strategy{.pp = 4, .dp = 64, .ep = 64, .zero = 1, .precision = Precision::fp8}},
      Step{"gb300-nvl72", "megatron-core", "gpt-oss-120b", large,
           Strategy{.dp = 64, .ep = 16, .zero = 1}},
      Step{"dgx-b200", "megatron-core", "nemotron4-15b", usual,
           Strategy{.tp = 2, .dp = 4, .precision = Precision::fp4}},
      Step{"dgx-h100", "fsdp", "mpt-7b", usual, Strategy{.dp = 64, .zero = 3, .recompute = full}},
      Step{"dgx-a100-40gb", "fsdp", "mpt-30b", usual, Strategy{.dp = 64, .zero = 3, .shard = 8}},
      Step{"dgx-h100", "deepspeed", "llama2-13b", usual,
           Strategy{.dp = 16, .zero = 2, .offload = true}},
      Step{"aws-p5", "nanotron", "llama3.1-8b", usual,
           Strategy{.tp = 4, .pp = 2, .dp = 4, .sp = true}},
      Step{"h200-single", "pytorch", "llama2-7b",
           Training{.batch = 2, .seq = 2048, .optimizer = Optimizer::adamw_bf16_states},
           Strategy{}},
      Step{"h200-single", "pytorch-compile", "gpt3-1.3b",
           Training{.batch = 8, .seq = 2048, .optimizer = Optimizer::adamw_bf16_states},
           Strategy{.microbatch = 8}},
      Step{"mi300x-node", "pytorch", "llama3.1-8b", small, Strategy{.tp = 8}},
      Step{"tpu-v5p-node", "ideal", "llama3.1-8b", small, Strategy{.tp = 4}},
  };
  Catalogue catalogue;
  for (const Step& s : steps) {
    const Problem p = problem_of(s, catalogue);
    const Estimate e = evaluate(p, s.strategy);
    EXPECT_GT(e.step.value, 0) << s.model << " on " << s.system << ": " << name_of(e.verdict);
    const std::string name =
        std::to_string(out.size() / 2) + " " + s.model + " on " + s.system + " with " + s.runtime;
    out.push_back({name + ", step", e.step.value});
    out.push_back({name + ", bytes", e.memory.total().value});
  }
}

// Serving: every runtime for inference, every kind of model, every way to batch.
void predict_serving(std::vector<Prediction>& out) {
  using enum Precision;
  struct Server {
    const char* system;
    const char* runtime;
    const char* model;
    Serving work;
    Strategy strategy;
  };
  const Serving one{.batch = 1, .input = 200, .output = 200};
  const Serving many{.batch = 64, .input = 1000, .output = 300};
  const Serving loop{.batch = 32, .input = 1000, .output = 300, .batching = Batching::closed_loop};
  Serving chunked = loop;
  chunked.chunk = 256;
  Serving narrow = many;
  narrow.cache = fp8;
  Serving guessing = one;
  guessing.speculation.tokens = 3;
  const std::vector<Server> servers = {
      {"dgx-a100", "nemo-2023", "llama2-7b", one, {}},
      {"dgx-h100", "nemo-2023", "llama2-70b", one, {.tp = 8}},
      {"dgx-a100", "fastertransformer", "gpt3-175b", many, {.tp = 8}},
      {"dgx-a100", "fastertransformer", "mt-nlg-530b", one, {.tp = 8, .pp = 3}},
      {"dgx-h100", "trtllm-2023", "gpt-j-6b", narrow, {.precision = fp8}},
      {"l40s-pcie", "trtllm-2023", "mistral-7b", narrow, {.precision = fp8}},
      {"dgx-h100", "trtllm-2023", "falcon-180b", narrow, {.tp = 8, .precision = fp8}},
      {"dgx-a100", "vllm-2023", "bloom-176b", many, {.tp = 8}},
      {"dgx-a100", "lmdeploy", "internlm-20b", loop, {.tp = 2}},
      {"dgx-h100", "vllm", "llama3.1-70b", chunked, {.tp = 4, .precision = fp8}},
      {"dgx-h100", "vllm", "llama3.1-8b", many, {.precision = int4}},
      {"dgx-h200", "trtllm", "llama3.1-70b", loop, {.tp = 2, .pp = 2}},
      {"dgx-h100", "trtllm", "llama2-13b", guessing, {.tp = 2}},
      {"dgx-h100", "trtllm", "mixtral-8x7b", many, {.tp = 2}},
      {"dgx-h200", "trtllm", "deepseek-v3", many, {.tp = 8, .precision = fp8}},
      {"dgx-h200", "trtllm", "deepseek-v3", many, {.dp = 16, .ep = 16, .precision = fp8}},
      {"dgx-b200", "trtllm", "gpt-oss-120b", many, {.tp = 2, .precision = fp4}},
      {"dgx-h200", "trtllm", "qwen3-next-80b-a3b", many, {.tp = 4}},
      {"h200-single", "pytorch-graph", "llama3-8b", many, {}},
      {"h200-single", "pytorch", "llama3-8b", one, {}},
      {"dgx-h100", "deepspeed", "llama2-70b", many, {.tp = 4}},
      {"mi300x-node", "ideal", "llama3.1-8b", many, {}},
      {"tpu-v5p-node", "ideal", "llama3.1-8b", one, {.tp = 4}},
  };
  Catalogue catalogue;
  for (const Server& s : servers) {
    Problem p = problem_of(s, catalogue);
    p.runtime.serves = true;  // numbers of any stack, whatever it is for
    const ServingEstimate e = serve(p, s.strategy);
    EXPECT_GT(e.latency.value, 0) << s.model << " on " << s.system << ": " << name_of(e.verdict);
    const std::string name =
        std::to_string(out.size() / 3) + " " + s.model + " on " + s.system + " with " + s.runtime;
    out.push_back({name + ", first token", e.ttft.value});
    out.push_back({name + ", a token", e.tpot.value});
    out.push_back({name + ", bytes", e.memory.total().value});
  }
}

// Every model there is, trained and served on one node, cut as far as its heads and layers allow.
void predict_model(const std::string& name, Catalogue& catalogue, std::vector<Prediction>& out) {
  struct Named {
    const char* system;
    const char* runtime;
    const std::string& model;
    Training work;
  };
  struct Served {
    const char* system;
    const char* runtime;
    const std::string& model;
    Serving work;
  };
  const Problem training =
      problem_of(Named{"dgx-h100", "megatron-core", name, {.batch = 8, .seq = 1024}}, catalogue);
  const Problem serving = problem_of(
      Served{"dgx-h200", "trtllm", name, {.batch = 8, .input = 500, .output = 100}}, catalogue);
  Estimate step;
  ServingEstimate served;
  for (const int tp : {8, 4, 2, 1}) {
    if (step.step.value <= 0) step = evaluate(training, {.tp = tp});
    if (served.latency.value <= 0) served = serve(serving, {.tp = tp});
  }
  EXPECT_GT(step.step.value, 0) << name << ": " << name_of(step.verdict);
  EXPECT_GT(served.latency.value, 0) << name << ": " << name_of(served.verdict);
  out.push_back({name + " trained, step", step.step.value});
  out.push_back({name + " trained, bytes", step.memory.total().value});
  out.push_back({name + " served, latency", served.latency.value});
  out.push_back({name + " served, bytes", served.memory.total().value});
}

// The logarithms of another processor's C library may differ in their last bit, and so may the
// last of twelve digits: by one of it, at most.
constexpr double last_digit = 1e-11;

// What moved, largest first: scenario, before, after, by how much.
std::string differences(std::map<std::string, std::string> golden,
                        const std::vector<Prediction>& now) {
  struct Row {
    double change;
    std::vector<std::string> cells;
  };
  std::vector<Row> rows;
  const double always = std::numeric_limits<double>::infinity();
  for (const Prediction& p : now) {
    const auto found = golden.find(p.scenario);
    const std::string before = found == golden.end() ? "" : found->second;
    if (found != golden.end()) golden.erase(found);
    const std::string after = digits(p.value);
    if (before == after) continue;
    const double change =
        before.empty() ? always : p.value / std::strtod(before.c_str(), nullptr) - 1;
    if (std::abs(change) < last_digit) continue;
    char percent[32] = "new";
    if (!before.empty()) std::snprintf(percent, sizeof percent, "%+.3g %%", change * 100);
    rows.push_back({std::abs(change), {p.scenario, before, after, percent}});
  }
  for (const auto& [scenario, before] : golden) {
    rows.push_back({always, {scenario, before, "", "gone"}});
  }
  if (rows.empty()) return "";
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.change > b.change; });
  TextTable table;
  table.columns = {
      {"scenario"}, {"before", Align::right}, {"after", Align::right}, {"change", Align::right}};
  constexpr std::size_t most = 60;
  for (const Row& r : rows) {
    if (table.rows.size() < most) table.rows.push_back(r.cells);
  }
  const std::string rest =
      rows.size() > most ? "and " + std::to_string(rows.size() - most) + " smaller ones\n" : "";
  return std::to_string(rows.size()) + " of " + std::to_string(now.size()) +
         " predictions are not what they were\n\n" + render_text(table) + rest +
         "\nIf this is meant, SEXTANT_UPDATE_GOLDEN=1 build/tests/golden_test writes them anew: "
         "commit that with the change, and say why.";
}

// Compares with the file of that name, or writes it.
void compare(const std::string& file, const std::vector<Prediction>& now) {
  const std::string path = std::string(SEXTANT_SOURCE_DIR) + "/tests/golden/" + file;
  if (std::getenv("SEXTANT_UPDATE_GOLDEN") != nullptr) {
    std::string text;
    for (const Prediction& p : now) text += p.scenario + "\t" + digits(p.value) + "\n";
    write_file_atomically(path, text);
    GTEST_SKIP() << "the golden file was written anew: " << now.size() << " predictions";
  }
  const std::string changed = differences(read_golden(path), now);
  if (!changed.empty()) ADD_FAILURE() << file << ": " << changed;
}

TEST(Golden, AnotherProcessorMayRoundTheLastDigit) {
  EXPECT_EQ(differences({{"a", "0.618885044981"}}, {{"a", 0.6188850449804}}), "");
  EXPECT_NE(differences({{"a", "0.618885044981"}}, {{"a", 0.618885044961}}), "");
}

TEST(Golden, AChangeReadsAsATable) {
  const std::string text =
      differences({{"a", "2"}, {"b", "1"}, {"old", "3"}}, {{"a", 2}, {"b", 1.1}, {"new", 4}});
  EXPECT_NE(text.find("3 of 3 predictions"), std::string::npos) << text;
  EXPECT_NE(text.find("+10 %"), std::string::npos) << text;
  EXPECT_NE(text.find("gone"), std::string::npos) << text;
  EXPECT_EQ(differences({{"a", "2"}}, {{"a", 2}}), "");
}

TEST(Golden, KernelsAreWhatTheyWere) {
  std::vector<Prediction> now;
  for (const std::string& name : preset_names(PresetKind::device)) predict_device(name, now);
  for (const std::string& name : preset_names(PresetKind::system)) predict_system(name, now);
  compare("kernels.tsv", now);
}

TEST(Golden, TrainingStepsAreWhatTheyWere) {
  std::vector<Prediction> now;
  predict_steps(now);
  compare("train.tsv", now);
}

TEST(Golden, ServingIsWhatItWas) {
  std::vector<Prediction> now;
  predict_serving(now);
  compare("infer.tsv", now);
}

TEST(Golden, EveryModelIsWhatItWas) {
  std::vector<Prediction> now;
  Catalogue catalogue;
  for (const std::string& name : preset_names(PresetKind::model)) {
    predict_model(name, catalogue, now);
  }
  compare("models.tsv", now);
}

}  // namespace
}  // namespace sextant
