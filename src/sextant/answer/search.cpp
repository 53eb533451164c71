// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/answer/parts.hpp"
#include "sextant/answer/search_groups.hpp"
#include "sextant/answer/train.hpp"
#include "sextant/io/errors.hpp"
#include "sextant/io/write.hpp"
#include "sextant/units/format.hpp"

namespace sextant {

Record record_of(const Scenario& scenario, const SearchCounts& c) {
  Record r = head_of(scenario, c.devices);
  const auto evaluated = static_cast<double>(c.evaluated);
  r("kind", c.kind);
  r("objective", c.objective);
  r("evaluated", evaluated);
  r("feasible", static_cast<double>(c.feasible));
  r("stopped", c.stopped);
  r("seconds", Seconds(c.seconds));
  r("evaluations_per_second", c.seconds > 0 ? evaluated / c.seconds : 0);
  return r;
}

Rejections rejections_of(const Table<std::uint64_t, Verdict>& verdicts, Rejections others) {
  Rejections all;
  for (std::size_t i = 0; i < verdicts.size; ++i) {
    all.emplace_back(name_of(static_cast<Verdict>(i)), verdicts.values[i]);
  }
  all.insert(all.end(), others.begin(), others.end());
  std::erase_if(all, [](const auto& r) { return r.second == 0; });
  std::sort(all.begin(), all.end(),
            [](const auto& x, const auto& y) { return x.second > y.second; });
  return all;
}

void say_reasons(Answer& a, const std::vector<std::string>& reasons) {
  if (!reasons.empty()) a.say("\nwhy the first is first");
  for (const std::string& reason : reasons) a.say("  " + reason);
}

void explain(Answer& a, const std::vector<std::string>& reasons, const Rejections& rejections,
             const char* unit, const Scenario& scenario) {
  a.strings("reasons", reasons);
  Node counts = Node::table();
  for (const auto& [reason, count] : rejections) {
    counts.set(reason, Node::of(static_cast<double>(count)));
  }
  a.node("rejected", "number", std::move(counts));
  if (!rejections.empty()) {
    a.gap();
    a.show(records_of(rejections,
                      [&](Record& r, const auto& x) {
                        r("", x.first, "why the rest fail");
                        r("", x.second, unit);
                      }),
           {.indent = 2});
  }
  a.assume(scenario.assumptions);
}

std::string lack_of_memory(Bytes least, Bytes limit, const std::string& whose) {
  return fmt::format("the least that any takes is {} a device, and there are {} ({})",
                     format_binary_bytes(least.value), format_binary_bytes(limit.value), whose);
}

std::string name_of_found(const TrainingSearch& asked, const Found& f) {
  std::string text = describe_strategy(f.strategy);
  const std::string& variant = asked.variants[static_cast<std::size_t>(f.variant)].name;
  return variant.empty() ? text : text + ", " + variant;
}

namespace {

double tokens_each(const Estimate& e) {
  return e.step.value > 0 ? e.tokens / e.step.value / e.devices : 0;
}

/// Dollars a million tokens.
double cost_of(const TrainingSearch& asked, const Estimate& e) {
  return dollars_per_million(asked.price, e.devices, e.step, e.tokens);
}

std::string recompute_text(const Strategy& s) {
  if (s.recompute == Recompute::full && s.recompute_layers > 0) {
    return fmt::format("full, {} layer{}", s.recompute_layers, s.recompute_layers > 1 ? "s" : "");
  }
  return std::string(name_of(s.recompute));
}

/// What else a strategy has, where the search tried more than one of it.
std::string others_of(const TrainingSearch& asked, const Found& f) {
  const Strategy& s = f.strategy;
  std::string rest(name_of(s.precision));
  if (s.offload) rest += ", offload";
  for (const std::string_view module : parts_on(s.modules)) {
    rest += fmt::format(", again {}", module);
  }
  const std::string& variant = asked.variants[static_cast<std::size_t>(f.variant)].name;
  return variant.empty() ? rest : rest + ", " + variant;
}

void describe(Record& r, const TrainingSearch& asked, const Found& f, std::size_t rank) {
  const Strategy& s = f.strategy;
  const Estimate& e = f.estimate;
  const bool more = asked.variants.size() > 1 || asked.space.precision.size() > 1 ||
                    asked.space.modules.size() > 1 || asked.space.offload.size() > 1;
  r("rank", rank, " ");
  r("gpus", e.devices, asked.space.devices.size() > 1 ? "gpus" : "");
  r("tp", s.tp, "tp");
  r("pp", s.pp, "pp");
  r("interleave", s.interleave, "v");
  r("cp", s.cp, "cp");
  r("ep", s.ep, "ep");
  r("etp", s.etp);
  r("dp", s.dp, "dp");
  r("zero", s.zero, "zero");
  r("shard", s.shard);
  r("microbatch", s.microbatch, "micro");
  r("sp", s.sp, "sp");
  r("recompute", said(s.recompute, recompute_text(s)), "recompute");
  r("recompute_layers", s.recompute_layers);
  r("schedule", said(s.schedule, s.pp > 1 ? std::string(name_of(s.schedule)) : ""), "schedule");
  const char* inside = s.order == Order::tp_cp_ep_pp_dp ? "pp" : "dp";
  r("order", said(s.order, s.pp > 1 && s.dp > 1 ? inside : ""), "inside a node");
  r("context", s.context);
  r("offload", s.offload);
  r("precision", s.precision);
  r("variant", asked.variants[static_cast<std::size_t>(f.variant)].name);
  r("step_seconds", rounded(e.step, 4), "step");
  r("tokens_per_second_per_gpu", general(tokens_each(e), 4), "tokens/s/GPU");
  r("mfu", percent(e.mfu()), "MFU");
  r("memory_bytes", binary(e.memory.total()), "memory");
  if (asked.price > 0) {
    r("dollars_per_million_tokens", general(cost_of(asked, e), 4), "$/M tokens");
  }
  if (asked.aim.objective == TrainingObjective::energy) {
    r("joules_per_token", general(token_energy(e.energy, e.devices, e.tokens).value, 4), "J/token");
  }
  if (more) r("", others_of(asked, f), "and");
}

Records table_of(const TrainingSearch& asked, const std::vector<Found>& found) {
  std::size_t rank = 0;
  Records rows =
      records_of(found, [&](Record& r, const Found& f) { describe(r, asked, f, ++rank); });
  mark(rows, unmeasured_of(asked, found));
  return rows;
}

Record record_of(const TrainingSearch& asked, const Found& f) {
  Record r;
  r.node("strategy", "Strategy", write(f.strategy, Quantities::si));
  r("summary", name_of_found(asked, f));
  Record p;
  p("gpus", f.estimate.devices);
  p.take(prediction_of(f.estimate, asked.scenario.problem));
  if (asked.price > 0) p("dollars_per_million_tokens", cost_of(asked, f.estimate));
  r.object("prediction", "FoundPrediction", std::move(p));
  add(r, likeness_of(asked, f), {f.estimate.step.value});
  return r;
}

Records records_of_found(const TrainingSearch& asked, const std::vector<Found>& found) {
  return records_of(found, [&](Record& r, const Found& f) { r = record_of(asked, f); });
}

/// What one step has less of than another, and more, by seconds; small ones left out.
std::string differences(const Estimate& best, const Estimate& other) {
  struct Part {
    Time time;
    double seconds;
  };
  std::vector<Part> parts;
  for (std::size_t i = 0; i < best.time.size; ++i) {
    const auto t = static_cast<Time>(i);
    const double change = (best.time[t].exposed - other.time[t].exposed).value;
    if (std::abs(change) > 0.002 * other.step.value) parts.push_back({t, change});
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.seconds < b.seconds; });
  std::string less;
  std::string more;
  for (const Part& p : parts) {
    std::string& text = p.seconds < 0 ? less : more;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", format(Seconds(std::abs(p.seconds))),
                        name_of(p.time));
  }
  if (!less.empty()) less = "less " + less;
  if (!more.empty()) more = "more " + more;
  if (less.empty() || more.empty()) return less + more;
  return less + "; " + more;
}

