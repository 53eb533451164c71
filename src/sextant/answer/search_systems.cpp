// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/search_systems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/answer/capacity.hpp"
#include "sextant/answer/parts.hpp"
#include "sextant/answer/run.hpp"
#include "sextant/answer/search.hpp"
#include "sextant/answer/search_groups.hpp"
#include "sextant/io/errors.hpp"
#include "sextant/io/write.hpp"
#include "sextant/predict/energy.hpp"
#include "sextant/study/difference.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {

namespace {

/// Devices of the whole nodes that a job takes; a part of one node is not more than it is.
double bought_devices(const System& system, double devices) {
  const double node = std::max(1, system.devices_per_node);
  return devices < node ? devices : std::ceil(devices / node) * node;
}

const char* counted(BudgetKind kind) {
  switch (kind) {
    case BudgetKind::devices:
      return "devices, in whole nodes where there is more than one";
    case BudgetKind::power:
      return "the power limit of devices and the nodes around them; the building (PUE) does not";
    case BudgetKind::dollars_per_hour:
      return "the price of a device and hour, in whole nodes where there is more than one";
    case BudgetKind::dollars:
      break;
  }
  return "the price of a device and hour over the whole run, failures and restarts included";
}

}  // namespace

Record record_of(const SearchBudget& b) {
  Record r;
  r("kind", b.kind);
  r("amount", b.amount);
  r("text", text_of(b));
  r("counts", counted(b.kind));
  return r;
}

std::string times(double ratio) { return fmt::format("{:.3g} x", ratio); }

Item dollars_item(double dollars) { return said(dollars, text_of({BudgetKind::dollars, dollars})); }

std::optional<double> SystemTaken::dollars_per_hour() const {
  return price ? std::optional(bought * *price) : std::nullopt;
}

namespace {

constexpr double hour = 3600;

/// One system, trained or served on.
struct SystemRow : SystemTaken {
  std::string device;
  std::string runtime;
  int most = 0;      ///< devices that the budget buys
  double score = 0;  ///< the smaller the better
  std::optional<Contender> contender = {};
  std::vector<Unmeasured> unmeasured = {};
  Likeness likeness = {};
  double headline = 0;  ///< what it is the error of: a step, a request, or p99 of a token
  Seconds time;         ///< of a step, of a token; of 99 in 100 requests over time
  Seconds first_token;
  double requests_per_second = 0;  ///< over time, that it holds at most
  double headroom = 0;
  double mfu = 0;
  Bytes memory;
  Scenario scenario = {};
  bool stopped = false;
  std::optional<double> gap = {};
  // Beside the first.
  std::optional<double> chance = {};  ///< that the first is better
  std::string why = {};

