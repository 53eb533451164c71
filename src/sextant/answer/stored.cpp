// SPDX-License-Identifier: Apache-2.0
#include "sextant/answer/stored.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sextant/io/node.hpp"
#include "sextant/io/parsing.hpp"
#include "sextant/io/text.hpp"
#include "sextant/spec/describe.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/lists.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

/// Rows that are looked at; a figure of more would be of no use, and memory has an end.
constexpr std::size_t most_rows = 2'000'000;
/// Marks that a figure takes.
constexpr std::size_t most_marks = 20'000;

using StoredRow = std::vector<StoredCell>;

std::string text_of(const StoredCell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return write_number(*real);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "";
}

double number_of(const StoredCell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return std::nan("");
}

std::optional<Dimension> dimension_of(const StoreColumn& column) {
  if (column.unit.empty()) return std::nullopt;
  const ParseResult parsed = parse_quantity("1 " + column.unit);
  if (!parsed.quantity) return std::nullopt;
  return parsed.quantity->dimension;
}

}  // namespace

StoredView::StoredView(StoredQuestion question)
    : o_(std::move(question)), columns_(stored_columns(o_.results)) {
  if (lists_columns()) return;
  read_options();
  throw_if_any(std::move(problems_));
  check_store(o_.results);
  read_marks();
  if (!o_.pick.empty()) pick();
}

void StoredView::add(std::string file, std::string message, std::string hint) {
  Diagnostic& d = problems_.emplace_back();
  d.file = std::move(file);
  d.message = std::move(message);
  d.hint = std::move(hint);
}

Answer StoredView::columns() const {
  Records columns = records_of(columns_, [](Record& r, const StoreColumn& c) {
    r("column", c.name, "column");
    r("is", c.role, "is");
    r("unit", c.unit, "unit");
    r("what", c.help, "what");
  });
  Answer a;
  a.show(columns);
  a.say("\nsextant report " + printable(o_.results, 200) +
        " --x COLUMN --y COLUMN -o figure.svg draws two of them");
  a.lines(columns);
  a.list("columns", "StoredColumn", std::move(columns));
  return a;
}

const StoreColumn* StoredView::column(const char* flag, const std::string& name) {
  const auto* found = find_by(columns_, &StoreColumn::name, name);
  if (found != nullptr) return found;
  std::vector<std::string> names;
  std::string all;
  for (const StoreColumn& c : columns_) {
    names.push_back(c.name);
    all += (all.empty() ? "" : ", ") + c.name;
  }
  const std::string hint = did_you_mean(name, names);
  add(flag, name.empty() ? "missing" : "there is no column " + in_quotes(name),
      hint.empty() ? "one of " + all : hint);
  return nullptr;
}

// "tp=8", "device.memory.bandwidth>=4 TB/s".
void StoredView::read_condition(const std::string& text) {
  const std::size_t at = text.find_first_of("=!<>");
  const std::size_t end = at == std::string::npos ? at : text.find_first_not_of("=!<>", at);
  StoreCondition c;
  if (at == std::string::npos || end == std::string::npos ||
      !parse_enum(text.substr(at, end - at), c.comparison)) {
    return add("--where",
               "expected a column, one of = != < <= > >=, and a value, not " + in_quotes(text),
               "write 'tp=8'");
  }
  const std::string_view whole = text;
  c.column = trimmed(whole.substr(0, at), " ");
  const std::string value(trimmed(whole.substr(end), " "));
  const StoreColumn* of = column("--where", c.column);
  if (of == nullptr) return;
  const std::optional<double> number = parse_number(value);
  const ParseResult quantity = parse_quantity(value);
  if (of->type == CellType::text) {
    c.value = value;
  } else if (number) {
    c.value = *number;
  } else if (quantity.quantity && quantity.quantity->dimension == dimension_of(*of)) {
    c.value = quantity.quantity->value;
  } else {
    return add("--where", in_quotes(value) + " is no value of " + in_quotes(c.column),
               of->unit.empty() ? "a number" : "a quantity in " + of->unit);
  }
  conditions_.push_back(std::move(c));
}

void StoredView::read_options() {
  x_ = column("--x", o_.x);
  y_ = column("--y", o_.y);
  if (!o_.series.empty()) column("--series", o_.series);
  for (const std::string& w : o_.where) read_condition(w);
  if (y_ != nullptr && y_->type == CellType::text) {
    add("--y", in_quotes(o_.y) + " is text", "a figure needs numbers there");
  }
  if (!o_.all) conditions_.push_back({"verdict", Comparison::equal, std::string("fits")});
}

