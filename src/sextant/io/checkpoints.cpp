// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/checkpoints.hpp"

#include <functional>

#include "sextant/io/embedded.hpp"
#include "sextant/io/parsing.hpp"
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

}  // namespace sextant
