// SPDX-License-Identifier: Apache-2.0
#include "cli/search_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/answer.hpp"
#include "cli/train_report.hpp"
#include "sextant/io/write.hpp"
#include "sextant/report/table.hpp"
#include "sextant/units/format.hpp"

namespace sextant::cli {
namespace {

std::string name_of_found(const TrainingSearch& asked, const Found& f) {
  std::string text = describe_strategy(f.strategy);
  if (f.strategy.recompute == Recompute::full && f.strategy.recompute_layers > 0) {
    text += fmt::format(", {} layers of a stage", f.strategy.recompute_layers);
  }
  const std::string& variant = asked.variants[static_cast<std::size_t>(f.variant)].name;
  return variant.empty() ? text : text + ", " + variant;
}

double tokens_each(const Estimate& e) {
  return e.step.value > 0 ? e.tokens / e.step.value / e.devices : 0;
}

/// Dollars a million tokens.
double cost_of(const TrainingSearch& asked, const Estimate& e) {
  return asked.price / 3600 * e.step.value * e.devices / e.tokens * 1e6;
}

std::string recompute_text(const Strategy& s) {
  if (s.recompute == Recompute::full && s.recompute_layers > 0) {
    return fmt::format("full, {} layers", s.recompute_layers);
  }
  return std::string(name_of(s.recompute));
}

TextTable found_table(const TrainingSearch& asked, const std::vector<Found>& found) {
  using enum Align;
  TextTable t;
  t.columns = {{"", right}};
  const bool several = asked.space.devices.size() > 1;
  if (several) t.columns.push_back({"gpus", right});
  for (const char* c : {"tp", "pp", "v", "cp", "ep", "dp", "zero", "micro"}) {
    t.columns.push_back({c, right});
  }
  for (const char* c : {"sp", "recompute", "schedule", "inside a node"}) t.columns.push_back({c});
  t.columns.push_back({"step", right});
  t.columns.push_back({"tokens/s/GPU", right});
  t.columns.push_back({"MFU", right});
  t.columns.push_back({"memory", right});
  if (asked.price > 0) t.columns.push_back({"$/M tokens", right});
  const bool more = asked.variants.size() > 1 || asked.space.precision.size() > 1 ||
                    asked.space.modules.size() > 1 || asked.space.offload.size() > 1;
  if (more) t.columns.push_back({"and"});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Strategy& s = found[i].strategy;
    const Estimate& e = found[i].estimate;
    std::vector<std::string> row = {std::to_string(i + 1)};
    if (several) row.push_back(write_number(e.devices));
    for (const int n : {s.tp, s.pp, s.interleave, s.cp, s.ep, s.dp, s.zero, s.microbatch}) {
      row.push_back(std::to_string(n));
    }
    row.push_back(s.sp ? "yes" : "no");
    row.push_back(recompute_text(s));
    row.push_back(s.pp > 1 ? std::string(name_of(s.schedule)) : "");
    row.push_back(s.pp > 1 && s.dp > 1 ? (s.order == Order::tp_cp_ep_pp_dp ? "pp" : "dp") : "");
    row.push_back(format(e.step, 4));
    row.push_back(fmt::format("{:.4g}", tokens_each(e)));
    row.push_back(format_percent(e.mfu()));
    row.push_back(format_binary_bytes(e.memory.total().value));
    if (asked.price > 0) row.push_back(fmt::format("{:.4g}", cost_of(asked, e)));
    if (more) {
      std::string rest(name_of(s.precision));
      if (s.offload) rest += ", offload";
      const RecomputeModules& m = s.modules;
      for (const auto& [on, name] :
           {std::pair(m.norms, "norms"), std::pair(m.activation, "activation"),
            std::pair(m.mlp, "mlp"), std::pair(m.experts, "experts"),
            std::pair(m.latent, "latent")}) {
        if (on) rest += std::string(", again ") + name;
      }
      const std::string& variant = asked.variants[static_cast<std::size_t>(found[i].variant)].name;
      row.push_back(variant.empty() ? rest : rest + ", " + variant);
    }
    t.rows.push_back(std::move(row));
  }
  return t;
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

std::string against(const TrainingSearchAnswer& a, const Found& other, const std::string& what) {
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

Rejections rejections(const TrainingSearchAnswer& a) {
  Rejections all;
  for (std::size_t i = 0; i < a.result.rejected.size; ++i) {
    if (a.result.rejected.values[i] == 0) continue;
    all.emplace_back(name_of(static_cast<Verdict>(i)), a.result.rejected.values[i]);
  }
  if (a.result.over_limit > 0) all.emplace_back("over --max-memory", a.result.over_limit);
  std::sort(all.begin(), all.end(),
            [](const auto& x, const auto& y) { return x.second > y.second; });
  return all;
}

std::string rejection_text(const Rejections& all) {
  if (all.empty()) return "";
  TextTable t;
  t.columns = {{"why the rest fail"}, {"strategies", Align::right}};
  for (const auto& [reason, count] : all) t.rows.push_back({reason, std::to_string(count)});
  return "\n" + render_text(t, {.indent = 2});
}

Node found_node(const TrainingSearch& asked, const Found& f) {
  Node n = Node::table();
  n.set("strategy", write(f.strategy, Quantities::si));
  n.set("summary", Node::of(name_of_found(asked, f)));
  Node& p = n.set("prediction", Node::table());
  p.set("gpus", Node::of(f.estimate.devices));
  set_prediction(p, f.estimate, asked.scenario.problem.capacity);
  if (asked.price > 0) p.set("dollars_per_million_tokens", Node::of(cost_of(asked, f.estimate)));
  return n;
}

Node found_nodes(const TrainingSearch& asked, const std::vector<Found>& found) {
  Node list = Node::array();
  for (const Found& f : found) list.push(found_node(asked, f));
  return list;
}

/// A point of the scatter: enough to draw it and to open it.
Node sample_nodes(const std::vector<Found>& found) {
  Node list = Node::array();
  for (const Found& f : found) {
    Node& n = list.push(Node::table());
    n.set("step_seconds", Node::of(f.estimate.step.value));
    n.set("total_bytes", Node::of(f.estimate.memory.total().value));
    n.set("gpus", Node::of(f.estimate.devices));
    n.set("summary", Node::of(describe_strategy(f.strategy)));
  }
  return list;
}

plot::Series dots(const TrainingSearch& asked, const std::string& name, plot::Mark mark,
                  const std::vector<Found>& found) {
  plot::Series s{.name = name, .mark = mark, .points = {}};
  for (const Found& f : found) {
    s.points.push_back(
        {f.estimate.step.value, f.estimate.memory.total().value, name_of_found(asked, f)});
  }
  return s;
}

}  // namespace

std::vector<std::string> reasons(const TrainingSearchAnswer& a) {
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

std::string search_text(const TrainingSearchAnswer& a) {
  const SearchResult& r = a.result;
  const Scenario& x = a.asked.scenario;
  std::string out = fmt::format(
      "training {} on {} of {}, batch {}, seq {}, {}\n", x.problem.model.name,
      a.asked.space.devices.size() == 1
          ? std::to_string(a.asked.space.devices.front())
          : fmt::format("{} to {}", a.asked.space.devices.front(), a.asked.space.devices.back()),
      x.system.name, x.problem.work.batch, x.problem.work.seq, x.problem.runtime.name);
  out += fmt::format(
      "{} of {:.0f} strategies are legal and were evaluated, {} fit; {:.2f} s, {:.2g} a second\n",
      r.evaluated, a.points, r.feasible, a.seconds,
      a.seconds > 0 ? static_cast<double>(r.evaluated) / a.seconds : 0);
  if (r.stopped) out += "stopped before the end: the best so far\n";
  if (r.best.empty()) {
    out += "\nnothing fits\n";
  } else {
    out += "\n" + render_text(found_table(a.asked, r.best)) + "\nwhy the first is first\n";
    for (const std::string& reason : reasons(a)) out += "  " + reason + "\n";
    constexpr std::size_t most = 12;
    std::vector<Found> front = r.pareto;
    if (front.size() > most) {
      // Evenly along the front, both ends included.
      std::vector<Found> some;
      for (std::size_t i = 0; i < most; ++i) {
        some.push_back(front[i * (front.size() - 1) / (most - 1)]);
      }
      front = std::move(some);
    }
    out += fmt::format("\nno other is faster, smaller and on fewer devices ({} of {})\n",
                       front.size(), r.pareto.size()) +
           render_text(found_table(a.asked, front));
  }
  return out + rejection_text(rejections(a)) + assumptions_text(x.assumptions);
}

std::string search_json(const TrainingSearchAnswer& a) {
  const SearchResult& r = a.result;
  const Scenario& x = a.asked.scenario;
  Node root = search_node(x, {"train", name_of(a.asked.aim.objective),
                              static_cast<double>(a.asked.space.devices.back()), r.evaluated,
                              r.feasible, r.stopped, a.seconds});
  root.set("batch", Node::of(x.problem.work.batch));
  root.set("seq", Node::of(x.problem.work.seq));
  root.set("points", Node::of(a.points));
  root.set("best", found_nodes(a.asked, r.best));
  root.set("pareto", found_nodes(a.asked, r.pareto));
  if (a.usual) root.set("usual", found_node(a.asked, *a.usual));
  root.set("sample", sample_nodes(r.sample));
  set_explanations(root, reasons(a), rejections(a), x);
  return to_json(root) + "\n";
}

Node search_node(const Scenario& scenario, const SearchCounts& c) {
  Node root = scenario_node(scenario, c.devices);
  const auto evaluated = static_cast<double>(c.evaluated);
  root.set("kind", Node::of(c.kind));
  root.set("objective", Node::of(c.objective));
  root.set("evaluated", Node::of(evaluated));
  root.set("feasible", Node::of(static_cast<double>(c.feasible)));
  root.set("stopped", Node::of(c.stopped));
  root.set("seconds", Node::of(c.seconds));
  root.set("evaluations_per_second", Node::of(c.seconds > 0 ? evaluated / c.seconds : 0));
  return root;
}

void set_explanations(Node& root, const std::vector<std::string>& reasons,
                      const Rejections& rejections, const Scenario& scenario) {
  Node& why = root.set("reasons", Node::array());
  for (const std::string& reason : reasons) why.push(Node::of(reason));
  Node& rejected = root.set("rejected", Node::table());
  for (const auto& [reason, count] : rejections) {
    rejected.set(reason, Node::of(static_cast<double>(count)));
  }
  set_assumptions(root, scenario.assumptions);
}

std::string search_csv(const TrainingSearchAnswer& a) {
  TextTable t;
  t.columns = {{"rank"},
               {"gpus"},
               {"tp"},
               {"pp"},
               {"interleave"},
               {"cp"},
               {"ep"},
               {"etp"},
               {"dp"},
               {"zero"},
               {"shard"},
               {"microbatch"},
               {"sp"},
               {"recompute"},
               {"recompute_layers"},
               {"schedule"},
               {"order"},
               {"context"},
               {"offload"},
               {"precision"},
               {"variant"},
               {"step_seconds"},
               {"tokens_per_second_per_gpu"},
               {"mfu"},
               {"memory_bytes"}};
  for (std::size_t i = 0; i < a.result.best.size(); ++i) {
    const Found& f = a.result.best[i];
    const Strategy& s = f.strategy;
    const Estimate& e = f.estimate;
    const auto n = [](int x) { return std::to_string(x); };
    t.rows.push_back({std::to_string(i + 1),
                      write_number(e.devices),
                      n(s.tp),
                      n(s.pp),
                      n(s.interleave),
                      n(s.cp),
                      n(s.ep),
                      n(s.etp),
                      n(s.dp),
                      n(s.zero),
                      n(s.shard),
                      n(s.microbatch),
                      n(s.sp ? 1 : 0),
                      std::string(name_of(s.recompute)),
                      n(s.recompute_layers),
                      std::string(name_of(s.schedule)),
                      std::string(name_of(s.order)),
                      std::string(name_of(s.context)),
                      n(s.offload ? 1 : 0),
                      std::string(name_of(s.precision)),
                      a.asked.variants[static_cast<std::size_t>(f.variant)].name,
                      write_number(e.step.value),
                      write_number(tokens_each(e)),
                      write_number(e.mfu()),
                      write_number(e.memory.total().value)});
  }
  return render_csv(t);
}

plot::Figure search_figure(const TrainingSearchAnswer& a) {
  plot::Figure f;
  const Scenario& x = a.asked.scenario;
  f.title = fmt::format("Strategies for {} on {} {}", x.problem.model.name,
                        a.asked.space.devices.back(), x.system.device.name);
  f.x = {.label = "step time",
         .dimension = Seconds::dimension,
         .unit = "",
         .log = true,
         .min = {},
         .max = {}};
  f.y = {.label = "memory of a device",
         .dimension = Bytes::dimension,
         .unit = "",
         .log = false,
         .min = {},
         .max = {}};
  f.series.push_back(
      dots(a.asked, "a sample of those that fit", plot::Mark::dots, a.result.sample));
  f.series.push_back(
      dots(a.asked, "no other is faster and smaller", plot::Mark::line_and_dots, a.result.pareto));
  if (a.usual) f.series.push_back(dots(a.asked, "the usual recipe", plot::Mark::dots, {*a.usual}));
  return f;
}

}  // namespace sextant::cli