void StoredView::read_marks() {
  const std::vector<std::string> names = {o_.x, o_.y, o_.series.empty() ? o_.x : o_.series};
  const std::vector<StoredRow> rows = stored_rows(o_.results, names, conditions_, most_rows + 1);
  if (rows.size() > most_rows) {
    throw InputError(fmt::format("more than {} points", most_rows), "keep fewer with --where");
  }
  for (const StoredRow& r : rows) {
    if (std::holds_alternative<std::monostate>(r[1])) continue;
    marks_.push_back({o_.series.empty() ? "" : text_of(r[2]), r[0], r[1]});
  }
  if (marks_.empty()) {
    throw InputError("no point is left to show",
                     o_.all ? "ask less of them with --where"
                            : "none of them fits, or --where asks too much; --all shows all");
  }
}

void StoredView::pick() {
  std::map<std::pair<std::string, std::string>, std::size_t> best;
  std::vector<Mark> kept;
  for (Mark& m : marks_) {
    const auto [at, first] = best.emplace(std::pair(m.series, text_of(m.x)), kept.size());
    if (first) {
      kept.push_back(std::move(m));
      continue;
    }
    Mark& other = kept[at->second];
    const bool less = number_of(m.y) < number_of(other.y);
    if (number_of(m.y) != number_of(other.y) && less == (o_.pick == "min")) other = std::move(m);
  }
  marks_ = std::move(kept);
}

bool StoredView::several_at_one_place() const {
  std::map<std::pair<std::string, std::string>, int> count;
  return std::any_of(marks_.begin(), marks_.end(), [&](const Mark& m) {
    return ++count[{m.series, text_of(m.x)}] > 1;
  });
}

plot::Figure StoredView::figure() const {
  if (marks_.size() > most_marks) {
    throw InputError(fmt::format("{} points, a figure takes {}", marks_.size(), most_marks),
                     "--pick min or max keeps one at each place, --where keeps some");
  }
  plot::Figure f;
  f.title = title();
  f.x.label = o_.x;
  f.x.dimension = dimension_of(*x_);
  f.x.log = o_.log_x;
  f.y.label = o_.y;
  f.y.dimension = dimension_of(*y_);
  f.y.log = o_.log_y;
  const bool names = x_->type == CellType::text;
  const plot::Mark mark =
      names || several_at_one_place() ? plot::Mark::dots : plot::Mark::line_and_dots;
  std::map<std::string, std::size_t> series;
  std::map<std::string, std::size_t> places;
  for (const Mark& m : marks_) {
    const auto [at, first] = series.emplace(m.series, f.series.size());
    if (first) {
      const std::string name = o_.series.empty() ? "" : o_.series + " " + m.series;
      f.series.push_back({.name = name, .mark = mark});
    }
    double x = number_of(m.x);
    if (names) {
      const auto [place, unseen] = places.emplace(text_of(m.x), f.x.names.size());
      if (unseen) f.x.names.push_back(text_of(m.x));
      x = static_cast<double>(place->second);
    }
    f.series[at->second].points.push_back({x, number_of(m.y), text_of(m.x) + ": " + text_of(m.y)});
  }
  for (plot::Series& s : f.series) {
    std::stable_sort(s.points.begin(), s.points.end(),
                     [](const plot::Point& a, const plot::Point& b) { return a.x < b.x; });
  }
  return f;
}

TextTable StoredView::table(bool people) const {
  TextTable t;
  if (!o_.series.empty()) t.columns.push_back({o_.series});
  t.columns.push_back({o_.x, x_->type == CellType::text ? Align::left : Align::right});
  t.columns.push_back({o_.y, Align::right});
  const auto shown = [&](const StoredCell& cell, const StoreColumn& c) {
    if (!people || !std::holds_alternative<double>(cell)) return text_of(cell);
    const std::optional<Dimension> unit = dimension_of(c);
    return unit ? format_quantity(number_of(cell), *unit, 4)
                : fmt::format("{:.6g}", number_of(cell));
  };
  for (const Mark& m : marks_) {
    std::vector<std::string>& row = t.rows.emplace_back();
    if (!o_.series.empty()) row.push_back(m.series);
    row.push_back(shown(m.x, *x_));
    row.push_back(shown(m.y, *y_));
  }
  return t;
}

std::string StoredView::json() const {
  const auto node = [](const StoredCell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell)) return Node::of(*text);
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return Node::of(*integer);
    return Node::of(number_of(cell));
  };
  Node root = Node::table();
  Node& points = root.set("points", Node::array());
  for (const Mark& m : marks_) {
    Node& n = points.push(Node::table());
    if (!o_.series.empty()) n.set(o_.series, Node::of(m.series));
    n.set(o_.x, node(m.x));
    n.set(o_.y, node(m.y));
  }
  return to_json(root) + "\n";
}

}  // namespace sextant
