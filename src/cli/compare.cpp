// SPDX-License-Identifier: Apache-2.0
#include "cli/compare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "cli/commands.hpp"
#include "cli/infer_scenario.hpp"
#include "sextant/io/text.hpp"
#include "sextant/io/write.hpp"
#include "sextant/predict/train.hpp"

namespace sextant::cli {
namespace {

constexpr std::size_t fewest = 2;
constexpr std::size_t most = 6;

/// A scenario taken apart, so that parts of two can be mixed.
struct Parts {
  System system;
  Libraries libraries;
  Runtime runtime;
  Model model;
  Training training;
  Serving serving;
  Strategy strategy;
};

Parts parts_of(const Scenario& x) {
  const Problem& p = x.problem;
  return {x.system,  {p.kernels, p.collectives, p.small_collectives},
          p.runtime, p.model,
          p.work,    p.serving,
          x.strategy};
}

/// Properties that are swapped together.
struct Group {
  const char* name;
  void (*take)(Parts& to, const Parts& from);
};

// Of the device by resource; constants of kernels with the library that they are of; the rest by
// who chooses it.
constexpr Group groups[] = {
    {"compute",
     [](Parts& to, const Parts& from) {
       Device& d = to.system.device;
       const Device& f = from.system.device;
       d.cores = f.cores;
       d.clock = f.clock;
       d.max_clock = f.max_clock;
       d.matrix_clock = f.matrix_clock;
       d.matrix = f.matrix;
       d.vector = f.vector;
       d.shared = f.shared;
     }},
    {"memory",
     [](Parts& to, const Parts& from) { to.system.device.memory = from.system.device.memory; }},
    {"cache", [](Parts& to, const Parts& from) { to.system.device.l2 = from.system.device.l2; }},
    {"power",
     [](Parts& to, const Parts& from) { to.system.device.power = from.system.device.power; }},
    {"kernels",
     [](Parts& to, const Parts& from) {
       to.system.device.mechanism = from.system.device.mechanism;
       to.libraries.kernels = from.libraries.kernels;
     }},
    {"network",
     [](Parts& to, const Parts& from) {
       to.system.devices_per_node = from.system.devices_per_node;
       to.system.fabrics = from.system.fabrics;
       to.system.host = from.system.host;
       to.libraries.collectives = from.libraries.collectives;
       to.libraries.small = from.libraries.small;
     }},
    {"runtime", [](Parts& to, const Parts& from) { to.runtime = from.runtime; }},
    {"model, strategy and work",
     [](Parts& to, const Parts& from) {
       to.model = from.model;
       to.strategy = from.strategy;
       to.training = from.training;
       to.serving = from.serving;
     }},
};

// All that decides the time, as text; names and remarks do not.
std::string fingerprint(Parts p) {
  p.system.name = p.system.notes = "";
  Device& d = p.system.device;
  d.name = d.vendor = d.architecture = d.notes = d.memory.kind = "";
  d.die = {};
  d.provenance = {};
  p.system.max_devices = 1;
  Libraries& l = p.libraries;
  l.kernels.name = l.collectives.name = l.small.name = p.runtime.name = p.runtime.notes =
      p.model.name = p.model.notes = "";
  l.kernels.provenance = l.collectives.provenance = l.small.provenance = {};
  Node all = Node::array();
  all.push(write(p.system));
  all.push(write(l.kernels));
  all.push(write(l.collectives));
  all.push(write(l.small));
  all.push(write(p.runtime));
  all.push(write(p.model));
  all.push(write(p.training));
  all.push(write(p.serving));
  all.push(write(p.strategy));
  return to_json(all, 0);
}

/// What is compared: the time of a token, or of a request; nothing where a mixture cannot run.
std::optional<double> time_of(const Parts& x, bool trains) {
  if (trains) {
    const Problem p = prepare(x.system, x.runtime, x.libraries, x.model, x.training);
    const Estimate e = evaluate(p, x.strategy);
    if (!(e.step.value > 0 && e.tokens > 0)) return std::nullopt;
    return e.step.value / e.tokens;
  }
  const Problem p = prepare(x.system, x.runtime, x.libraries, x.model, x.serving);
  const ServingEstimate e = serve(p, x.strategy);
  if (!(e.latency.value > 0)) return std::nullopt;
  return e.latency.value;
}

struct Factor {
  std::string name;
  double logarithm = 0;
};

/// Groups in which two scenarios differ.
std::vector<const Group*> differing(const Parts& a, const Parts& b) {
  const std::string own = fingerprint(a);
  std::vector<const Group*> found;
  for (const Group& g : groups) {
    Parts mixed = a;
    g.take(mixed, b);
    if (fingerprint(std::move(mixed)) != own) found.push_back(&g);
  }
  return found;
}

/// Empty where some mixture cannot run, so that its swap has no price.
std::vector<Factor> shapley(const Parts& a, const Parts& b, bool trains) {
  const std::vector<const Group*> groups_found = differing(a, b);
  const std::size_t n = groups_found.size();
  const std::size_t subsets = std::size_t{1} << n;
  std::vector<double> value(subsets);
  for (std::size_t set = 0; set < subsets; ++set) {
    Parts mixed = a;
    // The larger of two machines, so that a mixture is not refused for its size.
    mixed.system.max_devices = std::max(a.system.max_devices, b.system.max_devices);
    for (std::size_t i = 0; i < n; ++i) {
      if ((set >> i & 1) != 0) groups_found[i]->take(mixed, b);
    }
    const std::optional<double> time = time_of(mixed, trains);
    if (!time) return {};
    value[set] = std::log(*time);
  }
  std::vector<double> factorial(n + 1, 1);
  for (std::size_t i = 1; i <= n; ++i) factorial[i] = factorial[i - 1] * static_cast<double>(i);
  std::vector<Factor> factors;
  for (std::size_t i = 0; i < n; ++i) {
    Factor f{groups_found[i]->name, 0};
    for (std::size_t set = 0; set < subsets; ++set) {
      if ((set >> i & 1) != 0) continue;
      const auto size = static_cast<std::size_t>(std::popcount(set));
      const double weight = factorial[size] * factorial[n - size - 1] / factorial[n];
      f.logarithm += weight * (value[set | std::size_t{1} << i] - value[set]);
    }
    factors.push_back(std::move(f));
  }
  std::stable_sort(factors.begin(), factors.end(), [](const Factor& x, const Factor& y) {
    return std::abs(x.logarithm) > std::abs(y.logarithm);
  });
  return factors;
}

Node difference(const Parts& a, const Parts& b, std::size_t from, bool trains) {
  Node n = Node::table();
  n.set("from", Node::of(from));
  n.set("to", Node::of(from + 1));
  n.set("metric", Node::of(trains ? "seconds_per_token" : "latency_seconds"));
  const std::optional<double> before = time_of(a, trains);
  const std::optional<double> after = time_of(b, trains);
  if (before && after) n.set("ratio", Node::of(*after / *before));
  Node& list = n.set("factors", Node::array());
  const std::vector<Factor> factors = shapley(a, b, trains);
  double total = 0;
  for (const Factor& f : factors) total += f.logarithm;
  for (const Factor& f : factors) {
    Node& one = list.push(Node::table());
    one.set("name", Node::of(f.name));
    one.set("ratio", Node::of(std::exp(f.logarithm)));
    if (std::abs(total) > 1e-9) one.set("share", Node::of(f.logarithm / total));
  }
  return n;
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
void add_scenario(const Document& document, const Node& given, Asker asker, Node& answers,
                  std::vector<Parts>& parts, const Run& run, const Read& read) {
  Options options;
  Common common;
  common.format = Format::json;
  common.lookup = asker == Asker::network ? Lookup::presets : Lookup::anywhere;
  std::vector<Diagnostic> problems;
  std::vector<Option> all = options_of(options);
  for (Option& o : options_of(common)) {
    if (o.name == "set") all.push_back(std::move(o));
  }
  read_request(document, given, all, problems, {.asker = asker});
  throw_if_any(std::move(problems));
  answers.push(parse_json(run(options, common), "answer").root);
  parts.push_back(parts_of(read(options, common)));
}

}  // namespace

Node compare(const Document& document, Asker asker) {
  const Question q = read_question(document);
  Node root = Node::table();
  Node answers = Node::array();
  std::vector<Parts> parts;
  for (std::size_t i = 0; i < q.scenarios->items.size(); ++i) {
    const Node& given = q.scenarios->items[i];
    try {
      if (q.trains) {
        add_scenario<TrainOptions>(document, given, asker, answers, parts, run_train,
                                   read_scenario);
      } else {
        add_scenario<InferOptions>(document, given, asker, answers, parts, run_infer, read_serving);
      }
    } catch (const InputError& e) {
      throw numbered(e, i);
    }
  }
  root.set("answers", std::move(answers));
  Node& differences = root.set("differences", Node::array());
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    differences.push(difference(parts[i], parts[i + 1], i, q.trains));
  }
  return root;
}

}  // namespace sextant::cli
