// SPDX-License-Identifier: Apache-2.0
// Real devices from budgets like theirs: what is given, what comes out, and how fast both would be.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/io/presets.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/predict/train.hpp"
#include "sextant/study/problems.hpp"
#include "sextant/study/study.hpp"
#include "sextant/units/format.hpp"

namespace sextant::study {
namespace {

constexpr double mib = 1024.0 * 1024;
constexpr double square_mm = 1e-6;

/// What is given. Zeros are predicted.
struct Regenerated {
  const char* device;
  const char* system;  ///< around it, for the predictions
  TechnologyNames names;
  Budget budget;
  /// Area and transistors of its core and headroom of its power were found on this device.
  bool closes = false;
  const char* base = nullptr;  ///< node of base dies: four of 370 mm2
  double part = 0;             ///< GB/s of a part of memory, where its bin is given
};

Budget die(double area, int stacks, int links, double l2_mib = 0) {
  return {.area = SquareMeters(area * square_mm),
          .stacks = stacks,
          .links = links,
          .l2 = Bytes(l2_mib * mib)};
}
Budget with(Budget b, int dies, int spare_stacks, double kept = 0, double watts = 0) {
  b.dies = dies;
  b.spare_stacks = spare_stacks;
  b.kept = kept;
  b.power = Watts(watts);
  return b;
}

std::vector<Regenerated> regenerated() {
  using Row = Regenerated;
  using On = TechnologyNames;
  return {
      Row{"v100", "v100-node", On{"n12", "hbm2", "nvlink3", "volta"}, die(815, 4, 6, 6), true},
      Row{"a100-sxm-40gb", "dgx-a100-40gb", On{"n7", "hbm2", "nvlink3", "ampere"},
          with(die(826, 5, 12), 1, 1), false, nullptr, 311},
      Row{"a100-sxm-80gb", "dgx-a100", On{"n7", "hbm2e", "nvlink3", "ampere"},
          with(die(826, 5, 12), 1, 1), true},
      Row{"h100-sxm", "dgx-h100", On{"n4", "hbm3", "nvlink4", "hopper"},
          with(die(814, 5, 18), 1, 1), true},
      Row{"h100-pcie", "h100-pcie-node", On{"n4", "hbm2e", "nvlink4", "hopper"},
          with(die(814, 5, 12), 1, 1, 114.0 / 144, 350)},
      Row{"h200-sxm", "dgx-h200", On{"n4", "hbm3e", "nvlink4", "hopper"}, die(814, 6, 18), false,
          nullptr, 800},
      Row{"b200", "dgx-b200", On{"n4", "hbm3e", "nvlink5", "blackwell"},
          with(die(800, 8, 18, 126), 2, 0), true},
      Row{"gb200", "gb200-nvl72", On{"n4", "hbm3e", "nvlink5", "blackwell"},
          with(die(800, 8, 18, 126), 2, 0, 0, 1200)},
      Row{"l40s", "l40s-pcie", On{"n4", "gddr6", "nvlink3", "ada"}, die(609, 12, 0, 96), true,
          nullptr, 72},
      Row{"mi250x", "mi250x-node", On{"n6", "hbm2e", "nvlink4", "cdna2"},
          with(die(724, 8, 16, 16), 2, 0), true},
      Row{"mi300x", "mi300x-node", On{"n5", "hbm3", "nvlink4", "cdna3"},
          with(die(115, 8, 16, 256), 8, 0), true, "n6"},
      Row{"tpu-v4", "tpu-v4-node", On{"n7", "hbm2", "nvlink4", "mxu"}, die(600, 4, 12, 128), true,
          nullptr, 300},
  };
}

struct RegeneratedRow {
  Regenerated subject;
  Device real;
  Blueprint made;
  SquareMeters area;    ///< that the real number of cores would take
  double training = 0;  ///< predicted time, generated over real
  double decode = 0;
};

Technology technology_of(const Regenerated& s) {
  Technology t = load_technology(s.names);
  if (s.part > 0) t.memory.bandwidth = BytesPerSecond(s.part * 1e9);
  if (s.base != nullptr) {
    t.chiplets.push_back({.node = load_node(s.base), .area = SquareMeters(370e-6), .count = 4});
  }
  return t;
}

FlopsPerSecond peak_of_16_bits(const Device& d) {
  return max(d.matrix[Precision::bf16], d.matrix[Precision::fp16]);
}

/// Seconds of one step of a 2.7B GPT on eight devices and of 200 + 200 tokens of Llama 2 7B on one.
/// Kernel constants are those of the real device on both sides: software's.
struct Times {
  double training = 0;
  double decode = 0;
};
Times times_on(const Regenerated& x, const Device& device, const Device& real) {
  System s = load_system(x.system);
  s.device = device;
  s.device.mechanism = real.mechanism;
  s.device.memory.capacity = Bytes(141e9);  // capacity is not the question
  Problem p = problem_of(s, "megatron-core", load_model("gpt-2.7b"), {.batch = 64, .seq = 2048});
  Strategy t;
  t.dp = std::min(8, s.max_devices);
  t.zero = 1;
  t.precision = real.matrix[Precision::bf16].value > 0 ? Precision::bf16 : Precision::fp16;
  Strategy one;
  one.precision = t.precision;
  Problem q = problem_of(s, "trtllm", load_model("llama2-7b"), {});
  q.serving = {.batch = 8, .input = 200, .output = 200};
  return {evaluate(p, t).step.value, serve(q, one).latency.value};
}

RegeneratedRow regenerate(const Regenerated& x) {
  const Technology t = technology_of(x);
  RegeneratedRow r{
      .subject = x, .real = load_device(x.device), .made = generate(t, x.budget), .area = {}};
  const double kept = x.budget.kept > 0 ? x.budget.kept : t.core.kept;
  const double more = r.real.cores / kept - r.made.cores_on_die;
  const SquareMeters crossbar = r.made.area[AreaUse::crossbar] / r.made.cores_on_die;
  const SquareMeters spare = t.chiplets.empty() ? r.made.area[AreaUse::unused] : SquareMeters(0);
  r.area = r.made.device.die.area - spare + more * (r.made.core_area + crossbar);
  const Times made = times_on(x, r.made.device, r.real);
  const Times real = times_on(x, r.real, r.real);
  r.training = made.training / real.training;
  r.decode = made.decode / real.decode;
  return r;
}

/// "1.03", and in brackets where it was given or found on this device.
std::string ratio_text(double ratio, bool given) {
  return given ? fmt::format("({:.2f})", ratio) : fmt::format("{:.2f}", ratio);
}

double over(double made, double real) { return real > 0 ? made / real : 0; }

void describe_regenerated(Record& r, const RegeneratedRow& x) {
  const Device& a = x.made.device;
  const Device& b = x.real;
  const Regenerated& s = x.subject;
  const auto column = [&](const char* name, const char* title, double ratio, bool given) {
    r(name, only_if(ratio > 0, ratio));
    r("", only_if(ratio > 0, ratio_text(ratio, given)), title);
  };
  r("device", s.device, "device");
  r("node", s.names.node);
  r("dram", s.names.dram);
  r("dies", s.budget.dies);
  r("",
    fmt::format("{} {} x {}{}, {} x {}, {} links", s.names.node, s.budget.dies,
                format(s.budget.area), s.base != nullptr ? " on 4 x 370 mm2" : "", s.budget.stacks,
                s.names.dram, s.budget.links),
    "given");
  r("closes", s.closes);
  r("l2_given", s.budget.l2.value > 0);
  r("memory_given", s.part > 0);
  r("power_given", s.budget.power.value > 0);
  column("cores", "cores", over(a.cores, b.cores), s.closes);
  column("peak", "16-bit peak", over(peak_of_16_bits(a).value, peak_of_16_bits(b).value), false);
  column("bandwidth", "bandwidth", over(a.memory.bandwidth.value, b.memory.bandwidth.value),
         s.part > 0);
  column("l2", "L2", over(a.l2.capacity.value, b.l2.capacity.value), s.budget.l2.value > 0);
  column("power", "power", over(a.power.limit.value, b.power.limit.value),
         s.closes || s.budget.power.value > 0);
  column("area", "area", over(x.area.value, a.die.area.value), s.closes);
  column("transistors", "transistors", over(a.die.transistors, b.die.transistors), s.closes);
  column("training", "training time", x.training, false);
  column("decode", "decode time", x.decode, false);
}

std::vector<std::string> findings_of(const std::vector<RegeneratedRow>& rows) {
  std::string outside;
  const auto note = [&](const RegeneratedRow& x, const char* what, double ratio, double within,
                        bool given) {
    if (given || ratio <= 0 || std::abs(ratio - 1) <= within) return;
    outside +=
        fmt::format("{}{} {} {:.2f}", outside.empty() ? "" : ", ", x.subject.device, what, ratio);
  };
  for (const RegeneratedRow& x : rows) {
    const Device& a = x.made.device;
    const Device& b = x.real;
    const Regenerated& s = x.subject;
    note(x, "peak", over(peak_of_16_bits(a).value, peak_of_16_bits(b).value), 0.15, false);
    note(x, "bandwidth", over(a.memory.bandwidth.value, b.memory.bandwidth.value), 0.15,
         s.part > 0);
    note(x, "L2", over(a.l2.capacity.value, b.l2.capacity.value), 0.15, s.budget.l2.value > 0);
    note(x, "power", over(a.power.limit.value, b.power.limit.value), 0.15,
         s.closes || s.budget.power.value > 0);
    note(x, "area", over(x.area.value, a.die.area.value), 0.15, s.closes);
    note(x, "transistors", over(a.die.transistors, b.die.transistors), 0.15, s.closes);
    note(x, "training", x.training, 0.1, false);
    note(x, "decode", x.decode, 0.1, false);
  }
  return {
      "Generated over real. In brackets: given, or found by closure on this very device (area and "
      "transistors of its core, and how far above its limit it is sold), so that it checks the "
      "other blocks and nothing else. The clock and the energy of a core at its own node are given "
      "everywhere.",
      outside.empty() ? std::string("All predictions lie within 15 %, times within 10 %.")
                      : "Outside 15 % (times 10 %): " + outside + ".",
      "Area: what the real number of cores would take, over the real silicon. Memory runs as "
      "its preset, or in the bin that is given: A100 40 GB 311 GB/s a stack, H200 800 (its preset "
      "would give 1.25 of it), L40S 72 a chip, TPU v4 300. "
      "Training: a 2.7B GPT on eight; decode: 200 + 200 tokens of Llama 2 7B, batch 8, on one; "
      "with the real device's kernel constants on both sides."};
}

plot::Figure figure_of(const std::vector<RegeneratedRow>& rows) {
  plot::Figure f;
  f.title = "Devices from their budgets, generated over real";
  f.width = 760;
  f.height = 360;
  f.y.label = "generated over real";
  plot::Series peak{.name = "16-bit peak", .mark = plot::Mark::dots};
  plot::Series power{.name = "power", .mark = plot::Mark::dots};
  plot::Series training{.name = "training time", .mark = plot::Mark::dots};
  plot::Series decode{.name = "decode time", .mark = plot::Mark::dots};
  plot::Series one{.name = "real", .mark = plot::Mark::dashed_line, .colour = 6};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RegeneratedRow& r = rows[i];
    const auto x = static_cast<double>(i);
    f.x.names.emplace_back(r.subject.device);
    const auto add = [&](plot::Series& s, double y) {
      s.points.push_back({x, y, fmt::format("{}, {}: {:.2f}", r.subject.device, s.name, y)});
    };
    add(peak, peak_of_16_bits(r.made.device) / peak_of_16_bits(r.real));
    add(power, r.made.device.power.limit / r.real.power.limit);
    add(training, r.training);
    add(decode, r.decode);
    one.points.push_back({x, 1, ""});
  }
  f.series = {peak, power, training, decode, one};
  return f;
}

}  // namespace

Study regeneration() {
  std::vector<RegeneratedRow> rows;
  for (const Regenerated& s : regenerated()) rows.push_back(regenerate(s));
  return {.title = "Real devices from budgets like theirs",
          .rows = records_of(rows, describe_regenerated),
          .figure = figure_of(rows),
          .findings = findings_of(rows)};
}

}  // namespace sextant::study