std::string against(const TrainingSearchResult& a, const Found& other, const std::string& what) {
  const Found& best = a.result.best.front();
  const double ratio = other.estimate.step / best.estimate.step;
  std::string text = fmt::format(
      "against {} ({}): {}", what, name_of_found(a.asked, other),
      std::abs(ratio - 1) < 5e-5
          ? std::string("the same step time")
          : fmt::format("{:.{}f} % {}", 100 * std::abs(ratio - 1),
                        std::abs(ratio - 1) < 0.01 ? 2 : 1, ratio > 1 ? "faster" : "slower"));
  const Bytes saved = other.estimate.memory.total() - best.estimate.memory.total();
  if (std::abs(saved.value) > 0.01 * other.estimate.memory.total().value) {
    text += fmt::format(", {} {} memory", format_binary_bytes(std::abs(saved.value)),
                        saved.value > 0 ? "less" : "more");
  }
  const std::string parts = differences(best.estimate, other.estimate);
  return parts.empty() ? text : text + ": " + parts;
}

bool same_degrees(const Strategy& a, const Strategy& b) {
  return a.tp == b.tp && a.pp == b.pp && a.cp == b.cp && a.ep == b.ep && a.dp == b.dp;
}

plot::Series dots(const TrainingSearch& asked, const std::string& name, plot::Mark mark,
                  const std::vector<Found>& found) {
  plot::Series s{.name = name, .mark = mark};
  for (const Found& f : found) {
    s.points.push_back(
        {f.estimate.step.value, f.estimate.memory.total().value, name_of_found(asked, f)});
  }
  return s;
}

