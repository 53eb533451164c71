// SPDX-License-Identifier: Apache-2.0
#include "sextant/options/traffic_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sextant/io/prices.hpp"
#include "sextant/io/text.hpp"
#include "sextant/io/traces.hpp"
#include "sextant/options/scenario.hpp"
#include "sextant/options/settings.hpp"
#include "sextant/scenario/prices.hpp"
#include "sextant/spec/flags.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

/// Requests of a trace that comes in a request, as many as may be asked for otherwise.
constexpr std::size_t most_sent = 1'000'000;

constexpr double usual_length_ratio = 0.5;

/// Degrees of one pool's engines.
struct Degrees {
  std::optional<int> tp, pp, dp, ep;
};

/// Fields of a batch that the traffic says itself.
bool traffic_says(std::string_view field) {
  return field == "batch" || field == "input" || field == "output" || field == "batching";
}

class TrafficReader {
 public:
  TrafficReader(const TrafficOptions& options, const Common& common)
      : o_(options), common_(common), trace_name_(options.arrivals) {}

  TrafficScenario run() {
    split_ = o_.prefill_workers || o_.decode_workers;
    check_pools();
    check_said_once();
    flags_.attempt("--arrivals", [&] { read_requests(); });
    read_limits();
    read_engine(x_.scenario, "prefill_",
                {o_.prefill_tp, o_.prefill_pp, o_.prefill_dp, o_.prefill_ep});
    if (split_) {
      read_engine(decode_, "decode_", {o_.decode_tp, o_.decode_pp, o_.decode_dp, o_.decode_ep});
    }
    throw_if_any(std::move(flags_.problems));
    read_cluster();
    say_requests();
    check_longest();
    throw_if_any(std::move(flags_.problems));
    return std::move(x_);
  }

 private:
  /// What is wrong with both pools is said once; what is wrong with one, of its own flags.
  void read_engine(Scenario& into, std::string_view pool, const Degrees& own) {
    std::vector<std::string_view> names;
    if (own.tp) names.emplace_back("tp");
    if (own.pp) names.emplace_back("pp");
    if (own.dp) names.emplace_back("dp");
    if (own.ep) names.emplace_back("ep");
    try {
      into = engine(own);
    } catch (const InputError& e) {
      for (Diagnostic& d : renamed(e, pool, names)) {
        const bool known =
            std::any_of(flags_.problems.begin(), flags_.problems.end(),
                        [&](const Diagnostic& o) { return to_text(o) == to_text(d); });
        if (!known) flags_.problems.push_back(std::move(d));
      }
    }
  }

  /// One pool's degrees; where they are not given those of any engine.
  Scenario engine(Degrees d) const {
    const auto otherwise = [](std::optional<int>& own, const std::optional<int>& any) {
      if (!own) own = any;
    };
    otherwise(d.tp, o_.tp);
    otherwise(d.pp, o_.pp);
    otherwise(d.dp, o_.dp);
    otherwise(d.ep, o_.ep);
    std::vector<Diagnostic> problems;
    Question q{.task = Task::infer,
               .model = o_.model,
               .system = o_.system,
               .runtime = o_.runtime,
               .engine = "vllm",
               .settings = parse_settings(common_.set, problems),
               .notes = o_.notes,
               .problems = std::move(problems),
               .lookup = common_.lookup};
    for (const auto& [name, value] : {std::pair("tp", d.tp), std::pair("pp", d.pp),
                                      std::pair("dp", d.dp), std::pair("ep", d.ep)}) {
      if (value) q.given.set(name, Node::of(*value));
    }
    if (!o_.precision.empty()) q.given.set("precision", Node::of(o_.precision));
    if (!o_.kv_precision.empty()) q.given.set("kv_precision", Node::of(o_.kv_precision));
    if (!o_.placement.empty()) q.given.set("placement", Node::of(o_.placement));
    if (o_.placed) q.given.set("placed", Node::of(*o_.placed));
    if (o_.speculate) q.given.set("speculate", Node::of(*o_.speculate));
    if (o_.acceptance) q.given.set("acceptance", Node::of(*o_.acceptance));
    if (!o_.draft.empty()) q.given.set("draft", Node::of(o_.draft));
    if (o_.draft_cost) q.given.set("draft_cost", Node::of(*o_.draft_cost));
    // What the traffic says instead; here only so that nothing is assumed of it.
    for (const char* name : {"batch", "input", "output"}) q.given.set(name, Node::of(1));
    q.given.set("batching", Node::of("closed-loop"));
    std::erase_if(q.settings, [](const Setting& s) { return traffic_says(axis_of(s.path)); });
    mark_unread(common_, q.given);
    return read_scenario(q);
  }

