// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/search_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sextant/answer/run.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

constexpr double hours_a_day = 24;
constexpr double joules_a_megawatt_hour = 3.6e9;

/// What all jobs of an arrangement take, at once or in all.
struct Totals {
  double devices = 0;
  Watts power;
  std::optional<double> dollars_per_hour = 0.0;
  double spent = 0;                            ///< of the budget that all share
  std::optional<double> dollars = 0.0;         ///< of the run and of all days of serving
  std::optional<double> megawatt_hours = 0.0;  ///< the same

  void add(const Totals& o) {
    devices += o.devices;
    power = power + o.power;
    spent += o.spent;
    add(dollars_per_hour, o.dollars_per_hour);
    add(dollars, o.dollars);
    add(megawatt_hours, o.megawatt_hours);
  }
  static void add(std::optional<double>& sum, const std::optional<double>& more) {
    sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
  }
};

Totals totals_of(const JobFound& job, const SystemTaken& t,
                 const std::optional<SearchBudget>& shared) {
  Totals x{.devices = t.bought,
           .power = t.power * t.bought,
           .dollars_per_hour = t.dollars_per_hour(),
           .spent = share_of_job(job, t, shared),
           .dollars = {},
           .megawatt_hours = {}};
  if (t.run && t.run->ends()) {
    if (t.price) x.dollars = t.run_cost;
    x.megawatt_hours = t.run->energy.value / joules_a_megawatt_hour;
  }
  if (job.task == Task::train || job.days <= 0) return x;
  if (t.price) x.dollars = *t.dollars_per_hour() * hours_a_day * job.days;
  if (t.tokens_per_joule > 0) {
    // The building around it as around the training run.
    x.megawatt_hours = t.tokens_per_second / t.tokens_per_joule * Facility{}.pue * job.days * day /
                       joules_a_megawatt_hour;
  }
  return x;
}

/// At once at most; money and energy in all.
Totals totals_of(const PlanFound& plan, const Arrangement& a) {
  Totals serving;
  for (std::size_t i = 1; i < a.jobs.size(); ++i) {
    serving.add(totals_of(plan.jobs[i], a.jobs[i], plan.budget));
  }
  Totals all = totals_of(plan.jobs.front(), a.jobs.front(), plan.budget);
  const Totals training = all;
  all.add(serving);
  if (a.order != JobOrder::in_turn) return all;
  all.devices = std::max(training.devices, serving.devices);
  all.power = std::max(training.power, serving.power);
  all.spent = std::max(training.spent, serving.spent);
  if (all.dollars_per_hour) {
    all.dollars_per_hour = std::max(*training.dollars_per_hour, *serving.dollars_per_hour);
  }
  return all;
}

bool fits(const PlanFound& plan, const Totals& t) {
  return !plan.budget || t.spent <= plan.budget->amount * (1 + 1e-9);
}

std::string place_text(const SystemTaken& t) {
  return fmt::format("{:.6g} x {}", t.devices, t.system);
}

Item spent_item(const std::optional<SearchBudget>& budget, double spent) {
  if (!budget) return only_if(false, 0.0);
  return said(spent, text_of({budget->kind, spent}));
}

/// "1.2 x the days, 0.8 x the dollars": beside the first.
std::string beside(const PlanFound& plan, const Arrangement& first, const Arrangement& a) {
  const Totals one = totals_of(plan, first);
  const Totals other = totals_of(plan, a);
  std::vector<std::string> parts;
  const auto add = [&](const char* what, double now, double then) {
    const double ratio = now / then;
    if (then > 0 && std::abs(ratio - 1) >= 0.005) parts.push_back(times(ratio) + " " + what);
  };
  add("the training time", first.jobs.front().tokens_per_second, a.jobs.front().tokens_per_second);
  add("the devices at once", other.devices, one.devices);
  add("the power at once", other.power.value, one.power.value);
  if (one.dollars && other.dollars) {
    add("the dollars", *other.dollars, *one.dollars);
  } else if (one.dollars_per_hour && other.dollars_per_hour) {
    add("the dollars an hour at once", *other.dollars_per_hour, *one.dollars_per_hour);
  }
  if (one.megawatt_hours && other.megawatt_hours) {
    add("the energy", *other.megawatt_hours, *one.megawatt_hours);
  }
  return parts.empty() ? "the same" : fmt::format("{}", fmt::join(parts, ", "));
}

