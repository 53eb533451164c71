// SPDX-License-Identifier: Apache-2.0
#include "sextant/profile/losses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace sextant::profile {
namespace {

/// A kernel within this factor of the model's does what it can: the model is no surer.
constexpr double as_predicted = 1.05;
/// Losses smaller than this share of the time are not worth a line.
constexpr double least_share = 0.002;

/// Operators of one name and kind that take longer than they could.
struct Slow {
  Seconds measured;
  Seconds predicted;
  const OperatorGroup* worst = nullptr;
  Seconds lost() const { return measured - predicted; }
};

/// A multiply whose rows do not start at multiples of 16 bytes.
bool misaligned(const OperatorGroup& g) {
  const auto* m = std::get_if<Gemm>(&g.job.work);
  if (m == nullptr) return false;
  const double step = 16 / element_bytes(m->type);
  return std::fmod(m->n, step) != 0 || std::fmod(m->k, step) != 0 || std::fmod(m->m, step) != 0;
}

std::string advice_for_multiply(const OperatorGroup& g) {
  if (misaligned(g) && has(g.kernel, "align")) {
    return fmt::format(
        "{}: a size is no multiple of 8, so the fast kernels cannot load its rows; pad it (a "
        "vocabulary to a "
        "multiple of 64)",
        g.shape);
  }
  if (has(g.kernel, "sgemm") || has(g.kernel, "simt")) {
    return fmt::format(
        "{} runs without matrix units; cast to bf16, or torch.set_float32_matmul_precision('high')",
        g.shape);
  }
  return fmt::format(
      "{} furthest behind, in {}; try another layout of the weights, a larger batch, or "
      "max-autotune",
      g.shape, g.kernel.substr(0, g.kernel.find_first_of("<(")));
}

std::string advice_for_attention(const OperatorGroup& g) {
  const auto* w = std::get_if<AttentionWork>(&g.job.work);
  if (w != nullptr && w->masked) {
    return "a mask is given as a tensor, so that every score is computed: pass is_causal=True, or "
           "use flex_attention";
  }
  if (has(g.kernel, "flash") && !has(g.kernel, "cudnn")) {
    return "another kernel is faster for this shape: sdpa_kernel(SDPBackend.CUDNN_ATTENTION), or "
           "FlashAttention-3";
  }
  return fmt::format("{} in {}; try another backend with torch.nn.attention.sdpa_kernel", g.shape,
                     g.kernel.substr(0, 60));
}

std::string advice_for(const OperatorGroup& g) {
  switch (g.job.kind) {
    case Kind::multiply:
      return advice_for_multiply(g);
    case Kind::grouped_multiply:
      return "experts with few or unequal tokens leave cores idle: more tokens a step, or a "
             "balanced routing";
    case Kind::attention:
    case Kind::attention_backward:
      return advice_for_attention(g);
    case Kind::norm:
    case Kind::softmax:
      return "torch.compile, or a fused kernel (torch.nn.functional.rms_norm, a fused cross "
             "entropy), reads it once";
    case Kind::optimizer:
      return has(g.name, "_foreach_")
                 ? "one fused kernel reads everything once: AdamW(..., fused=True)"
                 : "fewer and larger parameters, or states of fewer bits";
    case Kind::copy:
      return "copies inside the device are layout changes: keep one layout (.contiguous() is where "
             "they come from)";
    default:
      break;
  }
  if (g.name.starts_with("triton_"))
    return "compiled with mode='max-autotune' its blocks may fit better";
  return fmt::format(
      "{}: strides or casts cost more than its bytes; torch.compile fuses it with its neighbours",
      g.shape);
}

std::string with_commas(int n) {
  std::string text = std::to_string(n);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

void add_waits(Profile& p) {
  const auto add = [&](Wait w, const std::string& what, const char* advice) {
    const Waited& x = p.waits[w];
    if (x.times > 0) p.losses.push_back({with_commas(x.times) + what, x.time, advice});
  };
  add(Wait::host, " launches host-bound",
      "CUDA graphs (torch.compile(mode='reduce-overhead')), fewer and larger operators, a larger "
      "batch");
  add(Wait::synchronisation, " synchronisations",
      "drop .item(), .cpu(), printing of losses and masks made on the host from the loop");
  add(Wait::copy, " copies from or to the host with nothing beside them",
      "pin the memory and copy early: DataLoader(pin_memory=True), tensor.to(device, "
      "non_blocking=True)");
  add(Wait::dependency, " waits for other streams or devices",
      "work on another stream or another rank comes late; look at what runs there");
  add(Wait::launch, " steps from kernel to kernel",
      "fewer kernels: torch.compile fuses those that only stream");
  add(Wait::profiler, " pauses by the profiler itself",
      "not there without it; read the other lines");
  if (p.exposed_communication.value > 0) {
    p.losses.push_back(
        {"communication that nothing hides", p.exposed_communication,
         "more work a message, overlap with the backward pass, or fewer ranks a group"});
  }
}

}  // namespace

void find_losses(Profile& p) {
  std::map<std::pair<Kind, std::string>, Slow> slow;
  for (const OperatorGroup& g : p.groups) {
    if (!g.predicted || g.measured < as_predicted * *g.predicted) continue;
    Slow& s = slow[{g.job.kind, g.name}];
    s.measured += g.measured;
    s.predicted += *g.predicted;
    if (s.worst == nullptr || g.measured - *g.predicted > s.worst->measured - *s.worst->predicted)
      s.worst = &g;
  }
  for (const auto& [what, s] : slow) {
    p.losses.push_back({fmt::format("{} ({}) {:.1f} x attainable", name_of(what.first),
                                    what.second.substr(0, 80), s.measured / s.predicted),
                        s.lost(), advice_for(*s.worst)});
  }
  add_waits(p);
  const Seconds least = least_share * p.measured;
  p.losses.erase(std::remove_if(p.losses.begin(), p.losses.end(),
                                [&](const Loss& l) { return l.time < least; }),
                 p.losses.end());
  std::stable_sort(p.losses.begin(), p.losses.end(),
                   [](const Loss& a, const Loss& b) { return a.time > b.time; });
}

}  // namespace sextant::profile
