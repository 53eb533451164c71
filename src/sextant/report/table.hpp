// SPDX-License-Identifier: Apache-2.0
// A table once, as text for a terminal, as CSV for programs and as Markdown for documents.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sextant {

enum class Align : std::uint8_t { left, right };

struct TextTable {
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  std::vector<Column> columns;
  /// A row shorter than `columns` ends in empty cells. A row without cells is a rule in text and
  /// is left out elsewhere.
  std::vector<std::vector<std::string>> rows;
};

struct TableStyle {
  bool header = true;  ///< print the titles
  bool rule = true;    ///< a line under them
  int indent = 0;      ///< spaces before each line
  int gap = 2;         ///< spaces between columns
};

/// Aligned columns; each line ends in "\n" and has no trailing spaces.
std::string render_text(const TextTable& table, const TableStyle& style = {});

/// RFC 4180 but for the line end, "\n": titles, then rows; cells are quoted only where they must
/// be.
std::string render_csv(const TextTable& table);

/// A GitHub-flavoured Markdown table.
std::string render_markdown(const TextTable& table);

}  // namespace sextant
