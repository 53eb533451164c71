// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/compare.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "sextant/answer/parts.hpp"
#include "sextant/io/errors.hpp"
#include "sextant/predict/uncertainty.hpp"
#include "sextant/study/difference.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

/// A number of an answer by the path of its names; nothing where there is none.
const Item* find(const Record& r, std::string_view path) {
  const std::size_t dot = path.find('.');
  for (const Record::Entry& e : r.entries()) {
    if (e.name != path.substr(0, dot)) continue;
    if (dot == path.npos) return &e.cell;
    return e.object ? find(*e.object, path.substr(dot + 1)) : nullptr;
  }
  return nullptr;
}

/// What people see of each scenario, by task: a title and where the number stands.
struct Column {
  const char* title;
  const char* path;
  int digits = 3;
};
constexpr Column training_columns[] = {{"step", "step_seconds", 4},
                                       {"tokens/s a device", "tokens_per_second_per_gpu"},
                                       {"MFU", "mfu"},
                                       {"memory", "memory.total_bytes"},
                                       {"fits", "memory.fits"},
                                       {"J a token", "energy.joules_per_token"}};
constexpr Column serving_columns[] = {{"latency", "latency_seconds", 4},
                                      {"first token", "ttft_seconds"},
                                      {"a token", "tpot_seconds"},
                                      {"tokens/s", "output_tokens_per_second"},
                                      {"memory", "memory.total_bytes"},
                                      {"fits", "memory.fits"},
                                      {"J a token", "energy.joules_per_token"}};

Item for_table(const Column& c, const Item& cell) {
  if (std::string_view(c.path) == "mfu") return percent(cell.value.number);
  if (cell.unit == Bytes::dimension) return binary(Bytes(cell.value.number));
  if (cell.kind == Node::Kind::boolean || cell.value.kind == Node::Kind::boolean) {
    return said(cell, cell.value.boolean ? "yes" : "no");
  }
  return cell.unit == Dimension{} ? general(cell.value.number, c.digits) : rounded(cell, c.digits);
}

Record row_of(const Compared& x, Task task) {
  Record r;
  r("scenario", x.name, "scenario");
  r("model", x.scenario.problem.model.name, "model");
  r("system", x.scenario.system.name, "system");
  r("runtime", x.scenario.problem.runtime.name, "runtime");
  r("gpus", devices_of(x.scenario.strategy), "devices");
  const auto add = [&](const auto& columns) {
    for (const Column& c : columns) {
      const Item* cell = find(x.answer, c.path);
      r(c.path, cell == nullptr ? Item() : for_table(c, *cell), c.title);
    }
  };
  task == Task::train ? add(training_columns) : add(serving_columns);
  r("strategy", summary_of(x.scenario.strategy, task), "strategy");
  return r;
}

/// The time of a token in training, of a request in serving.
Contender contender_of(const Compared& x, Task task) {
  const Scenario& s = x.scenario;
  const Asked asked = task == Task::train ? Asked::train : Asked::infer;
  const Item* time = find(x.answer, task == Task::train ? "step_seconds" : "latency_seconds");
  const Training& w = s.problem.work;
  const double work = task == Task::train ? static_cast<double>(w.batch) * w.seq : 1;
  return {likeness_of(asked, known_as(s.system), s.problem, s.strategy),
          time == nullptr ? 0 : time->value.number / work};
}

struct Pair {
  std::size_t from = 0;
  study::Difference difference = {};
  std::optional<Relation> times = {};  ///< of the later one to the earlier
};

void describe(Record& r, const Pair& x, Task task) {
  const study::Difference& d = x.difference;
  r("from", x.from);
  r("to", x.from + 1);
  r("metric", task == Task::train ? "seconds_per_token" : "latency_seconds");
  const auto of_times = [&](double Relation::*member) {
    return x.times ? Item((*x.times).*member) : Item();
  };
  add(r, "ratio", {d.ratio, of_times(&Relation::low), of_times(&Relation::high)});
  r("probability_faster", of_times(&Relation::chance_faster));
  double total = 0;
  for (const study::Factor& f : d.factors) total += f.logarithm;
  r.list("factors", "Factor", records_of(d.factors, [&](Record& one, const study::Factor& f) {
           const double ratio = std::exp(f.logarithm);
           one("name", f.name, "made by");
           one("ratio", said(ratio, fmt::format("{:.3f} x", ratio)), "time");
           const bool some = std::abs(total) > 1e-9;
           one("share", only_if(some, percent(f.logarithm / total, 0)), "of the difference");
         }));
}