  double positive(const char* flag, std::optional<double> given, double otherwise) {
    if (!given) return otherwise;
    if (*given > 0 && *given <= 1e9) return *given;
    flags_.add(flag, fmt::format("expected a number above 0, 1e9 at most, got {}", *given));
    return otherwise;
  }
  static bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  }
  int count(const char* flag, std::optional<int> given, int otherwise) {
    if (!given) return otherwise;
    if (*given >= 1) return *given;
    flags_.add(flag, fmt::format("expected 1 or more, got {}", *given));
    return otherwise;
  }
  void only_with(bool needed, bool given, const char* flag, const char* what) {
    if (given && !needed) flags_.add(flag, fmt::format("it is for {}", what));
  }

  void read_requests();
  void read_lengths();
  void read_limits();
  void read_cluster();
  Pool pool_of(const Scenario& s, int replicas);
  void check_pools();
  void check_said_once();
  void say_requests();
  void check_longest();
  void assume(std::string text) { x_.scenario.assumptions.push_back(std::move(text)); }

  const TrafficOptions& o_;
  const Common& common_;
  std::string trace_name_;
  Flags flags_;
  TrafficScenario x_;
  Scenario decode_;  ///< of the second of two pools
  bool split_ = false;
};

void TrafficReader::read_requests() {
  Traffic& t = x_.traffic;
  if (!parse_enum(o_.arrivals, t.arrivals) || t.arrivals == Arrivals::trace) {
    constexpr auto names = names_of(Arrivals{});
    const std::string meant = did_you_mean(o_.arrivals, {names.begin(), names.end()});
    // A request brings the trace itself: no name has lines, or starts as JSON does.
    const bool text = o_.arrivals.find('\n') != std::string::npos || o_.arrivals.starts_with('[') ||
                      o_.arrivals.starts_with('{');
    if (common_.lookup == Lookup::presets && !text) {
      return flags_.add("--arrivals", "a trace is a file of this machine",
                        "poisson, gamma, uniform, burst or closed; or send the text of the trace");
    }
    const bool path = o_.arrivals.find_first_of("./") != std::string::npos;
    if (!text && !exists(o_.arrivals) && (!path || !meant.empty())) {
      return flags_.add(
          "--arrivals", "unknown value '" + printable(o_.arrivals) + "'",
          meant.empty() ? "poisson, gamma, uniform, burst or closed; or a trace's file" : meant);
    }
    if (text) trace_name_ = "the trace";
    x_.trace = std::make_shared<const Trace>(text ? parse_trace(o_.arrivals, trace_name_)
                                                  : read_trace(o_.arrivals));
    if (text && x_.trace->requests.size() > most_sent) {
      return flags_.add("--arrivals",
                        fmt::format("the trace has {} requests, a request may bring {}",
                                    x_.trace->requests.size(), most_sent));
    }
    t.trace = x_.trace.get();
    const bool later = x_.trace->requests.back().arrival > 0;
    t.arrivals = later                                     ? Arrivals::trace
                 : x_.trace->timed && !o_.rate.has_value() ? Arrivals::burst
                                                           : Arrivals::poisson;
    t.lengths = Lengths::trace;
  }
  const bool traced = t.trace != nullptr;
  const bool closed = t.arrivals == Arrivals::closed;
  const bool timed = !closed && t.arrivals != Arrivals::burst;
  t.rate = positive("--rate", o_.rate, t.arrivals == Arrivals::trace ? 0 : 1);
  only_with(timed, o_.rate.has_value(), "--rate", "requests that come at their own time");
  t.burstiness = positive("--burstiness", o_.burstiness, 1);
  only_with(t.arrivals == Arrivals::gamma, o_.burstiness.has_value(), "--burstiness",
            "--arrivals gamma");
  t.concurrency = count("--concurrency", o_.concurrency, 1);
  only_with(closed, o_.concurrency.has_value(), "--concurrency", "--arrivals closed");
  t.requests = count("--requests", o_.requests,
                     traced   ? static_cast<int>(x_.trace->requests.size())
                     : closed ? std::min(10 * t.concurrency, 1000000)
                              : 10000);
  if (t.arrivals == Arrivals::trace && o_.requests &&
      *o_.requests > static_cast<int>(x_.trace->requests.size())) {
    flags_.add("--requests", fmt::format("the trace has {}", x_.trace->requests.size()));
  }
  read_lengths();
  t.seed = static_cast<std::uint64_t>(o_.seed);
}

