// SPDX-License-Identifier: Apache-2.0
#include "sextant/sweep/outputs.hpp"

#include <algorithm>

#include "sextant/io/reflect.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::sweep {
namespace {

double rate(double amount, Seconds time) { return time.value > 0 ? amount / time.value : 0; }

using A = const Answer&;
using Value = double (*)(A);
Output real(const char* name, const char* unit, const char* help, Value value) {
  return {name, CellType::real, unit, help, {}, value};
}
Output whole(const char* name, const char* help, Value value) {
  return {name, CellType::integer, "", help, {}, value};
}

double tokens_of(A a) { return rate(a.step.tokens, a.step.step); }
double model_tflops(A a) {
  return rate(a.step.model_flops.value, a.step.step) / a.step.devices / 1e12;
}

std::vector<Output> of_training() {
  return {
      whole("gpus", "devices", [](A a) { return a.step.devices; }),
      whole("dp", "replicas", [](A a) -> double { return a.strategy.dp; }),
      real("step_seconds", "s", "a step", [](A a) { return a.step.step.value; }),
      real("tokens_per_second", "", "tokens/s of all devices", tokens_of),
      real("tokens_per_second_per_gpu", "", "tokens/s of one device",
           [](A a) { return tokens_of(a) / a.step.devices; }),
      real("model_tflops_per_gpu", "", "model TFLOP/s of one device", model_tflops),
      real("mfu", "", "model FLOPs over the peak", [](A a) { return a.step.mfu(); }),
      real("hfu", "", "FLOPs over the peak", [](A a) { return a.step.hfu(); }),
      real("memory_bytes", "B", "of the fullest device",
           [](A a) { return a.step.memory.total().value; }),
  };
}

std::vector<Output> of_serving(bool searched) {
  const auto rate_of_one = [](A a) { return a.service.tokens_per_second / a.service.devices; };
  return {
      // Where the best is sought, gpus are those of all instances, and the rest is of one.
      whole(searched ? "instance_gpus" : "gpus", "devices", [](A a) { return a.service.devices; }),
      real("ttft_seconds", "s", "to the first token", [](A a) { return a.service.ttft.value; }),
      real("tpot_seconds", "s", "for each token after it",
           [](A a) { return a.service.tpot.value; }),
      real("latency_seconds", "s", "of a request", [](A a) { return a.service.latency.value; }),
      real("output_tokens_per_second", "", "output tokens/s of all devices",
           [](A a) { return a.service.tokens_per_second; }),
      real("output_tokens_per_second_per_gpu", "", "output tokens/s of one device", rate_of_one),
      real("memory_bytes", "B", "of one device",
           [](A a) { return a.service.memory.total().value; }),
      whole("max_batch", "requests that fit at their longest",
            [](A a) { return a.service.memory.max_batch; }),
  };
}

Output verdict_output() {
  Output verdict{.name = "verdict", .type = CellType::text, .help = "fits, or why it cannot run"};
  for (const std::string_view n : names_of(Verdict{})) verdict.names.emplace_back(n);
  for (const std::string_view n : names_of(Refusal{})) verdict.names.emplace_back(n);
  return verdict;
}

double joules_per_token(A a) {
  return token_energy(a.energy, std::max(a.step.devices, a.service.devices), a.tokens).value;
}

std::vector<Output> of_energy() {
  return {real("device_joules", "J", "energy of one device without its node, a step or a batch",
               [](A a) { return a.energy.device().value; }),
          real("joules_per_token", "J", "energy of all devices and their nodes, a token",
               joules_per_token)};
}

std::vector<Output> of_made() {
  return {whole("device_cores", "of the generated device",
                [](A a) { return static_cast<double>(a.made.cores); }),
          real("device_watts", "W", "limit of its board", [](A a) { return a.made.power.value; }),
          real("device_area_m2", "m2", "all of its dies", [](A a) { return a.made.area.value; }),
          real("device_cost_dollars", "$", "its parts", [](A a) { return a.made.cost.value; }),
          real("device_yield", "", "of a die with cores", [](A a) { return a.made.yield; })};
}

// The strategy that the inner search found, field by field.
std::vector<Output> of_best(Task task) {
  std::vector<Output> out;
  if (task == Task::infer) {
    out.push_back(
        whole("best_batch", "requests at a time", [](A a) -> double { return a.serving.batch; }));
  }
  Inputs inputs;
  const StructRef flags = flags_of(task, inputs);
  const StructRef fields = reflect(inputs.strategy);
  for (std::size_t i = 0; i < fields.fields.size(); ++i) {
    const Slot& slot = fields.fields[i];
    const bool searched = find_by(flags.fields, &Slot::name, slot.name) != nullptr;
    if (!searched || std::holds_alternative<StructRef>(slot.target)) continue;
    Output& o = out.emplace_back();
    o.name = "best_" + std::string(slot.name);
    o.type = CellType::integer;
    o.help = slot.field.help;
    o.strategy_field = i;
    if (const auto* choice = std::get_if<EnumRef>(&slot.target)) {
      o.type = CellType::text;
      o.names.assign(choice->names.begin(), choice->names.end());
    }
  }
  return out;
}

}  // namespace

std::vector<Output> outputs_of(const Plan& plan) {
  std::vector<Output> all = {verdict_output()};
  const auto add = [&](std::vector<Output> more) {
    for (Output& o : more) {
      const bool axis = find_by(plan.axes, &Axis::field, o.name) != nullptr;
      if (!axis) all.push_back(std::move(o));
    }
  };
  add(plan.task == Task::train ? of_training() : of_serving(plan.best.has_value()));
  if (plan.energy) add(of_energy());
  if (plan.gives("technology.node")) add(of_made());
  if (plan.best) add(of_best(plan.task));
  return all;
}

std::vector<StoreColumn> columns_of(const Plan& plan, const std::vector<Output>& outputs) {
  std::vector<StoreColumn> columns;
  for (const Axis& a : plan.axes) columns.push_back({a.field, a.type, "axis", a.unit, a.help});
  for (const Output& o : outputs) columns.push_back({o.name, o.type, "output", o.unit, o.help});
  return columns;
}

}  // namespace sextant::sweep
