// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/infer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/answer/parts.hpp"
#include "sextant/io/errors.hpp"
#include "sextant/io/write.hpp"
#include "sextant/predict/tiers.hpp"
#include "sextant/serving/limits.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

Breakdown node_of(std::string label, double seconds, std::string note) {
  return {.label = std::move(label),
          .value = seconds,
          .unit = Seconds::dimension,
          .note = std::move(note)};
}

// The parts of a pass, `times` over, of the drafts before it and of the front end, as parts of
// `whole`. What a request waits for beyond its own passes is a part of its own.
Breakdown phase(std::string label, const PassCost& pass, double times, double whole,
                const char* waiting, double drafts = 0, double front_end = 0) {
  Breakdown b = node_of(std::move(label), whole, "");
  const double own = pass.time.value * times + drafts + front_end;
  const double scale = own > whole * (1 + 1e-9) ? whole / own : 1;
  for (std::size_t i = 0; i < pass.parts.size; ++i) {
    const auto w = static_cast<Work>(i);
    if (pass.parts[w].value <= 0) continue;
    b.parts.push_back(node_of(std::string(name_of(w)), pass.parts[w].value * times * scale,
                              std::string(meaning_of(w))));
  }
  if (drafts > 0) {
    b.parts.push_back(
        node_of("draft", drafts * scale, "what drafts: the prompt read, tokens proposed"));
  }
  if (front_end > 0) {
    b.parts.push_back(
        node_of("front end", front_end * scale, "the request read, text made tokens"));
  }
  const double rest = whole - own * scale;
  if (rest > 1e-9 * whole) b.parts.push_back(node_of("waiting", rest, waiting));
  return b;
}

std::string rate_text(double n) { return for_people(rate(n)); }

Record rates_of(const ServingEstimate& e) {
  Record r;
  r("ttft_seconds", e.ttft);
  r("tpot_seconds", e.tpot);
  r("latency_seconds", e.latency);
  r("output_tokens_per_second", e.tokens_per_second);
  r("output_tokens_per_second_per_gpu", e.tokens_per_second / e.devices);
  r("decode_step_seconds", e.step);
  r("active_requests", e.active);
  return r;
}

Record memory_of(const ServingMemory& m) {
  Record r = memory_record(m);
  r("fits", m.fits());
  r("max_batch", m.max_batch);
  r("kv_cache_bytes_per_token", m.cache_per_token);
  return r;
}

/// How long each of two memories is read at its full rate; they are read side by side.
struct Reading {
  Seconds first;
  Seconds second;
};
Reading reading_of(const PassCost& p, const Problem& problem) {
  return {(p.dram - p.second) / problem.chip.bandwidth, p.second / problem.tier.bandwidth};
}

Record record_of(const PassCost& p, const Problem& problem) {
  Record r;
  r("seconds", p.time);
  r.node("parts", "number", to_node(p.parts));
  r("flops", p.flops);
  r("dram_bytes", p.dram);
  const bool two = problem.tier.capacity.value > 0;
  const Reading reading = two ? reading_of(p, problem) : Reading{};
  r("first_memory_seconds", only_if(two, reading.first));
  r("second_memory_seconds", only_if(two, reading.second));
  r("clock_hz", p.clock);
  r("power_watts", p.power);
  return r;
}

/// Dollars that a million tokens cost, where so many of them come for each that is generated.
std::optional<double> per_million(const InferResult& x, double tokens) {
  const ServingEstimate& e = x.estimate;
  if (!x.price || e.tokens_per_second <= 0 || e.verdict != Verdict::fits) return std::nullopt;
  return dollars_per_million(*x.price, e.devices, Seconds(1), e.tokens_per_second * tokens);
}

double tokens_for_each(const Serving& w) {
  return (static_cast<double>(w.input) + w.output) / w.output;
}