void TrafficReader::read_lengths() {
  Traffic& t = x_.traffic;
  const bool traced = t.trace != nullptr;
  t.input = count("--input", o_.input, t.input);
  t.output = count("--output", o_.output, t.output);
  if (!o_.lengths.empty()) {
    t.lengths = flags_.choice<Lengths>("--lengths", o_.lengths);
    if (t.lengths == Lengths::trace && !traced) {
      flags_.add("--lengths", "there is no trace", "give its file as --arrivals");
    }
  } else if (!traced) {
    t.lengths = o_.length_ratio ? Lengths::uniform : o_.spread ? Lengths::lognormal : t.lengths;
  }
  const char* drawn = "requests that are not a trace's, which have its lengths";
  only_with(!traced || t.lengths == Lengths::trace, true, "--lengths", drawn);
  only_with(!traced, o_.input.has_value(), "--input", drawn);
  only_with(!traced, o_.output.has_value(), "--output", drawn);
  only_with(t.lengths == Lengths::uniform, o_.length_ratio.has_value(), "--length-ratio",
            "--lengths uniform");
  only_with(t.lengths == Lengths::lognormal, o_.spread.has_value(), "--spread",
            "--lengths lognormal");
  // Uniform lengths that nobody bounds would all be the longest.
  t.length_ratio = positive("--length-ratio", o_.length_ratio,
                            t.lengths == Lengths::uniform ? usual_length_ratio : 1);
  if (t.length_ratio > 1) flags_.add("--length-ratio", "expected 1 at most");
  t.spread = positive("--spread", o_.spread, 1);
}

void TrafficReader::read_limits() {
  const auto quantity = [&](const char* flag, const std::string& text, Seconds& value) {
    if (text.empty()) return;
    const ParseResult r = parse_quantity(text);
    if (!r.quantity || r.quantity->dimension != Seconds::dimension || r.quantity->value <= 0) {
      return flags_.add(flag, fmt::format("expected a time such as '500 ms', got '{}'", text));
    }
    value = Seconds(r.quantity->value);
    x_.limited = true;
  };
  quantity("--max-ttft-p99", o_.max_ttft_p99, x_.limits.ttft);
  quantity("--max-tpot-p99", o_.max_tpot_p99, x_.limits.tpot);
}

Pool TrafficReader::pool_of(const Scenario& s, int replicas) {
  const EngineChoices choices{o_.token_budget,    o_.max_requests, o_.block,
                              o_.memory_fraction, std::nullopt,    o_.prefix_cache};
  const EngineFit fit = fit_engine(s.problem, s.strategy, choices,
                                   sizing_lengths(s.problem.runtime.engine, x_.traffic));
  if (x_.fits) {
    x_.memory = fit.memory;
    x_.memory_fraction = choices.memory_fraction.value_or(s.problem.runtime.engine.memory_fraction);
  }
  x_.fits = x_.fits && fit.fits;
  return pool_with(s.problem, s.strategy, fit, replicas);
}

