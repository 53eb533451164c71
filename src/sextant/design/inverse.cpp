// SPDX-License-Identifier: Apache-2.0
#include "sextant/design/inverse.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sextant/io/parsing.hpp"
#include "sextant/io/settings.hpp"
#include "sextant/spec/flags.hpp"

namespace sextant::design {
namespace {

using study::Limit;
using study::Limits;

constexpr double half_octave = 1.4142135623730951;
constexpr int most_steps = 20;  // half octaves: a thousand times more or less
constexpr int halvings = 30;

constexpr const char* example = "such as 'share.dram<0.5', 'time<80 ms' or 'power<700 W'";

/// "dram" of "share.dram"; names of resources are written as people like.
Limit limit_named(const std::string& name) {
  std::vector<std::string> names;
  std::string all;
  for (std::size_t i = 0; i < Limits::size; ++i) {
    names.push_back(lower(study::names_of(Limit{})[i]));
    if (names.back() == lower(name)) return static_cast<Limit>(i);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  const std::string hint = did_you_mean(lower(name), names);
  throw InputError("--until: no resource is called '" + name + "'",
                   hint.empty() ? "one of " + all : hint);
}

double bound_of(const std::string& text, Dimension unit) {
  if (unit == Dimension{}) {
    const bool is_percent = text.ends_with('%');
    const std::optional<double> number = parse_number(
        is_percent ? trimmed(std::string_view(text).substr(0, text.size() - 1)) : text);
    if (number && std::isfinite(*number) && *number >= 0)
      return is_percent ? *number / 100 : *number;
    throw InputError("--until: expected a number, got '" + text + "'", example);
  }
  const ParseResult r = parse_quantity(text);
  if (r.quantity && r.quantity->dimension == unit && std::isfinite(r.quantity->value)) {
    return r.quantity->value;
  }
  throw InputError("--until: expected a quantity with its unit, got '" + text + "'",
                   "such as \"" + example_of(unit) + "\"");
}

/// One value of the number, and what it makes of the machine.
struct Trial {
  double value = 0;
  bool runs = false;
  double measured = 0;
  std::string reason;  ///< why it does not run
  Machine machine;
  LinkPart network;
  Blueprint blueprint;
};

/// The number that a path names, in a copy of the machine.
class Number {
 public:
  Number(const Workload& w, Machine machine, std::string path)
      : w_(w), machine_(std::move(machine)), path_(std::move(path)) {
    const std::size_t dot = path_.find('.');
    root_ = path_.substr(0, dot);
    rest_ = dot == path_.npos ? "" : path_.substr(dot + 1);
    // What was derived is a number from now on, so that moving one leaves the others.
    const Blueprint d = generate(machine_.technology, machine_.budget);
    natural_power_ = machine_.budget.power.value <= 0;
    trusts_small_cache_ = has_small_cache(d.device);  // whoever asks for one has it
    Trial as_is{.machine = machine_, .network = w.around.network, .blueprint = d};
    resolve(as_is.machine.budget, d);
    const Slot slot = find(as_is);
    field_ = slot.field;
    if (const auto* q = std::get_if<QuantityRef>(&slot.target)) {
      unit_ = q->dimension;
      now_ = *q->value;
    } else if (const auto* x = std::get_if<double*>(&slot.target)) {
      now_ = **x;
    } else if (const auto* n = std::get_if<int*>(&slot.target)) {
      now_ = **n;
      whole_ = true;
    } else {
      throw InputError("--solve: '" + path_ + "' is no number");
    }
    if (now_ <= 0) {
      throw InputError(
          "--solve: '" + path_ + "' is nothing here, so that there is nothing to scale",
          "give it a value first");
    }
  }

  double now() const { return now_; }
  Dimension unit() const { return unit_; }
  bool whole() const { return whole_; }
  const Field& field() const { return field_; }
  bool of_memory() const { return root_ == "dram" || root_ == "device"; }

  /// The machine with the number at a value, and the condition's measure of it.
  Trial at(double value, const Condition& c) const {
    Trial t{.value = value, .machine = machine_, .network = w_.around.network};
    if (root_ != "device") set(t, value);
    std::vector<Diagnostic> problems = check(t.machine.technology, t.machine.budget);
    if (problems.empty()) {
      t.blueprint = generate(t.machine.technology, t.machine.budget);
      problems = cooling_problems(t);
    }
    if (!problems.empty()) {
      t.reason = problems.front().field + ": " + problems.front().message;
      return t;
    }
    if (root_ == "device") {
      set(t, value);
      const std::vector<Diagnostic> odd = sextant::check(t.blueprint.device);
      if (!odd.empty()) {
        t.reason = odd.front().field + ": " + odd.front().message;
        return t;
      }
    }
    if (!trusts_small_cache_ && has_small_cache(t.blueprint.device)) {
      t.reason = "l2: less than " + format_binary_bytes(least_l2.value) +
                 " a core, the least of any device whose kernels were measured";
      return t;
    }
    measure(t, c);
    return t;
  }

  Workload workload_at(const Trial& t) const {
    Workload w = w_;
    w.around.network = t.network;
    return w;
  }

 private:
  /// A board whose limit follows from its load must be coolable all the same.
  std::vector<Diagnostic> cooling_problems(const Trial& t) const {
    if (!natural_power_ || path_ == "budget.power") return {};
    Budget b = t.machine.budget;
    b.power = t.blueprint.device.power.limit;
    return check(t.machine.technology, b);
  }

  static void resolve(Budget& b, const Blueprint& d) {
    if (b.power.value <= 0) b.power = d.device.power.limit;
    if (b.stacks <= 0) b.stacks = d.stacks;
    if (b.l2.value <= 0) b.l2 = d.device.l2.capacity;
    if (b.clock.value <= 0) b.clock = d.device.clock;
  }

  Slot find(Trial& t) const {
    const StructRef fields = root_ == "node"      ? reflect(t.machine.technology.node)
                             : root_ == "dram"    ? reflect(t.machine.technology.memory)
                             : root_ == "link"    ? reflect(t.machine.technology.link)
                             : root_ == "core"    ? reflect(t.machine.technology.core)
                             : root_ == "tier"    ? reflect(t.machine.technology.tier)
                             : root_ == "network" ? reflect(t.network)
                             : root_ == "budget"  ? reflect(t.machine.budget)
                             : root_ == "device"  ? reflect(t.blueprint.device)
                                                  : StructRef{};
    if (fields.fields.empty()) {
      const std::vector<std::string> roots = {"node", "dram",    "link",   "core",
                                              "tier", "network", "budget", "device"};
      std::string hint = did_you_mean(root_, roots);
      throw InputError("--solve: nothing is called '" + root_ + "'",
                       hint.empty() ? "a field of node, dram, link, core, tier, network, budget or "
                                      "device, such as dram.bandwidth"
                                    : hint);
    }
    Diagnostic problem;
    const std::optional<Slot> slot = find_field(fields, rest_, root_, problem);
    if (!slot) throw InputError("--solve: " + path_ + ": " + problem.message, problem.hint);
    return *slot;
  }

  void set(Trial& t, double value) const {
    const Slot slot = find(t);
    if (const auto* q = std::get_if<QuantityRef>(&slot.target)) {
      *q->value = value;
    } else if (const auto* x = std::get_if<double*>(&slot.target)) {
      **x = value;
    } else if (const auto* n = std::get_if<int*>(&slot.target)) {
      **n = static_cast<int>(value);
    }
  }

  void measure(Trial& t, const Condition& c) const {
    Workload w = workload_at(t);
    w.goal = c.measure == Measure::energy ? Goal::energy : Goal::time;
    const Technology& tech = t.machine.technology;
    const Outcome o = time_on(w, tech, t.blueprint);
    t.runs = o.runs();
    if (!t.runs) {
      t.reason = "the workload cannot run: " + std::string(name_of(o.verdict));
      return;
    }
    if (!std::isfinite(o.time.value)) {
      t.runs = false;
      t.reason = "with no watt beyond what it draws idle it never ends";
      return;
    }
    switch (c.measure) {
      case Measure::time:
      case Measure::energy:
        t.measured = objective_of(w, tech)(t.blueprint);
        break;
      case Measure::tokens_per_second:
        t.measured = o.tokens_per_second * o.time.value / objective_of(w, tech)(t.blueprint);
        break;
      case Measure::power:
        t.measured = t.blueprint.device.power.limit.value;
        break;
      case Measure::cost:
        t.measured = t.blueprint.cost().value;
        break;
      case Measure::area:
        t.measured = t.blueprint.device.die.area.value;
        break;
      case Measure::share:
        t.measured = limits_on(w, tech, t.blueprint)[c.limit];
    }
  }

  const Workload& w_;
  Machine machine_;
  std::string path_;
  std::string root_;
  std::string rest_;
  Field field_;
  Dimension unit_;
  bool whole_ = false;
  bool natural_power_ = false;
  bool trusts_small_cache_ = false;
  double now_ = 0;
};

class Solver {
 public:
  Solver(const Number& number, const Condition& condition)
      : number_(number), condition_(condition) {}

  /// From the number as it is outwards, half an octave at a time, until the condition is other than
  /// it was; nothing where it never is, and why in `obstacle`.
  std::optional<Trial> leave(const Trial& start, bool up, Obstacle& obstacle, Trial& nearest) {
    const bool held = condition_.holds(start.measured);
    Trial last = start;
    std::vector<Trial> seen = {start};
    obstacle = {.value = start.value, .measured = start.measured};
    for (int i = 0; i < most_steps; ++i) {
      const double next = step(last.value, up);
      if (next == last.value) {
        obstacle.reason = "the most that the number may be";
        if (!up) obstacle.reason = "the least that the number may be";
        return std::nullopt;
      }
      Trial t = try_at(next);
      obstacle.value = next;
      if (!t.runs) {
        // As far as it can be built.
        const Trial edge = halve(last, t, [](const Trial& x) { return x.runs; });
        obstacle = {.value = edge.value, .measured = edge.measured, .reason = t.reason};
        keep_nearest(nearest, edge);
        if (condition_.holds(edge.measured) != held) return between(last, edge, held);
        return std::nullopt;
      }
      obstacle.measured = t.measured;
      keep_nearest(nearest, t);
      if (condition_.holds(t.measured) != held) return between(last, t, held);
      last = std::move(t);
      seen.push_back(last);
    }
    obstacle = where_it_ends(seen, up, number_.of_memory());
    return std::nullopt;
  }

  Trial try_at(double value) {
    ++evaluations_;
    return number_.at(value, condition_);
  }
  int evaluations() const { return evaluations_; }

 private:
  double step(double from, bool up) const {
    double to = up ? from * half_octave : from / half_octave;
    if (number_.whole()) to = up ? std::ceil(to) : std::floor(to);
    const double least = number_.whole() ? std::max(1.0, number_.field().min) : number_.field().min;
    return std::clamp(to, least, number_.field().max);
  }

  /// Of trials that went on to the end: from where on nothing changes any more, and why.
  static Obstacle where_it_ends(const std::vector<Trial>& seen, bool up, bool of_memory) {
    const Trial& end = seen.back();
    const auto same = [&](const Trial& t) {
      return std::abs(t.measured - end.measured) <= 1e-3 * std::abs(end.measured);
    };
    std::size_t first = seen.size() - 1;
    while (first > 0 && same(seen[first - 1])) --first;
    Obstacle o{.value = seen[first].value, .measured = end.measured};
    if (first + 1 == seen.size()) {
      o.reason = up ? "a thousand times as much does not do" : "a thousandth does not do";
    } else {
      o.reason = "from here on nothing changes";
    }
    // What is odd about the device there, where moving the number made it so.
    const std::vector<std::string> odd = warnings_of(end.blueprint);
    if (!odd.empty() && (of_memory || warnings_of(seen.front().blueprint).empty())) {
      o.reason += "; at the end, " + odd.front();
    }
    return o;
  }

  void keep_nearest(Trial& nearest, const Trial& t) const {
    const bool better =
        condition_.below ? t.measured < nearest.measured : t.measured > nearest.measured;
    if (better) nearest = t;
  }

  /// The last trial towards `b` for which `good` is true, as it is for `a`.
  template <class Good>
  Trial halve(Trial a, Trial b, const Good& good) {
    for (int i = 0; i < halvings; ++i) {
      double middle = std::sqrt(a.value * b.value);
      if (number_.whole()) middle = std::floor(0.5 * (a.value + b.value));
      if (middle == a.value || middle == b.value || std::abs(a.value / b.value - 1) < 1e-5) break;
      Trial t = try_at(middle);
      (good(t) ? a : b) = std::move(t);
    }
    return a;
  }

  /// Of the two sides of the place where it changes: the one on which the condition holds.
  Trial between(const Trial& a, const Trial& b, bool held) {
    if (held) return halve(a, b, [&](const Trial& t) { return holds(t); });
    return halve(b, a, [&](const Trial& t) { return holds(t); });
  }
  bool holds(const Trial& t) const { return t.runs && condition_.holds(t.measured); }

  const Number& number_;
  const Condition& condition_;
  int evaluations_ = 0;
};

}  // namespace

Dimension Condition::unit() const {
  switch (measure) {
    case Measure::time:
      return {.time = 1};
    case Measure::power:
      return {.time = -1, .energy = 1};
    case Measure::energy:
      return {.energy = 1};
    case Measure::cost:
      return {.money = 1};
    case Measure::area:
      return {.length = 2};
    default:
      return {};
  }
}

Condition read_condition(const std::string& text) {
  const std::size_t sign = text.find_first_of("<>");
  if (sign == text.npos) {
    throw InputError("--until: expected a measure, < or >, and a bound, got '" + text + "'",
                     example);
  }
  Condition c;
  c.text = text;
  c.below = text[sign] == '<';
  const std::string name(trimmed(std::string_view(text).substr(0, sign)));
  const std::size_t dot = name.find('.');
  Flags flags;
  c.measure = flags.choice<Measure>("--until", name.substr(0, dot));
  throw_if_any(std::move(flags.problems));
  if ((c.measure == Measure::share) != (dot != name.npos)) {
    throw InputError("--until: '" + name + "' is no measure", example);
  }
  if (c.measure == Measure::share) c.limit = limit_named(name.substr(dot + 1));
  const std::string_view bound = std::string_view(text).substr(sign + 1);
  c.bound =
      bound_of(std::string(trimmed(bound.starts_with('=') ? bound.substr(1) : bound)), c.unit());
  if (c.bound < 0)
    throw InputError("--until: nothing is below zero, as in '" + text + "'", example);
  return c;
}

Solution solve(const Workload& w, const Machine& machine, const std::string& path,
               const Condition& condition) {
  const Number number(w, machine, path);
  Solver solver(number, condition);
  const Trial start = solver.try_at(number.now());
  if (!start.runs) throw InputError("--solve: as it is, " + start.reason);
  Solution s;
  s.field = path;
  s.unit = number.unit();
  s.whole = number.whole();
  s.condition = condition;
  s.now = number.now();
  s.measured_now = start.measured;
  s.held = condition.holds(start.measured);
  Trial nearest = start;
  std::optional<Trial> found;
  for (const bool up : {true, false}) {
    Obstacle obstacle;
    std::optional<Trial> t = solver.leave(start, up, obstacle, nearest);
    if (!t) {
      s.obstacles.push_back(std::move(obstacle));
    } else if (!found ||
               std::abs(std::log(t->value / s.now)) < std::abs(std::log(found->value / s.now))) {
      found = std::move(t);
    }
  }
  s.reached = found.has_value();
  const Trial& at = found ? *found : s.held ? start : nearest;
  s.value = at.value;
  s.measured = at.measured;
  s.limits = limits_on(number.workload_at(at), at.machine.technology, at.blueprint);
  s.warnings = warnings_of(at.blueprint);
  s.evaluations = solver.evaluations();
  s.machine = at.machine;
  s.blueprint = at.blueprint;
  return s;
}

}  // namespace sextant::design