/// The interval of its time.
Interval say_head(Answer& a, const InferResult& x) {
  const ServingEstimate& e = x.estimate;
  const Scenario& s = x.scenario;
  const Serving& w = s.problem.serving;
  a.say(fmt::format("{} on {} x {} of {}: {}{} to the first token{}", s.problem.model.name,
                    e.devices, s.system.device.name, s.system.name,
                    e.verdict == Verdict::fits ? "" : unfitting, format(e.ttft, 4),
                    w.output > 1 ? ", " + format(e.tpot, 4) + " for each after it" : ""));
  const PassCost& last = w.output > 1 ? e.decode : e.prefill;
  a.say(fmt::format("{} a request; {} output tokens/s, {} a device; {} {} at {}",
                    format(e.latency, 4), rate_text(e.tokens_per_second),
                    rate_text(e.tokens_per_second / e.devices),
                    w.output > 1 ? "decoding" : "prefill", format(last.power), format(last.clock)));
  const Interval time = add(a, likeness_of(Asked::infer, known_as(s.system), s.problem, s.strategy),
                            {e.latency.value});
  // Of a batch of requests from their prompts to their last tokens.
  add(a, EnergyAnswer{request_energy(s.problem, s.strategy, e), e.devices,
                      static_cast<double>(w.batch) * w.output, time});
  if (const std::optional<double> out = per_million(x, 1)) {
    a.say(fmt::format("${:.3g} a million output tokens, ${:.3g} of all tokens", *out,
                      *per_million(x, tokens_for_each(w))));
  }
  const std::string images =
      w.images > 0 ? fmt::format(" and {} image{}", w.images, w.images > 1 ? "s" : "") : "";
  a.say(fmt::format("{}; {} {}, {} token{}{} in, {} out; {}\n", describe_serving(s.strategy),
                    w.batching == Batching::fixed ? "batch" : "closed loop of", w.batch, w.input,
                    w.input == 1 ? "" : "s", images, w.output, s.problem.runtime.name));
  return time;
}

/// Money is as sure as the time it pays for.
Record cost_of(const InferResult& x, const Interval& time) {
  Record r;
  const auto priced = [&](std::string_view name, double tokens) {
    const std::optional<double> cost = per_million(x, tokens);
    add(r, name, cost ? as_sure(*cost, time) : NumberAndRange{cost, cost, cost});
  };
  priced("dollars_per_million_tokens", 1);
  priced("dollars_per_million_tokens_in_and_out", tokens_for_each(x.scenario.problem.serving));
  return r;
}

void say_memory(Answer& a, const InferResult& x) {
  const ServingMemory& m = x.estimate.memory;
  const int batch = x.scenario.problem.serving.batch;
  const std::string held = x.estimate.active < batch
                               ? fmt::format("{:.0f} of {} requests at a time, the others wait",
                                             x.estimate.active, batch)
                           : batch == 1 ? "one request at its longest"
                                        : "all requests at their longest";
  say_memory(
      a, " of a device", m.total(), m.capacity,
      {{"weights", m.weights, fmt::format("in {}", name_of(x.scenario.strategy.precision))},
       {"cache", m.cache, fmt::format("{}; {:.0f} B a token here", held, m.cache_per_token.value)},
       {"activations", m.activations, "of one pass"},
       {"other", m.other, "driver, libraries, communicators"}});
  if (m.second_capacity.value > 0) {
    const Tier& tier = x.scenario.problem.tier;
    const double of_cache = cache_share(m.residence, m.cache);
    a.say(fmt::format("  {} of {} in {}: {} of the weights, {} of the cache",
                      format_binary_bytes(m.second.value),
                      format_binary_bytes(m.second_capacity.value),
                      tier.kind.empty() ? "the second memory" : tier.kind,
                      format_percent(m.residence.weights, 0), format_percent(of_cache, 0)));
    const Reading reading = reading_of(x.estimate.decode, x.scenario.problem);
    a.say(fmt::format("  a step of decoding reads the first memory for {}, the second for {}",
                      format(reading.first), format(reading.second)));
  }
  if (m.max_batch < 1) return;
  a.say(fmt::format("  {} requests of this length fit at a time", rate_text(m.max_batch)));
}

