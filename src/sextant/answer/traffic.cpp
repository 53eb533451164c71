// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/traffic.hpp"

#include <fmt/format.h>

#include "sextant/answer/parts.hpp"
#include "sextant/io/errors.hpp"
#include "sextant/predict/uncertainty.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

/// Everything that is one number, once: its JSON name and its value.
struct Number {
  const char* name;
  double value;
};

/// Dollars a million of them; nothing where nobody said what a device costs, or no token came.
std::optional<double> cost_of(const TrafficAnswer& a, double tokens) {
  if (!a.asked.price || tokens <= 0) return std::nullopt;
  return dollars_per_million(*a.asked.price, a.asked.cluster.devices(), Seconds(a.result.seconds),
                             tokens);
}

double joules_of_token(const TrafficResult& r) {
  return r.output_tokens > 0 ? r.joules / r.output_tokens : 0;
}

double hit_rate(const TrafficResult& r) {
  return r.counts.prompt_tokens > 0 ? r.counts.hit_tokens / r.counts.prompt_tokens : 0;
}

std::vector<Number> numbers_of(const TrafficResult& r) {
  return {{"requests", r.sent},
          {"completed", r.completed},
          {"output_tokens_per_second", r.output_tokens_per_second()},
          {"requests_per_second", r.requests_per_second()},
          {"goodput_requests_per_second", r.goodput()},
          {"saturation", r.saturation()},
          {"capacity_requests_per_second", r.capacity},
          {"offered_requests_per_second", r.offered},
          {"queue_growth_per_second", r.queue_growth},
          {"seconds", r.seconds},
          {"mean_requests_present", r.mean_present},
          {"preemptions", r.counts.preemptions},
          {"recomputed_tokens", r.counts.recomputed_tokens},
          {"prefix_hit_rate", hit_rate(r)},
          {"prefill_share", r.prefill_share},
          {"decode_share", r.decode_share},
          {"mixed_share", r.mixed_share},
          {"idle_share", r.idle_share},
          {"cache_transfer_seconds", r.transfer_seconds},
          {"joules_per_token", joules_of_token(r)}};
}

struct Latency {
  const char* name = "";
  const char* text = "";
  Percentiles values = {};
};
/// One token is the first: nothing lies between it and another.
bool has_others(const TrafficResult& r) { return r.tpot.p99 > 0 || r.gap.p99 > 0; }

std::vector<Latency> latencies_of(const TrafficResult& r) {
  return {{"ttft_seconds", "first token", r.ttft},
          {"tpot_seconds", "a token, mean of a request", r.tpot},
          {"gap_seconds", "between two tokens", r.gap},
          {"latency_seconds", "whole request", r.latency}};
}

/// The names that tools rely on.
void describe(Record& r, const TrafficResult& t) {
  for (const Number& n : numbers_of(t)) r(n.name, n.value);
  for (const Latency& l : latencies_of(t)) {
    Record p;
    p("mean", l.values.mean);
    p("p50", l.values.p50);
    p("p90", l.values.p90);
    p("p95", l.values.p95);
    p("p99", l.values.p99);
    r.object(l.name, "Percentiles", std::move(p));
  }
}

/// Percentiles that rest on fewer than ten requests beyond them are chance.
std::string short_run(const TrafficResult& r) {
  if (r.completed >= 1000) return "";
  const int sure = r.completed >= 200 ? 95 : r.completed >= 100 ? 90 : 50;
  return fmt::format("{:.0f} request{} too few for percentiles beyond p{}", r.completed,
                     r.completed == 1 ? " is" : "s are", sure);
}

/// What a user must hear before the numbers.
std::vector<std::string> warnings_of(const TrafficAnswer& a) {
  std::vector<std::string> all;
  const TrafficResult& r = a.result;
  if (r.offered > 0 && r.saturation() > 1) {
    all.push_back(fmt::format(
        "offered {} times what it can serve; the queue grows {} requests a "
        "second: latencies "
        "are those of this run's length",
        format_count(r.saturation(), 2), format_count(std::max(0.0, r.queue_growth), 2)));
  }
  if (std::string s = short_run(r); !s.empty()) all.push_back(std::move(s));
  return all;
}

