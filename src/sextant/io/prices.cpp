// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/prices.hpp"

#include <fmt/format.h>

#include "sextant/io/embedded.hpp"
#include "sextant/io/node.hpp"
#include "sextant/units/parse.hpp"

namespace sextant {
namespace {

/// The tiers of presets/prices.
Document tiers() {
  for (const EmbeddedFile& f : embedded_presets()) {
    if (f.path == "prices/tiers.toml") return parse_toml(f.text(), std::string(f.path));
  }
  return {};
}

}  // namespace

std::optional<double> read_price(const std::string& text, const std::string& device,
                                 std::vector<Diagnostic>& problems) {
  const auto add = [&](std::string message, std::string hint = "") {
    problems.push_back({.file = "--price", .message = std::move(message), .hint = std::move(hint)});
    return std::nullopt;
  };
  if (const std::optional<double> number = parse_number(text)) {
    if (*number >= 0 && *number <= 1e6) return number;
    return add("expected 0 to 1e6 dollars a device and hour, got " + text);
  }
  const Document known = tiers();
  const Node* tier = known.root.find(text);
  if (tier == nullptr) {
    std::string names;
    for (const Node::Member& m : known.root.members) names += (names.empty() ? "" : ", ") + m.key;
    return add(fmt::format("'{}' is neither a number nor a tier", text), "tiers are " + names);
  }
  if (const Node* price = tier->find(device)) return price->number;
  return add(fmt::format("the tier '{}' has no {}", text, device),
             "give dollars a device and hour");
}

std::optional<ListPrice> list_price(const std::string& device) {
  std::optional<ListPrice> least;
  const Document known = tiers();
  for (const Node::Member& tier : known.root.members) {
    const Node* price = tier.value.find(device);
    if (price == nullptr || (least && least->dollars_per_hour <= price->number)) continue;
    const Node* date = tier.value.find("date");
    least = {price->number, tier.key, date == nullptr ? "" : date->string};
  }
  return least;
}

}  // namespace sextant