/// "would_fit", and why one asks.
void add_neighbours(Answer& a, const InferResult& x) {
  const Records fitting = records_of(x.neighbours, [](Record& r, const ServingNeighbour& n) {
    r("change", n.change, "what would fit");
    r("", n.estimate.devices, "devices");
    r("tp", n.strategy.tp);
    r("pp", n.strategy.pp);
    r("precision", n.strategy.precision);
    r("kv_precision", n.serving.cache);
    r("batch", n.serving.batch);
    r("latency_seconds", rounded(n.estimate.latency, 4), "latency");
    r("total_bytes", binary(n.estimate.memory.total()), "memory");
  });
  a.some("would_fit", "InferFit", fitting);
  if (x.estimate.verdict != Verdict::out_of_memory) return;
  const ServingMemory& m = x.estimate.memory;
  say_misfit(a, m.total() - m.capacity, "", !x.neighbours.empty());
  if (x.neighbours.empty()) return;
  const int tp = x.neighbours.front().strategy.tp;
  if (tp > x.scenario.strategy.tp) {
    a.say(fmt::format("tp {} is the smallest at which it fits", tp));
  }
  a.show(fitting, {.indent = 2});
}

plot::Figure curve_figure(const InferResult& a) {
  const Scenario& x = a.scenario;
  plot::Figure f;
  f.title = fmt::format("{} on {} x {}, {} in, {} out", x.problem.model.name, a.estimate.devices,
                        x.system.device.name, x.problem.serving.input, x.problem.serving.output);
  const bool tokens = x.problem.serving.output > 1;
  f.x = {.label = tokens ? "time a token" : "time to the first token",
         .dimension = Seconds::dimension,
         .log = true};
  f.y = {.label = "output tokens a second", .log = true};
  plot::Series all{.name = "batch sizes that fit", .mark = plot::Mark::line_and_dots};
  plot::Series worse{.name = "another is better in both", .mark = plot::Mark::dots};
  for (const CurvePoint& c : a.curve) {
    const ServingEstimate& e = c.estimate;
    const double time = (tokens ? e.tpot : e.ttft).value;
    const plot::Point p{time, e.tokens_per_second, fmt::format("batch {}", c.batch)};
    all.points.push_back(p);
    if (!c.pareto) worse.points.push_back(p);
  }
  for (const plot::Point& p : {all.points.front(), all.points.back()}) {
    f.notes.push_back({p.x * 1.01, p.y, p.label});
  }
  f.x.max = all.points.back().x * 1.6;  // room for the note
  f.series.push_back(std::move(all));
  if (!worse.points.empty()) f.series.push_back(std::move(worse));
  return f;
}

void add_curve(Answer& a, const InferResult& x) {
  const Records curve = records_of(x.curve, [](Record& r, const CurvePoint& c) {
    const ServingEstimate& e = c.estimate;
    r("batch", c.batch, "batch");
    r("ttft_seconds", e.ttft, "first token");
    r("tpot_seconds", e.tpot, "a token");
    r("latency_seconds", e.latency, "latency");
    r("output_tokens_per_second", rate(e.tokens_per_second), "tokens/s");
    r("", rate(e.tokens_per_second / c.batch), "a request");
    r("output_tokens_per_second_per_gpu", rate(e.tokens_per_second / e.devices), "a device");
    r("decode_step_seconds", e.step);
    r("active_requests", e.active);
    r("total_bytes", binary(e.memory.total()), "memory");
    r("fits", e.verdict == Verdict::fits);
    r("pareto", said(c.pareto, c.pareto ? "yes" : ""), "Pareto");
  });
  a.some("curve", "CurvePoint", curve);
  if (x.curve.empty()) return;
  const bool fits = x.curve.front().estimate.verdict == Verdict::fits;
  a.say(fmt::format("\nbatch sizes{}", fits ? "" : ": none fits"));
  a.show(curve, {.indent = 2});
  a.lines(curve);
  a.figure(curve_figure(x));
}

void add_passes(Answer& a, const InferResult& x) {
  Records passes;
  for (const OperatorList& l : x.passes) passes.rows.push_back(record_of(l));
  if (x.passes.empty()) passes.sample = std::make_shared<Record>(record_of(OperatorList{}));
  a.some("passes", "Pass", std::move(passes));
  for (const OperatorList& l : x.passes) {
    a.gap();
    say(a, l);
  }
  if (!x.passes.empty() && x.curve.empty()) a.lines(operator_lines(x.passes));
}

