// SPDX-License-Identifier: Apache-2.0
// What a command says: a tree with names and units for programs, and sentences, tables and figures
// for people. How it is shown is a view of it: text, JSON, CSV, a page, a schema (schema.hpp).
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sextant/report/plot.hpp"
#include "sextant/report/record.hpp"

namespace sextant {

class Answer : public Record {
 public:
  struct Table {
    TextTable table;
    TableStyle style;
  };
  /// A line (empty: a gap), a table, a tree.
  using Block = std::variant<std::string, Table, Breakdown>;

  /// A text as it is in every format: a file in a format of its own.
  static Answer verbatim(std::string text);

  // For people, in the order of calls.
  void say(std::string line) { blocks_.emplace_back(std::move(line)); }
  void gap() { say(""); }
  void show(TextTable table, TableStyle style = {});
  void show(const Records& records, TableStyle style = {}) { show(to_table(records), style); }
  void show(Breakdown tree) { blocks_.emplace_back(std::move(tree)); }
  /// What another says to people.
  void append(const Answer& other) {
    blocks_.insert(blocks_.end(), other.blocks_.begin(), other.blocks_.end());
  }
  /// Rows without titles: "name  value  note".
  void facts(const std::vector<std::vector<std::string>>& rows, int indent = 0);
  /// "assumptions", and the list under "assumed:".
  void assume(const std::vector<std::string>& assumptions);

  /// What CSV has: these rows in place of the one line of the tree's own values.
  void lines(Records records) { lines_ = std::move(records); }
  void figure(plot::Figure figure) { figures_.push_back(std::move(figure)); }

  const std::vector<Block>& blocks() const { return blocks_; }
  const std::vector<plot::Figure>& figures() const { return figures_; }

  std::string text() const;
  std::string json() const;
  std::string csv() const;
  /// Its figures, and its text below them.
  std::string html() const;

 private:
  std::vector<Block> blocks_;
  Records lines_;
  std::vector<plot::Figure> figures_;
  std::string verbatim_;
};

/// Names of presets and files may hold anything; a terminal must not obey it.
std::string visible(std::string_view text);

}  // namespace sextant
