// SPDX-License-Identifier: Apache-2.0
// Latency of Llama 2 on an A100-class die as its memory gets faster (Kundu et al., IISWC 2024):
// where the gain ends, and what moves that point.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>

#include "sextant/io/presets.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/study/limits.hpp"
#include "sextant/study/problems.hpp"
#include "sextant/study/study.hpp"
#include "sextant/units/format.hpp"

namespace sextant::study {
namespace {

struct MemoryPoint {
  const char* name;
  double terabytes;
};
// The totals of the paper; beyond them six stacks each of what is announced.
constexpr std::array<MemoryPoint, 8> memories = {{{"GDDR6", 0.6},
                                                  {"HBM2", 1.0},
                                                  {"HBM2E", 1.9},
                                                  {"HBM3", 2.6},
                                                  {"HBM3E", 4.8},
                                                  {"HBM4", 6.8},
                                                  {"HBM4, six stacks", 12},
                                                  {"HBM5, six stacks", 24}}};

struct LatencyLine {
  const char* model;
  int devices = 1;
  int nvlink = 3;
};
constexpr std::array<LatencyLine, 7> latency_lines = {{{"llama2-13b", 1, 3},
                                                       {"llama2-13b", 2, 3},
                                                       {"llama2-13b", 2, 4},
                                                       {"llama2-13b", 8, 3},
                                                       {"llama2-13b", 8, 4},
                                                       {"llama2-70b", 8, 3},
                                                       {"llama2-70b", 8, 4}}};

using Change = std::function<void(System&)>;

struct Scene {
  Problem problem;
  Strategy strategy;
};
Scene scene_of(const LatencyLine& line, BytesPerSecond bandwidth, const Change& change = {}) {
  static const System base = load_system("dgx-a100");
  System s = base;
  s.device.memory.bandwidth = bandwidth;
  s.device.memory.capacity = Bytes(141e9);  // capacity is not the question
  if (line.nvlink == 4) {
    const LinkPart link = load_link("nvlink4");
    s.fabrics.front().bandwidth = 18 * link.bandwidth;
    s.fabrics.front().latency = link.latency;
    s.fabrics.front().reduces_in_network = link.reduces_in_network;
  }
  if (change) change(s);
  Problem p = problem_of(s, "trtllm", load_model(line.model), {});
  p.serving = {.batch = 1, .input = 200, .output = 200};
  Strategy strategy;
  strategy.tp = line.devices;
  strategy.precision = Precision::fp16;
  return {std::move(p), strategy};
}

Seconds latency(const LatencyLine& line, BytesPerSecond bandwidth, const Change& change = {}) {
  const Scene x = scene_of(line, bandwidth, change);
  return serve(x.problem, x.strategy).latency;
}

/// Where twice the bandwidth no longer gives the square root of two: the slope of the latency over
/// the bandwidth, both as logarithms, is a half. Memory and all else then take the same time.
BytesPerSecond knee(const LatencyLine& line, const Change& change = {}) {
  const auto slope = [&](double x) {
    const double d = 0.05;
    const Seconds low = latency(line, BytesPerSecond(std::exp(x - d)), change);
    const Seconds high = latency(line, BytesPerSecond(std::exp(x + d)), change);
    return std::log(low / high) / (2 * d);
  };
  double low = std::log(0.2e12);
  double high = std::log(200e12);
  for (int i = 0; i < 18; ++i) {
    const double middle = 0.5 * (low + high);
    (slope(middle) > 0.5 ? low : high) = middle;
  }
  return BytesPerSecond(std::exp(0.5 * (low + high)));
}

std::string name_of(const LatencyLine& l) {
  return l.devices == 1 ? fmt::format("{}, 1 device", l.model)
                        : fmt::format("{}, {} devices, NVLink {}", l.model, l.devices, l.nvlink);
}

struct KneeRow {
  LatencyLine line;
  std::vector<Seconds> latencies;  ///< by memory
  BytesPerSecond knee;
};

struct Moved {
  const char* what;
  BytesPerSecond knee;
};
std::vector<Moved> moved_knees(const LatencyLine& l) {
  const auto half_start = [](System& s) { s.device.mechanism.start_cycles *= 0.5; };
  const auto more_l2 = [](System& s) {
    s.device.l2.capacity *= 4;
    s.device.l2.per_clock *= 2;
    s.device.mechanism.feed *= 2;  // the ends of the same wires, at the cores
  };
  const auto h100 = [](System& s) {
    const Memory memory = s.device.memory;
    s.device = load_device("h100-sxm");
    s.device.memory = memory;
  };
  return {{"kernels that start in half the time", knee(l, half_start)},
          {"an L2 of four times the size and twice the rate to the cores", knee(l, more_l2)},
          {"H100's die", knee(l, h100)}};
}

Records table(const std::vector<KneeRow>& rows) {
  return records_of(rows, [](Record& r, const KneeRow& x) {
    r("", name_of(x.line), "latency of 200 + 200 tokens, batch 1");
    for (std::size_t i = 0; i < x.latencies.size(); ++i) {
      r("", x.latencies[i], fmt::format("{} {} TB/s", memories[i].name, memories[i].terabytes));
    }
    r("", x.knee, "knee");
  });
}

Records records(const std::vector<KneeRow>& rows) {
  Records all;
  for (const KneeRow& x : rows) {
    for (std::size_t i = 0; i < memories.size(); ++i) {
      Record& r = all.rows.emplace_back();
      r("model", x.line.model);
      r("devices", x.line.devices);
      r("nvlink", x.line.nvlink);
      r("memory", memories[i].name);
      r("bytes_per_second", memories[i].terabytes * 1e12);
      r("latency_seconds", x.latencies[i]);
      r("knee_bytes_per_second", x.knee);
    }
  }
  return all;
}

plot::Figure figure_of(const std::vector<KneeRow>& rows) {
  plot::Figure f;
  f.title = "Llama 2 on an A100-class die: latency as memory gets faster";
  f.width = 620;
  f.height = 400;
  f.x = {.label = "memory bandwidth of a device",
         .dimension = Dimension{.time = -1, .data = 1},
         .log = true};
  f.y = {.label = "latency", .dimension = Dimension{.time = 1}, .log = true};
  plot::Series knees{.name = "knee", .mark = plot::Mark::dots, .colour = 6};
  int colour = -1;
  LatencyLine before{""};
  for (const KneeRow& r : rows) {
    // Links of one pair differ by the line, all else by the colour.
    const bool other =
        std::string_view(r.line.model) != before.model || r.line.devices != before.devices;
    colour += other ? 1 : 0;
    before = r.line;
    plot::Series s{.name = name_of(r.line),
                   .mark = r.line.nvlink == 3 && r.line.devices > 1 ? plot::Mark::dashed_line
                                                                    : plot::Mark::line,
                   .colour = colour};
    for (std::size_t i = 0; i < memories.size(); ++i) {
      s.points.push_back({memories[i].terabytes * 1e12, r.latencies[i].value, memories[i].name});
    }
    f.series.push_back(std::move(s));
    knees.points.push_back(
        {r.knee.value, latency(r.line, r.knee).value, "knee of " + name_of(r.line)});
  }
  f.series.push_back(std::move(knees));
  return f;
}

std::vector<std::string> findings_of(const std::vector<KneeRow>& rows) {
  const KneeRow& one = rows.front();
  std::string moves;
  for (const Moved& m : moved_knees(one.line)) {
    moves += fmt::format("{}{} {}", moves.empty() ? "" : ", ", m.what, format(m.knee));
  }
  const double gain = one.latencies[0] / one.latencies[4];
  const double after = one.latencies[4] / one.latencies.back();
  std::vector<std::string> text = {
      fmt::format("Llama 2 13B on one device: from GDDR6 to HBM3E, {:.1f}x the bandwidth, latency "
                  "falls {:.1f}x; from "
                  "there to HBM5, {:.1f}x the bandwidth, {:.1f}x.",
                  memories[4].terabytes / memories[0].terabytes, gain,
                  memories.back().terabytes / memories[4].terabytes, after),
      fmt::format("The knee, where memory takes as long as all else, lies at {} for one device.",
                  format(one.knee)),
      "What moves it: " + moves + "."};
  const Scene end = scene_of(one.line, BytesPerSecond(memories.back().terabytes * 1e12));
  const Limits limits = limits_of_serving(end.problem, end.strategy, 8);
  std::string rest;
  for (std::size_t i = 0; i < limits.size; ++i) {
    if (limits.values[i] < 0.02) continue;
    rest += fmt::format("{}{} {}", rest.empty() ? "" : ", ", names_of(Limit{})[i],
                        format_percent(limits.values[i], 0));
  }
  text.push_back("With the fastest memory the request waits for: " + rest + ".");
  std::string spread;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    spread += fmt::format("{}{} {}", spread.empty() ? "" : "; ", name_of(rows[i].line),
                          format(rows[i].knee));
  }
  text.push_back(
      "Each device of several reads less and still starts as many kernels and sums as often, so "
      "its knee comes earlier: " +
      spread + ".");
  return text;
}

}  // namespace

Study dram_scaling() {
  std::vector<KneeRow> rows;
  for (const LatencyLine& l : latency_lines) {
    KneeRow r{.line = l, .latencies = {}, .knee = knee(l)};
    for (const MemoryPoint& p : memories)
      r.latencies.push_back(latency(l, BytesPerSecond(p.terabytes * 1e12)));
    rows.push_back(std::move(r));
  }
  return {.title = "Latency of Llama 2 on an A100-class die, by memory",
          .rows = records(rows),
          .figure = figure_of(rows),
          .findings = findings_of(rows),
          .table = table(rows)};
}

}  // namespace sextant::study
