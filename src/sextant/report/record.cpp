// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sextant/io/csv.hpp"
#include "sextant/io/json_writer.hpp"
#include "sextant/io/text.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

Item looking(double number, Look look, int digits, std::string after = "") {
  Item c(number);
  c.look = look;
  c.digits = digits;
  c.words = std::move(after);
  return c;
}

bool is_number(const Item& c) {
  return c.value.kind == Node::Kind::number || c.value.kind == Node::Kind::integer;
}

std::string plain(const Node& n, const char* yes, const char* no) {
  if (n.kind == Node::Kind::boolean) return n.boolean ? yes : no;
  return plain_text(n);
}

/// The first row that is none, or what one would be.
const Record* typical(const Records& records) {
  const auto at = std::find_if(records.rows.begin(), records.rows.end(),
                               [](const Record& r) { return !r.empty(); });
  return at != records.rows.end() ? &*at : records.sample.get();
}

}  // namespace

Item percent(double share, int decimals) { return looking(share, Look::percent, decimals); }
Item change(double share, int decimals) { return looking(share, Look::change, decimals); }
Item fixed(double number, int decimals, std::string after) {
  return looking(number, Look::fixed, decimals, std::move(after));
}
Item general(double number, int digits) { return looking(number, Look::general, digits); }
Item rate(double number) {
  return number >= 1000 ? fixed(number, 0) : looking(number, Look::general, 3);
}
Item binary(Bytes bytes, int digits) {
  Item c = rounded(bytes, digits);
  c.look = Look::binary;
  return c;
}
Item rounded(Item cell, int digits) {
  cell.digits = digits;
  return cell;
}
Item said(Item cell, std::string words) {
  cell.look = Look::words;
  cell.words = std::move(words);
  return cell;
}
Item only_if(bool condition, Item cell) {
  if (condition) return cell;
  Item nothing;
  nothing.kind = cell.value.kind;
  return nothing;
}
Item once(bool first, Item cell) { return first ? std::move(cell) : said(std::move(cell), ""); }

std::string for_people(const Item& c) {
  if (c.look == Look::words) return c.words;
  if (!is_number(c)) return plain(c.value, "yes", "no");
  const double x = c.value.number;
  switch (c.look) {
    case Look::quantity:
      return format_quantity(x, c.unit, c.digits);
    case Look::binary:
      return format_binary_bytes(x, c.digits);
    case Look::percent:
      return format_percent(x, c.digits);
    case Look::change:
      return fmt::format("{:+.{}f} %", x * 100, c.digits);
    case Look::fixed:
      return fmt::format("{:.{}f}{}", x, c.digits, c.words);
    case Look::general:
      // Whole numbers stay readable: 24350, not 2.435e+04.
      return std::abs(x) >= 1000 && std::abs(x) < 1e9 ? fmt::format("{:.0f}", x)
                                                      : fmt::format("{:.{}g}", x, c.digits);
    case Look::plain:
    case Look::words:
      break;
  }
  return plain(c.value, "", "");
}

void Records::rule() { rows.emplace_back(); }

void Record::operator()(std::string_view name, Item cell, std::string_view title) {
  if (entries_.empty()) entries_.reserve(8);  // entries are large, and few records have less
  entries_.push_back({std::string(name), std::string(title), std::move(cell)});
}

void Record::take(Record other) {
  entries_.insert(entries_.end(), std::make_move_iterator(other.entries_.begin()),
                  std::make_move_iterator(other.entries_.end()));
}

void Record::object(std::string_view name, std::string_view type, Record record) {
  Entry e{std::string(name), ""};
  e.type = type;
  e.object = std::make_shared<const Record>(std::move(record));
  entries_.push_back(std::move(e));
}

void Record::list(std::string_view name, std::string_view type, Records records) {
  Entry e{std::string(name), ""};
  e.type = type;
  e.list = std::make_shared<const Records>(std::move(records));
  entries_.push_back(std::move(e));
}