/// All of the memory is taken here; what serves traffic leaves a part of it alone, unless it is
/// told otherwise. And where requests replace each other, all are alike.
void assume_engine(std::vector<std::string>& assumptions, const Scenario& s,
                   const ServingEstimate& e) {
  const Problem& p = s.problem;
  const double input = prompt_tokens(p);
  const double output = p.serving.output;
  if (e.verdict != Verdict::fits) return;
  if (p.serving.batching == Batching::closed_loop && e.active > 1) {
    assumptions.push_back(
        "requests of one length, whose users move in step; of others prompts come one by one "
        "('sextant traffic --length-ratio')");
  }
  const EngineLimits held =
      fit_engine(p, s.strategy, {}, {.input = input, .output = output}).limits;
  const double each = held.block * std::ceil((input + output) / held.block) + held.state_tokens;
  const double room = std::floor(held.cache_tokens / each) * std::max(1, s.strategy.dp);
  if (e.active <= room) return;
  const Engine& engine = p.runtime.engine;
  assumptions.push_back(fmt::format(
      "requests may take all of the memory; engines of {} take {} of {} unless they are told "
      "otherwise, and {} at a time ('sextant traffic')",
      p.runtime.name, format_percent(engine.memory_fraction, 0),
      engine.memory_share == MemoryShare::free ? "what weights leave" : "it",
      room >= 1 ? fmt::format("hold {:.0f} of these", room) : std::string("have no room for one")));
}

/// A request's time by what it goes to: parts sum to the whole.
Breakdown latency_breakdown(const ServingEstimate& e, const Serving& w) {
  Breakdown root = node_of("request", e.latency.value, "");
  const bool closed = w.batching == Batching::closed_loop;
  const char* before = !closed              ? "for stages to fill"
                       : e.active < w.batch ? "for room beside those that run"
                                            : "for the step that runs";
  root.parts.push_back(phase("prefill", e.prefill, e.prompt_passes, e.ttft.value, before,
                             e.prompt_passes * e.draft_prefill.time.value, e.front_end.value));
  if (w.output > 1) {
    const double tokens = w.output - 1.0;
    root.parts.push_back(phase("decode", e.decode, tokens / tokens_a_step(w.speculation),
                               tokens * e.tpot.value,
                               closed ? "for the prompts of others" : "for stages to fill",
                               w.speculation.tokens > 0 ? tokens * e.drafting.value : 0));
  }
  fill_shares(root);
  return root;
}

}  // namespace

Record prediction_of(const ServingEstimate& e, const Serving& serving) {
  Record r = rates_of(e);
  r.object("memory", "Memory", memory_of(e.memory));
  r.tree("breakdown", latency_breakdown(e, serving));
  return r;
}

Answer answer_of(InferResult x) {
  const ServingEstimate& e = x.estimate;
  const Scenario& s = x.scenario;
  Answer a;
  a.take(head_of(s, e.devices));
  a("batch", s.problem.serving.batch);
  a("input", s.problem.serving.input);
  a("output", s.problem.serving.output);
  a.take(prediction_of(e, s.problem.serving));
  a.object("prefill", "PassCost", record_of(e.prefill, s.problem));
  a.object("decode", "PassCost", record_of(e.decode, s.problem));
  a.node("serving", "Serving", write(s.problem.serving, Quantities::si));
  a.node("strategy", "Strategy", write(s.strategy, Quantities::si));
  a("active_parameters", active_parameters(s.problem.model));
  a("kv_cache_bytes_per_token", cache_bytes_per_token(s.problem));
  a.take(cost_of(x, say_head(a, x)));
  a.show(latency_breakdown(e, s.problem.serving));
  say_memory(a, x);
  add_neighbours(a, x);
  add_curve(a, x);
  add(a, x.sensitivity);
  a.take(std::move(x.extras));
  add_passes(a, x);
  std::vector<std::string> assumptions = s.assumptions;
  const PassCost& hungrier = e.prefill.power > e.decode.power ? e.prefill : e.decode;
  assume_overdrawn(assumptions, s.problem.chip, hungrier.power, hungrier.clock);
  assume_engine(assumptions, s, e);
  a.assume(assumptions);
  return a;
}

}  // namespace sextant
