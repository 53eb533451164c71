// SPDX-License-Identifier: Apache-2.0
// The readers of each type of field, and their messages.
#include "sextant/io/read.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sextant/io/text.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/lists.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

std::string describe_kind(const Node& node) {
  return describe_value(node, {.null = "nothing", .table = "a table"});
}

bool numeric(const Node& node) {
  return node.kind == Node::Kind::integer || node.kind == Node::Kind::number;
}

std::string with_unit(double value, Dimension dimension) {
  return dimension == Dimension{} ? write_number(value) : write_quantity(value, dimension);
}

// Why a value is outside its bounds, and the nearest one within where that does not say it; empty
// where it is within.
struct BoundsProblem {
  std::string message = {};
  std::string hint = {};
};
BoundsProblem bounds_problem(double value, const Field& field, Dimension dimension) {
  if (!std::isfinite(value)) return {"must be finite"};
  const std::string found = ", not " + with_unit(value, dimension);
  if (value < field.min) {
    if (field.min == above_zero) return {"must be more than zero" + found};
    if (field.min == 0) return {"must not be negative" + found};
    const std::string least = "at least " + with_unit(field.min, dimension);
    const bool positive = dimension != Dimension{} && value <= 0;
    if (positive) return {"must be more than zero" + found, least};
    return {"must be " + least + found};
  }
  if (value > field.max) return {"must be at most " + with_unit(field.max, dimension) + found};
  return {};
}

std::string list_of(std::span<const std::string_view> names) {
  std::string out;
  for (const std::string_view n : names) out += (out.empty() ? "" : ", ") + std::string(n);
  return out;
}

class FieldReader {
 public:
  FieldReader(const Document& document, std::vector<Diagnostic>& problems,
              const ReadOptions& options)
      : document_(document),
        problems_(problems),
        given_(options.given),
        ranges_(options.ranges),
        prefix_(options.prefix) {}

  void fields(const Node& table, StructRef& target, const std::string& path,
              const std::vector<std::string_view>& skip) {
    if (table.kind != Node::Kind::table) {
      return add(table.place, path, "expected a table, not " + describe_kind(table));
    }
    for (const Node::Member& member : table.members) {
      if (contains(skip, member.key)) continue;
      field(member, target, path);
    }
  }

  void value(const Node& node, Slot& slot, const std::string& path) {
    std::visit([&](auto& target) { put(node, slot.field, target, path); }, slot.target);
  }

 private:
  void add(Place place, const std::string& path, std::string message, std::string hint = "") {
    if (problems_.size() >= max_collected) return;
    problems_.push_back(problem_at(document_, place, join_path(prefix_, path), std::move(message),
                                   std::move(hint)));
  }

  void field(const Node::Member& member, StructRef& target, const std::string& path) {
    auto* slot = find_by(target.fields, &Slot::name, member.key);
    const std::string inner = join_path(path, printable(member.key));
    if (slot == nullptr) {
      if (problems_.size() >= max_collected) return;
      const std::string meant = suggest_field(member.key, target);
      return add(member.place, inner, "unknown field",
                 meant.empty() ? "" : "did you mean '" + meant + "'?");
    }
    if (member.value.kind == Node::Kind::null) return;
    if (given_ != nullptr) given_->insert(inner);
    value(member.value, *slot, inner);
  }

  void put(const Node& node, const Field&, bool* out, const std::string& path) {
    if (node.kind != Node::Kind::boolean) {
      return add(node.place, path, "expected true or false, not " + describe_kind(node));
    }
    *out = node.boolean;
  }

  void put(const Node& node, const Field&, std::string* out, const std::string& path) {
    if (node.kind != Node::Kind::string) {
      return add(node.place, path, "expected a text in quotes, not " + describe_kind(node));
    }
    *out = node.string;
  }

  void put(const Node& node, const Field& field, double* out, const std::string& path) {
    if (takes_range(node, path)) return put_range(node, field, out, path);
    if (!numeric(node)) return not_a_number(node, "a number", path);
    if (in_bounds(node, node.number, field, {}, path)) *out = node.number;
  }

  void put(const Node& node, const Field& field, std::int64_t* out, const std::string& path) {
    if (!numeric(node)) return not_a_number(node, "a whole number", path);
    if (std::isfinite(node.number) && node.number != std::trunc(node.number)) {
      return add(node.place, path, "expected a whole number, not " + describe_kind(node));
    }
    if (!in_bounds(node, node.number, field, {}, path)) return;
    // 2^63 is the first double that does not fit.
    if (node.kind == Node::Kind::number && std::abs(node.number) >= 0x1p63) {
      return add(node.place, path, "is too large, " + describe_kind(node));
    }
    *out = node.kind == Node::Kind::integer ? node.integer : static_cast<std::int64_t>(node.number);
  }

