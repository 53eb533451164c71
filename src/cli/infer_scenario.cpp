// SPDX-License-Identifier: Apache-2.0
#include "cli/infer_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/scenario_reader.hpp"

namespace sextant::cli {
namespace {

class Reader : ScenarioReader {
 public:
  Reader(const InferOptions& options, const Common& common) : ScenarioReader(common), o_(options) {}

  Scenario run() {
    load(o_.system, o_.model, o_.runtime.empty() ? PresetRef{"trtllm"} : o_.runtime);
    if (o_.runtime.empty()) assume("runtime trtllm");
    read_strategy();
    read_requests();
    read_speculation();
    throw_if_any(std::move(flags.problems));
    apply(settings, scenario.strategy, "strategy");
    check_context();
    throw_if_any(std::move(flags.problems));
    scenario.problem = prepare(scenario.system, runtime, libraries(), model, work_);
    check_rules();
    say_device();
    return std::move(scenario);
  }

 private:
  void read_strategy();
  void read_requests();
  void read_speculation();
  void check_context();
  void check_rules();

  const InferOptions& o_;
  Serving work_;
};

void Reader::read_strategy() {
  Strategy& s = scenario.strategy;
  s.tp = whole("--tp", o_.tp, 1, 1, 1000000);
  s.pp = whole("--pp", o_.pp, 1, 1, 1000000);
  s.dp = whole("--dp", o_.dp, 1, 1, 1000000);
  s.ep = whole("--ep", o_.ep, 1, 1, 1000000);
  s.precision = choice("--precision", o_.precision, Precision::bf16);
  if (!o_.tp) assume("tp 1");
  if (model.experts.count > 0 && !o_.ep) assume("ep 1: every rank holds a slice of all experts");
  if (o_.precision.empty()) assume("precision bf16");
}

void Reader::read_requests() {
  work_.batch = whole("--batch", o_.batch, 1, 1, 100000000);
  work_.input = whole("--input", o_.input, 512, 1, 100000000);
  work_.output = whole("--output", o_.output, 128, 1, 10000000);
  work_.batching = choice("--batching", o_.batching, Batching::fixed);
  work_.chunk = whole("--chunk", o_.chunk, 0, 1, 100000000);
  work_.cache = choice("--kv-precision", o_.kv_precision, Precision::bf16);
  if (o_.chunk && work_.batching == Batching::fixed) {
    flags.add("--chunk", "pieces of a prompt join the decode steps of other requests",
              "it needs --batching closed-loop");
  }
  if (!o_.batch) assume("batch 1");
  if (!o_.input) assume("input {}", work_.input);
  if (!o_.output) assume("output {}", work_.output);
  if (o_.batching.empty()) assume("batching static: all requests start and end together");
  if (o_.kv_precision.empty()) assume("cache in bf16");
}

void Reader::read_speculation() {
  Speculation& s = work_.speculation;
  s.tokens = whole("--speculate", o_.speculate, 0, 0, 64);
  s.acceptance = number("--acceptance", o_.acceptance, s.acceptance, 0, 1);
  s.draft_cost = number("--draft-cost", o_.draft_cost, s.draft_cost, 0, 10);
  if (s.tokens > 0) {
    if (!o_.acceptance) assume("acceptance {} of a proposed token", s.acceptance);
    if (!o_.draft_cost) assume("draft cost {} of a step", s.draft_cost);
    return;
  }
  for (const auto& [flag, given] : {std::pair("--acceptance", o_.acceptance.has_value()),
                                    std::pair("--draft-cost", o_.draft_cost.has_value())}) {
    if (given) flags.add(flag, "there is no speculation", "give --speculate, the tokens a step");
  }
}

void Reader::check_context() {
  const double longest = static_cast<double>(work_.input) + work_.output;
  if (model.max_context <= 0 || longest <= model.max_context) return;
  const std::string what =
      fmt::format("input {} and output {} are a context of {}, {} takes {} at most", work_.input,
                  work_.output, longest, model.name, model.max_context);
  if (o_.allow_long) {
    assume("{}: gone on with, as asked", what);
  } else {
    flags.add(work_.input >= model.max_context ? "--input" : "--output", what,
              "--allow-long goes on all the same");
  }
}

void Reader::check_rules() {
  std::vector<Diagnostic> problems = check_serving(scenario.problem, scenario.strategy);
  for (Diagnostic& d : problems) {
    d.file = "--" + d.field;
    d.field.clear();
  }
  throw_if_any(std::move(problems));
}

// Looks for neighbours that fit.
class Neighbours {
 public:
  explicit Neighbours(const Scenario& x) : x_(x) {}

