// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/table.hpp"

#include <algorithm>
#include <string_view>

#include "sextant/io/csv.hpp"
#include "sextant/report/utf8.hpp"

namespace sextant {
namespace {

std::size_t column_count(const TextTable& table) {
  std::size_t count = table.columns.size();
  for (const auto& row : table.rows) count = std::max(count, row.size());
  return count;
}

std::vector<std::string> titles_of(const TextTable& table) {
  std::vector<std::string> titles;
  for (const auto& column : table.columns) titles.push_back(column.title);
  return titles;
}

Align align_of(const TextTable& table, std::size_t column) {
  return column < table.columns.size() ? table.columns[column].align : Align::left;
}

std::string_view cell_of(const std::vector<std::string>& row, std::size_t column) {
  return column < row.size() ? std::string_view(row[column]) : std::string_view();
}

// One line of text; `widths` has one entry per column.
std::string text_line(const TextTable& table, const std::vector<std::string>& row,
                      const std::vector<int>& widths, const TableStyle& style) {
  std::string line = repeat(" ", style.indent);
  for (std::size_t c = 0; c < widths.size(); ++c) {
    const std::string cell = single_line(cell_of(row, c));
    const std::string padding = repeat(" ", widths[c] - display_width(cell));
    if (c > 0) line += repeat(" ", style.gap);
    line += align_of(table, c) == Align::right ? padding + cell : cell + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string markdown_cell(std::string_view cell) {
  std::string out;
  for (const char c : single_line(cell)) {
    if (c == '|' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_line(const std::vector<std::string>& row, std::size_t columns) {
  std::string line = "|";
  for (std::size_t c = 0; c < columns; ++c) line += " " + markdown_cell(cell_of(row, c)) + " |";
  return line + "\n";
}

}  // namespace

std::string render_text(const TextTable& table, const TableStyle& style) {
  const std::vector<std::string> titles = titles_of(table);
  std::vector<int> widths(column_count(table), 0);
  const auto widen = [&](const std::vector<std::string>& row) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], display_width(single_line(row[c])));
    }
  };
  if (style.header) widen(titles);
  for (const auto& row : table.rows) widen(row);

  int total = style.gap * (static_cast<int>(widths.size()) - 1);
  for (const int w : widths) total += w;
  const std::string rule = repeat(" ", style.indent) + repeat("─", total) + "\n";

  std::string out;
  if (style.header) out += text_line(table, titles, widths, style);
  if (style.header && style.rule) out += rule;
  for (const auto& row : table.rows) {
    out += row.empty() ? rule : text_line(table, row, widths, style);
  }
  return out;
}

std::string render_csv(const TextTable& table) {
  const std::size_t columns = column_count(table);
  std::string out;
  const auto add = [&](std::vector<std::string> cells) {
    cells.resize(columns);
    out += csv_line(cells);
  };
  add(titles_of(table));
  for (const auto& row : table.rows) {
    if (!row.empty()) add(row);
  }
  return out;
}

std::string render_markdown(const TextTable& table) {
  const std::size_t columns = column_count(table);
  std::string out = markdown_line(titles_of(table), columns) + "|";
  for (std::size_t c = 0; c < columns; ++c) {
    out += align_of(table, c) == Align::right ? "---:|" : "---|";
  }
  out += "\n";
  for (const auto& row : table.rows) {
    if (!row.empty()) out += markdown_line(row, columns);
  }
  return out;
}

}  // namespace sextant