  void put(const Node& node, Field field, int* out, const std::string& path) {
    field.min = std::max(field.min, double{std::numeric_limits<int>::min()});
    field.max = std::min(field.max, double{std::numeric_limits<int>::max()});
    std::int64_t wide = *out;
    put(node, field, &wide, path);
    *out = static_cast<int>(wide);
  }

  void put(const Node& node, const Field&, EnumRef& target, const std::string& path) {
    const std::string expected = "expected one of " + list_of(target.names) + ", not ";
    if (node.kind != Node::Kind::string) {
      return add(node.place, path, expected + describe_kind(node));
    }
    const auto name = std::find(target.names.begin(), target.names.end(), node.string);
    if (name == target.names.end()) {
      return add(node.place, path, expected + in_quotes(node.string),
                 did_you_mean(node.string, {target.names.begin(), target.names.end()}));
    }
    target.set(target.value, static_cast<std::size_t>(name - target.names.begin()));
  }

  void put(const Node& node, const Field& field, QuantityRef& target, const std::string& path) {
    if (takes_range(node, path)) return put_range(node, field, target, path);
    const std::string form = ", such as \"" + example_of(target.dimension) + "\"";
    if (node.kind != Node::Kind::string) {
      return add(node.place, path, "expected a quantity with its unit" + form);
    }
    const ParseResult parsed = parse_quantity(node.string);
    if (!parsed.quantity) {
      return add(node.place, path, printable(parsed.problem, 200),
                 "expected a quantity in " + unit_of(target.dimension) + form);
    }
    if (parsed.quantity->dimension != target.dimension) {
      return add(
          node.place, path,
          in_quotes(node.string) + " is not a quantity in " + unit_of(target.dimension) + form);
    }
    const double value = parsed.quantity->value;
    if (in_bounds(node, value, field, target.dimension, path)) *target.value = value;
  }

  void put(const Node& node, const Field&, StructRef& target, const std::string& path) {
    fields(node, target, path, {});
  }

  void put(const Node& node, const Field& field, ListRef& target, const std::string& path) {
    if (node.kind != Node::Kind::array) {
      return add(node.place, path, "expected an array, not " + describe_kind(node));
    }
    constexpr std::size_t most = 100'000;
    if (node.items.size() > most) {
      return add(node.place, path, "more than " + std::to_string(most) + " elements");
    }
    target.reset(target.list, node.items.size());
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      Slot element = target.element(target.list, i);
      element.field = field;  // bounds of a list are those of its elements
      value(node.items[i], element, path + "[" + std::to_string(i) + "]");
    }
  }

  /// Whether this is a number with its bounds, where numbers may have any. A plain one has none,
  /// whatever an earlier document said.
  bool takes_range(const Node& node, const std::string& path) {
    if (ranges_ == nullptr) return false;
    forget_range(*ranges_, last_part(path));
    return node.kind == Node::Kind::table;
  }

  static double* place_of(double* target) { return target; }
  static double* place_of(const QuantityRef& target) { return target.value; }
  static double* at(double* /*like*/, double& number) { return &number; }
  static QuantityRef at(const QuantityRef& like, double& number) {
    return {&number, like.dimension};
  }
  // Specs whose numbers have ranges are flat, so that the last part names the field.
  static std::string_view last_part(std::string_view path) {
    return path.substr(path.rfind('.') + 1);
  }

  /// `{ low, value, high }`, and perhaps `with` or `against` another field.
  template <class Number>
  void put_range(const Node& table, const Field& field, const Number& target,
                 const std::string& path) {
    Range range{.field = std::string(last_part(path))};
    double value = *place_of(target);
    const std::size_t before = problems_.size();
    Ranges* const collected = std::exchange(ranges_, nullptr);  // bounds have none
    const auto number = [&](const Node& node, double& out, const std::string& inner) {
      Number place = at(target, out);
      put(node, field, place, inner);
    };
    for (const Node::Member& m : table.members) {
      const std::string inner = join_path(path, printable(m.key));
      if (m.key == "value") {
        number(m.value, value, inner);
      } else if (m.key == "low") {
        number(m.value, range.low, inner);
      } else if (m.key == "high") {
        number(m.value, range.high, inner);
      } else if (m.key == "with" || m.key == "against") {
        put(m.value, field, &range.cause, inner);
        range.against = m.key == "against";
      } else {
        add(m.place, inner, "unknown field", "a range has low, value and high");
      }
    }
    ranges_ = collected;
    for (const char* key : {"low", "value", "high"}) {
      if (table.find(key) == nullptr) add(table.place, join_path(path, key), "missing");
    }
    if (problems_.size() != before) return;
    if (!(range.low <= value && value <= range.high)) {
      return add(table.place, path, "expected low, value and high in this order");
    }
    *place_of(target) = value;
    ranges_->push_back(std::move(range));
  }

  void not_a_number(const Node& node, const std::string& expected, const std::string& path) {
    const bool number_in_quotes = node.kind == Node::Kind::string && parse_number(node.string);
    add(node.place, path, "expected " + expected + ", not " + describe_kind(node),
        number_in_quotes ? "remove the quotes" : "");
  }

  bool in_bounds(const Node& node, double value, const Field& field, Dimension dimension,
                 const std::string& path) {
    BoundsProblem problem = bounds_problem(value, field, dimension);
    if (problem.message.empty()) return true;
    add(node.place, path, std::move(problem.message), std::move(problem.hint));
    return false;
  }

  const Document& document_;
  std::vector<Diagnostic>& problems_;
  GivenFields* given_;
  Ranges* ranges_;
  std::string_view prefix_;
};

