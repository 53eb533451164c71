// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/design.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "sextant/io/write.hpp"
#include "sextant/scenario/inputs.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

using design::Quantiles;
using study::Limit;
using study::Limits;

Item in_unit(double value, Dimension unit) {
  Item i(value);
  i.unit = unit;
  i.look = Look::quantity;
  i.digits = 3;
  return i;
}

/// A row of quantiles: its name for programs and for people, and how a value is seen.
struct QuantileRow {
  std::string name;
  std::string title;
  Quantiles q;
  Item (*look)(double);
};

template <Dimension D>
Item as(double value) {
  return in_unit(value, D);
}
Item as_share(double value) { return percent(value, 0); }
Item as_count(double value) { return fixed(value, 0); }

std::vector<QuantileRow> quantile_rows(const design::Uncertainty& u, bool trains) {
  constexpr Dimension seconds{.time = 1};
  constexpr Dimension flops{.time = -1, .work = 1};
  constexpr Dimension bytes{.time = -1, .data = 1};
  constexpr Dimension watts{.time = -1, .energy = 1};
  constexpr Dimension dollars{.money = 1};
  std::vector<QuantileRow> rows = {
      {"time_seconds", trains ? "time of a step" : "latency", u.time, as<seconds>},
      {"tokens_per_second", "tokens/s", u.tokens_per_second, [](double x) { return rate(x); }},
      {"cores", "cores", u.cores, as_count},
      {"peak_flops_per_second", "16-bit peak", u.peak, as<flops>},
      {"memory_bytes_per_second", "bandwidth", u.bandwidth, as<bytes>},
      {"power_watts", "power", u.power, as<watts>},
      {"cost_dollars", "cost", u.cost, as<dollars>}};
  for (std::size_t i = 0; i < Limits::size; ++i) {
    const Quantiles& q = u.shares.values[i];
    const std::string name(names_of(Limit{})[i]);
    const bool seen = q.value >= 0.005 || q.p90 >= 0.005;
    rows.push_back({"share_" + name, seen ? "waits for " + name : "", q, as_share});
  }
  return rows;
}

plot::Figure uncertainty_figure(const design::Uncertainty& u) {
  plot::Figure f;
  f.title = fmt::format("Where the time goes, and how sure that is ({} samples)", u.built);
  f.width = 640;
  f.y.label = "share of the time";
  f.y.unit = "%";
  f.y.min = 0;
  f.bar = 0.6;
  plot::Series bars{.name = "P50", .mark = plot::Mark::bars};
  // A point that cannot be shown ends a line, so that one series is all bands.
  constexpr double gap = std::numeric_limits<double>::quiet_NaN();
  plot::Series bands{.name = "P10 to P90", .mark = plot::Mark::line_and_dots};
  for (std::size_t i = 0; i < Limits::size; ++i) {
    const Quantiles& q = u.shares.values[i];
    if (q.p90 < 0.005) continue;
    const auto x = static_cast<double>(f.x.names.size());
    const std::string name(names_of(Limit{})[i]);
    f.x.names.push_back(name);
    const std::string text =
        fmt::format("{}: {} to {}", name, format_percent(q.p10, 0), format_percent(q.p90, 0));
    bars.points.push_back({x, 100 * q.p50, fmt::format("{}: {}", name, format_percent(q.p50))});
    bands.points.push_back({x, 100 * q.p10, text});
    bands.points.push_back({x, 100 * q.p90, text});
    bands.points.push_back({x, gap, ""});
  }
  f.series.push_back(std::move(bars));
  f.series.push_back(std::move(bands));
  return f;
}

std::string title_of(design::Respect r) {
  constexpr std::array<const char*, 5> titles = {"time", "cost of a device", "power of a device",
                                                 "energy of a token", "area of a device"};
  return titles.at(static_cast<std::size_t>(r));
}

/// "time_seconds".
std::string name_with_unit(design::Respect r) {
  constexpr std::array<const char*, 5> names = {"time_seconds", "cost_dollars", "power_watts",
                                                "token_joules", "area_m2"};
  return names.at(static_cast<std::size_t>(r));
}

