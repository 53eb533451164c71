// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/checkpoints.hpp"

#include <algorithm>

#include "sextant/io/embedded.hpp"
#include "sextant/io/parsing.hpp"
#include "sextant/io/text.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {

Document embedded_table(std::string_view path) {
  for (const EmbeddedFile& f : embedded_presets()) {
    if (f.path == path) return parse_toml(f.text(), "presets/" + std::string(path));
  }
  throw InputError("presets/" + std::string(path) + " is missing");
}

namespace {

const Node& checkpoint_table() {
  static const Document table = embedded_table("imports/data/checkpoints.toml");
  return table.root;
}

std::string_view without_publisher(std::string_view name) {
  return name.substr(name.rfind('/') + 1);
}

/// Who publishes others' shapes again, in fewer bits or as they were, under their names.
bool republishes(std::string_view name) {
  const std::string publisher = lower(name.substr(0, name.find('/')));
  const std::vector<Node>& known = checkpoint_table().find("republishers")->items;
  return std::any_of(known.begin(), known.end(),
                     [&](const Node& n) { return lower(n.string) == publisher; });
}

/// The entry of a name less its endings; of `anyone`, that of another's where it has none.
const Node* entry_of(std::string_view name, bool anyone) {
  const Node* alike = nullptr;
  for (const Node::Member& m : checkpoint_table().find("models")->members) {
    const std::string key = lower(m.key);
    if (key == name) return &m.value;
    const bool same = anyone && without_publisher(key) == without_publisher(name);
    if (same && alike == nullptr) alike = &m.value;
  }
  return alike;
}

/// A text, or the first of a list of them and those that follow.
std::string text_at(const Node& n, std::size_t i) {
  if (n.kind != Node::Kind::array) return i == 0 ? n.string : "";
  return i < n.items.size() ? n.items[i].string : "";
}

Checkpoint find_checkpoint(std::string_view name, bool anyone) {
  const Node* endings = checkpoint_table().find("endings");
  std::string rest = lower(name);
  Checkpoint found;
  // Endings say how a shape was trained on or stored: "-Instruct", "-FP8"; there may be several.
  for (bool more = true; more;) {
    if (const Node* entry = entry_of(rest, anyone)) {
      found.model = text_at(*entry, 0);
      if (found.precision.empty()) found.precision = text_at(*entry, 1);
      return found;
    }
    more = false;
    for (const Node::Member& e : endings->members) {
      const std::string ending = lower(e.key);
      if (!rest.ends_with(ending)) continue;
      rest.resize(rest.size() - ending.size());
      if (found.precision.empty()) {
        found.precision = text_at(e.value, 0);
        found.activations = text_at(e.value, 1);
      }
      more = true;
      break;
    }
  }
  return {};
}

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || is_digit(c); }

}  // namespace

Checkpoint checkpoint_named(std::string_view name) {
  return find_checkpoint(name, republishes(name));
}

std::vector<std::string> checkpoint_names() {
  std::vector<std::string> all;
  for (const Node::Member& m : checkpoint_table().find("models")->members) all.push_back(m.key);
  return all;
}

std::string model_like(std::string_view name) {
  return find_checkpoint(without_publisher(name), true).model;
}

std::string system_with(std::string_view accelerator) {
  static const Document table = embedded_table("imports/data/accelerators.toml");
  const std::string name = lower(accelerator);
  std::string plain;
  std::vector<std::size_t> from;  // where each of its characters stands in the name
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_letter_or_digit(name[i])) continue;
    plain += name[i];
    from.push_back(i);
  }
  // "8xH100" is a number of them; "RTX A1000" is no A10, nor is an L40 an L4.
  const auto stands_alone = [&](std::size_t first, std::size_t last) {
    const std::size_t begin = from[first];
    const std::size_t end = from[last] + 1;
    const bool counted = begin > 1 && name[begin - 1] == 'x' && is_digit(name[begin - 2]);
    const bool longer = end < name.size() && is_digit(name[end - 1]) && is_digit(name[end]);
    return (begin == 0 || counted || !is_letter_or_digit(name[begin - 1])) && !longer;
  };
  std::string best;
  std::string system;
  for (const Node::Member& m : table.root.members) {
    if (m.key.size() <= best.size()) continue;
    for (std::size_t at = plain.find(m.key); at != std::string::npos;
         at = plain.find(m.key, at + 1)) {
      if (!stands_alone(at, at + m.key.size() - 1)) continue;
      best = m.key;
      system = m.value.string;
      break;
    }
  }
  return system;
}

}  // namespace sextant