  bool alike() const { return chance && *chance < surely; }
};

struct View {
  Task task = Task::train;
  bool traffic = false;  ///< serving requests over time
  const SearchBudget& budget;
  std::string_view objective;
  bool prices = false;  ///< some are known
  bool runs = false;
  bool chances = false;  ///< of one of them
};

Item spent_item(const SearchBudget& b, double spent) {
  switch (b.kind) {
    case BudgetKind::devices:
      return general(spent, 6);
    case BudgetKind::power:
      return Watts(spent);
    case BudgetKind::dollars_per_hour:
      return said(spent, fmt::format("{:.4g} $/h", spent));
    case BudgetKind::dollars:
      break;
  }
  return dollars_item(spent);
}

void describe(Record& r, const SystemRow& x, const View& v, std::size_t rank) {
  const bool train = v.task == Task::train;
  const auto item = [&](Item cell) { return only_if(x.any, std::move(cell)); };
  const double hourly = x.dollars_per_hour().value_or(0);
  r("rank", only_if(x.any, rank), " ");
  r("system", x.system, "system");
  r("device", x.device);
  r("runtime", x.runtime);
  r("most_gpus", x.most);
  r("gpus", item(x.devices), "devices");
  r("spent", item(spent_item(v.budget, x.spent)), "takes");
  r("budget_share", item(percent(x.spent / v.budget.amount)), "of it");
  if (train) {
    r("step_seconds", item(rounded(x.time, 4)), "step");
  } else if (v.traffic) {
    r("ttft_p99_seconds", item(x.first_token), "TTFT p99");
    r("tpot_p99_seconds", item(x.time), "TPOT p99");
    r("most_requests_per_second", item(general(x.requests_per_second, 4)), "most/s");
    r("headroom", item(percent(x.headroom, 0)), "headroom");
  } else {
    r("ttft_seconds", item(x.first_token), "first token");
    r("tpot_seconds", item(x.time), "a token");
  }
  r("tokens_per_second", item(general(x.tokens_per_second, 4)), "tokens/s");
  r("tokens_per_second_per_gpu", item(x.any ? x.tokens_per_second / x.devices : 0));
  r("tokens_per_dollar",
    only_if(x.any && hourly > 0, general(x.tokens_per_second * hour / hourly, 4)),
    v.prices ? "tokens/$" : "");
  r("tokens_per_joule", item(general(x.tokens_per_joule, 3)), "tokens/J");
  if (train) r("mfu", item(percent(x.mfu)), "MFU");
  if (!v.traffic) r("memory_bytes", item(binary(x.memory)), "memory");
  r("watts", item(x.power * x.bought));
  r("dollars_per_gpu_hour", x.price);
  r("dollars_per_hour", only_if(x.any && x.price.has_value(), hourly));
  if (v.runs) {
    const bool ends = x.run && x.run->ends();
    r("run_days", only_if(ends, general(ends ? x.run->time.value / day : 0, 4)), "days");
    r("run_dollars", only_if(ends && x.price.has_value(), dollars_item(x.run_cost)),
      v.prices && v.budget.kind != BudgetKind::dollars ? "the run" : "");
  }
  r("probability_first_is_better", only_if(x.chance.has_value(), percent(x.chance.value_or(0), 0)),
    v.chances ? "first better" : "");
  r("summary", item(x.summary), "strategy");
}

Records rows_of(const std::vector<SystemRow>& rows, const View& v) {
  std::size_t rank = 0;
  return records_of(rows, [&](Record& r, const SystemRow& x) { describe(r, x, v, ++rank); });
}

/// Objects of JSON: the row, its strategy, and why it is where it is.
Records objects_of(const std::vector<SystemRow>& rows, const View& v) {
  std::size_t rank = 0;
  return records_of(rows, [&](Record& r, const SystemRow& x) {
    describe(r, x, v, ++rank);
    if (x.any) r.node("strategy", "Strategy", x.strategy);
    r("stopped", x.stopped);
    r("gap", x.gap);
    r("told_apart", only_if(x.chance.has_value(), !x.alike()));
    add(r, x.unmeasured);
    if (x.any) add(r, x.likeness, {x.headline});
    r("why", x.any ? x.why : x.nothing);
  });
}

/// "0.61 x the tokens/s: 1.2 x the devices, 0.51 x the tokens/s of each (compute 0.45 x, …)".
std::string why_of(const SystemRow& first, const SystemRow& x, const View& v) {
  if (v.traffic) {
    return fmt::format(
        "{} what is taken: {} the devices, {} the requests/s that each holds",
        times(x.spent / first.spent), times(x.devices / first.devices),
        times(x.requests_per_second / x.devices / (first.requests_per_second / first.devices)));
  }
  std::string text = fmt::format(
      "{} the tokens/s: {} the devices, {} the tokens/s of each",
      times(x.tokens_per_second / first.tokens_per_second), times(x.devices / first.devices),
      times(x.tokens_per_second / x.devices / (first.tokens_per_second / first.devices)));
  if (v.budget.kind != BudgetKind::devices) {
    text +=
        fmt::format(", {} the tokens for what is spent",
                    times(x.tokens_per_second / x.spent / (first.tokens_per_second / first.spent)));
  }
  const study::Difference d =
      study::difference_of(first.scenario, x.scenario, v.task == Task::train);
  std::string parts;
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min(most, d.factors.size()); ++i) {
    const double speed = std::exp(-d.factors[i].logarithm);
    if (std::abs(speed - 1) < 0.01) continue;
    const std::string& name = d.factors[i].name;
    const std::string_view shown =
        name == "model, strategy and work" ? "devices and strategy" : std::string_view(name);
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", shown, times(speed));
  }
  const char* what = v.task == Task::train ? "a token's speed" : "a request's speed";
  return parts.empty() ? text : text + fmt::format("; {}: {}", what, parts);
}