void describe_design(Record& r, const design::Front& f, const std::vector<Technology>& t,
                     std::size_t i) {
  const design::Design& d = f.designs[i];
  const Blueprint& b = d.blueprint;
  for (std::size_t k = 0; k < f.respects.size(); ++k) {
    r(name_with_unit(f.respects[k]), in_unit(d.values[k], unit_of(f.respects[k])),
      name_of(f.respects[k]));
  }
  r("node", t[d.technology].node.name, "node");
  r("dram", t[d.technology].memory.name, "memory");
  r("dies", d.budget.dies, "dies");
  r("die_m2", d.budget.area, "each");
  r("cores", b.device.cores, "cores");
  r("l2_bytes", binary(b.device.l2.capacity), "L2");
  r("stacks", b.stacks, "stacks");
  r("links", b.links, "links");
  r("clock_hertz", b.device.clock, "clock");
  r("limit_watts", b.device.power.limit);
  r("balanced", i == f.balanced);
  r("", i == f.balanced ? "balanced" : "", "which");
}

/// The first respect over the second; by node where there are several, else by the third.
plot::Figure front_figure(const design::Front& f, const std::vector<Technology>& t) {
  const design::Respect x = f.respects[1];
  const design::Respect y = f.respects[0];
  plot::Figure g;
  g.title = fmt::format("What may be traded: {} designs of {}", f.designs.size(), f.built);
  g.width = 620;
  g.height = 400;
  g.x.label = title_of(x);
  g.x.dimension = unit_of(x);
  g.x.log = true;
  g.y.label = title_of(y);
  g.y.dimension = unit_of(y);
  g.y.log = true;
  std::vector<double> third;
  if (f.respects.size() > 2) {
    for (const design::Design& d : f.designs) third.push_back(d.values[2]);
    std::sort(third.begin(), third.end());
  }
  const auto series_of = [&](const design::Design& d) -> std::string {
    if (t.size() > 1) return t[d.technology].node.name + ", " + t[d.technology].memory.name;
    if (third.empty()) return "designs";
    const Dimension unit = unit_of(f.respects[2]);
    const std::string name = title_of(f.respects[2]);
    for (const double share : {1.0 / 3, 2.0 / 3}) {
      const double bound =
          third[static_cast<std::size_t>(share * static_cast<double>(third.size()))];
      if (d.values[2] < bound) return name + " below " + format_quantity(bound, unit);
    }
    return name + " above that";
  };
  for (const design::Design& d : f.designs) {
    std::string label =
        fmt::format("{} x {} {}, {} cores, {} stacks", d.budget.dies, format(d.budget.area),
                    t[d.technology].node.name, d.blueprint.device.cores, d.blueprint.stacks);
    for (std::size_t k = 0; k < f.respects.size(); ++k) {
      label += ", " + format_quantity(d.values[k], unit_of(f.respects[k]));
    }
    plot::dots_called(series_of(d), g.series)
        .points.push_back({d.values[1], d.values[0], std::move(label)});
  }
  std::sort(g.series.begin(), g.series.end(),
            [](const plot::Series& a, const plot::Series& b) { return a.name < b.name; });
  return g;
}

/// Of the number that was sought.
Item number_item(const design::Solution& s, double value) {
  if (s.whole) return fixed(value, 0);
  return s.unit == Dimension{} ? general(value, 4) : rounded(in_unit(value, s.unit), 4);
}
std::string measured_text(const design::Solution& s, double value) {
  if (s.condition.measure == design::Measure::share) return format_percent(value);
  const Dimension unit = s.condition.unit();
  return unit == Dimension{} ? for_people(rate(value)) : format_quantity(value, unit);
}