struct Line {
  const Arrangement* arrangement = nullptr;
  Totals totals = {};
  bool fits = false;
  std::string why = {};
};

/// What a job takes, of one arrangement.
Records jobs_of(const PlanFound& plan, const Arrangement& a) {
  Records all;
  for (std::size_t i = 0; i < a.jobs.size(); ++i) {
    const SystemTaken& t = a.jobs[i];
    const Totals x = totals_of(plan.jobs[i], t, plan.budget);
    Record& r = all.rows.emplace_back();
    r("name", plan.jobs[i].name);
    r("system", t.system);
    r("gpus", t.devices);
    r("bought_gpus", t.bought);
    r("spent", only_if(plan.budget.has_value(), x.spent));
    r("tokens_per_second", t.tokens_per_second);
    r("watts", x.power);
    r("dollars_per_hour", x.dollars_per_hour);
    r("dollars", x.dollars);
    r("megawatt_hours", x.megawatt_hours);
    r("summary", t.summary);
    r.node("strategy", "Strategy", t.strategy);
  }
  return all;
}

void describe(Record& r, const Line& x, const PlanFound& plan) {
  const Arrangement& a = *x.arrangement;
  const SystemTaken& training = a.jobs.front();
  const bool runs = training.run && training.run->ends();
  r("order", a.order, "order");
  r("one_system", a.one_system());
  r("fits", x.fits);
  for (std::size_t i = 0; i < a.jobs.size(); ++i) {
    r("", place_text(a.jobs[i]), plan.jobs[i].name);
  }
  r("training_budget", a.left ? Item(a.left->amount) : only_if(false, 0.0));
  r("training_days", only_if(runs, general(runs ? training.run->time.value / day : 0, 4)),
    runs ? "days" : "");
  r("training_tokens_per_second", general(training.tokens_per_second, 4), runs ? "" : "tokens/s");
  r("gpus", x.totals.devices, "devices");
  r("watts", x.totals.power, "power");
  r("dollars_per_hour",
    x.totals.dollars_per_hour ? general(*x.totals.dollars_per_hour, 5) : only_if(false, 0.0),
    x.totals.dollars_per_hour ? "$/h" : "");
  r("spent", spent_item(plan.budget, x.totals.spent), plan.budget ? "takes" : "");
  r("budget_share",
    plan.budget ? percent(x.totals.spent / plan.budget->amount) : only_if(false, percent(0)),
    plan.budget ? "of it" : "");
  r("dollars", x.totals.dollars ? dollars_item(*x.totals.dollars) : only_if(false, 0.0),
    x.totals.dollars ? "in all" : "");
  r("megawatt_hours",
    x.totals.megawatt_hours ? general(*x.totals.megawatt_hours, 4) : only_if(false, 0.0),
    x.totals.megawatt_hours ? "MWh" : "");
}

/// A rule where the order changes.
Records rows_of(const std::vector<Line>& lines, const PlanFound& plan) {
  if (lines.empty()) return {};
  JobOrder last = lines.front().arrangement->order;
  return records_of(
      lines, [&](Record& r, const Line& x) { describe(r, x, plan); },
      [&last](const Line& x) {
        return std::exchange(last, x.arrangement->order) != x.arrangement->order;
      });
}

std::string head_of(const Arrangement& a) {
  std::string where = a.system.empty() ? "each where it is best" : "all on " + a.system;
  return fmt::format("{}, {}", name_of(a.order), where);
}

