// SPDX-License-Identifier: Apache-2.0
#include "cli/search_capacity.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "cli/flags.hpp"
#include "cli/traffic_scenario.hpp"
#include "sextant/io/node.hpp"
#include "sextant/report/table.hpp"
#include "sextant/search/capacity.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/parse.hpp"

namespace sextant::cli {
namespace {

TrafficOptions traffic_options(const SearchOptions& o) {
  TrafficOptions t;
  t.model = o.model;
  t.system = o.system;
  t.runtime = o.runtime;
  t.arrivals = o.traffic;
  t.rate = o.rate;
  const auto count = [&](const char* name) -> std::optional<int> {
    const Node* given = o.given.find(name);
    if (given == nullptr) return std::nullopt;
    // A flag's text is read where it is used.
    const std::optional<double> text = parse_number(given->string);
    return static_cast<int>(text.value_or(given->number));
  };
  t.input = count("input");
  t.output = count("output");
  t.max_ttft_p99 = o.max_ttft_p99;
  t.max_tpot_p99 = o.max_tpot_p99;
  return t;
}

CapacitySpace read_space(const SearchOptions& o) {
  CapacitySpace s;
  Flags flags;
  s.devices = o.gpus.value_or(8);
  if (s.devices < 1) flags.add("--gpus", "expected 1 or more");
  const auto precisions = [&](const char* flag, const std::vector<std::string>& given,
                              std::vector<Precision>& list) {
    if (!given.empty()) list.clear();
    for (const std::string& g : given) list.push_back(flags.choice<Precision>(flag, g));
  };
  precisions("--precision", o.precision, s.precision);
  precisions("--kv-precision", o.kv_precision, s.cache);
  throw_if_any(std::move(flags.problems));
  return s;
}

/// What is said of one cluster, once.
struct Row {
  const char* name;
  const char* title;
  double value;
};
std::vector<Row> rows_of(const CapacityFound& f, double rate, double price) {
  const TrafficResult& r = f.result;
  const double dollars =
      r.output_tokens > 0 ? price / 3600 * f.devices / (rate * r.output_tokens / r.completed) * 1e6
                          : 0;
  return {{"devices", "devices", f.devices},
          {"replicas", "engines", static_cast<double>(f.replicas)},
          {"decode_replicas", "for tokens", static_cast<double>(f.decode_replicas)},
          {"max_requests", "at a time", static_cast<double>(f.max_requests)},
          {"most_requests_per_second", "most/s", f.most},
          {"headroom", "headroom", f.most / rate - 1},
          {"ttft_p99_seconds", "TTFT p99 s", r.ttft.p99},
          {"tpot_p99_seconds", "TPOT p99 s", r.tpot.p99},
          {"dollars_per_million_tokens", "$/Mtoken", dollars}};
}

Node capacity_node(const CapacityResult& r, double rate, double price, double seconds) {
  Node root = Node::table();
  root.set("evaluated", Node::of(static_cast<double>(r.evaluated)));
  root.set("feasible", Node::of(static_cast<double>(r.best.size())));
  root.set("simulations", Node::of(static_cast<double>(r.simulations)));
  root.set("seconds", Node::of(seconds));
  Node& best = root.set("best", Node::array());
  for (const CapacityFound& f : r.best) {
    Node& n = best.push(Node::table());
    Node& s = n.set("strategy", Node::table());
    s.set("tp", Node::of(f.strategy.tp));
    s.set("pp", Node::of(f.strategy.pp));
    s.set("dp", Node::of(f.strategy.dp));
    s.set("ep", Node::of(f.strategy.ep));
    s.set("precision", Node::of(name_of(f.strategy.precision)));
    s.set("kv_precision", Node::of(name_of(f.cache)));
    Node& p = n.set("prediction", Node::table());
    for (const Row& row : rows_of(f, rate, price)) p.set(row.name, Node::of(row.value));
  }
  Node& rejected = root.set("rejected", Node::table());
  for (std::size_t i = 0; i < r.rejected.size; ++i) {
    rejected.set(std::string(names_of(Shortfall{})[i]),
                 Node::of(static_cast<double>(r.rejected.values[i])));
  }
  return root;
}

std::string capacity_text(const CapacityResult& r, const TrafficScenario& x, double price,
                          double seconds) {
  const double rate = x.traffic.rate;
  std::string out =
      fmt::format("{} on {}, {}: {} requests a second\n", x.scenario.problem.model.name,
                  x.scenario.system.name, x.scenario.problem.runtime.name, rate);
  out += fmt::format("{} layouts, {} simulations in {:.2g} s\n\n", r.evaluated, r.simulations,
                     seconds);
  if (r.best.empty()) out += "none holds the limits\n";
  TextTable t;
  t.columns = {{"an engine"}};
  for (const CapacityFound& f : r.best) {
    std::vector<std::string> row = {describe_serving(f.strategy)};
    if (narrow(f.cache)) row.front() += ", cache " + std::string(name_of(f.cache));
    for (const Row& c : rows_of(f, rate, price)) {
      if (t.rows.empty()) t.columns.push_back({c.title, Align::right});
      row.push_back(fmt::format("{:.4g}", c.value));
    }
    t.rows.push_back(std::move(row));
  }
  if (!r.best.empty()) out += render_text(t, {.indent = 2});
  out += "\nwhy the others fail\n";
  for (std::size_t i = 0; i < r.rejected.size; ++i) {
    if (r.rejected.values[i] > 0) {
      out += fmt::format("  {:6} {}\n", r.rejected.values[i], names_of(Shortfall{})[i]);
    }
  }
  return out;
}

}  // namespace

Answer capacity_answer(const SearchOptions& options, const Common& common, SearchProgress& progress,
                       const Announce& announce) {
  if (!options.rate) throw InputError("--rate: how many requests a second must be served?");
  const TrafficScenario x = read_traffic(traffic_options(options), common);
  const CapacitySpace space = read_space(options);
  CapacityAim aim;
  aim.traffic = x.traffic;
  aim.limits = x.limits;
  aim.price = options.price.value_or(0);
  aim.top = options.top;
  aim.threads = options.threads > 0
                    ? options.threads
                    : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  announce(1000);
  const auto start = std::chrono::steady_clock::now();
  const CapacityResult r = plan_capacity(x.scenario.problem, space, aim, progress);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (common.format == Format::json) {
    Node root = capacity_node(r, x.traffic.rate, aim.price, seconds);
    Node& assumed = root.set("assumptions", Node::array());
    for (const std::string& a : x.scenario.assumptions) assumed.push(Node::of(a));
    return Answer::verbatim(to_json(root) + "\n");
  }
  return Answer::verbatim(capacity_text(r, x, aim.price, seconds));
}

}  // namespace sextant::cli
