// SPDX-License-Identifier: Apache-2.0
#include "cli/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/scenario_reader.hpp"
#include "sextant/predict/layout.hpp"

namespace sextant::cli {
namespace {

class Reader : ScenarioReader {
 public:
  Reader(const TrainOptions& options, const Common& common) : ScenarioReader(common), o_(options) {}

  Scenario run() {
    load(o_.system, o_.model, o_.runtime.empty() ? PresetRef{"megatron-core"} : o_.runtime);
    if (o_.runtime.empty()) assume("runtime megatron-core");
    read_degrees();
    read_choices();
    throw_if_any(std::move(flags.problems));
    derive_replicas();
    derive_work();
    apply(settings, scenario.strategy, "strategy");
    check_devices();
    throw_if_any(std::move(flags.problems));
    prepare_problem();
    check_rules();
    say_device();
    return std::move(scenario);
  }

 private:
  void read_degrees();
  void read_choices();
  void read_modules();
  void derive_replicas();
  void derive_work();
  void check_devices();
  void prepare_problem();
  void check_rules();

  const TrainOptions& o_;
  Training work_;
};

void Reader::read_degrees() {
  Strategy& s = scenario.strategy;
  s.tp = whole("--tp", o_.tp, 1, 1, 1000000);
  s.pp = whole("--pp", o_.pp, 1, 1, 1000000);
  s.cp = whole("--cp", o_.cp, 1, 1, 1000000);
  s.ep = whole("--ep", o_.ep, 1, 1, 1000000);
  s.etp = whole("--etp", o_.etp, 1, 1, 1000000);
  s.dp = whole("--dp", o_.dp, 1, 1, 10000000);
  whole("--gpus", o_.gpus, 1, 1, 10000000);
  s.microbatch = whole("--microbatch", o_.microbatch, 1, 1, 1000000);
  s.interleave = whole("--interleave", o_.interleave, 1, 1, 10000);
  s.zero = whole("--zero", o_.zero, 0, 0, 3);
  s.shard = whole("--shard", o_.shard, 0, 0, 10000000);
  s.recompute_layers = whole("--recompute-layers", o_.recompute_layers, 0, 0, 100000);
  work_.batch = whole("--batch", o_.batch, 0, 1, 100000000);
  work_.seq = whole("--seq", o_.seq, 0, 1, 100000000);
  if (!o_.microbatch) assume("microbatch 1");
  if (!o_.zero) assume("zero 0: every replica holds all states");
  if (model.experts.count > 0 && !o_.ep) assume("ep 1: every rank holds all experts");
}

void Reader::read_modules() {
  RecomputeModules& m = scenario.strategy.modules;
  const std::vector<std::pair<std::string, bool*>> known = {{"norms", &m.norms},
                                                            {"activation", &m.activation},
                                                            {"mlp", &m.mlp},
                                                            {"experts", &m.experts},
                                                            {"latent", &m.latent}};
  std::vector<std::string> names;
  for (const auto& [name, field] : known) names.push_back(name);
  for (const std::string& given : o_.recompute_modules) {
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.first == given; });
    if (found != known.end()) {
      *found->second = true;
      continue;
    }
    const std::string hint = did_you_mean(given, names);
    flags.add("--recompute-modules", "unknown value '" + given + "'",
              hint.empty() ? "norms, activation, mlp, experts or latent" : hint);
  }
}

void Reader::read_choices() {
  Strategy& s = scenario.strategy;
  s.recompute = choice("--recompute", o_.recompute, Recompute::none);
  s.schedule = choice("--schedule", o_.schedule, Schedule::one_f_one_b);
  s.context = choice("--context", o_.context, ContextKind::ring);
  s.order = choice("--order", o_.order, Order::tp_cp_ep_dp_pp);
  s.precision = choice("--precision", o_.precision, Precision::bf16);
  work_.optimizer = choice("--optimizer", o_.optimizer, Optimizer::adamw);
  s.offload = o_.offload;
  read_modules();
  s.sp = o_.sp.value_or(runtime.sequence_parallel && s.tp > 1);
  if (!o_.sp && s.tp > 1) {
    assume("sp {}: the default of {}", s.sp ? "on" : "off", runtime.name);
  }
  if (o_.recompute.empty()) assume("recompute none");
  if (o_.schedule.empty() && s.pp > 1) assume("schedule 1f1b");
  if (o_.precision.empty()) assume("precision bf16");
  if (o_.optimizer.empty()) assume("optimizer adamw: fp32 master weights and moments");
}

// Devices and replicas follow from each other.
void Reader::derive_replicas() {
  Strategy& s = scenario.strategy;
  if (o_.dp) {
    if (!o_.gpus) assume("gpus {}: tp x pp x cp x dp", devices_of(s));
    return;
  }
  const double others = devices_of(s);  // dp is still 1
  if (!o_.gpus) {
    assume("dp 1, so gpus {}", others);
    return;
  }
  s.dp = static_cast<int>(std::max(1.0, std::floor(*o_.gpus / others)));
  assume("dp {}: {} devices / (tp {} x pp {} x cp {})", s.dp, *o_.gpus, s.tp, s.pp, s.cp);
}

void Reader::check_devices() {
  const Strategy& s = scenario.strategy;
  const double product = devices_of(s);
  if (!o_.gpus || product == *o_.gpus) return;
  const double others = product / s.dp;
  const double below = std::floor(*o_.gpus / others) * others;
  flags.add("--gpus",
            fmt::format("{} is not tp {} x pp {} x cp {} x {}", *o_.gpus, s.tp, s.pp, s.cp,
                        o_.dp ? fmt::format("dp {}", s.dp) : "a whole number"),
            o_.dp       ? fmt::format("{} for these degrees", product)
            : below > 0 ? fmt::format("{} or {} are the nearest", below, below + others)
                        : fmt::format("{} is the nearest", others));
}

void Reader::derive_work() {
  const Strategy& s = scenario.strategy;
  if (work_.batch == 0) {
    const double least = static_cast<double>(s.dp) * s.microbatch * s.pp;
    work_.batch = static_cast<int>(std::min(least, 1e8));
    assume("batch {}: dp x microbatch x pp", work_.batch);
  }
  if (work_.seq == 0) {
    work_.seq = model.max_context > 0 ? std::min(2048, model.max_context) : 2048;
    assume("seq {}", work_.seq);
  }
}

void Reader::prepare_problem() {
  scenario.problem = prepare(scenario.system, runtime, libraries(), model, work_);
}

void Reader::check_rules() {
  std::vector<Diagnostic> problems = check(scenario.problem, scenario.strategy);
  for (Diagnostic& d : problems) {
    d.file = "--" + (d.field == "dp" && !o_.dp && o_.gpus ? "gpus" : d.field);
    d.field.clear();
  }
  throw_if_any(std::move(problems));
}

}  // namespace

Scenario read_scenario(const TrainOptions& options, const Common& common) {
  return Reader(options, common).run();
}

}  // namespace sextant::cli
