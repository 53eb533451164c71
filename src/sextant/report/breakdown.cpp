// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/breakdown.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sextant/report/utf8.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

void fill_shares_of(Breakdown& node, double whole) {
  node.share = whole != 0 && std::isfinite(whole) ? node.value / whole : 0;
  for (Breakdown& part : node.parts) fill_shares_of(part, whole);
}

// A bar in eighths of a column, so that small shares still differ.
std::string bar_of(double share, int columns) {
  static constexpr std::array eighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (!(share > 0)) return "";
  const int units = static_cast<int>(std::lround(std::min(share, 1.0) * columns * 8));
  return repeat("█", units / 8) + eighths[static_cast<std::size_t>(units % 8)];
}

// The parts to show: all, or the large ones and one line for the rest.
std::vector<Breakdown> visible_parts(const Breakdown& node, const BreakdownStyle& style) {
  std::vector<Breakdown> shown;
  Breakdown rest{.unit = node.unit};
  int hidden = 0;
  for (const Breakdown& part : node.parts) {
    if (std::abs(part.share) >= style.hide_below) {
      shown.push_back(part);
      continue;
    }
    ++hidden;
    rest.label = part.label;
    rest.value += part.value;
    rest.share += part.share;
  }
  if (hidden > 1) rest.label = std::to_string(hidden) + " more";
  if (hidden > 0) shown.push_back(rest);
  return shown;
}

void add_rows(const Breakdown& node, const std::string& branch, const std::string& trunk, int depth,
              const BreakdownStyle& style, TextTable& table) {
  std::vector<std::string> row = {branch + node.label, format_quantity(node.value, node.unit),
                                  format_percent(node.share)};
  if (style.bar > 0) row.push_back(bar_of(node.share, style.bar));
  if (style.notes) row.push_back(node.note);
  table.rows.push_back(std::move(row));
  if (depth >= style.depth) return;
  const std::vector<Breakdown> parts = visible_parts(node, style);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    add_rows(parts[i], trunk + (last ? "└─ " : "├─ "), trunk + (last ? "   " : "│  "), depth + 1,
             style, table);
  }
}

void add_flat_rows(const Breakdown& node, const std::string& path, TextTable& table) {
  const std::string here = path.empty() ? node.label : path + " > " + node.label;
  table.rows.push_back({here, write_number(node.value), write_number(node.share), node.note});
  for (const Breakdown& part : node.parts) add_flat_rows(part, here, table);
}

}  // namespace

void fill_shares(Breakdown& root) { fill_shares_of(root, root.value); }

std::string render_text(const Breakdown& root, const BreakdownStyle& style) {
  TextTable table{.columns = {{"", Align::left}, {"", Align::right}, {"", Align::right}}};
  add_rows(root, "", "", 0, style, table);
  return render_text(table, TableStyle{.header = false, .rule = false});
}

TextTable to_table(const Breakdown& root) {
  TextTable table{
      .columns = {{"part"}, {"value", Align::right}, {"share", Align::right}, {"note"}}};
  add_flat_rows(root, "", table);
  return table;
}

}  // namespace sextant
