// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/capacity.hpp"

#include <fmt/format.h>

#include "sextant/io/node.hpp"
#include "sextant/report/table.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

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

std::string capacity_text(const CapacityResult& r, const Scenario& x, double rate, double price,
                          double seconds) {
  std::string out = fmt::format("{} on {}, {}: {} requests a second\n", x.problem.model.name,
                                x.system.name, x.problem.runtime.name, rate);
  out += fmt::format("{} layouts, {} simulations in {:.2g} s\n\n", r.evaluated, r.simulations,
                     seconds);
  if (r.best.empty()) out += "none holds the limits\n";
  TextTable t;
  t.columns = {{"an engine"}};
  for (const CapacityFound& f : r.best) {
    std::vector<std::string> row = {name_of_engine(f)};
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

std::string name_of_engine(const CapacityFound& f) {
  std::string text = describe_serving(f.strategy);
  if (narrow(f.cache)) text += ", cache " + std::string(name_of(f.cache));
  return text;
}

Answer answer_of(const CapacityAnswer& a, bool json) {
  if (!json) {
    return Answer::verbatim(capacity_text(a.result, a.scenario, a.rate, a.price, a.seconds));
  }
  Node root = capacity_node(a.result, a.rate, a.price, a.seconds);
  Node& assumed = root.set("assumptions", Node::array());
  for (const std::string& text : a.scenario.assumptions) assumed.push(Node::of(text));
  return Answer::verbatim(to_json(root) + "\n");
}

}  // namespace sextant