void TrafficReader::check_pools() {
  if (split_ && o_.replicas) {
    flags_.add("--replicas", "there are engines for prompts and engines for tokens",
               "say how many of each: --prefill-workers, --decode-workers");
  }
  if (split_) return;
  if (!o_.router.empty() && o_.replicas.value_or(1) == 1) {
    flags_.add("--router", "there is one engine, and nothing to choose", "give --replicas");
  }
  const auto is_of_two = [&](const char* flag, const std::optional<int>& given) {
    if (given) flags_.add(flag, "is of one of two pools", "give --prefill-workers as well");
  };
  is_of_two("--prefill-tp", o_.prefill_tp);
  is_of_two("--prefill-pp", o_.prefill_pp);
  is_of_two("--prefill-dp", o_.prefill_dp);
  is_of_two("--prefill-ep", o_.prefill_ep);
  is_of_two("--decode-tp", o_.decode_tp);
  is_of_two("--decode-pp", o_.decode_pp);
  is_of_two("--decode-dp", o_.decode_dp);
  is_of_two("--decode-ep", o_.decode_ep);
}

/// What flags say of the engine and of its requests is no field's to say.
void TrafficReader::check_said_once() {
  for (const std::string& set : common_.set) {
    if (!traffic_says(axis_of(set))) continue;
    flags_.problems.push_back({.file = "--set",
                               .field = fmt::format("strategy.{}", axis_of(set)),
                               .message = "is of one batch",
                               .hint = "requests over time have --input, --output, --concurrency"});
  }
  const auto check = [&](const std::string& name, bool given) {
    const std::string path = "runtime.engine." + name;
    for (const std::string& set : common_.set) {
      if (!given || !set.starts_with(path) ||
          set.find_first_of(".= ", path.size()) != path.size()) {
        continue;
      }
      flags_.problems.push_back({.file = "--set",
                                 .field = path,
                                 .message = "contradicts " + flag_of_field(name),
                                 .hint = "leave one of them out"});
    }
  };
  check("token_budget", o_.token_budget.has_value());
  check("max_requests", o_.max_requests.has_value());
  check("block", o_.block.has_value());
  check("memory_fraction", o_.memory_fraction.has_value());
  check("prefix_cache", o_.prefix_cache.has_value());
}

void TrafficReader::read_cluster() {
  Cluster& c = x_.cluster;
  const Scenario& s = x_.scenario;
  if (!o_.router.empty()) c.router = flags_.choice<Router>("--router", o_.router);
  if (split_) {
    c.decode = pool_of(decode_, count("--decode-workers", o_.decode_workers, 1));
    if (!x_.fits) x_.tp = o_.decode_tp ? "--decode-tp" : "--tp";
  }
  const bool others_fit = x_.fits;
  c.pool = pool_of(s, count(split_ ? "--prefill-workers" : "--replicas",
                            split_ ? o_.prefill_workers : o_.replicas, 1));
  if (others_fit && !x_.fits) x_.tp = o_.prefill_tp ? "--prefill-tp" : "--tp";
  if (c.decode && c.devices() > s.problem.max_devices) {
    flags_.add("--decode-workers",
               fmt::format("nothing joins {:.0f} devices of {}: caches cannot move between engines",
                           c.devices(), s.system.name),
               "one pool (--replicas), or a system with a network");
  }
  connect(c);
  if (!o_.price.empty()) {
    x_.price = read_price(o_.price, s.system.device.name, flags_.problems);
  } else {
    DevicePrice price = public_price(s.system.device.name);
    x_.price = price.dollars_per_hour;
    assume(std::move(price.assumption));
  }
  const EngineLimits& l = c.pool.limits;
  if (!o_.token_budget) assume(fmt::format("token budget {} a step", l.token_budget));
  if (!o_.max_requests) assume(fmt::format("{} requests at a time at most", l.max_requests));
  const char* const whose = s.strategy.dp > 1 ? "an engine and rank" : "an engine";
  const bool states = l.state_tokens > 0;
  if (states && x_.memory.cache_per_token.value == 0) {
    return assume(fmt::format("cache for the states of {:.0f} requests {}",
                              std::floor(l.cache_tokens / l.state_tokens), whose));
  }
  assume(fmt::format("cache of {:.0f} tokens {}", l.cache_tokens, whose));
  if (states) assume(fmt::format("states of a request as {:.0f} tokens of it", l.state_tokens));
}