/// Sorted, with what sets each apart from the first.
void rank(std::vector<SystemRow>& rows, const View& v) {
  std::stable_sort(rows.begin(), rows.end(), [](const SystemRow& a, const SystemRow& b) {
    return a.any != b.any ? a.any : a.any && a.score < b.score;
  });
  for (std::size_t i = 1; i < rows.size() && rows[i].any; ++i) {
    const SystemRow& first = rows.front();
    if (first.contender && rows[i].contender) {
      rows[i].chance =
          relate(measured_errors(), *first.contender, *rows[i].contender).chance_faster;
    }
    rows[i].why = why_of(first, rows[i], v);
  }
}

void say(Answer& a, const std::vector<SystemRow>& rows, const View& v, double seconds) {
  a.say(fmt::format("what counts: {}; {:.2f} s", counted(v.budget.kind), seconds));
  const bool stopped =
      std::any_of(rows.begin(), rows.end(), [](const SystemRow& r) { return r.stopped; });
  if (stopped) a.say("stopped before the end: the best so far");
  if (!rows.front().any) {
    a.say("\nnothing fits the budget");
  } else {
    a.gap();
    std::vector<SystemRow> found;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(found),
                 [](const SystemRow& r) { return r.any; });
    a.show(rows_of(found, v));
    UnmeasuredOfEach unmeasured;
    for (const SystemRow& r : found) unmeasured.push_back(r.unmeasured);
    say(a, unmeasured);
  }
  bool title = false;
  for (std::size_t i = 1; i < rows.size() && rows[i].any; ++i) {
    if (!std::exchange(title, true)) a.say("\nwhy the others lose");
    a.say(fmt::format("  {}: {}", rows[i].system, rows[i].why));
  }
  title = false;
  for (const SystemRow& x : rows) {
    if (!x.alike()) continue;
    if (!std::exchange(title, true)) {
      a.say(
          "\nwhat cannot be told apart, by the errors of such predictions where someone measured");
    }
    a.say(fmt::format("  {} and {}: the first is better with a probability of {}",
                      rows.front().system, x.system, format_percent(*x.chance, 0)));
  }
  title = false;
  for (const SystemRow& x : rows) {
    if (x.any) continue;
    if (!std::exchange(title, true)) a.say("\nnothing found");
    a.say(fmt::format("  {}: {}", x.system, x.nothing));
  }
}

SystemsFound found_of(std::vector<SystemRow> rows, View v, double seconds,
                      std::vector<std::string> assumptions, const std::string& title) {
  rank(rows, v);
  v.chances = std::any_of(rows.begin(), rows.end(),
                          [](const SystemRow& r) { return r.chance.has_value(); });
  SystemsFound found{.answer = {}, .budget = v.budget, .systems = {}};
  for (const SystemTaken& t : rows) found.systems.push_back(t);
  Answer& a = found.answer;
  a("kind", name_of(v.task));
  a("objective", v.objective);
  a.object("budget", "Budget", record_of(v.budget));
  a("seconds", Seconds(seconds));
  a.list("systems", "SystemFound", objects_of(rows, v));
  a.lines(rows_of(rows, v));
  a.say(title);
  say(a, rows, v, seconds);
  for (const SystemRow& x : rows) {
    for (const std::string& said : x.scenario.assumptions) {
      const auto says = [&](const SystemRow& r) { return contains(r.scenario.assumptions, said); };
      // What does not hold for all is said of whom it is.
      const bool all = std::all_of(rows.begin(), rows.end(), says);
      std::string text = all ? said : x.system + ": " + said;
      if (!contains(assumptions, text)) {
        assumptions.push_back(std::move(text));
      }
    }
  }
  a.assume(assumptions);
  return found;
}

template <class Search>
SystemRow head_of_row(const SystemAsked<Search>& asked, const SearchBudget& budget) {
  const Scenario& s = asked.search.scenario;
  SystemRow x;
  x.given = asked.name;
  x.system = s.system.name;
  x.device = s.system.device.name;
  x.runtime = s.problem.runtime.name;
  x.most = asked.most;
  x.price = asked.price;
  x.power = power_of_device(s.system);
  x.scenario = s;
  if (asked.most < 1) {
    const double node = std::max(1, s.system.devices_per_node);
    const double takes = node * share_of_device(budget, s.system, asked.price.value_or(0));
    x.nothing = fmt::format("a node takes {}", text_of({budget.kind, takes}));
  }
  return x;
}

void spend(SystemRow& x, const SearchBudget& budget, double devices) {
  const System& system = x.scenario.system;
  x.any = true;
  x.devices = devices;
  x.bought = bought_devices(system, devices);
  x.spent = budget.kind == BudgetKind::dollars
                ? x.run_cost
                : x.bought * share_of_device(budget, system, x.price.value_or(0));
}

