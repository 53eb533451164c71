// SPDX-License-Identifier: Apache-2.0
// What a device costs by the hour: a number, or a public tier.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/spec/diagnostic.hpp"

namespace sextant {

/// Dollars a device and hour; nothing, and a problem of --price, where the text says neither.
std::optional<double> read_price(const std::string& text, const std::string& device,
                                 std::vector<Diagnostic>& problems);

/// The lowest of the public tiers' prices for a device, and whose and when.
struct ListPrice {
  double dollars_per_hour = 0;
  std::string source = {};
  std::string date = {};
};
std::optional<ListPrice> list_price(const std::string& device);

}  // namespace sextant
