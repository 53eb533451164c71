// SPDX-License-Identifier: Apache-2.0
#include "sextant/options/scenario.hpp"

#include "sextant/options/request.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {

void mark_unread(const Common& common, Node& given) {
  for (const std::string& name : common.unread) given.set(name, Node{});
}

namespace {

/// The option that a problem is of: "--tp: …", "--model is required", or a field of a request.
std::string option_of(const Diagnostic& d) {
  if (d.file.starts_with("--")) return field_of_flag(d.file);
  if (d.message.starts_with("--")) return field_of_flag(d.message.substr(0, d.message.find(' ')));
  return d.field;
}

void unread_by_people(const Common& common, std::string flag, bool asked,
                      std::vector<Diagnostic>& problems) {
  if (!asked || common.format == Format::json || common.format == Format::html) return;
  problems.push_back({.file = std::move(flag),
                      .message = "it is a part of the answer in JSON alone",
                      .hint = "give --format json"});
}

}  // namespace

std::vector<Diagnostic> check_readers(const TrainOptions& o, const Common& c) {
  std::vector<Diagnostic> problems;
  unread_by_people(c, "--timeline", o.timeline, problems);
  unread_by_people(c, "--choices", o.choices, problems);
  unread_by_people(c, "--nearest", o.nearest, problems);
  return problems;
}

std::vector<Diagnostic> check_readers(const InferOptions& o, const Common& c) {
  std::vector<Diagnostic> problems;
  unread_by_people(c, "--choices", o.choices, problems);
  unread_by_people(c, "--nearest", o.nearest, problems);
  return problems;
}

void refuse(std::vector<Diagnostic> problems, Common common,
            const std::function<void(const Common&)>& check) {
  std::vector<std::string>& unread = common.unread;
  for (const Diagnostic& d : problems) unread.push_back(option_of(d));
  try {
    check(common);
  } catch (const InputError& e) {
    for (const Diagnostic& d : e.diagnostics()) {
      const bool again = contains(unread, option_of(d));
      if (!again) problems.push_back(d);
    }
  }
  throw InputError(std::move(problems));
}

Question question_of(const ScenarioOptions& o, const Common& common, Task task) {
  std::vector<Diagnostic> problems;
  Question q{.task = task,
             .model = o.model,
             .system = o.system,
             .runtime = o.runtime,
             .given = o.given,
             .settings = parse_settings(common.set, problems),
             .notes = o.notes,
             .problems = std::move(problems),
             .lookup = common.lookup};
  mark_unread(common, q.given);
  return q;
}

Scenario read_training(const TrainOptions& options, const Common& common) {
  return read_scenario(question_of(options, common, Task::train));
}

Scenario read_serving(const InferOptions& options, const Common& common) {
  return read_scenario(question_of(options, common, Task::infer));
}

}  // namespace sextant
