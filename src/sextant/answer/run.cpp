// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/run.hpp"

#include <fmt/format.h>

#include "sextant/answer/parts.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

constexpr double kilogram_per_tonne = 1000;
constexpr double joules_per_mwh = 3.6e9;

/// What the run would be were its step so many times as long.
WholeRun scaled(const RunAnswer& x, double factor) {
  RunWork work = x.work;
  work.step *= factor;
  return whole_run(work, x.plan.terms);
}

double in_days(Seconds t) { return t.value / day; }
double dollars_of(const RunAnswer& x, const WholeRun& r) {
  return x.plan.dollars_per_hour.value_or(0) * r.device_hours;
}
double mwh_of(const WholeRun& r) { return r.energy.value / joules_per_mwh; }
double tonnes_of(const WholeRun& r) { return r.co2_kg / kilogram_per_tonne; }

std::string count(double n) { return format_count(n, 3); }

Record record_of(const RunAnswer& x, const Interval& step) {
  const WholeRun& r = x.run;
  const bool ends = r.ends();
  const WholeRun fast = scaled(x, step.low);
  const WholeRun slow = scaled(x, step.high);
  const auto days = [&](Seconds t) { return only_if(ends, in_days(t)); };
  Record n;
  n("tokens", x.plan.tokens);
  n("steps", r.steps);
  // What a number of the run is, and of one as fast or as slow as the interval goes.
  const auto ranged = [&](const char* name, bool known, const auto& of) {
    const auto if_ends = [&](const WholeRun& w) { return only_if(known && w.ends(), of(w)); };
    add(n, name, {if_ends(r), if_ends(fast), if_ends(slow)});
  };
  ranged("days", true, [](const WholeRun& w) { return in_days(w.time); });
  n("days_p99", days(finish_p99(r, deviation_of(step))));
  n("days_p99_failures", days(finish_p99(r)));
  n("days_without_failures", in_days(r.computing));
  n("gpu_hours", only_if(ends, r.device_hours));
  ranged("dollars", x.plan.dollars_per_hour.has_value(),
         [&](const WholeRun& w) { return dollars_of(x, w); });
  ranged("megawatt_hours", true, mwh_of);
  ranged("co2_tonnes", true, tonnes_of);
  n("goodput", r.goodput);
  n("interruptions", only_if(ends, r.interruptions));
  n("between_interruptions_seconds", r.between_failures);
  n("checkpoint_seconds", r.checkpoint);
  n("checkpoint_bytes", x.work.devices * x.work.states);
  n("checkpoint_interval_seconds", r.checkpoint_interval);
  n("lost_to_checkpoints_days", days(r.lost_checkpoints));
  n("lost_work_days", days(r.lost_work));
  n("lost_to_restarts_days", days(r.lost_restarts));
  return n;
}

using Rows = std::vector<std::vector<std::string>>;

Rows facts_of(const RunAnswer& x, const Interval& step) {
  const WholeRun& r = x.run;
  const Facility& f = x.plan.terms.facility;
  const WholeRun fast = scaled(x, step.low);
  const WholeRun slow = scaled(x, step.high);
  const auto range = [&](const auto& of) {
    return fmt::format("{} to {} nine times in ten", count(of(fast)), count(of(slow)));
  };
  const auto share = [&](Seconds t) { return format_percent(t / r.time); };
  Rows rows = {
      {"time", format_duration(r.time),
       fmt::format("{} without failures; {} to {} nine times in ten, 99 of 100 end within {}",
                   format_duration(r.computing), format_duration(fast.time),
                   format_duration(slow.time), format_duration(finish_p99(r, deviation_of(step))))},
      {"goodput", format_percent(r.goodput),
       fmt::format("lost: checkpoints {}, work done again {}, restarts {}",
                   share(r.lost_checkpoints), share(r.lost_work), share(r.lost_restarts))},
      {"interruptions", count(r.interruptions),
       fmt::format("one in {}", format_duration(r.between_failures))},
      {"checkpoints", "every " + format_duration(r.checkpoint_interval),
       fmt::format("{} in {} each", format(x.work.devices * x.work.states),
                   format_duration(r.checkpoint))},
      {"device-hours", count(r.device_hours), ""}};
  if (x.plan.dollars_per_hour) {
    rows.push_back({"cost", count(dollars_of(x, r)) + " $",
                    fmt::format("{} $ a device and hour; {}", *x.plan.dollars_per_hour,
                                range([&](const WholeRun& w) { return dollars_of(x, w); }))});
  }
  rows.push_back({"energy", fmt::format("{} MWh", count(mwh_of(r))),
                  fmt::format("{} a device and its share of the node, PUE {}; {}",
                              format(x.work.power), f.pue, range(mwh_of))});
  rows.push_back({"CO2", count(tonnes_of(r)) + " t", fmt::format("{} kg/kWh", f.grid_kg_per_kwh)});
  return rows;
}

}  // namespace

RunAnswer answer_run(RunPlan plan, const Problem& problem, const Estimate& estimate) {
  RunAnswer a{.plan = std::move(plan), .work = {}, .run = {}};
  a.work = work_of(problem, estimate, a.plan.tokens);
  a.run = whole_run(a.work, a.plan.terms);
  return a;
}

void add(Answer& a, const RunAnswer& x, const Interval& step) {
  const WholeRun& r = x.run;
  a.object("run", "Run", record_of(x, step));
  a.say(fmt::format("\nthe run: {} tokens in {} steps", count(x.plan.tokens), count(r.steps)));
  if (r.ends()) return a.facts(facts_of(x, step), 2);
  a.say(fmt::format(
      "  never ends: one interruption in {}, and each costs {} and half of {} of work",
      format_duration(r.between_failures), format_duration(x.plan.terms.reliability.restart),
      format_duration(r.checkpoint_interval + r.checkpoint)));
}

}  // namespace sextant
