// SPDX-License-Identifier: Apache-2.0
// A table of a config.json as its readers see it. Internal to io.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/io/text.hpp"
#include "sextant/spec/model.hpp"

namespace sextant::hugging_face {

using Keys = std::initializer_list<std::string_view>;

// The largest values that a model may have, as in describe().
inline constexpr int most_layers = 100'000;
inline constexpr int most_heads = 1'000'000;
inline constexpr int most_width = 10'000'000;
inline constexpr int most = 1'000'000'000;

/// One table of a config.json. Each look-up takes the spellings a key has had, the first that is
/// given wins; JSON's null is as good as absent. Problems are collected.
class Config {
 public:
  Config(const Document& document, const Node& table, std::vector<Diagnostic>& problems,
         std::string prefix = "", const Node* outer = nullptr)
      : document_(document),
        table_(table),
        problems_(problems),
        prefix_(std::move(prefix)),
        outer_(outer) {}

  /// A whole number that must be there.
  int count(Keys keys, int largest) {
    const Found found = find(keys);
    if (found.node == nullptr) return missing(*keys.begin(), "a whole number, such as 32"), 1;
    return whole(found, 1, largest).value_or(1);
  }

  /// A whole number, or what its absence means.
  int count_or(Keys keys, int otherwise, int largest) {
    const Found found = find(keys);
    return found.node == nullptr ? otherwise : whole(found, 0, largest).value_or(otherwise);
  }

  /// A whole number; 0 where it is absent or "auto", which leaves it to what follows from others.
  int count_or_auto(Keys keys, int largest) {
    const Found found = find(keys);
    const bool given = found.node != nullptr && found.node->string != "auto";
    return given ? whole(found, 1, largest).value_or(0) : 0;
  }

  /// A number above 0 and up to 1, or what its absence means.
  double share(std::string_view key, double otherwise) {
    const Found found = find({key});
    if (found.node == nullptr) return otherwise;
    if (found.node->number > 0 && found.node->number <= 1) return found.node->number;
    return expected(found, "a number above 0 and up to 1"), otherwise;
  }

  bool flag(Keys keys, bool otherwise) {
    const Found found = find(keys);
    if (found.node == nullptr) return otherwise;
    if (found.node->kind != Node::Kind::boolean) expected(found, "true or false");
    return found.node->boolean;
  }

  std::string word(Keys keys, std::string otherwise) {
    const Found found = find(keys);
    if (found.node == nullptr) return otherwise;
    if (found.node->kind == Node::Kind::string) return found.node->string;
    expected(found, "text in quotes");
    return otherwise;
  }

  std::string word(std::string_view key) {
    if (find({key}).node == nullptr) return missing(key, "text in quotes"), "";
    return word({key}, "");
  }

  /// A list, or nothing where it is absent.
  const std::vector<Node>* list(std::string_view key) {
    const Found found = find({key});
    if (found.node == nullptr) return nullptr;
    if (found.node->kind == Node::Kind::array) return &found.node->items;
    return expected(found, "a list"), nullptr;
  }

  /// A table inside this one; empty where it is absent.
  Config section(std::string_view key) {
    static const Node empty = Node::table();
    const Found found = find({key});
    const Node* node = found.node == nullptr ? &empty : found.node;
    if (node->kind != Node::Kind::table) {
      expected(found, "a table");
      node = &empty;
    }
    return {document_, *node, problems_, prefix_ + std::string(key) + "."};
  }

  /// The keys of the table.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Node::Member& member : table_.members) all.push_back(member.key);
    return all;
  }

  bool has(std::string_view key) const { return find({key}).node != nullptr; }

  /// Names a number that no look-up has asked for and that may bear on the shape, so that it is not
  /// passed over in silence.
  void report_unread(std::initializer_list<std::string_view> irrelevant) {
    for (const Node::Member& member : table_.members) {
      const std::string& key = member.key;
      const auto contains = [&](std::string_view part) {
        return key.find(part) != std::string::npos;
      };
      const bool number =
          member.value.kind == Node::Kind::integer || member.value.kind == Node::Kind::number;
      const bool shape = contains("layers") || contains("depth") || contains("heads") ||
                         contains("experts") || contains("hidden_size") || contains("_dim") ||
                         contains("intermediate") || contains("window") || contains("embeddings");
      const bool known = std::find(asked_.begin(), asked_.end(), key) != asked_.end() ||
                         std::find(irrelevant.begin(), irrelevant.end(), key) != irrelevant.end();
      if (!number || !shape || known) continue;
      report(member.value.place, key, "no tower with this field is known",
             "leave vision_config out to count the language model alone");
    }
  }

  void problem(std::string_view key, std::string message, std::string hint = "") {
    const Node* node = find({key}).node;
    report(node == nullptr ? place() : node->place, key, std::move(message), std::move(hint));
  }

  void missing(std::string_view key, std::string_view what, std::string_view why = "") {
    const std::string near = closest(key, names());
    std::string message = "missing; expected " + std::string(what);
    if (!why.empty()) message += ", " + std::string(why);
    report(place(), key, std::move(message),
           near.empty() ? "" : "was " + in_quotes(near) + " meant to be it?");
  }

 private:
  struct Found {
    std::string_view key;
    const Node* node;
  };

  Found find(Keys keys) const {
    for (const std::string_view key : keys) asked_.emplace_back(key);
    for (const Node* table : {&table_, outer_}) {
      if (table == nullptr) continue;
      for (const std::string_view key : keys) {
        const Node* node = table->find(key);
        if (node != nullptr && node->kind != Node::Kind::null) return {key, node};
      }
    }
    return {*keys.begin(), nullptr};
  }

  std::optional<int> whole(const Found& found, int least, int largest) {
    const bool number =
        found.node->kind == Node::Kind::integer || found.node->kind == Node::Kind::number;
    const double value = found.node->number;
    if (number && value == std::floor(value) && value >= least && value <= largest) {
      return static_cast<int>(value);
    }
    expected(found,
             "a whole number from " + std::to_string(least) + " to " + std::to_string(largest));
    return std::nullopt;
  }

  void expected(const Found& found, const std::string& what) {
    report(found.node->place, found.key, "expected " + what, "");
  }

  /// The file as a whole has no place worth showing.
  Place place() const { return &table_ == &document_.root ? Place{} : table_.place; }

  void report(Place where, std::string_view key, std::string message, std::string hint) {
    if (problems_.size() >= max_collected) return;
    problems_.push_back(problem_at(document_, where, prefix_ + std::string(key), std::move(message),
                                   std::move(hint)));
  }

  const Document& document_;
  const Node& table_;
  std::vector<Diagnostic>& problems_;
  std::string prefix_;
  const Node* outer_;  ///< what a multimodal model says of itself outside its text_config
  mutable std::vector<std::string> asked_;  ///< keys that were looked up
};

/// The tower of a model that has one, from the vision_config of the whole file.
void read_vision(Config& whole, Model& model);

}  // namespace sextant::hugging_face
