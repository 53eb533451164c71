// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/operators.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/answer/parts.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

bool communicates(const Operator& o) { return o.message.value > 0; }
bool multiplies(const Operator& o) { return o.cost.flops.value > 0 && o.cost.dram.value > 0; }

/// People see nothing where there is nothing.
Item bytes_cell(Bytes b) { return b.value > 0 ? Item(b) : said(b, ""); }

void describe(Record& r, const Operator& o, const OperatorList& list, bool of_csv) {
  const KernelCost& c = o.cost;
  const bool works = multiplies(o);
  r("part", o.part, "part");
  r(of_csv ? "operator" : "name", o.name, "operator");
  r("pass", o.kind);
  r("shape", o.shape, "shape");
  if (list.passes()) r("", o.kind, "pass");
  r("runs", general(o.count, 4), "runs");
  r("seconds", c.time, "each");
  r("share", percent(o.count * o.exposed / list.whole), "share");
  r("flops", c.flops.value > 0 ? Item(c.flops) : said(c.flops, ""), "FLOPs");
  r("dram_bytes", c.dram);
  r("", bytes_cell(communicates(o) ? o.message : c.dram), "DRAM");
  r("l2_bytes", bytes_cell(c.l2), "L2");
  r("shared_bytes", c.shared);
  r("message_bytes", o.message);
  r("exposed_seconds", o.exposed);
  r("intensity", only_if(works, general((c.flops / c.dram).value, 4)), "FLOP/B");
  r("", only_if(works, percent(c.flops / c.dram / list.dram_ridge(), 0)), "of ridge");
  r("", only_if(works && c.l2.value > 0, general((c.flops / c.l2).value, 4)), "L2 FLOP/B");
  if (of_csv) {
    r("dram_ridge", list.dram_ridge());
    r("l2_ridge", list.l2_ridge());
  }
  r("bound", c.bound, "bound");
  if (of_csv) r("of", list.title);
  // The operator of the graph that it belongs to, as `sextant model` lists them.
  r("branch", o.branch);
  r("node", o.of);
}

// A roof: the least of a slope and the peak.
plot::Series roof(std::string name, plot::Mark mark, BytesPerSecond rate, FlopsPerSecond peak,
                  double from, double to) {
  const double ridge = (peak / rate).value;
  plot::Series s{.name = std::move(name), .mark = mark};
  if (from < ridge) s.points.push_back({from, from * rate.value, ""});
  s.points.push_back({std::clamp(ridge, from, to), std::min(ridge, to) * rate.value, ""});
  if (ridge < to) s.points.push_back({to, peak.value, ""});
  return s;
}

}  // namespace

OperatorList list_operators(const Problem& p, Precision type, std::vector<Operator> operators,
                            Seconds whole) {
  OperatorList list;
  list.operators = std::move(operators);
  list.whole = whole;
  list.type = type;
  list.peak = p.peak[list.type];
  list.peak_16bit = p.peak[Precision::bf16];
  list.dram = p.chip.bandwidth;
  list.l2 = p.chip.l2_per_clock * p.chip.clock;
  return list;
}

bool OperatorList::passes() const {
  return std::any_of(operators.begin(), operators.end(),
                     [&](const Operator& o) { return o.kind != operators.front().kind; });
}

Records operator_records(const OperatorList& list) {
  return records_of(list.operators,
                    [&](Record& r, const Operator& o) { describe(r, o, list, false); });
}

Records operator_lines(const std::vector<OperatorList>& lists) {
  Records all;
  for (const OperatorList& list : lists) {
    for (const Operator& o : list.operators) describe(all.rows.emplace_back(), o, list, true);
  }
  return all;
}

Record record_of(const OperatorList& list) {
  Record r;
  r("title", list.title);
  r("seconds", list.whole);
  r("precision", list.type);
  r("dram_ridge", list.dram_ridge());
  r("l2_ridge", list.l2_ridge());
  r.list("operators", "Operator", operator_records(list));
  return r;
}

void say(Answer& a, const OperatorList& list) {
  a.say(list.title);
  a.say(fmt::format("ridge of {}: {} over DRAM, {} over L2\n", name_of(list.type),
                    format(list.dram_ridge()), format(list.l2_ridge())));
  a.show(operator_records(list));
}

Answer answer_of(const OperatorList& list, const Likeness& likeness,
                 const std::vector<std::string>& assumptions) {
  Answer a;
  a.take(record_of(list));
  say(a, list);
  a.gap();
  add(a, likeness, {list.whole.value});
  a.lines(operator_lines({list}));
  a.figure(roofline(list));
  a.assume(assumptions);
  return a;
}

plot::Figure roofline(const OperatorList& list) {
  plot::Figure f;
  f.title = list.heading;
  f.width = 620;
  f.height = 420;
  f.x = {.label = "intensity", .unit = "FLOP/B of DRAM", .log = true};
  f.y = {.label = "rate", .dimension = FlopsPerSecond::dimension, .log = true};
  double from = list.dram_ridge().value / 4;
  double to = list.dram_ridge().value * 8;
  std::vector<plot::Series> dots;
  for (const Operator& o : list.operators) {
    if (!multiplies(o)) continue;
    const double x = (o.cost.flops / o.cost.dram).value;
    const double y = (o.cost.flops / o.cost.time).value;
    from = std::min(from, x / 2);
    to = std::max(to, x * 2);
    std::string label = fmt::format("{}: {}, {}, bound by {}", o.name, format(o.cost.time),
                                    format(o.cost.flops / o.cost.time), name_of(o.cost.bound));
    plot::dots_called(o.part, dots).points.push_back({x, y, std::move(label)});
  }
  f.series.push_back(roof(fmt::format("DRAM, then {}", name_of(list.type)), plot::Mark::line,
                          list.dram, list.peak, from, to));
  f.series.push_back(
      roof("L2, were every byte there", plot::Mark::dashed_line, list.l2, list.peak, from, to));
  if (list.peak_16bit.value < 0.99 * list.peak.value) {
    f.series.push_back(
        roof("DRAM, then 16 bits", plot::Mark::dashed_line, list.dram, list.peak_16bit, from, to));
  }
  f.series.insert(f.series.end(), dots.begin(), dots.end());
  return f;
}

}  // namespace sextant
