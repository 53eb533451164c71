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

void add_rows(const Breakdown& node, const std::string& branch, const std::string& trunk,
              TextTable& table) {
  constexpr int bar_columns = 20;
  table.rows.push_back({branch + node.label, format_quantity(node.value, node.unit),
                        format_percent(node.share), bar_of(node.share, bar_columns), node.note});
  for (std::size_t i = 0; i < node.parts.size(); ++i) {
    const bool last = i + 1 == node.parts.size();
    add_rows(node.parts[i], trunk + (last ? "└─ " : "├─ "), trunk + (last ? "   " : "│  "), table);
  }
}

}  // namespace

void fill_shares(Breakdown& root) { fill_shares_of(root, root.value); }

std::string render_text(const Breakdown& root) {
  TextTable table{.columns = {{"", Align::left}, {"", Align::right}, {"", Align::right}}};
  add_rows(root, "", "", table);
  return render_text(table, TableStyle{.header = false, .rule = false});
}

}  // namespace sextant
