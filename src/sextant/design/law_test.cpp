// SPDX-License-Identifier: Apache-2.0
// A law of technology: within the same area and power, more of any number that is the better the
// larger, or less of one that is the better the smaller, makes no workload slower. Of its breaches
// within a per cent one is the model's: a clock tree idles at the rated clock, also where power
// holds the clock below it. Two are choices: more cores under one limit run at a lower clock, and
// may be left off; links draw by their rate even where nothing is sent, so that they are faster at
// the same watts.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "sextant/design/workload.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/settings.hpp"
#include "sextant/predict/energy.hpp"
#include "sextant/study/problems.hpp"

namespace sextant::design {
namespace {

struct Better {
  const char* path;
  bool larger;
};
constexpr std::array<Better, 27> numbers = {
    {{"node.logic", true},        {"node.sram", true},        {"node.analog", true},
     {"node.power", false},       {"node.speed", true},       {"dram.bandwidth", true},
     {"dram.capacity", true},     {"dram.energy", false},     {"dram.phy", false},
     {"dram.controller", false},  {"dram.efficiency", true},  {"dram.standby", false},
     {"link.bandwidth", true},    {"link.phy", false},        {"link.controller", false},
     {"link.energy", false},      {"link.latency", false},    {"link.efficiency", true},
     {"core.energy", false},      {"core.area", false},       {"core.l2_per_clock", true},
     {"network.bandwidth", true}, {"network.latency", false}, {"network.efficiency", true},
     {"core.transistors", false}, {"core.crossbar", false},   {"core.kept", true}}};

double& number_at(Technology& t, LinkPart& network, const std::string& path, double& most) {
  const std::string root = path.substr(0, path.find('.'));
  const StructRef fields = root == "node"   ? reflect(t.node)
                           : root == "dram" ? reflect(t.memory)
                           : root == "link" ? reflect(t.link)
                           : root == "core" ? reflect(t.core)
                                            : reflect(network);
  Diagnostic problem;
  const std::optional<Slot> slot = find_field(fields, path.substr(root.size() + 1), root, problem);
  most = slot->field.max;
  if (const auto* q = std::get_if<QuantityRef>(&slot->target)) return *q->value;
  return *std::get<double*>(slot->target);
}

Workload draw_workload(std::mt19937& random) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  static const std::array<Model, 3> models = {load_model("gpt3-6.7b"), load_model("llama2-13b"),
                                              load_model("llama3.1-8b")};
  static const std::array<LinkPart, 3> networks = {load_link("ib-hdr"), load_link("ib-ndr"),
                                                   load_link("ib-gdr")};
  Workload w;
  w.model = models.at(static_cast<std::size_t>(pick(3)));
  w.trains = pick(2) == 0;
  w.around.network = networks.at(static_cast<std::size_t>(pick(3)));
  w.strategy.tp = 1 << pick(4);
  w.strategy.precision = Precision::bf16;
  if (w.trains) {
    w.strategy.pp = 1 << pick(3);
    w.strategy.dp = 8 << pick(4);
    w.strategy.sp = w.strategy.tp > 1;
    w.strategy.zero = 1;
    w.strategy.microbatch = 1 << pick(2);
  }
  w.training = {.batch = 1024, .seq = 2048};
  w.serving = {.batch = 1 << pick(7), .input = 512, .output = 64};
  return w;
}

struct Drawn {
  Workload workload;
  Technology technology;
  Budget budget;
};
Drawn draw(std::mt19937& random) {
  constexpr std::array<const char*, 8> nodes = {"n12", "n7", "n5", "n4", "n3", "n2", "a14", "a10"};
  constexpr std::array<const char*, 6> drams = {"hbm2", "hbm2e", "hbm3", "hbm3e", "hbm4", "hbm5"};
  constexpr std::array<const char*, 4> links = {"nvlink3", "nvlink4", "nvlink5", "nvlink6"};
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  Drawn d;
  d.workload = draw_workload(random);
  d.technology = study::load_technology(
      {nodes.at(pick(nodes.size())), drams.at(pick(drams.size())), links.at(pick(links.size()))},
      {}, Lookup::presets);
  d.budget.area = SquareMeters(1e-6 * static_cast<double>(500 + pick(350)));
  d.budget.power = Watts(static_cast<double>(400 + pick(800)));
  d.budget.links = 6 + static_cast<int>(pick(13));
  return d;
}

constexpr double tolerance = 0.01;

TEST(Law, MoreOfAnyTechnologyNumberIsNeverSlower) {
  std::mt19937 random(17);
  int compared = 0;
  for (int i = 0; i < 700; ++i) {
    const Drawn d = draw(random);
    const Better& b = numbers.at(random() % numbers.size());
    const double factor = 1.02 + 0.01 * static_cast<double>(random() % 60);
    const auto before = try_generate(d.technology, d.budget);
    if (!before) continue;
    Drawn better = d;
    double most = 0;
    double& x = number_at(better.technology, better.workload.around.network, b.path, most);
    const double was = x;
    x = std::min(most, b.larger ? x * factor : x / factor);
    if (b.path == std::string_view("link.bandwidth")) better.technology.link.energy /= factor;
    const auto after = try_generate(better.technology, better.budget);
    const double t0 = objective_of(d.workload, d.technology)(*before);
    if (!std::isfinite(t0)) continue;
    ++compared;
    ASSERT_TRUE(after) << b.path;
    double t1 = objective_of(better.workload, better.technology)(*after);
    // More cores under the same limit run at a lower clock; those beyond may be left off.
    if (after->device.cores > before->device.cores) {
      Budget same = better.budget;
      same.kept = static_cast<double>(before->device.cores) / after->cores_on_die;
      const auto fewer = try_generate(better.technology, same);
      ASSERT_TRUE(fewer) << b.path;
      t1 = std::min(t1, objective_of(better.workload, better.technology)(*fewer));
    }
    EXPECT_LE(t1, t0 * (1 + tolerance))
        << t1 / t0 << " " << b.path << " from " << was << " to " << x << " on "
        << before->device.name << ", " << d.budget.area.value * 1e6 << " mm2, "
        << d.budget.power.value << " W, " << (d.workload.trains ? "train " : "infer ")
        << d.workload.model.name << " tp " << d.workload.strategy.tp << ", cores "
        << before->device.cores << " to " << after->device.cores << ", clock "
        << before->device.clock.value << " to " << after->device.clock.value;
  }
  EXPECT_GT(compared, 200);
}

TEST(Outcome, DrawsWhatTrainAndInferSay) {
  std::mt19937 random(5);
  for (int i = 0; i < 20; ++i) {
    const Drawn d = draw(random);
    const auto made = try_generate(d.technology, d.budget);
    if (!made) continue;
    const Workload& w = d.workload;
    const Outcome out = outcome_on(w, d.technology, *made);
    if (!out.runs()) continue;
    const Problem p = problem_on(w, d.technology, *made);
    const Estimate step = evaluate(p, w.strategy);
    const double tokens = double(w.serving.batch) * w.serving.output;
    const Joules said =
        w.trains ? token_energy(step.energy, step.devices, step.tokens)
                 : token_energy(request_energy(p, w.strategy), devices_of(w.strategy), tokens);
    EXPECT_EQ(out.energy, said) << i;
  }
}

}  // namespace
}  // namespace sextant::design