std::string requests_text(const TrafficScenario& x) {
  const Traffic& t = x.traffic;
  std::string what = fmt::format("{:.0f} request{}", t.requests, t.requests == 1 ? "" : "s");
  switch (t.arrivals) {
    case Arrivals::closed:
      what += fmt::format(" of {} users", t.concurrency);
      break;
    case Arrivals::burst:
      what += " at once";
      break;
    case Arrivals::trace:
      what += t.rate > 0 ? fmt::format(" of a trace at {} a second", t.rate) : " of a trace";
      break;
    case Arrivals::poisson:
    case Arrivals::gamma:
    case Arrivals::uniform:
      what += fmt::format(" at {} a second ({})", t.rate, name_of(t.arrivals));
  }
  if (t.lengths != Lengths::trace) {
    what += fmt::format(", {} in, {} out", t.input, t.output);
    if (t.lengths != Lengths::fixed) what += fmt::format(" ({})", name_of(t.lengths));
  }
  return what;
}

std::string cluster_text(const TrafficScenario& x) {
  const Cluster& c = x.cluster;
  std::string what = describe_serving(c.pool.strategy);
  if (c.decode) {
    return fmt::format("{} for prompts ({}), {} for tokens ({})", c.pool.replicas, what,
                       c.decode->replicas, describe_serving(c.decode->strategy));
  }
  if (c.pool.replicas > 1) {
    what += fmt::format(", {} replicas, {}", c.pool.replicas, name_of(c.router));
  }
  return what;
}

const SplitPoint* best_split(const TrafficAnswer& a) {
  const SplitPoint* best = nullptr;
  for (const SplitPoint& s : a.splits) {
    if (best == nullptr || s.result.goodput() > best->result.goodput()) best = &s;
  }
  return best;
}

plot::Axis axis(std::string label, bool seconds, bool log) {
  plot::Axis a;
  a.label = std::move(label);
  if (seconds) a.dimension = Seconds::dimension;
  a.log = log;
  return a;
}

/// How sure the answer is of a token's time, and of the first one's.
struct Sure {
  Interval token;
  Interval first;
};
Sure sure_of(const TrafficAnswer& a) {
  const TrafficScenario& x = a.asked;
  const Pool& tokens = x.cluster.decode ? *x.cluster.decode : x.cluster.pool;
  Likeness like =
      likeness_of(Asked::traffic, known_as(x.scenario.system), tokens.problem, tokens.strategy);
  Sure sure{interval_of(measured_errors(), like), {}};
  like.question = Asked::first_token;
  sure.first = interval_of(measured_errors(), like);
  return sure;
}

/// Where numbers that follow from the time of a token lie nine times in ten.
class Bounds {
 public:
  Bounds(const TrafficAnswer& a, const Interval& time)
      : least_(time.low),
        most_(time.high),
        more_(a.result.served_if(least_)),
        less_(a.result.served_if(most_)),
        r_(a.result) {}

  NumberAndRange tokens() const { return scaled(r_.output_tokens_per_second(), less_, more_); }
  NumberAndRange capacity() const { return scaled(r_.capacity, 1 / most_, 1 / least_); }
  NumberAndRange cost(std::optional<double> dollars) const {
    return scaled(dollars, 1 / more_, 1 / less_);
  }
  /// No case measured power: it is held.
  NumberAndRange joules() const {
    return scaled(joules_of_token(r_), drawn(least_, more_), drawn(most_, less_));
  }

 private:
  static NumberAndRange scaled(std::optional<double> x, double low, double high) {
    const auto times = [&](double f) { return x ? std::optional(f * *x) : std::nullopt; };
    return {x, times(low), times(high)};
  }
  double drawn(double slower, double served) const {
    const double standing = r_.joules > 0 ? r_.standing / r_.joules : 0;
    return (1 - standing) * slower + standing / served;
  }

  double least_, most_;  // of a token's time, over the predicted
  double more_, less_;   // of what is served
  const TrafficResult& r_;
};

