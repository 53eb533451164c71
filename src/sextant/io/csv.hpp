// SPDX-License-Identifier: Apache-2.0
// Tables as comma-separated values (RFC 4180): reading with places, and writing.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {

/// A file of measurements may be far larger than one that people write.
inline constexpr std::size_t max_csv_bytes = std::size_t{256} << 20;

/// A table with a header; all rows have as many cells as the header. Cells are views into a text
/// that copies of the table share.
class CsvTable {
 public:
  struct Row {
    int line = 0;
    std::span<const std::string_view> cells;
  };

  const std::string& file() const { return file_; }
  const std::vector<std::string>& header() const { return header_; }
  std::size_t rows() const { return lines_.size(); }
  Row row(std::size_t index) const;
  std::optional<std::size_t> column(std::string_view name) const;

  /// A problem with one cell: its file, line, column name and excerpt.
  Diagnostic problem(std::size_t row, std::size_t column, std::string message,
                     std::string hint = "") const;

 private:
  friend class CsvParser;
  struct Text;
  std::string file_;
  std::vector<std::string> header_;
  std::vector<std::string_view> cells_;
  std::vector<int> lines_;
  std::shared_ptr<const Text> text_;
};

/// All whole rows; a ragged one or an open quote becomes a problem (`problems` holds none yet).
/// Throws InputError where the header names no columns, or one twice.
CsvTable parse_csv(std::string text, std::string file, std::vector<Diagnostic>& problems);
/// Throws all problems at once.
CsvTable parse_csv(std::string text, std::string file);

/// One line with its end; cells are quoted where they must be.
std::string csv_line(std::span<const std::string> cells);

}  // namespace sextant
