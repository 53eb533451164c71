// SPDX-License-Identifier: Apache-2.0
// Making and searching nodes of a document.
#include "sextant/io/node.hpp"

#include "sextant/io/text.hpp"

namespace sextant {

Node Node::of(bool value) {
  Node n;
  n.kind = Kind::boolean;
  n.boolean = value;
  return n;
}

Node Node::of(std::int64_t value) {
  Node n;
  n.kind = Kind::integer;
  n.integer = value;
  n.number = static_cast<double>(value);
  return n;
}

Node Node::of(double value) {
  Node n;
  n.kind = Kind::number;
  n.number = value;
  return n;
}

Node Node::of(std::string value) {
  Node n;
  n.kind = Kind::string;
  n.string = std::move(value);
  return n;
}

Node Node::of(std::string_view value) { return of(std::string(value)); }

Node Node::of(const char* value) { return of(std::string(value)); }

Node Node::array() {
  Node n;
  n.kind = Kind::array;
  return n;
}

Node Node::table() {
  Node n;
  n.kind = Kind::table;
  return n;
}

const Node* Node::find(std::string_view key) const {
  for (const Member& m : members) {
    if (m.key == key) return &m.value;
  }
  return nullptr;
}

Node& Node::set(std::string key, Node value) {
  for (Member& m : members) {
    if (m.key == key) return m.value = std::move(value);
  }
  members.push_back({std::move(key), value.place, {}});
  members.back().value = std::move(value);
  return members.back().value;
}

Node& Node::push(Node value) {
  items.push_back(std::move(value));
  return items.back();
}

std::string Document::line(int number) const { return std::string(line_of(text, number)); }

}  // namespace sextant
