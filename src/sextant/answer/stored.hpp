// SPDX-License-Identifier: Apache-2.0
// What `sextant report` shows: a figure or a table from the results of a sweep.
#pragma once

#include <string>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/io/store.hpp"
#include "sextant/report/plot.hpp"
#include "sextant/report/table.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {

struct StoredQuestion {
  std::string results;  ///< a sweep's database
  std::string x, y, series;
  std::vector<std::string> where;  ///< "tp=8"
  std::string pick;                ///< min or max: of the points at one x, the one with this y
  bool log_x = false;
  bool log_y = false;
  bool all = false;  ///< points that do not fit memory, too
};

/// Reads what was asked for when it is made; throws InputError with everything that is wrong.
class StoredView {
 public:
  explicit StoredView(StoredQuestion question);

  /// Neither x nor y was given: only the columns are known.
  bool lists_columns() const { return o_.x.empty() && o_.y.empty(); }
  Answer columns() const;

  std::string title() const { return o_.y + " by " + o_.x; }
  plot::Figure figure() const;
  TextTable table(bool people) const;  ///< for people with units, else as stored
  std::string json() const;

 private:
  /// One of the points at an x.
  struct Mark {
    std::string series;
    StoredCell x;
    StoredCell y;
  };

  void add(std::string file, std::string message, std::string hint = "");
  const StoreColumn* column(const char* flag, const std::string& name);
  void read_options();
  void read_condition(const std::string& text);
  void read_marks();
  void pick();
  bool several_at_one_place() const;

  StoredQuestion o_;
  std::vector<StoreColumn> columns_;
  std::vector<Diagnostic> problems_;
  const StoreColumn* x_ = nullptr;
  const StoreColumn* y_ = nullptr;
  std::vector<StoreCondition> conditions_;
  std::vector<Mark> marks_;
};

}  // namespace sextant
