// SPDX-License-Identifier: Apache-2.0
// A document as a tree whose every value knows where it stands, whatever format it came from.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant {

struct Place {
  int line = 0;  ///< from 1; 0: nowhere (made by the program)
  int column = 0;
};

struct Node {
  enum class Kind : std::uint8_t { null, boolean, integer, number, string, array, table };
  struct Member;

  Kind kind = Kind::null;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0;  ///< also set for integers
  std::string string;
  std::vector<Node> items;      ///< of an array
  std::vector<Member> members;  ///< of a table, in file order
  Place place;

  static Node of(bool value);
  static Node of(std::int64_t value);
  template <std::integral T>
  static Node of(T value);
  static Node of(double value);
  static Node of(std::string value);
  static Node of(std::string_view value);
  static Node of(const char* value);
  static Node array();
  static Node table();

  const Node* find(std::string_view key) const;
  Node& set(std::string key, Node value);  ///< replaces or appends; returns the stored value
  Node& push(Node value);
};

struct Node::Member {
  std::string key;
  Place place;  ///< of the key
  Node value;
};

// Out of the class, where Member is complete: clang 14 needs it to destroy the vector.
template <std::integral T>
Node Node::of(T value) {
  return of(static_cast<std::int64_t>(value));
}

/// A parsed file with what messages about it need.
struct Document {
  std::string file;
  std::string text;
  Node root;
  /// The given line of the text, for excerpts.
  std::string line(int number) const;
};

/// Parsers throw InputError with file, line and column; they accept any bytes.
Document parse_toml(std::string text, std::string file);
Document parse_json(std::string text, std::string file);
/// A subset of YAML: see yaml.cpp.
Document parse_yaml(std::string text, std::string file);

std::string to_json(const Node& node, int indent = 2);
std::string to_toml(const Node& table);

}  // namespace sextant
