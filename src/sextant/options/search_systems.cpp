// SPDX-License-Identifier: Apache-2.0
#include "sextant/options/search_systems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sextant/io/text.hpp"
#include "sextant/options/scenario.hpp"
#include "sextant/options/search_capacity.hpp"
#include "sextant/options/search_space.hpp"
#include "sextant/scenario/prices.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

constexpr std::size_t most_systems = 32;

template <class Search>
class SystemsReader {
 public:
  using ReadOne = Search (*)(const SearchOptions&, const Common&);

  SystemsReader(const SearchOptions& o, const Common& common) : o_(o), common_(common) {}

  SystemsAsked<Search> read(ReadOne read_one) {
    const std::vector<PresetRef> systems = named();
    refuse();
    const std::optional<SearchBudget> budget = budget_of();
    SystemsAsked<Search> all{.budget = budget.value_or(SearchBudget{})};
    all.run = read_run({.tokens = o_.tokens, .price = {}, .given = Node::table()}, flags_.problems);
    check_run(all);
    for (const PresetRef& system : systems) read_system(system, read_one, all);
    if (flags_.problems.empty()) price(all);
    throw_if_any(std::move(flags_.problems));
    for (SystemAsked<Search>& s : all.systems) {
      const System& system = s.search.scenario.system;
      s.most = most_devices(all.budget, system, s.price.value_or(0));
      const Problem& problem = s.search.scenario.problem;
      s.counts = all.budget.kind == BudgetKind::dollars ? all_counts_of(system, problem)
                                                        : counts_of(s.most, system, problem);
    }
    return all;
  }

 private:
  std::vector<PresetRef> named() {
    std::vector<PresetRef> systems;
    for (const std::string& name : o_.systems) {
      const bool again = find_by(systems, &PresetRef::name, name) != nullptr;
      if (again) flags_.add("--systems", "'" + printable(name) + "' is there twice");
      systems.push_back({.name = name});
    }
    if (!o_.systems.empty() && !o_.system.empty()) {
      flags_.add("--system", "there are --systems", "leave one of the two out");
    }
    if (o_.systems.empty()) systems.push_back(o_.system);
    if (o_.systems.empty() && o_.system.empty()) {
      flags_.add("--systems", "which systems may be bought?", "such as dgx-h100,dgx-b200");
    }
    if (systems.size() > most_systems) {
      flags_.add("--systems", fmt::format("{} are more than one search compares", systems.size()),
                 fmt::format("{} at most", most_systems));
      systems.clear();
    }
    return systems;
  }

  void refuse() {
    if (o_.max_gpus) flags_.add("--max-gpus", "a budget says how many", "leave it out");
    if (o_.loosen) flags_.add("--loosen", "is of one system", "leave it out, or --systems");
    if (!o_.plot.empty()) flags_.add("--plot", "is of one system", "leave it out, or --systems");
    if (o_.gpus && !o_.budget.empty()) {
      flags_.add("--gpus", "there is a --budget", "leave one of the two out");
    }
  }

  /// So many of each where no budget says it.
  std::optional<SearchBudget> budget_of() {
    if (!o_.budget.empty()) return read_budget(o_.budget, flags_);
    if (o_.gpus) {
      check_devices(o_, flags_);
      return SearchBudget{BudgetKind::devices, static_cast<double>(*o_.gpus)};
    }
    flags_.add("--budget", "what may be spent on each of the systems?",
               "such as '2 MW', '300 $/h' or '512 gpus'");
    return std::nullopt;
  }

  void check_run(const SystemsAsked<Search>& all) {
    const bool serves = !std::is_same_v<Search, TrainingSearch>;
    if (serves && !o_.tokens.empty()) {
      flags_.add("--tokens", "is of training", "leave it out, or leave out --infer");
    }
    if (all.budget.kind != BudgetKind::dollars) return;
    if (serves) {
      flags_.add("--budget", "serving has no end to be paid for",
                 "say dollars an hour, such as '300 $/h'");
    } else if (o_.tokens.empty()) {
      flags_.add("--tokens", "a budget in dollars is of a whole run: of how many tokens?",
                 "such as --tokens 15T; or say dollars an hour, such as '300 $/h'");
    }
    if (o_.objective == "memory" || o_.objective == "energy") {
      flags_.add("--objective", "a budget in dollars is for time or cost",
                 "such as tokens-per-second");
    }
  }

  void read_system(const PresetRef& system, ReadOne read_one, SystemsAsked<Search>& all) {
    SearchOptions one = o_;
    one.system = system;
    one.gpus = 1;  // the budget says how many, when the system is known
    one.max_gpus = std::nullopt;
    one.loosen = false;
    one.price = o_.objective == "cost" ? "0" : "";  // each has its own, below
    try {
      all.systems.push_back({.name = system.name, .search = read_one(one, common_)});
    } catch (const InputError& e) {
      for (Diagnostic d : e.diagnostics()) add_once(std::move(d));
    }
  }

  /// What is wrong for every system is said once.
  void add_once(Diagnostic d) {
    if (d.file == "--system" && !o_.systems.empty()) d.file = "--systems";
    const auto key = [](const Diagnostic& x) { return std::tie(x.file, x.field, x.message); };
    const bool known = std::any_of(flags_.problems.begin(), flags_.problems.end(),
                                   [&](const Diagnostic& x) { return key(x) == key(d); });
    if (!known) flags_.problems.push_back(std::move(d));
  }

