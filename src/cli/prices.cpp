// SPDX-License-Identifier: Apache-2.0
#include "cli/prices.hpp"

#include <fmt/format.h>

#include "sextant/io/embedded.hpp"
#include "sextant/io/node.hpp"
#include "sextant/units/parse.hpp"

namespace sextant::cli {
namespace {

/// The tiers of presets/prices.
Document tiers() {
  for (const EmbeddedFile& f : embedded_presets()) {
    if (f.path == "prices/tiers.toml") return parse_toml(f.text(), std::string(f.path));
  }
  return {};
}

}  // namespace

std::optional<double> read_price(const std::string& text, const std::string& device, Flags& flags) {
  if (const std::optional<double> number = parse_number(text)) {
    if (*number >= 0 && *number <= 1e6) return number;
    flags.add("--price", "expected 0 to 1e6 dollars a device and hour, got " + text);
    return std::nullopt;
  }
  const Document known = tiers();
  const Node* tier = known.root.find(text);
  if (tier == nullptr) {
    std::string names;
    for (const Node::Member& m : known.root.members) names += (names.empty() ? "" : ", ") + m.key;
    flags.add("--price", fmt::format("'{}' is neither a number nor a tier", text),
              "tiers are " + names);
    return std::nullopt;
  }
  if (const Node* price = tier->find(device)) return price->number;
  flags.add("--price", fmt::format("the tier '{}' has no {}", text, device),
            "give dollars a device and hour");
  return std::nullopt;
}

}  // namespace sextant::cli