void TrafficReader::say_requests() {
  const Traffic& t = x_.traffic;
  if (t.trace == nullptr) {
    if (!o_.input) assume(fmt::format("input {}", t.input));
    if (!o_.output) assume(fmt::format("output {}", t.output));
  }
  if (!o_.rate && t.arrivals != Arrivals::closed && t.arrivals != Arrivals::burst &&
      t.arrivals != Arrivals::trace) {
    assume("rate 1 a second");
  }
  if (!o_.requests && t.trace == nullptr) assume(fmt::format("{:.0f} requests", t.requests));
  if (t.lengths == Lengths::uniform && !o_.length_ratio) {
    assume(fmt::format("lengths from {} of input and output to all of them", t.length_ratio));
  }
  if (t.lengths == Lengths::lognormal && !o_.spread) {
    assume(fmt::format("lengths spread by {} of their mean", t.spread));
  }
}

void TrafficReader::check_longest() {
  const Traffic& t = x_.traffic;
  const Model& m = x_.scenario.problem.model;
  double longest = static_cast<double>(t.input) + t.output;
  std::string whose = "--input and --output make";
  if (t.lengths == Lengths::trace) {
    longest = 0;
    for (const Request& r : t.trace->requests) {
      const double own = static_cast<double>(r.input) + r.output;
      if (own <= longest) continue;
      longest = own;
      whose = fmt::format("request {} of {} makes", r.number + 1, trace_name_);
    }
  }
  if (m.max_context <= 0 || longest <= m.max_context) return;
  const std::string what = fmt::format("{} a context of {:.0f}, {} takes {} at most", whose,
                                       longest, m.name, m.max_context);
  if (o_.allow_long) return assume(what + ": gone on with, as asked");
  flags_.add(t.lengths == Lengths::trace ? "--arrivals" : "--input", what,
             "--allow-long goes on all the same");
}

}  // namespace

TrafficScenario read_traffic(const TrafficOptions& options, const Common& common) {
  return TrafficReader(options, common).run();
}

std::vector<Diagnostic> renamed(const InputError& e, std::string_view prefix,
                                std::span<const std::string_view> names) {
  std::vector<Diagnostic> problems = e.diagnostics();
  for (const std::string_view name : names) {
    const std::string flag = flag_of_field(name);
    const std::string own = flag_of_field(std::string(prefix) + std::string(name));
    const std::string said = "contradicts " + flag + " ";
    for (Diagnostic& d : problems) {
      if (d.file == flag) d.file = own;
      const std::size_t at = d.message.find(said);
      if (at != d.message.npos)
        d.message.replace(at + said.size() - flag.size() - 1, flag.size(), own);
    }
  }
  return problems;
}

void check_cache(const TrafficScenario& x, std::string_view tp) {
  if (x.fits) return;
  const ServingMemory& m = x.memory;
  const bool all = x.cluster.pool.problem.runtime.engine.memory_share == MemoryShare::free;
  const double share = all ? 1 : x.memory_fraction;
  throw InputError(
      fmt::format("no room for a cache: weights take {}, activations {}, other {} of {}{}",
                  format_binary_bytes(m.weights.value), format_binary_bytes(m.activations.value),
                  format_binary_bytes(m.other.value),
                  format_binary_bytes((share * m.capacity).value),
                  share < 1 ? fmt::format(", {} of the memory", format_percent(share, 0)) : ""),
      fmt::format("a larger {}{}, fewer bits{}", tp.empty() ? x.tp : tp,
                  share < 1 ? " or --memory-fraction" : "",
                  m.weights < share * m.capacity ? ", or fewer --max-requests" : ""));
}

}  // namespace sextant
