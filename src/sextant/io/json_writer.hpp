// SPDX-License-Identifier: Apache-2.0
// Writes JSON piece by piece, for what is no tree of nodes and need not become one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"

namespace sextant {

class JsonWriter {
 public:
  explicit JsonWriter(int indent) : indent_(indent) {}

  /// A table or a list, whose parts stand on lines of their own.
  void open(char bracket);
  void close(char bracket);
  /// Of the next value, in a table.
  void key(std::string_view name);
  /// Before the next value, in a list.
  void item();

  void value(const Node& node);
  void value(double number);
  void value(std::string_view text);

  std::string take() { return std::move(out_); }

 private:
  void array(const Node& node);
  void table(const Node& node);
  void line(std::size_t depth);

  int indent_;
  std::size_t depth_ = 0;
  bool first_ = true;  ///< of the table or list at hand nothing is written
  std::string out_;
};

}  // namespace sextant
