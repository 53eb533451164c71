// SPDX-License-Identifier: Apache-2.0
#include "sextant/scenario/prices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sextant/io/parsing.hpp"
#include "sextant/io/prices.hpp"
#include "sextant/io/text.hpp"
#include "sextant/units/lists.hpp"

namespace sextant {
namespace {

struct Part {
  std::string name;  ///< empty: of all others
  std::string price;
};

std::vector<Part> parts_of(const std::string& text) {
  std::vector<Part> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const std::string_view one = std::string_view(text).substr(from, to - from);
    const std::size_t equals = one.find('=');
    const bool named = equals != one.npos;
    parts.push_back({std::string(named ? trimmed(one.substr(0, equals)) : ""),
                     std::string(trimmed(named ? one.substr(equals + 1) : one))});
    from = to + 1;
  }
  std::erase_if(parts, [](const Part& p) { return p.name.empty() && p.price.empty(); });
  return parts;
}

}  // namespace

DevicePrice public_price(const std::string& device) {
  const std::optional<ListPrice> price = list_price(device);
  if (!price) return {{}, fmt::format("no public price of {}: --price gives one", device)};
  return {price->dollars_per_hour,
          fmt::format("price {} $ a device and hour: {}, {}", price->dollars_per_hour,
                      price->source, price->date)};
}

DevicePrice read_device_price(const std::string& text, const System& system,
                              std::vector<Diagnostic>& problems) {
  const std::vector<Part> parts = parts_of(text);
  const auto named = [&](const std::string& name) {
    return std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.name == name; });
  };
  auto part = named(system.name);
  if (part == parts.end()) part = named(system.device.name);
  if (part == parts.end()) part = named("");
  if (part == parts.end()) return public_price(system.device.name);
  return {read_price(part->price, system.device.name, problems), ""};
}

void check_price_names(const std::string& text, std::span<const System* const> systems,
                       std::vector<Diagnostic>& problems) {
  std::vector<std::string> known;
  for (const System* s : systems) {
    known.push_back(s->name);
    known.push_back(s->device.name);
  }
  for (const Part& p : parts_of(text)) {
    if (p.name.empty() || contains(known, p.name)) continue;
    const std::string hint = did_you_mean(p.name, known);
    problems.push_back(
        {.file = "--price",
         .message = fmt::format("none of the systems is '{}'", printable(p.name)),
         .hint = hint.empty() ? fmt::format("one of {}", fmt::join(known, ", ")) : hint});
  }
}

}  // namespace sextant
