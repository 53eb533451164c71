// SPDX-License-Identifier: Apache-2.0
// The CSV parser: one pass, cells as views into the text.
#include "sextant/io/csv.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <set>

#include "sextant/io/text.hpp"

namespace sextant {

struct CsvTable::Text {
  std::string source;
  std::deque<std::string> unescaped;  ///< cells that held doubled quotes; addresses must stay
};

CsvTable::Row CsvTable::row(std::size_t index) const {
  return {lines_[index], std::span(cells_).subspan(index * header_.size(), header_.size())};
}

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

Diagnostic CsvTable::problem(std::size_t row, std::size_t column, std::string message,
                             std::string hint) const {
  const std::string_view cell = this->row(row).cells[column];
  const std::string& source = text_->source;
  Place place{lines_[row], 1};
  // A cell that was unescaped, or is empty, has lost its offset; the start of the row stands in.
  const std::less_equal<const char*> not_after;
  if (!cell.empty() && not_after(source.data(), cell.data()) &&
      not_after(cell.data(), source.data() + source.size())) {
    place = place_of(source, static_cast<std::size_t>(cell.data() - source.data()));
  }
  return problem_at(file_, source, place, printable(header_[column]), std::move(message),
                    std::move(hint));
}

/// One pass over the text; problems are collected and parsing goes on.
class CsvParser {
 public:
  CsvParser(std::string text, std::string file, std::vector<Diagnostic>& problems)
      : text_(std::make_shared<CsvTable::Text>()), problems_(problems) {
    table_.file_ = std::move(file);
    text_->source = std::move(text);
    source_ = text_->source;
  }

  CsvTable run() {
    read_header();
    const bool named = problems_.empty();
    while (at_ < source_.size()) read_row();
    if (!named) throw_if_any(problems_);
    table_.text_ = text_;
    return std::move(table_);
  }

 private:
  void add(Place place, std::string message) {
    if (problems_.size() >= max_collected) return;
    problems_.push_back(problem_at(table_.file_, source_, place, "", std::move(message)));
  }

  // A place costs a count of code points, so it is made only for a problem.
  struct Mark {
    int line;
    std::size_t line_begin;
    std::size_t offset;
  };
  Mark here() const { return {line_, line_begin_, at_}; }
  void add(Mark mark, std::string message) {
    const std::string_view before = source_.substr(mark.line_begin, mark.offset - mark.line_begin);
    add(Place{mark.line, place_of(before, before.size()).column}, std::move(message));
  }

  void read_header() {
    do {
      if (at_ >= source_.size()) {
        throw InputError(
            {Diagnostic{.file = table_.file_, .message = "no header: the file is empty"}});
      }
      read_cells();
    } while (blank_line());
    for (const std::string_view name : row_) {
      const std::size_t begin = name.find_first_not_of(" \t");
      const std::size_t end = name.find_last_not_of(" \t");
      table_.header_.emplace_back(begin == name.npos ? std::string_view{}
                                                     : name.substr(begin, end - begin + 1));
    }
    check_header();
  }

  void check_header() {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < table_.header_.size(); ++i) {
      const std::string& name = table_.header_[i];
      const std::string which = "column " + std::to_string(i + 1);
      if (name.empty()) {
        add(Place{row_line_, 1}, which + " has no name");
      } else if (!seen.insert(name).second) {
        add(Place{row_line_, 1}, which + " is named " + in_quotes(name) + " like one before it");
      }
    }
  }

  void read_row() {
    read_cells();
    if (blank_line()) return;
    if (row_.size() != table_.header_.size()) {
      const bool one = row_.size() == 1;
      return add(Place{row_line_, 1}, "the row has " + std::to_string(row_.size()) +
                                          (one ? " cell" : " cells") + ", the header has " +
                                          std::to_string(table_.header_.size()));
    }
    table_.cells_.insert(table_.cells_.end(), row_.begin(), row_.end());
    table_.lines_.push_back(row_line_);
  }

  bool blank_line() const { return row_.size() == 1 && row_.front().empty() && !quoted_cell_; }

