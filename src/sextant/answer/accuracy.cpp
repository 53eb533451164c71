// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sextant/io/errors.hpp"
#include "sextant/io/write.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

Records group_records(const std::vector<Accuracy>& groups) {
  const auto say = [](Record& r, const Accuracy& x) {
    const auto seen = [&](const Item& item) { return x.cases > 0 ? item : said(item, ""); };
    r("name", x.name, "cases of");
    r("cases", x.cases, "number");
    r("mape", seen(percent(x.mape)), "mean error");
    r("median_ape", seen(percent(x.median_ape)), "median");
    r("p90_ape", seen(percent(x.p90_ape)), "9 in 10 under");
    r("bias", seen(change(x.bias)), "bias");
    r("unsupported", x.unsupported > 0 ? Item(x.unsupported) : said(x.unsupported, ""),
      "unsupported");
  };
  return records_of(groups, say, [](const Accuracy& x) { return x.name == "all"; });
}

/// What tools/intervals.py groups rows by.
std::string alike_of(const CaseResult& x) {
  const Likeness& l = x.likeness;
  return fmt::format("{} {} {} {} {} {} {}", name_of(l.question), l.experts, l.narrow, l.many_nodes,
                     l.device, l.runtime.empty() ? "-" : l.runtime, x.time ? "time" : "rate");
}

/// What it collects the reach of measurements from: "tp=8 pp=4 schedule=1f1b".
std::string choices_text(const CaseResult& x) {
  std::string text;
  for (const Choice& c : x.likeness.choices) {
    text += (text.empty() ? "" : " ") + c.axis + "=" + c.text();
  }
  return text;
}

Records row_records(const std::vector<CaseResult>& results) {
  const Errors& errors = measured_errors();
  return records_of(results, [&errors](Record& r, const CaseResult& x) {
    const bool ok = x.unsupported.empty();
    r("id", x.id);
    r("group", x.group);
    r("device", x.device);
    r("metric", x.metric);
    r("predicted", only_if(ok, x.predicted));
    r("measured", x.measured);
    r("error", only_if(ok, x.error));
    r("bound", only_if(ok, x.bound));
    const bool known = ok && !x.likeness.device.empty() && x.predicted > 0;
    const Interval time = interval_of(errors, x.likeness);
    const Interval i = x.time ? time : inverse(time);
    r("low", only_if(known, i.low * x.predicted));
    r("high", only_if(known, i.high * x.predicted));
    r("alike", only_if(known, alike_of(x)));
    r("choices", only_if(known && !x.likeness.choices.empty(), choices_text(x)));
    r("unsupported", only_if(!ok, x.unsupported));
  });
}

// The unit that all results share: seconds, bytes, or none.
std::optional<Dimension> shared_dimension(const std::vector<CaseResult>& results) {
  std::optional<Dimension> shared;
  for (const CaseResult& r : results) {
    std::optional<Dimension> own;
    if (r.metric.ends_with("seconds")) own = Seconds::dimension;
    if (r.metric.find("bytes") != std::string::npos) own = Bytes::dimension;
    if (!own || (shared && !(*shared == *own))) return std::nullopt;
    shared = own;
  }
  return shared;
}

plot::Figure scatter(const std::vector<CaseResult>& results) {
  const std::optional<Dimension> unit = shared_dimension(results);
  plot::Figure f = plot::parity_figure("Predicted against measured", unit);
  if (!unit) f.x.label += ", each in the unit of its metric";
  // A figure of more than a few thousand dots says no more and takes megabytes.
  constexpr std::size_t most = 4000;
  const std::size_t step = 1 + results.size() / most;
  for (std::size_t i = 0; i < results.size(); i += step) {
    const CaseResult& r = results[i];
    if (!r.unsupported.empty()) continue;
    plot::dots_called(r.group, f.series)
        .points.push_back(
            {r.measured, r.predicted, fmt::format("{}: {:+.1f} %", r.id, r.error * 100)});
  }
  return f;
}

/// The reasons rows have no prediction, most frequent first, and which rows they are.
void say_unsupported(Answer& a, const std::vector<CaseResult>& results) {
  std::map<std::string, std::vector<std::string>> rows;
  for (const CaseResult& r : results) {
    if (!r.unsupported.empty()) rows[r.unsupported].push_back(r.group + " " + r.id);
  }
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [reason, of] : rows) sorted.emplace_back(-static_cast<int>(of.size()), reason);
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty()) a.say("\nunsupported:");
  constexpr std::size_t most = 5;
  for (const auto& [n, reason] : sorted) {
    std::vector<std::string>& of = rows[reason];
    const std::size_t more = of.size() > most ? of.size() - most : 0;
    of.resize(of.size() - more);
    a.say(fmt::format("  {:6}  {}", -n, reason));
    a.say(fmt::format("          {}{}", fmt::join(of, ", "),
                      more > 0 ? fmt::format(" and {} more: --format csv", more) : ""));
  }
}

}  // namespace

Answer accuracy_answer(const std::vector<CaseResult>& results) {
  Answer a;
  const Records groups = group_records(summarize_groups(results));
  const Records rows = row_records(results);
  a.list("groups", "ValidationGroup", groups);
  a.list("rows", "ValidationRow", rows);
  a.show(groups);
  say_unsupported(a, results);
  a.lines(rows);
  a.figure(scatter(results));
  return a;
}

