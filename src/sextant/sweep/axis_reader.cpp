// SPDX-License-Identifier: Apache-2.0
#include "sextant/sweep/axis_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sextant/io/presets.hpp"
#include "sextant/io/read.hpp"
#include "sextant/io/text.hpp"
#include "sextant/io/write.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::sweep {
namespace {

// The roots of paths, for suggestions.
constexpr std::array<std::string_view, 13> known_roots = {
    "device", "system", "runtime", "model", "kernel",   "collective", "node",
    "dram",   "link",   "core",    "tier",  "strategy", "technology"};

/// Looks a preset up by the field that names it; throws InputError.
void load_by_field(std::string_view canonical, const std::string& name, Lookup lookup) {
  if (canonical == "model") {
    load_model(name, {}, lookup);
  } else if (canonical == "system") {
    load_system(name, {}, lookup);
  } else if (canonical == "device") {
    load_device(name, {}, lookup);
  } else if (canonical == "runtime") {
    load_runtime(name, {}, lookup);
  } else if (canonical == "technology.node") {
    load_node(name, {}, lookup);
  } else if (canonical == "technology.dram") {
    load_dram(name, {}, lookup);
  } else if (canonical == "technology.core") {
    load_core(name, {}, lookup);
  } else if (canonical == "technology.link_gen" || canonical == "technology.network") {
    load_link(name, {}, lookup);
  } else if (canonical == "technology.tier") {
    const NamedParts parts = parts_of_tier(name);
    if (parts.count > 0) load_dram(parts.name, {}, lookup);
  }
}

/// The name that the plan gives a field, in its base or first on an axis; may be empty.
std::string first_name(const Node& plan, std::string_view field) {
  const auto string_in = [](const Node* table, std::string_view key) -> std::string {
    const Node* found = table == nullptr ? nullptr : table->find(key);
    return found != nullptr ? found->string : "";
  };
  const std::string base = string_in(plan.find("base"), field);
  const Node* axes = plan.find("axis");
  if (!base.empty() || axes == nullptr) return base;
  for (const Node& axis : axes->items) {
    const Node* values = axis.find("values");
    if (string_in(&axis, "field") == field && values != nullptr && !values->items.empty()) {
      return values->items.front().string;
    }
  }
  return "";
}

template <class T, class Load>
void load_sample(T& target, const std::string& name, const Load& load) {
  if (name.empty()) return;
  try {
    target = load(name);
  } catch (const std::exception&) {  // reported where the name stands
    target = T{};
  }
}

std::string hint_for(Scene& scene, const std::string& field) {
  const std::string root = field.substr(0, field.find('.'));
  if (root == field || contains(known_roots, root)) return "";
  for (const std::string_view known : known_roots) {
    Diagnostic ignored;
    const std::string candidate = std::string(known) + "." + field;
    if (find_slot(scene, candidate, ignored)) return "did you mean '" + candidate + "'?";
  }
  const std::string meant = closest(root, {known_roots.begin(), known_roots.end()});
  return meant.empty() ? "" : "did you mean '" + meant + field.substr(root.size()) + "'?";
}

class AxisReader {
 public:
  AxisReader(const Findings& findings, const Scene& sample, const Node& node, std::string path)
      : findings_(findings), scene_(sample), node_(node), path_(std::move(path)) {}

  std::optional<Axis> run() {
    const std::size_t before = findings_.problems.size();
    if (node_.kind != Node::Kind::table) {
      findings_.add(node_.place, path_, "expected a table", "write [[axis]]");
      return std::nullopt;
    }
    check_members();
    axis_.zip = text_member("zip");
    axis_.field = text_member("field");
    axis_.place = node_.place;
    const Node* field = node_.find("field");
    if (field == nullptr) add(node_.place, "field", "missing (what varies)");
    if (axis_.field.empty()) return std::nullopt;
    axis_.place = field->place;
    find();
    if (slot_) read_values();
    if (findings_.problems.size() != before) return std::nullopt;
    return std::move(axis_);
  }

 private:
  void add(Place place, std::string_view member, std::string message, std::string hint = "") {
    findings_.add(place, join_path(path_, member), std::move(message), std::move(hint));
  }
  void check_members();
  std::string text_member(const char* name);
  void find();
  void read_values();
  void read_list(const Node& values);
  void read_range();
  bool read_number(const char* name, Field bounds, double& out);
  void fill_by_step(double from, double to);
  void fill_by_points(double from, double to, bool log);
  void push();
  void push(double number);
  bool whole() const { return axis_.type == CellType::integer; }