std::vector<Line> lines_of(const PlanFound& plan) {
  std::vector<Line> lines;
  for (const Arrangement& a : plan.arrangements) {
    if (!a.any()) continue;
    Line x{.arrangement = &a, .totals = totals_of(plan, a)};
    x.fits = fits(plan, x.totals);
    lines.push_back(std::move(x));
  }
  std::stable_partition(lines.begin(), lines.end(), [](const Line& x) { return x.fits; });
  for (std::size_t i = 1; i < lines.size(); ++i) {
    lines[i].why = beside(plan, *lines.front().arrangement, *lines[i].arrangement);
  }
  return lines;
}

/// "llama3.1-70b, trained and served in 2 ways within 2 MW".
std::string title_of(const PlanFound& plan) {
  const std::size_t ways = plan.jobs.size() - 1;
  return fmt::format("{}, trained and served{}{}", plan.model,
                     ways > 1 ? fmt::format(" in {} ways", ways) : "",
                     plan.budget ? " within " + text_of(*plan.budget) : "");
}

void say(Answer& a, const PlanFound& plan, const std::vector<Line>& lines) {
  a.say(title_of(plan));
  a.say(fmt::format("{:.2f} s", plan.seconds));
  std::vector<Line> within;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(within),
               [](const Line& x) { return x.fits; });
  if (within.empty()) {
    a.say("\nnothing does all that the jobs ask within what there is");
  } else {
    a.gap();
    a.show(rows_of(within, plan));
    a.say(plan.budget && plan.budget->kind == BudgetKind::dollars
              ? "paid for: the whole run, and all days of serving"
              : "side by side: all at once; in turn: training first, then all serving; devices, "
                "power and $/h are at once at most");
  }
  for (std::size_t i = 1; i < within.size(); ++i) {
    if (i == 1) a.say(fmt::format("\nbeside the first ({})", head_of(*within[0].arrangement)));
    a.say(fmt::format("  {}: {}", head_of(*within[i].arrangement), within[i].why));
  }
  bool title = false;
  const auto misses = [&](const Arrangement& x, const std::string& why) {
    if (!std::exchange(title, true)) a.say("\nnot within what there is");
    a.say(fmt::format("  {}: {}", head_of(x), why));
  };
  for (const Line& x : lines) {
    if (!x.fits) {
      misses(*x.arrangement, "the jobs take " + text_of({plan.budget->kind, x.totals.spent}));
    }
  }
  for (const Arrangement& x : plan.arrangements) {
    if (!x.any()) misses(x, x.nothing);
  }
  for (const JobFound& job : plan.jobs) {
    a.say(fmt::format("\n== {} ==", job.name));
    a.append(job.found.answer);
  }
}

}  // namespace

bool Arrangement::one_system() const {
  return std::all_of(jobs.begin(), jobs.end(),
                     [&](const SystemTaken& t) { return t.system == jobs.front().system; });
}

double share_of_job(const JobFound& job, const SystemTaken& t,
                    const std::optional<SearchBudget>& shared) {
  const bool paid = shared && shared->kind == BudgetKind::dollars;
  return paid && job.task == Task::infer ? t.spent * hours_a_day * job.days : t.spent;
}

Answer answer_of(const PlanFound& plan) {
  const std::vector<Line> lines = lines_of(plan);
  Answer a;
  a("kind", "plan");
  a("model", plan.model);
  if (plan.budget) a.object("budget", "Budget", record_of(*plan.budget));
  a("seconds", Seconds(plan.seconds));
  Records arrangements;
  Records rows;
  for (const Line& x : lines) {
    describe(rows.rows.emplace_back(), x, plan);
    Record& r = arrangements.rows.emplace_back();
    describe(r, x, plan);
    r("why", x.why);
    r.list("jobs", "JobPlaced", jobs_of(plan, *x.arrangement));
  }
  a.list("arrangements", "Arrangement", std::move(arrangements));
  a.list("jobs", "PlanJob", records_of(plan.jobs, [](Record& r, const JobFound& job) {
           r("name", job.name);
           r("days", only_if(job.days > 0, job.days));
           const Record& values = job.found.answer;  // what people alone read is below
           r.object("answer", "SystemsAnswer", values);
         }));
  a.lines(std::move(rows));
  say(a, plan, lines);
  return a;
}

}  // namespace sextant