namespace {

/// How many cases of a group came nearer to what was measured, and how many went further away.
struct MovedGroup {
  std::string name;
  int cases = 0;
  int worse = 0;
  int better = 0;
  double before = 0;  ///< sums of |error|
  double now = 0;
};

// Less than this is no news.
constexpr double noticed = 0.01;

std::vector<MovedGroup> moved_groups(const MovedCases& cases) {
  std::map<std::string, MovedGroup> groups;
  for (const MovedCase& c : cases.moved) {
    for (const std::string& name : {c.group, std::string("all")}) {
      MovedGroup& g = groups[name];
      g.name = name;
      ++g.cases;
      g.worse += c.growth() > noticed ? 1 : 0;
      g.better += c.growth() < -noticed ? 1 : 0;
      g.before += std::abs(c.before);
      g.now += std::abs(c.now);
    }
  }
  std::vector<MovedGroup> list;
  for (auto& [name, g] : groups) {
    if (name != "all") list.push_back(std::move(g));
  }
  if (groups.contains("all")) list.push_back(std::move(groups["all"]));
  return list;
}

Records moved_records(const std::vector<MovedCase>& cases) {
  return records_of(cases, [](Record& r, const MovedCase& x) {
    r("id", x.id, "case");
    r("group", x.group, "of");
    r("metric", x.metric, "metric");
    r("error_before", change(x.before), "error before");
    r("error", change(x.now), "now");
  });
}

}  // namespace

Answer against_answer(const MovedCases& cases) {
  Answer a;
  const auto say = [](Record& r, const MovedGroup& x) {
    r("name", x.name, "cases of");
    r("cases", x.cases, "number");
    r("mape_before", percent(x.before / x.cases), "mean error before");
    r("mape", percent(x.now / x.cases), "now");
    r("better", x.better, "a point nearer");
    r("worse", x.worse, "a point further");
  };
  const Records groups =
      records_of(moved_groups(cases), say, [](const MovedGroup& x) { return x.name == "all"; });
  a.list("groups", "MovedGroup", groups);
  const Records rows = moved_records(cases.moved);
  a.list("rows", "MovedCase", rows);
  a.lines(rows);
  if (cases.moved.empty()) {
    a.say("no case is in both");
  } else {
    a.show(groups);
  }
  // The list is sorted, furthest worse first.
  constexpr std::ptrdiff_t shown = 15;
  const auto first = cases.moved.begin();
  const auto none = std::find_if(first, cases.moved.end(),
                                 [](const MovedCase& c) { return c.growth() <= noticed; });
  if (none != first) {
    a.say("\nfurther from what was measured, most first");
    a.show(moved_records({first, first + std::min(shown, none - first)}), {.indent = 2});
  }
  const auto tell = [&](const char* what, const std::vector<std::string>& ids) {
    if (ids.empty()) return;
    a.say(
        fmt::format("\n{}: {}{}", what,
                    fmt::join(ids.begin(),
                              ids.begin() + std::min<std::ptrdiff_t>(shown, std::ssize(ids)), ", "),
                    std::ssize(ids) > shown ? ", …" : ""));
  };
  tell("no longer predicted", cases.lost);
  tell("predicted now", cases.won);
  return a;
}

Answer ranking_answer(const std::vector<Ranking>& rankings) {
  Answer a;
  const Records all = records_of(rankings, [](Record& r, const Ranking& x) {
    r("name", x.name, "runs of");
    r("cases", x.cases, "number");
    r("spearman", said(x.spearman, fmt::format("{:+.2f}", x.spearman)), "rank correlation");
    r("best_predicted_of_best_measured", percent(x.chosen), "best predicted, of the best measured");
  });
  const auto right = std::count_if(rankings.begin(), rankings.end(),
                                   [](const Ranking& r) { return r.chosen >= 0.95; });
  a.list("rankings", "Ranking", all);
  a.show(all);
  a.say(fmt::format("\nthe best predicted is within 5 % of the best measured in {} of {} groups",
                    right, rankings.size()));
  a.lines(all);
  return a;
}

Answer calibration_answer(const std::vector<Calibration>& fits,
                          const std::vector<Diagnostic>& refused) {
  Answer a;
  Records all;
  for (const Calibration& c : fits) {
    Node constants = Node::table();
    for (const FittedConstant& k : c.constants) constants.set(k.name, Node::of(k.after));
    Record& r = all.rows.emplace_back();
    r("name", c.name);
    r("cases", c.fit.cases);
    r("before_mape", c.before.mape);
    r("fit_mape", c.fit.mape);
    r("left_out_mape", c.left_out.mape);
    r.node("constants", "number", std::move(constants));
    if (c.provenance.cases > 0) r.node("provenance", "Provenance", write(c.provenance));
    a.say(fmt::format(
        "{}: {} cases, mean error {} (median {}), on families left out {} (median {})", c.name,
        c.fit.cases, format_percent(c.fit.mape), format_percent(c.fit.median_ape),
        format_percent(c.left_out.mape), format_percent(c.left_out.median_ape)));
    a.show(records_of(c.constants,
                      [](Record& line, const FittedConstant& k) {
                        line("", k.name, "constant");
                        line("", general(k.before, 4), "before");
                        line("", general(k.after, 4), "after");
                        line("",
                             k.after == k.before ? "kept: the cases ask for no other"
                             : k.at_bound        ? "at its bound: the cases do not determine it"
                                                 : "",
                             " ");
                      }),
           {.indent = 2});
    if (c.left_out.mape >= c.before.mape) {
      a.say(fmt::format("left out, they are met no better than before ({}): keep what was there",
                        format_percent(c.before.mape)));
    }
    a.gap();
  }
  for (const Diagnostic& d : refused) a.say("left as it was: " + to_text(d) + "\n");
  a.list("fits", "Fit", std::move(all));
  return a;
}

}  // namespace sextant
