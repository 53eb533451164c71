// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/protocol.hpp"

#include <algorithm>

#include "sextant/units/parse.hpp"

namespace sextant {

Protocol protocol_of(std::string_view kind, std::string_view source) {
  Protocol p;
  // ai-dynamo/aiconfigurator collects GEMMs with six copies of the weights in one CUDA graph. Its
  // long multiplies run no slower than its short ones (A100: 250 TFLOP/s from 0.5 to 500 ms), so
  // the power controller hardly sees them; its long attention kernels do slow down.
  if (kind == "gemm" && source.find("aiconfigurator") != std::string_view::npos) {
    p.weight_copies = 6;
    p.repeats = 1;
  }
  // PyTorch's backward pass runs through autograd: no backward row of that set, however small, took
  // less than 0.16 ms.
  if (source.find("SDPA") != std::string_view::npos) p.host_backward = Seconds(0.2e-3);
  // tools/measure.py replays for 30 ms and more, right after the shape before.
  if (source.find("tools/measure.py") != std::string_view::npos) p.busy = Seconds(0.05);
  // nccl-tests as most people run it, without graphs: 8 H200 from 64 KiB to 32 MiB took 12 to 19 us
  // longer than the same NCCL inside a graph.
  if (kind == "collective" && source.find("stas00") != std::string_view::npos) {
    p.eager = Seconds(18e-6);
  }
  // TensorRT-LLM 0.6.1 heads its A100 table "out tok/s/GPU"; those rows were taken over as they are
  // (times the devices they agree with the release before and after, as they stand with neither).
  if (kind == "infer" && source.find("f7eca5616") != std::string_view::npos &&
      source.find("A100 GPUs") != std::string_view::npos) {
    p.per_device = true;
  }
  // LMDeploy's benchmark reports percentiles of single tokens; the 50th is a step without prompts.
  if (kind == "infer" && source.find("LMDeploy") != std::string_view::npos) p.median_token = true;
  return p;
}

std::string_view measured_system(std::string_view system, std::string_view source) {
  // Its L40S node moves a ring at 20 GB/s in a pair, 5 across host bridges and 1.5 across sockets.
  const bool database = source.find("aiconfigurator") != std::string_view::npos;
  return database && system == "l40s-pcie" ? "l40s-pcie-hosts" : system;
}

Adapters adapters_of(std::string_view network, std::string_view system) {
  Adapters a;
  // Vidur does not state the network of its A100 nodes. Point to point it gives 7.8 GB/s, in a ring
  // of two 5.8 GB/s each way, 4 ranks a node four times that and 8 no more: four adapters of
  // about 100 Gb/s behind host memory, which both directions share. Its H100 nodes are as the
  // preset.
  if (network.find("Vidur") != std::string_view::npos) {
    if (system.starts_with("dgx-a100")) a = {4, BytesPerSecond(11.2e9), 0.55};
    return a;
  }
  // COUNTxRATEGb/s
  const std::size_t times = network.find('x');
  const std::size_t unit = network.find("Gb/s");
  if (times == std::string_view::npos || unit == std::string_view::npos || times + 1 >= unit) {
    return a;
  }
  std::size_t first = times;
  while (first > 0 && network[first - 1] >= '0' && network[first - 1] <= '9') --first;
  const auto count = parse_number(network.substr(first, times - first));
  const auto gigabits = parse_number(network.substr(times + 1, unit - times - 1));
  if (count && gigabits && *count >= 1 && *count <= 1e4 && *gigabits > 0 && *gigabits <= 1e6) {
    a.count = static_cast<int>(*count);
    a.rate = BytesPerSecond(*gigabits * 1e9 / 8);
  }
  return a;
}

double weight_residency(const Protocol& protocol, Bytes weights, Bytes others, Bytes l2) {
  if (protocol.weight_copies <= 0) return 0;
  // All of it stays below half of L2, nothing above nine tenths: replacement is not perfect.
  const double share = (protocol.weight_copies * weights + others) / l2;
  return std::clamp((0.9 - share) / 0.4, 0.0, 1.0);
}

}  // namespace sextant
