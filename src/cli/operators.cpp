// SPDX-License-Identifier: Apache-2.0
#include "cli/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/units/format.hpp"

namespace sextant::cli {
namespace {

bool communicates(const Operator& o) { return o.message.value > 0; }
bool multiplies(const Operator& o) { return o.cost.flops.value > 0 && o.cost.dram.value > 0; }

std::string count_text(double n) { return fmt::format("{:.4g}", n); }

std::string bytes_text(Bytes b) { return b.value > 0 ? format(b) : ""; }

// A roof: the least of a slope and the peak.
plot::Series roof(std::string name, plot::Mark mark, BytesPerSecond rate, FlopsPerSecond peak,
                  double from, double to) {
  const double ridge = (peak / rate).value;
  plot::Series s{.name = std::move(name), .mark = mark, .points = {}};
  if (from < ridge) s.points.push_back({from, from * rate.value, ""});
  s.points.push_back({std::clamp(ridge, from, to), std::min(ridge, to) * rate.value, ""});
  if (ridge < to) s.points.push_back({to, peak.value, ""});
  return s;
}

}  // namespace

OperatorList list_operators(const Problem& p, const Strategy& s, std::vector<Operator> operators,
                            Seconds whole) {
  OperatorList list;
  list.operators = std::move(operators);
  list.whole = whole;
  list.type = s.precision == Precision::int8 || s.precision == Precision::int4 ? Precision::bf16
                                                                               : s.precision;
  list.peak = p.peak[list.type];
  list.peak_16bit = p.peak[Precision::bf16];
  list.dram = p.chip.bandwidth;
  list.l2 = p.chip.l2_per_clock * p.chip.clock;
  return list;
}

std::string operators_text(const OperatorList& list) {
  using enum Align;
  TextTable t;
  t.columns = {{"part"},        {"operator"},      {"shape"},           {"runs", right},
               {"each", right}, {"share", right},  {"FLOPs", right},    {"DRAM", right},
               {"L2", right},   {"FLOP/B", right}, {"of ridge", right}, {"L2 FLOP/B", right},
               {"bound"}};
  for (const Operator& o : list.operators) {
    const KernelCost& c = o.cost;
    const bool works = multiplies(o);
    t.rows.push_back({o.part, o.name, o.shape, count_text(o.count), format(c.time),
                      format_percent(o.count * o.exposed / list.whole),
                      c.flops.value > 0 ? format(c.flops) : "",
                      bytes_text(communicates(o) ? o.message : c.dram), bytes_text(c.l2),
                      works ? count_text((c.flops / c.dram).value) : "",
                      works ? format_percent(c.flops / c.dram / list.dram_ridge(), 0) : "",
                      works && c.l2.value > 0 ? count_text((c.flops / c.l2).value) : "",
                      std::string(name_of(c.bound))});
  }
  return fmt::format("{}\nridge of {}: {} over DRAM, {} over L2\n\n", list.title,
                     name_of(list.type), format(list.dram_ridge()), format(list.l2_ridge())) +
         render_text(t);
}

std::string operators_csv(const std::vector<OperatorList>& lists) {
  TextTable t;
  t.columns = {{"part"},       {"operator"},   {"pass"},         {"shape"},
               {"runs"},       {"seconds"},    {"share"},        {"flops"},
               {"dram_bytes"}, {"l2_bytes"},   {"shared_bytes"}, {"message_bytes"},
               {"intensity"},  {"dram_ridge"}, {"l2_ridge"},     {"bound"},
               {"of"}};
  for (const OperatorList& list : lists) {
    for (const Operator& o : list.operators) {
      const KernelCost& c = o.cost;
      t.rows.push_back({o.part, o.name, std::string(name_of(o.kind)), o.shape,
                        write_number(o.count), write_number(c.time.value),
                        write_number(o.count * o.exposed / list.whole), write_number(c.flops.value),
                        write_number(c.dram.value), write_number(c.l2.value),
                        write_number(c.shared.value), write_number(o.message.value),
                        multiplies(o) ? write_number((c.flops / c.dram).value) : "",
                        write_number(list.dram_ridge().value), write_number(list.l2_ridge().value),
                        std::string(name_of(c.bound)), list.title});
    }
  }
  return render_csv(t);
}

Node operators_node(const OperatorList& list) {
  Node root = Node::table();
  root.set("title", Node::of(list.title));
  root.set("seconds", Node::of(list.whole.value));
  root.set("precision", Node::of(name_of(list.type)));
  root.set("dram_ridge", Node::of(list.dram_ridge().value));
  root.set("l2_ridge", Node::of(list.l2_ridge().value));
  Node& all = root.set("operators", Node::array());
  for (const Operator& o : list.operators) {
    const KernelCost& c = o.cost;
    Node& n = all.push(Node::table());
    n.set("part", Node::of(o.part));
    n.set("name", Node::of(o.name));
    n.set("pass", Node::of(name_of(o.kind)));
    n.set("shape", Node::of(o.shape));
    n.set("runs", Node::of(o.count));
    n.set("seconds", Node::of(c.time.value));
    n.set("exposed_seconds", Node::of(o.exposed.value));
    n.set("share", Node::of(o.count * o.exposed / list.whole));
    n.set("flops", Node::of(c.flops.value));
    n.set("dram_bytes", Node::of(c.dram.value));
    n.set("l2_bytes", Node::of(c.l2.value));
    n.set("shared_bytes", Node::of(c.shared.value));
    n.set("message_bytes", Node::of(o.message.value));
    if (multiplies(o)) n.set("intensity", Node::of((c.flops / c.dram).value));
    n.set("bound", Node::of(name_of(c.bound)));
  }
  return root;
}

plot::Figure roofline(const OperatorList& list) {
  plot::Figure f;
  f.title = list.heading;
  f.width = 620;
  f.height = 420;
  f.x = {.label = "intensity",
         .dimension = {},
         .unit = "FLOP/B of DRAM",
         .log = true,
         .min = {},
         .max = {}};
  f.y = {.label = "rate",
         .dimension = FlopsPerSecond::dimension,
         .unit = {},
         .log = true,
         .min = {},
         .max = {}};
  double from = list.dram_ridge().value / 4;
  double to = list.dram_ridge().value * 8;
  std::vector<plot::Series> dots;
  for (const Operator& o : list.operators) {
    if (!multiplies(o)) continue;
    const double x = (o.cost.flops / o.cost.dram).value;
    const double y = (o.cost.flops / o.cost.time).value;
    from = std::min(from, x / 2);
    to = std::max(to, x * 2);
    auto at = std::find_if(dots.begin(), dots.end(),
                           [&](const plot::Series& s) { return s.name == o.part; });
    if (at == dots.end()) {
      at = dots.insert(dots.end(), {.name = o.part, .mark = plot::Mark::dots, .points = {}});
    }
    at->points.push_back({x, y,
                          fmt::format("{}: {}, {}, bound by {}", o.name, format(o.cost.time),
                                      format(o.cost.flops / o.cost.time), name_of(o.cost.bound))});
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

}  // namespace sextant::cli