std::string verdict_text(const design::Solution& s) {
  const std::string value = for_people(number_item(s, s.value));
  const std::string now = for_people(number_item(s, s.now));
  const std::string change = fmt::format("{:.3g} times what it is, {}", s.value / s.now, now);
  if (s.held && s.reached) {
    return fmt::format("{} holds already ({}), until {} is {} ({})", s.condition.text,
                       measured_text(s, s.measured_now), s.field, value, change);
  }
  if (s.held) {
    return fmt::format("{} holds already ({}), and for all that {} can be", s.condition.text,
                       measured_text(s, s.measured_now), s.field);
  }
  if (s.reached) {
    return fmt::format("{} holds with {} {} ({}); now {}", s.condition.text, s.field, value, change,
                       measured_text(s, s.measured_now));
  }
  return fmt::format("{} cannot be reached by {}: {} at best, with {}; now {} with {}",
                     s.condition.text, s.field, measured_text(s, s.measured), value,
                     measured_text(s, s.measured_now), now);
}

}  // namespace

void add_together(Answer& a, const design::Together& t, const std::string& network, bool trains) {
  const std::string summary = summary_of(t.strategy, trains ? Task::train : Task::infer);
  Record r;
  r.node("strategy", "Strategy", write(t.strategy, Quantities::si));
  r("summary", summary);
  r("network", network);
  r("settled", t.settled);
  r("exact", t.exact);
  r("rounds", t.rounds);
  r("strategies", t.strategies);
  r("combinations", t.combinations);
  a.object("together", "ChosenTogether", std::move(r));
  a.say(fmt::format("chosen with it: {}; {} between nodes", summary, network));
  const std::string none = t.exact ? "none" : "none of the best by time and by energy";
  a.say(fmt::format(
      "{} of {:.0f} strategies is better on this device{}\n", t.settled ? none : "perhaps one",
      t.strategies,
      t.combinations > 1
          ? fmt::format("; the best of {} pairs of technology and network", t.combinations)
          : ""));
}

void add_line(Records& lines, std::string_view what, std::string_view part, double value) {
  Record& r = lines.rows.emplace_back();
  r("what", what);
  r("part", part);
  r("value", value);
}

void add_lines(Records& lines, const design::Uncertainty& u, bool trains) {
  for (const QuantileRow& x : quantile_rows(u, trains)) {
    add_line(lines, "p10", x.name, x.q.p10);
    add_line(lines, "p50", x.name, x.q.p50);
    add_line(lines, "p90", x.name, x.q.p90);
  }
}

void add_lines(Records& lines, const design::Solution& s) {
  add_line(lines, "solve", "reached", s.reached ? 1 : 0);
  add_line(lines, "solve", "now", s.now);
  add_line(lines, "solve", "now_measured", s.measured_now);
  add_line(lines, "solve", "value", s.value);
  add_line(lines, "solve", "measured", s.measured);
}

