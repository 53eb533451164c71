// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/answer/infer.hpp"
#include "sextant/answer/parts.hpp"
#include "sextant/answer/search.hpp"
#include "sextant/answer/search_groups.hpp"
#include "sextant/io/errors.hpp"
#include "sextant/io/write.hpp"
#include "sextant/units/format.hpp"

namespace sextant {

std::string name_of_found(const ServingFound& f) {
  std::string text = describe_serving(f.strategy);
  text += fmt::format(", batch {}", f.serving.batch);
  if (f.serving.cache != Precision::bf16)
    text += fmt::format(", {} cache", name_of(f.serving.cache));
  if (f.instances > 1) text += fmt::format(", {} instances", f.instances);
  return text;
}

namespace {

Records table_of(const ServingSearch& asked, const std::vector<ServingFound>& found) {
  std::size_t rank = 0;
  Records rows = records_of(found, [&](Record& r, const ServingFound& f) {
    const Strategy& s = f.strategy;
    const ServingEstimate& e = f.estimate;
    r("rank", ++rank, " ");
    r("gpus", f.devices(), "gpus");
    r("instances", f.instances, "instances");
    r("tp", s.tp, "tp");
    r("pp", s.pp, "pp");
    r("dp", s.dp, "dp");
    r("ep", s.ep, "ep");
    r("precision", s.precision, "precision");
    r("kv_precision", f.serving.cache, "cache");
    r("batch", f.serving.batch, "batch");
    r("ttft_seconds", e.ttft, "first token");
    r("tpot_seconds", e.tpot, "a token");
    r("latency_seconds", e.latency, "request");
    r("output_tokens_per_second", general(f.tokens_per_second(), 4), "tokens/s");
    r("", general(f.tokens_per_second() / f.devices(), 4), "a GPU");
    r("memory_bytes", binary(e.memory.total()), "memory");
  });
  mark(rows, unmeasured_of(asked, found));
  return rows;
}

Record record_of(const ServingSearch& asked, const ServingFound& f) {
  Record r;
  r.node("strategy", "Strategy", write(f.strategy, Quantities::si));
  r.node("serving", "Serving", write(f.serving, Quantities::si));
  r("instances", f.instances);
  r("summary", name_of_found(f));
  Record p;
  p("gpus", f.devices());
  p("total_output_tokens_per_second", f.tokens_per_second());
  p.take(prediction_of(f.estimate, f.serving));
  r.object("prediction", "FoundPrediction", std::move(p));
  add(r, likeness_of(asked, f), {f.estimate.latency.value});
  return r;
}

Records records_of_found(const ServingSearch& asked, const std::vector<ServingFound>& found) {
  return records_of(found, [&](Record& r, const ServingFound& f) { r.take(record_of(asked, f)); });
}

/// Where a decode step of one has less time than of another, as shares of the other's.
std::string differences(const PassCost& best, const PassCost& other) {
  std::string text;
  for (std::size_t i = 0; i < best.parts.size; ++i) {
    const double change = (best.parts.values[i] - other.parts.values[i]).value;
    if (std::abs(change) < 0.01 * other.time.value) continue;
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", format(Seconds(std::abs(change))),
                        change < 0 ? "less" : "more", names_of(Work{})[i]);
  }
  return text;
}

std::string against(const ServingFound& best, const ServingFound& other, const std::string& what) {
  const auto ratio = [](double a, double b) { return b > 0 ? a / b : 1; };
  std::string text = fmt::format(
      "against {} ({}): {:.3g}x the tokens a GPU, {:.3g}x the time a token, {:.3g}x the time to "
      "the "
      "first",
      what, name_of_found(other),
      ratio(best.tokens_per_second() / best.devices(), other.tokens_per_second() / other.devices()),
      ratio(best.estimate.tpot.value, other.estimate.tpot.value),
      ratio(best.estimate.ttft.value, other.estimate.ttft.value));
  const std::string parts = differences(best.estimate.decode, other.estimate.decode);
  return parts.empty() ? text : text + "; a decode step has " + parts;
}

plot::Figure figure_of(const ServingSearchResult& a) {
  plot::Figure f;
  const Scenario& x = a.asked.scenario;
  f.title = fmt::format("Serving {} on {} {}", x.problem.model.name, a.asked.space.devices,
                        x.system.device.name);
  f.x = {.label = "time a token", .dimension = Seconds::dimension, .log = true};
  f.y = {.label = "tokens a second and GPU", .log = true};
  plot::Series s{.name = "no other has both", .mark = plot::Mark::line_and_dots};
  for (const ServingFound& p : a.result.pareto) {
    s.points.push_back(
        {p.estimate.tpot.value, p.tokens_per_second() / p.devices(), name_of_found(p)});
  }
  f.series.push_back(std::move(s));
  return f;
}

std::vector<std::string> reasons(const ServingSearchResult& a) {
  std::vector<std::string> all;
  const std::vector<ServingFound>& found = a.result.best;
  if (found.size() > 1) all.push_back(against(found[0], found[1], "the runner-up"));
  const auto other = std::find_if(found.begin() + std::min<std::ptrdiff_t>(1, std::ssize(found)),
                                  found.end(), [&](const ServingFound& f) {
                                    return f.strategy.tp != found[0].strategy.tp ||
                                           f.strategy.pp != found[0].strategy.pp;
                                  });
  if (other != found.end() && other != found.begin() + 1) {
    all.push_back(against(found[0], *other, "the best that is spread differently"));
  }
  return all;
}

/// Where nothing serves: what the nearest lacks.
std::string how_far(const ServingSearch& asked, const ServingFound& f) {
  const ServingAim& aim = asked.aim;
  const ServingEstimate& e = f.estimate;
  if (e.verdict != Verdict::fits) {
    return lack_of_memory(e.memory.total(), e.memory.capacity, name_of_found(f));
  }
  std::string missed;
  const auto miss = [&](bool over, const std::string& what) {
    if (over) missed += (missed.empty() ? "" : ", ") + what;
  };
  miss(e.ttft > aim.ttft,
       fmt::format("first token {}, at most {}", format(e.ttft), format(aim.ttft)));
  miss(asked.scenario.problem.serving.output > 1 && e.tpot > aim.tpot,
       fmt::format("a token {}, at most {}", format(e.tpot), format(aim.tpot)));
  miss(f.tokens_per_second() < aim.tokens_per_second,
       fmt::format("{} tokens/s, at least {}", format_count(f.tokens_per_second()),
                   format_count(aim.tokens_per_second)));
  return fmt::format("the nearest is {}: {}", name_of_found(f), missed);
}

void say_found(Answer& a, const ServingSearchResult& x, const std::vector<std::string>& why,
               const std::vector<Alike>& groups) {
  const ServingResult& r = x.result;
  const Problem& p = x.asked.scenario.problem;
  a.say(fmt::format("serving {} on {}{} of {}, input {}, output {}, {}", p.model.name,
                    x.asked.space.at_most ? "at most " : "", x.asked.space.devices,
                    x.asked.scenario.system.name, p.serving.input, p.serving.output,
                    p.runtime.name));
  a.say(fmt::format("{} way{} evaluated, {} fit and meet the limits; {:.2f} s", r.evaluated,
                    r.evaluated == 1 ? "" : "s", r.feasible, x.seconds));
  if (r.stopped) a.say("stopped before the end: the best so far");
  if (r.best.empty()) {
    const bool limited = r.slow_first_token + r.slow_tokens + r.too_few_tokens > 0;
    return a.say(std::string(limited ? "\nnothing meets the limits" : "\nnothing fits") +
                 (r.nearest ? ": " + how_far(x.asked, *r.nearest) : ""));
  }
  a.gap();
  a.show(table_of(x.asked, r.best));
  const Interval first = interval_of(measured_errors(), likeness_of(x.asked, r.best.front()));
  a.say("\na request of the first: " + sure_text(first, {r.best.front().estimate.latency.value}));
  say(a, unmeasured_of(x.asked, r.best));
  say(a, groups);
  say_reasons(a, why);
  a.say("\nno other has both faster tokens and more of them a GPU");
  a.show(table_of(x.asked, r.pareto));
}

}  // namespace

Answer answer_of(const ServingSearchResult& x) {
  const ServingResult& r = x.result;
  const Scenario& s = x.asked.scenario;
  Answer a;
  a.take(record_of(
      s, {"infer", name_of(x.asked.aim.objective), static_cast<double>(x.asked.space.devices),
          r.evaluated, r.feasible, r.stopped, x.seconds}));
  a.list("best", "Found", records_of_found(x.asked, r.best));
  const std::vector<Alike> groups = groups_of(x.asked, r.best);
  add(a, groups);
  a.list("pareto", "Found", records_of_found(x.asked, r.pareto));
  if (r.nearest) a.object("nearest", "Found", record_of(x.asked, *r.nearest));
  a.lines(table_of(x.asked, r.best));
  a.figure(figure_of(x));
  const std::vector<std::string> why = reasons(x);
  say_found(a, x, why, groups);
  explain(a, why,
          rejections_of(r.rejected, {{"over --max-ttft", r.slow_first_token},
                                     {"over --max-tpot", r.slow_tokens},
                                     {"under --min-throughput", r.too_few_tokens}}),
          "ways", s);
  return a;
}

}  // namespace sextant
