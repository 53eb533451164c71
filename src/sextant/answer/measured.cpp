// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/measured.hpp"

#include "sextant/io/write.hpp"
#include "sextant/validate/cases.hpp"

namespace sextant {
namespace {

struct Run {
  const Case& measured;
  Task task = Task::train;
  std::string model;
  std::string runtime;
  Inputs inputs;
};

/// Parts as a request names them: those that are switched on.
Node names_of_parts(const Node& parts) {
  Node names = Node::array();
  for (const Node::Member& part : parts.members) {
    if (part.value.boolean) names.items.push_back(Node::of(part.key));
  }
  return names;
}

/// Fields that were given: those that differ from what is derived or usual.
Node request_of(const Run& run) {
  Node request = Node::table();
  request.set("model", Node::of(run.model));
  request.set("system", Node::of(run.measured.system));
  request.set("runtime", Node::of(run.runtime));
  Inputs usual;
  Inputs given = run.inputs;
  const Node before = write_fields(fields_of(run.task, usual));
  const Node after = write_fields(fields_of(run.task, given));
  for (const Node::Member& m : after.members) {
    using enum Node::Kind;
    const bool value = m.value.kind != null && m.value.kind != array && m.value.kind != table;
    const Node* was = before.find(m.key);
    const bool same = was != nullptr && to_json(*was) == to_json(m.value);
    const bool said = (m.key == "sp" && run.inputs.said.sp) ||
                      (m.key == "precision" && run.inputs.said.precision);
    if (m.value.kind == table && !same) request.set(m.key, names_of_parts(m.value));
    if (!value || (same && !said)) continue;
    request.set(m.key, m.value);
  }
  return request;
}

/// One that names all it is made of, and measured a whole step or request.
bool named(const Case& c) {
  if (!c.unsupported.empty()) return false;
  if (const auto* t = std::get_if<TrainCase>(&c.kernel)) return !t->model.empty();
  const auto* i = std::get_if<InferCase>(&c.kernel);
  return i != nullptr && !i->model.empty() && !i->shard && !i->mixed &&
         i->metric != InferMetric::phase_seconds;
}

Run run_of(const Case& c) {
  if (const auto* t = std::get_if<TrainCase>(&c.kernel)) {
    return {c, Task::train, t->model, t->runtime, t->inputs};
  }
  const auto& i = std::get<InferCase>(c.kernel);
  return {c, Task::infer, i.model, i.runtime, i.inputs};
}

}  // namespace

Record measured_record() {
  Records runs;
  for (const Case& c : load_cases({})) {
    if (!named(c)) continue;
    const Run run = run_of(c);
    Record& r = runs.rows.emplace_back();
    r("id", c.id);
    r("group", c.group);
    r("kind", name_of(run.task));
    r("metric", c.metric);
    r("measured", c.measured);
    r.node("request", "unknown", request_of(run));
  }
  Record all;
  all.list("cases", "MeasuredCase", std::move(runs));
  return all;
}

}  // namespace sextant
