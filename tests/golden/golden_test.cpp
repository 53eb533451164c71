// SPDX-License-Identifier: Apache-2.0
// Predictions for every device, kept to twelve digits: a change of the model shows as a readable
// diff, and belongs into the commit that means it. SEXTANT_UPDATE_GOLDEN=1 rewrites the file.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "sextant/cost/collective.hpp"
#include "sextant/io/files.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/validate/validate.hpp"

namespace sextant {
namespace {

struct Prediction {
  std::string scenario;
  double seconds;
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
  const int node = system.devices_per_node;
  const int most = std::min(system.max_devices, 4 * node);
  for (const int ranks : {node, most}) {
    for (const Collective op : {Collective::all_reduce, Collective::all_to_all}) {
      const CollectiveCost c =
          collective(network, CollectiveKernels{}, op, {ranks, std::min(ranks, node)}, Bytes(32e6),
                     CollectiveLibrary::nccl);
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

TEST(Golden, PredictionsAreWhatTheyWere) {
  const std::string path = std::string(SEXTANT_SOURCE_DIR) + "/tests/golden/kernels.tsv";
  std::vector<Prediction> now;
  for (const std::string& name : preset_names(PresetKind::device)) predict_device(name, now);
  for (const std::string& name : preset_names(PresetKind::system)) predict_system(name, now);
  if (std::getenv("SEXTANT_UPDATE_GOLDEN") != nullptr) {
    std::string text;
    for (const Prediction& p : now) text += p.scenario + "\t" + digits(p.seconds) + "\n";
    write_file_atomically(path, text);
    GTEST_SKIP() << "the golden file was written anew: " << now.size() << " predictions";
  }
  const std::map<std::string, std::string> golden = read_golden(path);
  EXPECT_EQ(golden.size(), now.size());
  for (const Prediction& p : now) {
    const auto found = golden.find(p.scenario);
    if (found == golden.end()) {
      ADD_FAILURE() << p.scenario << ": new, " << digits(p.seconds) << " s";
      continue;
    }
    if (found->second == digits(p.seconds)) continue;
    const double before = std::strtod(found->second.c_str(), nullptr);
    ADD_FAILURE() << p.scenario << ": " << found->second << " s before, " << digits(p.seconds)
                  << " s now, " << (p.seconds / before - 1) * 100 << " %";
  }
}

}  // namespace
}  // namespace sextant