/// The bounds of a number that is there already.
void add_bounds(Record& r, const std::string& name, NumberAndRange n) {
  r(name + "_low", std::move(n.low));
  r(name + "_high", std::move(n.high));
}
std::string bounds_text(const NumberAndRange& n, const char* before = "") {
  const std::string low = before + format_count(n.low.value.number);
  const std::string high = before + format_count(n.high.value.number);
  return low == high ? low : low + " to " + high;
}

Record memory_of(const TrafficScenario& x) {
  Record r = memory_record(x.memory);
  r("fits", Node::of(x.fits));
  r("cache_tokens", x.cluster.pool.limits.cache_tokens);
  return r;
}

/// `two`: one pool reads prompts, another makes tokens.
void describe(Record& r, const SlowRequest& s, bool two) {
  std::string why(name_of(s.answer.wait));
  const int times = s.answer.preemptions;
  if (times > 0) why += times > 1 ? fmt::format("; preempted {} times", times) : "; preempted once";
  r("request", s.answer.request.number + 1, "slowest");
  r("input", s.answer.request.input, "in");
  r("output", s.answer.request.output, "out");
  r("latency_seconds", Seconds(s.latency), "took");
  r("queued_seconds", Seconds(s.queued), "queued");
  r("prompt_seconds", Seconds(s.prompt), "prompt");
  r("moved_seconds", Seconds(s.moved), two ? "moved" : "");
  r("decode_seconds", Seconds(s.decode), "tokens");
  r("preemptions", s.answer.preemptions);
  r("waited_for", said(name_of(s.answer.wait), why), "waited for");
}

/// Requests and cache over time: a bin each.
Records load_records(const LoadTimeline& timeline) {
  Records all;
  const auto& bins = timeline.bins();
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double seconds = std::max(1e-12, bins[i].seconds);
    Record& r = all.rows.emplace_back();
    r("seconds", (static_cast<double>(i) + 0.5) * timeline.width());
    r("waiting", bins[i].waiting / seconds);
    r("running", bins[i].running / seconds);
    r("cache_share", bins[i].cache / seconds);
  }
  return all;
}

/// Latencies that a share of the requests stays within.
Records distribution_records(const TrafficResult& t) {
  constexpr int points = 100;
  const auto ttft = t.ttfts.curve(points);
  const auto tpot = t.tpots.curve(points);
  const auto whole = t.latencies.curve(points);
  Records all;
  for (std::size_t i = 0; i < ttft.size() && i < tpot.size() && i < whole.size(); ++i) {
    Record& r = all.rows.emplace_back();
    r("share", ttft[i].second);
    r("ttft_seconds", ttft[i].first);
    r("tpot_seconds", tpot[i].first);
    r("latency_seconds", whole[i].first);
  }
  return all;
}

Records percentile_records(const TrafficResult& t) {
  std::vector<Latency> shown = latencies_of(t);
  if (!has_others(t)) shown = {shown.front(), shown.back()};
  return records_of(shown, [](Record& r, const Latency& l) {
    r("", l.text, " ");
    r("", Seconds(l.values.mean), "mean");
    r("", Seconds(l.values.p50), "p50");
    r("", Seconds(l.values.p90), "p90");
    r("", Seconds(l.values.p95), "p95");
    r("", Seconds(l.values.p99), "p99");
  });
}

/// A line of CSV.
void flat(Record& r, const TrafficResult& t) {
  for (const Number& n : numbers_of(t)) r(n.name, n.value);
  for (const Latency& l : latencies_of(t)) {
    const std::string name(l.name);
    const std::string stem = name.substr(0, name.find('_'));
    r(stem + "_p50_seconds", l.values.p50);
    r(stem + "_p90_seconds", l.values.p90);
    r(stem + "_p99_seconds", l.values.p99);
    r(stem + "_mean_seconds", l.values.mean);
  }
}

