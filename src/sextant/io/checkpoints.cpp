// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/checkpoints.hpp"

#include <functional>

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

/// The first entry that `is` says a name without its endings to be.
template <class Is>
Checkpoint find_checkpoint(std::string_view name, const Is& is) {
  const Node* models = checkpoint_table().find("models");
  const Node* endings = checkpoint_table().find("endings");
  std::string rest = lower(name);
  Checkpoint found;
  // Endings say how a shape was trained on or stored: "-Instruct", "-FP8"; there may be several.
  for (bool more = true; more;) {
    more = false;
    for (const Node::Member& m : models->members) {
      if (!is(lower(m.key), rest)) continue;
      found.model = m.value.kind == Node::Kind::string ? m.value.string : m.value.items[0].string;
      if (found.precision.empty() && m.value.kind == Node::Kind::array) {
        found.precision = m.value.items[1].string;
      }
      return found;
    }
    for (const Node::Member& e : endings->members) {
      const std::string ending = lower(e.key);
      if (!rest.ends_with(ending)) continue;
      rest.resize(rest.size() - ending.size());
      if (found.precision.empty()) found.precision = e.value.string;
      more = true;
      break;
    }
  }
  return {};
}

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || is_digit(c); }

}  // namespace

Checkpoint checkpoint_named(std::string_view name) {
  return find_checkpoint(name, std::equal_to<>());
}

std::vector<std::string> checkpoint_names() {
  std::vector<std::string> all;
  for (const Node::Member& m : checkpoint_table().find("models")->members) all.push_back(m.key);
  return all;
}

std::string model_like(std::string_view name) {
  return find_checkpoint(without_publisher(name),
                         [](std::string_view key, std::string_view rest) {
                           return without_publisher(key) == rest;
                         })
      .model;
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