plot::Figure figure_of(const TrainingSearchResult& a) {
  plot::Figure f;
  const Scenario& x = a.asked.scenario;
  f.title = fmt::format("Strategies for {} on {} {}", x.problem.model.name,
                        a.asked.space.devices.back(), x.system.device.name);
  f.x = {.label = "step time", .dimension = Seconds::dimension, .log = true};
  f.y = {.label = "memory of a device", .dimension = Bytes::dimension, .log = false};
  f.series.push_back(
      dots(a.asked, "a sample of those that fit", plot::Mark::dots, a.result.sample));
  f.series.push_back(
      dots(a.asked, "no other is faster and smaller", plot::Mark::line_and_dots, a.result.pareto));
  if (a.usual) f.series.push_back(dots(a.asked, "the usual recipe", plot::Mark::dots, {*a.usual}));
  return f;
}

std::vector<std::string> reasons(const TrainingSearchResult& a) {
  std::vector<std::string> all;
  if (a.result.best.empty()) return all;
  const Found& best = a.result.best.front();
  const std::vector<Found>& found = a.result.best;
  if (found.size() > 1) all.push_back(against(a, found[1], "the runner-up"));
  // The next best is often the same but for a detail; this one is spread differently.
  const auto other = std::find_if(found.begin() + 1, found.end(), [&](const Found& f) {
    return !same_degrees(f.strategy, best.strategy);
  });
  if (other != found.end() && other != found.begin() + 1) {
    all.push_back(against(a, *other, "the best that is spread differently"));
  }
  if (a.usual) all.push_back(against(a, *a.usual, "the usual recipe"));
  return all;
}

/// Evenly along the front, both ends included.
std::vector<Found> some_of(const std::vector<Found>& front) {
  constexpr std::size_t most = 12;
  if (front.size() <= most) return front;
  std::vector<Found> some;
  for (std::size_t i = 0; i < most; ++i) {
    some.push_back(front[i * (front.size() - 1) / (most - 1)]);
  }
  return some;
}

/// Of a search that was stopped.
std::string how_good(const SearchResult& r) {
  if (r.proven()) return "the best is proven, the others are those found so far";
  if (r.bound <= 0) return "the best so far; how much better others may be is not known yet";
  return fmt::format("the best so far, within {:.2g} % of the best there is", 100 * r.gap());
}

/// Where nothing fits: what the smallest lacks.
std::string how_far(const TrainingSearch& asked, const Found& leanest) {
  const Bytes limit = asked.aim.max_memory.value > 0
                          ? min(asked.aim.max_memory, asked.scenario.problem.capacity)
                          : asked.scenario.problem.capacity;
  return lack_of_memory(leanest.estimate.memory.total(), limit, name_of_found(asked, leanest));
}

