// SPDX-License-Identifier: Apache-2.0
// What a device costs by the hour: a number, or a public tier.
#pragma once

#include <optional>
#include <string>

#include "cli/flags.hpp"

namespace sextant::cli {

/// Dollars a device and hour; nothing, and a problem of --price, where the text says neither.
std::optional<double> read_price(const std::string& text, const std::string& device, Flags& flags);

}  // namespace sextant::cli
