// SPDX-License-Identifier: Apache-2.0
// What a system's devices cost by the hour, as --price says it or as public tiers have it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sextant/spec/diagnostic.hpp"
#include "sextant/spec/system.hpp"

namespace sextant {

struct DevicePrice {
  std::optional<double> dollars_per_hour = {};  ///< nothing: nobody says it
  std::string assumption = {};                  ///< where it was not given
};

/// The lowest of the public tiers'.
DevicePrice public_price(const std::string& device);

/// `text`: dollars a device and hour, or a public tier; before or in place of it, separated by
/// commas, what one of several systems costs, by its name or its device's: "aws, mi300x=1.99".
/// Without any, the lowest public price. Adds problems of --price.
DevicePrice read_device_price(const std::string& text, const System& system,
                              std::vector<Diagnostic>& problems);

/// Problems where a price is of none of these systems.
void check_price_names(const std::string& text, std::span<const System* const> systems,
                       std::vector<Diagnostic>& problems);

}  // namespace sextant
