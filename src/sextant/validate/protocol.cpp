// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/protocol.hpp"

#include <algorithm>

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
  return p;
}

double weight_residency(const Protocol& protocol, Bytes weights, Bytes others, Bytes l2) {
  if (protocol.weight_copies <= 0) return 0;
  // All of it stays below half of L2, nothing above nine tenths: replacement is not perfect.
  const double share = (protocol.weight_copies * weights + others) / l2;
  return std::clamp((0.9 - share) / 0.4, 0.0, 1.0);
}

}  // namespace sextant