void say_found(Answer& a, const TrainingSearchResult& x, const std::vector<std::string>& why,
               const std::vector<Alike>& groups, const std::optional<Found>& instead) {
  const SearchResult& r = x.result;
  const Problem& p = x.asked.scenario.problem;
  const std::vector<int>& devices = x.asked.space.devices;
  a.say(fmt::format("training {} on {} of {}, batch {}, seq {}, {}", p.model.name,
                    devices.size() == 1 ? std::to_string(devices.front())
                                        : fmt::format("{} to {}", devices.front(), devices.back()),
                    x.asked.scenario.system.name, p.work.batch, p.work.seq, p.runtime.name));
  a.say(fmt::format("{} of {:.0f} strategies were evaluated, {} of these fit; {:.2f} s",
                    r.evaluated, x.points, r.feasible, x.seconds));
  if (r.stopped) {
    a.say("stopped before the end: " + how_good(r));
  } else if (r.skipped > 0 && !r.best.empty()) {
    a.say("proven: none of the others can be among the best, or on the front");
  }
  if (r.best.empty()) {
    return a.say("\nnothing fits" + (x.leanest ? ": " + how_far(x.asked, *x.leanest) : ""));
  }
  a.gap();
  a.show(table_of(x.asked, r.best));
  const Interval first = interval_of(measured_errors(), likeness_of(x.asked, r.best.front()));
  a.say("\nthe first: " + sure_text(first, {r.best.front().estimate.step.value}));
  say(a, unmeasured_of(x.asked, r.best));
  say(a, groups);
  if (instead) {
    a.say(fmt::format("  nearer to what was measured, and not surely slower: {}, {} a step",
                      name_of_found(x.asked, *instead), format(instead->estimate.step, 4)));
  }
  say_reasons(a, why);
  if (!x.loosened.empty()) a.say("\nwhat is held, each set free alone");
  for (const Loosened& l : x.loosened) {
    a.say(l.gain < 5e-5
              ? fmt::format("  {}: buys nothing", l.held)
              : fmt::format("  {}: buys {} ({})", l.held, format_percent(l.gain), l.summary));
  }
  const std::vector<Found> front = some_of(r.pareto);
  a.say(fmt::format("\nno other is faster, smaller and on fewer devices ({} of {})", front.size(),
                    r.pareto.size()));
  a.show(table_of(x.asked, front));
}

}  // namespace

Answer answer_of(const TrainingSearchResult& x) {
  const SearchResult& r = x.result;
  const Scenario& s = x.asked.scenario;
  Answer a;
  a.take(record_of(s, {"train", name_of(x.asked.aim.objective),
                       static_cast<double>(x.asked.space.devices.back()), r.evaluated, r.feasible,
                       r.stopped, x.seconds}));
  a("batch", s.problem.work.batch);
  a("seq", s.problem.work.seq);
  a("points", x.points);
  a("skipped", r.skipped);
  a("proven", r.proven());
  a("gap", r.gap());
  a.list("best", "Found", records_of_found(x.asked, r.best));
  const std::vector<Alike> groups = groups_of(x.asked, r.best);
  add(a, groups);
  const std::optional<Found> instead = measured_instead(x.asked, r, groups);
  a("measured_instead", instead ? Item(name_of_found(x.asked, *instead)) : only_if(false, ""));
  if (!x.loosened.empty()) {
    a.list("loosened", "Loosened", records_of(x.loosened, [](Record& one, const Loosened& l) {
             one("held", l.held);
             one("gain", l.gain);
             one("summary", l.summary);
           }));
  }
  a.list("pareto", "Found", records_of_found(x.asked, r.pareto));
  if (x.usual) a.object("usual", "Found", record_of(x.asked, *x.usual));
  if (x.leanest) a.object("leanest", "Found", record_of(x.asked, *x.leanest));
  // A point of the scatter: enough to draw it and to open it.
  a.some("sample", "Sample", records_of(r.sample, [](Record& p, const Found& f) {
           p("step_seconds", f.estimate.step);
           p("total_bytes", f.estimate.memory.total());
           p("gpus", f.estimate.devices);
           p("summary", describe_strategy(f.strategy));
         }));
  a.lines(table_of(x.asked, r.best));
  a.figure(figure_of(x));
  const std::vector<std::string> why = reasons(x);
  say_found(a, x, why, groups, instead);
  const auto count = [](double n) { return static_cast<std::uint64_t>(n); };
  const char* rest = r.stopped ? "not looked at" : "cannot be better, whatever else";
  explain(a, why,
          rejections_of(r.rejected, {{"over --max-memory", r.over_limit},
                                     {"break a rule, whatever else", count(r.barred)},
                                     {"cannot fit, whatever else", count(r.no_room)},
                                     {rest, count(r.skipped - r.barred - r.no_room)}}),
          "strategies", s);
  return a;
}

Record best_so_far(const Found& f, double bound) {
  const Estimate& e = f.estimate;
  Record r;
  r("summary", describe_strategy(f.strategy));
  r("gap", gap_of(f.score, bound));
  r("gpus", e.devices);
  r("step_seconds", e.step);
  r("tokens_per_second", e.tokens / e.step.value);
  r("mfu", e.mfu());
  r("memory_bytes", e.memory.total());
  return r;
}

}  // namespace sextant
