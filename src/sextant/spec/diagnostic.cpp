// SPDX-License-Identifier: Apache-2.0
#include "sextant/spec/diagnostic.hpp"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

std::string joined(const std::vector<Diagnostic>& problems) {
  std::string text;
  for (const Diagnostic& d : problems) text += (text.empty() ? "" : "\n") + to_text(d);
  return text;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row.back();
}

// Blanks that put a caret under the given column. Columns count code points, so continuation bytes
// take no room; tabs stay tabs.
std::string indent_to(std::string_view excerpt, int column) {
  std::string blanks;
  int at = 1;
  for (std::size_t i = 0; i < excerpt.size() && at < column; ++i) {
    if ((static_cast<unsigned char>(excerpt[i]) & 0xC0) == 0x80) continue;
    blanks += excerpt[i] == '\t' ? '\t' : ' ';
    ++at;
  }
  return blanks;
}

bool comes_before(const Diagnostic& a, const Diagnostic& b) {
  if ((a.line > 0) != (b.line > 0)) return a.line > 0;
  return a.line != b.line ? a.line < b.line : a.column < b.column;
}

bool same_place(const Diagnostic& a, const Diagnostic& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

}  // namespace

std::string to_text(const Diagnostic& d) {
  std::string text;
  if (!d.file.empty()) {
    text += d.file;
    if (d.line > 0) text += ":" + std::to_string(d.line) + ":" + std::to_string(d.column);
    text += ": ";
  }
  if (!d.field.empty()) text += d.field + ": ";
  text += d.message;
  if (!d.hint.empty()) text += "; " + d.hint;
  if (!d.excerpt.empty() && d.line > 0) {
    std::string number = std::to_string(d.line);
    if (number.size() < 5) number.insert(0, 5 - number.size(), ' ');
    text += "\n" + number + " | " + d.excerpt + "\n" + std::string(number.size(), ' ') + " | ";
    text += indent_to(d.excerpt, d.caret > 0 ? d.caret : d.column) + "^";
  }
  return text;
}

InputError::InputError(std::vector<Diagnostic> problems)
    : std::runtime_error(joined(problems)), diagnostics_(std::move(problems)) {}

InputError::InputError(std::string message, std::string hint)
    : InputError(
          std::vector<Diagnostic>{{.message = std::move(message), .hint = std::move(hint)}}) {}

std::vector<Diagnostic> arranged(std::vector<Diagnostic> problems) {
  // Files keep the order in which they were read; sorting happens within each.
  for (auto begin = problems.begin(); begin != problems.end();) {
    const std::string file = begin->file;
    const auto end = std::stable_partition(begin, problems.end(),
                                           [&](const Diagnostic& d) { return d.file == file; });
    std::stable_sort(begin, end, comes_before);
    begin = end;
  }
  // Of several problems at one place only the last shows it.
  for (std::size_t i = 0; i + 1 < problems.size(); ++i) {
    if (same_place(problems[i], problems[i + 1])) problems[i].excerpt.clear();
  }
  if (problems.size() <= max_reported) return problems;
  const std::size_t rest = problems.size() - max_reported;
  const bool all = problems.size() < max_collected;
  problems.resize(max_reported);
  problems.push_back({.file = problems.back().file,
                      .message = "and " + std::to_string(rest) + (all ? "" : " or more") +
                                 " further problem" + (rest == 1 ? "" : "s")});
  return problems;
}

void throw_if_any(std::vector<Diagnostic> problems) {
  if (!problems.empty()) throw InputError(arranged(std::move(problems)));
}

std::string closest(std::string_view word, const std::vector<std::string>& candidates) {
  // A third of the word may differ; beyond that a suggestion confuses more than it helps.
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string best;
  if (word.size() > 64) return best;
  for (const std::string& c : candidates) {
    if (c.size() > 64) continue;
    const std::size_t distance = edit_distance(word, c);
    if (distance < best_distance) {
      best_distance = distance;
      best = c;
    }
  }
  if (!best.empty()) return best;
  // Something was put before it or after it: "nvfp4", "llama3.1-8b-instruct".
  for (const std::string& c : candidates) {
    const bool part = c.size() >= 3 && 2 * c.size() >= word.size() && c.size() > best.size();
    if (part && (word.starts_with(c) || word.ends_with(c))) best = c;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string best = closest(word, candidates);
  return best.empty() ? "" : "did you mean '" + best + "'?";
}

}  // namespace sextant