Records lines_of(const design::Front& f, const std::vector<Technology>& technologies) {
  std::vector<std::size_t> all(f.designs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return records_of(all, [&](Record& r, std::size_t i) { describe_design(r, f, technologies, i); });
}

void add_front(Answer& a, const design::Front& f, const std::vector<Technology>& technologies) {
  Record r;
  std::vector<std::string> names;
  std::string joined;
  for (const design::Respect x : f.respects) {
    names.emplace_back(name_of(x));
    joined += (joined.empty() ? "" : ", ") + names.back();
  }
  r.strings("respects", names);
  r("evaluations", f.evaluations);
  r("built", f.built);
  r.list("designs", "ParetoDesign", lines_of(f, technologies));
  a.object("pareto", "TechnologyFront", std::move(r));
  constexpr std::size_t most_rows = 20;
  const std::vector<std::size_t> shown = spread_over(f, most_rows);
  a.say(
      fmt::format("{} designs of which none is better in all of {}, out of {} that were tried, "
                  "{} of which can be built and run",
                  f.designs.size(), joined, f.evaluations, f.built));
  if (shown.size() < f.designs.size()) {
    a.say(fmt::format("{} of them, spread over {}; JSON has all", shown.size(), names.front()));
  }
  a.show(records_of(shown,
                    [&](Record& one, std::size_t i) { describe_design(one, f, technologies, i); }));
  a.say("\nthe balanced one, of the least product of these:\n");
  a.figure(front_figure(f, technologies));
}

void add_solution(Answer& a, const design::Solution& s) {
  Record r;
  r("field", s.field);
  r("until", s.condition.text);
  r("held", s.held);
  r("reached", s.reached);
  r("now", s.now);
  r("now_measured", s.measured_now);
  r("value", s.value);
  r("measured", s.measured);
  Node shares = Node::table();
  for (std::size_t i = 0; i < Limits::size; ++i) {
    shares.set(std::string(names_of(Limit{})[i]), Node::of(s.limits.values[i]));
  }
  r.node("shares", "number", std::move(shares));
  const auto obstacle = [&](Record& one, const design::Obstacle& o) {
    one("value", o.value);
    one("measured", o.measured);
    one("reason", o.reason);
  };
  r.list("obstacles", "SolveObstacle", records_of(s.obstacles, obstacle));
  r("evaluations", s.evaluations);
  a.object("solve", "TechnologySolution", std::move(r));

  a.say(verdict_text(s));
  if (!s.reached) {
    for (const design::Obstacle& o : s.obstacles) {
      a.say(fmt::format("  {} {}: {} ({})", s.field, for_people(number_item(s, o.value)), o.reason,
                        measured_text(s, o.measured)));
    }
  }
  std::string shares_text;
  for (std::size_t i = 0; i < Limits::size; ++i) {
    if (s.limits.values[i] < 0.005) continue;
    shares_text += fmt::format("{}{} {}", shares_text.empty() ? "" : ", ", names_of(Limit{})[i],
                               format_percent(s.limits.values[i], 0));
  }
  a.say(fmt::format("there, the time goes to {}; most of it to {}", shares_text,
                    study::largest(s.limits)));
  a.say("the device there:\n");
}

void add_uncertainty(Answer& a, const design::Uncertainty& u, bool trains) {
  Record r;
  r("samples", u.samples);
  r("built", u.built);
  r("seed", static_cast<std::int64_t>(u.seed));
  const std::vector<QuantileRow> rows = quantile_rows(u, trains);
  r.list("quantiles", "TechnologyQuantiles",
         records_of(rows, [](Record& one, const QuantileRow& x) {
           one("name", x.name);
           one("value", x.q.value);
           one("p10", x.q.p10);
           one("p50", x.q.p50);
           one("p90", x.q.p90);
         }));
  const auto doubt = [](Record& one, const design::Doubt& d) {
    one("what", d.what, "number");
    one("correlation", fixed(d.correlation, 2), "correlation with the time");
    one("share", percent(d.share, 0), "share of the spread");
  };
  r.list("causes", "TechnologyDoubt", records_of(u.doubts, doubt));
  Node largest = Node::table();
  std::string bounds;
  for (std::size_t i = 0; i < Limits::size; ++i) {
    const std::string name(names_of(Limit{})[i]);
    const double share = u.largest.values[i];
    largest.set(name, Node::of(share));
    if (share > 0) {
      bounds +=
          fmt::format("{}{} in {}", bounds.empty() ? "" : ", ", name, format_percent(share, 0));
    }
  }
  r.node("largest", "number", std::move(largest));
  r("reason", only_if(!u.reason.empty(), u.reason));
  a.object("technology_uncertainty", "TechnologyUncertainty", std::move(r));

  a.say(fmt::format("\nhow sure: {} ways in which its technology may turn out, of {}", u.built,
                    u.samples));
  if (!u.reason.empty()) a.say("the others cannot be built or run; the first: " + u.reason);
  Records seen;
  for (const QuantileRow& x : rows) {
    if (x.title.empty()) continue;
    Record& one = seen.rows.emplace_back();
    one("", x.title, "of");
    one("", x.look(x.q.value), "as stated");
    one("", x.look(x.q.p10), "P10");
    one("", x.look(x.q.p50), "P50");
    one("", x.look(x.q.p90), "P90");
  }
  a.show(seen);
  a.say("\nmost of the time goes to " + bounds +
        " of the samples; what the spread of the time is due to:");
  a.show(records_of(u.doubts, doubt));
  a.say("the model's own error is not in it");
  a.figure(uncertainty_figure(u));
}

}  // namespace sextant