class RequiredCheck {
 public:
  RequiredCheck(const Document& document, const GivenFields& given,
                std::vector<Diagnostic>& problems, std::string_view prefix)
      : document_(document), given_(given), problems_(problems), prefix_(prefix) {}

  void fields(const StructRef& target, const Node* table, const std::string& path,
              const std::vector<std::string_view>& skip) {
    for (const Slot& slot : target.fields) {
      if (contains(skip, slot.name)) continue;
      const std::string inner = join_path(path, slot.name);
      if (!given_.contains(inner)) {
        if (slot.field.required) missing(slot, table, inner);
        continue;
      }
      const Node* node = table == nullptr ? nullptr : table->find(slot.name);
      if (const auto* nested = std::get_if<StructRef>(&slot.target)) {
        fields(*nested, node, inner, {});
      } else if (const auto* list = std::get_if<ListRef>(&slot.target)) {
        elements(*list, node, inner);
      }
    }
  }

 private:
  void elements(const ListRef& list, const Node* node, const std::string& path) {
    for (std::size_t i = 0; i < list.size(list.list); ++i) {
      const Slot element = list.element(list.list, i);
      const auto* nested = std::get_if<StructRef>(&element.target);
      if (nested == nullptr) return;
      const Node* item = node != nullptr && i < node->items.size() ? &node->items[i] : nullptr;
      fields(*nested, item, path + "[" + std::to_string(i) + "]", {});
    }
  }

  void missing(const Slot& slot, const Node* table, const std::string& path) {
    if (problems_.size() >= max_collected) return;
    // The start of the file says nothing about where a field is missing.
    const Place place = table == nullptr || table == &document_.root ? Place{} : table->place;
    std::string hint;
    if (const auto* quantity = std::get_if<QuantityRef>(&slot.target)) {
      hint = "write it like " + std::string(slot.name) + " = \"" + example_of(quantity->dimension) +
             "\"";
    }
    problems_.push_back(problem_at(document_, place, join_path(prefix_, path),
                                   "missing (" + std::string(slot.field.help) + ")", hint));
  }

  const Document& document_;
  const GivenFields& given_;
  std::vector<Diagnostic>& problems_;
  std::string_view prefix_;
};

// The node a dotted path leads to, or the innermost table on the way.
const Node* follow(const Node& table, std::string_view path) {
  const Node* node = &table;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const Node* inner = node->find(path.substr(0, dot));
    if (inner == nullptr) return node;
    node = inner;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return node;
}

}  // namespace

void read_fields(const Document& document, const Node& table, StructRef fields,
                 std::vector<Diagnostic>& problems, const ReadOptions& options) {
  GivenFields own;
  ReadOptions with = options;
  if (with.given == nullptr) with.given = &own;
  FieldReader(document, problems, with).fields(table, fields, "", options.skip);
  if (options.require && table.kind == Node::Kind::table) {
    require_fields(document, table, fields, *with.given, problems, options);
  }
}

void require_fields(const Document& document, const Node& table, const StructRef& fields,
                    const GivenFields& given, std::vector<Diagnostic>& problems,
                    const ReadOptions& options) {
  RequiredCheck(document, given, problems, options.prefix).fields(fields, &table, "", options.skip);
}

bool read_value(const Document& document, const Node& node, Slot& slot, const std::string& path,
                std::vector<Diagnostic>& problems, Ranges* ranges) {
  const std::size_t before = problems.size();
  GivenFields given{path};
  const ReadOptions options{.given = &given, .ranges = ranges};
  FieldReader(document, problems, options).value(node, slot, path);
  if (problems.size() != before) return false;
  // A list is given as a whole, so its elements are as complete as in a file.
  if (std::holds_alternative<ListRef>(slot.target)) {
    const Slot named{path, slot.field, slot.target};
    RequiredCheck(document, given, problems, "").fields({{named}}, nullptr, "", {});
  }
  return problems.size() == before;
}

void locate(const Document& document, const Node& table, std::vector<Diagnostic>& problems,
            std::string_view prefix) {
  for (Diagnostic& d : problems) {
    if (!d.file.empty()) continue;
    const Node* node = follow(table, d.field);
    const Place place = node == &document.root ? Place{} : node->place;
    d = problem_at(document, place, join_path(prefix, d.field), std::move(d.message),
                   std::move(d.hint));
  }
}

}  // namespace sextant
