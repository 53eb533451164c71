// SPDX-License-Identifier: Apache-2.0
#include "cli/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/commands.hpp"
#include "sextant/answer/compare.hpp"
#include "sextant/import/import.hpp"
#include "sextant/io/files.hpp"
#include "sextant/io/text.hpp"
#include "sextant/options/scenario.hpp"
#include "sextant/options/settings.hpp"

namespace sextant::cli {
namespace {

constexpr std::size_t fewest = 2;
constexpr std::size_t most_compared = 6;

struct Question {
  bool trains = true;
  const Node* scenarios = nullptr;
};

Question read_question(const Document& document) {
  std::vector<Diagnostic> problems;
  const auto add = [&](const Node* at, const char* field, std::string message) {
    problems.push_back(
        problem_at(document, at == nullptr ? Place{} : at->place, field, std::move(message)));
  };
  Question q;
  for (const Node::Member& m : document.root.members) {
    if (m.key == "kind" || m.key == "scenarios") continue;
    problems.push_back(problem_at(document, m.place, printable(m.key), "unknown field",
                                  did_you_mean(m.key, {"kind", "scenarios"})));
  }
  const Node* kind = document.root.find("kind");
  if (kind == nullptr || (kind->string != "train" && kind->string != "infer")) {
    add(kind, "kind", "expected \"train\" or \"infer\"");
  } else {
    q.trains = kind->string == "train";
  }
  q.scenarios = document.root.find("scenarios");
  const bool list = q.scenarios != nullptr && q.scenarios->kind == Node::Kind::array;
  if (!list || q.scenarios->items.size() < fewest || q.scenarios->items.size() > most_compared) {
    add(q.scenarios, "scenarios", "expected a list of two to six objects");
  }
  throw_if_any(std::move(problems));
  return q;
}

/// Problems of one of several, by its number.
std::vector<Diagnostic> numbered(const InputError& e, std::size_t i) {
  std::vector<Diagnostic> problems = e.diagnostics();
  for (Diagnostic& d : problems) {
    const bool flag = d.file.starts_with("--");
    const std::string field = flag ? field_of_flag(d.file) : d.field;
    if (flag && !d.field.empty()) d.message = d.field + ": " + d.message;
    d.file = "request";
    d.field = "scenarios[" + std::to_string(i) + "]" + (field.empty() ? "" : "." + field);
  }
  return problems;
}

template <class Options, class Run, class Read>
Compared compared(const Document& document, const Node& given, Common common,
                  const RequestRules& rules, const Run& run, const Read& read) {
  Options options;
  common.lookup = rules.asker == Asker::network ? Lookup::presets : Lookup::anywhere;
  std::vector<Diagnostic> problems;
  std::vector<Option> all = options_of(options);
  for (Option& o : options_of(common)) {
    if (o.name == "set") all.push_back(std::move(o));
  }
  const std::vector<std::string> set = std::exchange(common.set, {});
  read_request(document, given, all, problems, rules);
  common.set.insert(common.set.end(), set.begin(), set.end());
  if (!problems.empty()) {
    refuse(std::move(problems), common, [&](const Common& c) { check_scenario(options, c); });
  }
  const Answer answer = run(options, common);
  const Record& values = answer;  // what people alone read is left behind
  return {.name = {}, .scenario = read(options, common), .answer = values};
}

Compared compared(const Document& document, const Node& given, bool trains, const Common& common,
                  const RequestRules& rules) {
  return trains ? compared<TrainOptions>(document, given, common, rules, run_train, read_training)
                : compared<InferOptions>(document, given, common, rules, run_infer, read_serving);
}

/// What a file says, whatever tool it is for; the limits of an engine are not of `infer`.
Imported read_scenario_file(const std::string& path) {
  Imported imported = import_text(read_file(path), path);
  std::erase_if(imported.scenario.members,
                [](const Node::Member& m) { return m.key == "task" || is_engine_field(m.key); });
  return imported;
}

}  // namespace

Answer compare(const Document& document, Asker asker) {
  const Question q = read_question(document);
  std::vector<Compared> all;
  std::vector<Diagnostic> problems;
  for (std::size_t i = 0; i < q.scenarios->items.size(); ++i) {
    try {
      all.push_back(compared(document, q.scenarios->items[i], q.trains, {}, {.asker = asker}));
      all.back().name = std::to_string(i + 1);
    } catch (const InputError& e) {
      for (Diagnostic& d : numbered(e, i)) problems.push_back(std::move(d));
    }
  }
  throw_if_any(std::move(problems));
  return answer_of(all, q.trains ? Task::train : Task::infer);
}

Answer run_compare(const CompareOptions& options, const Common& common) {
  if (options.files.size() < fewest || options.files.size() > most_compared) {
    throw InputError(
        fmt::format("compare: expected two to six files, got {}", options.files.size()),
        "such as a.toml b.toml");
  }
  std::vector<Compared> all;
  std::vector<Diagnostic> problems;
  std::optional<bool> training;
  for (const std::string& path : options.files) {
    Document document{.file = path, .text = {}, .root = {}};
    try {
      const Imported imported = read_scenario_file(path);
      document.text = read_file(path);
      document.root = imported.scenario;
      give_way(document.root, common.set);
      const bool one = imported.task == Task::train;
      if (training.value_or(one) != one) {
        throw InputError({problem_at(document, {}, "task", "training and serving do not compare")});
      }
      training = one;
      all.push_back(compared(document, document.root, one, common, {}));
      all.back().name = path;
    } catch (const InputError& e) {
      // What is wrong with a value is known by its flag; here it is a field of a file.
      for (const Diagnostic& d : e.diagnostics()) {
        problems.push_back(as_field(d, document, document.root, ""));
      }
    }
  }
  throw_if_any(std::move(problems));
  return answer_of(all, *training ? Task::train : Task::infer);
}

}  // namespace sextant::cli
