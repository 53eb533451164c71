// SPDX-License-Identifier: Apache-2.0
// The constants of a software stack, from whole steps, requests and runs of it.
#include <algorithm>
#include <set>

#include "sextant/validate/fit.hpp"
#include "sextant/validate/serving_results.hpp"

namespace sextant {
namespace {

/// What the cases are about: constants that none of them sees are left alone.
struct Seen {
  bool training = false;
  bool serving = false;
  bool load = false;
  bool experts = false;  ///< of training
  int devices = 0;       ///< of the largest step
  double fewest = 0;     ///< microbatches of a step
  double most = 0;
};

double microbatches_of(const Inputs& i) {
  const Strategy& s = i.strategy;
  const double each = static_cast<double>(std::max(1, i.gpus)) * s.microbatch;
  return static_cast<double>(i.training.batch) * s.tp * s.pp * s.cp / each;
}

bool speaks_of(const Case& c, const Runtime& r, Seen& seen) {
  if (!c.unsupported.empty()) return false;
  if (const auto* t = std::get_if<TrainCase>(&c.kernel)) {
    // Bytes are no times.
    if (t->runtime != r.name || t->metric >= TrainMetric::activation_bytes_after_forward) {
      return false;
    }
    seen.experts |= t->columns.experts > 0;
    seen.devices = std::max(seen.devices, t->inputs.gpus);
    const double microbatches = microbatches_of(t->inputs);
    seen.fewest = seen.training ? std::min(seen.fewest, microbatches) : microbatches;
    seen.most = std::max(seen.most, microbatches);
    return seen.training = true;
  }
  if (const auto* i = std::get_if<InferCase>(&c.kernel)) {
    return i->runtime == r.name && (seen.serving = true);
  }
  const auto* s = std::get_if<ServingCase>(&c.kernel);
  return s != nullptr && s->runtime == r.name && (seen.load = true);
}

/// A hint: whom the cases are of.
std::string runtimes_of(const std::vector<Case>& cases) {
  std::set<std::string> names;
  for (const Case& c : cases) {
    if (const auto* t = std::get_if<TrainCase>(&c.kernel)) names.insert(t->runtime);
    if (const auto* i = std::get_if<InferCase>(&c.kernel)) names.insert(i->runtime);
    if (const auto* s = std::get_if<ServingCase>(&c.kernel)) names.insert(s->runtime);
  }
  names.erase("");
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "give cases of kind train, infer or serving" : "there are cases of " + all;
}

/// Each is zero where a stack has no such cost.
std::vector<Parameter> parameters_of(Runtime& r, const Seen& seen) {
  std::vector<Parameter> p;
  const auto add = [&](const char* name, double& value, double low, double high) {
    p.push_back({name, &value, low, high, true});
  };
  if (seen.load) {
    add("engine.schedule", r.engine.schedule.value, 1e-6, 0.05);
    add("engine.sequence", r.engine.sequence.value, 1e-8, 1e-3);
    add("engine.layer", r.engine.layer.value, 1e-7, 1e-2);
    add("engine.request", r.engine.request.value, 1e-5, 0.1);
    add("engine.tokenizing", r.engine.tokenizing.value, 1e-8, 1e-4);
  }
  if (!seen.training && !seen.serving) return p;
  Communication& c = r.communication;
  if (r.launch.graph) {
    add("launch.graph_start", r.launch.graph_start.value, 1e-6, 2e-4);
  } else {
    // Modules of PyTorch take 26 to 30 us a kernel (pytorch.toml, pytorch-compile.toml, measured):
    // no more than half as much again, unless a preset says so.
    add("launch.host", r.launch.host.value, 1e-6, std::max(4.5e-5, r.launch.host.value));
  }
  add("host_per_step", r.host_per_step.value, 1e-5, 0.5);
  add("communication.skew", c.skew, 0.01, 3);
  if (seen.training) {
    // The slowest of a few says little about the slowest of many.
    if (seen.experts) add("fusion.routing_launches", r.fusion.routing_launches, 3, 300);
    if (seen.devices >= 64) add("spread", r.spread, 0.001, 0.1);
    // Told from what a kernel or a step takes where steps of few and of many are at hand.
    if (seen.most >= 8 * seen.fewest) {
      add("host_per_microbatch", r.host_per_microbatch.value, 1e-5, 0.05);
    }
    add("host_per_optimizer", r.host_per_optimizer.value, 1e-5, 0.1);
    // Known of one stack alone: no other is to have them for want of a better reason.
    if (c.pending.value > 0) add("communication.pending", c.pending.value, 1e-6, 1e-3);
    if (c.crossing.value > 0) add("communication.crossing", c.crossing.value, 1e-6, 1e-3);
  }
  if (seen.serving) {
    add("communication.extra_latency", c.extra_latency.value, 1e-7, 1e-4);
    add("launch.gap", r.launch.gap.value, 1e-7, 5e-6);
    add("host_per_sequence", r.host_per_sequence.value, 1e-7, 5e-3);
    add("host_per_request", r.host_per_request.value, 1e-5, 0.1);
  }
  return p;
}

CaseResult predicted(const Case& c, Catalogue& catalogue) {
  std::vector<CaseResult> results;
  if (std::holds_alternative<TrainCase>(c.kernel)) {
    predict_train(c, catalogue, results);
  } else {
    predict_infer(c, catalogue, results);
  }
  return std::move(results.front());
}

}  // namespace

Calibration calibrate_runtime(const std::vector<Case>& cases, Runtime& runtime,
                              Catalogue& catalogue, const CalibrationOptions& options) {
  Seen seen;
  CaseList list;
  for (const Case& c : cases) {
    if (speaks_of(c, runtime, seen)) list.push_back(&c);
  }
  if (list.empty()) {
    throw InputError(
        "no case of a step, of requests or of serving under load is of the runtime " + runtime.name,
        runtimes_of(cases));
  }
  ServingRuns runs(catalogue);
  const auto result = [&](const Case& c) {
    return std::holds_alternative<ServingCase>(c.kernel) ? runs.predict(c, &runtime)
                                                         : predicted(c, catalogue);
  };
  FitProblem p;
  p.parameters = parameters_of(runtime, seen);
  p.apply = [&] {
    catalogue.put(runtime);
    runs.forget();
  };
  p.result = result;
  p.predict = [&](const Case& c) {
    const CaseResult r = result(c);
    return r.unsupported.empty() ? r.predicted : 0;
  };
  p.families = "system and model";
  CalibrationOptions own = options;
  own.evaluations = std::min(options.evaluations, 40 * static_cast<int>(p.parameters.size()));
  own.most_cases = std::min(options.most_cases, 300);
  const Runtime before = runtime;
  p.apply();
  try {
    Calibration fitted = calibrate(runtime.name, p, list, own);
    catalogue.put(before);
    return fitted;
  } catch (...) {
    catalogue.put(before);
    throw;
  }
}

}  // namespace sextant