  std::vector<ServingNeighbour> run() {
    more(&Strategy::tp, "tp");
    narrower_weights();
    narrower_cache();
    if (found_.empty()) more(&Strategy::pp, "pp");
    smaller_batch();
    return std::move(found_);
  }

 private:
  bool attempt(std::string change, const Strategy& s, const Serving& work) {
    Problem p = x_.problem;
    p.serving = work;
    const ServingEstimate e = serve(p, s);
    if (e.verdict != Verdict::fits) return false;
    found_.push_back({std::move(change), s, work, e});
    return true;
  }

  void more(int Strategy::*degree, const char* name) {
    Strategy s = x_.strategy;
    for (++(s.*degree); s.*degree <= x_.problem.max_devices; ++(s.*degree)) {
      if (legal_serving(x_.problem, s) != Verdict::fits) continue;
      if (attempt(fmt::format("{} {}", name, s.*degree), s, x_.problem.serving)) return;
    }
  }

  void narrower_weights() {
    using enum Precision;
    const auto can = [&](Precision p) {
      return p == int8 || p == int4 || runs_as(x_.system.device, p) == p;
    };
    for (const Precision p : {fp8, int8, fp4, int4}) {
      if (element_bytes(p) >= element_bytes(x_.strategy.precision) || !can(p)) continue;
      Strategy s = x_.strategy;
      s.precision = p;
      if (attempt(fmt::format("precision {}", name_of(p)), s, x_.problem.serving)) return;
    }
  }

  void narrower_cache() {
    if (narrow(x_.problem.serving.cache)) return;
    Serving work = x_.problem.serving;
    work.cache = Precision::fp8;
    attempt("kv-precision fp8", x_.strategy, work);
  }

  void smaller_batch() {
    Serving work = x_.problem.serving;
    int low = 0;  // fits
    int high = work.batch;
    while (high - low > 1) {
      work.batch = low + (high - low) / 2;
      Problem p = x_.problem;
      p.serving = work;
      (serve(p, x_.strategy).verdict == Verdict::fits ? low : high) = work.batch;
    }
    work.batch = low;
    if (low > 0) attempt(fmt::format("batch {}", low), x_.strategy, work);
  }

  const Scenario& x_;
  std::vector<ServingNeighbour> found_;
};

}  // namespace

Scenario read_serving(const InferOptions& options, const Common& common) {
  return Reader(options, common).run();
}

std::vector<ServingNeighbour> fitting_serving(const Scenario& scenario) {
  return Neighbours(scenario).run();
}

std::vector<CurvePoint> batch_curve(const Scenario& x) {
  constexpr int most = 1 << 20;  // beyond it nobody batches
  Problem p = x.problem;
  const auto at = [&](int batch) {
    p.serving.batch = batch;
    return CurvePoint{batch, serve(p, x.strategy), false};
  };
  std::vector<CurvePoint> points;
  // In a closed loop more may be asked for than are in flight.
  const auto fits = [](const CurvePoint& c) {
    return c.estimate.verdict == Verdict::fits && c.estimate.active >= c.batch;
  };
  int low = 0;
  int high = 1;
  for (; high <= most; high *= 2) {
    CurvePoint c = at(high);
    if (!fits(c)) break;
    low = high;
    points.push_back(c);
  }
  // The largest lies between the last power that fits and the first that does not.
  while (low > 0 && high <= most && high - low > 1) {
    const int middle = low + (high - low) / 2;
    (fits(at(middle)) ? low : high) = middle;
  }
  if (points.empty()) return {at(1)};
  if (low > points.back().batch) points.push_back(at(low));
  for (CurvePoint& a : points) {
    a.pareto = std::none_of(points.begin(), points.end(), [&](const CurvePoint& b) {
      const bool no_worse = b.estimate.latency <= a.estimate.latency &&
                            b.estimate.tokens_per_second >= a.estimate.tokens_per_second;
      return no_worse && b.batch != a.batch;
    });
  }
  return points;
}

}  // namespace sextant::cli
