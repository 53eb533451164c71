// SPDX-License-Identifier: Apache-2.0
// Described structs as documents and as lists of fields.
#include "sextant/io/write.hpp"

#include "sextant/io/text.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

class Writer {
 public:
  explicit Writer(Quantities quantities) : quantities_(quantities) {}

  Node operator()(const bool* v) const { return Node::of(*v); }
  Node operator()(const int* v) const { return Node::of(*v); }
  Node operator()(const std::int64_t* v) const { return Node::of(*v); }
  Node operator()(const double* v) const { return Node::of(*v); }
  Node operator()(const std::string* v) const { return Node::of(*v); }
  Node operator()(const EnumRef& e) const {
    const std::size_t i = e.get(e.value);
    return Node::of(std::string(i < e.names.size() ? e.names[i] : "?"));
  }
  Node operator()(const QuantityRef& q) const {
    return quantities_ == Quantities::si ? Node::of(*q.value)
                                         : Node::of(write_quantity(*q.value, q.dimension));
  }
  Node operator()(const StructRef& s) const {
    Node table = Node::table();
    table.members.reserve(s.fields.size());
    for (const Slot& slot : s.fields) {
      table.members.push_back({std::string(slot.name), {}, std::visit(*this, slot.target)});
    }
    return table;
  }
  Node operator()(const ListRef& l) const {
    Node array = Node::array();
    for (std::size_t i = 0; i < l.size(l.list); ++i) {
      array.push(std::visit(*this, l.element(l.list, i).target));
    }
    return array;
  }

 private:
  Quantities quantities_;
};

// The element of a list may have to be made first: a list is mostly empty by default.
std::vector<FieldInfo> list_elements(const ListRef& list, const std::string& path) {
  if (list.size(list.list) == 0) list.reset(list.list, 1);
  const Slot element = list.element(list.list, 0);
  const auto* nested = std::get_if<StructRef>(&element.target);
  return nested == nullptr ? std::vector<FieldInfo>{} : list_fields(*nested, path + "[]");
}

}  // namespace

std::string text_of(const Target& target) {
  return plain_text(std::visit(Writer(Quantities::text), target));
}

Node write_fields(const StructRef& fields, Quantities quantities) {
  return Writer(quantities)(fields);
}

Node with_ranges(Node fields, const StructRef& described, const Ranges& ranges,
                 Quantities quantities) {
  Node bounds = Node::table();
  for (const Slot& slot : described.fields) {
    const Range* r = find_range(ranges, slot.name);
    if (r == nullptr) continue;
    const std::string name(slot.name);
    const auto* quantity = std::get_if<QuantityRef>(&slot.target);
    const auto number = [&](double x) {
      return quantity != nullptr && quantities == Quantities::text
                 ? Node::of(write_quantity(x, quantity->dimension))
                 : Node::of(x);
    };
    Node range = Node::table();
    range.set("low", number(r->low));
    if (quantities == Quantities::text) range.set("value", *fields.find(name));
    range.set("high", number(r->high));
    if (!r->cause.empty()) range.set(r->against ? "against" : "with", Node::of(r->cause));
    (quantities == Quantities::text ? fields : bounds).set(name, std::move(range));
  }
  if (!bounds.members.empty()) fields.set("ranges", std::move(bounds));
  return fields;
}

std::vector<FieldInfo> list_fields(const StructRef& fields, const std::string& prefix) {
  std::vector<FieldInfo> out;
  for (const Slot& slot : fields.fields) {
    const std::string path = join_path(prefix, slot.name);
    out.push_back({path, type_of(slot.target), std::string(slot.field.help), slot.field.required,
                   slot.field.required ? "" : text_of(slot.target), std::string(slot.field.inert)});
    std::vector<FieldInfo> inner;
    if (const auto* nested = std::get_if<StructRef>(&slot.target)) {
      inner = list_fields(*nested, path);
    } else if (const auto* list = std::get_if<ListRef>(&slot.target)) {
      inner = list_elements(*list, path);
    }
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

}  // namespace sextant