  void read_cells() {
    row_.clear();
    row_line_ = line_;
    quoted_cell_ = false;
    do {
      row_.push_back(at_ < source_.size() && source_[at_] == '"' ? quoted_cell() : plain_cell());
    } while (take_comma());
    end_line();
  }

  bool take_comma() {
    if (at_ >= source_.size() || source_[at_] != ',') return false;
    ++at_;
    return true;
  }

  void end_line() {
    if (at_ < source_.size() && source_[at_] == '\r') ++at_;
    if (at_ < source_.size() && source_[at_] == '\n') ++at_;
    ++line_;
    line_begin_ = at_;
  }

  // Where the cell that starts here ends: at a comma, an end of line or the end of the text.
  std::size_t cell_end() const {
    std::size_t end = at_;
    while (end < source_.size() && source_[end] != ',' && source_[end] != '\n' &&
           !(source_[end] == '\r' && end + 1 < source_.size() && source_[end + 1] == '\n')) {
      ++end;
    }
    if (end == source_.size() && end > at_ && source_[end - 1] == '\r') --end;
    return end;
  }

  std::string_view plain_cell() {
    const std::size_t begin = at_;
    at_ = cell_end();
    return source_.substr(begin, at_ - begin);
  }

  std::string_view quoted_cell() {
    quoted_cell_ = true;
    const Mark opened = here();
    const std::size_t begin = ++at_;
    std::size_t copied = begin;
    std::string* unescaped = nullptr;
    while (true) {
      const std::size_t quote = source_.find('"', at_);
      count_lines(at_, std::min(quote, source_.size()));
      if (quote == source_.npos) {
        at_ = source_.size();
        add(opened, "the quote that opens here is never closed");
        return {};
      }
      at_ = quote + 1;
      if (at_ >= source_.size() || source_[at_] != '"') break;
      if (unescaped == nullptr) unescaped = &text_->unescaped.emplace_back();
      unescaped->append(source_, copied, at_ - copied);
      copied = ++at_;
    }
    const std::size_t end = at_ - 1;
    if (const std::size_t next = cell_end(); next != at_) {
      add(here(), "unexpected text after the closing quote");
      at_ = next;
    }
    if (unescaped == nullptr) return source_.substr(begin, end - begin);
    unescaped->append(source_, copied, end - copied);
    return *unescaped;
  }

  void count_lines(std::size_t begin, std::size_t end) {
    const std::string_view part = source_.substr(begin, end - begin);
    for (std::size_t at = part.find('\n'); at != part.npos; at = part.find('\n', at + 1)) {
      ++line_;
      line_begin_ = begin + at + 1;
    }
  }

  CsvTable table_;
  std::shared_ptr<CsvTable::Text> text_;
  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t line_begin_ = 0;
  std::vector<std::string_view> row_;
  int row_line_ = 1;
  bool quoted_cell_ = false;
  std::vector<Diagnostic>& problems_;
};

CsvTable parse_csv(std::string text, std::string file, std::vector<Diagnostic>& problems) {
  check_text(text, file, max_csv_bytes);
  drop_byte_order_mark(text);
  return CsvParser(std::move(text), std::move(file), problems).run();
}

CsvTable parse_csv(std::string text, std::string file) {
  std::vector<Diagnostic> problems;
  CsvTable table = parse_csv(std::move(text), std::move(file), problems);
  throw_if_any(std::move(problems));
  return table;
}

namespace {
// A cell that a reader would otherwise split, trim, skip or take for a mark.
bool needs_quotes(const std::string& cell, bool alone) {
  return cell.find_first_of(",\"\r\n") != std::string::npos || cell.starts_with(' ') ||
         cell.ends_with(' ') || cell.starts_with("\xef\xbb\xbf") || (alone && cell.empty());
}
}  // namespace

std::string csv_line(std::span<const std::string> cells) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += ',';
    if (!needs_quotes(cells[i], cells.size() == 1)) {
      out += cells[i];
      continue;
    }
    out += '"';
    for (const char c : cells[i]) out.append(c == '"' ? 2 : 1, c);
    out += '"';
  }
  return out + "\n";
}

}  // namespace sextant