  Findings findings_;
  Scene scene_;
  const Node& node_;
  const std::string path_;
  Axis axis_;
  std::optional<Slot> slot_;
};

void AxisReader::check_members() {
  const std::vector<std::string> known = {"field", "values", "from",  "to",
                                          "step",  "points", "scale", "zip"};
  for (const Node::Member& m : node_.members) {
    if (contains(known, m.key)) continue;
    const std::string hint = did_you_mean(m.key, known);
    add(m.place, printable(m.key), "unknown field",
        hint.empty() ? "an axis has field, values or from and to with step or points, scale, zip"
                     : hint);
  }
}

std::string AxisReader::text_member(const char* name) {
  const Node* node = node_.find(name);
  if (node == nullptr) return "";
  if (node->kind == Node::Kind::string && !node->string.empty()) return node->string;
  add(node->place, name, "expected a text in quotes");
  return "";
}

void AxisReader::find() {
  axis_.path = canonical_field(axis_.field);
  axis_.canonical = canonical_field(axis_.field);
  axis_.layer = layer_of(axis_.canonical);
  slot_ = find_or_report(findings_, scene_, axis_.field, axis_.place);
  if (!slot_) return;
  axis_.help = slot_->field.help;
  const Target& t = slot_->target;
  if (std::holds_alternative<StructRef>(t) || std::holds_alternative<ListRef>(t)) {
    findings_.add(axis_.place, printable(axis_.field, 200), "is not a single value",
                  "name one of its fields: 'sextant show --fields' lists them");
    slot_.reset();
    return;
  }
  if (std::holds_alternative<double*>(t)) {
    axis_.type = CellType::real;
  } else if (const auto* quantity = std::get_if<QuantityRef>(&t)) {
    axis_.type = CellType::real;
    axis_.unit = unit_of(quantity->dimension);
  } else if (std::holds_alternative<std::string*>(t) || std::holds_alternative<EnumRef>(t)) {
    axis_.type = CellType::text;
  } else {
    axis_.type = CellType::integer;
  }
}

// The value that stands in the slot.
void AxisReader::push() {
  axis_.numbers.push_back(number_of(slot_->target));
  if (axis_.type == CellType::text || axis_.layer == Layer::setting) {
    axis_.texts.push_back(text_of(slot_->target));
  }
}

void AxisReader::push(double number) {
  assign(slot_->target, number, "");
  push();
}

void AxisReader::read_values() {
  const Node* values = node_.find("values");
  if (values == nullptr) return read_range();
  for (const char* other : {"from", "to", "step", "points", "scale"}) {
    if (const Node* extra = node_.find(other)) {
      add(extra->place, other, "stands beside values", "give a list or a range, not both");
    }
  }
  read_list(*values);
}

void AxisReader::read_list(const Node& values) {
  if (values.kind != Node::Kind::array) {
    return add(values.place, "values", "expected an array", "write values = [1, 2, 4]");
  }
  if (values.items.empty()) {
    return add(values.place, "values", "is empty: the plan would have no points");
  }
  if (values.items.size() > max_values) {
    return add(values.place, "values", fmt::format("has more than {} elements", max_values));
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < values.items.size(); ++i) {
    const Node& item = values.items[i];
    const std::string place = fmt::format("{}.values[{}]", path_, i);
    if (!read_field(findings_, item, *slot_, axis_.field, place)) continue;
    push();
    // Axes that are zipped may well repeat a value.
    if (axis_.zip.empty() && !seen.insert(text_of(slot_->target)).second) {
      findings_.add(item.place, place, "is there twice");
    }
  }
}

bool AxisReader::read_number(const char* name, Field bounds, double& out) {
  const Node* node = node_.find(name);
  if (node == nullptr) {
    add(node_.place, name, "missing", "a range has from and to, and a step or a number of points");
    return false;
  }
  Slot slot = *slot_;
  slot.field = bounds;
  if (!read_value(findings_.document, *node, slot, join_path(path_, name), findings_.problems)) {
    return false;
  }
  out = number_of(slot.target);
  return true;
}

void AxisReader::read_range() {
  if (node_.find("from") == nullptr && node_.find("to") == nullptr) {
    return add(node_.place, "values", "missing", "or give from and to with step or points");
  }
  if (axis_.type == CellType::text || std::holds_alternative<bool*>(slot_->target)) {
    return add(axis_.place, "field", "only numbers have ranges", "write values = [ … ]");
  }
  const std::string scale = text_member("scale");
  const bool log = scale == "log";
  if (!scale.empty() && !log && scale != "linear") {
    add(node_.find("scale")->place, "scale", "expected linear or log");
  }
  double from = 0;
  double to = 0;
  const bool low = read_number("from", slot_->field, from);
  const bool high = read_number("to", slot_->field, to);
  const bool step = node_.find("step") != nullptr;
  const bool points = node_.find("points") != nullptr;
  if (!low || !high) return;
  if (from > to) return add(node_.find("from")->place, "from", "is more than to");
  if (log && from <= 0) return add(node_.find("from")->place, "from", "has no logarithm");
  if (step == points || (step && log)) {
    return add(node_.place, "",
               log ? "a logarithmic range needs points" : "a range needs either step or points");
  }
  step ? fill_by_step(from, to) : fill_by_points(from, to, log);
}

void AxisReader::fill_by_step(double from, double to) {
  double step = 0;
  if (!read_number("step", {.min = above_zero, .max = 1e300}, step)) return;
  // A last value that misses `to` by rounding alone is meant.
  const double count = std::floor((to - from) / step * (1 + 1e-12) + 1e-9) + 1;
  if (count > static_cast<double>(max_values)) {
    return add(node_.find("step")->place, "step",
               fmt::format("makes {:.4g} values, more than {}", count, max_values));
  }
  for (double i = 0; i < count; ++i) push(from + i * step);
}

void AxisReader::fill_by_points(double from, double to, bool log) {
  const Node& node = *node_.find("points");
  if (node.kind != Node::Kind::integer || node.integer < 1 ||
      node.integer > static_cast<std::int64_t>(max_values) || (node.integer == 1 && from < to)) {
    return add(node.place, "points",
               fmt::format("expected a whole number from 2 to {}", max_values));
  }
  const auto last = static_cast<double>(node.integer - 1);
  for (std::int64_t i = 0; i < node.integer; ++i) {
    const double share = last > 0 ? static_cast<double>(i) / last : 0;
    double value = log ? from * std::pow(to / from, share) : from + (to - from) * share;
    if (i == node.integer - 1) value = to;
    if (whole()) value = std::round(value);
    // Whole numbers may fall together.
    if (!axis_.numbers.empty() && axis_.numbers.back() == value) continue;
    push(value);
  }
}

}  // namespace