constexpr const char* unfound = "not found before the search was stopped";

/// Why a system has no strategy.
std::string nothing_on(const TrainedSystem& t) {
  const SearchResult& r = t.result;
  if (t.points == 0 && !t.refused.empty()) return t.refused;
  if (r.stopped) return unfound;
  const Rejections why = rejections_of(
      r.rejected, {{"cannot fit, whatever else", static_cast<std::uint64_t>(r.no_room)},
                   {"break a rule, whatever else", static_cast<std::uint64_t>(r.barred)}});
  std::string text = fmt::format("nothing fits on up to {} devices", t.asked.most);
  if (!why.empty()) text += fmt::format(": most {}", why.front().first);
  return text;
}

SystemRow row_of(const TrainedSystem& t, const SystemsAsked<TrainingSearch>& all) {
  const TrainingSearch& search = t.asked.search;
  SystemRow x = head_of_row(t.asked, all.budget);
  x.stopped = t.result.stopped;
  if (!t.best) {
    if (x.nothing.empty()) {
      x.nothing = t.result.best.empty() ? nothing_on(t)
                                        : "the whole run costs more, on however few devices";
    }
    return x;
  }
  const Found& f = *t.best;
  const Estimate& e = f.estimate;
  const Problem& p = search.variants[static_cast<std::size_t>(f.variant)].problem;
  x.scenario.problem = p;
  x.scenario.strategy = f.strategy;
  x.gap = t.result.gap();
  if (all.run.tokens > 0) {
    x.run = whole_run(work_of(p, e, all.run.tokens), all.run.terms);
    x.run_cost = run_dollars(all.run, search.scenario.system, x.price.value_or(0), p, e);
  }
  spend(x, all.budget, e.devices);
  const bool cost = search.aim.objective == TrainingObjective::cost;
  const double each = cost ? x.price.value_or(0) * x.bought / x.devices : 1;
  x.score = each * f.score;
  x.contender = contender_of(search, f);
  if (x.contender) x.contender->seconds = x.score;
  x.unmeasured = unmeasured_of(search, {f}).front();
  x.likeness = likeness_of(search, f);
  x.headline = e.step.value;
  x.time = e.step;
  x.tokens_per_second = e.tokens / e.step.value;
  x.tokens_per_joule = e.tokens / (e.energy.total().value * e.devices);
  x.mfu = e.mfu();
  x.memory = e.memory.total();
  x.summary = name_of_found(search, f);
  x.strategy = write(f.strategy, Quantities::si);
  return x;
}

SystemRow row_of(const ServedSystem& t, const SystemsAsked<ServingSearch>& all) {
  const ServingSearch& search = t.asked.search;
  SystemRow x = head_of_row(t.asked, all.budget);
  x.stopped = t.result.stopped;
  if (t.result.best.empty()) {
    if (x.nothing.empty()) {
      x.nothing = t.result.stopped
                      ? unfound
                      : fmt::format("nothing meets the limits on up to {} devices", t.asked.most);
    }
    return x;
  }
  const ServingFound& f = t.result.best.front();
  const ServingEstimate& e = f.estimate;
  x.scenario.problem.serving = f.serving;
  x.scenario.strategy = f.strategy;
  spend(x, all.budget, f.devices());
  x.time = e.tpot;
  x.first_token = e.ttft;
  x.tokens_per_second = f.tokens_per_second();
  const double tokens = static_cast<double>(f.serving.batch) * f.serving.output;
  x.tokens_per_joule =
      tokens / (request_energy(x.scenario.problem, f.strategy, e).total().value * e.devices);
  x.memory = e.memory.total();
  x.summary = name_of_found(f);
  x.strategy = write(f.strategy, Quantities::si);
  switch (search.aim.objective) {
    case ServingObjective::devices:
      x.score = x.spent;
      break;
    case ServingObjective::latency:
      x.score = e.latency.value;
      break;
    case ServingObjective::throughput:
      x.score = 1 / x.tokens_per_second;
      break;
  }
  x.contender = contender_of(search, f);
  if (x.contender) x.contender->seconds = x.score;
  x.unmeasured = unmeasured_of(search, {f}).front();
  x.likeness = likeness_of(search, f);
  x.headline = e.latency.value;
  return x;
}

