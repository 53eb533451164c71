// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/answer.hpp"
#include "cli/infer_report.hpp"
#include "cli/search_report.hpp"
#include "sextant/io/write.hpp"
#include "sextant/report/table.hpp"
#include "sextant/units/format.hpp"

namespace sextant::cli {
namespace {

std::string name_of_found(const ServingFound& f) {
  std::string text = describe_serving(f.strategy);
  text += fmt::format(", batch {}", f.serving.batch);
  if (f.serving.cache != Precision::bf16)
    text += fmt::format(", {} cache", name_of(f.serving.cache));
  if (f.instances > 1) text += fmt::format(", {} instances", f.instances);
  return text;
}

TextTable found_table(const std::vector<ServingFound>& found) {
  using enum Align;
  TextTable t;
  t.columns = {{"", right},        {"gpus", right},     {"instances", right},   {"tp", right},
               {"pp", right},      {"dp", right},       {"ep", right},          {"precision"},
               {"cache"},          {"batch", right},    {"first token", right}, {"a token", right},
               {"request", right}, {"tokens/s", right}, {"a GPU", right},       {"memory", right}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const ServingFound& f = found[i];
    const Strategy& s = f.strategy;
    const auto n = [](double x) { return fmt::format("{:.4g}", x); };
    t.rows.push_back({std::to_string(i + 1), n(f.devices()), n(f.instances), n(s.tp), n(s.pp),
                      n(s.dp), n(s.ep), std::string(name_of(s.precision)),
                      std::string(name_of(f.serving.cache)), std::to_string(f.serving.batch),
                      format(f.estimate.ttft), format(f.estimate.tpot), format(f.estimate.latency),
                      n(f.tokens_per_second()), n(f.tokens_per_second() / f.devices()),
                      format_binary_bytes(f.estimate.memory.total().value)});
  }
  return t;
}

Rejections rejections(const ServingResult& r) {
  Rejections all;
  for (std::size_t i = 0; i < r.rejected.size; ++i) {
    if (r.rejected.values[i] > 0) {
      all.emplace_back(name_of(static_cast<Verdict>(i)), r.rejected.values[i]);
    }
  }
  if (r.slow_first_token > 0) all.emplace_back("over --max-ttft", r.slow_first_token);
  if (r.slow_tokens > 0) all.emplace_back("over --max-tpot", r.slow_tokens);
  if (r.too_few_tokens > 0) all.emplace_back("under --min-throughput", r.too_few_tokens);
  std::sort(all.begin(), all.end(),
            [](const auto& x, const auto& y) { return x.second > y.second; });
  return all;
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

Node found_nodes(const std::vector<ServingFound>& found) {
  Node list = Node::array();
  for (const ServingFound& f : found) {
    Node& n = list.push(Node::table());
    n.set("strategy", write(f.strategy, Quantities::si));
    n.set("serving", write(f.serving, Quantities::si));
    n.set("instances", Node::of(f.instances));
    n.set("summary", Node::of(name_of_found(f)));
    Node& p = n.set("prediction", Node::table());
    p.set("gpus", Node::of(f.devices()));
    p.set("total_output_tokens_per_second", Node::of(f.tokens_per_second()));
    set_prediction(p, f.estimate, f.serving);
  }
  return list;
}

}  // namespace

std::vector<std::string> reasons(const ServingSearchAnswer& a) {
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

std::string search_text(const ServingSearchAnswer& a) {
  const ServingResult& r = a.result;
  const Scenario& x = a.asked.scenario;
  const Serving& w = x.problem.serving;
  std::string out =
      fmt::format("serving {} on {}{} of {}, input {}, output {}, {}\n", x.problem.model.name,
                  a.asked.space.at_most ? "at most " : "", a.asked.space.devices, x.system.name,
                  w.input, w.output, x.problem.runtime.name);
  out += fmt::format("{} ways evaluated, {} fit and meet the limits; {:.2f} s\n", r.evaluated,
                     r.feasible, a.seconds);
  if (r.stopped) out += "stopped before the end: the best so far\n";
  if (r.best.empty()) {
    out += "\nnothing meets the limits\n";
  } else {
    out += "\n" + render_text(found_table(r.best));
    const std::vector<std::string> why = reasons(a);
    if (!why.empty()) out += "\nwhy the first is first\n";
    for (const std::string& reason : why) out += "  " + reason + "\n";
    out += "\nno other has both faster tokens and more of them a GPU\n" +
           render_text(found_table(r.pareto));
  }
  const auto rejected = rejections(r);
  if (!rejected.empty()) {
    TextTable t;
    t.columns = {{"why the rest fail"}, {"ways", Align::right}};
    for (const auto& [reason, count] : rejected) t.rows.push_back({reason, std::to_string(count)});
    out += "\n" + render_text(t, {.indent = 2});
  }
  return out + assumptions_text(x.assumptions);
}

std::string search_json(const ServingSearchAnswer& a) {
  const ServingResult& r = a.result;
  const Scenario& x = a.asked.scenario;
  Node root = search_node(
      x, {"infer", name_of(a.asked.aim.objective), static_cast<double>(a.asked.space.devices),
          r.evaluated, r.feasible, r.stopped, a.seconds});
  root.set("best", found_nodes(r.best));
  root.set("pareto", found_nodes(r.pareto));
  set_explanations(root, reasons(a), rejections(r), x);
  return to_json(root) + "\n";
}

std::string search_csv(const ServingSearchAnswer& a) {
  TextTable t;
  t.columns = {{"rank"},
               {"gpus"},
               {"instances"},
               {"tp"},
               {"pp"},
               {"dp"},
               {"ep"},
               {"precision"},
               {"kv_precision"},
               {"batch"},
               {"ttft_seconds"},
               {"tpot_seconds"},
               {"latency_seconds"},
               {"output_tokens_per_second"},
               {"memory_bytes"}};
  for (std::size_t i = 0; i < a.result.best.size(); ++i) {
    const ServingFound& f = a.result.best[i];
    const Strategy& s = f.strategy;
    t.rows.push_back({std::to_string(i + 1), write_number(f.devices()), write_number(f.instances),
                      std::to_string(s.tp), std::to_string(s.pp), std::to_string(s.dp),
                      std::to_string(s.ep), std::string(name_of(s.precision)),
                      std::string(name_of(f.serving.cache)), std::to_string(f.serving.batch),
                      write_number(f.estimate.ttft.value), write_number(f.estimate.tpot.value),
                      write_number(f.estimate.latency.value), write_number(f.tokens_per_second()),
                      write_number(f.estimate.memory.total().value)});
  }
  return render_csv(t);
}

plot::Figure search_figure(const ServingSearchAnswer& a) {
  plot::Figure f;
  const Scenario& x = a.asked.scenario;
  f.title = fmt::format("Serving {} on {} {}", x.problem.model.name, a.asked.space.devices,
                        x.system.device.name);
  f.x = {.label = "time a token",
         .dimension = Seconds::dimension,
         .unit = "",
         .log = true,
         .min = {},
         .max = {}};
  f.y = {.label = "tokens a second and GPU",
         .dimension = {},
         .unit = "",
         .log = true,
         .min = {},
         .max = {}};
  plot::Series s{.name = "no other has both", .mark = plot::Mark::line_and_dots, .points = {}};
  for (const ServingFound& p : a.result.pareto) {
    s.points.push_back(
        {p.estimate.tpot.value, p.tokens_per_second() / p.devices(), name_of_found(p)});
  }
  f.series.push_back(std::move(s));
  return f;
}

}  // namespace sextant::cli
