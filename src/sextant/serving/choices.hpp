// SPDX-License-Identifier: Apache-2.0
// What someone chooses: an engine's limits instead of its defaults, and who gets a request.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sextant {

/// Which replica gets a request.
enum class Router : std::uint8_t {
  round_robin,
  least_requests,
  least_tokens,  ///< still to be computed
  two_choices,   ///< the better of two drawn at random
  prefix_aware,  ///< where most of its prefix is kept, unless that one is much fuller
};
constexpr auto names_of(Router) {
  return std::array<std::string_view, 5>{"round-robin", "least-requests", "least-tokens",
                                         "two-choices", "prefix-aware"};
}

/// Limits instead of an engine's defaults.
struct EngineChoices {
  std::optional<int> token_budget;
  std::optional<int> max_requests;
  std::optional<int> block;
  std::optional<double> memory_fraction;
  std::optional<double> cache_tokens;  ///< of one rank, whatever memory there is
  std::optional<bool> prefix_cache;
};

}  // namespace sextant
