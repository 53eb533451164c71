// SPDX-License-Identifier: Apache-2.0
// Reading the cells of one row of a case file; every problem is collected with its place.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/io/csv.hpp"
#include "sextant/spec/describe.hpp"
#include "sextant/spec/diagnostic.hpp"
#include "sextant/spec/measurement.hpp"
#include "sextant/units/format.hpp"
#include "sextant/units/lists.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {

/// One row with its problems: cells by column name, converted and checked.
class RowReader {
 public:
  RowReader(const CsvTable& table, std::size_t row, std::vector<Diagnostic>& problems)
      : table_(table),
        row_(row),
        cells_(table.row(row).cells),
        problems_(problems),
        first_(problems.size()) {}

  /// A cell, as its source is known to mean it; where it is empty, or the file has no such column,
  /// what was assumed of it.
  std::string text(std::string_view column) const {
    const std::optional<std::size_t> at = table_.column(column);
    if (at && !cells_[*at].empty()) {
      for (const Correction& c : corrected_) {
        const bool meant = c.model.empty() || c.model == cell("model");
        if (meant && c.column == column && c.said == cells_[*at]) return c.meant;
      }
      return std::string(cells_[*at]);
    }
    for (const std::string& a : assumed_) {
      if (a.starts_with(column) && a.substr(column.size()).starts_with('=')) {
        return a.substr(column.size() + 1);
      }
    }
    return {};
  }
  /// What the row's source is known for: of empty cells, "column=value", and of others.
  void assume(std::span<const std::string> unsaid, std::span<const Correction> corrected) {
    assumed_ = unsaid;
    corrected_ = corrected;
  }

  double number(std::string_view column, double low, double high) {
    return number_or(column, std::optional<double>{}, low, high);
  }
  double number_or(std::string_view column, std::optional<double> fallback, double low,
                   double high) {
    const std::string cell = text(column);
    if (cell.empty() && fallback) return *fallback;
    const std::optional<double> value = parse_number(cell);
    if (!value) {
      problem(column, cell.empty() ? "expected a number, the cell is empty"
                                   : "expected a number, got '" + cell + "'");
      return low;
    }
    if (*value < low || *value > high) {
      problem(column, "expected a number from " + write_number(low) + " to " + write_number(high) +
                          ", got '" + cell + "'");
      return low;
    }
    return *value;
  }
  /// Sizes: positive whole numbers.
  double size(std::string_view column) { return size_or(column, std::nullopt); }
  double size_or(std::string_view column, std::optional<double> fallback) {
    return integral(column, fallback, 1, 1e12);
  }

  /// A whole number that fits an int.
  int whole(std::string_view column, double low, double high) {
    return whole_or(column, std::nullopt, low, high);
  }
  int whole_or(std::string_view column, std::optional<double> fallback, double low, double high) {
    return static_cast<int>(integral(column, fallback, low, high));
  }

  template <NamedEnum E>
  E choice(std::string_view column, E fallback) {
    const std::string cell = text(column);
    E value = fallback;
    if (cell.empty() || parse_enum(cell, value)) return value;
    std::vector<std::string> names;
    for (const std::string_view n : names_of(E{})) names.emplace_back(n);
    unknown(column, cell, did_you_mean(cell, names));
    return fallback;
  }

  /// A word nobody knows: the row cannot be predicted, others of its file can.
  void unknown(std::string_view column, const std::string& cell, const std::string& hint) {
    if (!unknown_.empty()) unknown_ += "; ";
    unknown_.append(column).append(": unknown value '" + cell + "'");
    if (!hint.empty()) unknown_ += "; " + hint;
  }
  /// All such words, or nothing.
  const std::string& unknown() const { return unknown_; }

  /// All cells but those of some columns: what distinguishes one row from another beside them.
  std::string without(std::initializer_list<std::string_view> columns) const {
    std::string all;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const std::string_view name = table_.header()[i];
      if (contains(columns, name)) continue;
      all.append(cells_[i]).push_back('|');
    }
    return all;
  }

  /// The first problem of a cell; what else is wrong with it follows from that.
  void problem(std::string_view column, std::string message, std::string hint = "") {
    const auto own = problems_.begin() + static_cast<std::ptrdiff_t>(first_);
    if (problems_.size() >= max_collected ||
        std::any_of(own, problems_.end(), [&](const Diagnostic& d) { return d.field == column; })) {
      return;
    }
    const std::optional<std::size_t> c = table_.column(column);
    if (c) {
      problems_.push_back(table_.problem(row_, *c, std::move(message), std::move(hint)));
    } else {
      problems_.push_back({.file = table_.file(),
                           .line = table_.row(row_).line,
                           .column = 1,
                           .field = std::string(column),
                           .message = "this kind of case needs the column"});
    }
  }

 private:
  double integral(std::string_view column, std::optional<double> fallback, double low,
                  double high) {
    const double value = number_or(column, fallback, low, high);
    if (value == std::floor(value)) return value;
    problem(column, "expected a whole number, got '" + text(column) + "'");
    return low;
  }

  /// As it stands there; empty where the file has no such column.
  std::string_view cell(std::string_view column) const {
    const std::optional<std::size_t> at = table_.column(column);
    return at ? std::string_view(cells_[*at]) : std::string_view();
  }

  const CsvTable& table_;
  std::size_t row_;
  std::span<const std::string_view> cells_;
  std::span<const std::string> assumed_;
  std::span<const Correction> corrected_;
  std::vector<Diagnostic>& problems_;
  const std::size_t first_;  ///< of the row's own problems
  std::string unknown_;
};

}  // namespace sextant
