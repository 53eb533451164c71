// SPDX-License-Identifier: Apache-2.0
// `sextant tech`: a device from technology and budgets, where its area and power go, and the best
// split of them for a workload.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/figure.hpp"
#include "sextant/answer/device.hpp"
#include "sextant/io/write.hpp"
#include "sextant/options/scenario.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/study/problems.hpp"
#include "sextant/tech/parts.hpp"
#include "sextant/tech/usual.hpp"
#include "sextant/units/lists.hpp"
#include "sextant/units/parse.hpp"

namespace sextant::cli {

using design::Workload;
using study::load_technology;

namespace {

int whole(Flags& flags, const char* flag, const std::optional<int>& value, int otherwise, int least,
          int most) {
  const int v = value.value_or(otherwise);
  if (v >= least && v <= most) return v;
  flags.add(flag, fmt::format("expected a whole number from {} to {}, got {}", least, most, v));
  return otherwise;
}

/// Adds what is wrong with a part, once, beside the flag that names it: `flag` where the problem is
/// of the name alone, or one of `flags_of_fields` where it carries a field.
using FlagOfField = std::pair<std::string_view, const char*>;
void add_named(Flags& flags, const InputError& e, const char* flag,
               std::initializer_list<FlagOfField> flags_of_fields = {}) {
  for (Diagnostic& d : placed_at(flag, e)) {
    for (const auto& [field, its_flag] : flags_of_fields) {
      if (!d.file.empty() || d.field != field) continue;
      d.file = its_flag;
      d.field.clear();
    }
    const bool again = std::any_of(
        flags.problems.begin(), flags.problems.end(),
        [&](const Diagnostic& x) { return x.file == d.file && x.message == d.message; });
    if (!again) flags.problems.push_back(std::move(d));
  }
}

/// "base n7 370mm2 x4 hybrid": role, node, area of one, and what may be left out.
Chiplet read_chiplet(Flags& flags, const std::string& text, Lookup lookup) {
  constexpr const char* flag = "--chiplet";
  Chiplet c;
  std::istringstream words(text);
  std::string role;
  std::string node;
  std::string area;
  std::string word;
  words >> role >> node >> area;
  if (area.empty()) {
    flags.add(flag, "expected a role, a node and an area, got '" + text + "'",
              "such as 'base n7 370mm2 x4 hybrid'");
    return c;
  }
  c.role = flags.choice<DieRole>(flag, role);
  try {
    c.node = load_node(node, {}, lookup);
  } catch (const InputError& e) {
    add_named(flags, e, flag);
  }
  c.area = flags.quantity<SquareMeters>(flag, area, {.most = 1});
  while (words >> word) {
    if (word.starts_with('x')) {
      const std::optional<int> count = read_count(word);
      if (!count) flags.add(flag, wrong_count(word));
      c.count = count.value_or(1);
    } else {
      c.bond = flags.choice<Bonding>(flag, word);
    }
  }
  return c;
}

/// "n5,n3" as two names; an empty text is one empty name.
std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names(1);
  for (const char c : text) {
    if (c == ',') {
      names.emplace_back();
    } else if (c != ' ') {
      names.back() += c;
    }
  }
  return names;
}

/// "hbf x2": parts of a second memory, by the name of one; fields of it as `tier.bandwidth`.
struct TierParts {
  MemoryPart part;
  int count = 0;
};
TierParts read_tier(Flags& flags, const TechOptions& o, const std::vector<Setting>& settings,
                    Lookup lookup) {
  TierParts t;
  Diagnostic problem;
  const std::optional<NamedParts> parts = read_parts(o.tier, problem);
  if (!parts) flags.add("--tier", problem.message, problem.hint);
  if (!parts) return t;
  if (parts->count == 0) {
    for (const Setting& s : settings) {
      if (s.path.starts_with("tier.")) {
        flags.add("--set", s.path + " is of --tier, which is not given");
      }
    }
    return t;
  }
  t.count = parts->count;
  try {
    t.part = load_dram(parts->name, {}, lookup);
    apply(settings, t.part, "tier");
  } catch (const InputError& e) {
    add_named(flags, e, "--tier");
  }
  return t;
}

/// Of every node with every memory that was named; several only where they are a choice.
std::vector<Technology> read_technologies(Flags& flags, const TechOptions& o,
                                          const std::vector<Setting>& settings, Lookup lookup) {
  const bool free = !o.pareto.empty() || !o.strategy.empty();
  const auto rate = flags.choice<MemoryRate>("--memory-rate", o.memory_rate);
  std::vector<Chiplet> chiplets;
  for (const std::string& text : o.chiplet) chiplets.push_back(read_chiplet(flags, text, lookup));
  std::vector<Technology> all;
  for (const std::string& node : free ? names_in(o.node) : std::vector{o.node}) {
    for (const std::string& dram : free ? names_in(o.dram) : std::vector{o.dram}) {
      Technology& t = all.emplace_back();
      try {
        t = load_technology({node, dram, o.link_gen, o.core}, settings, lookup);
      } catch (const InputError& e) {
        add_named(
            flags, e, "",
            {{"node", "--node"}, {"dram", "--dram"}, {"link", "--link-gen"}, {"core", "--core"}});
      }
      MemoryPart& memory = t.memory;
      if (rate == MemoryRate::standard && memory.standard.value > 0) {
        memory.bandwidth = memory.standard;
        forget_range(memory.ranges, "bandwidth");  // a standard leaves no doubt
      }
      t.chiplets = chiplets;
    }
  }
  return all;
}

DeviceResult read(const TechOptions& o, const Common& common) {
  DeviceResult a;
  Flags flags;
  const std::vector<Setting> settings =
      settings_of(common, {"node", "dram", "link", "core", "tier"}, flags.problems);
  a.technologies = read_technologies(flags, o, settings, common.lookup);
  const TierParts tier = read_tier(flags, o, settings, common.lookup);
  for (Technology& t : a.technologies) t.tier = tier.part;
  a.technology = a.technologies.front();
  Budget& b = a.budget;
  b.tier_parts = tier.count;
  const UsualParts usual = usual_parts(a.technology.node);
  // A square metre is more than any wafer; a megawatt more than any cooling.
  b.area = flags.quantity("--area", o.area, {.most = 1}, b.area);
  b.power = flags.quantity<Watts>("--power", o.power, {.most = 1e6});
  b.l2 = flags.quantity<Bytes>("--l2", o.l2, {.most = 1e15});
  b.dies = whole(flags, "--dies", o.dies, 1, 1, 16);
  b.stacks = whole(flags, "--stacks", o.stacks, 0, 0, 1000);
  b.spare_stacks = whole(flags, "--spare-stacks", o.spare_stacks, 0, 0, 1000);
  b.links = whole(flags, "--links", o.links, usual.links, 0, 10000);
  b.kept = o.kept.value_or(0);
  throw_if_any(std::move(flags.problems));
  const auto assume = [&](std::string text) { a.assumptions.push_back(std::move(text)); };
  const bool free = !o.pareto.empty();
  if (o.node.empty()) assume("node " + a.technology.node.name + ", as H100");
  if (o.dram.empty()) assume("memory " + a.technology.memory.name);
  if (o.area.empty() && !free) assume("area " + format(b.area) + ", as H100");
  if (o.core.empty())
    assume("core " + a.technology.core.name + ", as H100; --core own: of the node's time");
  if (o.link_gen.empty()) assume("link " + a.technology.link.name);
  const bool split = free || !o.optimise.empty();  // chosen, not assumed
  if (!o.links && !split) assume(fmt::format("links {}", b.links));
  if (!o.stacks && !split) assume("stacks: as many as the die's edge holds beside the links");
  if (o.l2.empty() && !split) assume("l2: 14.5 % of the area, as A100 and H100");
  if (o.power.empty() && !free) assume("power: what a full load at the rated clock needs");
  for (const auto& [what, confidence] :
       {std::pair{a.technology.node.name, a.technology.node.confidence},
        std::pair{a.technology.memory.name, a.technology.memory.confidence},
        std::pair{tier.part.name, tier.part.confidence},
        std::pair{a.technology.core.name, a.technology.core.confidence}}) {
    if (confidence <= Confidence::low) {
      assume(fmt::format("{}: confidence {}", what, name_of(confidence)));
    }
  }
  return a;
}

/// Whether the workload trains: --workload and --optimise say the same, where they say anything.
bool trains(Flags& flags, const TechOptions& o) {
  const auto read = [&](const char* flag, const std::string& text) {
    if (text.empty() || text == "train" || text == "infer") return;
    flags.add(flag, "expected train or infer, got '" + text + "'");
  };
  read("--optimise", o.optimise);
  read("--workload", o.workload);
  if (!o.workload.empty() && !o.optimise.empty() && o.workload != o.optimise) {
    flags.add("--workload", "is " + o.workload + ", but --optimise is " + o.optimise,
              "one of them is enough");
  }
  return (o.optimise.empty() ? o.workload : o.optimise) != "infer";
}

/// The networks that were named; several only where they are a choice.
std::vector<LinkPart> read_networks(const TechOptions& o, Lookup lookup) {
  Flags flags;
  std::vector<LinkPart> all;
  for (const std::string& name :
       o.strategy.empty() ? std::vector{o.network} : names_in(o.network)) {
    try {
      all.push_back(load_link(name, {}, lookup));
    } catch (const InputError& e) {
      add_named(flags, e, "--network");
    }
  }
  throw_if_any(std::move(flags.problems));
  return all;
}

/// To train four ways each, as far as the devices can be dealt out so.
void read_degrees(Flags& flags, const TechOptions& o, const Common& common, int gpus, Workload& w) {
  Strategy& s = w.strategy;
  const int usual = w.trains ? 4 : 1;
  const auto left_by = [&](int taken) { return taken > 0 && gpus % taken == 0 ? gpus / taken : 1; };
  s.tp = whole(flags, "--tp", o.tp, std::gcd(usual, left_by(o.pp.value_or(1))), 1, 100000);
  s.pp = whole(flags, "--pp", o.pp, std::gcd(usual, left_by(s.tp)), 1, 100000);
  const std::int64_t each = std::int64_t{s.tp} * s.pp;
  s.dp = static_cast<int>(std::max<std::int64_t>(1, gpus / each));
  const bool known = flags.problems.empty() && !unread(common, {"gpus", "tp", "pp"});
  if (o.gpus && known && gpus % each != 0) {
    flags.add("--gpus",
              fmt::format("{} devices are not dealt out by tp {} and pp {}", gpus, s.tp, s.pp),
              fmt::format("a multiple of {}, or other degrees", each));
  }
}

Workload workload_of(const TechOptions& o, const LinkPart& network, const Common& common) {
  Flags flags;
  Workload w;
  w.goal = flags.choice<design::Goal>("--objective", o.objective);
  w.trains = trains(flags, o);
  const PresetRef usual = {w.trains ? "gpt3-6.7b" : "llama2-13b"};
  try {
    w.model = load_model(o.model.empty() ? usual : o.model, {}, common.lookup);
  } catch (const InputError& e) {
    add_named(flags, e, "--model");
  }
  Strategy& s = w.strategy;
  const bool served_by_node = !o.strategy.empty() && !o.tp && !o.pp;
  const double asked = 1.0 * o.tp.value_or(1) * o.pp.value_or(1);
  const int served =
      served_by_node ? w.around.devices_per_node : static_cast<int>(std::clamp(asked, 1.0, 1e7));
  const int gpus = whole(flags, "--gpus", o.gpus, w.trains ? 1024 : served, 1, 10000000);
  read_degrees(flags, o, common, gpus, w);
  s.sp = w.trains && s.tp > 1;
  s.zero = w.trains ? 1 : 0;
  s.precision =
      o.precision.empty() ? Precision::bf16 : flags.choice<Precision>("--precision", o.precision);
  w.training.batch = whole(flags, "--batch", o.batch, w.trains ? 512 : 1, 1, 100000000);
  w.training.seq = whole(flags, "--seq", o.seq, 2048, 1, 100000000);
  w.serving = {.batch = w.training.batch,
               .input = whole(flags, "--input", o.input, 200, 1, 100000000),
               .output = whole(flags, "--output-tokens", o.output_tokens, 200, 1, 100000000)};
  w.price = flags.quantity<Dollars>("--price", o.price, {.most = 1e9});
  w.around.network = network;
  w.around.max_devices = std::max(32768, gpus);
  throw_if_any(std::move(flags.problems));
  return w;
}

void choose_together(const TechOptions& o, Workload& w, const std::vector<LinkPart>& networks,
                     const AllocationSpace& space, DeviceResult& a) {
  constexpr std::size_t most = 24;  // a second or two each
  const std::size_t pairs = a.technologies.size() * networks.size();
  if (pairs > most) {
    throw InputError(
        fmt::format("--strategy best: {} pairs of technology and network, {} at most", pairs, most),
        "list fewer of node, dram and network");
  }
  const Strategy& s = w.strategy;
  const design::StrategyFreedom free{
      .devices = s.tp * s.pp * s.dp, .tp = o.tp, .pp = o.pp, .precision = s.precision};
  a.together = design::best_together(w, a.technologies, networks, a.budget, space, free);
  a.split = a.together->split;
  a.technology = a.technologies[a.together->technology];
  w.around.network = networks[a.together->network];
  w.strategy = a.together->strategy;
  a.network = w.around.network.name;
}

void optimise(const TechOptions& o, Workload& w, const std::vector<LinkPart>& networks,
              DeviceResult& a) {
  const AllocationSpace space{.l2 = o.l2.empty(),
                              .stacks = !o.stacks,
                              .links = !o.links,
                              .clock = w.goal != design::Goal::time};
  if (o.strategy.empty()) {
    a.split = design::best_split(w, a.technology, a.budget, a.blueprint, space);
  } else {
    choose_together(o, w, networks, space, a);
  }
  a.budget = a.split->allocation.budget;
  a.blueprint = a.split->allocation.blueprint;
}

/// What is asked beyond the device needs something for it to do.
bool has_workload(const TechOptions& o) {
  return !o.optimise.empty() || o.uncertainty || !o.pareto.empty() || !o.solve.empty();
}

std::vector<design::Respect> respects_of(const TechOptions& o) {
  Flags flags;
  std::vector<design::Respect> all;
  for (const std::string& text : o.pareto) {
    const std::size_t wrong = flags.problems.size();
    const auto r = flags.choice<design::Respect>("--pareto", text);
    if (wrong == flags.problems.size() && contains(all, r)) {
      flags.add("--pareto", "names '" + text + "' twice");
    }
    all.push_back(r);
  }
  if (all.size() < 2 || all.size() > 3) {
    flags.add("--pareto",
              fmt::format("expected two or three of time, cost, power, energy, area, "
                          "got {}",
                          all.size()),
              "such as time,cost,power");
  }
  throw_if_any(std::move(flags.problems));
  return all;
}

void trade(const TechOptions& o, const Workload& w, DeviceResult& a) {
  const design::Freedom free{.area = o.area.empty(),
                             .dies = !o.dies,
                             .stacks = !o.stacks,
                             .links = !o.links,
                             .l2 = o.l2.empty(),
                             .power = o.power.empty()};
  a.front = design::front_of(w, a.technologies, a.budget, free, respects_of(o));
  const design::Design& chosen = a.front->designs[a.front->balanced];
  a.technology = a.technologies[chosen.technology];
  a.budget = chosen.budget;
  a.blueprint = chosen.blueprint;
}

void solve(const TechOptions& o, const Workload& w, DeviceResult& a) {
  a.solution = design::solve(w, {a.technology, a.budget}, o.solve, design::read_condition(o.until));
  a.technology = a.solution->machine.technology;
  a.budget = a.solution->machine.budget;
  a.blueprint = a.solution->blueprint;
}

void assume_workload(const TechOptions& o, const Workload& w, DeviceResult& a) {
  const Strategy& s = w.strategy;
  const int devices = s.tp * s.pp * s.dp * s.cp;
  if (o.workload.empty() && o.optimise.empty()) a.assumptions.push_back("workload train");
  a.assumptions.push_back(
      w.trains ? fmt::format("{} trains on {} devices: tp {}, pp {}, batch {}, {}", w.model.name,
                             devices, s.tp, s.pp, w.training.batch, name_of(s.precision))
               : fmt::format("{} served on {} devices: tp {}, pp {}, batch {}, {} in, {} out, {}",
                             w.model.name, devices, s.tp, s.pp, w.serving.batch, w.serving.input,
                             w.serving.output, name_of(s.precision)));
}

/// The workload's time on the device that was chosen, and how sure it is.
std::optional<WorkloadTime> predicted_on(const Workload& w, DeviceResult& a) {
  const design::Outcome out = design::time_on(w, a.technology, a.blueprint);
  if (!out.runs()) return std::nullopt;
  const Problem p = design::problem_on(w, a.technology, a.blueprint);
  a.assumptions.push_back("runtime " + p.runtime.name);
  return WorkloadTime{out.time, likeness_of(w.trains ? Asked::train : Asked::infer,
                                            a.blueprint.device.name, p, w.strategy)};
}

/// Of a workload's options those that what is asked about it never reads.
void check_workload_needs(Flags& flags, const TechOptions& o) {
  const auto unread = [&](const char* flag, bool given, const char* whose, bool asked) {
    if (given && !asked) flags.add(flag, std::string("is of ") + whose);
  };
  unread("--objective", o.objective != TechOptions{}.objective, "--optimise, which is not given",
         !o.optimise.empty());
  unread("--price", !o.price.empty(), "the objective cost, which is not asked for",
         o.objective == "cost");
  unread("--network", o.network != TechOptions{}.network,
         "a workload or a --system, neither of which is asked for", has_workload(o) || o.system);
  if (!has_workload(o)) return;
  Flags unsaid;  // what is wrong with the workload itself is said where it is read
  const bool training = trains(unsaid, o);
  unread("--seq", o.seq.has_value(), "training, and the workload serves", training);
  unread("--input", o.input.has_value(), "serving, and the workload trains", !training);
  unread("--output-tokens", o.output_tokens.has_value(), "serving, and the workload trains",
         !training);
}

/// Options that mean nothing without another.
void check_needs(const TechOptions& o) {
  Flags flags;
  if (!o.uncertainty && o.samples)
    flags.add("--samples", "is of --uncertainty, which is not given");
  if (!o.uncertainty && o.seed) flags.add("--seed", "is of --uncertainty, which is not given");
  if (o.solve.empty() != o.until.empty()) {
    flags.add(o.solve.empty() ? "--until" : "--solve",
              o.solve.empty() ? "needs the number that is sought: --solve"
                              : "needs the condition that it is sought for: --until",
              "such as --solve dram.bandwidth --until 'share.dram<0.5'");
  }
  if (!o.strategy.empty() && o.optimise.empty()) {
    flags.add("--strategy", "is of --optimise, which is not given");
  }
  if (!o.strategy.empty() && o.strategy != "best") {
    flags.add("--strategy", "expected best, got '" + o.strategy + "'");
  }
  if (!has_workload(o)) {
    const auto unasked = [&](const char* flag, bool given) {
      if (!given) return;
      flags.add(flag, "is of a workload, which nothing asks about",
                "--optimise, --pareto, --solve and --uncertainty do; or '--system -o made.toml', "
                "which 'train' and 'infer' take as --system");
    };
    unasked("--workload", !o.workload.empty());
    unasked("--model", !o.model.empty());
    unasked("--precision", !o.precision.empty());
    unasked("--gpus", o.gpus.has_value());
    unasked("--tp", o.tp.has_value());
    unasked("--pp", o.pp.has_value());
    unasked("--batch", o.batch.has_value());
    unasked("--seq", o.seq.has_value());
    unasked("--input", o.input.has_value());
    unasked("--output-tokens", o.output_tokens.has_value());
  }
  check_workload_needs(flags, o);
  const int modes =
      (o.pareto.empty() ? 0 : 1) + (o.solve.empty() ? 0 : 1) + (o.optimise.empty() ? 0 : 1);
  if (modes > 1) {
    flags.add("--pareto", "one of --pareto, --solve and --optimise at a time");
  }
  throw_if_any(std::move(flags.problems));
}

/// All that was asked.
struct TechQuestion {
  DeviceResult device;
  std::vector<LinkPart> networks;
  std::optional<Workload> workload;
};
TechQuestion read_tech(const TechOptions& o, const Common& common) {
  TechQuestion q;
  Flags flags;
  const auto attempt = [&](const auto& work) { flags.attempt("", work); };
  attempt([&] { check_needs(o); });
  if (parse_number(common.output)) {
    flags.add("--output", "is the file to write", "tokens generated are --output-tokens");
  }
  attempt([&] { q.device = read(o, common); });
  attempt([&] { q.networks = read_networks(o, common.lookup); });
  if (has_workload(o)) {
    const LinkPart network = q.networks.empty() ? LinkPart{} : q.networks.front();
    attempt([&] { q.workload = workload_of(o, network, common); });
  }
  if (!o.pareto.empty()) attempt([&] { respects_of(o); });
  if (!o.until.empty()) attempt([&] { design::read_condition(o.until); });
  throw_if_any(std::move(flags.problems));
  return q;
}

}  // namespace