/// A line a rate, of CSV and of the table.
Records curve_records(const std::vector<RatePoint>& curve) {
  return records_of(curve, [](Record& r, const RatePoint& p) {
    const TrafficResult& t = p.result;
    r("rate", general(p.rate, 3), "rate");
    r("saturation", general(t.saturation(), 3), "load");
    r("ttft_p50_seconds", Seconds(t.ttft.p50), "TTFT p50");
    r("ttft_p99_seconds", Seconds(t.ttft.p99), "p99");
    r("tpot_p50_seconds", Seconds(t.tpot.p50), "TPOT p50");
    r("tpot_p99_seconds", Seconds(t.tpot.p99), "p99");
    r("output_tokens_per_second", general(t.output_tokens_per_second(), 4), "tokens/s");
    r("goodput_requests_per_second", general(t.goodput(), 3), "good/s");
  });
}

/// What people see of a split, and under no name, beside the line of CSV.
Records split_records(const TrafficAnswer& a) {
  const SplitPoint* best = best_split(a);
  return records_of(a.splits, [&](Record& r, const SplitPoint& s) {
    const TrafficResult& t = s.result;
    r("prefill_workers", s.prefill, "prompts");
    r("decode_workers", s.decode, "tokens");
    r("", Seconds(t.ttft.p50), "TTFT p50");
    r("", Seconds(t.ttft.p99), "p99");
    r("", Seconds(t.tpot.p50), "TPOT p50");
    r("", general(t.output_tokens_per_second(), 4), "tokens/s");
    r("", general(t.goodput(), 3), "good/s");
    r("", &s == best ? "best" : "", " ");
    flat(r, t);
  });
}

Records csv_lines(const TrafficAnswer& a) {
  if (!a.curve.empty()) return curve_records(a.curve);
  if (!a.splits.empty()) return split_records(a);
  Records one;
  flat(one.rows.emplace_back(), a.result);
  return one;
}

void say_rates(Answer& answer, const TrafficAnswer& a, const Bounds& bounds) {
  const TrafficScenario& x = a.asked;
  const TrafficResult& r = a.result;
  answer.say(fmt::format(
      "{} output tokens/s, {} requests/s{}; {} of {} requests/s that it can serve",
      format_count(r.output_tokens_per_second()), format_count(r.requests_per_second(), 3),
      x.limited ? fmt::format(", {} within the limits", format_count(r.goodput(), 3)) : "",
      format_percent(r.saturation(), 0), format_count(r.capacity, 3)));
  answer.say(fmt::format("time: {} prompts alone, {} tokens alone, {} both, {} idle",
                         format_percent(r.prefill_share, 0), format_percent(r.decode_share, 0),
                         format_percent(r.mixed_share, 0), format_percent(r.idle_share, 0)));
  if (r.counts.preemptions > 0) {
    answer.say(fmt::format("{:.0f} preemptions, {} tokens computed again", r.counts.preemptions,
                           format_count(r.counts.recomputed_tokens, 3)));
  }
  if (hit_rate(r) > 0) {
    answer.say(
        fmt::format("{} of prompt tokens found in the prefix cache", format_percent(hit_rate(r))));
  }
  if (x.cluster.decode) {
    const Seconds handed = x.cluster.decode->problem.runtime.engine.hand_over;
    answer.say(fmt::format(
        "a cache takes {} to move{}", format(Seconds(r.transfer_seconds)),
        handed.value > 0
            ? fmt::format("; the engines take {} to hand a request over", format(handed))
            : ""));
  }
  std::string energy = fmt::format("energy {} a token", format(Joules(joules_of_token(r))));
  if (const std::optional<double> cost = cost_of(a, r.output_tokens)) {
    energy += fmt::format("; ${:.3g} a million output tokens, ${:.3g} of all tokens", *cost,
                          *cost_of(a, r.output_tokens + r.input_tokens));
  }
  answer.say(std::move(energy));
  std::string range = fmt::format(
      "nine times in ten {} output tokens/s of {} requests/s that it can serve; {} to {} "
      "a token",
      bounds_text(bounds.tokens()), bounds_text(bounds.capacity()),
      format(Joules(bounds.joules().low.value.number)),
      format(Joules(bounds.joules().high.value.number)));
  if (const std::optional<double> cost = cost_of(a, r.output_tokens)) {
    range += fmt::format(", {} a million output tokens", bounds_text(bounds.cost(cost), "$"));
  }
  answer.say(std::move(range));
}

