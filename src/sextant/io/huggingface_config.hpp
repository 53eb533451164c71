// SPDX-License-Identifier: Apache-2.0
// A table of a config.json as its readers see it. Internal to io.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/io/text.hpp"
#include "sextant/spec/model.hpp"
#include "sextant/units/lists.hpp"

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
         std::string prefix = "", const Node* outer = nullptr, const Node* defaults = nullptr)
      : document_(document),
        table_(table),
        problems_(problems),
        prefix_(std::move(prefix)),
        outer_(outer),
        defaults_(defaults) {}

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

  /// A number above 0, or what its absence means.
  double positive(std::string_view key, double otherwise) {
    const Found found = find({key});
    if (found.node == nullptr) return otherwise;
    if (found.node->number > 0 && found.node->number <= most) return found.node->number;
    return expected(found, "a number above 0"), otherwise;
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

  /// The tables of a list; none where it is absent.
  std::vector<Config> sections(std::string_view key) {
    std::vector<Config> all;
    const std::vector<Node>* items = list(key);
    if (items == nullptr) return all;
    for (const Node& item : *items) {
      const std::string at = prefix_ + std::string(key) + "[" + std::to_string(all.size()) + "].";
      all.push_back({document_, item, problems_, at});
    }
    return all;
  }

  /// The keys of the table.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Node::Member& member : table_.members) all.push_back(member.key);
    return all;
  }

  /// Marks a key as understood, whatever it says.
  void pass_over(std::string_view key) { asked_.emplace_back(key); }

  bool has(std::string_view key) const { return find({key}).node != nullptr; }

  bool has_word(std::string_view key) const {
    const Node* node = find({key}).node;
    return node != nullptr && node->kind == Node::Kind::string;
  }

  /// Names numbers and lists that no look-up has asked for and that may bear on the shape, so that
  /// they are not passed over in silence.
  void report_unread(const std::string& message, const std::string& hint,
                     std::span<const std::string_view> irrelevant) {
    for (const Node::Member& member : table_.members) {
      const std::string& key = member.key;
      const bool known = contains(asked_, key) || contains(irrelevant, key);
      const bool given = names_shape(key) && says_something(member.value);
      if (!known && (given || (adds_parts(key) && member.value.boolean))) {
        report(member.value.place, key, message, hint);
      }
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
           near.empty() || near == key ? "" : "was " + in_quotes(near) + " meant to be it?");
  }

 private:
  static bool names_shape(std::string_view key) {
    constexpr std::string_view parts[] = {
        "layers",        "heads",       "experts",         "hidden_size", "_dim",
        "intermediate",  "window",      "embeddings",      "_rank",       "layer_types",
        "block_configs", "attn_config", "sparse_attention"};
    const auto in_key = [&](std::string_view part) {
      return key.find(part) != std::string_view::npos;
    };
    return key == "depth" || std::any_of(std::begin(parts), std::end(parts), in_key);
  }

  /// Switches that give layers another part, or take one.
  static bool adds_parts(std::string_view key) {
    constexpr std::string_view keys[] = {"attention_output_gate",
                                         "attn_output_gate",
                                         "use_head_wise_attn_gate",
                                         "use_cla",
                                         "use_double_wide_mlp",
                                         "enable_moe_block",
                                         "residual_moe"};
    return contains(keys, key);
  }

  /// Zero, and layers that are all of the ordinary kind, mean that there is no such thing.
  static bool says_something(const Node& value) {
    switch (value.kind) {
      case Node::Kind::integer:
      case Node::Kind::number:
        return value.number > 0;
      case Node::Kind::array:
        return std::any_of(value.items.begin(), value.items.end(), [](const Node& item) {
          return item.kind != Node::Kind::null && item.string != "full_attention";
        });
      case Node::Kind::table:
        return true;
      default:
        return false;
    }
  }

  struct Found {
    std::string_view key;
    const Node* node;
  };

  Found find(Keys keys) const {
    for (const std::string_view key : keys) asked_.emplace_back(key);
    for (const Node* table : {&table_, outer_, defaults_}) {
      if (table == nullptr) continue;
      for (const std::string_view key : keys) {
        const Node* node = table->find(key);
        if (node != nullptr && node->kind != Node::Kind::null) return {key, node};
      }
    }
    return {*keys.begin(), nullptr};
  }

  /// A list of the same number for every layer is as good as that number.
  static const Node& single(const Node& node) {
    if (node.kind != Node::Kind::array || node.items.empty()) return node;
    const Node& first = node.items.front();
    const bool same = std::all_of(node.items.begin(), node.items.end(), [&](const Node& item) {
      return item.kind == first.kind && item.number == first.number;
    });
    return same ? first : node;
  }

  std::optional<int> whole(const Found& found, int least, int largest) {
    const Node& node = single(*found.node);
    const bool number = node.kind == Node::Kind::integer || node.kind == Node::Kind::number;
    const double value = node.number;
    if (number && value == std::floor(value) && value >= least && value <= largest) {
      return static_cast<int>(value);
    }
    const bool several = found.node->kind == Node::Kind::array;
    expected(found, "a whole number from " + std::to_string(least) + " to " +
                        std::to_string(largest) + (several ? ", the same for every layer" : ""));
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
  const Node* outer_;     ///< what a multimodal model says of itself outside its text_config
  const Node* defaults_;  ///< what holds where neither says it
  mutable std::vector<std::string> asked_;  ///< keys that were looked up
};

/// The tower of a model that has one, from the vision_config of the whole file.
void read_vision(Config& whole, Model& model);

}  // namespace sextant::hugging_face
