// SPDX-License-Identifier: Apache-2.0
#include "cli/compare.hpp"

#include <algorithm>
#include <cmath>

#include "cli/scenario.hpp"
#include "sextant/io/text.hpp"
#include "sextant/study/difference.hpp"

namespace sextant::cli {
namespace {

constexpr std::size_t fewest = 2;
constexpr std::size_t most = 6;

/// Between neighbours.
void describe(Record& r, const study::Difference& d, std::size_t from, bool trains) {
  r("from", from);
  r("to", from + 1);
  r("metric", trains ? "seconds_per_token" : "latency_seconds");
  r("ratio", d.ratio);
  double total = 0;
  for (const study::Factor& f : d.factors) total += f.logarithm;
  r.list("factors", "Factor", records_of(d.factors, [&](Record& one, const study::Factor& f) {
           one("name", f.name);
           one("ratio", std::exp(f.logarithm));
           one("share", only_if(std::abs(total) > 1e-9, f.logarithm / total));
         }));
}

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
  if (!list || q.scenarios->items.size() < fewest || q.scenarios->items.size() > most) {
    add(q.scenarios, "scenarios", "expected a list of two to six objects");
  }
  throw_if_any(std::move(problems));
  return q;
}

/// Problems of one of several, by its number.
InputError numbered(const InputError& e, std::size_t i) {
  std::vector<Diagnostic> problems = e.diagnostics();
  for (Diagnostic& d : problems) {
    std::string field = d.field;
    if (d.file.starts_with("--")) {
      field = d.file.substr(2);
      std::replace(field.begin(), field.end(), '-', '_');
    }
    d.file = "request";
    d.field = "scenarios[" + std::to_string(i) + "]" + (field.empty() ? "" : "." + field);
  }
  return InputError(std::move(problems));
}

template <class Options, class Run, class Read>
void add_scenario(const Document& document, const Node& given, Asker asker, Records& answers,
                  std::vector<Scenario>& scenarios, const Run& run, const Read& read) {
  Options options;
  Common common;
  common.lookup = asker == Asker::network ? Lookup::presets : Lookup::anywhere;
  std::vector<Diagnostic> problems;
  std::vector<Option> all = options_of(options);
  for (Option& o : options_of(common)) {
    if (o.name == "set") all.push_back(std::move(o));
  }
  read_request(document, given, all, problems, {.asker = asker});
  throw_if_any(std::move(problems));
  answers.rows.push_back(run(options, common));
  scenarios.push_back(read(options, common));
}

}  // namespace

Answer compare(const Document& document, Asker asker) {
  const Question q = read_question(document);
  Records answers;
  std::vector<Scenario> scenarios;
  for (std::size_t i = 0; i < q.scenarios->items.size(); ++i) {
    const Node& given = q.scenarios->items[i];
    try {
      if (q.trains) {
        add_scenario<TrainOptions>(document, given, asker, answers, scenarios, run_train,
                                   read_scenario);
      } else {
        add_scenario<InferOptions>(document, given, asker, answers, scenarios, run_infer,
                                   read_serving);
      }
    } catch (const InputError& e) {
      throw numbered(e, i);
    }
  }
  Records differences;
  for (std::size_t i = 0; i + 1 < scenarios.size(); ++i) {
    describe(differences.rows.emplace_back(),
             study::difference_of(scenarios[i], scenarios[i + 1], q.trains), i, q.trains);
  }
  Answer a;
  a.list("answers", q.trains ? "TrainAnswer" : "InferAnswer", std::move(answers));
  a.list("differences", "Difference", std::move(differences));
  return a;
}

}  // namespace sextant::cli