std::string likely(double chance) {
  if (chance > 0.999) return "over 99.9 %";
  return chance < 0.001 ? "under 0.1 %" : format_percent(chance);
}

void say(Answer& a, const Pair& x, const std::vector<Compared>& all, const Record& record) {
  const std::string& from = all[x.from].name;
  const std::string& to = all[x.from + 1].name;
  const study::Difference& d = x.difference;
  if (!d.ratio) return a.say(fmt::format("\n{} and {}: one of them cannot run", from, to));
  const bool faster = *d.ratio < 1;
  const double times = faster ? 1 / *d.ratio : *d.ratio;
  const std::string beside =
      times < 1.0005 ? "as fast"
                     : fmt::format("{:.3f} times as {}", times, faster ? "fast" : "slow");
  const Relation r = x.times.value_or(Relation{});
  if (x.times && r.low == r.high) {
    return a.say(fmt::format("\n{} is as fast as {}: nothing that counts differs", to, from));
  }
  a.say(fmt::format(
      "\n{} is {} as {}, {:.3f} to {:.3f} times nine times in ten; it is faster with a probability "
      "of {}",
      to, beside, from, faster ? 1 / r.high : r.low, faster ? 1 / r.low : r.high,
      likely(r.chance_faster)));
  for (const Record::Entry& e : record.entries()) {
    if (e.list && !e.list->empty()) a.show(*e.list, {.indent = 2});
  }
}

/// Whose choices lie outside of everything measured.
void say_unmeasured(Answer& a, const std::vector<Compared>& all, Task task) {
  bool title = false;
  for (const Compared& x : all) {
    const Interval i = interval_of(measured_errors(), contender_of(x, task).likeness);
    if (!i.unmeasured.empty() && !std::exchange(title, true)) {
      a.say("\nwhat lies outside of everything measured");
    }
    for (const Unmeasured& u : i.unmeasured) a.say(fmt::format("  {}: {}", x.name, u.sentence));
  }
}

/// Times with their intervals' ends, a bar each.
plot::Figure figure_of(const std::vector<Compared>& all, Task task) {
  plot::Figure f;
  f.title = task == Task::train ? "Time of a token in training" : "Latency of a request";
  f.x.label = "scenario";
  f.y = {.label = "time", .dimension = Seconds::dimension, .min = 0};
  plot::Series bars{.name = "predicted", .mark = plot::Mark::bars};
  plot::Series ends{.name = "nine in ten", .mark = plot::Mark::dots};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Contender c = contender_of(all[i], task);
    const Interval n = interval_of(measured_errors(), c.likeness);
    const auto x = static_cast<double>(i);
    f.x.names.push_back(all[i].name);
    bars.points.push_back({x, c.seconds, all[i].name});
    ends.points.push_back({x, n.low * c.seconds, all[i].name});
    ends.points.push_back({x, n.high * c.seconds, all[i].name});
  }
  f.series = {bars, ends};
  return f;
}

}  // namespace

Answer answer_of(const std::vector<Compared>& all, Task task) {
  Answer a;
  Records answers;
  Records rows;
  for (const Compared& x : all) {
    answers.rows.push_back(x.answer);
    rows.rows.push_back(row_of(x, task));
  }
  a.list("answers", task == Task::train ? "TrainAnswer" : "InferAnswer", std::move(answers));
  a.show(rows);
  say_unmeasured(a, all, task);
  a.lines(rows);
  Records differences;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    Pair x{.from = i,
           .difference =
               study::difference_of(all[i].scenario, all[i + 1].scenario, task == Task::train)};
    if (x.difference.ratio) {
      x.times =
          relate(measured_errors(), contender_of(all[i + 1], task), contender_of(all[i], task));
    }
    describe(differences.rows.emplace_back(), x, task);
    say(a, x, all, differences.rows.back());
  }
  a.list("differences", "Difference", std::move(differences));
  a.figure(figure_of(all, task));
  return a;
}

}  // namespace sextant
