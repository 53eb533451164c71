// SPDX-License-Identifier: Apache-2.0
#include "sextant/options/meant.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "sextant/spec/diagnostic.hpp"

namespace sextant {
namespace {

/// Words for one thing, ours and those of other tools (vLLM, SGLang, Megatron-LM, FSDP, GenAI-Perf,
/// torchrun), and the letter that people abbreviate it with. Where a command has several of them,
/// the first.
constexpr std::array<std::string_view, 31> words = {
    " model m model-name model-path ",
    " system s sys device hardware cluster machine ",
    " device system gpu hardware ",
    " runtime r engine framework backend ",
    " gpus g n devices num-gpus world-size nodes num-nodes nnodes ranks ",
    " precision dtype p quantization quant data-type ",
    " kv-precision kv-dtype kv-cache-dtype ",
    " tp tensor-parallel tensor-parallel-size tensor-model-parallel-size ",
    " pp pipeline-parallel pipeline-parallel-size pipeline-model-parallel-size ",
    " dp data-parallel data-parallel-size ",
    " ep expert-parallel expert-parallel-size expert-model-parallel-size ",
    " cp context-parallel context-parallel-size ",
    " batch b batch-size global-batch-size gbs max-batch-size max-num-seqs ",
    " microbatch micro-batch micro-batch-size mbs ",
    " seq seq-len seq-length seqlen sequence-length max-model-len ",
    " input input-len input-length input-tokens isl prompt prompt-len seq seq-len ",
    " output output-len output-length output-tokens osl max-tokens max-new-tokens ",
    " rate qps rps request-rate ",
    " format f json csv html ",
    " zero fsdp zero-stage sharding sharding-strategy distributed-optimizer "
    "use-distributed-optimizer ",
    " recompute activation-checkpointing gradient-checkpointing recompute-granularity remat ",
    " interleave vpp vp virtual-pipeline virtual-pipeline-model-parallel-size ",
    " etp expert-tensor-parallel expert-tensor-parallel-size ",
    " sp sequence-parallel ",
    " concurrency users clients max-concurrency ",
    " requests num-prompts num-requests request-count ",
    " chunk token-budget max-num-batched-tokens chunked-prefill-size max-num-tokens ",
    " max-requests max-num-seqs max-running-requests max-batch-size ",
    " memory-fraction gpu-memory-utilization mem-fraction-static free-gpu-memory-fraction ",
    " infer inference serve serving ",
    " explain breakdown details verbose operators "};

std::string bare(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string hint(const std::string& name) { return "did you mean '" + name + "'?"; }

}  // namespace

std::string option_meant(std::string_view given, const std::vector<std::string>& names) {
  const std::string word = bare(given);
  const auto find = [&](auto matches) {
    return std::find_if(names.begin(), names.end(),
                        [&](const std::string& n) { return matches(bare(n)); });
  };
  if (const auto same = find([&](const std::string& n) { return n == word; });
      same != names.end()) {
    return hint(*same);
  }
  for (std::string_view group : words) {
    if (word.find(' ') != std::string::npos || group.find(" " + word + " ") == group.npos) continue;
    while (group.size() > 1) {
      group.remove_prefix(1);
      const std::string_view one = group.substr(0, group.find(' '));
      group.remove_prefix(one.size());
      const auto at = find([&](const std::string& n) { return n == one; });
      if (one.size() > 1 && at != names.end()) return hint(*at);
    }
  }
  if (word.size() != 1) return did_you_mean(given, names);
  // Of a letter nothing else is near: any other letter is as far away.
  const auto begun = find([&](const std::string& n) { return n.size() > 1 && n[0] == word[0]; });
  return begun == names.end() ? "" : hint(*begun);
}

}  // namespace sextant