void say_traffic(Answer& answer, const TrafficAnswer& a, const Sure& sure, const Bounds& bounds,
                 const Records& slowest) {
  const TrafficScenario& x = a.asked;
  const TrafficResult& r = a.result;
  const TableStyle indented{.indent = 2};
  answer.say(fmt::format("{} on {:.0f} x {} of {}, {}: {}", x.scenario.problem.model.name,
                         x.cluster.devices(), x.scenario.system.device.name, x.scenario.system.name,
                         x.scenario.problem.runtime.name, requests_text(x)));
  answer.say(cluster_text(x));
  for (const std::string& w : warnings_of(a)) answer.say("note: " + w);
  answer.gap();
  answer.show(percentile_records(r), indented);
  answer.say(
      fmt::format("\nhalf of the first tokens in {}{}, nine times in ten: {}",
                  range_text(sure.first, {r.ttft.p50}),
                  has_others(r) ? ", of the others in " + range_text(sure.token, {r.tpot.p50}) : "",
                  sure.token.basis));
  say_unmeasured(answer, sure.token.unmeasured);
  say_rates(answer, a, bounds);
  answer.gap();
  answer.show(slowest, indented);
  if (!a.curve.empty()) {
    answer.say("\nby rate");
    answer.show(curve_records(a.curve), indented);
    if (const RatePoint* k = knee_of(a))
      answer.say(fmt::format("  the knee: {} a second", format_count(k->rate, 3)));
  }
  if (a.splits.empty()) return;
  answer.say("\nworkers for");
  answer.show(split_records(a), indented);
}

}  // namespace

const RatePoint* knee_of(const TrafficAnswer& a) {
  const RatePoint* knee = nullptr;
  for (const RatePoint& p : a.curve) {
    const TrafficResult& r = p.result;
    const ServiceLimits& l = a.asked.limits;
    const bool good = a.asked.limited ? r.ttft.p99 <= l.ttft.value && r.tpot.p99 <= l.tpot.value
                                      : r.ttft.p50 <= 2 * a.curve.front().result.ttft.p50;
    if (!good || r.saturation() > 1) break;  // what lasts, not what a short run gets away with
    knee = &p;
  }
  return knee;
}

Answer traffic_answer(const TrafficAnswer& a) {
  const TrafficScenario& x = a.asked;
  const TrafficResult& r = a.result;
  Answer answer;
  answer("model", x.scenario.problem.model.name);
  answer("system", x.scenario.system.name);
  answer("runtime", x.scenario.problem.runtime.name);
  answer("gpus", x.cluster.devices());
  describe(answer, r);
  const Sure sure = sure_of(a);
  answer.object("uncertainty", "Uncertainty", uncertainty_record(sure.token, {r.tpot.p50}));
  answer.object("first_token_uncertainty", "Uncertainty",
                uncertainty_record(sure.first, {r.ttft.p50}));
  const Bounds bounds(a, sure.token);
  add_bounds(answer, "output_tokens_per_second", bounds.tokens());
  add_bounds(answer, "capacity_requests_per_second", bounds.capacity());
  add_bounds(answer, "joules_per_token", bounds.joules());
  add(answer, "dollars_per_million_tokens", bounds.cost(cost_of(a, r.output_tokens)));
  add(answer, "dollars_per_million_tokens_in_and_out",
      bounds.cost(cost_of(a, r.output_tokens + r.input_tokens)));
  answer("simulated_requests_per_second", a.wall_seconds > 0 ? r.sent / a.wall_seconds : 0);
  answer.object("memory", "TrafficMemory", memory_of(x));
  const Records slowest =
      records_of(r.slowest, [two = x.cluster.decode.has_value()](Record& n, const SlowRequest& s) {
        describe(n, s, two);
      });
  answer.list("slowest", "SlowRequest", slowest);
  answer.some("curve", "RatePoint", records_of(a.curve, [](Record& n, const RatePoint& p) {
                n("rate", p.rate);
                describe(n, p.result);
              }));
  const RatePoint* knee = knee_of(a);
  answer("knee_requests_per_second", only_if(knee != nullptr, knee == nullptr ? 0 : knee->rate));
  const SplitPoint* best = best_split(a);
  answer.some("splits", "SplitPoint", records_of(a.splits, [&](Record& n, const SplitPoint& s) {
                n("prefill_workers", s.prefill);
                n("decode_workers", s.decode);
                n("best", Node::of(&s == best));
                describe(n, s.result);
              }));
  if (a.series) answer.list("load", "LoadPoint", load_records(r.timeline));
  if (a.series) answer.list("distribution", "LatencyShare", distribution_records(r));
  answer.strings("warnings", warnings_of(a));
  say_traffic(answer, a, sure, bounds, slowest);
  std::vector<std::string> assumptions = x.scenario.assumptions;
  assume_overdrawn(assumptions, x.scenario.problem.chip, r.most_watts);
  answer.assume(assumptions);
  answer.lines(csv_lines(a));
  for (plot::Figure& figure : traffic_figures(a)) answer.figure(std::move(figure));
  return answer;
}

