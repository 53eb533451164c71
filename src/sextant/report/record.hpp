// SPDX-License-Identifier: Apache-2.0
// What is said of one thing: values under names for programs and under titles for people. Lines of
// CSV, objects of JSON, tables on a terminal and schemas are views of the same records.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/report/breakdown.hpp"
#include "sextant/spec/describe.hpp"
#include "sextant/units/units.hpp"

namespace sextant {

/// How people see a number; programs get all its digits, in base units.
enum class Look : std::uint8_t { plain, quantity, binary, percent, change, fixed, general, words };

/// One value. Made from what it is; the functions below say how people see it.
struct Item {
  Node value = {};                     ///< null: there is none
  Node::Kind kind = Node::Kind::null;  ///< what it would be, where there is none
  Dimension unit = {};
  Look look = Look::plain;
  int digits = 0;
  std::string words = {};  ///< in place of the value (Look::words), or after it

  Item() = default;
  Item(Node n) : value(std::move(n)) {}
  Item(const char* text) : value(Node::of(text)) {}
  Item(std::string text) : value(Node::of(std::move(text))) {}
  Item(std::string_view text) : value(Node::of(text)) {}
  Item(double number) : value(Node::of(number)) {}
  template <std::integral T>
  Item(T number) : value(Node::of(number)) {}
  template <Dimension D>
  Item(Quantity<D> q) : value(Node::of(q.value)), unit(D), look(Look::quantity), digits(3) {}
  template <NamedEnum E>
  Item(E e) : value(Node::of(name_of(e))) {}
  template <class T>
  Item(const std::optional<T>& maybe) {
    if (maybe) *this = Item(*maybe);
  }
};

Item percent(double share, int decimals = 1);                     ///< "12.3 %"
Item change(double share, int decimals = 1);                      ///< "+12.3 %"
Item binary(Bytes bytes, int digits = 3);                         ///< "74.5 GiB"
Item fixed(double number, int decimals, std::string after = "");  ///< "1.25x"
Item general(double number, int digits);                          ///< "1.25e+07"
Item rate(double number);  ///< "12345", or three digits of less than a thousand
/// With other digits than three.
Item rounded(Item cell, int digits);
/// The same for programs; people read these words.
Item said(Item cell, std::string words);
/// The cell, or nothing.
Item only_if(bool condition, Item cell);
/// People see it on the first of several rows alone.
Item once(bool first, Item cell);

std::string for_people(const Item& cell);

class Record;

/// Things of one kind: rows of a table, a list in JSON.
struct Records {
  std::vector<Record> rows;        ///< one without entries is a rule
  std::shared_ptr<Record> sample;  ///< of a list that is empty: what a row would have
  bool empty() const { return rows.empty(); }
  void rule();
};

class Record {
 public:
  /// A value, or what it is made of.
  struct Entry {
    std::string name;   ///< empty: for people alone
    std::string title;  ///< empty: for programs alone
    Item cell = {};
    std::shared_ptr<const Record> object = {};
    std::shared_ptr<const Records> list = {};
    std::shared_ptr<const Breakdown> tree = {};
    std::string type = {};  ///< of an object or of a list's items, for schemas: "Memory"
    bool optional = false;  ///< not every answer has it
  };

  void operator()(std::string_view name, Item cell, std::string_view title = {});
  /// Another's entries, among its own.
  void take(Record other);
  void object(std::string_view name, std::string_view type, Record record);
  void list(std::string_view name, std::string_view type, Records records);
  /// Left out where it is empty.
  void some(std::string_view name, std::string_view type, Records records);
  void strings(std::string_view name, const std::vector<std::string>& items);
  /// {label, seconds, share, parts}.
  void tree(std::string_view name, Breakdown breakdown);
  /// What has its own description: a strategy, a device; a table of numbers under any names.
  void node(std::string_view name, std::string_view type, Node node);

  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

 private:
  std::vector<Entry> entries_;
};

/// A record each, as `say(record, item)` has it; where `starts(item)`, a rule above it.
template <class T, class Say, class Starts>
Records records_of(const std::vector<T>& items, const Say& say, const Starts& starts) {
  Records all;
  for (const T& item : items) {
    if (!all.empty() && starts(item)) all.rule();
    say(all.rows.emplace_back(), item);
  }
  if (items.empty()) {
    all.sample = std::make_shared<Record>();
    say(*all.sample, T{});
  }
  return all;
}
template <class T, class Say>
Records records_of(const std::vector<T>& items, const Say& say) {
  return records_of(items, say, [](const T&) { return false; });
}

/// For people: what has a title. Columns of numbers stand to the right.
TextTable to_table(const Records& records);
std::string to_csv(const Records& records);
std::string to_json(const Record& record, int indent = 2);
template <Dimension D, NamedEnum E>
Node to_node(const Table<Quantity<D>, E>& table) {
  Node n = Node::table();
  for (std::size_t i = 0; i < table.size; ++i) {
    n.set(std::string(names_of(E{})[i]), Node::of(table.values[i].value));
  }
  return n;
}

}  // namespace sextant
