// SPDX-License-Identifier: Apache-2.0
#include "sextant/sweep/outputs.hpp"

#include <algorithm>

#include "sextant/io/reflect.hpp"

namespace sextant::sweep {
namespace {

double rate(double amount, Seconds time) { return time.value > 0 ? amount / time.value : 0; }

std::vector<Output> of_training() {
  using A = const Answer&;
  const auto tokens = [](A a) { return rate(a.step.tokens, a.step.step); };
  return {
      {"gpus", CellType::integer, "", "devices", {}, [](A a) { return a.step.devices; }},
      {"dp", CellType::integer, "", "replicas", {}, [](A a) -> double { return a.strategy.dp; }},
      {"step_seconds", CellType::real, "s", "a step", {}, [](A a) { return a.step.step.value; }},
      {"tokens_per_second", CellType::real, "", "tokens/s of all devices", {}, tokens},
      {"tokens_per_second_per_gpu",
       CellType::real,
       "",
       "tokens/s of one device",
       {},
       [](A a) { return rate(a.step.tokens, a.step.step) / a.step.devices; }},
      {"model_tflops_per_gpu",
       CellType::real,
       "",
       "model TFLOP/s of one device",
       {},
       [](A a) { return rate(a.step.model_flops.value, a.step.step) / a.step.devices / 1e12; }},
      {"mfu",
       CellType::real,
       "",
       "model FLOPs over the peak",
       {},
       [](A a) { return a.step.mfu(); }},
      {"hfu", CellType::real, "", "FLOPs over the peak", {}, [](A a) { return a.step.hfu(); }},
      {"memory_bytes",
       CellType::real,
       "B",
       "of the fullest device",
       {},
       [](A a) { return a.step.memory.total().value; }},
  };
}

std::vector<Output> of_serving(bool searched) {
  using A = const Answer&;
  return {
      // Where the best is sought, gpus are those of all instances, and the rest is of one.
      {searched ? "instance_gpus" : "gpus",
       CellType::integer,
       "",
       "devices",
       {},
       [](A a) { return a.service.devices; }},
      {"ttft_seconds",
       CellType::real,
       "s",
       "to the first token",
       {},
       [](A a) { return a.service.ttft.value; }},
      {"tpot_seconds",
       CellType::real,
       "s",
       "for each token after it",
       {},
       [](A a) { return a.service.tpot.value; }},
      {"latency_seconds",
       CellType::real,
       "s",
       "of a request",
       {},
       [](A a) { return a.service.latency.value; }},
      {"output_tokens_per_second",
       CellType::real,
       "",
       "output tokens/s of all devices",
       {},
       [](A a) { return a.service.tokens_per_second; }},
      {"output_tokens_per_second_per_gpu",
       CellType::real,
       "",
       "output tokens/s of one device",
       {},
       [](A a) { return a.service.tokens_per_second / a.service.devices; }},
      {"memory_bytes",
       CellType::real,
       "B",
       "of one device",
       {},
       [](A a) { return a.service.memory.total().value; }},
      {"max_batch",
       CellType::integer,
       "",
       "requests that fit at their longest",
       {},
       [](A a) { return a.service.memory.max_batch; }},
  };
}

Output verdict_output() {
  Output verdict{.name = "verdict", .type = CellType::text, .help = "fits, or why it cannot run"};
  for (const std::string_view n : names_of(Verdict{})) verdict.names.emplace_back(n);
  for (const std::string_view n : names_of(Refusal{})) verdict.names.emplace_back(n);
  return verdict;
}

void add_energy(std::vector<Output>& out) {
  using A = const Answer&;
  out.push_back({"device_joules",
                 CellType::real,
                 "J",
                 "energy of one device without its node, a step or a batch",
                 {},
                 [](A a) { return a.energy.device().value; }});
  out.push_back({"joules_per_token",
                 CellType::real,
                 "J",
                 "energy of all devices and their nodes, a token",
                 {},
                 [](A a) {
                   const double devices = std::max(a.step.devices, a.service.devices);
                   return token_energy(a.energy, devices, a.tokens).value;
                 }});
}

void add_made(std::vector<Output>& out) {
  using A = const Answer&;
  const auto real = CellType::real;
  out.push_back({"device_cores", CellType::integer, "", "of the generated device", {}, [](A a) {
                   return static_cast<double>(a.made.cores);
                 }});
  out.push_back({"device_watts", real, "W", "limit of its board", {}, [](A a) {
                   return a.made.power.value;
                 }});
  out.push_back(
      {"device_area_m2", real, "m2", "all of its dies", {}, [](A a) { return a.made.area.value; }});
  out.push_back(
      {"device_cost_dollars", real, "$", "its parts", {}, [](A a) { return a.made.cost.value; }});
  out.push_back(
      {"device_yield", real, "", "of a die with cores", {}, [](A a) { return a.made.yield; }});
}

// The strategy that the inner search found, field by field.
void add_best(std::vector<Output>& out, Task task) {
  using A = const Answer&;
  if (task == Task::infer) {
    out.push_back(
        {"best_batch", CellType::integer, "", "requests at a time", {}, [](A a) -> double {
           return a.serving.batch;
         }});
  }
  Inputs inputs;
  const StructRef flags = flags_of(task, inputs);
  const StructRef fields = reflect(inputs.strategy);
  for (std::size_t i = 0; i < fields.fields.size(); ++i) {
    const Slot& slot = fields.fields[i];
    const bool searched = std::any_of(flags.fields.begin(), flags.fields.end(),
                                      [&](const Slot& flag) { return flag.name == slot.name; });
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
}

}  // namespace

std::vector<Output> outputs_of(const Plan& plan) {
  std::vector<Output> all = {verdict_output()};
  std::vector<Output> rest =
      plan.task == Task::train ? of_training() : of_serving(plan.best.has_value());
  if (plan.energy) add_energy(rest);
  if (plan.gives("technology.node")) add_made(rest);
  if (plan.best) add_best(rest, plan.task);
  for (Output& o : rest) {
    const bool axis = std::any_of(plan.axes.begin(), plan.axes.end(),
                                  [&](const Axis& a) { return a.field == o.name; });
    if (!axis) all.push_back(std::move(o));
  }
  return all;
}

std::vector<StoreColumn> columns_of(const Plan& plan, const std::vector<Output>& outputs) {
  std::vector<StoreColumn> columns;
  for (const Axis& a : plan.axes) columns.push_back({a.field, a.type, "axis", a.unit, a.help});
  for (const Output& o : outputs) columns.push_back({o.name, o.type, "output", o.unit, o.help});
  return columns;
}

}  // namespace sextant::sweep
