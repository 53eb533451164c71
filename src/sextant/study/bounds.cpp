// SPDX-License-Identifier: Apache-2.0
// What bounds each matrix multiply of a layer of Llama 2 13B: the roofline's answer from useful
// work and least traffic, and the kernel model's (Kundu et al., IISWC 2024, section on GEMM
// bounds).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sextant/io/presets.hpp"
#include "sextant/study/study.hpp"
#include "sextant/units/format.hpp"
#include "sextant/validate/validate.hpp"

namespace sextant::study {
namespace {

constexpr std::array<const char*, 4> bounded_devices = {"a100-sxm-80gb", "h100-sxm", "h200-sxm",
                                                        "b200"};
constexpr double prompt = 200;
constexpr double decode_context = 300;  // halfway through 200 tokens of output

struct Multiply {
  const char* name;
  Gemm shape;
  bool large = false;  ///< has weights
};

std::vector<Multiply> multiplies(const Model& m, bool prefill, double batch) {
  const double queries = prefill ? prompt : 1;
  const double context = prefill ? prompt : decode_context;
  const double tokens = batch * queries;
  const Attention& a = m.attention;
  const double h = m.hidden;
  const double heads = batch * a.heads;
  const double qkv = (a.heads + 2.0 * a.kv_heads) * a.head_dim;
  const double up = (gated(m.mlp) ? 2.0 : 1.0) * m.ffn;
  const auto gemm = [](double rows, double n, double k, double times = 1) {
    return Gemm{.m = rows, .n = n, .k = k, .batch = times};
  };
  return {{"QKV", gemm(tokens, qkv, h), true},
          {"QKᵀ", gemm(queries, context, a.head_dim, heads)},
          {"softmax·V", gemm(queries, a.head_dim, context, heads)},
          {"output", gemm(tokens, h, static_cast<double>(a.heads) * a.head_dim), true},
          {"MLP up", gemm(tokens, up, h), true},
          {"MLP down", gemm(tokens, h, m.ffn), true}};
}

struct BoundRow {
  std::string device;
  FlopsPerByte ridge;
  FlopsPerSecond peak;
  bool prefill = true;
  int batch = 1;
  Multiply multiply;
  KernelCost cost;
  FlopsPerByte intensity;  ///< useful FLOPs over the least traffic
  double share = 0;        ///< of the six
  bool compute_bound() const { return intensity >= ridge; }
  const char* bound() const { return compute_bound() ? "compute" : "DRAM"; }
  bool first() const { return multiply.name == std::string_view("QKV"); }
  const char* phase() const { return prefill ? "prefill" : "decode"; }
  std::string shape() const {
    const Gemm& g = multiply.shape;
    const std::string one = fmt::format("{} x {} x {}", g.m, g.n, g.k);
    return g.batch > 1 ? fmt::format("{} of {}", g.batch, one) : one;
  }
};

FlopsPerByte least_traffic_intensity(const Gemm& g) {
  const Flops work(2 * g.m * g.n * g.k);
  const double element = element_bytes(g.type);
  return work / Bytes(element * (g.m * g.k + g.n * g.k) + g.result_bytes * g.m * g.n);
}

std::vector<BoundRow> bound_rows() {
  Catalogue catalogue;
  std::string reason;
  const Model model = load_model("llama2-13b");
  std::vector<BoundRow> rows;
  for (const char* name : bounded_devices) {
    const Device device = load_device(name);
    const Chip chip = lower(device);
    const Kernels* kernels = catalogue.kernels("pytorch", device, reason);
    if (kernels == nullptr) throw InputError(reason);
    const FlopsPerSecond peak = device.matrix[Precision::bf16];
    for (const bool prefill : {true, false}) {
      for (const int batch : {1, 16}) {
        const std::size_t first = rows.size();
        Seconds whole;
        for (const Multiply& m : multiplies(model, prefill, batch)) {
          BoundRow r{.device = name,
                     .ridge = peak / device.memory.bandwidth,
                     .peak = peak,
                     .prefill = prefill,
                     .batch = batch,
                     .multiply = m};
          r.cost = evaluate_kernel(GemmCase{.shape = m.shape}, chip, *kernels, {});
          r.intensity = least_traffic_intensity(m.shape);
          whole += r.cost.time;
          rows.push_back(std::move(r));
        }
        for (std::size_t i = first; i < rows.size(); ++i) {
          rows[i].share = rows[i].cost.time / whole;
        }
      }
    }
  }
  return rows;
}

void describe_bound(Record& r, const BoundRow& x) {
  const Gemm& g = x.multiply.shape;
  r("device", once(x.first(), x.device), "device");
  r("phase", once(x.first(), x.phase()), "phase");
  r("batch", once(x.first(), x.batch), "batch");
  r("multiply", x.multiply.name, "multiply");
  r("", x.shape(), "m x n x k");
  r("m", g.m);
  r("n", g.n);
  r("k", g.k);
  r("count", g.batch);
  r("seconds", x.cost.time, "time");
  r("share", percent(x.share), "share");
  r("flops", 2 * g.m * g.n * g.k * g.batch);
  r("intensity", fixed(x.intensity.value, x.intensity.value < 100 ? 1 : 0), "FLOP/B");
  r("ridge", fixed(x.ridge.value, 0), "ridge");
  r("bound", x.cost.bound, "bound");
  r("roofline_bound", said(x.compute_bound() ? "compute" : "dram", x.bound()), "roofline");
}

plot::Figure figure_of(const std::vector<BoundRow>& rows) {
  plot::Figure f;
  f.title = "Matrix multiplies of Llama 2 13B under the roofline of each device";
  f.width = 620;
  f.height = 420;
  f.x.label = "intensity over the ridge";
  f.x.log = true;
  f.y.label = "rate over the peak";
  f.y.log = true;
  double least = 1;
  double most = 1;
  for (const char* device : bounded_devices) {
    plot::Series s{.name = device, .mark = plot::Mark::dots};
    for (const BoundRow& r : rows) {
      if (r.device != device) continue;
      const Gemm& g = r.multiply.shape;
      const double x = r.intensity / r.ridge;
      const double y = Flops(2 * g.m * g.n * g.k * g.batch) / r.cost.time / r.peak;
      least = std::min(least, x);
      most = std::max(most, x);
      s.points.push_back({x, y,
                          fmt::format("{}, {} of batch {}: {}", r.multiply.name, r.phase(), r.batch,
                                      format(r.cost.time))});
    }
    f.series.push_back(std::move(s));
  }
  f.series.push_back({.name = "roofline",
                      .mark = plot::Mark::line,
                      .points = {{least / 2, least / 2, ""}, {1, 1, ""}, {most * 2, 1, ""}}});
  return f;
}

// "h100-sxm dram 3 of 4, launch 1 of 4": what the kernels of the chosen rows wait for, by device.
template <class Chosen>
std::string waits_for(const std::vector<BoundRow>& rows, const Chosen& chosen) {
  std::string text;
  for (const char* device : bounded_devices) {
    Table<int, Bound> count;
    int all = 0;
    for (const BoundRow& r : rows) {
      if (r.device != device || !chosen(r)) continue;
      ++count[r.cost.bound];
      ++all;
    }
    std::string bounds;
    for (std::size_t i = 0; i < count.size; ++i) {
      if (count.values[i] == 0) continue;
      bounds +=
          fmt::format("{}{} {}", bounds.empty() ? "" : ", ", names_of(Bound{})[i], count.values[i]);
    }
    text += fmt::format("{}{} {} (of {})", text.empty() ? "" : "; ", device, bounds, all);
  }
  return text;
}

// "a100-sxm-80gb (ridge 153)" of every device where all chosen rows have that bound.
template <class Chosen>
std::string devices_where(const std::vector<BoundRow>& rows, bool compute, const Chosen& chosen) {
  std::string text;
  for (const char* device : bounded_devices) {
    bool all = true;
    double ridge = 0;
    for (const BoundRow& r : rows) {
      if (r.device != device || !chosen(r)) continue;
      all = all && r.compute_bound() == compute;
      ridge = r.ridge.value;
    }
    if (all) text += fmt::format("{}{} (ridge {:.0f})", text.empty() ? "" : ", ", device, ridge);
  }
  return text.empty() ? "none" : text;
}

constexpr std::string_view legend =
    "Bound: what the model's kernel waits for longest, with tiles, waves, L2 and launch. Roofline: "
    "useful FLOPs over the least bytes at 16 bits, against peak over DRAM bandwidth. Fused "
    "attention keeps the scores on the chip and needs neither product's traffic for them.";

std::vector<std::string> findings_of(const std::vector<BoundRow>& rows) {
  const auto prompt_of = [](int batch) {
    return [=](const BoundRow& r) { return r.prefill && r.batch == batch && r.multiply.large; };
  };
  const auto decode = [](const BoundRow& r) { return !r.prefill && r.multiply.large; };
  const auto attention = [](const BoundRow& r) { return !r.multiply.large; };
  double low = 1e9;
  double high = 0;
  int agree = 0;
  for (const BoundRow& r : rows) {
    agree += (r.cost.bound == Bound::compute) == r.compute_bound() ? 1 : 0;
    if (!prompt_of(1)(r)) continue;
    low = std::min(low, r.intensity.value);
    high = std::max(high, r.intensity.value);
  }
  return {
      "Multiplies with weights, prefill of 200 tokens, batch 1, wait for: " +
          waits_for(rows, prompt_of(1)) + ".",
      "Prefill, batch 16: " + waits_for(rows, prompt_of(16)) + ".",
      "Decode: " + waits_for(rows, decode) + ".",
      "Attention's products as multiplies of their own: " + waits_for(rows, attention) + ".",
      fmt::format("The textbook's roofline says of the first, at {:.0f} to {:.0f} FLOP/B: "
                  "compute-bound {}; DRAM-bound {}. With batch 16 compute-bound again: {}. Whether "
                  "a multiply waits for arithmetic it says as the model does in {} of {} cases.",
                  low, high, devices_where(rows, true, prompt_of(1)),
                  devices_where(rows, false, prompt_of(1)),
                  devices_where(rows, true, prompt_of(16)), agree, rows.size()),
      std::string(legend),
      fmt::format("Decode at a context of {:.0f}: halfway through 200 tokens in, 200 out.",
                  decode_context)};
}

}  // namespace

Study gemm_bounds() {
  const std::vector<BoundRow> rows = bound_rows();
  return {.title = "What bounds the matrix multiplies of a layer of Llama 2 13B",
          .rows = records_of(rows, describe_bound, [](const BoundRow& x) { return x.first(); }),
          .figure = figure_of(rows),
          .findings = findings_of(rows)};
}

}  // namespace sextant::study