  void price(SystemsAsked<Search>& all) {
    const bool money = all.budget.kind == BudgetKind::dollars ||
                       all.budget.kind == BudgetKind::dollars_per_hour || o_.objective == "cost";
    std::vector<const System*> systems;
    for (SystemAsked<Search>& s : all.systems) {
      const System& system = s.search.scenario.system;
      systems.push_back(&system);
      DevicePrice p = read_device_price(o_.price, system, flags_.problems);
      s.price = p.dollars_per_hour;
      if (!p.assumption.empty()) all.assumptions.push_back(s.name + ": " + p.assumption);
      if (!money) continue;
      if (o_.price.empty() && !p.dollars_per_hour) {
        flags_.add("--price", "no public tier has " + system.device.name,
                   fmt::format("give dollars a device and hour: --price {}=2.50", s.name));
      } else if (p.dollars_per_hour && *p.dollars_per_hour <= 0) {
        flags_.add("--price", s.name + " is free: no money limits it");
      }
    }
    check_price_names(o_.price, systems, flags_.problems);
  }

  const SearchOptions& o_;
  const Common& common_;
  Flags flags_;
};

/// What requests over time leave no room for, and what is of them alone.
void check_traffic(const SearchOptions& o, Flags& flags) {
  const char* leave = "leave it out, or --traffic";
  if (o.traffic.empty()) {
    const char* give = "give --traffic as well, such as poisson";
    const auto is_of_traffic = [&](const char* flag, bool given) {
      if (given) flags.add(flag, "is of --traffic", give);
    };
    is_of_traffic("--rate", o.rate.has_value());
    is_of_traffic("--burstiness", o.burstiness.has_value());
    is_of_traffic("--requests", o.requests.has_value());
    is_of_traffic("--lengths", !o.lengths.empty());
    is_of_traffic("--length-ratio", o.length_ratio.has_value());
    is_of_traffic("--spread", o.spread.has_value());
    is_of_traffic("--max-ttft-p99", !o.max_ttft_p99.empty());
    is_of_traffic("--max-tpot-p99", !o.max_tpot_p99.empty());
    return;
  }
  if (!o.max_ttft.empty()) {
    flags.add("--max-ttft", "is of requests alone", "say --max-ttft-p99");
  }
  if (!o.max_tpot.empty()) {
    flags.add("--max-tpot", "is of requests alone", "say --max-tpot-p99");
  }
  if (o.min_throughput) flags.add("--min-throughput", "--rate says what must be served", leave);
  if (o.max_gpus) flags.add("--max-gpus", "--gpus is the most that it may take", leave);
  if (o.exhaustive) flags.add("--exhaustive", "is of training", leave);
  if (o.loosen) flags.add("--loosen", "is of training", leave);
  if (!o.max_memory.empty()) flags.add("--max-memory", "is of training", leave);
  if (!o.explore.empty()) flags.add("--explore", "is of training", leave);
  if (!o.fix.empty()) flags.add("--fix", "engines for --traffic are laid out freely", leave);
  if (!o.limit.empty()) flags.add("--limit", "engines for --traffic are laid out freely", leave);
  if (!o.objective.empty() && o.objective != name_of(ServingObjective::devices)) {
    flags.add("--objective", "for --traffic it is the fewest devices", leave);
  }
}

}  // namespace

void check_scenario(const SearchOptions& o, const Common& common) {
  // A plan has scenarios of its own; what is missing has been said.
  const bool systems = asks_systems(o);
  const bool counted = !o.budget.empty() || o.gpus.has_value();
  if (!o.plan.empty() || o.model.empty() || (o.system.empty() && o.systems.empty())) return;
  if (systems && !counted) return;
  if (systems) {
    check_systems(o, common);
  } else if (!o.traffic.empty()) {
    read_capacity_search(o, common);
  } else if (o.infer) {
    read_serving_search(o, common);
  } else {
    read_training_search(o, common);
  }
}

void check_asked(const SearchOptions& o, const Common& common) {
  try {
    check_asked(o, asks_systems(o));
  } catch (const InputError& e) {
    refuse(e.diagnostics(), common, [&](const Common& c) { check_scenario(o, c); });
  }
}

void check_asked(const SearchOptions& o, bool systems) {
  Flags flags;
  const auto required = [&](const char* flag, const char* hint) {
    flags.problems.push_back({.message = std::string(flag) + " is required", .hint = hint});
  };
  check_traffic(o, flags);
  if (o.model.empty()) required("--model", "a preset, a file or a Hugging Face config.json");
  if (!systems) {
    if (o.system.empty()) required("--system", "a preset or a file, or several --systems");
    if (!o.gpus && o.traffic.empty()) required("--gpus", "devices, or a --budget such as '2 MW'");
    if (!o.tokens.empty()) flags.add("--tokens", "there is neither a --budget nor --systems");
  }
  throw_if_any(std::move(flags.problems));
}

SystemsAsked<TrainingSearch> read_training_systems(const SearchOptions& o, const Common& common) {
  return SystemsReader<TrainingSearch>(o, common).read(
      [](const SearchOptions& one, const Common& c) { return read_training_search(one, c); });
}

SystemsAsked<ServingSearch> read_serving_systems(const SearchOptions& o, const Common& common) {
  return SystemsReader<ServingSearch>(o, common).read(
      [](const SearchOptions& one, const Common& c) { return read_serving_search(one, c); });
}

SystemsAsked<CapacitySearch> read_capacity_systems(const SearchOptions& o, const Common& common) {
  return SystemsReader<CapacitySearch>(o, common).read(
      [](const SearchOptions& one, const Common& c) { return read_capacity_search(one, c); });
}

void check_systems(const SearchOptions& o, const Common& common) {
  if (!o.traffic.empty()) {
    read_capacity_systems(o, common);
  } else if (o.infer) {
    read_serving_systems(o, common);
  } else {
    read_training_systems(o, common);
  }
}

}  // namespace sextant