std::vector<plot::Figure> traffic_figures(const TrafficAnswer& a) {
  const TrafficResult& r = a.result;
  const std::string title =
      fmt::format("{} on {:.0f} x {}", a.asked.scenario.problem.model.name,
                  a.asked.cluster.devices(), a.asked.scenario.system.device.name);
  plot::Figure load;
  load.title = title + ": load over time";
  load.x = axis("time", true, false);
  load.y = axis("requests; cache in percent", false, false);
  plot::Series waiting{.name = "waiting", .mark = plot::Mark::line, .points = {}};
  plot::Series running{.name = "running", .mark = plot::Mark::line, .points = {}};
  plot::Series cache{.name = "cache, %", .mark = plot::Mark::dashed_line, .points = {}};
  const auto& bins = r.timeline.bins();
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double t = (static_cast<double>(i) + 0.5) * r.timeline.width();
    const double s = std::max(1e-12, bins[i].seconds);
    waiting.points.push_back({t, bins[i].waiting / s, ""});
    running.points.push_back({t, bins[i].running / s, ""});
    cache.points.push_back({t, bins[i].cache / s * 100, ""});
  }
  load.series = {std::move(waiting), std::move(running), std::move(cache)};

  plot::Figure shares;
  shares.title = title + ": latencies";
  shares.x = axis("time", true, true);
  shares.y = axis("share of requests", false, false);
  for (const auto& [name, q] : {std::pair("first token", &r.ttfts), std::pair("a token", &r.tpots),
                                std::pair("whole request", &r.latencies)}) {
    plot::Series s{.name = name, .mark = plot::Mark::line, .points = {}};
    for (const auto& [value, share] : q->curve(200)) s.points.push_back({value, share, ""});
    shares.series.push_back(std::move(s));
  }

  std::vector<plot::Figure> all = {std::move(load), std::move(shares)};
  if (a.curve.empty()) return all;
  plot::Figure curve;
  curve.title = title + ": latencies by rate";
  curve.x = axis("requests a second", false, false);
  curve.y = axis("time", true, true);
  const auto add = [&](const char* name, auto value, plot::Mark mark) {
    plot::Series s{.name = name, .mark = mark, .points = {}};
    for (const RatePoint& p : a.curve) s.points.push_back({p.rate, value(p.result), ""});
    curve.series.push_back(std::move(s));
  };
  add(
      "TTFT p50", [](const TrafficResult& x) { return x.ttft.p50; }, plot::Mark::line_and_dots);
  add(
      "TTFT p99", [](const TrafficResult& x) { return x.ttft.p99; }, plot::Mark::dashed_line);
  add(
      "TPOT p50", [](const TrafficResult& x) { return x.tpot.p50; }, plot::Mark::line_and_dots);
  add(
      "TPOT p99", [](const TrafficResult& x) { return x.tpot.p99; }, plot::Mark::dashed_line);
  if (const RatePoint* k = knee_of(a)) {
    curve.notes.push_back({k->rate, k->result.ttft.p50, "knee"});
  }
  all.push_back(std::move(curve));
  return all;
}

}  // namespace sextant