void Findings::add(Place place, std::string field, std::string message, std::string hint) const {
  if (problems.size() >= max_collected) return;
  problems.push_back(
      problem_at(document, place, std::move(field), std::move(message), std::move(hint)));
}

Scene sample_scene(Task task, const Node& plan, Lookup lookup) {
  Scene s{.task = task};
  s.inputs = defaults_of(task);
  load_sample(s.system, first_name(plan, "system"),
              [&](const std::string& n) { return load_system(n, {}, lookup); });
  load_sample(s.model, first_name(plan, "model"),
              [&](const std::string& n) { return load_model(n, {}, lookup); });
  // A generated device stands in nodes on links, and nodes in a network.
  if (s.system.fabrics.empty()) s.system.fabrics.resize(2);
  return s;
}

std::optional<Slot> find_or_report(const Findings& findings, Scene& scene, const std::string& field,
                                   Place place) {
  Diagnostic problem;
  std::optional<Slot> slot = find_slot(scene, canonical_field(field), problem);
  if (slot) return slot;
  std::string hint = hint_for(scene, field);
  if (hint.empty()) hint = problem.hint;
  findings.add(place, printable(field, 200), problem.message, hint);
  return slot;
}

bool read_field(const Findings& findings, const Node& node, Slot& slot, const std::string& field,
                const std::string& path) {
  if (!read_value(findings.document, node, slot, path, findings.problems)) return false;
  const std::string canonical = canonical_field(field);
  const auto* name = std::get_if<std::string*>(&slot.target);
  if (name == nullptr) return true;
  if (std::any_of((*name)->begin(), (*name)->end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20; })) {
    findings.add(node.place, path, "has control characters");
    return false;
  }
  try {
    load_by_field(canonical, **name, findings.lookup);
  } catch (const InputError& e) {
    for (const Diagnostic& d : e.diagnostics()) {
      findings.add(node.place, path, (d.line > 0 ? d.file + ": " : "") + d.message, d.hint);
    }
    return false;
  }
  return true;
}

std::optional<Axis> read_axis(const Findings& findings, const Scene& sample, const Node& node,
                              const std::string& path) {
  return AxisReader(findings, sample, node, path).run();
}

}  // namespace sextant::sweep
