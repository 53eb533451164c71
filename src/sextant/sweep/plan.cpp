// SPDX-License-Identifier: Apache-2.0
#include "sextant/sweep/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sextant/io/read.hpp"
#include "sextant/io/text.hpp"
#include "sextant/io/write.hpp"
#include "sextant/sweep/axis_reader.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::sweep {
namespace {

// "1,000,000".
std::string counted(double number) {
  if (number >= 1e18) return fmt::format("{:.3g}", number);
  std::string digits = fmt::format("{:.0f}", number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

class Reader {
 public:
  Reader(const Document& document, Lookup lookup) : document_(document), root_(document.root) {
    plan_.lookup = lookup;
    plan_.file = document.file;
    plan_.text = document.text;
    plan_.root = document.root;
  }

  Plan run() {
    check_members();
    read_task();
    read_best();
    sample_ = sample_scene(plan_.task, root_, plan_.lookup);
    read_base();
    read_axes();
    check_complete();
    check_settings();
    throw_if_any(std::move(problems_));
    build_wheels();
    throw_if_any(std::move(problems_));
    check_count();
    check_devices();
    throw_if_any(std::move(problems_));
    return std::move(plan_);
  }

 private:
  void add(Place place, std::string field, std::string message, std::string hint = "") {
    problems_.push_back(
        problem_at(document_, place, std::move(field), std::move(message), std::move(hint)));
  }

  Findings findings() { return {document_, problems_, plan_.lookup}; }

  void check_members();
  void read_task();
  void read_best();
  void read_base();
  void read_member(const Node::Member& member, const std::string& path);
  void read_base_value(const std::string& path, Place place, const Node& node);
  void read_settings(const Node& node);
  void read_axes();
  void check_complete();
  void check_no_parts();
  void check_settings();
  void build_wheels();
  void check_count();
  void check_devices();
  bool claim(const std::string& canonical, const std::string& field, Place place);

  const Document& document_;
  const Node& root_;
  Plan plan_;
  Scene sample_;                        ///< of the presets named first
  std::map<std::string, Place> given_;  ///< by canonical field
  double points_ = 1;
  std::vector<Diagnostic> problems_;
};

void Reader::check_members() {
  const std::vector<std::string> known = {"kind", "base", "axis", "best", "energy"};
  for (const Node::Member& m : root_.members) {
    if (contains(known, m.key)) continue;
    const std::string hint = did_you_mean(m.key, known);
    add(m.place, printable(m.key), "unknown field",
        hint.empty() ? "a plan has kind, base, axis, best and energy" : hint);
  }
  if (const Node* energy = root_.find("energy")) {
    if (energy->kind == Node::Kind::boolean) {
      plan_.energy = energy->boolean;
    } else {
      add(energy->place, "energy", "expected true or false");
    }
  }
}

void Reader::read_task() {
  const Node* kind = root_.find("kind");
  if (kind == nullptr) {
    add({}, "kind", "missing (what each point is)", "write kind = \"train\" or \"infer\"");
    return;
  }
  Slot slot{"kind", {}, detail::enum_ref(plan_.task)};
  read_value(document_, *kind, slot, "kind", problems_);
  plan_.base = defaults_of(plan_.task);
}

void Reader::read_best() {
  const Node* best = root_.find("best");
  if (best == nullptr || (best->kind == Node::Kind::boolean && !best->boolean)) return;
  plan_.best = Best{plan_.task == Task::train ? "tokens-per-second" : "throughput"};
  const Node* objective = best->kind == Node::Kind::table ? best->find("objective") : best;
  if (best->kind == Node::Kind::table) {
    for (const Node::Member& m : best->members) {
      if (m.key != "objective") add(m.place, "best." + printable(m.key), "unknown field");
    }
  }
  if (objective == nullptr || objective->kind == Node::Kind::boolean) return;
  if (objective->kind == Node::Kind::string) {
    plan_.best->objective = objective->string;
  } else {
    add(objective->place, "best", "expected true, an objective, or a table with one",
        "write best = true");
  }
}

bool Reader::claim(const std::string& canonical, const std::string& field, Place place) {
  const auto [at, first] = given_.emplace(canonical, place);
  if (!first) {
    add(place, printable(field, 200),
        at->second.line > 0 ? fmt::format("is given on line {} already", at->second.line)
                            : std::string("is given already"),
        "a field is fixed in [base] or varied by one axis");
  }
  return first;
}

// Fields may be written as they are named elsewhere: device.memory.bandwidth, quoted or not.
void Reader::read_member(const Node::Member& member, const std::string& path) {
  const std::string inner = join_path(path, member.key);
  if (member.value.kind != Node::Kind::table) {
    return read_base_value(inner, member.place, member.value);
  }
  for (const Node::Member& m : member.value.members) read_member(m, inner);
}

void Reader::read_base() {
  const Node* base = root_.find("base");
  if (base == nullptr) return;  // what is missing is said by name
  if (base->kind != Node::Kind::table) {
    return add(base->place, "base", "expected a table", "write [base]");
  }
  for (const Node::Member& member : base->members) {
    if (member.key == "set") {
      read_settings(member.value);
    } else {
      read_member(member, "");
    }
  }
}

void Reader::read_base_value(const std::string& path, Place place, const Node& node) {
  const std::string canonical = canonical_field(path);
  if (!claim(canonical, path, place)) return;
  Scene scene = sample_;
  scene.inputs = plan_.base;
  std::optional<Slot> slot = find_or_report(findings(), scene, path, place);
  if (!slot) return;
  if (!read_field(findings(), node, *slot, path, "base." + printable(path, 200))) return;
  const Layer layer = layer_of(canonical);
  if (layer == Layer::setting || layer == Layer::spec) {
    plan_.settings.push_back({path, text_of(slot->target)});
  } else {
    plan_.base = std::move(scene.inputs);
  }
}

// As --set has them: "path=value".
void Reader::read_settings(const Node& node) {
  std::vector<const Node*> items;
  if (node.kind == Node::Kind::string) items.push_back(&node);
  for (const Node& item : node.items) items.push_back(&item);
  if (items.empty()) {
    return add(node.place, "base.set", "expected texts like those of --set",
               "write set = [\"device.memory.bandwidth=8 TB/s\"]");
  }
  for (const Node* item : items) {
    const std::size_t equals = item->string.find('=');
    if (item->kind != Node::Kind::string || equals == std::string::npos) {
      add(item->place, "base.set", "expected path=value in quotes",
          "write \"device.memory.bandwidth=8 TB/s\"");
      continue;
    }
    const Setting setting = parse_setting(item->string);
    const std::string canonical = canonical_field(setting.path);
    if (!claim(canonical, setting.path, item->place)) continue;
    const Layer layer = layer_of(canonical);
    Scene scene = sample_;
    if (!find_or_report(findings(), scene, setting.path, item->place)) continue;
    if (layer == Layer::setting || layer == Layer::spec) {
      plan_.settings.push_back(setting);
    } else if (setting.path.starts_with("strategy.")) {
      std::vector<Diagnostic> found;
      apply_settings({setting}, reflect(plan_.base.strategy), "strategy", found);
      for (Diagnostic& d : found) add(item->place, "base.set", d.message, d.hint);
    } else {
      add(item->place, "base.set", in_quotes(setting.path) + " is no field of a spec",
          "write it in [base] itself");
    }
  }
}

void Reader::read_axes() {
  const Node* axes = root_.find("axis");
  if (axes == nullptr || (axes->kind == Node::Kind::array && axes->items.empty())) {
    return add(axes == nullptr ? Place{} : axes->place, "axis", "nothing varies",
               "write [[axis]] with a field and its values");
  }
  if (axes->kind != Node::Kind::array) {
    return add(axes->place, "axis", "expected an array of tables", "write [[axis]]");
  }
  std::size_t values = 0;
  for (std::size_t i = 0; i < axes->items.size(); ++i) {
    const Node& node = axes->items[i];
    std::optional<Axis> axis = read_axis(findings(), sample_, node, fmt::format("axis[{}]", i));
    if (!axis || !claim(axis->canonical, axis->field, axis->place)) continue;
    values += axis->size();
    if (values > max_values) {
      return add(axis->place, axis->field,
                 fmt::format("axes have more than {} values together",
                             counted(static_cast<double>(max_values))));
    }
    plan_.axes.push_back(*std::move(axis));
  }
}

void Reader::check_complete() {
  for (const auto& [canonical, place] : given_) plan_.given.push_back(canonical);
  const auto needs = [&](const char* field, const char* hint) {
    if (!plan_.gives(field)) add({}, std::string("base.") + field, "missing", hint);
  };
  needs("model", "a preset, or an axis over several: 'sextant list models'");
  if (plan_.best) needs("gpus", "a search needs to know how many devices there are");
  if (plan_.best && plan_.task == Task::train) {
    needs("batch", "a search needs to know what all strategies do");
  }
  const auto technology = std::find_if(given_.begin(), given_.end(), [](const auto& g) {
    return g.first.starts_with("technology.");
  });
  if (technology == given_.end()) {
    check_no_parts();
    return needs("system", "a preset, or an axis over several: 'sextant list systems'");
  }
  needs("technology.node", "a generated device needs one: 'sextant list nodes'");
  needs("technology.dram", "a generated device needs one: 'sextant list drams'");
  const bool tiered = std::any_of(given_.begin(), given_.end(), [](const auto& g) {
    return g.first == "technology.tier_parts" || g.first.starts_with("tier.");
  });
  if (tiered) needs("technology.tier", "of which memory? such as 'hbf': 'sextant list drams'");
  if (tiered && plan_.base.technology.tier == "none") {
    add(given_.at("technology.tier"), "technology.tier",
        "is none, and other fields are of a second memory", "such as 'hbf x2'");
  }
  for (const char* other : {"system", "device"}) {
    if (plan_.gives(other)) {
      add(given_.at(other), other, "technology." + std::string("* generates the device"),
          "give one or the other");
    }
  }
}

/// Parts make a generated device; those of a preset are in its own numbers.
void Reader::check_no_parts() {
  for (const auto& [canonical, place] : given_) {
    if (!of_part(canonical)) continue;
    add(place, canonical, "is of a part of a generated device, and the plan has no technology.*",
        canonical.starts_with("tier.")
            ? "a second memory of the system's device is device.tier.capacity, "
              "device.tier.bandwidth and so on"
            : "give technology.node and technology.dram in place of a system, or the "
              "device's own numbers, such as device.memory.bandwidth");
  }
}

// Values of [base] were read as they stand; those of `set` are read here, on the sample.
void Reader::check_settings() {
  Scene scene = sample_;
  std::vector<Diagnostic> found;
  const auto try_on = [&](const StructRef& fields, const char* root) {
    apply_settings(plan_.settings, fields, root, found);
  };
  try_on(reflect(scene.system), "system");
  try_on(reflect(scene.system.device), "device");
  try_on(reflect(scene.runtime), "runtime");
  try_on(reflect(scene.kernels), "kernel");
  try_on(reflect(scene.collectives), "collective");
  try_on(reflect(scene.model), "model");
  try_on(reflect(scene.node), "node");
  try_on(reflect(scene.dram), "dram");
  try_on(reflect(scene.link), "link");
  try_on(reflect(scene.core), "core");
  try_on(reflect(scene.tier), "tier");
  for (Diagnostic& d : found) {
    add(given_.at(canonical_field(d.field)), "base." + d.field, d.message, d.hint);
  }
}

void Reader::build_wheels() {
  std::map<std::string, std::size_t> zipped;
  for (std::size_t i = 0; i < plan_.axes.size(); ++i) {
    const Axis& axis = plan_.axes[i];
    const auto known = axis.zip.empty() ? zipped.end() : zipped.find(axis.zip);
    if (known == zipped.end()) {
      if (!axis.zip.empty()) zipped[axis.zip] = plan_.wheels.size();
      plan_.wheels.push_back({{i}, axis.size(), makes_problem(axis.layer)});
      continue;
    }
    Wheel& wheel = plan_.wheels[known->second];
    if (wheel.size != axis.size()) {
      add(axis.place, axis.field,
          fmt::format("has {} values, '{}' of the same zip has {}", axis.size(),
                      plan_.axes[wheel.axes.front()].field, wheel.size),
          "axes that are zipped have as many values");
    }
    wheel.axes.push_back(i);
    wheel.makes_problem |= makes_problem(axis.layer);
  }
  // Neighbouring points then share the work that a new device or model makes.
  std::stable_partition(plan_.wheels.begin(), plan_.wheels.end(),
                        [](const Wheel& w) { return w.makes_problem; });
  for (const Wheel& w : plan_.wheels) points_ *= static_cast<double>(w.size);
}

void Reader::check_count() {
  if (points_ > static_cast<double>(max_points)) {
    add({}, "",
        fmt::format("the plan has {} points: at 100,000 a second, {}", counted(points_),
                    duration_text(points_ / 1e5)),
        fmt::format("at most {} are taken on; vary fewer fields, or in larger steps",
                    counted(static_cast<double>(max_points))));
    return;
  }
  plan_.count = 1;
  for (const Wheel& w : plan_.wheels) {
    plan_.count *= w.size;
    if (!w.makes_problem) plan_.inner *= w.size;
  }
}

// Degrees that never multiply to the devices there are make no point that runs.
void Reader::check_devices() {
  if (!problems_.empty() || plan_.task != Task::train || !plan_.gives("gpus")) return;
  struct Degree {
    const Axis* axis;
    Slot slot;
    std::size_t wheel;
  };
  Scene scene = sample_;
  scene.inputs = plan_.base;
  std::vector<Degree> degrees;
  std::vector<std::size_t> wheels;
  double combinations = 1;
  for (const Wheel& wheel : plan_.wheels) {
    const std::size_t before = degrees.size();
    for (const std::size_t a : wheel.axes) {
      const Axis& axis = plan_.axes[a];
      const std::string& name = axis.canonical;
      if (name != "gpus" && name != "tp" && name != "pp" && name != "cp" && name != "dp") continue;
      Diagnostic ignored;
      if (const auto slot = find_slot(scene, axis.path, ignored)) {
        degrees.push_back({&axis, *slot, wheels.size()});
      }
    }
    if (degrees.size() == before) continue;
    wheels.push_back(wheel.size);
    combinations *= static_cast<double>(wheels.back());
  }
  if (combinations > 1e6) return;  // some will do
  std::vector<std::size_t> digits(wheels.size());
  const Inputs& in = scene.inputs;
  const Strategy& s = in.strategy;
  for (double c = 0; c < combinations; ++c) {
    for (const Degree& d : degrees) assign(d.slot.target, d.axis->numbers[digits[d.wheel]], "");
    const double replicas = in.gpus / (static_cast<double>(s.tp) * s.pp * s.cp);
    if (s.dp > 0 ? replicas == s.dp : replicas == std::floor(replicas)) return;
    for (std::size_t w = 0; w < wheels.size() && ++digits[w] == wheels[w]; ++w) digits[w] = 0;
  }
  add(given_.at("gpus"), "gpus",
      wheels.empty() ? fmt::format("{} is not tp {} x pp {} x cp {} x {}", in.gpus, s.tp, s.pp,
                                   s.cp, s.dp > 0 ? fmt::format("dp {}", s.dp) : "a whole number")
                     : "no point has degrees tp, pp, cp and dp that multiply to its gpus",
      "leave dp out to have it derived, or choose degrees that divide gpus");
}

// ---- comparison

std::string shown(const Node& node) {
  std::string text = to_json(node, 0);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return printable(text, 60);
}

void compare(const Node& now, const Node& then, const std::string& path,
             std::vector<std::string>& out) {
  if (now.kind == Node::Kind::table && then.kind == Node::Kind::table) {
    for (const Node::Member& m : now.members) {
      const Node* other = then.find(m.key);
      const std::string inner = join_path(path, m.key);
      if (other == nullptr) {
        out.push_back(fmt::format("{}: is {}, was not given", inner, shown(m.value)));
      } else {
        compare(m.value, *other, inner, out);
      }
    }
    for (const Node::Member& m : then.members) {
      if (now.find(m.key) == nullptr) {
        out.push_back(
            fmt::format("{}: is not given, was {}", join_path(path, m.key), shown(m.value)));
      }
    }
    return;
  }
  const bool tables = now.kind == Node::Kind::array && !now.items.empty() &&
                      now.items.front().kind == Node::Kind::table;
  if (tables && then.kind == Node::Kind::array && now.items.size() == then.items.size()) {
    for (std::size_t i = 0; i < now.items.size(); ++i) {
      compare(now.items[i], then.items[i], fmt::format("{}[{}]", path, i), out);
    }
    return;
  }
  if (to_json(now, 0) != to_json(then, 0)) {
    out.push_back(fmt::format("{}: is {}, was {}", path, shown(now), shown(then)));
  }
}

}  // namespace

const std::string& Axis::text(std::size_t i) const {
  static const std::string none;
  return i < texts.size() ? texts[i] : none;
}

Cell Axis::cell(std::size_t i) const {
  switch (type) {
    case CellType::integer:
      return static_cast<std::int64_t>(numbers[i]);
    case CellType::real:
      return numbers[i];
    case CellType::text:
      break;
  }
  return std::string_view(texts[i]);
}

bool Plan::gives(std::string_view canonical) const {
  return std::binary_search(given.begin(), given.end(), canonical);
}

Plan read_plan(std::string text, std::string file, Lookup lookup) {
  const Document document = parse_toml(std::move(text), std::move(file));
  return Reader(document, lookup).run();
}

void digits_of(const Plan& plan, std::uint64_t point, std::span<std::size_t> digits) {
  for (std::size_t w = plan.wheels.size(); w-- > 0;) {
    digits[w] = static_cast<std::size_t>(point % plan.wheels[w].size);
    point /= plan.wheels[w].size;
  }
}

std::vector<std::string> differences(const Plan& plan, const std::string& other_text) {
  std::vector<std::string> out;
  compare(plan.root, parse_toml(other_text, "the plan of the results").root, "", out);
  return out;
}

std::string duration_text(double seconds) {
  constexpr double year = 365.25 * 86400;
  if (seconds < 100) return fmt::format("{:.3g} s", seconds);
  if (seconds < 6000) return fmt::format("{:.3g} minutes", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{:.3g} hours", seconds / 3600);
  if (seconds < year) return fmt::format("{:.3g} days", seconds / 86400);
  return fmt::format("{:.3g} years", seconds / year);
}

}  // namespace sextant::sweep