Answer run_tech(const TechOptions& options, const Common& common) {
  check_figure_path(options.plot);
  TechQuestion q = read_tech(options, common);
  DeviceResult& a = q.device;
  LinkPart network = q.networks.front();
  if (options.pareto.empty()) a.blueprint = generate(a.technology, a.budget);
  if (q.workload) {
    Workload& w = *q.workload;
    a.trains = w.trains;
    if (!options.optimise.empty()) optimise(options, w, q.networks, a);
    assume_workload(options, w, a);
    network = w.around.network;
    if (!options.pareto.empty()) trade(options, w, a);
    if (!options.solve.empty()) solve(options, w, a);
    a.predicted = predicted_on(w, a);
    if (options.uncertainty) {
      a.uncertainty =
          design::uncertainty_of(w, a.technology, a.budget, options.samples.value_or(usual_samples),
                                 static_cast<std::uint64_t>(options.seed.value_or(1)));
    }
  }
  if (options.system) a.system = system_of(a.blueprint, a.technology, {.network = network});
  Answer answer = with_figure(answer_of(a), options.plot);
  if (!common.output.ends_with(".toml")) return answer;
  const std::string head =
      "# SPDX-License-Identifier: Apache-2.0\n# Generated by sextant tech; "
      "edit it, or give it to any command.\n\n";
  return Answer::verbatim(head + to_toml(a.system ? write(*a.system) : write(a.blueprint.device)));
}

}  // namespace sextant::cli

namespace sextant {
void check_scenario(const TechOptions& options, const Common& common) {
  cli::read_tech(options, common);
}
}  // namespace sextant