void Record::some(std::string_view name, std::string_view type, Records records) {
  list(name, type, std::move(records));
  entries_.back().optional = true;
}

void Record::strings(std::string_view name, const std::vector<std::string>& items) {
  Node all = Node::array();
  for (const std::string& s : items) all.push(Node::of(s));
  node(name, "string", std::move(all));
}

void Record::tree(std::string_view name, Breakdown breakdown) {
  Entry e{std::string(name), ""};
  e.type = "Part";
  e.tree = std::make_shared<const Breakdown>(std::move(breakdown));
  entries_.push_back(std::move(e));
}

void Record::node(std::string_view name, std::string_view type, Node node) {
  Entry e{std::string(name), "", Item(std::move(node))};
  e.type = type;
  entries_.push_back(std::move(e));
}

TextTable to_table(const Records& records) {
  TextTable t;
  const Record* first = typical(records);
  if (first == nullptr) return t;
  for (const Record::Entry& e : first->entries()) {
    if (!e.title.empty()) t.columns.push_back({e.title});
  }
  for (const Record& r : records.rows) {
    std::vector<std::string>& row = t.rows.emplace_back();
    for (const Record::Entry& e : r.entries()) {
      if (e.title.empty()) continue;
      if (is_number(e.cell) && row.size() < t.columns.size()) {
        t.columns[row.size()].align = Align::right;
      }
      row.push_back(for_people(e.cell));
    }
  }
  return t;
}

namespace {

/// Every value under its name; those of an object under the object's name and theirs.
template <class Each>
void walk(const Record& record, const std::string& prefix, const Each& each) {
  for (const Record::Entry& e : record.entries()) {
    if (e.name.empty() || e.list || e.tree) continue;
    if (e.object) {
      walk(*e.object, prefix + e.name + "_", each);
    } else if (e.type.empty()) {
      each(prefix + e.name, e.cell);
    }
  }
}

}  // namespace

std::string to_csv(const Records& records) {
  const Record* first = typical(records);
  if (first == nullptr) return "";
  std::vector<std::string> cells;
  walk(*first, "", [&](const std::string& name, const Item&) { cells.push_back(name); });
  std::string out = csv_line(cells);
  for (const Record& r : records.rows) {
    if (r.empty()) continue;
    cells.clear();
    walk(r, "",
         [&](const std::string&, const Item& x) { cells.push_back(plain(x.value, "1", "0")); });
    out += csv_line(cells);
  }
  return out;
}

namespace {

void write(JsonWriter& w, const Breakdown& b) {
  w.open('{');
  w.key("label");
  w.value(std::string_view(b.label));
  w.key("seconds");
  w.value(b.value);
  w.key("share");
  w.value(b.share);
  w.key("parts");
  w.open('[');
  for (const Breakdown& part : b.parts) {
    w.item();
    write(w, part);
  }
  w.close(']');
  w.close('}');
}

void write(JsonWriter& w, const Record& record) {
  w.open('{');
  for (const Record::Entry& e : record.entries()) {
    if (e.name.empty()) continue;
    if (e.object) {
      w.key(e.name);
      write(w, *e.object);
    } else if (e.tree) {
      w.key(e.name);
      write(w, *e.tree);
    } else if (e.list) {
      if (e.optional && e.list->empty()) continue;
      w.key(e.name);
      w.open('[');
      for (const Record& r : e.list->rows) {
        if (r.empty()) continue;
        w.item();
        write(w, r);
      }
      w.close(']');
    } else if (e.cell.value.kind != Node::Kind::null) {
      w.key(e.name);
      w.value(e.cell.value);
    }
  }
  w.close('}');
}

}  // namespace

std::string to_json(const Record& record, int indent) {
  JsonWriter writer(indent);
  write(writer, record);
  return writer.take();
}

}  // namespace sextant