/// Why most layouts do not serve.
std::string nothing_on(const PlannedSystem& t) {
  if (t.result.stopped) return unfound;
  const auto& counts = t.result.rejected.values;
  const auto most = std::max_element(std::begin(counts), std::end(counts));
  std::string text = fmt::format("nothing holds the limits on up to {} devices", t.asked.most);
  if (*most == 0) return text;
  const auto at = static_cast<std::size_t>(most - std::begin(counts));
  return text + fmt::format(": of most layouts, {}", names_of(Shortfall{})[at]);
}

SystemRow row_of(const PlannedSystem& t, const SystemsAsked<CapacitySearch>& all) {
  SystemRow x = head_of_row(t.asked, all.budget);
  x.stopped = t.result.stopped;
  if (t.result.best.empty()) {
    if (x.nothing.empty()) x.nothing = nothing_on(t);
    return x;
  }
  const CapacityFound& f = t.result.best.front();
  const double rate = t.asked.search.aim.traffic.rate;
  const TrafficResult& r = f.result;
  x.scenario.strategy = f.strategy;
  spend(x, all.budget, f.devices);
  x.score = x.spent;  // what it takes is sure; that the limits hold is not
  x.first_token = Seconds(r.ttft.p99);
  x.time = Seconds(r.tpot.p99);
  x.likeness = likeness_of(Asked::traffic, known_as(x.scenario.system), x.scenario.problem,
                           x.scenario.strategy);
  x.headline = r.tpot.p99;
  x.requests_per_second = f.most;
  x.headroom = f.most / rate - 1;
  x.tokens_per_second = r.completed > 0 ? rate * r.output_tokens / r.completed : 0;
  x.tokens_per_joule = r.joules > 0 ? r.output_tokens / r.joules : 0;
  x.summary = name_of_cluster(f);
  x.strategy = write(f.strategy, Quantities::si);
  return x;
}

struct Said {
  Task task = Task::train;
  bool traffic = false;
  std::string_view objective;
  std::string title;
};
template <class Systems>
SystemsFound found_of_rows(const Systems& x, const Said& what) {
  std::vector<SystemRow> rows;
  for (const auto& s : x.systems) rows.push_back(row_of(s, x.asked));
  std::vector<std::string> assumptions = x.asked.assumptions;
  const std::vector<std::string>& run = x.asked.run.assumptions;
  assumptions.insert(assumptions.end(), run.begin(), run.end());
  const bool prices =
      std::any_of(rows.begin(), rows.end(), [](const SystemRow& r) { return r.price.has_value(); });
  return found_of(std::move(rows),
                  {.task = what.task,
                   .traffic = what.traffic,
                   .budget = x.asked.budget,
                   .objective = what.objective,
                   .prices = prices,
                   .runs = x.asked.run.tokens > 0},
                  x.seconds, std::move(assumptions), what.title);
}

}  // namespace

double run_dollars(const RunPlan& run, const System& system, double price, const Problem& problem,
                   const Estimate& e) {
  const WholeRun whole = whole_run(work_of(problem, e, run.tokens), run.terms);
  return price * whole.device_hours * bought_devices(system, e.devices) / e.devices;
}

SystemsFound found_of(const TrainedSystems& x) {
  const TrainingSearch& one = x.asked.systems.front().search;
  const Problem& p = one.scenario.problem;
  return found_of_rows(
      x, {.task = Task::train,
          .objective = name_of(one.aim.objective),
          .title = fmt::format("training {} within {}, batch {}, seq {}", p.model.name,
                               text_of(x.asked.budget), p.work.batch, p.work.seq)});
}

SystemsFound found_of(const ServedSystems& x) {
  const ServingSearch& one = x.asked.systems.front().search;
  const Problem& p = one.scenario.problem;
  return found_of_rows(
      x, {.task = Task::infer,
          .objective = name_of(one.aim.objective),
          .title = fmt::format("serving {} within {}, input {}, output {}", p.model.name,
                               text_of(x.asked.budget), p.serving.input, p.serving.output)});
}

SystemsFound found_of(const PlannedSystems& x) {
  const CapacitySearch& one = x.asked.systems.front().search;
  return found_of_rows(x, {.task = Task::infer,
                           .traffic = true,
                           .objective = name_of(ServingObjective::devices),
                           .title = fmt::format("serving {} within {}, {:.6g} requests a second",
                                                one.scenario.problem.model.name,
                                                text_of(x.asked.budget), one.aim.traffic.rate)});
}

}  // namespace sextant
