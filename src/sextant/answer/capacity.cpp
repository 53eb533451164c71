// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/capacity.hpp"

#include <fmt/format.h>

#include "sextant/answer/parts.hpp"
#include "sextant/answer/search.hpp"
#include "sextant/io/write.hpp"

namespace sextant {
namespace {

std::string name_of_engine(const CapacityFound& f) {
  std::string text = describe_serving(f.strategy);
  if (narrow(f.cache)) text += ", cache " + std::string(name_of(f.cache));
  return text;
}

/// What is said of one cluster, once: a row for people, a line of CSV, a prediction in JSON.
void describe(Record& r, const CapacityAim& aim, const CapacityFound& f) {
  const TrafficResult& t = f.result;
  const double tokens = t.completed > 0 ? aim.traffic.rate * t.output_tokens / t.completed : 0;
  r("devices", f.devices, "devices");
  r("replicas", f.replicas, "engines");
  r("decode_replicas", f.decode_replicas, "for tokens");
  r("max_requests", f.max_requests, "at a time");
  r("most_requests_per_second", general(f.most, 4), "most/s");
  r("headroom", percent(f.most / aim.traffic.rate - 1, 0), "headroom");
  r("ttft_p99_seconds", Seconds(t.ttft.p99), "TTFT p99");
  r("tpot_p99_seconds", Seconds(t.tpot.p99), "TPOT p99");
  const bool priced = aim.price > 0;
  r("dollars_per_million_tokens",
    only_if(priced && tokens > 0,
            general(dollars_per_million(aim.price, f.devices, Seconds(1), tokens), 4)),
    priced ? "$/M tokens" : "");
}

Records table_of(const CapacityAim& aim, const std::vector<CapacityFound>& found) {
  std::size_t rank = 0;
  return records_of(found, [&](Record& r, const CapacityFound& f) {
    r("rank", ++rank, " ");
    r("engine", name_of_engine(f), "an engine");
    describe(r, aim, f);
  });
}

Records records_of_found(const CapacityAim& aim, const std::vector<CapacityFound>& found) {
  return records_of(found, [&](Record& r, const CapacityFound& f) {
    r.node("strategy", "Strategy", write(f.strategy, Quantities::si));
    r("kv_precision", f.cache);
    r("summary", name_of_cluster(f));
    Record p;
    p("gpus", f.devices);
    describe(p, aim, f);
    r.object("prediction", "ClusterPrediction", std::move(p));
  });
}

std::vector<std::string> reasons(const std::vector<CapacityFound>& found) {
  if (found.size() < 2) return {};
  const CapacityFound& a = found[0];
  const CapacityFound& b = found[1];
  return {fmt::format(
      "against the runner-up ({}): {:.3g}x the devices, {:.3g}x the requests a "
      "second that each holds",
      name_of_cluster(b), a.devices / b.devices, a.most / a.devices / (b.most / b.devices))};
}

plot::Figure figure_of(const CapacityAnswer& a) {
  plot::Figure f;
  const Scenario& x = a.asked.scenario;
  f.title = fmt::format("Clusters of {} that serve {} within the limits", x.system.device.name,
                        x.problem.model.name);
  f.x = {.label = "devices", .log = true};
  f.y = {.label = "requests a second that it holds", .log = true};
  const auto add = [&](const char* name, plot::Mark mark, const std::vector<CapacityFound>& list) {
    plot::Series s{.name = name, .mark = mark};
    for (const CapacityFound& found : list) {
      s.points.push_back({found.devices, found.most, name_of_cluster(found)});
    }
    f.series.push_back(std::move(s));
  };
  add("the fewest devices", plot::Mark::dots, a.result.best);
  add("no other holds more on as few", plot::Mark::line_and_dots, a.result.pareto);
  return f;
}

Rejections rejections_of(const CapacityResult& r) {
  Rejections all;
  for (std::size_t i = 0; i < r.rejected.size; ++i) {
    all.emplace_back(names_of(Shortfall{})[i], r.rejected.values[i]);
  }
  return sextant::rejections_of({}, std::move(all));
}

void say_found(Answer& a, const CapacityAnswer& x, const std::vector<std::string>& why) {
  const CapacityResult& r = x.result;
  const Scenario& s = x.asked.scenario;
  a.say(fmt::format("serving {} on at most {} of {}, {}, {:.6g} requests a second",
                    s.problem.model.name, x.asked.space.devices, s.system.name,
                    s.problem.runtime.name, x.asked.aim.traffic.rate));
  a.say(fmt::format("{} layouts, {} simulations; {:.2f} s", r.evaluated, r.simulations, x.seconds));
  if (r.stopped) a.say("stopped before the end: the best so far");
  if (r.best.empty()) return a.say("\nnone holds the limits");
  a.gap();
  a.show(table_of(x.asked.aim, r.best));
  say_reasons(a, why);
  a.say("\nno other holds more requests a second on as few devices");
  a.show(table_of(x.asked.aim, r.pareto));
}

}  // namespace

std::string name_of_cluster(const CapacityFound& f) {
  std::string text = fmt::format("{} x {}", f.replicas, name_of_engine(f));
  if (f.decode_replicas > 0) text += fmt::format(" and {} for tokens", f.decode_replicas);
  return text;
}

Answer answer_of(const CapacityAnswer& x) {
  const CapacityResult& r = x.result;
  const Scenario& s = x.asked.scenario;
  const CapacityAim& aim = x.asked.aim;
  Answer a;
  a.take(record_of(
      s, {"traffic", name_of(ServingObjective::devices), static_cast<double>(x.asked.space.devices),
          r.evaluated, r.feasible, r.stopped, x.seconds}));
  a("rate", aim.traffic.rate);
  a("simulations", r.simulations);
  a.list("best", "ClusterFound", records_of_found(aim, r.best));
  a.list("pareto", "ClusterFound", records_of_found(aim, r.pareto));
  a.lines(table_of(aim, r.best));
  a.figure(figure_of(x));
  const std::vector<std::string> why = reasons(r.best);
  say_found(a, x, why);
  explain(a, why, rejections_of(r), "layouts", s);
  return a;
}

}  // namespace sextant
