// SPDX-License-Identifier: Apache-2.0
#include "sextant/validate/serving_cases.hpp"

#include <filesystem>
#include <utility>

#include "sextant/validate/protocol.hpp"

namespace sextant {
namespace {

/// Public closed loops send ten requests a user (InferenceMAX's benchmark_serving).
constexpr double requests_a_user = 10;

Precision sixteen_bit(Precision p) { return p == Precision::fp16 ? Precision::bf16 : p; }

/// A pool of engines: columns that begin with its name, and where these are empty those of all.
Strategy read_engine(RowReader& row, const std::string& prefix, Precision precision) {
  Strategy s;
  const auto degree = [&](const std::string& column) {
    const int all = row.whole_or(column, 1, 1, 1e6);
    return prefix.empty() ? all : row.whole_or(prefix + column, all, 1, 1e6);
  };
  s.tp = degree("tp");
  s.pp = degree("pp");
  s.dp = degree("dp");
  s.ep = degree("ep");
  s.precision = precision;
  return s;
}

void read_engines(RowReader& row, ServingCase& c, std::string& unsupported) {
  const Precision precision = sixteen_bit(row.choice("precision", Precision::bf16));
  c.decode_workers = row.whole_or("decode_workers", 0, 0, 1e6);
  const bool split = c.decode_workers > 0;
  for (const std::string pool : {"prefill_", "decode_"}) {
    for (const char* column : {"workers", "tp", "pp", "dp", "ep"}) {
      if (split || row.number_or(pool + column, 0, 0, 1e6) == 0) continue;
      unsupported = pool + column + " is of two pools of engines, and there are no decode_workers";
    }
  }
  if (split && row.whole_or("replicas", 1, 1, 1e6) > 1) {
    unsupported = "replicas of two pools are not modelled: give all their workers";
  }
  c.strategy = read_engine(row, split ? "prefill_" : "", precision);
  c.workers = split ? row.whole("prefill_workers", 1, 1e6) : row.whole_or("replicas", 1, 1, 1e6);
  if (split) c.decode = read_engine(row, "decode_", precision);
  if (!row.text("kv_precision").empty()) {
    c.cache = sixteen_bit(row.choice("kv_precision", Precision::bf16));
  }
  const auto whole = [&](const char* column, std::optional<int>& value) {
    if (!row.text(column).empty()) value = row.whole(column, 1, 1e9);
  };
  whole("token_budget", c.choices.token_budget);
  whole("max_requests", c.choices.max_requests);
  if (!row.text("cache_tokens").empty())
    c.choices.cache_tokens = row.number("cache_tokens", 1, 1e12);
}

void read_lengths(RowReader& row, const Protocol& protocol, ServingCase& c) {
  Traffic& t = c.traffic;
  if (!c.trace.empty()) {
    t.lengths = Lengths::trace;
    return;
  }
  t.input = row.whole("input", 1, 1e8);
  t.output = row.whole("output", 1, 1e7);
  const bool closed = t.arrivals == Arrivals::closed;
  t.length_ratio = closed ? protocol.length_ratio : row.number_or("length_ratio", 1, 0, 1);
  t.lengths = t.length_ratio < 1 ? Lengths::uniform : Lengths::fixed;
}

/// Whether `rows` of a source's habits are about one like this, as far as all of them say it.
template <class Rows>
bool about(const Rows& rows, const RowReader& row, const ServingCase& c) {
  const Traffic& t = c.traffic;
  return (rows.runtime.empty() || rows.runtime == c.runtime) &&
         (rows.precision.empty() || rows.precision == row.text("precision")) &&
         row.text("system").starts_with(rows.system) &&
         (rows.input == 0 || rows.input == t.input) &&
         (rows.output == 0 || rows.output == t.output);
}

bool about(const MeasuredEngine& e, const RowReader& row, const ServingCase& c) {
  const std::string version = row.text("version");
  const Strategy& s = e.decode ? c.decode : c.strategy;
  return about<MeasuredEngine>(e, row, c) &&
         (e.version.empty() || e.version == (version.empty() ? "none" : version)) &&
         (e.model.empty() || e.model == c.model) && c.traffic.concurrency >= e.users &&
         c.traffic.concurrency <= e.most_users && s.tp >= e.tensor && s.tp <= e.most_tensor &&
         s.dp >= e.ranks && s.dp <= e.most_ranks &&
         (e.pools == 0 || e.pools == (c.decode_workers > 0 ? 2 : 1)) &&
         (!e.decode || c.decode_workers > 0);
}

/// What the source did to engines of a row like this, one habit after the other.
void settle(const Measurement& habits, const RowReader& row, ServingCase& c) {
  for (const MeasuredEngine& e : habits.engines) {
    if (!about(e, row, c)) continue;
    Strategy& s = e.decode ? c.decode : c.strategy;
    if (e.spread_experts) s.ep = s.tp * s.dp;
    if (e.spread_attention) s.dp *= std::exchange(s.tp, 1);
    if (e.gather_attention) s.tp *= std::exchange(s.dp, 1);
    if (e.beside_prompt + e.spare_tokens > 0 && row.text("token_budget").empty()) {
      constexpr int unit = 64;  // recipes round up to whole blocks
      const int others = e.beside_prompt * ((c.traffic.concurrency + s.dp - 1) / s.dp);
      const int tokens = static_cast<int>(c.traffic.input) + others + e.spare_tokens;
      c.choices.token_budget = (tokens + unit - 1) / unit * unit;
    }
    for (const std::string& text : e.set) c.settings.push_back(parse_setting(text));
  }
}

/// What the source told engines that generate to hold, in a row like this: of the limits for so
/// many users or more the first.
std::optional<int> held_in(const Measurement& habits, const RowReader& row, const ServingCase& c) {
  const HeldRequests* best = nullptr;
  for (const HeldRequests& h : habits.held) {
    if (!about(h, row, c) || h.workers != c.decode_workers || h.ranks != c.decode.dp ||
        (h.prompts > 0 && h.prompts != c.workers) || h.users < c.traffic.concurrency) {
      continue;
    }
    if (best == nullptr || h.users < best->users) best = &h;
  }
  return best != nullptr ? std::optional<int>(best->held) : std::nullopt;
}

}  // namespace

ServingCase read_serving_case(RowReader& row, const std::string& file, const Protocol& protocol,
                              std::string& unsupported) {
  ServingCase c;
  c.runtime = row.text("runtime");
  c.model = row.text("model");
  c.columns = read_model_columns(row, c.model);
  const std::string metric = row.text("metric");
  if (!parse_enum(metric, c.metric)) unsupported = "metric '" + metric + "' is not modelled";
  read_engines(row, c, unsupported);
  Traffic& t = c.traffic;
  t.arrivals = row.choice("arrivals", Arrivals::poisson);
  if (!row.text("trace").empty()) {
    c.trace = (std::filesystem::path(file).parent_path() / row.text("trace")).string();
  }
  if (t.arrivals == Arrivals::trace && c.trace.empty()) row.problem("trace", "expected its file");
  // The rate of a trace is what its times say.
  const bool traced = t.arrivals == Arrivals::trace;
  const bool timed = !traced && t.arrivals != Arrivals::closed && t.arrivals != Arrivals::burst;
  t.rate = timed ? row.number("rate", 1e-9, 1e9) : 0;
  t.concurrency = t.arrivals == Arrivals::closed ? row.whole("concurrency", 1, 1e7) : 1;
  t.until = row.number_or("until", t.until, 0, 1e12);
  const double usual = traced || std::isfinite(t.until) ? 1e9 : requests_a_user * t.concurrency;
  t.requests = row.number_or("requests", timed ? 1e4 : usual, 1, 1e9);
  read_lengths(row, protocol, c);
  c.mean = protocol.mean_latency;
  const Measurement& habits = measurement_of("serving", row.text("source"));
  settle(habits, row, c);
  c.held = held_in(habits, row, c);
  // Rows of one run differ in what was measured alone.
  c.run = row.without({"id", "metric", "measured"});
  return c;
}

}  // namespace sextant
