// SPDX-License-Identifier: Apache-2.0
// Where the results of long work go, row by row: a SQLite database, CSV or JSON lines. What was
// committed survives a kill and a full disk, and writing goes on where it ended.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sextant {

enum class StoreFormat : std::uint8_t { sqlite, csv, jsonl };
constexpr auto names_of(StoreFormat) {
  return std::array<std::string_view, 3>{"sqlite", "csv", "jsonl"};
}

/// By the end of the name: .csv, .jsonl, and SQLite for all others.
StoreFormat store_format_of(std::string_view path);

enum class CellType : std::uint8_t { integer, real, text };
constexpr auto names_of(CellType) {
  return std::array<std::string_view, 3>{"integer", "real", "text"};
}

/// A value of a row; the first alternative is a value that is not there.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string_view>;

struct StoreColumn {
  std::string name;
  CellType type = CellType::real;
  std::string role = {};  ///< "axis" or "output"
  std::string unit = {};  ///< base unit of what is stored: "B/s"; empty: none
  std::string help = {};
};

/// What the rows come from, by name: the plan, the program's version. Compared before going on.
using StoreFacts = std::map<std::string, std::string>;

/// Rows are numbered from 0; the number is their first column, and named so.
inline constexpr std::string_view point_column = "point";

/// Numbers from `first` up to, not including, `last`.
struct PointRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  friend bool operator==(const PointRange&, const PointRange&) = default;
};

class Store {
 public:
  virtual ~Store() = default;

  /// Adds one row: its number and a cell for every column. A number that is there already is an
  /// error. Views need to live during the call only.
  virtual void write(std::uint64_t point, std::span<const Cell> cells) = 0;

  /// From here on the rows written so far survive whatever happens.
  virtual void commit() = 0;

  /// The numbers below `count` that have no row yet, in order.
  virtual std::vector<PointRange> missing(std::uint64_t count) = 0;
};

/// The facts of a store that was begun; nothing where there is none at that path. Throws InputError
/// where something else is there.
std::optional<StoreFacts> stored_facts(const std::string& path, StoreFormat format);

/// Begins a store, or goes on with the one that is there; its facts are the caller's to compare.
/// Throws std::system_error where it cannot be written.
std::unique_ptr<Store> open_store(const std::string& path, StoreFormat format,
                                  const std::vector<StoreColumn>& columns, const StoreFacts& facts);

/// Throws InputError, naming them, where points are not as they were written: SQLite stores carry a
/// checksum of every chunk of points. Stores of before have none. Of those that are text there are
/// checksums in a file beside; they are read where a sweep goes on.
void check_store(const std::string& path);

// ---- reading back, SQLite only

/// A value of a row, its own.
using StoredCell = std::variant<std::monostate, std::int64_t, double, std::string>;

enum class Comparison : std::uint8_t { equal, unequal, less, at_most, more, at_least };
constexpr auto names_of(Comparison) {
  return std::array<std::string_view, 6>{"=", "!=", "<", "<=", ">", ">="};
}
struct StoreCondition {
  std::string column;
  Comparison comparison = Comparison::equal;
  StoredCell value;
};

/// Throws InputError where no database of ours is at the path.
std::vector<StoreColumn> stored_columns(const std::string& path);

/// The rows that meet all conditions, in order of their numbers, with these columns; at most
/// `limit`.
std::vector<std::vector<StoredCell>> stored_rows(const std::string& path,
                                                 const std::vector<std::string>& columns,
                                                 const std::vector<StoreCondition>& conditions,
                                                 std::size_t limit);

// ---- for store.cpp alone: the formats that are text (store_text.cpp)

std::optional<StoreFacts> text_store_facts(const std::string& path);
std::unique_ptr<Store> open_text_store(const std::string& path, StoreFormat format,
                                       const std::vector<StoreColumn>& columns,
                                       const StoreFacts& facts);

}  // namespace sextant
